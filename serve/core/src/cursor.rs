//! Cursors: where an answer goes on.
//!
//! A cursor carries the edition and a digest of the question, so that a walk never mixes two editions and no cursor is taken for
//! an answer to another question. It holds places in documents that never change; nothing is kept between requests.

use elfscope_schema::{EditionId, Sha256Digest};

use crate::{Error, Result};

/// A place to go on from: numbers whose meaning is the question's.
pub(crate) type Place<const N: usize> = [u64; N];

/// Writes a cursor.
pub(crate) fn write<const N: usize>(edition: &str, question: &str, place: Place<N>) -> String {
    let place: Vec<String> = place.iter().map(u64::to_string).collect();
    format!("{edition}.{}.{}", digest(question), place.join("."))
}

/// Reads a cursor of this question.
pub(crate) fn read<const N: usize>(cursor: &str, edition: &str, question: &str) -> Result<Place<N>> {
    let refuse = |why| Error::BadCursor { given: cursor.to_owned(), why };
    let mut parts = cursor.split('.');
    if parts.next() != Some(edition) {
        return Err(refuse("it belongs to another edition"));
    }
    if parts.next() != Some(digest(question).as_str()) {
        return Err(refuse("it belongs to another question"));
    }
    let numbers: Option<Vec<u64>> = parts.map(|part| part.parse().ok()).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| refuse("it is not whole"))
}

/// The edition that a cursor belongs to: a request that brings one is answered from there, though another is current by now.
#[must_use]
pub fn edition_of(cursor: &str) -> Option<EditionId> {
    editions_of(cursor).into_iter().next()
}

/// All editions that a cursor belongs to: two where it goes on in what differs between two builds.
#[must_use]
pub fn editions_of(cursor: &str) -> Vec<EditionId> {
    let names = cursor.split('.').next().unwrap_or_default().split('-');
    names.filter_map(|name| name.parse().ok()).collect()
}

fn digest(question: &str) -> String {
    let mut text = Sha256Digest::of(question.as_bytes()).to_string();
    text.truncate(8);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_fits_its_own_question_only() {
        let edition = "a".repeat(32);
        let cursor = write(&edition, "callers main", [3, 14]);
        assert_eq!(read::<2>(&cursor, &edition, "callers main").unwrap(), [3, 14]);
        assert!(read::<2>(&cursor, &edition, "callers puts").is_err());
        assert!(read::<2>(&cursor, &"b".repeat(32), "callers main").is_err());
        assert!(read::<3>(&cursor, &edition, "callers main").is_err());
        assert!(read::<2>("", &edition, "callers main").is_err());
        assert_eq!(edition_of(&cursor).unwrap().as_str(), edition);
    }
}

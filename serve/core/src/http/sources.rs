//! Sources: the bytes as they were supplied.

use elfscope_schema::{Sha256Digest, SourceFile};

use super::{edition::Found, respond::Content};
use crate::{Edition, Error, Level, Request, Result, Store, functions::in_build, limits};

/// Largest source that is read whole, so that its digest vouches for it; a larger one is streamed by the host.
const WHOLE: u64 = 1024 * 1024;

/// The source of this very path, or some of its lines.
pub(super) async fn by_path<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    path: &str,
    lines: Option<(u32, u32)>,
) -> Result<Found> {
    let file = exactly(request, edition, path).await?;
    if let Some(lines) = lines {
        return some_lines(request, edition, &file, lines).await;
    }
    let (Some(sha256), Some(told)) = (file.sha256, &file.lines) else {
        let level = Level::of(edition, file.level, file.tree, &file.also);
        return Err(Error::NotPublished { path: path.to_owned(), level, mismatch: file.mismatch });
    };
    if told.bytes > WHOLE {
        return Ok(Content::File { path: format!("src/{sha256}"), size: told.bytes }.into());
    }
    let bytes = request.source_bytes(sha256, 0, told.bytes).await?;
    checked(sha256, bytes)
}

/// A source by its digest: it stands beside all editions, and none says which of them publish it.
pub(super) async fn by_digest<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    digest: Sha256Digest,
) -> Result<Found> {
    let read = request.source_bytes(digest, 0, limits::SOURCE_BYTES).await;
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(Error::Damaged { .. }) => {
            return Err(Error::NotFound {
                what: "source with the digest",
                given: digest.to_string(),
                place: in_build(edition),
                near: Vec::new(),
                fix: Some("function pages name the digests of the sources that they cite".to_owned()),
            });
        }
        Err(error) => return Err(error),
    };
    if bytes.len() as u64 == limits::SOURCE_BYTES {
        return Ok(Content::Endless { path: format!("src/{digest}") }.into());
    }
    checked(digest, bytes)
}

async fn some_lines<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    file: &SourceFile,
    (first, last): (u32, u32),
) -> Result<Found> {
    let answer = request.source_lines(edition, file, first, last - first + 1).await?;
    let found = &answer.value;
    if last > found.total {
        let allowed = format!("1 to {}", found.total);
        return Err(Error::OutOfRange { what: "line", given: last.to_string(), allowed });
    }
    let mut bytes = Vec::new();
    for line in &found.lines {
        bytes.extend_from_slice(&line.bytes);
        bytes.push(b'\n');
    }
    let part = match (found.lines.first(), found.lines.last()) {
        (Some(first), Some(last)) => format!("{}-{}/{}", first.number, last.number, found.total),
        _ => format!("none/{}", found.total),
    };
    Ok(Found { content: Content::Plain(bytes), part: Some(("elfscope-lines", part)), at: None })
}

async fn exactly<S: Store>(request: &mut Request<S>, edition: &Edition, path: &str) -> Result<SourceFile> {
    let found = request.sources_at(edition, path).await?;
    match found.as_slice() {
        [one] => request.source_record(edition, one).await,
        // Another path that ends so is not this one: refused with what comes near.
        _ => match request.source(edition, path).await {
            Ok(file) => Err(Error::NotFound {
                what: "source",
                given: path.to_owned(),
                place: in_build(edition),
                near: vec![file.path.text().to_owned()],
                fix: Some("ask for the whole path".to_owned()),
            }),
            Err(error) => Err(error),
        },
    }
}

fn checked(digest: Sha256Digest, bytes: Vec<u8>) -> Result<Found> {
    if Sha256Digest::of(&bytes) != digest {
        let expected = "the source that its name is the digest of";
        return Err(Error::Damaged { path: format!("src/{digest}"), expected, source: None });
    }
    Ok(Content::Plain(bytes).into())
}

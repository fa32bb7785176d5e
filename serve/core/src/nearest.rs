//! What comes nearest to a name that nothing has: a typing error, another case, a leading underscore.

/// Most names that a miss suggests.
pub const MOST: usize = 5;

/// The candidates that come nearest, the nearest first. Those that have little to do with it are left out.
pub(crate) fn rank(given: &str, candidates: impl IntoIterator<Item = String>) -> Vec<String> {
    let wanted: Vec<char> = fold(given);
    let mut ranked: Vec<(usize, String)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&wanted, &fold(&candidate))?, candidate)))
        .collect();
    ranked.sort();
    ranked.dedup_by(|a, b| a.1 == b.1);
    let mut names: Vec<String> = Vec::new();
    for (_, name) in ranked {
        if names.len() < MOST && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The same of paths: their ends tell more than their starts.
pub(crate) fn rank_paths(given: &str, candidates: impl IntoIterator<Item = String>) -> Vec<String> {
    let turned = |path: &str| path.chars().rev().collect::<String>();
    let candidates: Vec<String> = candidates.into_iter().map(|path| turned(&path)).collect();
    rank(&turned(given), candidates).iter().map(|path| turned(path)).collect()
}

/// How many typing errors away, if few; what only goes on after the same start counts a little.
fn distance(wanted: &[char], candidate: &[char]) -> Option<usize> {
    if wanted.is_empty() || candidate.is_empty() {
        return None;
    }
    let allowed = 1 + wanted.len() / 4;
    if candidate.starts_with(wanted) {
        return Some((candidate.len() - wanted.len()).min(1 + allowed));
    }
    let edits = edits(wanted, candidate);
    (edits <= allowed).then_some(edits)
}

/// Edit distance in which two swapped neighbours are one error. Both are at most [`LENGTH`] long.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// Characters that are compared.
const LENGTH: usize = 64;

fn fold(name: &str) -> Vec<char> {
    let start = name.trim_start_matches('_');
    start.chars().take(LENGTH).map(|character| character.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_near() {
        let names =
            || ["puts", "fputs", "putchar", "printf", "__libc_start_main", "qsort"].map(str::to_owned);
        for (given, first) in [
            ("ptus", "puts"),
            ("PUTS", "puts"),
            ("put", "puts"),
            ("libc_start_main", "__libc_start_main"),
            ("prinft", "printf"),
        ] {
            assert_eq!(rank(given, names()).first().map(String::as_str), Some(first), "{given}");
        }
        assert!(rank("zzz", names()).is_empty());
        let paths = ["libio/ioputs.c", "libio/iogets.c", "a/b/c/ioputs.c"].map(str::to_owned);
        assert_eq!(rank_paths("ioputs.c", paths.clone()), ["a/b/c/ioputs.c", "libio/ioputs.c"]);
        assert_eq!(rank_paths("libio/ioptus.c", paths)[0], "libio/ioputs.c");
    }
}

//! Cutting lists of items into pages.

use std::ops::Range;

use elfscope_schema::to_canonical;
use serde::Serialize;

/// Ranges of items whose documents fit so many bytes and hold so many items each; one that is larger alone stands alone.
pub(super) fn cut<T: Serialize>(items: &[T], bytes: usize, most: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut size = 0;
    for (position, item) in items.iter().enumerate() {
        let more = to_canonical(item).len();
        if position > start && (size + more > bytes || position - start == most) {
            ranges.push(start..position);
            (start, size) = (position, 0);
        }
        size += more;
    }
    if start < items.len() {
        ranges.push(start..items.len());
    }
    ranges
}

//! What this version of the program makes of the documents: listings and edges.

use elfscope_schema::{FunctionKey, canonical::value_to_canonical};
use serde::Serialize;

use super::{edition::Found, query::Query, respond::Content, stored::body};
use crate::{
    Edition, Error, Request, Result, Store, calls, limits,
    listing::{self, Line, Options},
    window::From,
};

/// A listing of a body as text: the rows that are asked for, else as many as fit from the first on.
pub(super) async fn listing<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    key: FunctionKey,
    rows: Option<(u32, u32)>,
) -> Result<Found> {
    let entry = body(request, edition, key).await?;
    let (first, last) = rows.unwrap_or((0, limits::ROWS - 1));
    let answer = request.window(edition, &entry, From::Row(first), last - first + 1).await?;
    let window = &answer.value;
    let total = window.head.rows_total;
    if rows.is_some() && last >= total {
        let allowed = format!("0 to {}", total.saturating_sub(1));
        return Err(Error::OutOfRange { what: "row", given: last.to_string(), allowed });
    }
    let lines = listing::render(edition, window, Options::default());
    let mut text = lines.iter().map(Line::text).collect::<Vec<_>>().join("\n");
    text.push('\n');
    let part = match window.len() {
        0 => format!("none/{total}"),
        count => format!("{}-{}/{total}", window.rows_from, window.rows_from + count - 1),
    };
    let content = Content::Plain(text.into_bytes());
    Ok(Found { content, part: Some(("elfscope-rows", part)), at: None })
}

/// The edges that leave from a body.
pub(super) async fn callees<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    key: FunctionKey,
    query: &Query,
) -> Result<Found> {
    let entry = body(request, edition, key).await?;
    let limit = query.number("limit")?.map_or(calls::MOST, |limit| limit as usize);
    if limit == 0 || limit > calls::MOST {
        let allowed = format!("1 to {}", calls::MOST);
        return Err(Error::OutOfRange { what: "limit", given: limit.to_string(), allowed });
    }
    let answer = request.callees(edition, &entry, limit, query.get("cursor")).await?;
    Ok(Content::Plain(json(&answer)).into())
}

/// An answer as JSON, with its keys sorted and `\n` at its end, as documents are.
pub(super) fn json<T: Serialize>(answer: &T) -> Vec<u8> {
    value_to_canonical(&serde_json::to_value(answer).unwrap_or_default())
}

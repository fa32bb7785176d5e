//! Documents as they are stored: never parsed further than to know that they are those that were asked for, never
//! written again.

use elfscope_schema::{
    CallersOf, CallersPage, FunctionEntry, FunctionKey, Packs, documents, from_slice, to_canonical,
};
use serde::Deserialize;

use super::{edition::Found, respond::Content};
use crate::{Callee, Edition, Error, Request, Result, Store, functions::in_build, inflate::inflated, key_of};

const FUNCTIONS: &str = "fn.jsonl.gz";
const CALLERS: &str = "callers.jsonl.gz";
/// Bytes of an offset in a pack's table.
const OFFSET: u64 = 8;

/// A document that is a file of its own.
pub(super) async fn file<S: Store>(request: &mut Request<S>, edition: &Edition, name: &str) -> Result<Found> {
    let path = format!("{}/{name}", edition.folder());
    let bytes = request.file_bytes(&path).await?;
    let bytes = bytes.ok_or(Error::Damaged { path, expected: "a file of that name", source: None })?;
    Ok(Content::Plain(bytes).into())
}

/// A pack, or its table of offsets, for the host to stream.
pub(super) async fn pack<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    pack: &'static str,
    offsets: bool,
) -> Result<Found> {
    let path = format!("{}/packs.json", edition.folder());
    let packs = request.document::<Packs>(&path).await?;
    let packs = packs.ok_or(Error::Damaged { path, expected: "a file of that name", source: None })?;
    let told = packs.packs.iter().find(|told| told.name == pack).ok_or_else(|| Error::NotFound {
        what: "pack",
        given: pack.to_owned(),
        place: in_build(edition),
        near: packs.packs.iter().map(|told| told.name.clone()).collect(),
        fix: None,
    })?;
    let (name, size) = match offsets {
        true => (elfscope_schema::index_name(pack), told.members.saturating_add(1).saturating_mul(OFFSET)),
        false => (pack.to_owned(), told.size),
    };
    Ok(Content::File { path: format!("{}/{name}", edition.folder()), size }.into())
}

/// A document of a pack by its ordinal.
pub(super) async fn member<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    pack: &'static str,
    ordinal: u64,
) -> Result<Found> {
    match request.member_stored(edition.folder(), pack, ordinal).await? {
        Some(stored) => Ok(member_of(edition, pack, stored)),
        None => Err(Error::NotFound {
            what: "document",
            given: ordinal.to_string(),
            place: format!("{pack} of {}", in_build(edition)),
            near: Vec::new(),
            fix: Some("`packs.json` says how many documents a pack has".to_owned()),
        }),
    }
}

/// A page of a body.
pub(super) async fn function<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    key: FunctionKey,
    page: u32,
) -> Result<Found> {
    let entry = body(request, edition, key).await?;
    function_page(request, edition, &entry, page).await
}

/// The body of a name: its first page, and the path that always holds it.
pub(super) async fn named<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    name: &str,
) -> Result<Found> {
    let (entry, _) = request.function(edition, name).await?;
    let found = function_page(request, edition, &entry, 0).await?;
    Ok(Found { at: Some(format!("fn/{}.json", key_of(&entry))), ..found })
}

/// A page of who calls a body.
pub(super) async fn callers<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    key: FunctionKey,
    page: u32,
) -> Result<Found> {
    let entry = body(request, edition, key).await?;
    callers_page(request, edition, CallersOf::Body(key), entry.3, page).await
}

/// A page of who calls an imported symbol.
pub(super) async fn import<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    name: &str,
    page: Option<u32>,
) -> Result<Found> {
    let entry = match request.callee(edition, name).await? {
        Callee::Import(entry) => entry,
        Callee::Body(entry) => return Err(missing(edition, "imported symbol", &key_of(&entry).to_string())),
    };
    let of = CallersOf::Import { name: entry.name, version: entry.version };
    callers_page(request, edition, of, entry.callers, page.unwrap_or(0)).await
}

/// The body of a key.
pub(super) async fn body<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    key: FunctionKey,
) -> Result<FunctionEntry> {
    match request.body_at(edition, key.address).await? {
        Some(entry) if key_of(&entry) == key => Ok(entry),
        // Refused with what comes near.
        _ => request.function(edition, &key.to_string()).await.map(|(entry, _)| entry),
    }
}

async fn function_page<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    entry: &FunctionEntry,
    page: u32,
) -> Result<Found> {
    #[derive(Deserialize)]
    struct Told {
        key: FunctionKey,
        page: u32,
    }
    let key = key_of(entry);
    let ordinal = entry.2.saturating_add(u64::from(page));
    let stored = request.member_stored(edition.folder(), FUNCTIONS, ordinal).await?;
    let refuse = || missing(edition, "page", &format!("{key}.{page}"));
    let stored = match stored {
        Some(stored) => stored,
        None if page == 0 => return Err(damaged(edition, FUNCTIONS)),
        None => return Err(refuse()),
    };
    if page > 0 {
        // Behind a body's last page stands another body.
        let told: Told = parsed(request, edition, FUNCTIONS, &stored)?;
        if (told.key, told.page) != (key, page) {
            return Err(refuse());
        }
    }
    Ok(member_of(edition, FUNCTIONS, stored))
}

async fn callers_page<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    of: CallersOf,
    first: Option<u64>,
    page: u32,
) -> Result<Found> {
    #[derive(Deserialize)]
    struct Told {
        of: CallersOf,
        page: u32,
    }
    let refuse = || missing(edition, "page", &format!("{page} of its callers"));
    let Some(first) = first else {
        if page > 0 {
            return Err(refuse());
        }
        // No document says that nobody calls it; this one does.
        let schema = documents::schema::CALLERS.to_owned();
        let none = CallersPage { callers: Vec::new(), of, page: 0, pages: 1, schema, total: 0 };
        return Ok(Content::Plain(to_canonical(&none)).into());
    };
    let ordinal = first.saturating_add(u64::from(page));
    let stored = match request.member_stored(edition.folder(), CALLERS, ordinal).await? {
        Some(stored) => stored,
        None if page == 0 => return Err(damaged(edition, CALLERS)),
        None => return Err(refuse()),
    };
    if page > 0 {
        let told: Told = parsed(request, edition, CALLERS, &stored)?;
        if (&told.of, told.page) != (&of, page) {
            return Err(refuse());
        }
    }
    Ok(member_of(edition, CALLERS, stored))
}

fn member_of(edition: &Edition, pack: &str, bytes: Vec<u8>) -> Found {
    Content::Member { path: format!("{}/{pack}", edition.folder()), bytes }.into()
}

/// What a member says of itself.
fn parsed<S: Store, T: serde::de::DeserializeOwned>(
    request: &mut Request<S>,
    edition: &Edition,
    pack: &str,
    stored: &[u8],
) -> Result<T> {
    let bytes = inflated(stored, &format!("{}/{pack}", edition.folder()))?;
    request.count_json(pack, bytes.len())?;
    from_slice(&bytes).map_err(|source| Error::Damaged {
        path: format!("{}/{pack}", edition.folder()),
        expected: "a document of the archive",
        source: Some(source),
    })
}

fn missing(edition: &Edition, what: &'static str, given: &str) -> Error {
    Error::NotFound {
        what,
        given: given.to_owned(),
        place: in_build(edition),
        near: Vec::new(),
        fix: Some("the first page says how many there are".to_owned()),
    }
}

fn damaged(edition: &Edition, pack: &str) -> Error {
    Error::Damaged {
        path: format!("{}/{pack}", edition.folder()),
        expected: "the pages that the look-up names",
        source: None,
    }
}

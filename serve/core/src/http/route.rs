//! What a path asks for. Ids and keys are read here, so that nothing that a client wrote gets into a store's path.

use elfscope_schema::{BuildId, EditionId, FunctionKey, Sha256Digest};

use super::path;
use crate::{Error, Result};

/// What stands before the routes of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    Archive,
    BuildId,
    Health,
}

impl Area {
    /// The area of a path; none where it is for the host's static files.
    pub(super) fn of(path: &str) -> Option<Self> {
        let first = path.strip_prefix('/')?.split('/').next()?;
        match first {
            "archive" => Some(Self::Archive),
            "buildid" => Some(Self::BuildId),
            "healthz" => Some(Self::Health),
            _ => None,
        }
    }
}

/// What a path asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Health,
    /// `index.json` or a shard: its path in the store.
    Index(String),
    Search,
    Diff,
    /// `current.json` of a build.
    Pointer(BuildId),
    /// Something of an edition.
    Edition(Asked),
    /// Something of a build that isn't named by its id.
    Unnamed(String),
}

/// Something of an edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) build: BuildId,
    /// The edition, where the path pins one.
    pub(super) edition: Option<EditionId>,
    pub(super) what: What,
    /// What stands behind the edition, decoded: with the edition it is all that a document follows from.
    pub(super) rest: String,
    /// The same as it was sent.
    pub(super) raw: String,
}

/// What of an edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A document that is a file of its own.
    File(&'static str),
    /// A pack as it is.
    Pack(&'static str),
    /// A pack's table of offsets: the pack.
    Offsets(&'static str),
    /// A document of a pack, by its ordinal.
    Member(&'static str, u64),
    /// A page of a body.
    Function(FunctionKey, u32),
    /// A listing of a body.
    Listing(FunctionKey),
    /// The body of this name.
    Named(String),
    /// A page of who calls a body.
    Callers(FunctionKey, u32),
    /// Who calls an imported symbol.
    Import(String),
    /// What a body calls.
    Callees(FunctionKey),
    /// A source by its path.
    Source(String),
    /// A source by its digest.
    Blob(Sha256Digest),
}

/// Documents that are files of their own.
const FILES: [&str; 4] = ["lookup.json", "manifest.json", "meta.json", "packs.json"];
/// Packs by what the loose tree calls their folder.
const PACKS: [(&str, &str); 6] = [
    ("callers", "callers.jsonl.gz"),
    ("data", "data.jsonl.gz"),
    ("fn", "fn.jsonl.gz"),
    ("lookup", "lookup.jsonl.gz"),
    ("more", "more.jsonl.gz"),
    ("sources", "sources.jsonl.gz"),
];
/// The forms that a path of an edition can have, as refusals list them.
const FORMS: [&str; 18] = [
    "meta.json",
    "lookup.json",
    "manifest.json",
    "packs.json",
    "attestations.json",
    "fn/<key>.json",
    "fn/<key>.<page>.json",
    "fn/<key>.txt?rows=<first>-<last>",
    "function/<name>",
    "callers/<key>.json",
    "callers/import:<name>.json",
    "callees/<key>.json",
    "src/abs/<path>",
    "src/rel/<path>",
    "src/sha256/<digest>",
    "{callers,data,lookup,more,sources}/<ordinal>.json",
    "<pack>.jsonl.gz",
    "<pack>.idx",
];

impl Route {
    /// What a path asks for.
    pub(super) fn parse(area: Area, path: &str) -> Result<Self> {
        let segments = path::segments(path)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match (area, &segments[1..]) {
            (Area::Health, []) => Ok(Self::Health),
            (Area::Archive, ["index.json"]) => Ok(Self::Index("index.json".to_owned())),
            (Area::Archive, ["index", by, page]) => shard(by, page).ok_or_else(|| nothing(path)),
            (Area::Archive, ["search"]) => Ok(Self::Search),
            (Area::Archive, ["diff"]) => Ok(Self::Diff),
            (Area::Archive, [build, rest @ ..]) if !build.is_empty() => {
                let Ok(build) = build.parse::<BuildId>() else {
                    return Ok(Self::Unnamed((*build).to_owned()));
                };
                match rest {
                    ["current.json"] => Ok(Self::Pointer(build)),
                    [edition, rest @ ..] if edition.parse::<EditionId>().is_ok() => {
                        let edition = edition.parse().ok();
                        Asked::parse(build, edition, rest, behind(path, 3)).map(Self::Edition)
                    }
                    rest => Asked::parse(build, None, rest, behind(path, 2)).map(Self::Edition),
                }
            }
            (Area::BuildId, [build, "source", rest @ ..]) if !rest.is_empty() => {
                let Ok(build) = build.parse::<BuildId>() else {
                    return Ok(Self::Unnamed((*build).to_owned()));
                };
                // Clients ask for absolute paths only; some keep the `/` at the start, some encode every one.
                let source = rest.join("/");
                let source = source.trim_start_matches('/');
                Ok(Self::Edition(Asked {
                    build,
                    edition: None,
                    what: What::Source(format!("/{source}")),
                    rest: format!("src/abs/{source}"),
                    raw: format!("src/abs/{}", behind(path, 3).trim_start_matches('/')),
                }))
            }
            (Area::BuildId, [_, "executable" | "debuginfo" | "section", ..]) => Err(Error::NotFound {
                what: "file",
                given: path.to_owned(),
                place: "this archive, which keeps what it derives and the sources, not the binaries"
                    .to_owned(),
                near: vec!["/buildid/<build-id>/source/<absolute path>".to_owned()],
                fix: Some("ask another debuginfod server for binaries and debug data".to_owned()),
            }),
            _ => Err(nothing(path)),
        }
    }
}

impl Asked {
    fn parse(build: BuildId, edition: Option<EditionId>, rest: &[&str], raw: &str) -> Result<Self> {
        let what = What::parse(rest)?;
        Ok(Self { build, edition, what, rest: rest.join("/"), raw: raw.to_owned() })
    }
}

impl What {
    fn parse(rest: &[&str]) -> Result<Self> {
        let unknown = || Error::NotFound {
            what: "path",
            given: rest.join("/"),
            place: "an edition".to_owned(),
            near: FORMS.iter().map(|form| (*form).to_owned()).collect(),
            fix: Some("ask for one of these forms".to_owned()),
        };
        let key = |text: &str| {
            text.parse::<FunctionKey>().map_err(|_bad| Error::BadReference {
                what: "a function key",
                given: text.to_owned(),
                allowed: "an address in hex, `-`, a size in decimal, as in `1139-31`".to_owned(),
            })
        };
        // Keys have no dot in them, so that the first one ends them.
        let paged = |text: &str| -> Result<(FunctionKey, u32)> {
            match text.split_once('.') {
                None => Ok((key(text)?, 0)),
                Some((first, page)) => {
                    let number = page.parse().ok().filter(|number: &u32| number.to_string() == page);
                    // One spelling each: page 0 has no number.
                    let number = number.filter(|number| *number > 0).ok_or_else(unknown)?;
                    Ok((key(first)?, number))
                }
            }
        };
        Ok(match rest {
            [file] => {
                if let Some(file) = FILES.iter().find(|known| *known == file) {
                    Self::File(file)
                } else if let Some((_, pack)) = PACKS.iter().find(|(_, pack)| pack == file) {
                    Self::Pack(pack)
                } else {
                    let stem = file.strip_suffix(".idx").ok_or_else(unknown)?;
                    let known = PACKS.iter().find(|(folder, _)| *folder == stem);
                    Self::Offsets(known.ok_or_else(unknown)?.1)
                }
            }
            ["fn", file] => match (file.strip_suffix(".json"), file.strip_suffix(".txt")) {
                (Some(stem), _) => {
                    let (key, page) = paged(stem)?;
                    Self::Function(key, page)
                }
                (None, Some(stem)) => Self::Listing(key(stem)?),
                (None, None) => return Err(unknown()),
            },
            ["function", name @ ..] if name.iter().any(|part| !part.is_empty()) => {
                Self::Named(name.join("/"))
            }
            ["callers", name @ ..]
                if name.first().is_some_and(|name| name.starts_with(crate::calls::IMPORT)) =>
            {
                let name = name.join("/");
                Self::Import(name.strip_suffix(".json").ok_or_else(unknown)?.to_owned())
            }
            ["callees", file] => Self::Callees(key(file.strip_suffix(".json").ok_or_else(unknown)?)?),
            ["src", "sha256", digest] => Self::Blob(digest.parse().map_err(|_bad| Error::BadReference {
                what: "a digest",
                given: (*digest).to_owned(),
                allowed: "the 64 lowercase hex digits of a SHA-256".to_owned(),
            })?),
            ["src", "abs", path @ ..] if !path.is_empty() => Self::Source(format!("/{}", path.join("/"))),
            ["src", "rel", path @ ..] if !path.is_empty() => Self::Source(path.join("/")),
            [folder, file] => {
                let pack = PACKS.iter().find(|(known, _)| known == folder).ok_or_else(unknown)?.1;
                let stem = file.strip_suffix(".json").ok_or_else(unknown)?;
                match stem.parse::<u64>() {
                    Ok(ordinal) if ordinal.to_string() == stem => Self::Member(pack, ordinal),
                    _ if *folder == "callers" => {
                        let (key, page) = paged(stem)?;
                        Self::Callers(key, page)
                    }
                    _ => return Err(unknown()),
                }
            }
            _ => return Err(unknown()),
        })
    }
}

/// A page of the catalogue.
fn shard(by: &str, page: &str) -> Option<Route> {
    let known = ["id", "name", "soname", "package"].contains(&by);
    let (prefix, number) = match page.strip_suffix(".json")?.split_once('.') {
        Some((prefix, number)) => (prefix, Some(number)),
        None => (page.strip_suffix(".json")?, None),
    };
    let is_hex = |text: &str| {
        !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_number =
        |text: &str| text.parse::<u64>().is_ok_and(|number| number > 0 && number.to_string() == text);
    let good = known && (prefix == "root" || is_hex(prefix)) && number.is_none_or(is_number);
    good.then(|| Route::Index(format!("index/{by}/{page}")))
}

/// What stands in a path behind so many segments, as it was sent.
fn behind(path: &str, segments: usize) -> &str {
    path.trim_start_matches('/').splitn(segments + 1, '/').nth(segments).unwrap_or_default()
}

fn nothing(path: &str) -> Error {
    Error::NotFound {
        what: "route",
        given: path.to_owned(),
        place: "this server".to_owned(),
        near: [
            "/archive/index.json",
            "/archive/index/<id|name|soname|package>/root.json",
            "/archive/search?q=<text>&build=<build>",
            "/archive/diff?a=<build>[:<function>]&b=<build>[:<function>]",
            "/archive/<build-id>/meta.json",
            "/archive/<build-id>/<edition>/meta.json",
            "/buildid/<build-id>/source/<absolute path>",
            "/healthz",
        ]
        .map(str::to_owned)
        .to_vec(),
        fix: Some("start from the catalogue".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(rest: &str) -> String {
        let segments: Vec<&str> = rest.split('/').collect();
        match What::parse(&segments) {
            Ok(what) => format!("{what:?}"),
            Err(error) => error.code().to_owned(),
        }
    }

    #[test]
    fn forms_have_one_spelling() {
        let key = "FunctionKey { address: 1139, size: 31 }";
        for (rest, expected) in [
            ("meta.json", "File(\"meta.json\")".to_owned()),
            ("fn.jsonl.gz", "Pack(\"fn.jsonl.gz\")".to_owned()),
            ("fn.idx", "Offsets(\"fn.jsonl.gz\")".to_owned()),
            ("callers/7.json", "Member(\"callers.jsonl.gz\", 7)".to_owned()),
            ("fn/1139-31.txt", "Listing".to_owned()),
            ("function/a/b", "Named(\"a/b\")".to_owned()),
            ("function/operator/", "Named(\"operator/\")".to_owned()),
            ("callers/import:a.b.json", "Import(\"import:a.b\")".to_owned()),
            ("src/abs/a/b.c", "Source(\"/a/b.c\")".to_owned()),
            ("src/rel/a/b.c", "Source(\"a/b.c\")".to_owned()),
            ("fn/1139-31.0.json", "E_NOT_FOUND".to_owned()),
            ("fn/1139-31.01.json", "E_NOT_FOUND".to_owned()),
            ("fn/puts.json", "E_BAD_REFERENCE".to_owned()),
            ("fn/01139-31.json", "E_BAD_REFERENCE".to_owned()),
            ("callers/07.json", "E_BAD_REFERENCE".to_owned()),
            ("function/", "E_NOT_FOUND".to_owned()),
            ("src/sha256/ab", "E_BAD_REFERENCE".to_owned()),
            ("nothing", "E_NOT_FOUND".to_owned()),
            ("", "E_NOT_FOUND".to_owned()),
        ] {
            let told = what(rest);
            assert!(told.starts_with(&expected), "{rest}: {told}");
        }
        for rest in ["fn/1139-31.json", "fn/1139-31.12.json", "callers/1139-31.json", "callees/1139-31.json"]
        {
            assert!(!what(rest).starts_with("E_"), "{rest}: {} {key}", what(rest));
        }
        for (path, good) in [
            ("/archive/index/id/root.json", true),
            ("/archive/index/name/0f.json", true),
            ("/archive/index/package/0f.3.json", true),
            ("/archive/index/size/root.json", false),
            ("/archive/index/id/0F.json", false),
            ("/archive/index/id/0f.03.json", false),
            ("/archive/index/id/.json", false),
        ] {
            let route = Route::parse(Area::Archive, path);
            assert_eq!(matches!(route, Ok(Route::Index(_))), good, "{path}: {route:?}");
        }
    }
}

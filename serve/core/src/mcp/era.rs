//! Which revision of the protocol a message speaks: chosen for each by itself, since nothing is kept between two.

use serde_json::{Value, json};

use super::{message::Asked, refused::Refused};

/// The revision without a state: every request says by itself what it speaks.
pub(crate) const MODERN: &str = "2026-07-28";
/// Revisions that begin with `initialize`, the newest first.
const OLDER: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
/// All revisions that are spoken, the newest first.
pub const VERSIONS: [&str; 4] = [MODERN, OLDER[0], OLDER[1], OLDER[2]];

/// Where a request says what it speaks.
pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where it says what its client can do.
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A family of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28.
    Modern,
    /// A revision that begins with `initialize`.
    Older(&'static str),
}

impl Era {
    /// The newest of the older ones.
    pub(crate) const OLDER: Self = Self::Older(OLDER[0]);

    /// What `initialize` answers: the version that was asked for where it is spoken, else the newest of its era.
    pub(super) fn initialized(asked: &str) -> &'static str {
        OLDER.into_iter().find(|version| *version == asked).unwrap_or(OLDER[0])
    }

    fn of(version: &str) -> Option<Self> {
        if version == MODERN {
            return Some(Self::Modern);
        }
        OLDER.into_iter().find(|older| *older == version).map(Self::Older)
    }
}

/// What an HTTP request names in `MCP-Protocol-Version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header<'a>(pub(crate) Option<&'a str>);

/// The era of a request; `header` is what came with it over HTTP.
pub(crate) fn decide(asked: &Asked, header: Option<Header<'_>>) -> Result<Era, Refused> {
    let claimed = match asked.meta() {
        None => None,
        Some(Value::Object(meta)) => match meta.get(VERSION) {
            None => None,
            Some(Value::String(version)) => Some(version.as_str()),
            Some(_) => return Err(Refused::params(&format!("`_meta[\"{VERSION}\"]` is no string")).early()),
        },
        Some(_) => return Err(Refused::params("`_meta` is no object").early()),
    };
    let named = header.and_then(|header| header.0);
    match (claimed, named) {
        (Some(claimed), named) if header.is_some() && named != Some(claimed) => {
            let why = match named {
                Some(named) => format!("the header says `{}`, `_meta` says otherwise", short(named)),
                None => "the header is missing".to_owned(),
            };
            Err(Refused::header("MCP-Protocol-Version", &why))
        }
        (Some(claimed), _) => {
            let era = Era::of(claimed).ok_or_else(|| unsupported(claimed))?;
            let has = asked.meta().and_then(|meta| meta.get(CAPABILITIES)).is_some_and(Value::is_object);
            if era == Era::Modern && !has {
                return Err(missing(CAPABILITIES));
            }
            Ok(era)
        }
        // Whatever an HTTP client has put into its header by then: this is how the older era begins.
        (None, _) if asked.method == "initialize" => Ok(Era::OLDER),
        (None, Some(named)) => match Era::of(named) {
            Some(Era::Modern) => Err(missing(VERSION)),
            Some(era) => Ok(era),
            None => Err(unsupported(named)),
        },
        (None, None) if asked.method == "server/discover" => Err(missing(VERSION)),
        (None, None) => Ok(Era::OLDER),
    }
}

fn missing(member: &str) -> Refused {
    Refused::params(&format!("a request of revision {MODERN} has `{member}` in `params._meta`")).early()
}

fn unsupported(version: &str) -> Refused {
    Refused::unsupported(json!({"supported": VERSIONS, "requested": short(version)}))
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::super::message::Id;
    use super::*;

    fn asked(method: &str, meta: Option<Value>) -> Asked {
        let params = meta.map(|meta| ("_meta".to_owned(), meta)).into_iter().collect();
        Asked { id: Id::Text("a".to_owned()), method: method.to_owned(), params }
    }

    #[test]
    fn eras() {
        let meta = |version: &str| Some(json!({VERSION: version, CAPABILITIES: {}}));
        let http = |version| Some(Header(version));
        for (method, meta, header, expected) in [
            ("tools/list", meta(MODERN), None, "Ok(Modern)"),
            ("tools/list", meta(MODERN), http(Some(MODERN)), "Ok(Modern)"),
            ("tools/list", meta(MODERN), http(None), "-32020"),
            ("tools/list", meta(MODERN), http(Some("2025-11-25")), "-32020"),
            ("tools/list", meta("v9"), http(Some(MODERN)), "-32020"),
            ("tools/list", meta("v9"), http(Some("v9")), "-32022"),
            ("tools/list", meta("v9"), None, "-32022"),
            ("tools/list", None, http(Some(MODERN)), "-32602"),
            ("tools/list", Some(json!({VERSION: MODERN})), None, "-32602"),
            ("tools/list", Some(json!({VERSION: 7})), None, "-32602"),
            ("tools/list", Some(json!([])), None, "-32602"),
            ("tools/list", Some(json!({"progressToken": 1})), None, "Ok(Older(\"2025-11-25\"))"),
            ("tools/list", None, http(Some("2025-06-18")), "Ok(Older(\"2025-06-18\"))"),
            ("tools/list", None, http(Some("1999-01-01")), "-32022"),
            ("tools/list", None, http(None), "Ok(Older(\"2025-11-25\"))"),
            ("server/discover", None, None, "-32602"),
            ("server/discover", None, http(None), "-32602"),
            ("initialize", None, http(Some(MODERN)), "Ok(Older(\"2025-11-25\"))"),
            ("initialize", meta(MODERN), None, "Ok(Modern)"),
        ] {
            let told = match decide(&asked(method, meta.clone()), header) {
                Ok(era) => format!("Ok({era:?})"),
                Err(refused) => refused.kind.code().to_string(),
            };
            assert_eq!(told, expected, "{method} {meta:?} {header:?}");
        }
    }
}

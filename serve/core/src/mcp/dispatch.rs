//! Methods to answers.

use serde_json::{Value, json};

use super::{
    Reply, about, complete, envelope,
    era::Era,
    message::{Asked, Id},
    prompts,
    refused::Refused,
    resources, tools,
};
use crate::{Service, Store, limits};

/// How long a client may keep what only another version of the program would change, in milliseconds.
const LISTED: u64 = 3_600_000;

/// What a method answers.
pub(super) struct Answer {
    pub(super) result: Value,
    /// How long a client may keep it, in milliseconds, where the protocol lets a client keep it at all. All that an archive says
    /// is public: who may ask it may ask all of it.
    pub(super) ttl: Option<u64>,
    /// Messages before it.
    #[cfg(feature = "conformance")]
    pub(super) before: Vec<Value>,
}

impl Answer {
    /// An answer that is not to be kept.
    pub(super) fn once(result: Value) -> Self {
        Self {
            result,
            ttl: None,
            #[cfg(feature = "conformance")]
            before: Vec::new(),
        }
    }

    /// An answer that may be kept.
    pub(super) fn kept(result: Value, ttl: u64) -> Self {
        Self { ttl: Some(ttl), ..Self::once(result) }
    }
}

/// Answers a request.
pub(crate) async fn respond<S: Store>(service: &Service<S>, asked: &Asked, era: Era) -> Reply {
    match call(service, asked, era).await {
        Ok(answer) => {
            let mut result = answer.result;
            if era == Era::Modern {
                if result.get("resultType").is_none() {
                    result["resultType"] = "complete".into();
                }
                result["_meta"]["io.modelcontextprotocol/serverInfo"] = about::server(service.config());
                if let Some(ttl) = answer.ttl {
                    result["ttlMs"] = ttl.into();
                    result["cacheScope"] = "public".into();
                }
            }
            #[cfg_attr(not(feature = "conformance"), expect(unused_mut, reason = "only fixtures say more"))]
            let mut reply = Reply::of(&envelope(Some(&asked.id), "result", result), None, era);
            #[cfg(feature = "conformance")]
            reply.before.extend(answer.before.iter().map(|message| message.to_string().into_bytes()));
            reply
        }
        Err(refused) => respond_refused(Some(&asked.id), &refused, era),
    }
}

/// The message that refuses.
pub(crate) fn respond_refused(id: Option<&Id>, refused: &Refused, era: Era) -> Reply {
    Reply::of(&envelope(id, "error", refused.value()), Some(refused.kind), era)
}

async fn call<S: Store>(service: &Service<S>, asked: &Asked, era: Era) -> Result<Answer, Refused> {
    match (asked.method.as_str(), era) {
        ("server/discover", Era::Modern) => Ok(Answer::kept(about::discovered(), LISTED)),
        ("initialize", Era::Older(_)) => {
            let version = asked.text("protocolVersion");
            let version = version.ok_or_else(|| Refused::params("`protocolVersion` is missing"))?;
            Ok(Answer::once(about::initialized(service.config(), version)))
        }
        ("ping", Era::Older(_)) => Ok(Answer::once(json!({}))),
        ("tools/list", _) => listed(asked, "tools", tools::list()),
        ("tools/call", _) => tools::call(service, asked, era).await,
        ("resources/list", _) => listed(asked, "resources", resources::list()),
        ("resources/templates/list", _) => listed(asked, "resourceTemplates", resources::templates()),
        ("resources/read", _) => resources::read(service, asked, era).await,
        ("prompts/list", _) => listed(asked, "prompts", prompts::list()),
        ("prompts/get", _) => prompts::get(asked).map(Answer::once),
        ("completion/complete", _) => complete::complete(service, asked).await.map(Answer::once),
        (method, _) => Err(Refused::method(method)),
    }
}

/// A list, whole: no cursor was ever given for one.
fn listed(asked: &Asked, key: &str, items: impl Into<Value>) -> Result<Answer, Refused> {
    match asked.params.get("cursor") {
        None | Some(Value::Null) => Ok(Answer::kept(json!({key: items.into()}), LISTED)),
        Some(_) => Err(Refused::params("this list is whole, there is no cursor in it")),
    }
}

/// A text parameter that must be there, and small.
pub(super) fn required<'a>(asked: &'a Asked, name: &str) -> Result<&'a str, Refused> {
    let text = asked.text(name).ok_or_else(|| Refused::params(&format!("`{name}` is no string")))?;
    if text.len() > limits::ARGUMENT {
        return Err(Refused::argument(name));
    }
    Ok(text)
}

//! Completion: what an argument of a prompt or template may be, while a person types it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{message::Asked, prompts, refused::Refused, resources};
use crate::{HitKind, Match, Query, Result, Service, Store};

/// Most values: the protocol's own limit.
const MOST: usize = 100;

/// Completes one. What isn't known here has no values, which is an answer too.
pub(super) async fn complete<S: Store>(service: &Service<S>, asked: &Asked) -> Result<Value, Refused> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let target = asked.params.get("ref").ok_or_else(|| Refused::params("`ref` is missing"))?;
    let known = match target.get("type").and_then(Value::as_str) {
        Some("ref/prompt") => text(target.get("name")).is_some_and(|name| is_prompt(&name)),
        Some("ref/resource") => text(target.get("uri")).is_some_and(|uri| resources::is_template(&uri)),
        _ => return Err(Refused::params("`ref.type` is neither `ref/prompt` nor `ref/resource`")),
    };
    if !known {
        return Err(Refused::params("`ref` names nothing that is listed"));
    }
    let argument = asked.params.get("argument");
    let part = |key| text(argument.and_then(|argument| argument.get(key)));
    let (Some(name), Some(typed)) = (part("name"), part("value")) else {
        return Err(Refused::params("`argument` has no `name` and `value` that are strings"));
    };
    let given = asked.params.get("context").and_then(|context| context.get("arguments"));
    let build = text(given.and_then(|given| given.get("build_id")));
    let values = values(service, &name, &typed, build.as_deref()).await;
    // Half a name fits nothing yet: that is no refusal.
    let values: Vec<String> = values.unwrap_or_default().into_iter().collect();
    let has_more = values.len() > MOST;
    let shown = &values[..values.len().min(MOST)];
    Ok(json!({"completion": {"values": shown, "hasMore": has_more}}))
}

fn is_prompt(name: &str) -> bool {
    #[cfg(feature = "conformance")]
    if super::fixtures::is_prompt(name) {
        return true;
    }
    prompts::is_prompt(name)
}

async fn values<S: Store>(
    service: &Service<S>,
    name: &str,
    typed: &str,
    build: Option<&str>,
) -> Result<BTreeSet<String>> {
    let mut request = service.request();
    let starts = |text: &str| text.starts_with(typed);
    match (name, build) {
        ("build_id", _) => {
            let builds = request.catalogue(None).await?.builds;
            let names = builds.iter().flat_map(|build| [build.build_id.as_str(), build.name.text()]);
            Ok(names.filter(|name| starts(name)).map(str::to_owned).collect())
        }
        ("edition", Some(build)) => {
            let (_, current) = request.editions(build).await?;
            let editions = current.editions.iter().map(|edition| edition.edition.as_str());
            Ok(editions.filter(|edition| starts(edition)).map(str::to_owned).collect())
        }
        ("function" | "path", Some(build)) if !typed.is_empty() => {
            let edition = request.edition(build).await?;
            let kinds = if name == "path" { &[HitKind::Source] } else { &[HitKind::Function] };
            let query = Query { text: typed, matching: Match::Prefix, kinds, limit: MOST, cursor: None };
            let found = request.search(&edition, &query).await?;
            Ok(found.value.hits.iter().map(|hit| hit.name.text().to_owned()).collect())
        }
        _ => Ok(BTreeSet::new()),
    }
}

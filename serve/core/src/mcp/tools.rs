//! Tools: the registry of [`crate::tools`] as the protocol lists and calls it.

use serde_json::{Map, Value, json};

use super::{
    dispatch::{Answer, required},
    era::Era,
    message::Asked,
    refused::{Refused, too_large},
};
use crate::{Refusal, Service, Store, limits, nearest, tools};

/// All tools.
pub(super) fn list() -> Vec<Value> {
    let tools = tools::list().into_iter().map(|tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input,
            "outputSchema": output(),
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
        })
    });
    #[cfg(feature = "conformance")]
    let tools = tools.chain(super::fixtures::tools());
    tools.collect()
}

/// JSON Schema of an answer's structured half: what every answer has, or every refusal (some clients hold both to it). A full
/// one for each tool would cost every agent's context more than it tells.
fn output() -> Value {
    json!({
        "type": "object",
        "anyOf": [
            {"required": ["provenance", "total", "next_cursor", "note", "link", "listing"]},
            {"required": ["code", "message"]},
        ],
    })
}

/// Calls one.
pub(super) async fn call<S: Store>(service: &Service<S>, asked: &Asked, era: Era) -> Result<Answer, Refused> {
    #[cfg(not(feature = "conformance"))]
    let _ = era;
    let name = required(asked, "name")?;
    let arguments = match asked.params.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(Refused::params("`arguments` is no object")),
    };
    if let Some((key, _)) =
        arguments.iter().find(|(key, value)| key.len() > limits::ARGUMENT || is_long(value))
    {
        let key: String = key.chars().take(100).collect();
        return Ok(Answer::once(refusal(&too_large(&format!("`{key}`"), limits::ARGUMENT))));
    }
    #[cfg(feature = "conformance")]
    if let Some(answer) = super::fixtures::call(name, &arguments, asked, era) {
        return answer;
    }
    match tools::call(service, name, Value::Object(arguments)).await {
        Some(Ok(answered)) => Ok(Answer::once(json!({
            "content": [{"type": "text", "text": answered.text()}],
            "structuredContent": answered.structured(),
            "isError": false,
        }))),
        Some(Err(error)) => Ok(Answer::once(refusal(&error.refusal()))),
        None => Err(unknown(name)),
    }
}

fn is_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > limits::ARGUMENT,
        Value::Array(items) => items.iter().any(is_long),
        Value::Object(members) => {
            members.iter().any(|(key, value)| key.len() > limits::ARGUMENT || is_long(value))
        }
        _ => false,
    }
}

/// A refusal as a result, complete in either half: a model reads it, and asks better.
fn refusal(refusal: &Refusal) -> Value {
    let mut text = format!("code: {}\nmessage: {}\n", refusal.code, refusal.message);
    let mut say = |label: &str, value: &str| {
        text.push_str(label);
        text.push_str(": ");
        text.push_str(value);
        text.push('\n');
    };
    if let Some(given) = &refusal.given {
        say("given", given);
    }
    for allowed in &refusal.allowed {
        say("allowed", allowed);
    }
    if let Some(fix) = &refusal.fix {
        say("fix", fix);
    }
    json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": refusal,
        "isError": true,
    })
}

fn unknown(name: &str) -> Refused {
    let names = tools::list().into_iter().map(|tool| tool.name.to_owned());
    let shown: String = name.chars().take(100).collect();
    let refused = Refused::params(&format!("no tool `{}`", crate::escape::name(&shown)));
    refused.with(json!({"given": shown, "allowed": nearest::rank(name, names)}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Answered;

    #[test]
    fn the_list_costs_a_context_little() {
        let list = json!({"tools": tools::list().len(), "list": list()}).to_string();
        assert!(cfg!(feature = "conformance") || list.len() < 9_000, "{} bytes", list.len());
    }

    #[test]
    fn answers_have_what_the_schema_says() {
        let schema = output();
        let answer = Answered::default().structured();
        for name in schema["anyOf"][0]["required"].as_array().unwrap() {
            assert!(answer.get(name.as_str().unwrap()).is_some(), "{name}");
        }
        let refusal = refusal(&too_large("x", 1));
        for name in schema["anyOf"][1]["required"].as_array().unwrap() {
            assert!(refusal["structuredContent"].get(name.as_str().unwrap()).is_some(), "{name}");
        }
    }
}

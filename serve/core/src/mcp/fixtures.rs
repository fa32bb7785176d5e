//! What the official conformance suite calls by name: content types, errors, templates, progress. No part of the product: behind
//! the feature `conformance`, which only the suite's own run switches on.

use serde_json::{Map, Value, json};

use super::{
    dispatch::Answer,
    era::{CAPABILITIES, Era},
    message::Asked,
    refused::Refused,
};

/// A red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// Silence of no length.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const TOOLS: &[(&str, &str)] = &[
    ("test_simple_text", "Answers with a text"),
    ("test_image_content", "Answers with an image"),
    ("test_audio_content", "Answers with a sound"),
    ("test_embedded_resource", "Answers with a resource"),
    ("test_multiple_content_types", "Answers with a text, an image and a resource"),
    ("test_error_handling", "Refuses"),
    ("test_tool_with_progress", "Tells its progress, where it is asked to"),
    ("test_missing_capability", "Needs a client that samples"),
    ("test_streaming_elicitation", "Answers at once, whatever the client can do"),
    ("test_logging_tool", "Would log, but this server has no log to send"),
];

pub(super) fn tools() -> impl Iterator<Item = Value> {
    let plain = TOOLS.iter().map(|(name, about)| {
        json!({"name": name, "description": about, "inputSchema": {"type": "object", "additionalProperties": false}})
    });
    plain.chain([json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        },
    })])
}

pub(super) fn call(
    name: &str,
    arguments: &Map<String, Value>,
    asked: &Asked,
    era: Era,
) -> Option<Result<Answer, Refused>> {
    let said = |text: &str| json!([{"type": "text", "text": text}]);
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let mut before = Vec::new();
    let content = match name {
        "test_simple_text" => said("This is a simple text response for testing."),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([{"type": "resource", "resource": {
            "uri": "test://embedded-resource",
            "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        }}]),
        "test_multiple_content_types" => json!([
            {"type": "text", "text": "Multiple content types test:"},
            image,
            {"type": "resource", "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": "{\"test\":\"data\",\"value\":123}",
            }},
        ]),
        "test_error_handling" => {
            let content = said("This tool intentionally returns an error for testing");
            return Some(Ok(Answer::once(json!({"content": content, "isError": true}))));
        }
        "test_tool_with_progress" => {
            if let Some(token) = asked.meta().and_then(|meta| meta.get("progressToken")) {
                before.extend([0, 50, 100].map(|progress| {
                    let params = json!({"progressToken": token, "progress": progress, "total": 100});
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
                }));
            }
            said("Done, with progress told to who asked for it.")
        }
        "test_missing_capability" => {
            let can = asked.meta().and_then(|meta| meta.get(CAPABILITIES)?.get("sampling"));
            if era == Era::Modern && can.is_none() {
                return Some(Err(Refused::capability("sampling")));
            }
            said("The client says that it samples; nothing was asked of it.")
        }
        "test_streaming_elicitation" | "test_logging_tool" => said("Done."),
        "json_schema_2020_12_tool" => said(&Value::Object(arguments.clone()).to_string()),
        _ => return None,
    };
    Some(Ok(Answer { before, ..Answer::once(json!({"content": content, "isError": false})) }))
}

pub(super) fn resources() -> [Value; 2] {
    [
        json!({"uri": "test://static-text", "name": "static-text", "description": "A text", "mimeType": "text/plain"}),
        json!({"uri": "test://static-binary", "name": "static-binary", "description": "An image", "mimeType": "image/png"}),
    ]
}

pub(super) fn templates() -> [Value; 1] {
    [json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Says its parameter",
        "mimeType": "application/json",
    })]
}

pub(super) fn read(uri: &str) -> Option<Value> {
    match uri {
        "test://static-text" => Some(json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        })),
        "test://static-binary" => Some(json!({"uri": uri, "mimeType": "image/png", "blob": PNG})),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            Some(json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()}))
        }
    }
}

const PROMPTS: &[(&str, &[&str])] = &[
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
];

pub(super) fn prompts() -> impl Iterator<Item = Value> {
    PROMPTS.iter().map(|(name, arguments)| {
        let arguments =
            arguments.iter().map(|name| json!({"name": name, "description": name, "required": true}));
        json!({"name": name, "description": name, "arguments": arguments.collect::<Vec<_>>()})
    })
}

pub(super) fn is_prompt(name: &str) -> bool {
    PROMPTS.iter().any(|(other, _)| *other == name)
}

pub(super) fn prompt(name: &str, arguments: &Map<String, Value>) -> Option<Value> {
    let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let said = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
    let messages = match name {
        "test_simple_prompt" => json!([said("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            json!([said(&format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                given("arg1"),
                given("arg2")
            ))])
        }
        "test_prompt_with_embedded_resource" => json!([
            {"role": "user", "content": {"type": "resource", "resource": {
                "uri": given("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }}},
            said("Please process the embedded resource above."),
        ]),
        "test_prompt_with_image" => json!([
            {"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}},
            said("Please analyze the image above."),
        ]),
        _ => return None,
    };
    Some(json!({"messages": messages}))
}

//! Whatever comes, what comes after it is answered as before.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Archive, ask, modern, older, say, service};

static SERVICE: LazyLock<Archive> = LazyLock::new(service);

/// Values that mean something here, and some that do anywhere.
fn scalar() -> impl Strategy<Value = Value> {
    let words = [
        "2.0",
        "2026-07-28",
        "2025-11-25",
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "prompts/get",
        "completion/complete",
        "server/discover",
        "initialize",
        "ping",
        "read_me",
        "docent",
        "explain_function",
        "sourced",
        "archive://index",
        "archive://sourced/",
        "archive://%",
        "elfscope://read-me",
        "ref/prompt",
        "ref/resource",
        "build_id",
        "function",
        "puts",
        "0x1000",
        "notifications/cancelled",
        "",
        "\u{0}",
        "\u{202e}",
        "../..",
        "%00",
        "1139-31",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        "[a-z]{8000,9000}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let keys = [
        "name",
        "arguments",
        "uri",
        "cursor",
        "_meta",
        "ref",
        "argument",
        "type",
        "value",
        "context",
        "build_id",
        "function",
        "query",
        "path",
        "from",
        "rows",
        "protocolVersion",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "progressToken",
        "",
        "x",
    ];
    scalar().prop_recursive(5, 40, 6, move |inner| {
        let key = proptest::sample::select(keys.to_vec());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6).prop_map(|members| {
                Value::Object(
                    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

/// A message that is nearly one, or is.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let whole = (scalar(), scalar(), value(), any::<u8>()).prop_map(|(id, method, params, which)| {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if let Some(left_out) = ["jsonrpc", "id", "method", "params"].get(usize::from(which % 8)) {
            message.as_object_mut().unwrap().remove(*left_out);
        }
        message.to_string().into_bytes()
    });
    let modern = (scalar(), value()).prop_map(|(method, params)| {
        let params = if params.is_object() { params } else { json!({"name": params}) };
        modern(method.as_str().unwrap_or("tools/call"), params).into_bytes()
    });
    let method =
        proptest::sample::select(vec!["tools/call", "resources/read", "prompts/get", "completion/complete"]);
    let older = (method, value()).prop_map(|(method, params)| older(method, params).into_bytes());
    let broken = (older_text(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(text, at, byte)| {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes
    });
    let cut = (older_text(), any::<prop::sample::Index>())
        .prop_map(|(text, at)| text.as_bytes()[..at.index(text.len())].to_vec());
    let deep = (1_usize..40_000, "[\\[{]").prop_map(|(levels, sign)| sign.repeat(levels).into_bytes());
    prop_oneof![whole, modern, older, broken, cut, deep, proptest::collection::vec(any::<u8>(), 0..200)]
}

fn older_text() -> impl Strategy<Value = String> {
    value().prop_map(|params| older("tools/call", params))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn nothing_that_comes_changes_what_comes_after(
        messages in proptest::collection::vec(message(), 1..12),
        headers in proptest::collection::vec(
            ("(mcp-protocol-version|mcp-method|mcp-name|mcp-session-id|accept|content-type|origin)", "[ -~]{0,40}"), 0..4,
        ),
    ) {
        let good = modern("tools/call", json!({"name": "read_me", "arguments": {}}));
        let posted = |body: &[u8]| {
            let headers = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: read_me"];
            let posted = ask(&SERVICE, "POST", &headers, body);
            (posted.status, posted.body)
        };
        let before = (say(&SERVICE, &good), posted(good.as_bytes()));
        let headers: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        for message in &messages {
            if let Some(reply) = pollster::block_on(elfscope_core::mcp::answer(&*SERVICE, message)) {
                super::check(&serde_json::from_slice(&reply.message).unwrap());
            }
            let posted = ask(&SERVICE, "POST", &headers, message);
            prop_assert!(posted.status == 202 || posted.status == 403 || !posted.body.is_empty());
            if posted.status != 403 && !posted.body.is_empty() {
                let message: Value = serde_json::from_slice(&posted.body).unwrap();
                super::check(&message);
            }
        }
        prop_assert_eq!(before, (say(&SERVICE, &good), posted(good.as_bytes())));
    }
}

//! MCP as data: messages in, messages out, over a transport without headers and over HTTP.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod hostile;
mod http;
mod resources;
mod rules;
#[path = "../support/mod.rs"]
mod support;

use elfscope_core::{Config, Service, http::Body, mcp};
use pollster::block_on;
use serde_json::{Value, json};
use support::{MemoryStore, counting::CountingStore, small, sourced};

type Archive = Service<CountingStore<MemoryStore>>;

const MODERN: &str = "2026-07-28";

/// A service of the archive with sources.
fn service() -> Archive {
    Service::new(sourced::archive(2000), Config::default())
}

/// One message, and what is said to it.
#[track_caller]
fn say(service: &Archive, message: &str) -> Option<Value> {
    let reply = block_on(mcp::answer(service, message.as_bytes()))?;
    assert!(!reply.message.contains(&b'\n'));
    let value: Value = serde_json::from_slice(&reply.message).unwrap();
    check(&value);
    Some(value)
}

/// What holds of every answer.
#[track_caller]
fn check(message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0");
    assert!(message.get("id").is_some());
    assert_ne!(message.get("result").is_some(), message.get("error").is_some(), "{message}");
    assert_ne!(message["error"]["code"], -32603, "{message}");
}

/// A request of the older era.
fn older(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// A request of the modern era.
fn modern(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": "m", "method": method, "params": params}).to_string()
}

/// An answer over HTTP: status, header by name, and the message, where there is one.
struct Posted {
    status: u16,
    headers: ::http::HeaderMap,
    body: Vec<u8>,
}

impl Posted {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    fn message(&self) -> Value {
        let value = serde_json::from_slice(&self.body).unwrap();
        check(&value);
        value
    }

    /// The status, and the code of what is refused.
    fn told(&self) -> (u16, i64) {
        let code = serde_json::from_slice::<Value>(&self.body)
            .ok()
            .and_then(|value| value["error"]["code"].as_i64());
        (self.status, code.unwrap_or(0))
    }
}

/// Asks `/mcp`; headers are `name: value`. A host is named unless one is given.
#[track_caller]
fn ask(service: &Archive, method: &str, headers: &[&str], body: &[u8]) -> Posted {
    let mut request = ::http::Request::builder().method(method).uri("/mcp");
    if !headers.iter().any(|header| header.starts_with("host:")) {
        request = request.header("host", "localhost:8787");
    }
    for header in headers {
        let (name, value) = header.split_once(':').unwrap();
        request = request.header(name, value.trim_start());
    }
    let request = request.body(body.to_vec()).unwrap();
    let (parts, body) = block_on(elfscope_core::http::answer(service, request)).unwrap().into_parts();
    let Body::Bytes(body) = body else { panic!("it is said whole") };
    let posted = Posted { status: parts.status.as_u16(), headers: parts.headers, body };
    assert!(posted.status < 500, "{}", posted.status);
    assert_eq!(posted.header("cache-control"), "no-store");
    assert_eq!(posted.header("access-control-allow-origin"), "*");
    posted
}

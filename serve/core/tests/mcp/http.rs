//! The rules of the transport over HTTP.

use serde_json::json;

use super::{MODERN, ask, modern, older, service};

const VERSION: &str = "mcp-protocol-version: 2026-07-28";

#[test]
fn headers_of_the_modern_era_say_what_the_message_says() {
    let service = service();
    let list = modern("tools/list", json!({}));
    let call = modern("tools/call", json!({"name": "read_me"}));
    let read = modern("resources/read", json!({"uri": "elfscope://read-me"}));
    let get = modern("prompts/get", json!({"name": "docent", "arguments": {"build_id": "a"}}));
    for (message, headers, expected) in [
        (&list, &[VERSION, "mcp-method: tools/list"][..], (200, 0)),
        (&list, &[VERSION, "MCP-METHOD:  tools/list "], (200, 0)),
        (&list, &[VERSION, "mcp-method: =?base64?dG9vbHMvbGlzdA==?="], (200, 0)),
        (&list, &[VERSION, "mcp-method: =?base64?dG9vbHMvbGlzdA?="], (400, -32020)),
        (&list, &[VERSION, "mcp-method: TOOLS/LIST"], (400, -32020)),
        (&list, &[VERSION, "mcp-method: tools/list", "mcp-method: tools/list"], (400, -32020)),
        (&list, &[VERSION], (400, -32020)),
        (&list, &["mcp-method: tools/list"], (400, -32020)),
        (&list, &["mcp-protocol-version: 2025-11-25", "mcp-method: tools/list"], (400, -32020)),
        (&call, &[VERSION, "mcp-method: tools/call", "mcp-name:   read_me  "], (200, 0)),
        (&call, &[VERSION, "mcp-method: tools/call", "mcp-name: =?base64?cmVhZF9tZQ==?="], (200, 0)),
        (&call, &[VERSION, "mcp-method: tools/call", "mcp-name: other"], (400, -32020)),
        (&call, &[VERSION, "mcp-method: tools/call"], (400, -32020)),
        (&read, &[VERSION, "mcp-method: resources/read", "mcp-name: elfscope://read-me"], (200, 0)),
        (&read, &[VERSION, "mcp-method: resources/read", "mcp-name: elfscope://read"], (400, -32020)),
        (&get, &[VERSION, "mcp-method: prompts/get", "mcp-name: docent", "mcp-session-id: any"], (200, 0)),
        (&get, &[VERSION, "mcp-method: prompts/get"], (400, -32020)),
    ] {
        let posted = ask(&service, "POST", headers, message.as_bytes());
        assert_eq!(posted.told(), expected, "{headers:?}");
        assert_eq!(posted.header("content-type"), "application/json");
    }
    let unknown = list.replace(MODERN, "v9");
    let posted =
        ask(&service, "POST", &["mcp-protocol-version: v9", "mcp-method: tools/list"], unknown.as_bytes());
    assert_eq!(posted.told(), (400, -32022));
    let nothing = modern("nothing/here", json!({}));
    let posted = ask(&service, "POST", &[VERSION, "mcp-method: nothing/here"], nothing.as_bytes());
    assert_eq!(posted.told(), (404, -32601));
    let missing = modern("resources/read", json!({"uri": "archive://a"}));
    let headers = [VERSION, "mcp-method: resources/read", "mcp-name: archive://a"];
    let posted = ask(&service, "POST", &headers, missing.as_bytes());
    assert_eq!(posted.told(), (200, -32602));
    let bare = older("tools/list", json!({}));
    assert_eq!(
        ask(&service, "POST", &[VERSION, "mcp-method: tools/list"], bare.as_bytes()).told(),
        (400, -32602)
    );
}

#[test]
fn the_older_era_needs_no_headers() {
    let service = service();
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let posted = ask(&service, "POST", &[], older("initialize", params).as_bytes());
    assert_eq!(posted.message()["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(posted.header("mcp-session-id"), "");
    for (method, headers, expected) in [
        ("tools/list", &["mcp-protocol-version: 2025-06-18"][..], (200, 0)),
        ("tools/list", &[], (200, 0)),
        ("tools/list", &["mcp-session-id: whatever"], (200, 0)),
        ("nothing", &["mcp-protocol-version: 2025-11-25"], (200, -32601)),
        ("tools/list", &["mcp-protocol-version: 1999-01-01"], (400, -32022)),
    ] {
        let posted = ask(&service, "POST", headers, older(method, json!({})).as_bytes());
        assert_eq!(posted.told(), expected, "{method} {headers:?}");
    }
    for bad in ["", "{", "[]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "\u{0}"] {
        let (status, code) = ask(&service, "POST", &[], bad.as_bytes()).told();
        assert!(status == 400 && (code == -32700 || code == -32600), "{bad}: {status} {code}");
    }
}

#[test]
fn notifications_are_taken_and_nothing_said() {
    let service = service();
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": "x".repeat(70_000)}}),
    ] {
        let posted =
            ask(&service, "POST", &["mcp-protocol-version: 2025-11-25"], message.to_string().as_bytes());
        assert_eq!((posted.status, posted.body.len()), (202, 0));
    }
}

#[test]
fn what_is_too_long_is_refused_under_its_identifier() {
    let service = service();
    let long =
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"x": "x".repeat(70_000)}})
            .to_string();
    // A host reads one byte more than the most.
    for body in [long.as_bytes(), &long.as_bytes()[..=elfscope_core::limits::BODY]] {
        let posted = ask(&service, "POST", &[], body);
        assert_eq!(posted.status, 413);
        let message = posted.message();
        assert_eq!(message["id"], "a");
        assert_eq!(message["error"]["data"]["code"], "E_INPUT_TOO_LARGE");
    }
    let posted = ask(&service, "POST", &[], &vec![b'x'; 70_000]);
    assert_eq!((posted.status, &posted.message()["id"]), (413, &json!(null)));
}

#[test]
fn only_posts_and_questions_about_them() {
    let service = service();
    for method in ["GET", "DELETE", "PUT", "HEAD", "PATCH"] {
        let posted = ask(&service, method, &[], b"");
        assert_eq!(posted.status, 405, "{method}");
        assert_eq!(posted.header("allow"), "POST, OPTIONS");
    }
    let posted = ask(
        &service,
        "OPTIONS",
        &["origin: http://localhost:6274", "access-control-request-method: POST"],
        b"",
    );
    assert_eq!(posted.status, 204);
    for name in ["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"]
    {
        assert!(
            posted.header("access-control-allow-headers").split(", ").any(|other| other == name),
            "{name}"
        );
    }
    assert_eq!(posted.header("access-control-allow-methods"), "POST, OPTIONS");
}

#[test]
fn hosts_and_origins_of_others_are_refused() {
    let service = service();
    let ping = older("ping", json!({}));
    for (headers, status) in [
        (&["host: 127.0.0.1:8787"][..], 200),
        (&["host: [::1]:8787", "origin: http://[::1]:8787"], 200),
        (&["origin: http://localhost:6274"], 200),
        (&["origin: http://evil.example"], 403),
        (&["origin: null"], 403),
        (&["host: evil.example"], 403),
        (&["host: evil.example", "origin: http://evil.example"], 403),
    ] {
        for method in ["POST", "OPTIONS", "GET"] {
            let posted = ask(&service, method, headers, ping.as_bytes());
            let expected = match (method, status) {
                ("OPTIONS", 200) => 204,
                ("GET", 200) => 405,
                _ => status,
            };
            assert_eq!(posted.status, expected, "{method} {headers:?}");
            assert_eq!(posted.header("access-control-expose-headers"), "mcp-session-id, retry-after");
        }
    }
}

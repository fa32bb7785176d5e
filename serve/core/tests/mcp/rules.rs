//! The protocol's rules, whatever the transport.

use serde_json::{Value, json};

use super::{MODERN, modern, older, say, service};

#[test]
fn the_older_era_begins_with_initialize() {
    let service = service();
    for (asked, expected) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        (MODERN, "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ] {
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        let result = &say(&service, &older("initialize", params)).unwrap()["result"];
        assert_eq!(result["protocolVersion"], expected, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "elfscope");
        assert_eq!(
            result["capabilities"],
            json!({"completions": {}, "prompts": {}, "resources": {}, "tools": {}})
        );
        assert!(result["instructions"].as_str().unwrap().contains("read_me"));
    }
    assert_eq!(say(&service, &older("ping", json!({}))).unwrap()["result"], json!({}));
    assert_eq!(say(&service, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
    for method in
        ["server/discover", "logging/setLevel", "resources/subscribe", "tasks/list", "", "tools/List"]
    {
        let refused = say(&service, &older(method, json!({}))).unwrap();
        let code = if method == "server/discover" { -32602 } else { -32601 };
        assert_eq!(refused["error"]["code"], code, "{method}");
    }
}

#[test]
fn the_modern_era_says_what_it_is_in_every_result() {
    let service = service();
    let uri = json!({"uri": "elfscope://read-me"});
    for (method, params, kept) in [
        ("server/discover", json!({}), true),
        ("tools/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/read", uri, true),
        ("tools/call", json!({"name": "read_me"}), false),
        ("tools/call", json!({"name": "read_me", "arguments": {"a": 1}}), false),
        ("prompts/get", json!({"name": "docent", "arguments": {"build_id": "a"}}), false),
    ] {
        let message = say(&service, &modern(method, params.clone())).unwrap();
        let result = &message["result"];
        assert_eq!(message["id"], "m");
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "elfscope", "{method}");
        assert_eq!(result["ttlMs"].is_u64(), kept, "{method}");
        assert_eq!(result["cacheScope"] == "public", kept, "{method}");
        if method != "server/discover" {
            let told = say(&service, &older(method, params)).unwrap();
            for member in ["resultType", "_meta", "ttlMs", "cacheScope"] {
                assert!(told["result"].get(member).is_none(), "{method} {member}");
            }
        }
    }
    let discovered = say(&service, &modern("server/discover", json!({}))).unwrap();
    assert_eq!(discovered["result"]["supportedVersions"][0], MODERN);
    for method in ["initialize", "ping", "logging/setLevel", "subscriptions/listen", "nothing"] {
        let params = json!({"protocolVersion": "2025-11-25"});
        assert_eq!(say(&service, &modern(method, params)).unwrap()["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn an_unknown_revision_is_told_which_are_known() {
    let message = modern("tools/list", json!({})).replace(MODERN, "2099-01-01");
    let refused = say(&service(), &message).unwrap();
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(refused["error"]["data"]["supported"][0], MODERN);
}

#[test]
fn identifiers_come_back_as_they_came() {
    let service = service();
    for id in
        ["0", "-1", "18446744073709551615", "-9223372036854775808", r#""""#, r#""a\"b\u00e9""#, r#""1""#]
    {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let expected: Value = serde_json::from_str(id).unwrap();
        assert_eq!(say(&service, &message).unwrap()["id"], expected, "{id}");
    }
    for id in ["1e400", "18446744073709551616", "1.5", "null", "true", "[]", "{}"] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let refused = say(&service, &message).unwrap();
        assert_eq!(refused["id"], Value::Null, "{id}");
        let code = refused["error"]["code"].as_i64().unwrap();
        assert!(code == -32600 || code == -32700, "{id}: {code}");
    }
}

#[test]
fn a_tool_refuses_in_both_halves() {
    let service = service();
    let params = json!({"name": "read_me", "arguments": {"nothing": 1}});
    let result = &say(&service, &older("tools/call", params)).unwrap()["result"];
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"]["code"], "E_BAD_ARGUMENTS");
    let text = result["content"][0]["text"].as_str().unwrap();
    for said in result["structuredContent"].as_object().unwrap().values() {
        assert!(text.contains(said.as_str().unwrap()), "{text}: {said}");
    }
    let long = json!({"name": "read_me", "arguments": {"x": ["a".repeat(9000)]}});
    let result = &say(&service, &older("tools/call", long)).unwrap()["result"];
    assert_eq!(result["structuredContent"]["code"], "E_INPUT_TOO_LARGE");

    for params in [
        json!({}),
        json!({"name": 1}),
        json!({"name": "nothing"}),
        json!({"name": "read_me", "arguments": []}),
        json!({"name": "read_me", "arguments": "a"}),
    ] {
        let refused = say(&service, &older("tools/call", params.clone())).unwrap();
        assert_eq!(refused["error"]["code"], -32602, "{params}");
    }
    let near = say(&service, &older("tools/call", json!({"name": "readme"}))).unwrap();
    assert_eq!(near["error"]["data"]["allowed"][0], "read_me");
}

#[test]
fn every_tool_is_listed_whole_and_in_one_order() {
    let service = service();
    let listed = say(&service, &older("tools/list", json!({}))).unwrap();
    assert_eq!(listed, say(&service, &older("tools/list", json!({"cursor": null}))).unwrap());
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(!tools.is_empty());
    for tool in tools {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
        }
        for member in ["name", "title", "description"] {
            assert!(!tool[member].as_str().unwrap().is_empty(), "{tool}");
        }
        let hints = json!({"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false});
        assert!(cfg!(feature = "conformance") || tool["annotations"] == hints, "{tool}");
    }
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let refused = say(&service, &older(method, json!({"cursor": "abc"}))).unwrap();
        assert_eq!(refused["error"]["code"], -32602, "{method}");
    }
}

#[test]
fn arguments_are_completed() {
    let service = service();
    let complete = |reference: Value, argument: Value, context: Value| {
        let params = json!({"ref": reference, "argument": argument, "context": {"arguments": context}});
        say(&service, &older("completion/complete", params)).unwrap()
    };
    let prompt = json!({"type": "ref/prompt", "name": "explain_function"});
    let build = complete(prompt.clone(), json!({"name": "build_id", "value": "sour"}), json!({}));
    assert_eq!(build["result"]["completion"], json!({"values": ["sourced"], "hasMore": false}));
    let given = json!({"build_id": "sourced"});
    let function = complete(prompt.clone(), json!({"name": "function", "value": "pu"}), given.clone());
    assert_eq!(function["result"]["completion"]["values"], json!(["puts"]));
    let template = json!({"type": "ref/resource", "uri": "archive://{build_id}/{edition}/src/{+path}"});
    let edition = complete(template.clone(), json!({"name": "edition", "value": ""}), given.clone());
    assert_eq!(edition["result"]["completion"]["values"].as_array().unwrap().len(), 1);
    let path = complete(template, json!({"name": "path", "value": "libio/"}), given);
    assert_eq!(path["result"]["completion"]["values"], json!(["libio/ioputs.c", "libio/libioP.h"]));
    let nothing =
        complete(prompt, json!({"name": "function", "value": "pu"}), json!({"build_id": "nothing"}));
    assert_eq!(nothing["result"]["completion"]["values"], json!([]));
    for params in [
        json!({}),
        json!({"ref": {"type": "ref/prompt", "name": "nothing"}, "argument": {"name": "a", "value": ""}}),
        json!({"ref": {"type": "ref/other"}, "argument": {"name": "a", "value": ""}}),
        json!({"ref": {"type": "ref/prompt", "name": "docent"}, "argument": {"name": "a"}}),
    ] {
        let refused = say(&service, &older("completion/complete", params.clone())).unwrap();
        assert_eq!(refused["error"]["code"], -32602, "{params}");
    }
}

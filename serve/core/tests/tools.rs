//! The tools that agents call, on small archives: what they answer, that both halves say it, and that no answer is long.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use elfscope_core::{
    Config, Service,
    tools::{self, Answered, MOST_CHARACTERS},
};
use pollster::block_on;
use serde_json::{Value, json};
use support::{
    MemoryStore,
    counting::CountingStore,
    small::{SMALL, archive},
};

#[test]
fn look() {
    let service = Service::new(archive(600), Config::default());
    for (name, arguments) in [
        ("archive_lookup", json!({})),
        ("archive_lookup", json!({"build_id": "small", "query": "main"})),
        ("archive_lookup", json!({"query": "small"})),
        ("archive_function", json!({"build_id": "small", "function": "main"})),
        ("archive_function", json!({"build_id": "small", "function": "0x1009"})),
        ("archive_function", json!({"build_id": "small", "function": "huge"})),
        ("archive_function", json!({"build_id": "small", "function": "huge", "from": 300, "view": "asm"})),
        ("archive_function", json!({"build_id": "small", "function": "0x2000"})),
        ("archive_function", json!({"build_id": "small", "function": "puts"})),
        ("archive_callers", json!({"build_id": "small", "function": "main", "context": 2})),
        ("archive_callers", json!({"build_id": "small", "function": "main"})),
        ("archive_callees", json!({"build_id": "small", "function": "huge", "context": 2})),
    ] {
        println!("=== {name} {arguments}");
        match block_on(tools::call(&service, name, arguments)).unwrap() {
            Ok(answer) => println!(
                "{}\n--- {} characters, {:?}",
                answer.text(),
                answer.text().chars().count(),
                answer.budget
            ),
            Err(error) => println!("{}", json!(error.refusal())),
        }
    }
    let list: Vec<Value> = tools::list().iter().map(|tool| json!({"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.input, "outputSchema": tool.output})).collect();
    println!("{} bytes\n{}", json!(list).to_string().len(), serde_json::to_string_pretty(&list).unwrap());
}

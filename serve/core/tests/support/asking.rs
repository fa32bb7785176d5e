//! Asking the tools, and what holds for every answer: its cost, its length, that neither half says more than the other, and
//! that its link opens it.

use elfscope_core::{
    Link, Refusal, Service,
    tools::{self, Answered, MOST_CHARACTERS},
};
use elfscope_schema::limits;
use pollster::block_on;
use serde_json::{Value, json};

use super::{MemoryStore, counting::CountingStore};

/// A service over an archive in memory that counts.
pub type Small = Service<CountingStore<MemoryStore>>;

/// Asks, and checks what holds for every answer: its cost, its length, and that neither half has more than the other.
#[track_caller]
pub fn ask(service: &Small, name: &str, arguments: &Value) -> Result<Answered, Refusal> {
    service.store().take_reads();
    let answer = block_on(tools::call(service, name, arguments.clone())).expect("a tool of that name");
    let reads = service.store().take_reads();
    assert!(reads <= limits::REQUEST_READS, "{name} {arguments}: {reads} reads");
    let answer = answer.map_err(|error| error.refusal())?;
    let what = format!("{name} {arguments}");
    assert!(answer.budget.reads <= limits::REQUEST_READS, "{what}: {:?}", answer.budget);
    assert!(answer.budget.json <= limits::REQUEST_JSON, "{what}: {:?}", answer.budget);
    let text = answer.text();
    assert!(text.chars().count() <= MOST_CHARACTERS, "{what}: {} characters", text.chars().count());
    let acts = |character: char| character.is_control() && character != '\n';
    assert!(!text.contains(acts) && !text.contains(['\u{202e}', '\u{200b}']), "{what}: something acts");
    assert_eq!(from_text(&text), answer.structured(), "{what}");
    if !answer.envelope.link.is_empty() {
        let link = Link::parse(&answer.envelope.link).unwrap();
        assert_eq!(link.url(""), answer.envelope.link);
        opens(service, &link, &answer, &what);
    }
    Ok(answer)
}

/// Checks that a link opens the view that it came with.
#[track_caller]
fn opens(service: &Small, link: &Link, answer: &Answered, what: &str) {
    let (name, mut arguments) = tools::question(link).unwrap();
    let part = link.rows.filter(|_| !matches!(name, "archive_function" | "archive_source"));
    // Further on in a long list it is the same again; and bytes are no part of a view.
    if part.is_some_and(|(first, _)| first > 60) || what.contains("bytes") {
        return;
    }
    let items = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("  0x") || line.contains("nop"));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let mut opened = Vec::new();
    loop {
        let page = block_on(tools::call(service, name, arguments.clone())).unwrap();
        let page = page.unwrap_or_else(|error| panic!("{what}: {arguments}: {error}"));
        opened.extend(items(&page.listing));
        let is_done = part.is_none_or(|(_, last)| page.envelope.to.is_some_and(|to| to >= last));
        match page.envelope.next_cursor.filter(|_| !is_done) {
            Some(cursor) => arguments["cursor"] = json!(cursor),
            None => break,
        }
        if part.is_none() {
            assert_eq!(
                (page.envelope.from, page.envelope.to),
                (answer.envelope.from, answer.envelope.to),
                "{what}"
            );
        }
    }
    let of_first = |item: &&String| !what.contains("builds") || item.starts_with("data");
    for item in items(&answer.listing).iter().filter(of_first) {
        let plain = |item: &str| item.trim_start_matches("> ").to_owned();
        assert!(opened.iter().any(|other| plain(other) == plain(item)), "{what}: {link} has no `{item}`");
    }
}

/// The structured half, made of the text alone.
fn from_text(text: &str) -> Value {
    let (head, listing) = text.split_once("\n\n").unwrap();
    let mut value = json!({"listing": listing, "note": "", "link": "", "total": null, "next_cursor": null});
    for line in head.lines() {
        let (label, told) = line.split_once(": ").unwrap();
        value[label] = match label {
            "from" | "to" | "scanned" => json!(told.parse::<u64>().unwrap()),
            "total" => told.parse::<u64>().map_or(Value::Null, |total| json!(total)),
            "next_cursor" if told.starts_with("none") => Value::Null,
            _ => json!(told),
        };
    }
    value
}

/// All answers of a walk; the cursor goes where the tool takes it.
pub fn walk(service: &Small, name: &str, arguments: &Value) -> Vec<Answered> {
    let takes = if ["archive_function", "archive_source"].contains(&name) { "from" } else { "cursor" };
    let mut arguments = arguments.clone();
    let mut answers = Vec::new();
    loop {
        let answer = ask(service, name, &arguments).unwrap();
        let next = answer.envelope.next_cursor.clone();
        answers.push(answer);
        let Some(next) = next else { return answers };
        arguments[takes] = json!(next);
        assert!(answers.len() < 1000, "{name}: a walk without end");
    }
}

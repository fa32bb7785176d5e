//! The ten questions of `docs/agents.md`: a client that knows only what the tools answer fills in typed fields, and objdump, readelf and
//! addr2line say whether they are true.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use elfscope_core::{Config, Service, Store, tools};
use serde_json::{Value, json};

use super::Work;
use crate::{
    report::Report,
    run::{has, output, program, root, stdout},
};

/// A folder as the core reads it.
struct Folder(PathBuf);

impl Store for Folder {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.0.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(self.get(path).await?.map(|bytes| {
            let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            bytes[at(offset)..at(offset.saturating_add(length))].to_vec()
        }))
    }
}

/// A client that keeps nothing but answers.
struct Client {
    service: Service<Folder>,
    answers: usize,
    longest: usize,
}

impl Client {
    /// The listing of an answer; every other answer is read from its text alone, the rest from the structured half.
    fn ask(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let answer = pollster::block_on(tools::call(&self.service, tool, arguments.clone()))
            .context("no such tool")?
            .map_err(|error| anyhow::anyhow!("{tool} {arguments}: {}", json!(error.refusal())))?;
        let characters = answer.text().chars().count();
        ensure!(characters <= tools::MOST_CHARACTERS, "{tool} {arguments}: {characters} characters");
        (self.answers, self.longest) = (self.answers + 1, self.longest.max(characters));
        let mut told = answer.structured();
        if self.answers.is_multiple_of(2) {
            let text = answer.text();
            told["listing"] = json!(text.split_once("\n\n").context("no listing")?.1);
        }
        Ok(told)
    }

    fn lines(&mut self, tool: &str, arguments: &Value) -> Result<Vec<String>> {
        let told = self.ask(tool, arguments)?;
        Ok(told["listing"].as_str().unwrap_or_default().lines().map(str::to_owned).collect())
    }
}

/// The word after another one, or the first of a line.
fn word<'a>(line: &'a str, after: &str) -> &'a str {
    let rest = if after.is_empty() { line } else { line.split_once(after).map_or("", |parts| parts.1) };
    rest.split_whitespace().next().unwrap_or_default().trim_matches(|c| matches!(c, ',' | '(' | ')'))
}

fn hex(text: &str) -> Result<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).with_context(|| format!("`{text}` is no address"))
}

/// The address of a row: a line of its number and its address.
fn row_at(line: &str) -> Option<u64> {
    let mut words = line.trim_start_matches('>').split_whitespace();
    words.next()?.parse::<u32>().ok()?;
    u64::from_str_radix(words.next()?, 16).ok()
}

fn find<'a>(lines: &'a [String], has: &str) -> Result<&'a str> {
    let line = lines.iter().find(|line| line.contains(has));
    Ok(line.with_context(|| format!("no line has `{has}`:\n{}", lines.join("\n")))?)
}

/// What the tools of others say.
struct Oracle(PathBuf);

impl Oracle {
    fn file(&self, name: &str) -> PathBuf {
        if name == "libc.so.6" { self.0.clone() } else { root().join("fixtures/bin").join(name) }
    }

    fn says(&self, tool: &str, options: &[&str], name: &str) -> Result<String> {
        stdout(program(tool).args(options).arg(self.file(name)))
    }

    fn code(&self, name: &str, from: u64, to: u64) -> Result<String> {
        let (from, to) = (format!("--start-address=0x{from:x}"), format!("--stop-address=0x{to:x}"));
        self.says("objdump", &["-d", "--no-show-raw-insn", &from, &to], name)
    }
}

/// Asks the ten questions.
pub(super) fn check(elfscope: &Path, libc: &Path, work: &Work, report: &mut Report) -> Result<()> {
    if let Some(tool) = ["objdump", "readelf", "addr2line"].into_iter().find(|tool| !has(tool)) {
        report.skip("ten questions", format!("there is no `{tool}` here"));
        return Ok(());
    }
    let archive = work.folder()?;
    let oracle = Oracle(libc.to_owned());
    let mut add = program(elfscope);
    add.args(["add", "--only-given", "--archive"]).arg(&archive);
    for name in [
        "changed-hello-x86_64",
        "changed-world-x86_64",
        "changed-puts-x86_64",
        "pointers-x86_64.so",
        "edges-x86_64.so",
        "dwarf5-x86_64.so",
        "libc.so.6",
    ] {
        add.arg(oracle.file(name));
    }
    output(&mut add)?;
    let service = Service::new(Folder(archive), Config::default());
    let mut client = Client { service, answers: 0, longest: 0 };
    type Asked = fn(&mut Client, &Oracle) -> Result<String>;
    let questions: [(&str, Asked); 10] = [
        ("who calls malloc, and with which size", malloc),
        ("where a string behind a pointer table is used", table),
        ("what a crash address is", crash),
        ("what changed between two builds", changed),
        ("which build provides an import", provider),
        ("what a function may reach", reach),
        ("where a name with versions is", versions),
        ("how large an object is and who uses it", object),
        ("where the program starts", entry),
        ("which row differs in a changed function", row),
    ];
    for (number, (question, answer)) in questions.into_iter().enumerate() {
        let told =
            answer(&mut client, &oracle).with_context(|| format!("question {}: {question}", number + 1))?;
        println!("  {:>2}. {question}: {told}", number + 1);
        report.pass();
    }
    println!("  {} answers, the longest of {} characters", client.answers, client.longest);
    Ok(())
}

fn malloc(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let mut asked = json!({"build_id": "libc.so.6", "function": "import:malloc", "context": 4});
    let mut sites: Vec<(u64, u64)> = Vec::new();
    // As many answers as it takes to find three: whoever asks goes on by the cursor.
    for _ in 0..40 {
        let told = client.ask("archive_callers", &asked)?;
        let (mut size, mut at) = (None, 0);
        for line in told["listing"].as_str().unwrap_or_default().lines() {
            if line.starts_with("  0x") {
                (size, at) = (None, hex(word(line, ""))?);
            } else if line.contains("movl ") && line.contains('$') && line.contains(", %edi") {
                size = Some(hex(word(line, "$"))?);
            } else if line.contains(", %rdi") || line.contains(", %edi") {
                size = None;
            } else if line.contains(" > ") {
                sites.extend(size.map(|size| (at, size)));
            }
        }
        match told["next_cursor"].as_str().filter(|_| sites.len() < 3) {
            Some(cursor) => asked["cursor"] = json!(cursor),
            None => break,
        }
    }
    ensure!(!sites.is_empty(), "no site loads a constant");
    for (at, size) in &sites {
        let code = oracle.code("libc.so.6", at - 24, at + 5)?;
        ensure!(code.contains(&format!("$0x{size:x},%edi")), "{at:x}: no 0x{size:x} in\n{code}");
        ensure!(code.contains(&format!("{at:x}:\tcall")), "{at:x}: no call in\n{code}");
    }
    let (at, size) = sites[0];
    Ok(format!("{} sites with a constant, the first at 0x{at:x} of {size} bytes", sites.len()))
}

fn table(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let build = "pointers-x86_64.so";
    let found =
        client.lines("archive_lookup", &json!({"build_id": build, "query": "subtract", "kind": "string"}))?;
    let string = hex(word(find(&found, "string")?, "string"))?;
    let item =
        client.lines("archive_function", &json!({"build_id": build, "function": format!("0x{string:x}")}))?;
    let slot = hex(word(find(&item, "held by")?, "held by"))?;
    let table =
        client.lines("archive_function", &json!({"build_id": build, "function": format!("0x{slot:x}")}))?;
    let user = find(&table, "takes its address")?;
    let (at, function) = (hex(word(user, ""))?, word(user, "takes its address").to_owned());
    let relocations = oracle.says("readelf", &["-rW"], build)?;
    let relative = relocations
        .lines()
        .any(|line| line.starts_with(&format!("{slot:016x}")) && line.ends_with(&format!(" {string:x}")));
    ensure!(relative, "readelf has no relocation at {slot:x} to {string:x}");
    let code = oracle.code(build, at, at + 7)?;
    ensure!(code.contains("lea") && code.contains(&format!("<{function}")), "{at:x} in {function}:\n{code}");
    Ok(format!("0x{string:x} by the slot 0x{slot:x} in {function} at 0x{at:x}"))
}

fn crash(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let build = "dwarf5-x86_64.so";
    let asked = json!({"build_id": build, "function": "apply", "view": "asm"});
    let rows = client.lines("archive_function", &asked)?;
    // The row after the first call: what a backtrace holds.
    let call = rows.iter().position(|line| row_at(line).is_some() && line.contains("call"));
    let at = rows[call.context("no call in apply")? + 1..].iter().find_map(|line| row_at(line));
    let at = at.context("no row after it")?;
    let asked = json!({"build_id": build, "function": format!("0x{at:x}"), "rows": 20});
    let told = client.lines("archive_function", &asked)?;
    let marked = told.iter().position(|line| line.starts_with("> ") && row_at(line) == Some(at));
    let marked = marked.with_context(|| format!("0x{at:x} is not marked:\n{}", told.join("\n")))?;
    let is_place = |line: &&String| !line.starts_with(' ') && line.contains(".c:");
    let place = told[..marked].iter().rev().find(is_place).context("no place")?;
    let name = word(told.first().context("no title")?, "").to_owned();
    let oracle = oracle.says("addr2line", &["-f", &format!("0x{at:x}"), "-e"], build)?;
    let line = place.split_whitespace().next().unwrap_or_default();
    let file_line = line.rsplit('/').next().unwrap_or_default();
    ensure!(oracle.contains(file_line), "{line} here, {oracle} there");
    ensure!(oracle.starts_with(&name), "{name} here, {oracle} there");
    Ok(format!("0x{at:x} is in {name} at {line}"))
}

fn changed(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let (a, b) = ("changed-hello-x86_64", "changed-world-x86_64");
    let lines = client.lines("archive_diff", &json!({"a": a, "b": b}))?;
    let changed: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with("changed") && line.contains("function"))
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    ensure!(changed == ["run"], "{changed:?}:\n{}", lines.join("\n"));
    let strings = |name| oracle.says("readelf", &["-p", ".rodata"], name);
    ensure!(strings(a)? != strings(b)?, "the strings are the same");
    Ok("run, by the string that it passes".to_owned())
}

fn provider(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let lines = client
        .lines("archive_callers", &json!({"build_id": "changed-puts-x86_64", "function": "import:puts"}))?;
    let line = find(&lines, "    libc.so.6")?;
    let at = hex(word(line, " at "))?;
    let symbols = oracle.says("readelf", &["--dyn-syms", "-W"], "libc.so.6")?;
    let told = symbols.lines().any(|line| line.contains(&format!("{at:016x}")) && line.contains(" puts@@"));
    ensure!(told, "readelf has no puts at {at:x}");
    ensure!(find(&lines, "candidates")?.contains("not what the loader will pick"));
    Ok(format!("libc.so.6, at 0x{at:x}, as a candidate"))
}

fn reach(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let build = "edges-x86_64.so";
    let told = client.ask("archive_callees", &json!({"build_id": build, "function": "direct_calls"}))?;
    let listing = told["listing"].as_str().unwrap_or_default();
    let sites: Vec<u64> = listing
        .lines()
        .filter(|line| line.starts_with("  0x"))
        .map(|line| hex(word(line, "")))
        .collect::<Result<_>>()?;
    ensure!(told["total"] == json!(sites.len()), "{told}");
    for at in &sites {
        let code = oracle.code(build, *at, at + 1)?;
        ensure!(code.contains("call") || code.contains("jmp") || code.contains("\tj"), "{at:x}:\n{code}");
    }
    Ok(format!("{} ways out, each a call or jump", sites.len()))
}

fn versions(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let lines = client.lines(
        "archive_lookup",
        &json!({"build_id": "libc.so.6", "query": "memcpy", "match": "exact", "kind": "function"}),
    )?;
    let line = find(&lines, "memcpy@@")?;
    let (at, name) = (hex(word(line, "function"))?, line.split_whitespace().last().unwrap_or_default());
    let symbols = oracle.says("readelf", &["--dyn-syms", "-W"], "libc.so.6")?;
    ensure!(
        symbols.lines().any(|line| line.contains(&format!("{at:016x}")) && line.contains(name)),
        "{at:x} {name}"
    );
    Ok(format!("{name} at 0x{at:x}, one of {}", lines.len()))
}

fn object(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let build = "pointers-x86_64.so";
    let lines = client.lines("archive_function", &json!({"build_id": build, "function": "operations"}))?;
    let is = find(&lines, "  is ")?;
    let size: u64 =
        is.rsplit_once(", ").and_then(|(_, size)| word(size, "").parse().ok()).context("no size")?;
    let at = hex(word(find(&lines, "  at ")?, " at "))?;
    let symbols = oracle.says("readelf", &["-sW"], build)?;
    let told = symbols
        .lines()
        .any(|line| line.contains(&format!("{at:016x}")) && line.contains(&format!(" {size} OBJECT")));
    ensure!(told, "{at:x}, {size}");
    let user = hex(word(find(&lines, "dispatch")?, ""))?;
    ensure!(oracle.code(build, user, user + 8)?.contains("lea"), "{user:x}");
    Ok(format!("{size} bytes at 0x{at:x}, used at 0x{user:x}"))
}

fn entry(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let build = "changed-puts-x86_64";
    let lines = client.lines("archive_lookup", &json!({"build_id": build}))?;
    let at = hex(word(find(&lines, "entry 0x")?, "entry "))?;
    let function =
        client.lines("archive_function", &json!({"build_id": build, "function": format!("0x{at:x}")}))?;
    let name = word(function.first().context("no title")?, "").to_owned();
    let header = oracle.says("readelf", &["-h"], build)?;
    ensure!(header.contains(&format!("0x{at:x}")), "{header}");
    let symbols = oracle.says("readelf", &["-sW"], build)?;
    ensure!(
        symbols.lines().any(|line| line.contains(&format!("{at:016x}")) && line.ends_with(&name)),
        "{name}"
    );
    Ok(format!("{name} at 0x{at:x}"))
}

fn row(client: &mut Client, oracle: &Oracle) -> Result<String> {
    let (a, b) = ("changed-hello-x86_64", "changed-world-x86_64");
    let asked = json!({"a": format!("{a}:run"), "b": b, "context": 0});
    let lines = client.lines("archive_diff", &asked)?;
    let of = |mark: char| lines.iter().find(|line| line.starts_with(mark) && line.contains('"'));
    let (one, other) = (of('<').context("no row of a")?, of('>').context("no row of b")?);
    let text = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    for (name, line) in [(a, one), (b, other)] {
        let strings = oracle.says("readelf", &["-p", ".rodata"], name)?;
        ensure!(strings.contains(&text(line)), "{name} has no `{}`", text(line));
    }
    Ok(format!("the one that loads \"{}\" in one and \"{}\" in the other", text(one), text(other)))
}

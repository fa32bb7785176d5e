//! Every fixture against its expected values (`fixtures/expect`, whose README has the format).

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]
#![allow(clippy::needless_pass_by_value, reason = "values to compare are made for it")]

mod support;

use std::{collections::BTreeMap, fs};

use elfscope_schema::{
    Address, BodyKind, CallersOf, DataKind, Edge, EdgeClass, EdgeKind, EdgeTarget, FunctionName, Origin,
    Record, ReferentKind, Slot,
};
use support::{Edition, Function, add_alone, repository};

#[test]
fn every_fixture_is_told_as_it_is() {
    let mut problems = Vec::new();
    let mut facts = BTreeMap::<String, u32>::new();
    let mut names: Vec<_> =
        fs::read_dir(repository("fixtures/expect")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 20, "fixtures are missing");
    for path in names {
        let file = path.file_name().unwrap().to_str().unwrap().strip_suffix(".txt").unwrap().to_owned();
        let expected = fs::read_to_string(&path).unwrap();
        let check = Check::new(&file);
        for line in expected.lines().filter(|line| !line.starts_with('#')) {
            *facts.entry(line.split(' ').next().unwrap().to_owned()).or_default() += 1;
            if let Err(problem) = check.line(line) {
                problems.push(format!("{file}: {line}\n    {problem}"));
            }
        }
        problems.extend(check.transpose().into_iter().map(|problem| format!("{file}: {problem}")));
    }
    assert!(facts["edge"] > 200 && facts["function"] > 300 && facts["ref"] > 50, "{facts:?}");
    assert!(problems.is_empty(), "{} problems of {facts:?}\n{}", problems.len(), problems.join("\n"));
}

struct Check {
    edition: Edition,
    has_rows: bool,
}

type Outcome = Result<(), String>;

impl Check {
    fn new(file: &str) -> Self {
        let (folder, added) = add_alone(&repository("fixtures/bin").join(file));
        let edition = Edition::read(folder.path(), &added);
        let has_rows = edition.meta.decoder.is_some();
        Self { edition, has_rows }
    }

    fn line(&self, line: &str) -> Outcome {
        let (kind, rest) = line.split_once(' ').unwrap();
        let words: Vec<&str> = rest.split(' ').collect();
        match kind {
            "fixture" | "count" => Ok(()),
            "build_id" => equal(self.edition.meta.build_id.as_str(), rest),
            "elf" => self.elf(&words),
            "function" => self.function(&words),
            "size0" => self.claims_nothing(&words),
            "runs_into" => self.runs_into(&words),
            "part" => self.part(&words),
            "label" => self.label(&words),
            "data" => self.data(&words),
            "string" => self.string(&words, rest),
            "import" => self.import(&words),
            "entry" => self.entry(&words, rest),
            "table" => self.table(&words),
            "compare" => self.compare(&words),
            // All else is of rows.
            _ if !self.has_rows => Ok(()),
            "stub" => self.stub(&words),
            "complete" => self.complete(&words),
            "edge" => self.edge(&words),
            "noedge" => match self.edges_at(address(words[0])).as_slice() {
                [] => Ok(()),
                some => Err(format!("{some:?}")),
            },
            "bytes" => {
                let row = self.row(address(words[0]))?;
                equal((row.mnemonic.as_str(), row.bytes.len().to_string()), (".byte", words[1].to_owned()))
            }
            "ref" => self.refers(&words, rest),
            other => Err(format!("no check for `{other}`")),
        }
    }

    fn elf(&self, words: &[&str]) -> Outcome {
        let meta = &self.edition.meta;
        let kinds = BTreeMap::from([("rel", "ET_REL"), ("exec", "ET_EXEC"), ("dyn", "ET_DYN")]);
        let machines = BTreeMap::from([
            ("i386", "386"),
            ("x86_64", "x86_64"),
            ("aarch64", "aarch64"),
            ("s390x", "s390"),
        ]);
        let entry = meta.entry.map_or("0x0".to_owned(), |entry| format!("0x{entry}"));
        equal(
            (
                meta.class.to_string().as_str(),
                meta.byte_order.as_str(),
                meta.elf_type.as_str(),
                meta.machine.name.as_str(),
                entry.as_str(),
            ),
            (words[0], words[1], kinds[words[2]], machines[words[3]], words[4]),
        )
    }

    fn function(&self, words: &[&str]) -> Outcome {
        let [at, size, kind, origin, claimed, names] = words else { panic!("{words:?}") };
        // Without a decoder nobody follows calls, or tells one stub from the next.
        if !self.has_rows && (*kind == "stub" || *kind == "gap" || *origin == "inferred") {
            return Ok(());
        }
        let function = self.starting(address(at))?;
        equal(function.key.size.to_string().as_str(), *size)?;
        let head = &function.head;
        let expected = match *kind {
            "ifunc" => BodyKind::Ifunc,
            "stub" => BodyKind::Stub,
            "gap" => BodyKind::Gap,
            _ => BodyKind::Function,
        };
        equal(head.kind, expected)?;
        let origins: &[Origin] = match *origin {
            "symtab" => &[Origin::Symtab],
            "dynsym" => &[Origin::Dynsym],
            "eh_frame" => &[Origin::EhFrame],
            // The entry point has an origin of its own here.
            "inferred" => &[Origin::Inferred, Origin::Entry],
            _ if expected == BodyKind::Stub => &[Origin::Stub],
            _ => &[Origin::Inferred],
        };
        if !origins.contains(&head.bounds) {
            return Err(format!("bounds from {:?}", head.bounds));
        }
        if expected == BodyKind::Function || expected == BodyKind::Ifunc {
            let told = head.claimed_size.unwrap_or(function.key.size);
            equal(told.to_string().as_str(), *claimed)?;
        }
        let mut told: Vec<String> = head.names.iter().map(versioned).collect();
        // A name that has a version isn't listed again without.
        let with_version: Vec<String> = head
            .names
            .iter()
            .filter(|name| name.version.is_some())
            .map(|name| name.name.text().to_owned())
            .collect();
        told.retain(|name| !with_version.contains(name));
        told.sort();
        equal(if told.is_empty() { "-".to_owned() } else { told.join(",") }, (*names).to_owned())
    }

    fn claims_nothing(&self, words: &[&str]) -> Outcome {
        let function = self.named(words[0])?;
        equal((function.head.claimed_size, function.key.size.to_string().as_str()), (Some(0), words[1]))
    }

    fn runs_into(&self, words: &[&str]) -> Outcome {
        let expected: Result<Vec<_>, String> =
            words[1..].iter().map(|name| self.named(name).map(|next| next.key)).collect();
        equal(&self.named(words[0])?.head.runs_into, &expected?)
    }

    fn part(&self, words: &[&str]) -> Outcome {
        let (hot, cold) = (self.named(words[0])?, self.named(words[1])?);
        equal((&hot.head.parts, &cold.head.parts), (&vec![cold.key], &vec![hot.key]))
    }

    fn label(&self, words: &[&str]) -> Outcome {
        match self.starting(address(words[0])) {
            Ok(_) => Err("a body begins here".to_owned()),
            Err(_) => Ok(()),
        }
    }

    fn data(&self, words: &[&str]) -> Outcome {
        let at = address(words[0]);
        let item = self.edition.data.iter().find(|item| item.address == at && item.kind == DataKind::Object);
        let item = item.ok_or("no object here")?;
        let names: Vec<String> = item.names.iter().map(|name| name.name.text().to_owned()).collect();
        let bare = words[2].split('@').next().unwrap();
        if !names.iter().any(|name| name == bare) {
            return Err(format!("{names:?}"));
        }
        let indexed = self.edition.records.iter().any(|(_, record)| match record {
            Record::Name(entry) => entry.address == Some(at) && entry.name.text() == bare,
            _ => false,
        });
        equal((item.size.map(|size| size.to_string()), indexed), (Some(words[1].to_owned()), true))
    }

    fn string(&self, words: &[&str], rest: &str) -> Outcome {
        let text = text_of(rest);
        let at = address(words[0]);
        let item = self.edition.data.iter().find(|item| item.address == at && item.kind == DataKind::String);
        let told = item.and_then(|item| item.text.as_ref()).ok_or("no string here")?;
        equal(told.text(), &text)?;
        let indexed = self.edition.records.iter().any(|(_, record)| match record {
            Record::String(entry) => entry.address == at && entry.text.text() == text,
            _ => false,
        });
        equal(indexed, true)
    }

    fn import(&self, words: &[&str]) -> Outcome {
        let found = self.edition.records.iter().find_map(|(_, record)| match record {
            Record::Import(entry) if import_name(&entry.name, entry.version.as_ref()) == words[0] => {
                Some(entry)
            }
            _ => None,
        });
        let Some(entry) = found else {
            return if self.has_rows { Err("not in the index of imports".to_owned()) } else { Ok(()) };
        };
        equal(entry.library.as_ref().map_or("-", |library| library.text()), words[1])
    }

    fn table(&self, words: &[&str]) -> Outcome {
        let at = address(words[0]);
        let found = self.edition.data.iter().any(|item| item.address == at && item.kind == DataKind::Object);
        if found || !self.has_rows { Ok(()) } else { Err("no object here".to_owned()) }
    }

    fn entry(&self, words: &[&str], rest: &str) -> Outcome {
        let at = address(words[0]);
        let slot: Option<&Slot> =
            self.edition.data.iter().flat_map(|item| &item.entries).find(|slot| slot.at == at);
        if !self.has_rows {
            return Ok(());
        }
        if words[3] == "null" || words[3] == "value" {
            return match slot {
                None => Ok(()),
                Some(slot) => Err(format!("{slot:?}")),
            };
        }
        let slot = slot.ok_or("no slot here")?;
        let name = slot.name.as_ref().map(|name| name.text().to_owned());
        match words[3] {
            "string" => equal(slot.text.as_deref(), Some(text_of(rest).as_str())),
            "fn" => {
                let target = slot.address.ok_or("no address")?;
                let function = self.starting(target)?;
                self.is_called(function, words[4])
            }
            "object" => {
                let (object, offset) = split_offset(words[4]);
                equal((name, slot.offset), (Some(object), offset))
            }
            "import" => equal(
                slot.name.as_ref().map(|name| import_name(name, slot.version.as_ref())),
                Some(words[4].to_owned()),
            ),
            other => Err(format!("no check for an entry `{other}`")),
        }
    }

    fn compare(&self, words: &[&str]) -> Outcome {
        let other = Self::new(words[0]);
        let digests = |check: &Self| check.named(words[1]).map(|function| function.head.digests.clone());
        let (Some(a), Some(b)) = (digests(self)?, digests(&other)?) else {
            return Err("no digests".to_owned());
        };
        let told = |same: bool| if same { "equal" } else { "differs" };
        let body = a.body == b.body;
        if body && (a.unknown > 0 || b.unknown > 0) {
            return Err(format!("unknown fields: {} and {}", a.unknown, b.unknown));
        }
        equal(
            (format!("shape={}", told(a.shape == b.shape)), format!("body={}", told(body))),
            (words[2].to_owned(), words[3].to_owned()),
        )
    }

    fn stub(&self, words: &[&str]) -> Outcome {
        let stub = self.starting(address(words[0]))?;
        equal(stub.head.kind, BodyKind::Stub)?;
        match (words[1], &stub.head.leads) {
            ("plt0", None) => Ok(()),
            // The lazy half leads to the same import as its other half.
            ("lazy", Some(_)) => Ok(()),
            (target, Some(leads)) if target.contains(':') => self.leads_to(leads, target),
            // A veneer has a symbol and is told by its edge.
            (target, None) if stub.head.bounds == Origin::Symtab => stub
                .edges
                .iter()
                .find_map(|edge| edge.target.as_ref())
                .map_or(Ok(()), |leads| self.leads_to(leads, target)),
            (_, leads) => Err(format!("{leads:?}")),
        }
    }

    fn complete(&self, words: &[&str]) -> Outcome {
        // Which edges there should be stands in lines of their own; here that there are no others is checked by number.
        let function = self.by_word(words[0])?;
        let file = fs::read_to_string(
            repository("fixtures/expect").join(format!("{}.txt", self.edition.meta.file.name.text())),
        )
        .unwrap();
        let start = function.key.address;
        let inside = |at: Address| {
            at.section == start.section && at.offset.wrapping_sub(start.offset) < function.key.size
        };
        let expected = file
            .lines()
            .filter_map(|line| line.strip_prefix("edge "))
            .filter(|edge| inside(address(edge.split(' ').next().unwrap())));
        let expected = expected.count();
        if function.edges.len() == expected {
            Ok(())
        } else {
            Err(format!("{} edges instead of {expected}: {:?}", function.edges.len(), function.edges))
        }
    }

    fn edge(&self, words: &[&str]) -> Outcome {
        let found = self.edges_at(address(words[0]));
        let kind = match words[2] {
            "call" => EdgeKind::Call,
            "jump" => EdgeKind::Jump,
            _ => EdgeKind::Fallthrough,
        };
        // A conditional jump at a function's end leaves twice: by its target, and by going on.
        let Some(edge) = found.iter().find(|edge| edge.kind == kind) else {
            return Err(format!("{found:?}"));
        };
        let switch = words.get(5) == Some(&"switch");
        equal(
            (edge.class.name(), edge.conditional, edge.switch),
            (words[1], words[3] == "conditional", switch),
        )?;
        match (&edge.target, words[4]) {
            (None, "-") => Ok(()),
            (Some(target), expected) => self.leads_to(target, expected),
            (None, _) => Err("no target".to_owned()),
        }
    }

    fn leads_to(&self, target: &EdgeTarget, expected: &str) -> Outcome {
        let (kind, name) = expected.split_once(':').unwrap();
        match kind {
            "import" => equal(import_name(&target.names[0], target.version.as_ref()), name.to_owned()),
            "addr" => equal(target.address, Some(address(name))),
            "fn" | "resolver" => {
                let key = target.key.ok_or("no key")?;
                equal(target.offset, None)?;
                self.is_called(self.starting(key.address)?, name)
            }
            "into" => {
                let (name, offset) = split_offset(name);
                equal(target.offset, offset)?;
                self.is_called(self.starting(target.key.ok_or("no key")?.address)?, &name)
            }
            other => Err(format!("no check for a target `{other}`")),
        }
    }

    fn refers(&self, words: &[&str], rest: &str) -> Outcome {
        let row = self.row(address(words[0]))?;
        let to = row.notes.to.as_ref().ok_or("the row refers to nothing")?;
        let name = to.name.as_ref().map(|name| name.text().to_owned());
        match words[1] {
            "string" => equal((to.kind, to.text.clone()), (ReferentKind::String, Some(text_of(rest)))),
            "object" => {
                let (object, offset) = split_offset(words[2]);
                equal(
                    (to.kind, name, to.offset),
                    (ReferentKind::Object, Some(object.split('@').next().unwrap().to_owned()), offset),
                )
            }
            "import" => equal(
                (to.kind, to.name.as_ref().map(|name| import_name(name, to.version.as_ref()))),
                (ReferentKind::Import, Some(words[2].to_owned())),
            ),
            "function" => {
                let at = to.address.ok_or("no address")?;
                equal(to.kind, ReferentKind::Function)?;
                self.is_called(self.starting(at)?, words[2])
            }
            other => Err(format!("no check for a reference `{other}`")),
        }
    }

    /// Callers against edges, both ways.
    fn transpose(&self) -> Vec<String> {
        let mut forward = Vec::new();
        for function in &self.edition.functions {
            for edge in &function.edges {
                let Some(target) = &edge.target else { continue };
                let to = match (&target.key, edge.class == EdgeClass::Import) {
                    (_, true) => format!("import {}", import_name(&target.names[0], target.version.as_ref())),
                    (Some(key), false) => key.to_string(),
                    (None, false) => continue,
                };
                let at = function.key.address.plus(u64::from(edge.row));
                forward.push(format!(
                    "{to} <- {at} {} {:?} {}",
                    edge.class.name(),
                    edge.kind,
                    edge.conditional
                ));
            }
        }
        let mut backward = Vec::new();
        for page in &self.edition.callers {
            let to = match &page.of {
                CallersOf::Body(key) => key.to_string(),
                CallersOf::Import { name, version } => {
                    format!("import {}", import_name(name, version.as_ref()))
                }
            };
            for caller in &page.callers {
                backward.push(format!(
                    "{to} <- {} {} {:?} {}",
                    caller.at,
                    caller.class.name(),
                    caller.kind,
                    caller.conditional
                ));
            }
        }
        forward.sort();
        backward.sort();
        if forward == backward {
            Vec::new()
        } else {
            vec![format!("edges {forward:#?}\ncallers {backward:#?}")]
        }
    }

    fn edges_at(&self, at: Address) -> Vec<&Edge> {
        let Some(function) = self.edition.function_at(at) else { return Vec::new() };
        let row = at.offset - function.key.address.offset;
        function.edges.iter().filter(|edge| u64::from(edge.row) == row).collect()
    }

    fn row(&self, at: Address) -> Result<&elfscope_schema::Row, String> {
        let function = self.edition.function_at(at).ok_or("no body here")?;
        let offset = at.offset - function.key.address.offset;
        function
            .rows
            .iter()
            .find(|row| u64::from(row.offset) == offset)
            .ok_or_else(|| "no row begins here".to_owned())
    }

    fn starting(&self, at: Address) -> Result<&Function, String> {
        let found = self.edition.functions.iter().find(|function| function.key.address == at);
        found.ok_or_else(|| format!("no body begins at {at}"))
    }

    fn named(&self, name: &str) -> Result<&Function, String> {
        let found = self
            .edition
            .functions
            .iter()
            .find(|function| function.head.names.iter().any(|told| versioned(told) == name));
        found.ok_or_else(|| format!("nothing is called {name}"))
    }

    fn by_word(&self, word: &str) -> Result<&Function, String> {
        if word.starts_with("0x") || word.contains(":0x") {
            self.starting(address(word))
        } else {
            self.named(word)
        }
    }

    fn is_called(&self, function: &Function, word: &str) -> Outcome {
        equal(function.key, self.by_word(word)?.key)
    }
}

fn address(word: &str) -> Address {
    let (section, offset) = match word.split_once(':') {
        Some((section, offset)) => (section.strip_prefix('s').unwrap().parse().unwrap(), offset),
        None => (0, word),
    };
    Address { section, offset: u64::from_str_radix(offset.strip_prefix("0x").unwrap(), 16).unwrap() }
}

fn split_offset(word: &str) -> (String, Option<u64>) {
    match word.split_once("+0x") {
        Some((name, offset)) => (name.to_owned(), Some(u64::from_str_radix(offset, 16).unwrap())),
        None => (word.to_owned(), None),
    }
}

fn text_of(rest: &str) -> String {
    let quoted = &rest[rest.find('"').unwrap() + 1..rest.len() - 1];
    let mut bytes = Vec::new();
    let mut at = quoted.as_bytes().iter();
    while let Some(byte) = at.next() {
        if *byte == b'\\' {
            let digits: Vec<u8> = at.by_ref().skip(1).take(2).copied().collect();
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn versioned(name: &FunctionName) -> String {
    match &name.version {
        Some(version) => {
            format!("{}{}{}", name.name.text(), if name.default { "@@" } else { "@" }, version.text())
        }
        None => name.name.text().to_owned(),
    }
}

fn import_name(name: &elfscope_schema::Name, version: Option<&elfscope_schema::Name>) -> String {
    version.map_or_else(|| name.text().to_owned(), |version| format!("{}@{}", name.text(), version.text()))
}

fn equal<T: PartialEq + std::fmt::Debug>(told: T, expected: T) -> Outcome {
    if told == expected { Ok(()) } else { Err(format!("told {told:?}, expected {expected:?}")) }
}

#[test]
fn an_immediate_that_may_be_an_address_makes_a_digest_unknown() {
    // `mov $str_static, %edi` in a fixed-position executable: with other text at that address the bytes are the same.
    let check = Check::new("static-x86_64");
    let digests = check.named("work").unwrap().head.digests.clone().unwrap();
    assert_ne!(digests.unknown, 0);
    // In a position-independent file no immediate can be one.
    let check = Check::new("edges-x86_64.so");
    let digests = check.named("fall_first").unwrap().head.digests.clone().unwrap();
    assert_eq!(digests.unknown, 0);
}

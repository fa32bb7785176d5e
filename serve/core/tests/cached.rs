//! A cache changes nothing but what is read: the same answers, cursors and budgets, whatever was asked before.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use std::{
    fs, io,
    sync::{Arc, Mutex},
};

use elfscope_core::{
    Budget, Cache, Callee, Edition, HitKind, Match, Query, Request, Store, diff::PairWindow, window::From,
};
use elfscope_schema::to_canonical;
use pollster::block_on;
use support::{
    MemoryStore,
    small::{self, SMALL},
    sourced::{self, SOURCED},
};

/// Notes what is read.
struct Recording {
    inner: MemoryStore,
    read: Mutex<Vec<String>>,
}

impl Recording {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.read.lock().unwrap())
    }
}

impl Store for Recording {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        self.read.lock().unwrap().push(path.to_owned());
        self.inner.get(path).await
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        self.read.lock().unwrap().push(path.to_owned());
        self.inner.get_range(path, offset, length).await
    }
}

#[derive(Clone, Debug)]
enum Question {
    Search(&'static str, Match, Vec<HitKind>, Option<String>),
    Window(&'static str, u32),
    Callees(&'static str, Option<String>),
    Callers(&'static str, Option<String>),
    Data(u64),
    Place(&'static str),
    Source(&'static str, u32),
    Diff(Option<String>),
    DiffFunctions(&'static str, &'static str, Option<String>),
}

type Asked = (Result<(Vec<u8>, Option<String>), String>, Budget);

/// What a question is answered with, and what that took.
fn ask<S: Store>(mut request: Request<S>, build: &str, question: &Question) -> Asked {
    let answer = block_on(answer(&mut request, build, question));
    (answer.map_err(|error| error.to_string()), request.budget())
}

async fn answer<S: Store>(
    request: &mut Request<S>,
    build: &str,
    question: &Question,
) -> elfscope_core::Result<(Vec<u8>, Option<String>)> {
    let edition: Edition = request.edition(build).await?;
    macro_rules! told {
        ($answer:expr) => {{
            let answer = $answer.await?;
            Ok((to_canonical(&answer), answer.next_cursor))
        }};
    }
    match question {
        Question::Search(text, matching, kinds, cursor) => {
            let query = Query { text, matching: *matching, kinds, limit: 40, cursor: cursor.as_deref() };
            told!(request.search(&edition, &query))
        }
        Question::Window(function, row) => {
            let (entry, _) = request.function(&edition, function).await?;
            told!(request.window(&edition, &entry, From::Row(*row), 100))
        }
        Question::Callees(function, cursor) => {
            let (entry, _) = request.function(&edition, function).await?;
            told!(request.callees(&edition, &entry, 100, cursor.as_deref()))
        }
        Question::Callers(function, cursor) => {
            let callee: Callee = request.callee(&edition, function).await?;
            told!(request.callers(&edition, &callee, 100, cursor.as_deref()))
        }
        Question::Data(at) => told!(request.data(&edition, elfscope_schema::Address::virt(*at), None)),
        Question::Place(text) => {
            Ok((format!("{:?}", request.place(&edition, text).await?).into_bytes(), None))
        }
        Question::Source(path, line) => {
            let source = request.source(&edition, path).await?;
            told!(request.source_lines(&edition, &source, *line, 50))
        }
        Question::Diff(cursor) => {
            let other = request.edition(small::OTHER).await?;
            told!(request.diff_builds(&edition, &other, &[], 40, cursor.as_deref()))
        }
        Question::DiffFunctions(a, b, cursor) => {
            let (one, _) = request.function(&edition, a).await?;
            let (other, _) = request.function(&edition, b).await?;
            let window = PairWindow { context: None, limit: 500, cursor: cursor.as_deref() };
            told!(request.diff_functions((&edition, &one), (&edition, &other), window))
        }
    }
}

fn next(question: &Question, cursor: String) -> Question {
    match question.clone() {
        Question::Search(text, matching, kinds, _) => Question::Search(text, matching, kinds, Some(cursor)),
        Question::Callees(text, _) => Question::Callees(text, Some(cursor)),
        Question::Callers(text, _) => Question::Callers(text, Some(cursor)),
        Question::Diff(_) => Question::Diff(Some(cursor)),
        Question::DiffFunctions(a, b, _) => Question::DiffFunctions(a, b, Some(cursor)),
        other => panic!("{other:?} has no cursor"),
    }
}

fn questions() -> Vec<(&'static str, Question)> {
    let search = |text, matching, kinds: &[HitKind]| Question::Search(text, matching, kinds.to_vec(), None);
    let mut questions = vec![
        (SMALL, search("main", Match::Substring, &[])),
        (SMALL, search("main", Match::Exact, &[])),
        (SMALL, search("filler_", Match::Prefix, &[])),
        (SMALL, search("filler_[0-9]*7_main", Match::Regex, &[])),
        (SMALL, search("text 1", Match::Substring, &[HitKind::String])),
        (SMALL, search("a.*b", Match::Regex, &[])),
        (SMALL, search("no such thing", Match::Substring, &[])),
        (SMALL, Question::Callees("huge", None)),
        (SMALL, Question::Callers("main", None)),
        (SMALL, Question::Callers("nothing", None)),
        (SMALL, Question::Data(0x2010)),
        (SMALL, Question::Diff(None)),
        (SMALL, Question::DiffFunctions("huge", "huge", None)),
        (SMALL, Question::DiffFunctions("huge", "main", None)),
    ];
    questions.extend(
        ["main", "huge", "copy", "copy@V_1", "0x1007", "puts", "mian"]
            .map(|text| (SMALL, Question::Place(text))),
    );
    questions.extend([0, 19, 3000, 5990, 7000].map(|row| (SMALL, Question::Window("huge", row))));
    questions.extend(
        ["libio/ioputs.c", "src/large.c", "ioputs.c", "twice.c"]
            .map(|path| (SOURCED, Question::Source(path, 1))),
    );
    questions.extend(["puts", "many", "broken"].map(|name| (SOURCED, Question::Window(name, 0))));
    questions
}

#[test]
fn a_cache_changes_no_answer() {
    for page in [600, 16384] {
        let (mut inner, more) = (small::archive(page).into_inner(), sourced::archive(page).into_inner());
        let of_sourced = more.0.into_iter().filter(|(path, _)| path != "index.json");
        inner.0.extend(of_sourced);
        for build in [SMALL, small::OTHER] {
            let edition = block_on(Request::new(&inner).edition(build)).unwrap();
            let meta = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/samples/meta.json"));
            inner.0.insert(format!("{}/meta.json", edition.folder()), meta.unwrap());
            inner
                .0
                .entry(format!("{}/lookup.json", edition.folder()))
                .or_insert_with(|| b"{\"indices\":{},\"schema\":\"archive.lookup/1\"}\n".to_vec());
        }
        let store = Recording { inner, read: Mutex::default() };
        for most in [2_000, 16 * 1024 * 1024] {
            let cache = Arc::new(Cache::of(most));
            for round in 0..2 {
                for (build, question) in questions() {
                    let mut question = question;
                    // Walked to its end (or far enough), each step with and without the cache.
                    for _ in 0..12 {
                        let plain = ask(Request::new(&store), build, &question);
                        let reads_plain = store.take();
                        let cached = ask(Request::cached(&store, Arc::clone(&cache)), build, &question);
                        let reads = store.take();
                        assert_eq!(
                            plain, cached,
                            "{question:?} in round {round}, pages of {page}, cache of {most}"
                        );
                        assert_eq!(reads_plain.len(), plain.1.reads, "{question:?}");
                        assert!(reads.len() <= reads_plain.len());
                        assert!(cache.bytes() <= most, "{} of {most}", cache.bytes());
                        if most > 1024 * 1024 && round > 0 {
                            let held = |path: &&String| {
                                !path.starts_with("index")
                                    && !path.ends_with("current.json")
                                    && !path.starts_with("src/")
                            };
                            let missed: Vec<&String> = reads
                                .iter()
                                .filter(held)
                                .filter(|path| !is_unparsed(&question, path))
                                .collect();
                            assert!(missed.is_empty(), "{question:?} read {missed:?}");
                        }
                        let Ok((_, Some(cursor))) = plain.0 else { break };
                        question = next(&question, cursor);
                    }
                }
            }
        }
    }
}

/// Windows find their page by the first bytes of some, which nothing keeps; documents that are not there or damaged are not kept
/// either.
fn is_unparsed(question: &Question, path: &str) -> bool {
    match question {
        Question::Window("huge", _) => path.contains("fn.jsonl.gz"),
        Question::Window("broken" | "many", _) => true,
        _ => false,
    }
}

//! What is answered about sources: paths, lines, levels, text between rows, functions by file; and what it costs.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod damage;
#[path = "../support/mod.rs"]
mod support;

use elfscope_core::{
    Budget, Edition, Error, HitKind, LeftOut, Level, Match, Query, Request, Window,
    listing::{self, Options},
    window::From,
};
use elfscope_schema::{Name, SourceFile};
use pollster::block_on;
use support::{
    MemoryStore,
    counting::{CountingStore, assert_bounded},
    sourced::{CITING, COMMON, EVIL, LARGE, PUTS, archive, sourced},
};

type Archive = CountingStore<MemoryStore>;

fn window(store: &Archive, edition: &Edition, function: &str) -> (Window, Budget) {
    block_on(async {
        let (entry, _) = Request::new(store).function(edition, function).await.unwrap();
        store.take_reads();
        let mut request = Request::new(store);
        let mut window = request.window(edition, &entry, From::Row(0), 500).await.unwrap().value;
        request.source_text(edition, &mut window).await.unwrap();
        assert_bounded(store, request.budget(), function);
        (window, request.budget())
    })
}

fn text(edition: &Edition, window: &Window) -> String {
    let options = Options { bytes: false, ..Options::default() };
    let lines = listing::render(edition, window, options);
    lines.iter().map(listing::Line::text).collect::<Vec<_>>().join("\n")
}

fn source(store: &Archive, edition: &Edition, path: &str) -> Result<SourceFile, Error> {
    store.take_reads();
    let mut request = Request::new(store);
    let found = block_on(request.source(edition, path));
    assert_bounded(store, request.budget(), path);
    found
}

#[test]
fn source_text_stands_between_the_rows() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = sourced(&store);
        let (window, budget) = window(&store, &edition, "puts");
        assert!(budget.reads <= 14, "{budget:?}");
        let expected = r"puts  in sourced
  is        function in .text, 44 bytes; bounds from .symtab
  key       1000-44
  names     puts
  signature int _IO_puts(const char *str)
  declared  libio/ioputs.c:4
  parts     9000-8
  rows      all 11; no calls or jumps out

libio/ioputs.c:5  package-verified, names 3/3
  in _IO_puts
       5 | {
  1000  nop
libio/ioputs.c:7
       6 |   int result = EOF;
       7 |         size_t len = strlen (str);
  1004  nop
libio/ioputs.c:8
       8 |   _IO_acquire_lock (stdout);
  1008  nop
libio/libioP.h:4  path-matched, names 3/3
  inlined: io::acquire() at libio/ioputs.c:8 in _IO_puts
       4 | { lock (); }
  100c  nop
sysdeps/lock.h:77  source mismatched
  inlined: lock at libio/libioP.h:4 in io::acquire()
  inlined: io::acquire() at libio/ioputs.c:8 in _IO_puts
  1010  nop
sysdeps/lock.h:78
  inlined: lock as above, 2 levels, in _IO_puts
  1014  nop
libio/ioputs.c:11  package-verified, names 3/3
  in _IO_puts
       9 |
      10 |   /* A comment.  */
      11 |   if (fwide (stdout, -1) == -1)
  1018  nop
libio/ioputs.c  no line: made by the compiler
  101c  nop
no source line
  1020  nop
libio/ioputs.c:15
  in _IO_puts
      12 |     result = MIN (INT_MAX, len + 1);
      13 |
      14 |   _IO_release_lock (stdout);
      15 |   return result;
  1024  nop
libio/ioputs.c:12
      12 |     result = MIN (INT_MAX, len + 1);
  1028  nop";
        assert_eq!(text(&edition, &window), expected);
    }
}

#[test]
fn without_its_text_a_listing_still_tells_places() {
    let store = archive(16384);
    let edition = sourced(&store);
    let (entry, _) = block_on(Request::new(&store).function(&edition, "puts")).unwrap();
    let window = block_on(Request::new(&store).window(&edition, &entry, From::Row(3), 3)).unwrap().value;
    let told = text(&edition, &window);
    let expected = "
libio/libioP.h:4  path-matched, names 3/3
  inlined: io::acquire() at libio/ioputs.c:8 in _IO_puts
  100c  nop
sysdeps/lock.h:77  source not published
  inlined: lock at libio/libioP.h:4 in io::acquire()
  inlined: io::acquire() at libio/ioputs.c:8 in _IO_puts
  1010  nop
sysdeps/lock.h:78
  inlined: lock as above, 2 levels, in _IO_puts
  1014  nop
  … 5 rows more, from row 6";
    assert!(told.ends_with(expected), "{told}");
}

#[test]
fn what_a_source_says_acts_on_nothing() {
    let store = archive(16384);
    let edition = sourced(&store);
    let (window, _) = window(&store, &edition, "evil");
    let told = text(&edition, &window);
    let expected = r#"
"evil.c:1  md5-verified\n\u{1b}[31m":1  path-matched, names 3/3
       1 | // <U+001B>[2J<U+001B>[31mred<U+0000> <U+000D>  1000  90 90  nop
  2000  nop
"evil.c:1  md5-verified\n\u{1b}[31m":2
       2 |         a       b <U+202E> latin <0xE9>
  2004  nop
"evil.c:1  md5-verified\n\u{1b}[31m":3
       3 | <0x9B>0m<U+009B>
  2008  nop"#;
    assert!(told.ends_with(expected), "{told}");
    assert!(told.chars().all(|character| character == '\n' || !character.is_control()));
    // As values, the bytes are all there.
    let lines: Vec<&[u8]> = window.files[0].lines.iter().map(|line| line.bytes.as_slice()).collect();
    assert_eq!(lines.join(&b'\n'), EVIL[..EVIL.len() - 1]);
    let value = serde_json::to_value(&window.files[0].lines[1]).unwrap();
    assert!(value["text"]["hex"].as_str().unwrap().ends_with("e9"), "{value}");
}

#[test]
fn a_window_of_a_hundred_files_stays_within_its_budget() {
    let store = archive(16384);
    let edition = sourced(&store);
    let (window, budget) = window(&store, &edition, "many");
    assert!(budget.reads <= 24, "{budget:?}");
    let with = window.files.iter().filter(|file| !file.lines.is_empty()).count();
    let without = window.files.iter().filter(|file| file.left_out == Some(LeftOut::Budget)).count();
    assert!(with >= 15 && with + without == 100, "{with} and {without}");
    let told = text(&edition, &window);
    assert_eq!(told.matches("source text left out here: past what one request reads").count(), without);
    assert!(told.contains("line 2 of 0\n"), "{told}");
    assert_eq!(told.matches("package-verified, names 3/3").count(), 100);
}

#[test]
fn a_line_of_a_large_file_costs_a_few_reads() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = sourced(&store);
        let (window, budget) = window(&store, &edition, "large");
        assert!(budget.reads <= 13 && budget.source < 400_000, "{budget:?}");
        let told = text(&edition, &window);
        assert!(told.contains("       3 | int line_0000003;\n"), "{told}");
        assert!(told.contains("  200000 | int line_0200000;\n"), "{told}");
        let file = source(&store, &edition, LARGE).unwrap();
        for (first, count, next) in [(1, 1, Some(2)), (200_000, 400, Some(200_400)), (249_990, 99, None)] {
            let mut request = Request::new(&store);
            let answer = block_on(request.source_lines(&edition, &file, first, count)).unwrap().value;
            assert!(request.budget().reads == 1 && request.budget().source < 200_000);
            assert_bounded(&store, request.budget(), "lines");
            let text = String::from_utf8(answer.lines[0].bytes.clone()).unwrap();
            assert_eq!(text, format!("int line_{first:07};  "));
            assert_eq!((answer.next_line, answer.total), (next, 250_000));
        }
    }
}

#[test]
fn lines_are_verbatim_and_in_range() {
    let store = archive(16384);
    let edition = sourced(&store);
    let file = source(&store, &edition, "libio/ioputs.c").unwrap();
    let lines = |first, count| block_on(Request::new(&store).source_lines(&edition, &file, first, count));
    let all = lines(1, 400).unwrap().value;
    let text: Vec<u8> = all.lines.iter().flat_map(|line| [&line.bytes[..], b"\n"].concat()).collect();
    assert_eq!(String::from_utf8(text).unwrap(), PUTS);
    assert_eq!((all.level, all.names, all.next_line), (Level::PackageVerified, Some((3, 3)), None));
    for line in [0, 17, u32::MAX] {
        assert_eq!(lines(line, 1).unwrap_err().code(), "E_OUT_OF_RANGE", "{line}");
    }
    assert_eq!(lines(16, u32::MAX).unwrap().value.lines.len(), 1);
    let listing: Vec<String> = listing::source(&edition, &lines(4, 2).unwrap().value, true)
        .iter()
        .map(listing::Line::text)
        .collect();
    assert_eq!(listing[0], "libio/ioputs.c  in sourced");
    assert!(
        listing[1]
            .starts_with("  level     package-verified, names 3/3; it fits its path, in the source package")
    );
    assert_eq!(listing[3], "  lines     4 to 5 of 16");
    assert_eq!(listing[5..], ["       4 | _IO_puts (const char *str)", "       5 | {"]);
    let missing = source(&store, &edition, "sysdeps/lock.h").unwrap();
    let error = block_on(Request::new(&store).source_lines(&edition, &missing, 1, 1)).unwrap_err();
    assert_eq!(error.code(), "E_NOT_PUBLISHED");
    assert_eq!(
        error.to_string(),
        "the text of `sysdeps/lock.h` is not here: the supplied file that fits its path is not the one, or has lines that compilers count differently"
    );
}

#[test]
fn sources_by_any_end_of_their_path() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = sourced(&store);
        for (asked, expected) in [
            ("libio/ioputs.c", "libio/ioputs.c"),
            ("ioputs.c", "libio/ioputs.c"),
            ("./libio/ioputs.c", "libio/ioputs.c"),
            ("common.h", COMMON),
            ("file_077.c", "many/file_077.c"),
            ("twice.c", "E_AMBIGUOUS posix/twice.c stdio/twice.c"),
            ("puts.c", "E_NOT_FOUND libio/ioputs.c"),
            ("libio/ioptus.c", "E_NOT_FOUND libio/ioputs.c"),
            ("IOPUTS.C", "E_NOT_FOUND libio/ioputs.c"),
            ("/libio/ioputs.c", "E_NOT_FOUND libio/ioputs.c"),
            ("/", "E_NOT_FOUND "),
            ("", "E_NOT_FOUND "),
            ("zz", "E_NOT_FOUND "),
        ] {
            let told = match source(&store, &edition, asked) {
                Ok(file) => file.path.text().to_owned(),
                Err(error) => format!("{} {}", error.code(), error.allowed().join(" ")),
            };
            assert_eq!(told, expected, "{asked} in pages of {page}");
        }
    }
}

#[test]
fn paths_are_searched_as_names_are() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = sourced(&store);
        for (text, matching, kinds, expected) in [
            ("ioputs.c", Match::Substring, &[][..], 1),
            ("FILE_0", Match::Substring, &[HitKind::Source], 100),
            ("many/", Match::Prefix, &[], 100),
            ("libio/ioputs.c", Match::Exact, &[HitKind::Source], 1),
            ("many", Match::Substring, &[], 101),
            ("many", Match::Substring, &[HitKind::Function], 1),
        ] {
            let (mut cursor, mut found, mut calls) = (None::<String>, Vec::new(), 0);
            loop {
                let mut request = Request::new(&store);
                let query = Query { text, matching, kinds, limit: 30, cursor: cursor.as_deref() };
                let answer = block_on(request.search(&edition, &query)).unwrap();
                assert_bounded(&store, request.budget(), text);
                found.extend(answer.value.hits.into_iter().map(|hit| (hit.kind, hit.name)));
                (cursor, calls) = (answer.next_cursor, calls + 1);
                if cursor.is_none() {
                    break;
                }
            }
            let count = found.len();
            found.dedup();
            assert_eq!((count, found.len()), (expected, expected), "{text}");
            assert!(calls <= 1 + expected / 30 + 1, "{text}: {calls} calls");
        }
    }
}

#[test]
fn functions_by_file_go_on_with_a_cursor() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = sourced(&store);
        let path = Name::from(COMMON);
        let (mut cursor, mut found) = (None::<String>, Vec::new());
        loop {
            let mut request = Request::new(&store);
            let answer = block_on(request.cited_by(&edition, &path, 90, cursor.as_deref())).unwrap();
            assert_bounded(&store, request.budget(), "cited");
            assert!(!answer.value.functions.is_empty());
            found.extend(answer.value.functions);
            cursor = answer.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found.len() as u64, CITING);
        assert!(found.is_sorted_by(|a, b| a.key.address < b.key.address));
        assert!(found.iter().all(|citing| {
            citing.name.as_ref().map(Name::text) == Some(&format!("citing_{:x}", citing.key.address.offset))
        }));
        let none = block_on(Request::new(&store).cited_by(&edition, &Name::from("stdio/twice.c"), 9, None));
        assert_eq!(none.unwrap().value.functions, []);
        let error = block_on(Request::new(&store).cited_by(&edition, &path, 9, Some("x.y.1.2.3")));
        assert_eq!(error.unwrap_err().code(), "E_BAD_CURSOR");
    }
}

#[test]
fn requests_for_sources_can_go_to_threads() {
    fn check<T: Send>(future: T) -> T {
        future
    }
    let store = archive(16384);
    let edition = sourced(&store);
    let (mut window, _) = window(&store, &edition, "puts");
    let file = source(&store, &edition, LARGE).unwrap();
    let mut request = Request::new(&store);
    drop(check(request.source(&edition, "a.c")));
    drop(check(request.source_lines(&edition, &file, 1, 9)));
    drop(check(request.source_text(&edition, &mut window)));
    drop(check(request.cited_by(&edition, &file.path, 9, None)));
}

//! Whatever is sent, no answer is a 5xx, and a known good question on the same connection gets the same bytes as before.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use proptest::{prelude::*, test_runner::TestRunner};
use support::{Reply, Served};

/// Pieces of paths that mean something, each with what may hide in it.
const PIECES: [&str; 46] = [
    "archive",
    "buildid",
    "healthz",
    "index.json",
    "index",
    "id",
    "name",
    "root.json",
    "search",
    "current.json",
    "meta.json",
    "lookup.json",
    "packs.json",
    "fn.jsonl.gz",
    "fn.idx",
    "fn",
    "function",
    "callers",
    "callees",
    "src",
    "abs",
    "rel",
    "sha256",
    "main",
    "twice",
    "1139-31.json",
    "1139-31.txt",
    "1-1.9.json",
    "0.json",
    "99999999999999999999.json",
    "import:printf.json",
    "..",
    ".",
    "%2e%2e",
    "%2f",
    "%00",
    "%c0%ae",
    "%ff",
    "%",
    "%5c",
    "",
    "source",
    "executable",
    "0000000000",
    "é",
    "proc",
];
const QUERIES: [&str; 15] = [
    "?a=twice&b=twice:main",
    "?rows=0-1",
    "?rows=1-0",
    "?rows=-",
    "?rows=0-99999999999999999999",
    "?lines=1-2",
    "?lines=0",
    "?q=main&build=twice",
    "?q=%ff",
    "?q=&build=",
    "?cursor=a.b.0",
    "?limit=0",
    "?page=4294967295",
    "?&&==",
    "?q=main&q=main",
];
const METHODS: [&str; 8] = ["GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "DELETE", "X-Y"];
const HEADERS: [&str; 18] = [
    "range: bytes=0-0",
    "range: bytes=99999999999999999999-",
    "range: bytes=-0",
    "range: bytes=1-0, 3-",
    "range: x",
    "if-range: \"a\"",
    "if-none-match: *",
    "if-none-match: \"",
    "if-none-match: W/\"a\", \"b",
    "if-match: *",
    "if-match: \"x\"",
    "accept-encoding: gzip",
    "accept-encoding: gzip;q=9, *;q=",
    "origin: null",
    "origin: https://evil.example",
    "host: evil.example",
    "host: localhost",
    "content-length: 0",
];

#[derive(Clone, Debug)]
struct Sent {
    method: String,
    path: String,
    headers: Vec<String>,
}

fn piece(served: &Served) -> impl Strategy<Value = String> + use<> {
    let edition = served.edition();
    let (build, edition) = edition.split_once('/').unwrap();
    let source = served.source.to_string_lossy().trim_start_matches('/').to_owned();
    let known: Vec<String> = PIECES.iter().map(|piece| (*piece).to_owned()).collect();
    prop_oneof![
        6 => prop::sample::select(known),
        3 => Just(build.to_owned()),
        3 => Just(edition.to_owned()),
        1 => Just(source),
        1 => "[!-~&&[^ ?#]]{0,12}",
        1 => prop::collection::vec(any::<u8>(), 0..6)
            .prop_map(|bytes| bytes.iter().map(|byte| format!("%{byte:02x}")).collect()),
    ]
}

fn sent(served: &Served) -> impl Strategy<Value = Sent> + use<> {
    let path = prop::collection::vec(piece(served), 0..7);
    let start = prop_oneof![4 => Just("/archive/"), 1 => Just("/buildid/"), 1 => Just("/")];
    let query = prop_oneof![3 => Just(""), 1 => prop::sample::select(&QUERIES[..])];
    let header = prop_oneof![
        5 => prop::sample::select(&HEADERS[..]).prop_map(str::to_owned),
        1 => "[a-z-]{1,10}: [ -~]{0,20}",
    ];
    let headers = prop::collection::vec(header, 0..4);
    (prop::sample::select(&METHODS[..]), start, path, query, headers).prop_map(
        |(method, start, path, query, headers)| Sent {
            method: method.to_owned(),
            path: format!("{start}{}{query}", path.join("/")),
            headers,
        },
    )
}

/// A question whose answer is known, as it comes back.
fn good(served: &Served) -> Reply {
    let reply = served.get(&format!("/archive/{}/function/main", served.edition()), "");
    without_date(reply)
}

fn without_date(mut reply: Reply) -> Reply {
    reply.headers.retain(|(name, _)| name != "date");
    reply
}

#[test]
fn batches_on_one_connection() {
    let served = Served::new();
    let expected = good(&served);
    assert_eq!(expected.status, 200);
    let path = format!("/archive/{}/function/main", served.edition());
    let mut runner = TestRunner::new(ProptestConfig { cases: 300, ..ProptestConfig::default() });
    let batches = prop::collection::vec(sent(&served), 1..12);
    runner
        .run(&batches, |batch| {
            let mut client = served.connect();
            for Sent { method, path, headers } in &batch {
                let host = if headers.iter().any(|header| header.starts_with("host:")) {
                    ""
                } else {
                    "host: localhost\r\n"
                };
                let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
                client.send(format!("{method} {path} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes());
                let reply = client.reply(method == "HEAD");
                let status = reply.as_ref().map_or(400, |reply| reply.status);
                prop_assert!(status < 500, "{method} {path} {headers}: {reply:?}");
                let closes = reply.is_none_or(|reply| reply.header("connection") == "close" || status == 400);
                // What isn't HTTP at all ends its connection; the next question is asked over another one.
                if closes {
                    client = served.connect();
                }
            }
            let reply = without_date(client.ask("GET", &path, ""));
            prop_assert_eq!(&reply, &expected);
            Ok(())
        })
        .unwrap();
}

#[test]
fn bytes_that_are_no_request() {
    let served = Served::new();
    let expected = good(&served);
    let mut runner = TestRunner::new(ProptestConfig { cases: 100, ..ProptestConfig::default() });
    let start = prop_oneof![
        Just(&b""[..]),
        Just(&b"GET "[..]),
        Just(&b"GET / HTTP/1.1\r\n"[..]),
        Just(&b"GET /archive/ HTTP/1.1\r\nhost: localhost\r\n"[..])
    ];
    let bytes = (start, prop::collection::vec(any::<u8>(), 0..300));
    runner
        .run(&bytes, |(start, rest)| {
            let mut client = served.connect();
            client.send(&[start, &rest[..], b"\r\n\r\n"].concat());
            let _ = client.stream.get_mut().shutdown(std::net::Shutdown::Write);
            if let Some(reply) = client.reply(false) {
                prop_assert!(reply.status < 500, "{reply:?}");
            }
            prop_assert_eq!(&good(&served), &expected);
            Ok(())
        })
        .unwrap();
}

//! What goes over the wire: the archive's bytes, headers, and clients that are slow, gone or in a hurry.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use std::{
    fs,
    io::{Read as _, Write as _},
    net::Shutdown,
    time::{Duration, Instant},
};

use elfscope_local::Limits;
use support::{SOURCE, Served};

#[test]
fn the_archives_bytes_over_one_connection() {
    let served = Served::new();
    let edition = served.edition();
    let mut client = served.connect();
    for name in [
        "meta.json",
        "lookup.json",
        "manifest.json",
        "packs.json",
        "fn.jsonl.gz",
        "fn.idx",
        "sources.jsonl.gz",
    ] {
        let stored = fs::read(served.archive().join(&edition).join(name)).unwrap();
        let reply = client.ask("GET", &format!("/archive/{edition}/{name}"), "accept-encoding: gzip\r\n");
        assert_eq!(
            (reply.status, reply.body == stored, reply.header("content-encoding")),
            (200, true, ""),
            "{name}"
        );
        assert_eq!(reply.header("content-length"), stored.len().to_string(), "{name}");
        let head = client.ask("HEAD", &format!("/archive/{edition}/{name}"), "");
        assert_eq!((head.status, head.header("content-length")), (200, &*stored.len().to_string()), "{name}");
        let part = client.ask("GET", &format!("/archive/{edition}/{name}"), "range: bytes=3-9\r\n");
        assert_eq!((part.status, &part.body[..]), (206, &stored[3..10]), "{name}");
    }
    let index = client.ask("GET", "/archive/index.json", "");
    assert_eq!(index.body, fs::read(served.archive().join("index.json")).unwrap());
    let plain = client.ask("GET", &format!("/archive/{}/function/main", served.build), "");
    let packed =
        client.ask("GET", &format!("/archive/{}/function/main", served.build), "accept-encoding: gzip\r\n");
    assert_eq!(packed.header("content-encoding"), "gzip");
    let gunzip = std::process::Command::new("gzip")
        .arg("-dc")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let mut gunzip = gunzip.unwrap();
    gunzip.stdin.take().unwrap().write_all(&packed.body).unwrap();
    assert_eq!(gunzip.wait_with_output().unwrap().stdout, plain.body);
    let tag = packed.header("etag");
    let unchanged =
        client.ask("GET", plain.header("content-location"), &format!("if-none-match: W/{tag}\r\n"));
    assert_eq!(unchanged.status, 200, "a name and a key are two paths");
    let unchanged = client.ask(
        "GET",
        &format!("/archive/{}/function/main", served.build),
        &format!("if-none-match: W/{tag}\r\n"),
    );
    assert_eq!((unchanged.status, unchanged.header("etag")), (304, tag));
    let source = client.ask("GET", &format!("/archive/{edition}/src/abs{}", served.source.display()), "");
    assert_eq!((source.status, &source.body[..]), (200, SOURCE.as_bytes()));
    let page = client.ask("GET", "/", "");
    assert!(page.status == 200 && page.header("content-security-policy").contains("default-src 'none'"));
    assert_eq!(client.ask("GET", "/healthz", "").body, b"ok\n");
    assert_eq!(client.ask("GET", "/nothing", "").status, 404);
}

#[test]
fn hosts_origins_and_large_bodies() {
    let served = Served::new();
    for (host, status) in [("localhost", 200), ("127.0.0.1:1", 200), ("evil.example", 403)] {
        for path in ["/archive/index.json", "/"] {
            assert_eq!(served.get(path, &format!("host: {host}\r\n")).status, status, "{host} {path}");
        }
    }
    assert_eq!(served.get("/archive/index.json", "host: localhost\r\nhost: localhost\r\n").status, 403);
    let reply = served.get("/archive/index.json", "origin: https://else.example\r\n");
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, "*"));
    let reply = served.connect().ask("OPTIONS", "/archive/index.json", "origin: https://else.example\r\n");
    assert_eq!(reply.status, 204);
    for (size, status) in [(64 * 1024, 200), (64 * 1024 + 1, 413), (1 << 20, 413)] {
        let mut client = served.connect();
        client.send(
            format!("GET /archive/index.json HTTP/1.1\r\nhost: localhost\r\ncontent-length: {size}\r\n\r\n")
                .as_bytes(),
        );
        client.send(&vec![b'x'; size]);
        assert_eq!(client.reply(false).unwrap().status, status, "{size}");
    }
    // Chunks count too.
    let mut client = served.connect();
    client.send(b"GET /archive/index.json HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..9 {
        client.send(format!("2000\r\n{}\r\n", "x".repeat(0x2000)).as_bytes());
    }
    client.send(b"0\r\n\r\n");
    assert_eq!(client.reply(false).unwrap().status, 413);
    let long = "x".repeat(9000);
    assert_eq!(served.get(&format!("/archive/search?q={long}&build=twice"), "").status, 414);
}

#[test]
fn slow_clients_are_let_go() {
    let short = Duration::from_millis(300);
    let served =
        Served::with(Limits { header: short, body: short, piece: short, ..Limits::default() }, |_| {});
    // Never a header, a header that never ends, nothing after an answer.
    for sent in [
        "",
        "GET /archive/index.json HTTP/1.1\r\nhost: localhost\r\nx: ",
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ] {
        let mut client = served.connect();
        client.send(sent.as_bytes());
        let start = Instant::now();
        let mut rest = Vec::new();
        let _ = client.stream.read_to_end(&mut rest);
        let time = start.elapsed();
        assert!(time > short / 2 && time < Duration::from_secs(5), "{sent:?}: {time:?}");
    }
    // A body that never ends.
    let mut client = served.connect();
    client.send(b"GET /archive/index.json HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc");
    assert_eq!(client.reply(false).unwrap().status, 408);
    let mut client = served.connect();
    client.send(b"GET /archive/index.json HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999\r\n\r\n");
    client.send(&[b'x'; 70_000]);
    assert_eq!(client.reply(false).unwrap().status, 413, "too long is too long, however slow");
    // One byte at a time, but in time.
    let served = Served::new();
    let mut client = served.connect();
    for byte in b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n" {
        client.send(&[*byte]);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(client.reply(false).unwrap().status, 200);
}

#[test]
fn who_closes_one_side_still_gets_the_answer() {
    let served = Served::new();
    let path = format!("/archive/{}/fn.jsonl.gz", served.edition());
    let stored = fs::read(served.archive().join(served.edition()).join("fn.jsonl.gz")).unwrap();
    let mut client = served.connect();
    client.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes());
    client.stream.get_mut().shutdown(Shutdown::Write).unwrap();
    assert!(client.reply(false).unwrap().body == stored);
    // Gone in the middle of a request, or before the answer: the server goes on.
    for part in [10, path.len() + 20] {
        for _ in 0..20 {
            let mut client = served.connect();
            let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
            client.send(&request.as_bytes()[..part.min(request.len())]);
        }
    }
    assert_eq!(served.get("/healthz", "").status, 200);
}

#[test]
fn what_is_missing_or_cut_is_never_passed_off_as_whole() {
    let served = Served::with(Limits::default(), |archive| {
        let edition = fs::read_dir(archive).unwrap().filter_map(|entry| {
            let path = entry.unwrap().path();
            let inner = fs::read_dir(&path).ok()?.find(|inner| inner.as_ref().unwrap().path().is_dir())?;
            Some(inner.unwrap().path()).filter(|path| path.join("fn.jsonl.gz").exists())
        });
        let edition: Vec<_> = edition.collect();
        let pack = edition[0].join("fn.jsonl.gz");
        let bytes = fs::read(&pack).unwrap();
        fs::remove_file(&pack).unwrap();
        fs::write(&pack, &bytes[..bytes.len() / 2]).unwrap();
    });
    let mut client = served.connect();
    client.send(
        format!("GET /archive/{}/fn.jsonl.gz HTTP/1.1\r\nhost: localhost\r\n\r\n", served.edition())
            .as_bytes(),
    );
    assert!(client.reply(false).is_none(), "the connection breaks off");
    assert_eq!(served.get("/healthz", "").status, 200);
}

#[test]
fn stopping_ends_what_was_begun() {
    let mut served = Served::new();
    let mut idle = served.connect();
    assert_eq!(idle.ask("GET", "/healthz", "").status, 200);
    let start = Instant::now();
    served.stop();
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}: a connection that nothing is asked over keeps nobody",
        start.elapsed()
    );
    assert!(idle.reply(false).is_none());
    assert!(std::net::TcpStream::connect(served.address).is_err());
}

//! Conditions, ranges, methods, hosts, hostile paths.

use elfscope_core::{Config, Service, http::answer};
use elfscope_schema::to_canonical;
use pollster::block_on;

use super::{
    ask, bytes, get, header, pinned, refused, service,
    support::small::{HUGE, MAIN, SMALL, archive, main_page},
};

#[test]
fn what_a_client_has_is_known_before_a_pack_is_read() {
    let service = service(archive(16384));
    let edition = pinned(&service, SMALL);
    for (path, forms) in [
        (format!("{edition}/fn/{MAIN}.json"), 2),
        (format!("/archive/{SMALL}/fn/{MAIN}.json"), 2),
        (format!("{edition}/fn/{MAIN}.txt?rows=0-2"), 1),
        (format!("{edition}/callees/{MAIN}.json"), 1),
        (format!("{edition}/callers/{MAIN}.json"), 2),
        (format!("{edition}/function/main"), 2),
        (format!("{edition}/fn.jsonl.gz"), 1),
        (format!("{edition}/meta.json"), 1),
    ] {
        let tag = header(&get(&service, &path, &[]), "etag").to_owned();
        let packed = header(&get(&service, &path, &["accept-encoding: gzip"]), "etag").to_owned();
        assert_eq!(if tag == packed { 1 } else { 2 }, forms, "{path}");
        for said in [tag.clone(), format!("W/{tag}"), format!("\"x\", W/\"y\", {packed}")] {
            for method in ["GET", "HEAD"] {
                let response = ask(&service, method, &path, &[&format!("if-none-match: {said}")]);
                assert_eq!(response.status(), 304, "{path} {said}");
                assert!(
                    bytes(&response).is_empty()
                        && [&tag, &packed].contains(&&header(&response, "etag").to_owned())
                );
                let budget = response.extensions().get::<elfscope_core::Budget>().unwrap();
                assert_eq!(budget.reads, 1, "{path}: only the pointer is read");
                assert!(!header(&response, "cache-control").is_empty());
            }
        }
        for (name, said, status) in [
            ("if-none-match", "*".to_owned(), 304),
            ("if-none-match", "\"other\"".to_owned(), 200),
            ("if-match", "*".to_owned(), 200),
            ("if-match", tag.clone(), 200),
            ("if-match", packed.clone(), 200),
            ("if-match", format!("W/{tag}"), 412),
            ("if-match", "\"other\"".to_owned(), 412),
        ] {
            let response = get(&service, &path, &[&format!("{name}: {said}")]);
            assert_eq!(response.status(), status, "{path} {name}: {said}");
        }
    }
    // What isn't there has no `*`.
    let response = get(&service, &format!("{edition}/fn/1000-17.json"), &["if-none-match: *"]);
    assert_eq!(response.status(), 404);
}

#[test]
fn ranges_are_of_the_identity_form() {
    let service = service(archive(16384));
    let path = format!("{}/fn/{MAIN}.json", pinned(&service, SMALL));
    let main = to_canonical(&main_page());
    let tag = header(&get(&service, &path, &[]), "etag").to_owned();
    let gzip = "accept-encoding: gzip";
    let response = get(&service, &path, &[gzip, "range: bytes=2-9"]);
    assert_eq!((response.status().as_u16(), bytes(&response)), (206, &main[2..10]));
    assert_eq!(header(&response, "content-range"), format!("bytes 2-9/{}", main.len()));
    assert_eq!((header(&response, "etag"), header(&response, "content-encoding")), (&*tag, ""));
    let response = get(&service, &path, &["range: bytes=-5"]);
    assert_eq!(bytes(&response), &main[main.len() - 5..]);
    let response = get(&service, &path, &["range: bytes=9999999-"]);
    assert_eq!(
        (response.status().as_u16(), header(&response, "content-range")),
        (416, &*format!("bytes */{}", main.len()))
    );
    assert_eq!(get(&service, &path, &[gzip, "range: bytes=0-1,4-5"]).status(), 200);
    for (said, status) in [(tag.as_str(), 206), ("\"other\"", 200), ("Tue, 01 Dec 2026 00:00:00 GMT", 200)] {
        let response = get(&service, &path, &["range: bytes=0-1", &format!("if-range: {said}")]);
        assert_eq!(response.status(), status, "{said}");
    }
    let response = ask(&service, "HEAD", &path, &["range: bytes=0-1"]);
    assert_eq!(
        (response.status().as_u16(), header(&response, "content-length")),
        (200, &*main.len().to_string())
    );
}

#[test]
fn methods_hosts_and_bodies() {
    let service = service(archive(16384));
    let path = format!("/archive/{SMALL}/meta.json");
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        let response = ask(&service, method, &path, &[]);
        assert_eq!(refused(&response).0, 405, "{method}");
        assert_eq!(header(&response, "allow"), "GET, HEAD, OPTIONS");
    }
    let response = ask(
        &service,
        "OPTIONS",
        &path,
        &["origin: https://else.example", "access-control-request-method: GET"],
    );
    assert_eq!((response.status().as_u16(), header(&response, "access-control-allow-origin")), (204, "*"));
    assert_eq!(header(&response, "access-control-allow-headers"), "if-match, if-none-match, if-range, range");
    for (host, status) in [("localhost", 200), ("[::1]:8787", 200), ("evil.example", 403), ("", 403)] {
        assert_eq!(get(&service, &path, &[&format!("host: {host}")]).status(), status, "{host}");
        let page = http::Request::builder().uri("/").header("host", host).body(Vec::new()).unwrap();
        assert_eq!(block_on(answer(&service, page)).is_none(), status == 200, "static files too");
        assert_eq!(get(&service, "/healthz", &[&format!("host: {host}")]).status(), 200, "{host}");
    }
    let ask = |size: usize| {
        let request = http::Request::builder().uri(&path).header("host", "localhost").body(vec![0; size]);
        block_on(answer(&service, request.unwrap())).unwrap()
    };
    assert_eq!((ask(64 * 1024).status().as_u16(), refused(&ask(64 * 1024 + 1)).0), (200, 413));
}

#[test]
fn hosts_that_were_named() {
    let config = Config {
        allowed_hosts: vec!["box.lan".to_owned()],
        public_url: "https://a.example".to_owned(),
        ..Config::default()
    };
    let service = Service::new(archive(16384), config);
    for (host, status) in [("box.lan:8787", 200), ("a.example", 200), ("b.example", 403)] {
        let request = http::Request::builder().uri("/archive/index.json").header("host", host);
        let response = block_on(answer(&service, request.body(Vec::new()).unwrap())).unwrap();
        assert_eq!(response.status(), status, "{host}");
    }
}

#[test]
fn hostile_paths_get_one_clear_sentence() {
    let service = service(archive(16384));
    let long = format!("/archive/{SMALL}/function/{}", "x".repeat(9000));
    for (path, status, code) in [
        ("/archive/../etc/passwd", 400, "E_BAD_PATH"),
        ("/archive/%2e%2e/etc/passwd", 400, "E_BAD_PATH"),
        ("/archive/..%2f..%2fetc/passwd", 400, "E_BAD_PATH"),
        ("/archive/%00", 400, "E_BAD_PATH"),
        ("/archive/%c0%ae%c0%ae/x", 400, "E_BAD_PATH"),
        ("/archive/%ff", 400, "E_BAD_PATH"),
        ("/archive/%2", 400, "E_BAD_PATH"),
        ("/archive/%5c..%5c", 404, "E_NOT_FOUND"),
        ("/archive/index/id/..%2froot.json", 400, "E_BAD_PATH"),
        ("/buildid/../source/x", 400, "E_BAD_PATH"),
        (&long, 414, "E_INPUT_TOO_LARGE"),
    ] {
        let (told, which, _) = refused(&get(&service, path, &[]));
        assert_eq!((told, which.as_str()), (status, code), "{path}");
    }
    let (status, _, _) = refused(&get(&service, &format!("/archive/{SMALL}/fn/{HUGE}.json?x=1"), &[]));
    assert_eq!(status, 400);
}

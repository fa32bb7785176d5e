//! Every route: its bytes, and how long they stay right.

use elfscope_core::http::Body;
use elfscope_schema::{Current, FunctionPage, Tombstone, from_slice, to_canonical};

use super::{
    Archive, ask, bytes, get, header, pinned, refused, service,
    support::small::{HUGE, MAIN, OTHER, SMALL, archive, main_page},
    text,
};

const PINNED: &str = "max-age=31536000, immutable";
const CURRENT: &str = "max-age=300, stale-while-revalidate=86400";

fn small() -> Archive {
    service(archive(16384))
}

/// What the store has under a path of an edition.
fn stored(service: &Archive, path: &str) -> Vec<u8> {
    let path = path.strip_prefix("/archive/").unwrap();
    pollster::block_on(elfscope_core::Store::get(service.store(), path)).unwrap().unwrap()
}

#[test]
fn stored_documents_by_both_paths() {
    let service = small();
    let edition = pinned(&service, SMALL);
    for name in ["meta.json", "lookup.json", "manifest.json", "packs.json"] {
        let (now, ever) = (
            get(&service, &format!("/archive/{SMALL}/{name}"), &[]),
            get(&service, &format!("{edition}/{name}"), &[]),
        );
        assert_eq!(bytes(&now), stored(&service, &format!("{edition}/{name}")), "{name}");
        assert_eq!(bytes(&now), bytes(&ever), "{name}");
        assert_eq!((header(&now, "cache-control"), header(&ever, "cache-control")), (CURRENT, PINNED));
        assert_eq!(header(&now, "content-location"), format!("{edition}/{name}"));
        assert_eq!(header(&ever, "content-location"), "");
        assert_eq!(header(&now, "etag"), header(&ever, "etag"));
        assert_eq!(header(&now, "content-type"), "application/json");
        assert_eq!(header(&now, "access-control-allow-origin"), "*");
        assert_eq!(header(&now, "x-content-type-options"), "nosniff");
        assert_eq!((header(&now, "vary"), header(&now, "content-encoding")), ("", ""));
    }
}

#[test]
fn pages_of_bodies_are_the_stored_bytes() {
    let service = small();
    let edition = pinned(&service, SMALL);
    let main = to_canonical(&main_page());
    let plain = get(&service, &format!("{edition}/fn/{MAIN}.json"), &[]);
    assert_eq!(bytes(&plain), main);
    assert_eq!(header(&plain, "vary"), "Accept-Encoding");
    // The stored member goes out untouched, under a tag of its own.
    let packed = get(&service, &format!("{edition}/fn/{MAIN}.json"), &["accept-encoding: gzip, br"]);
    assert_eq!(header(&packed, "content-encoding"), "gzip");
    let pack = stored(&service, &format!("{edition}/fn.jsonl.gz"));
    assert!(pack.starts_with(bytes(&packed)), "main is the first member");
    let tag = header(&plain, "etag").trim_matches('"').to_owned();
    assert_eq!(header(&packed, "etag"), format!("\"{tag}-gz\""));
    for page in [1, 7, 299] {
        let path = format!("{edition}/fn/{HUGE}.{page}.json");
        let told: FunctionPage = from_slice(bytes(&get(&service, &path, &[]))).unwrap();
        assert_eq!((told.key, told.page), (HUGE, page));
    }
    for (page, code) in
        [("0", "E_NOT_FOUND"), ("300", "E_NOT_FOUND"), ("4294967295", "E_NOT_FOUND"), ("x", "E_NOT_FOUND")]
    {
        let response = get(&service, &format!("{edition}/fn/{HUGE}.{page}.json"), &[]);
        assert_eq!((response.status().as_u16(), refused(&response).1.as_str()), (404, code), "{page}");
    }
    // Behind the last page of `main` stands the first of `huge`.
    assert_eq!(refused(&get(&service, &format!("{edition}/fn/{MAIN}.1.json"), &[])).0, 404);
    let (status, code, allowed) = refused(&get(&service, &format!("{edition}/fn/1000-17.json"), &[]));
    assert_eq!((status, code.as_str(), allowed), (404, "E_NOT_FOUND", vec![MAIN.to_string()]));
    let ordinal = get(&service, &format!("{edition}/data/1.json"), &[]);
    assert!(text(&ordinal).starts_with("{\"items\":["));
    assert_eq!(refused(&get(&service, &format!("{edition}/data/3.json"), &[])).0, 404);
}

#[test]
fn packs_are_streamed_as_they_are() {
    let service = small();
    let edition = pinned(&service, SMALL);
    for (name, media) in [("fn.jsonl.gz", "application/gzip"), ("fn.idx", "application/octet-stream")] {
        let path = format!("{edition}/{name}");
        let size = stored(&service, &path).len() as u64;
        let response = get(&service, &path, &["accept-encoding: gzip"]);
        let stored = path.strip_prefix("/archive/").unwrap().to_owned();
        assert_eq!(*response.body(), Body::Stored { path: stored.clone(), range: 0..size });
        assert_eq!((header(&response, "content-type"), header(&response, "content-encoding")), (media, ""));
        let part = get(&service, &path, &["range: bytes=8-15"]);
        assert_eq!(*part.body(), Body::Stored { path: stored, range: 8..16 });
        assert_eq!(
            (part.status().as_u16(), header(&part, "content-range")),
            (206, &*format!("bytes 8-15/{size}"))
        );
        let head = ask(&service, "HEAD", &path, &[]);
        assert_eq!((header(&head, "content-length"), bytes(&head).len()), (&*size.to_string(), 0));
    }
    let (status, code, _) = refused(&get(&service, &format!("{edition}/nothing.jsonl.gz"), &[]));
    assert_eq!((status, code.as_str()), (404, "E_NOT_FOUND"));
}

#[test]
fn bodies_by_name() {
    let service = small();
    let edition = pinned(&service, SMALL);
    let response = get(&service, &format!("/archive/{SMALL}/function/main"), &[]);
    assert_eq!(bytes(&response), to_canonical(&main_page()));
    assert_eq!(header(&response, "cache-control"), "max-age=300");
    assert_eq!(header(&response, "content-location"), format!("{edition}/fn/{MAIN}.json"));
    let response =
        get(&service, &format!("{edition}/function/space%3A%3Ahuge(int)"), &["accept-encoding: gzip"]);
    assert_eq!(header(&response, "content-location"), format!("{edition}/fn/{HUGE}.json"));
    for (name, expected) in [
        ("copy", (300, "E_AMBIGUOUS", vec!["copy@V_1", "copy@@V_2"])),
        ("twice", (300, "E_AMBIGUOUS", vec!["0x30000", "0x30100"])),
        ("mian", (404, "E_NOT_FOUND", vec!["main"])),
        ("puts", (404, "E_WRONG_KIND", vec!["a function of this binary"])),
        ("main%00", (400, "E_BAD_PATH", vec![])),
        ("..", (400, "E_BAD_PATH", vec![])),
    ] {
        let (status, code, allowed) = refused(&get(&service, &format!("{edition}/function/{name}"), &[]));
        assert_eq!((status, code.as_str(), allowed.iter().map(String::as_str).collect()), expected, "{name}");
    }
}

#[test]
fn edges() {
    let service = small();
    let edition = pinned(&service, SMALL);
    let response = get(&service, &format!("{edition}/callers/{MAIN}.json"), &[]);
    assert_eq!(header(&response, "cache-control"), PINNED);
    let told: elfscope_schema::CallersPage = from_slice(bytes(&response)).unwrap();
    assert_eq!((told.total, told.callers.len(), told.pages), (250, 90, 3));
    let told: elfscope_schema::CallersPage =
        from_slice(bytes(&get(&service, &format!("{edition}/callers/{MAIN}.2.json"), &[]))).unwrap();
    assert_eq!((told.page, told.callers.len()), (2, 70));
    assert_eq!(get(&service, &format!("{edition}/callers/{MAIN}.3.json"), &[]).status(), 404);
    // Whom nobody calls: a document that says so.
    let told: elfscope_schema::CallersPage =
        from_slice(bytes(&get(&service, &format!("{edition}/callers/{HUGE}.json"), &[]))).unwrap();
    assert_eq!((told.total, told.callers.len()), (0, 0));
    assert_eq!(get(&service, &format!("{edition}/callers/{HUGE}.1.json"), &[]).status(), 404);
    let told: elfscope_schema::CallersPage =
        from_slice(bytes(&get(&service, &format!("{edition}/callers/import:puts@GLIBC_2.34.json"), &[])))
            .unwrap();
    assert_eq!(told.total, 0);
    assert_eq!(get(&service, &format!("{edition}/callers/import:nothing.json"), &[]).status(), 404);
    // Edges that leave, in parts.
    let mut path = format!("{edition}/callees/{HUGE}.json?limit=150");
    let mut rows = Vec::new();
    loop {
        let response = get(&service, &path, &[]);
        assert_eq!(header(&response, "cache-control"), "max-age=300");
        let told: serde_json::Value = from_slice(bytes(&response)).unwrap();
        assert_eq!(told["total"], 600);
        rows.extend(told["edges"].as_array().unwrap().iter().map(|edge| edge["row"].as_u64().unwrap()));
        match told["next_cursor"].as_str() {
            Some(cursor) => path = format!("{edition}/callees/{HUGE}.json?limit=150&cursor={cursor}"),
            None => break,
        }
    }
    assert!(rows.len() == 600 && rows.is_sorted());
    for (query, code) in [
        ("limit=0", "E_OUT_OF_RANGE"),
        ("limit=201", "E_OUT_OF_RANGE"),
        ("limit=x", "E_BAD_REFERENCE"),
        ("cursor=x", "E_BAD_CURSOR"),
        ("rows=1-2", "E_BAD_ARGUMENTS"),
    ] {
        let (status, told, _) =
            refused(&get(&service, &format!("{edition}/callees/{HUGE}.json?{query}"), &[]));
        assert_eq!((status, told.as_str()), (400, code), "{query}");
    }
}

#[test]
fn listings() {
    let service = small();
    let edition = pinned(&service, SMALL);
    let whole = get(&service, &format!("{edition}/fn/{MAIN}.txt"), &[]);
    assert_eq!(header(&whole, "elfscope-rows"), "0-3/4");
    assert!(text(&whole).starts_with("main  in small\n") && text(&whole).ends_with('\n'), "{}", text(&whole));
    assert!(
        !text(&whole).contains('\u{1b}') && !text(&whole).contains('\u{202e}'),
        "hostile text is escaped"
    );
    assert_eq!(header(&whole, "content-type"), "text/plain; charset=utf-8");
    assert_eq!(header(&whole, "content-security-policy"), "sandbox; default-src 'none'");
    assert_eq!(header(&whole, "cache-control"), "max-age=300");
    let part = get(&service, &format!("{edition}/fn/{HUGE}.txt?rows=5000-5019"), &[]);
    assert_eq!(header(&part, "elfscope-rows"), "5000-5019/6000");
    assert_ne!(
        header(&part, "etag"),
        header(&get(&service, &format!("{edition}/fn/{HUGE}.txt"), &[]), "etag")
    );
    for (rows, code) in [
        ("6000-6001", "E_OUT_OF_RANGE"),
        ("5990-6000", "E_OUT_OF_RANGE"),
        ("0-500", "E_OUT_OF_RANGE"),
        ("2-1", "E_BAD_REFERENCE"),
        ("-1", "E_BAD_REFERENCE"),
        ("a-b", "E_BAD_REFERENCE"),
        ("+1-+2", "E_BAD_REFERENCE"),
        ("0-99999999999", "E_BAD_REFERENCE"),
    ] {
        let (status, told, _) = refused(&get(&service, &format!("{edition}/fn/{HUGE}.txt?rows={rows}"), &[]));
        assert_eq!((status, told.as_str()), (400, code), "{rows}");
    }
}

#[test]
fn the_catalogue_and_search() {
    let service = small();
    let response = get(&service, "/archive/index.json", &[]);
    assert_eq!(bytes(&response), stored(&service, "/archive/index.json"));
    assert_eq!(header(&response, "cache-control"), "max-age=60");
    let tag = header(&response, "etag").to_owned();
    assert_eq!(get(&service, "/archive/index.json", &[&format!("if-none-match: W/{tag}")]).status(), 304);
    assert_eq!(refused(&get(&service, "/archive/index/name/root.json", &[])).0, 404);
    let empty = service_of_nothing();
    assert_eq!(
        text(&get(&empty, "/archive/index.json", &[])),
        "{\"builds\":[],\"schema\":\"archive.index/1\",\"total\":0}\n"
    );
    let pointer = get(&service, &format!("/archive/{SMALL}/current.json"), &[]);
    assert_eq!(bytes(&pointer), stored(&service, &format!("/archive/{SMALL}/current.json")));
    assert_eq!(header(&pointer, "cache-control"), "max-age=60");
    let found = get(&service, "/archive/search?q=main&build=small&match=exact", &[]);
    let told: serde_json::Value = from_slice(bytes(&found)).unwrap();
    assert_eq!((&told["hits"][0]["name"], told["build_id"].as_str()), (&"main".into(), Some(SMALL)));
    let found = get(&service, "/archive/search?q=main+part&build=small&kind=string,data&limit=5", &[]);
    let told: serde_json::Value = from_slice(bytes(&found)).unwrap();
    assert_eq!((told["hits"].as_array().unwrap().len(), told["next_cursor"].is_string()), (5, true));
    for (query, code) in [
        ("q=main", "E_BAD_ARGUMENTS"),
        ("build=small", "E_BAD_ARGUMENTS"),
        ("q=ma&build=small", "E_QUERY_TOO_SHORT"),
        ("q=main&build=small&match=fuzzy", "E_BAD_REFERENCE"),
        ("q=main&build=small&kind=thing", "E_BAD_REFERENCE"),
        ("q=main&build=small&colour=red", "E_BAD_ARGUMENTS"),
        ("q=main&q=other&build=small", "E_BAD_ARGUMENTS"),
        ("q=%ff&build=small", "E_BAD_ARGUMENTS"),
        ("q=main&build=small&cursor=1.2.3", "E_BAD_CURSOR"),
    ] {
        let (status, told, _) = refused(&get(&service, &format!("/archive/search?{query}"), &[]));
        assert_eq!((status, told.as_str()), (400, code), "{query}");
    }
    let long = "x".repeat(8 * 1024 + 1);
    assert_eq!(refused(&get(&service, &format!("/archive/search?q={long}&build=small"), &[])).0, 414);
}

fn service_of_nothing() -> Archive {
    elfscope_core::Service::new(
        super::CountingStore::new(super::MemoryStore::default()),
        elfscope_core::Config::default(),
    )
}

#[test]
fn builds_and_editions_that_are_not_there() {
    let service = small();
    let edition = pinned(&service, SMALL);
    let current = edition.strip_prefix("/archive/").unwrap().to_owned();
    for (path, expected) in [
        (
            format!("/archive/{SMALL}/{}/meta.json", "0".repeat(32)),
            (404, "E_NOT_FOUND", vec![current.clone()]),
        ),
        ("/archive/small/meta.json".to_owned(), (404, "E_NOT_FOUND", vec![SMALL.to_owned()])),
        (
            "/archive/aabbcc/meta.json".to_owned(),
            (300, "E_AMBIGUOUS", vec![OTHER.to_owned(), SMALL.to_owned()]),
        ),
        ("/archive/smlal/meta.json".to_owned(), (404, "E_NOT_FOUND", vec!["small".to_owned()])),
        ("/archive/deadbeefdeadbeef/meta.json".to_owned(), (404, "E_NOT_FOUND", vec![])),
        ("/archive/deadbeefdeadbeef/current.json".to_owned(), (404, "E_NOT_FOUND", vec![])),
    ] {
        let (status, code, allowed) = refused(&get(&service, &path, &[]));
        assert_eq!((status, code.as_str(), allowed), expected, "{path}");
    }
    for path in [
        "/archive",
        "/archive/",
        "/archive//",
        "/buildid",
        "/buildid/x",
        "/healthz/x",
        &edition,
        &format!("{edition}/"),
    ] {
        let (status, code, allowed) = refused(&get(&service, path, &[]));
        assert_eq!((status, code.as_str(), allowed.is_empty()), (404, "E_NOT_FOUND", false), "{path}");
    }
    // Removed: 410, with the reason.
    let pointer = format!("{SMALL}/current.json");
    let mut files = archive(16384).into_inner();
    let mut told: Current = from_slice(&files.0[&pointer]).unwrap();
    let gone = told.editions.remove(0);
    told.tombstones.push(Tombstone { edition: gone.edition, reason: "wrong file".into() });
    told.seal();
    files.0.insert(pointer, to_canonical(&told));
    let service =
        elfscope_core::Service::new(super::CountingStore::new(files), elfscope_core::Config::default());
    for path in [format!("{edition}/meta.json"), format!("/archive/{SMALL}/meta.json")] {
        let response = get(&service, &path, &[]);
        assert_eq!((response.status().as_u16(), refused(&response).1.as_str()), (410, "E_GONE"));
        assert!(text(&response).contains("wrong file"), "{}", text(&response));
    }
    assert_eq!(get(&service, &format!("/archive/{SMALL}/current.json"), &[]).status(), 200);
}

#[test]
fn what_differs() {
    let service = small();
    let found = get(&service, "/archive/diff?a=small:main&b=small:huge&limit=10", &[]);
    let told: serde_json::Value = from_slice(bytes(&found)).unwrap();
    assert_eq!(
        (told["a"]["build_id"].as_str(), told["pairs"].as_array().unwrap().len()),
        (Some(SMALL), 10),
        "{told}"
    );
    assert_eq!(header(&found, "cache-control"), "max-age=300");
    for (query, status, code) in [
        ("a=small", 400, "E_BAD_ARGUMENTS"),
        ("a=small&b=small:main", 400, "E_BAD_ARGUMENTS"),
        ("a=small:main&b=small:huge&kind=data", 400, "E_BAD_ARGUMENTS"),
        ("a=small&b=small&context=1", 400, "E_BAD_ARGUMENTS"),
        ("a=small&b=smlal", 404, "E_NOT_FOUND"),
        ("a=small:main&b=small:mian", 404, "E_NOT_FOUND"),
        ("a=small&b=aabbcc", 300, "E_AMBIGUOUS"),
        ("a=small:main&b=small:huge&cursor=x", 400, "E_BAD_CURSOR"),
    ] {
        let (told, which, _) = refused(&get(&service, &format!("/archive/diff?{query}"), &[]));
        assert_eq!((told, which.as_str()), (status, code), "{query}");
    }
}

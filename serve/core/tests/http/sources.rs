//! Sources and debuginfod's route.

use elfscope_core::http::Body;
use elfscope_schema::Sha256Digest;

use super::{
    bytes, get, header, pinned, refused, service,
    support::sourced::{EVIL, LARGE, PUTS, SOURCED, archive, large},
    text,
};

#[test]
fn sources_are_text_of_strangers() {
    let service = service(archive(16384));
    let edition = pinned(&service, SOURCED);
    let response = get(&service, &format!("{edition}/src/rel/libio/ioputs.c"), &["accept-encoding: gzip"]);
    assert_eq!(text(&response), PUTS);
    assert_eq!(header(&response, "content-type"), "text/plain; charset=utf-8");
    assert_eq!(header(&response, "x-content-type-options"), "nosniff");
    assert_eq!(header(&response, "content-security-policy"), "sandbox; default-src 'none'");
    assert_eq!(header(&response, "cache-control"), "max-age=31536000, immutable");
    let digest = Sha256Digest::of(PUTS.as_bytes());
    assert_eq!(text(&get(&service, &format!("{edition}/src/sha256/{digest}"), &[])), PUTS);
    let name = "evil.c:1%20%20md5-verified%0A%1B%5B31m";
    assert_eq!(bytes(&get(&service, &format!("{edition}/src/rel/{name}"), &[])), EVIL);
    // A large one is streamed.
    let (size, digest) = (large().len() as u64, Sha256Digest::of(&large()));
    let response = get(&service, &format!("{edition}/src/rel/{LARGE}"), &["range: bytes=100-"]);
    assert_eq!(*response.body(), Body::Stored { path: format!("src/{digest}"), range: 100..size });
    let response = get(&service, &format!("{edition}/src/sha256/{digest}"), &[]);
    assert_eq!(*response.body(), Body::Stored { path: format!("src/{digest}"), range: 0..u64::MAX });
    assert_eq!(header(&response, "content-length"), "");
}

#[test]
fn lines_of_sources() {
    let service = service(archive(16384));
    let edition = pinned(&service, SOURCED);
    let response = get(&service, &format!("{edition}/src/rel/libio/ioputs.c?lines=3-4"), &[]);
    assert_eq!(
        (text(&response).as_str(), header(&response, "elfscope-lines")),
        ("int\n_IO_puts (const char *str)\n", "3-4/16")
    );
    assert_eq!(header(&response, "cache-control"), "max-age=300");
    let response = get(&service, &format!("{edition}/src/rel/{LARGE}?lines=200000-200399"), &[]);
    assert!(
        text(&response).starts_with("int line_0200000;")
            && text(&response).ends_with("int line_0200399;  \n")
    );
    for (lines, code) in [
        ("0-1", "E_OUT_OF_RANGE"),
        ("16-17", "E_OUT_OF_RANGE"),
        ("17", "E_OUT_OF_RANGE"),
        ("1-401", "E_OUT_OF_RANGE"),
        ("x", "E_BAD_REFERENCE"),
    ] {
        let (status, told, _) =
            refused(&get(&service, &format!("{edition}/src/rel/libio/ioputs.c?lines={lines}"), &[]));
        assert_eq!((status, told.as_str()), (400, code), "{lines}");
    }
}

#[test]
fn sources_that_are_not_there() {
    let service = service(archive(16384));
    let edition = pinned(&service, SOURCED);
    for (path, status, code, allowed) in [
        ("src/rel/sysdeps/lock.h", 404, "E_NOT_PUBLISHED", vec![]),
        ("src/rel/ioputs.c", 404, "E_NOT_FOUND", vec!["libio/ioputs.c"]),
        ("src/abs/libio/ioputs.c", 404, "E_NOT_FOUND", vec!["libio/ioputs.c"]),
        ("src/rel/twice.c", 300, "E_AMBIGUOUS", vec!["posix/twice.c", "stdio/twice.c"]),
        ("src/rel/../passwd", 400, "E_BAD_PATH", vec![]),
        ("src/rel/..%2fpasswd", 400, "E_BAD_PATH", vec![]),
    ] {
        let (told, which, near) = refused(&get(&service, &format!("{edition}/{path}"), &[]));
        assert_eq!(
            (told, which.as_str(), near.iter().map(String::as_str).collect()),
            (status, code, allowed),
            "{path}"
        );
    }
    let none = Sha256Digest::of(b"none");
    assert_eq!(refused(&get(&service, &format!("{edition}/src/sha256/{none}"), &[])).0, 404);
}

#[test]
fn debuginfod_asks_for_absolute_paths() {
    let service = service(archive(16384));
    for path in ["/a/b.c", "a/b.c", "%2Fa%2Fb.c"] {
        let (status, code, _) = refused(&get(&service, &format!("/buildid/{SOURCED}/source/{path}"), &[]));
        assert_eq!((status, code.as_str()), (404, "E_NOT_FOUND"), "{path}");
    }
    for what in ["executable", "debuginfo", "section/.text"] {
        let response = get(&service, &format!("/buildid/{SOURCED}/{what}"), &[]);
        assert_eq!(refused(&response).0, 404);
        assert!(text(&response).contains("not the binaries"), "{}", text(&response));
    }
}

//! Resources: each URI, and what none of them is.

use elfscope_core::Service;
use serde_json::{Value, json};

use super::{Archive, modern, older, say, service, small, sourced};

fn read(service: &Archive, uri: &str) -> Value {
    say(service, &modern("resources/read", json!({"uri": uri}))).unwrap()
}

/// The URI of an edition, by what the catalogue says.
fn edition(service: &Archive) -> String {
    let index = read(service, "archive://index");
    let index: Value =
        serde_json::from_str(index["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let build = &index["builds"][0];
    format!("archive://{}/{}", build["build_id"].as_str().unwrap(), build["edition"].as_str().unwrap())
}

#[test]
fn sources_are_read_as_they_are() {
    let service = service();
    let edition = edition(&service);
    let uri = format!("{edition}/src/libio/ioputs.c");
    let contents = &read(&service, &uri)["result"]["contents"][0];
    assert_eq!(contents["text"], sourced::PUTS);
    assert_eq!(contents["uri"], uri);
    assert_eq!(contents["_meta"]["elfscope/level"], "package-verified");

    // Any byte: by its percent-encoded path, and as a blob where it is no text.
    let contents = &read(&service, &format!("{edition}/src/evil.c%3A1%20%20md5-verified%0A%1b%5B31m"))["result"]
        ["contents"][0];
    assert!(contents.get("text").is_none());
    assert!(contents["blob"].as_str().unwrap().starts_with("Ly8gG1sy"), "{contents}");

    for (path, code) in [
        ("src/large.c", "E_OUT_OF_RANGE"),
        ("sysdeps/lock.h", "E_NOT_PUBLISHED"),
        ("twice.c", "E_AMBIGUOUS"),
        ("nothing.c", "E_NOT_FOUND"),
        ("%zz", "E_BAD_PATH"),
    ] {
        let refused = read(&service, &format!("{edition}/src/{path}"));
        assert_eq!(refused["error"]["code"], -32602, "{path}");
        assert_eq!(refused["error"]["data"]["code"], code, "{path}");
    }
}

#[test]
fn functions_are_read_page_by_page() {
    let service = Service::new(small::archive(2000), Default::default());
    let index = read(&service, "archive://index");
    let text = index["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.ends_with('\n'));
    let index: Value = serde_json::from_str(text).unwrap();
    let build =
        index["builds"].as_array().unwrap().iter().find(|build| build["build_id"] == small::SMALL).unwrap();
    let edition = format!("archive://{}/{}", small::SMALL, build["edition"].as_str().unwrap());
    for (key, page) in [("1000-16", 0), ("10000-24000", 0), ("10000-24000.7", 7), ("main", 0)] {
        let contents = &read(&service, &format!("{edition}/fn/{key}"))["result"]["contents"][0];
        let document: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(document["page"], page, "{key}");
        assert_eq!(contents["mimeType"], "application/json");
    }
    for key in ["10000-24000.300", "10000-24000.x", "1000-17", "nothing"] {
        let refused = read(&service, &format!("{edition}/fn/{key}"));
        assert_eq!(refused["error"]["code"], -32602, "{key}");
        assert!(refused["error"]["data"]["uri"].as_str().unwrap().ends_with(key));
    }
}

#[test]
fn what_is_no_resource_says_what_is() {
    let service = service();
    let edition = edition(&service);
    for uri in [
        "",
        "archive://",
        "archive://index/",
        "archive://a/b",
        "archive://a/b/meta",
        "file:///etc/passwd",
        "test://nothing",
        &format!("{edition}/nothing"),
        &format!("{edition}/fn"),
        &format!("{edition}/../index"),
        &format!("{edition}/meta/x"),
    ] {
        let refused = read(&service, uri);
        assert_eq!(refused["error"]["code"], -32602, "{uri}");
        assert_eq!(refused["error"]["data"]["uri"], uri);
        let told = say(&service, &older("resources/read", json!({"uri": uri}))).unwrap();
        assert_eq!(told["error"]["code"], -32002, "{uri}");
    }
    let long = read(&service, &format!("archive://{}", "a".repeat(9000)));
    assert_eq!(long["error"]["data"]["code"], "E_INPUT_TOO_LARGE");
}

#[test]
fn an_archive_with_nothing_in_it_has_a_catalogue() {
    let service = Service::new(super::CountingStore::new(super::MemoryStore::default()), Default::default());
    let index = read(&service, "archive://index");
    assert_eq!(
        index["result"]["contents"][0]["text"],
        "{\"builds\":[],\"schema\":\"archive.index/1\",\"total\":0}\n"
    );
    assert!(
        read(&service, "elfscope://read-me")["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("# ")
    );
}

//! HTTP as data: what is asked, and the status, headers and bytes that come back; and what each route costs.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod bounded;
mod conditions;
mod routes;
mod sources;
#[path = "../support/mod.rs"]
mod support;

use elfscope_core::{
    Budget, Config, Service,
    http::{Body, Response, answer},
};
use elfscope_schema::{
    Current, Pack, Packs, documents::schema, from_slice, index_name, limits, to_canonical,
};
use pollster::block_on;
use support::{MemoryStore, counting::CountingStore};

type Archive = Service<CountingStore<MemoryStore>>;

/// A service of an archive, whose editions get the files that HTTP also offers.
fn service(store: CountingStore<MemoryStore>) -> Archive {
    let mut files = store.into_inner();
    let pointers: Vec<Vec<u8>> = files
        .0
        .iter()
        .filter(|(path, _)| path.ends_with("/current.json"))
        .map(|(_, bytes)| bytes.clone())
        .collect();
    for pointer in pointers {
        let current: Current = from_slice(&pointer).unwrap();
        let folder = format!("{}/{}", current.build_id, current.editions[0].edition);
        let pack = |path: &String, bytes: &Vec<u8>| {
            let name = path.strip_prefix(&format!("{folder}/"))?;
            let offsets = files.0.get(&format!("{folder}/{}", index_name(name)))?;
            let members = offsets.len() as u64 / 8 - 1;
            let (sha256, size) = (elfscope_schema::Sha256Digest::of(bytes), bytes.len() as u64);
            name.ends_with(".gz").then(|| Pack { members, name: name.to_owned(), sha256, size })
        };
        let packs = files.0.iter().filter_map(|(path, bytes)| pack(path, bytes)).collect();
        let packs = to_canonical(&Packs { packs, schema: schema::PACKS.to_owned() });
        files.0.insert(format!("{folder}/packs.json"), packs);
        for name in ["meta.json", "manifest.json"] {
            files.0.insert(format!("{folder}/{name}"), format!("{{\"is\":\"{name}\"}}\n").into_bytes());
        }
    }
    Service::new(CountingStore::new(files), Config::default())
}

/// Asks with GET; headers are `name: value`.
#[track_caller]
fn get(service: &Archive, path: &str, headers: &[&str]) -> Response {
    ask(service, "GET", path, headers)
}

/// Asks, and holds the answer to what every answer is.
#[track_caller]
fn ask(service: &Archive, method: &str, path: &str, headers: &[&str]) -> Response {
    service.store().take_reads();
    let mut request = http::Request::builder().method(method).uri(path);
    if !headers.iter().any(|header| header.starts_with("host:")) {
        request = request.header("host", "localhost:8787");
    }
    for header in headers {
        let (name, value) = header.split_once(':').unwrap();
        request = request.header(name, value.trim());
    }
    let response = block_on(answer(service, request.body(Vec::new()).unwrap())).unwrap();
    let reads = service.store().take_reads();
    if let Some(budget) = response.extensions().get::<Budget>() {
        assert!(budget.json <= limits::REQUEST_JSON, "{path}: {budget:?}");
        assert!(reads <= budget.reads && budget.reads <= limits::REQUEST_READS, "{path}: {reads} {budget:?}");
    } else {
        assert_eq!(reads, 0, "{path}");
    }
    let status = response.status().as_u16();
    if status >= 400 || status == 300 {
        assert_eq!(header(&response, "cache-control"), "no-store", "{path}");
        if method != "HEAD" {
            let told: serde_json::Value = from_slice(bytes(&response)).unwrap();
            assert!(told["code"].as_str().unwrap().starts_with("E_"), "{path}: {told}");
            assert!(!told["message"].as_str().unwrap().is_empty(), "{path}: {told}");
        }
    }
    if method != "HEAD"
        && status != 304
        && let Some(length) = response.headers().get("content-length")
    {
        let size = match response.body() {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Stored { range, .. } => range.end - range.start,
        };
        assert_eq!(length.to_str().unwrap(), size.to_string(), "{path}");
    }
    response
}

fn bytes(response: &Response) -> &[u8] {
    match response.body() {
        Body::Bytes(bytes) => bytes,
        Body::Stored { .. } => panic!("it is to be streamed: {response:?}"),
    }
}

#[track_caller]
fn text(response: &Response) -> String {
    String::from_utf8(bytes(response).to_vec()).unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

/// The code of a refusal and what it allows.
#[track_caller]
fn refused(response: &Response) -> (u16, String, Vec<String>) {
    let told: serde_json::Value = from_slice(bytes(response)).unwrap();
    let allowed = told["allowed"].as_array().cloned().unwrap_or_default();
    let allowed = allowed.iter().map(|item| item.as_str().unwrap().to_owned()).collect();
    (response.status().as_u16(), told["code"].as_str().unwrap().to_owned(), allowed)
}

/// The pinned folder of a build, `/archive/<build-id>/<edition>`.
fn pinned(service: &Archive, build: &str) -> String {
    let edition = block_on(service.request().edition(build)).unwrap();
    format!("/archive/{}", edition.folder())
}

//! One sample of every document, kept for ever: what was once written stays readable, and is written the same way.
//!
//! `samples/<document>.json` and `samples/<document>.<variant>.json` were made by a program that knows nothing of this
//! crate (a JSON library that sorts keys), so they hold the order of struct fields to the order of keys.
//! `cargo xtask tidy` checks that between them they have every member and every variant.

#![allow(clippy::unwrap_used, reason = "a test that can't read its samples should say where")]

use std::{fs, path::Path};

use elfscope_schema::{
    Current, EditionId, Manifest, Sha256Digest, content_digest, documents::DOCUMENTS, from_slice,
    is_canonical, to_canonical,
};

/// Name of the document, path and bytes of every sample.
fn samples() -> Vec<(String, String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut samples: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            let document = file.split('.').next().unwrap().to_owned();
            (document, file, fs::read(&path).unwrap())
        })
        .collect();
    samples.sort();
    samples
}

fn sample(file: &str) -> Vec<u8> {
    samples().into_iter().find(|(_, name, _)| name == file).unwrap_or_else(|| panic!("no sample {file}")).2
}

#[test]
fn every_document_has_a_sample() {
    for document in DOCUMENTS {
        sample(&format!("{}.json", document.name));
    }
}

#[test]
fn samples_are_read_and_written_to_the_same_bytes() {
    for (name, file, bytes) in samples() {
        let document = DOCUMENTS.iter().find(|document| document.name == name);
        let document = document.unwrap_or_else(|| panic!("{file} is a sample of no document"));
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(is_canonical(&bytes), "{file} is not canonical");
        assert!(text.contains(&format!("\"schema\":\"{}\"", document.schema)), "{file} names another schema");
        let again = (document.rewrite)(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(String::from_utf8(again).unwrap(), text, "{file} is written differently than it was read");
    }
}

#[test]
fn digests_are_what_the_program_that_made_the_samples_computed() {
    let bytes = sample("manifest.json");
    let manifest: Manifest = from_slice(&bytes).unwrap();
    assert_eq!(manifest.given.digest(), manifest.inputs);
    assert_eq!(content_digest(&manifest.files), manifest.content);

    let mut current: Current = from_slice(&sample("current.json")).unwrap();
    assert!(Current::is_sealed(&sample("current.json")));
    assert_eq!(current.edition().unwrap().edition, EditionId::of_manifest(&bytes));
    assert_eq!(current.edition().unwrap().inputs, manifest.inputs);

    current.tombstones[0].reason.push('!');
    assert!(!Current::is_sealed(&to_canonical(&current)));
    current.seal();
    assert!(Current::is_sealed(&to_canonical(&current)));
    let bare = Current { check: None, ..current.clone() };
    assert_eq!(current.check, Some(Sha256Digest::of(&to_canonical(&bare))));
}

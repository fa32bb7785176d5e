//! Verifying one edition: its manifest, its files, its packs down to every document.

use std::{fs, path::Path};

use elfscope_schema::{
    BuildId, CurrentEdition, EditionId, Manifest, ManifestFile, Pack, Packs, Sha256Digest, content_digest,
    documents::schema, from_slice, index_name, is_canonical,
};
use rayon::prelude::*;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    Archive, ArchiveError, files, members,
    members::PackReader,
    store,
    verify::Findings,
    verify_sources::{Pages, Sources, Told, check_function},
};

/// Where the files of the edition are, and where what is found goes.
struct Check<'a> {
    folder: &'a Path,
    path: &'a str,
    findings: &'a Findings<'a>,
    /// Counts the bytes, and is told of damaged sources, which are no edition's own.
    meter: &'a Findings<'a>,
}

/// Verifies one edition.
pub(super) fn check(
    archive: &Archive,
    build: &BuildId,
    told: &CurrentEdition,
    sources: &Sources<'_>,
    findings: &Findings<'_>,
    meter: &Findings<'_>,
) -> Result<(), ArchiveError> {
    let folder = archive.edition_path(build, &told.edition);
    let path = format!("{build}/{}", told.edition);
    let check = Check { folder: &folder, path: &path, findings, meter };
    let Some(manifest) = check.manifest(build, told)? else { return Ok(()) };
    let packs = check.packs(&manifest)?;
    check.names(&manifest)?;
    let stored = |file: &ManifestFile| packs.iter().find(|pack| pack.name == file.name);
    // First, since functions are compared with what it tells.
    let told = match manifest.files.iter().find(|file| file.name == SOURCES) {
        Some(file) => {
            let mut pages = Pages::new(sources);
            let is_good = check.pack(file, stored(file), Kind::Sources(&mut pages))?;
            if is_good { pages.finish() } else { Told::Damaged }
        }
        None => Told::None,
    };
    manifest.files.par_iter().filter(|file| file.name != SOURCES).try_for_each(|file| {
        if findings.is_full() {
            return Ok(());
        }
        match &*file.name {
            FUNCTIONS => check.pack(file, stored(file), Kind::Functions(&told)).map(drop),
            name if is_pack(name) => check.pack(file, stored(file), Kind::Other).map(drop),
            _ => check.document(file),
        }
    })
}

/// What a pack holds that is compared with something else.
enum Kind<'a, 's> {
    /// Source files.
    Sources(&'a mut Pages<'s>),
    /// Functions, which cite the files of the edition.
    Functions(&'a Told),
    /// Nothing.
    Other,
}

/// The pack of source files.
const SOURCES: &str = "sources.jsonl.gz";
/// The pack of functions.
const FUNCTIONS: &str = "fn.jsonl.gz";

impl Check<'_> {
    fn add(&self, name: &str, what: impl Into<String>) {
        self.findings.add(format!("{}/{name}", self.path), what);
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        let bytes = files::read(&self.folder.join(name))?;
        match &bytes {
            Some(bytes) => self.meter.looked_at(bytes.len() as u64),
            None => self.add(name, "it is missing"),
        }
        Ok(bytes)
    }

    fn manifest(&self, build: &BuildId, told: &CurrentEdition) -> Result<Option<Manifest>, ArchiveError> {
        const NAME: &str = "manifest.json";
        let Some(bytes) = self.read(NAME)? else { return Ok(None) };
        let named = EditionId::of_manifest(&bytes);
        if named != told.edition {
            self.add(NAME, format!("it is the manifest of an edition {named}"));
        }
        let manifest: Manifest = match from_slice(&bytes) {
            Ok(manifest) => manifest,
            Err(error) => {
                self.add(NAME, format!("it does not read as a manifest: {error}"));
                return Ok(None);
            }
        };
        let wrong = [
            (manifest.schema != schema::MANIFEST, "its schema is another"),
            (!is_canonical(&bytes), "it is not in canonical form"),
            (manifest.build_id != *build, "it is of another build"),
            (manifest.inputs != manifest.given.digest(), "`inputs` is not the digest of what was given"),
            (manifest.content != content_digest(&manifest.files), "`content` is not the digest of its files"),
            (manifest.inputs != told.inputs, "`inputs` is not what the pointer says"),
            (manifest.content != told.content, "`content` is not what the pointer says"),
            (manifest.given.derivation != told.derivation, "the derivation is not what the pointer says"),
            (!manifest.given.files.contains(&told.file), "the pointer's file is not among those given"),
            (!manifest.files.is_sorted_by(|a, b| a.name < b.name), "its files are not sorted by name"),
        ];
        for (_, what) in wrong.into_iter().filter(|(is_wrong, _)| *is_wrong) {
            self.add(NAME, what);
        }
        Ok(Some(manifest))
    }

    fn packs(&self, manifest: &Manifest) -> Result<Vec<Pack>, ArchiveError> {
        const NAME: &str = "packs.json";
        let Some(bytes) = self.read(NAME)? else { return Ok(Vec::new()) };
        let packs: Packs = match from_slice(&bytes) {
            Ok(packs) => packs,
            Err(error) => {
                self.add(NAME, format!("it does not read as a list of packs: {error}"));
                return Ok(Vec::new());
            }
        };
        if packs.schema != schema::PACKS || !is_canonical(&bytes) {
            self.add(NAME, "its schema is another, or it is not in canonical form");
        }
        let expected = manifest.files.iter().map(|file| &file.name).filter(|name| is_pack(name));
        if !packs.packs.iter().map(|pack| &pack.name).eq(expected) {
            self.add(NAME, "it does not list the packs of the manifest");
        }
        Ok(packs.packs)
    }

    /// Looks for files that are too much; those that are missing show when they are read.
    fn names(&self, manifest: &Manifest) -> Result<(), ArchiveError> {
        for entry in files::list(self.folder)? {
            let is_listed = ["manifest.json", "packs.json"].contains(&&*entry.name)
                || manifest.files.iter().any(|file| {
                    file.name == entry.name || (is_pack(&file.name) && index_name(&file.name) == entry.name)
                });
            if !is_listed || !entry.is_file {
                self.add(&entry.name, "it does not belong to the edition");
            }
        }
        Ok(())
    }

    /// A file that is one document.
    fn document(&self, file: &ManifestFile) -> Result<(), ArchiveError> {
        let name = &*file.name;
        let size = fs::metadata(self.folder.join(name)).map(|found| found.len());
        if size.is_ok_and(|size| size != file.size) {
            self.add(name, format!("it does not have the {} bytes that the manifest says", file.size));
            return Ok(());
        }
        let Some(bytes) = self.read(name)? else { return Ok(()) };
        if Sha256Digest::of(&bytes) != file.sha256 {
            self.add(name, "its SHA-256 is not what the manifest says");
        }
        if let Err(what) = check_document(name, &bytes) {
            self.add(name, what);
        }
        Ok(())
    }

    /// A pack: as it is stored, and every document in it. Whether nothing is wrong with it.
    fn pack(
        &self,
        file: &ManifestFile,
        stored: Option<&Pack>,
        mut kind: Kind<'_, '_>,
    ) -> Result<bool, ArchiveError> {
        let name = &*file.name;
        let mut reader = match PackReader::open(self.folder, name) {
            Ok(reader) => reader,
            Err(ArchiveError::Damaged { what, .. }) => {
                self.add(&index_name(name), what);
                self.without_index(name, stored)?;
                return Ok(false);
            }
            Err(ArchiveError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                self.add(name, "it is missing");
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let (mut stored_hash, mut stored_size) = (Sha256::new(), 0);
        let (mut hash, mut size, mut whole) = (Sha256::new(), 0, true);
        let (mut broken, mut is_good) = (None, true);
        let missing = |digest| {
            let what = format!("it is missing, and {} cites it", self.path);
            self.findings.add(format!("{}/{digest}", store::SOURCES), what);
        };
        loop {
            let batch = match reader.batch() {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(ArchiveError::Read { source, .. })
                    if source.kind() == std::io::ErrorKind::UnexpectedEof =>
                {
                    self.add(name, "it was cut while it was read");
                    return Ok(false);
                }
                Err(error) => return Err(error),
            };
            stored_hash.update(&batch.bytes);
            stored_size += batch.bytes.len() as u64;
            self.meter.looked_at(batch.bytes.len() as u64);
            let texts: Vec<Result<Vec<u8>, Fault>> = batch
                .members()
                .into_par_iter()
                .map(|member| {
                    let text = members::inflate(member).map_err(Fault::Member)?;
                    let mut checked = check_document(name, &text);
                    if let Kind::Functions(told) = &kind {
                        checked = checked.and_then(|()| check_function(&text, told));
                    }
                    checked.map(|()| text).map_err(Fault::Document)
                })
                .collect();
            for (number, text) in texts.into_iter().enumerate() {
                let member = |what| format!("member {}: {what}", batch.first + number);
                match text {
                    Ok(text) => {
                        hash.update(&text);
                        size += text.len() as u64;
                        if let Kind::Sources(pages) = &mut kind
                            && let Err(what) = pages.check(&text, &missing, self.meter)?
                        {
                            is_good = false;
                            self.add(name, member(what));
                        }
                    }
                    Err(Fault::Member(what)) => {
                        broken.get_or_insert_with(|| member(what));
                    }
                    Err(Fault::Document(what)) => {
                        whole = false;
                        self.add(name, member(what));
                    }
                }
            }
            if self.findings.is_full() {
                return Ok(false);
            }
        }
        let is_stored_well = self.compare(name, stored, stored_size, stored_hash);
        if let Some(what) = broken {
            whole = false;
            // A pack that is as it was written is cut at the wrong places.
            let blamed = if is_stored_well { index_name(name) } else { name.to_owned() };
            self.add(&blamed, format!("its members don't inflate by their offsets, first {what}"));
        }
        if stored.is_some_and(|stored| stored.members != reader.members() as u64) {
            is_good = false;
            self.add(name, "it does not have as many members as `packs.json` says");
        }
        if whole && (size != file.size || Sha256Digest::from_bytes(hash.finalize().into()) != file.sha256) {
            whole = false;
            self.add(name, "it inflates to other bytes than the manifest says");
        }
        Ok(whole && is_good)
    }

    /// A pack whose table of offsets is no use: whether its stored bytes are as they were.
    fn without_index(&self, name: &str, stored: Option<&Pack>) -> Result<(), ArchiveError> {
        let path = self.folder.join(name);
        let mut hash = HashWriter(Sha256::new(), 0);
        let copied = fs::File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut hash));
        copied.map_err(ArchiveError::read(&path))?;
        self.meter.looked_at(hash.1);
        self.compare(name, stored, hash.1, hash.0);
        Ok(())
    }

    /// Whether a pack is stored as `packs.json` says.
    fn compare(&self, name: &str, stored: Option<&Pack>, size: u64, hash: Sha256) -> bool {
        // Where `packs.json` lists no such pack, that is found there.
        let Some(stored) = stored else { return false };
        let is_same =
            size == stored.size && Sha256Digest::from_bytes(hash.finalize().into()) == stored.sha256;
        if size != stored.size {
            self.add(name, format!("it has {size} bytes, and `packs.json` says {}", stored.size));
        } else if !is_same {
            self.add(name, "its stored SHA-256 is not what `packs.json` says");
        }
        is_same
    }
}

/// What is wrong with a member.
enum Fault {
    /// It is no member of ours.
    Member(String),
    /// It inflates, to no document of ours.
    Document(String),
}

/// Counts and hashes what is written to it.
struct HashWriter(Sha256, u64);

impl std::io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        self.1 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether the bytes are one canonical document of the kind that the file holds. Documents of newer minor forms may have
/// members that we don't know, so they are not read as our types.
fn check_document(file: &str, bytes: &[u8]) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Named {
        schema: String,
    }
    if !is_canonical(bytes) {
        return Err("the document is not in canonical form".to_owned());
    }
    let named: Named = from_slice(bytes).map_err(|_no_schema| "the document does not name its schema")?;
    let stem = file.split('.').next().unwrap_or(file);
    let version = named.schema.strip_prefix("archive.").and_then(|rest| rest.strip_prefix(stem));
    if version.is_some_and(|version| version.starts_with('/')) {
        Ok(())
    } else {
        Err(format!("the document is of the schema `{}`", named.schema.escape_debug()))
    }
}

fn is_pack(name: &str) -> bool {
    name.ends_with(".jsonl.gz")
}

//! The classic tree: one file a document, for a plain file host.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use elfscope_schema::{BuildId, EditionId, FunctionKey, SourcesPage, from_slice};
use rayon::prelude::*;
use serde::Deserialize;

use super::{
    Archive, ArchiveError, export_sources, files, index,
    members::{self, PackReader},
    publish::read_manifest,
    stage,
};

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many builds.
    pub builds: u64,
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How many of the files are published sources.
    pub sources: u64,
    /// How many published sources were left out: their paths are none that a file can have here.
    pub left_out: u64,
}

impl Archive {
    /// Writes the current editions as loose files into a folder that is new or empty: the catalogue as it stands, and of each
    /// build `<build-id>/{meta,lookup}.json`, `fn/<key>.json` and, for further pages, `fn/<key>.<page>.json`, and
    /// `{callers,data,lookup,more,sources}/<ordinal>.json`. Every document has the bytes that its member inflates to. Published
    /// sources stand under their paths, `src/abs/<path>` without the `/` at its start, and `src/rel/<path>`. Those whose path holds
    /// `..`, control characters or other names that can't be made, is not known whole, or is a folder of another source's path,
    /// are left out and counted.
    ///
    /// `progress` is told the builds that are done and how many there are.
    ///
    /// # Errors
    /// A folder that isn't empty, or is in the archive, an edition that is damaged, or what the file system says.
    pub fn export_loose(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Exported, ArchiveError> {
        fs::create_dir_all(to).map_err(ArchiveError::write(to))?;
        let canonical = |path: &Path| fs::canonicalize(path).map_err(ArchiveError::read(path));
        if canonical(to)?.starts_with(canonical(self.root())?) {
            return Err(ArchiveError::usage(format!("`{}` is inside the archive", to.display())));
        }
        if !files::list(to)?.is_empty() {
            return Err(ArchiveError::usage(format!("`{}` is not empty", to.display())));
        }
        let export = Export {
            to,
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            sources: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
        };
        let mut current = Vec::new();
        {
            // So that the catalogue and the editions fit together.
            let _held = self.lock_if_any();
            for build in self.builds()? {
                let edition = self.current(&build)?.and_then(|current| current.edition().cloned());
                current.extend(edition.map(|told| (build, told.edition)));
            }
            for path in index::stored(self)? {
                let from = self.root().join(&path);
                export.write(&path, &fs::read(&from).map_err(ArchiveError::read(from))?)?;
            }
        }
        let builds = current.len() as u64;
        for (done, (build, edition)) in current.into_iter().enumerate() {
            export.edition(self, &build, &edition)?;
            progress(done as u64 + 1, builds);
        }
        Ok(Exported {
            builds,
            files: export.files.into_inner(),
            bytes: export.bytes.into_inner(),
            sources: export.sources.into_inner(),
            left_out: export.left_out.into_inner(),
        })
    }
}

/// The pack that names published sources.
const SOURCES: &str = "sources.jsonl.gz";

struct Export<'a> {
    to: &'a Path,
    files: AtomicU64,
    bytes: AtomicU64,
    sources: AtomicU64,
    left_out: AtomicU64,
}

impl Export<'_> {
    fn edition(&self, archive: &Archive, build: &BuildId, edition: &EditionId) -> Result<(), ArchiveError> {
        let folder = archive.edition_path(build, edition);
        let path = folder.join("manifest.json");
        let bytes = fs::read(&path).map_err(ArchiveError::read(&path))?;
        if EditionId::of_manifest(&bytes) != *edition {
            return Err(ArchiveError::damaged(path, "it is the manifest of another edition"));
        }
        for file in read_manifest(&path, &bytes)?.files {
            if !stage::is_plain(&file.name) {
                let what = format!("`{}` is no name for a file of an edition", file.name.escape_debug());
                return Err(ArchiveError::damaged(path, what));
            }
            match file.name.strip_suffix(".jsonl.gz") {
                Some(stem) => {
                    self.pack(&folder, &file.name, &format!("{build}/{stem}"))?;
                    if file.name == SOURCES {
                        self.sources(archive, &folder, build)?;
                    }
                }
                None => {
                    let from = folder.join(&file.name);
                    let bytes = fs::read(&from).map_err(ArchiveError::read(&from))?;
                    self.write(&format!("{build}/{}", file.name), &bytes)?;
                }
            }
        }
        Ok(())
    }

    fn pack(&self, folder: &Path, name: &str, to: &str) -> Result<(), ArchiveError> {
        let mut reader = PackReader::open(folder, name)?;
        if reader.members() > 0 {
            let path = self.path(to);
            fs::create_dir_all(&path).map_err(ArchiveError::write(path))?;
        }
        while let Some(batch) = reader.batch()? {
            batch.members().into_par_iter().enumerate().try_for_each(|(number, member)| {
                let ordinal = batch.first + number;
                let bad = |what: String| {
                    ArchiveError::damaged(folder.join(name), format!("member {ordinal}: {what}"))
                };
                let text = members::inflate(member).map_err(bad)?;
                let file = match name {
                    "fn.jsonl.gz" => function_name(&text).map_err(bad)?,
                    _ => ordinal.to_string(),
                };
                self.write(&format!("{to}/{file}.json"), &text)
            })?;
        }
        Ok(())
    }

    /// Lays the published sources down: one after the other, so that where two can't both be had it is always the first.
    fn sources(&self, archive: &Archive, folder: &Path, build: &BuildId) -> Result<(), ArchiveError> {
        let to = self.path(build.as_str());
        let mut reader = PackReader::open(folder, SOURCES)?;
        while let Some(batch) = reader.batch()? {
            for (number, member) in batch.members().into_iter().enumerate() {
                let bad = |what: String| {
                    let what = format!("member {}: {what}", batch.first + number);
                    ArchiveError::damaged(folder.join(SOURCES), what)
                };
                let text = members::inflate(member).map_err(bad)?;
                let page: SourcesPage = from_slice(&text).map_err(|error| bad(error.to_string()))?;
                for file in &page.sources {
                    let Some(digest) = file.sha256 else { continue };
                    match export_sources::lay(archive, &to, file, digest)? {
                        Some(bytes) => {
                            self.sources.fetch_add(1, Ordering::Relaxed);
                            self.files.fetch_add(1, Ordering::Relaxed);
                            self.bytes.fetch_add(bytes, Ordering::Relaxed);
                        }
                        None => {
                            self.left_out.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        let path = self.path(path);
        let written = match fs::write(&path, bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fs::create_dir_all(path.parent().unwrap_or(self.to)).and_then(|()| fs::write(&path, bytes))
            }
            other => other,
        };
        written.map_err(ArchiveError::write(path))?;
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.to.join(path)
    }
}

/// What a page of a body is called: by its key, further pages also by their number.
fn function_name(text: &[u8]) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Page {
        key: FunctionKey,
        page: u32,
    }
    let page: Page =
        from_slice(text).map_err(|error| format!("it does not read as a page of a body: {error}"))?;
    Ok(match page.page {
        0 => page.key.to_string(),
        number => format!("{}.{number}", page.key),
    })
}

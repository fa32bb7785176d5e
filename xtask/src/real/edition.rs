//! Reading an edition from its files, without any of the code that wrote it.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use elfscope_schema::{
    BuildId, CallersPage, DataPage, EditionId, FunctionPage, Lookup, LookupPage, Manifest, Meta, Record,
    SourceFile, SourcesPage, from_slice,
};
use flate2::bufread::MultiGzDecoder;

/// One edition.
pub(super) struct Edition {
    folder: PathBuf,
    pub(super) meta: Meta,
}

impl Edition {
    /// The only edition of an archive.
    pub(super) fn only(archive: &Path) -> Result<Self> {
        one(Self::all(archive)?, archive, "editions")
    }

    /// The only edition of an archive that is of a file with this name.
    pub(super) fn named(archive: &Path, name: &str) -> Result<Self> {
        let mut editions = Self::all(archive)?;
        editions.retain(|edition| edition.meta.file.name.text() == name);
        one(editions, archive, &format!("editions of {name}"))
    }

    /// All editions of an archive.
    pub(super) fn all(archive: &Path) -> Result<Vec<Self>> {
        let mut editions = Vec::new();
        for build in folders(archive, |name| name.parse::<BuildId>().is_ok())? {
            for folder in folders(&build, |name| name.parse::<EditionId>().is_ok())? {
                let meta = from_slice(&fs::read(folder.join("meta.json"))?).context("meta.json")?;
                editions.push(Self { folder, meta });
            }
        }
        Ok(editions)
    }

    /// `manifest.json`.
    pub(super) fn manifest(&self) -> Result<Manifest> {
        from_slice(&fs::read(self.folder.join("manifest.json"))?).context("manifest.json")
    }

    /// Pages of all bodies, in order.
    pub(super) fn functions(&self) -> Result<Pages<FunctionPage>> {
        self.pages("fn.jsonl.gz", "")
    }

    /// Pages of all callers.
    pub(super) fn callers(&self) -> Result<Pages<CallersPage>> {
        self.pages("callers.jsonl.gz", "")
    }

    /// Pages of all data.
    pub(super) fn data(&self) -> Result<Pages<DataPage>> {
        self.pages("data.jsonl.gz", "")
    }

    /// The source files that the debug data cites.
    pub(super) fn sources(&self) -> Result<Vec<SourceFile>> {
        let mut sources = Vec::new();
        for page in self.pages::<SourcesPage>("sources.jsonl.gz", "")? {
            sources.extend(page?.sources);
        }
        Ok(sources)
    }

    /// All records of one index.
    pub(super) fn index(&self, name: &str) -> Result<Vec<Record>> {
        let root: Lookup = from_slice(&fs::read(self.folder.join("lookup.json"))?).context("lookup.json")?;
        let Some(index) = root.indices.get(name) else { return Ok(Vec::new()) };
        if let Some(leaf) = &index.leaf {
            return Ok(leaf.clone());
        }
        let mut records = Vec::new();
        for page in self.pages::<LookupPage>("lookup.jsonl.gz", &format!("{{\"index\":\"{name}\","))? {
            records.extend(page?.leaf.unwrap_or_default());
        }
        Ok(records)
    }

    /// Documents of a pack whose text starts with `start`.
    fn pages<T>(&self, pack: &str, start: &str) -> Result<Pages<T>> {
        let path = self.folder.join(pack);
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        let lines = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(BufReader::new(file)));
        Ok(Pages { lines, start: start.to_owned(), line: Vec::new(), document: PhantomData })
    }
}

/// Documents of a pack, read one by one.
pub(super) struct Pages<T> {
    lines: BufReader<MultiGzDecoder<BufReader<File>>>,
    start: String,
    line: Vec<u8>,
    document: PhantomData<T>,
}

impl<T: serde::de::DeserializeOwned> Iterator for Pages<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        loop {
            self.line.clear();
            match self.lines.read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(_) if !self.line.starts_with(self.start.as_bytes()) => {}
                Ok(_) => return Some(from_slice(&self.line).context("a document of a pack")),
                Err(error) => return Some(Err(error).context("a pack can't be read")),
            }
        }
    }
}

fn one(mut editions: Vec<Edition>, archive: &Path, what: &str) -> Result<Edition> {
    if editions.len() != 1 {
        bail!("{} has {} {what} where one was expected", archive.display(), editions.len());
    }
    Ok(editions.remove(0))
}

fn folders(parent: &Path, is_named: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(parent).with_context(|| parent.display().to_string())? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&is_named) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

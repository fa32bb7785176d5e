//! Reading an edition from its files, without any of the code that wrote it.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use elfscope_schema::{
    BuildId, CallersPage, DataPage, EditionId, FunctionPage, Lookup, LookupPage, Meta, Record, from_slice,
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
        let build = only_folder(archive, |name| name.parse::<BuildId>().is_ok())?;
        let folder = only_folder(&build, |name| name.parse::<EditionId>().is_ok())?;
        let meta = from_slice(&fs::read(folder.join("meta.json"))?).context("meta.json")?;
        Ok(Self { folder, meta })
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

fn only_folder(parent: &Path, is_named: impl Fn(&str) -> bool) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&is_named) {
            found.push(entry.path());
        }
    }
    match &found[..] {
        [only] => Ok(only.clone()),
        _ => bail!("{} has {} folders where one was expected", parent.display(), found.len()),
    }
}

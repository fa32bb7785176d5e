//! The catalogue: which builds there are, by id, name, soname and package.
//!
//! While it is small it stands in `index.json`; else in pages sharded by the SHA-256 of what is asked for, see
//! [`elfscope_schema::IndexPage`].

use std::sync::Arc;

use elfscope_schema::{Index, IndexEntry, IndexPage, Sha256Digest, limits};
use serde::Serialize;

use crate::{Error, Request, Result, Store};

/// A page of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Catalogue {
    /// The builds.
    pub builds: Vec<IndexEntry>,
    /// How many there are in all.
    pub total: u64,
    /// Asked with this, the list goes on.
    pub next_cursor: Option<String>,
}

/// What a catalogue's shards are by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Id,
    Name,
    Soname,
    /// By the package's name.
    Package,
}

impl By {
    fn folder(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Soname => "soname",
            Self::Package => "package",
        }
    }

    fn fits(self, entry: &IndexEntry, key: &str) -> bool {
        match self {
            Self::Id => entry.build_id.as_str() == key,
            Self::Name => entry.name.text() == key,
            Self::Soname => entry.soname.as_ref().is_some_and(|soname| soname.text() == key),
            Self::Package => {
                let package = entry.package.as_deref().and_then(|package| package.split(' ').next());
                package.is_some_and(|package| package == key)
            }
        }
    }
}

impl<S: Store> Request<S> {
    /// The builds of the archive: by name where they all stand in one page, else page by page in no useful order.
    ///
    /// # Errors
    /// An archive that can't be read, or a cursor that is none.
    pub async fn catalogue(&mut self, cursor: Option<&str>) -> Result<Catalogue> {
        let Some(index) = self.index().await? else {
            return Ok(Catalogue { builds: Vec::new(), total: 0, next_cursor: None });
        };
        if let Some(builds) = &index.builds {
            return Ok(Catalogue { builds: builds.clone(), total: index.total, next_cursor: None });
        }
        let refuse =
            || Error::BadCursor { given: cursor.unwrap_or_default().to_owned(), why: "it is not whole" };
        let start = cursor.unwrap_or("");
        if start.len() > 64 || !start.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(refuse());
        }
        let mut builds = Vec::new();
        let mut next = Some(start.to_owned());
        while let Some(prefix) = next.clone() {
            if !self.budget().has(2, 2 * limits::INDEX_PAGE) {
                break;
            }
            let page = self.shard(By::Id, &prefix).await?.ok_or_else(refuse)?;
            next = match (page.builds.as_ref(), page.split.as_ref().and_then(|split| split.chars().next())) {
                (Some(found), _) => {
                    builds.extend(found.iter().cloned());
                    self.shard_after(&prefix).await?
                }
                (None, Some(digit)) => Some(format!("{prefix}{digit}")),
                (None, None) => return Err(damaged(By::Id, &prefix)),
            };
        }
        Ok(Catalogue { builds, total: index.total, next_cursor: next })
    }

    /// The builds whose key is exactly this, at most as many as the budget allows, and whether there are more.
    pub(crate) async fn catalogued(&mut self, by: By, key: &str) -> Result<(Vec<IndexEntry>, bool)> {
        let Some(index) = self.index().await? else { return Ok((Vec::new(), false)) };
        if let Some(builds) = &index.builds {
            return Ok((builds.iter().filter(|entry| by.fits(entry, key)).cloned().collect(), false));
        }
        let digits = Sha256Digest::of(key.as_bytes()).to_string();
        for length in 0..=digits.len() {
            let Some(page) = self.shard(by, &digits[..length]).await? else { break };
            if let Some(builds) = &page.builds {
                let found = builds.iter().filter(|entry| by.fits(entry, key)).cloned().collect();
                return Ok((found, page.pages.is_some_and(|pages| pages > 0)));
            }
            let split = page.split.as_deref().unwrap_or_default();
            if !split.contains(digits[length..].chars().next().unwrap_or('-')) {
                break;
            }
        }
        Ok((Vec::new(), false))
    }

    /// The builds whose id starts so, and whether the catalogue was too large to look at all of it.
    pub(crate) async fn catalogued_by_prefix(&mut self, prefix: &str) -> Result<(Vec<IndexEntry>, bool)> {
        let all = self.catalogue(None).await?;
        let fits = |entry: &IndexEntry| entry.build_id.as_str().starts_with(prefix);
        Ok((all.builds.into_iter().filter(fits).collect(), all.next_cursor.is_some()))
    }

    /// `index.json`; `None` in an archive that nothing was added to.
    pub(crate) async fn index(&mut self) -> Result<Option<Arc<Index>>> {
        self.document::<Index>("index.json").await
    }

    async fn shard(&mut self, by: By, prefix: &str) -> Result<Option<Arc<IndexPage>>> {
        self.document::<IndexPage>(&shard_path(by, prefix)).await
    }

    /// The shard that follows this one, its parents' splits being known.
    async fn shard_after(&mut self, prefix: &str) -> Result<Option<String>> {
        let mut prefix = prefix.to_owned();
        while let Some(digit) = prefix.pop() {
            let parent = self.shard(By::Id, &prefix).await?.ok_or_else(|| damaged(By::Id, &prefix))?;
            let split = parent.split.as_deref().unwrap_or_default();
            if let Some(next) = split.chars().find(|other| *other > digit) {
                return Ok(Some(format!("{prefix}{next}")));
            }
        }
        Ok(None)
    }
}

fn shard_path(by: By, prefix: &str) -> String {
    format!("index/{}/{}.json", by.folder(), if prefix.is_empty() { "root" } else { prefix })
}

fn damaged(by: By, prefix: &str) -> Error {
    Error::Damaged { path: shard_path(by, prefix), expected: "builds, or digits that go on", source: None }
}

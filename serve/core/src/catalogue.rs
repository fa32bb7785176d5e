//! The catalogue: which builds there are, by id, name, soname and package.
//!
//! While it is small it stands in `index.json`; else in pages sharded by digits of what is asked for, see
//! [`elfscope_schema::IndexPage`]: of ids their own first ones, of all else those of its SHA-256. So a large catalogue finds
//! ids by their start, and names, sonames and packages only whole.

use std::sync::Arc;

use elfscope_schema::{Index, IndexEntry, IndexPage, limits};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The build id.
    Id,
    /// The file's name.
    Name,
    /// `DT_SONAME`.
    Soname,
    /// The name of the package that the file came in.
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

    /// What the catalogue looks a build up by.
    pub(crate) fn key(self, entry: &IndexEntry) -> Option<&str> {
        match self {
            Self::Id => Some(entry.build_id.as_str()),
            Self::Name => Some(entry.name.text()),
            Self::Soname => entry.soname.as_ref().map(elfscope_schema::Name::text),
            Self::Package => {
                entry.package.as_deref().map(|package| package.split(' ').next().unwrap_or(package))
            }
        }
    }

    fn fits(self, entry: &IndexEntry, key: &str) -> bool {
        self.key(entry) == Some(key)
    }

    fn digits(self, key: &str) -> String {
        match self {
            Self::Id => IndexPage::id_digits(key),
            _ => IndexPage::digits(key),
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
        let (builds, next_cursor) = self.walk_ids("", cursor, usize::MAX).await?;
        Ok(Catalogue { builds, total: index.total, next_cursor })
    }

    /// The builds on the pages of a sharded catalogue whose digits start with `within`, from a page on: and the page to go on
    /// from where there are more.
    pub(crate) async fn walk_ids(
        &mut self,
        within: &str,
        cursor: Option<&str>,
        most: usize,
    ) -> Result<(Vec<IndexEntry>, Option<String>)> {
        let refuse =
            || Error::BadCursor { given: cursor.unwrap_or_default().to_owned(), why: "it is not whole" };
        let start = cursor.unwrap_or(within);
        let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b's');
        if start.len() > 128 || !start.starts_with(within) || !start.bytes().all(digits) {
            return Err(refuse());
        }
        let mut builds = Vec::new();
        let mut next = Some(start.to_owned());
        while let Some(prefix) = next.clone() {
            // A page, and the pages above it that say what follows it: few, however alike ids are.
            let above = prefix.len() - within.len();
            if builds.len() >= most
                || (!builds.is_empty() && !self.budget().has(2 + above, 2 * limits::INDEX_PAGE))
            {
                break;
            }
            let page = self.shard(By::Id, &prefix).await?.ok_or_else(refuse)?;
            next = match (page.builds.as_ref(), page.split.as_ref().and_then(|split| split.chars().next())) {
                (Some(found), _) => {
                    builds.extend(found.iter().cloned());
                    self.shard_after(within, &prefix).await?
                }
                (None, Some(digit)) => Some(format!("{prefix}{digit}")),
                (None, None) => return Err(damaged(By::Id, &prefix)),
            };
        }
        Ok((builds, next))
    }

    /// The builds whose key is exactly this, at most as many as the budget allows, and whether there are more.
    pub(crate) async fn catalogued(&mut self, by: By, key: &str) -> Result<(Vec<IndexEntry>, bool)> {
        let Some(index) = self.index().await? else { return Ok((Vec::new(), false)) };
        if let Some(builds) = &index.builds {
            return Ok((builds.iter().filter(|entry| by.fits(entry, key)).cloned().collect(), false));
        }
        let (builds, pages) = self.page_of(by, key).await?;
        let found = builds.into_iter().filter(|entry| by.fits(entry, key)).collect();
        Ok((found, pages > 0))
    }

    /// The page of a sharded catalogue that a key stands on, and how many more pages are only of that key.
    async fn page_of(&mut self, by: By, key: &str) -> Result<(Vec<IndexEntry>, u64)> {
        let digits = by.digits(key);
        for length in 0..=digits.len() {
            let Some(page) = self.shard(by, &digits[..length]).await? else { break };
            if let Some(builds) = &page.builds {
                // Numbered pages are of one key, and where a tree has only that one, all keys lead there.
                let is_its = builds.iter().any(|entry| by.fits(entry, key));
                return Ok((builds.clone(), page.pages.filter(|_| is_its).unwrap_or(0)));
            }
            let split = page.split.as_deref().unwrap_or_default();
            if !split.contains(digits[length..].chars().next().unwrap_or('-')) {
                break;
            }
        }
        Ok((Vec::new(), 0))
    }

    /// The builds that have a key of a sharded catalogue: page `number` of them, and whether there are more.
    pub(crate) async fn catalogued_page(
        &mut self,
        by: By,
        key: &str,
        number: u64,
    ) -> Result<(Vec<IndexEntry>, bool)> {
        let (first, pages) = self.page_of(by, key).await?;
        let builds = match number {
            0 => first,
            number if number > pages => Vec::new(),
            number => {
                // Pages are numbered where the first page of the key stands: that is the last shard that was read.
                let digits = by.digits(key);
                let mut found = Vec::new();
                for length in 0..=digits.len() {
                    let page = self.shard(by, &digits[..length]).await?;
                    if page.is_none_or(|page| page.builds.is_some()) {
                        let prefix = if length == 0 { "root" } else { &digits[..length] };
                        let path = format!("index/{}/{prefix}.{number}.json", by.folder());
                        let page = self.document::<IndexPage>(&path).await?;
                        found = page.and_then(|page| page.builds.clone()).unwrap_or_default();
                        break;
                    }
                }
                found
            }
        };
        Ok((builds.into_iter().filter(|entry| by.fits(entry, key)).collect(), number < pages))
    }

    /// The builds whose id starts so, and whether there may be more of them than are told.
    pub(crate) async fn catalogued_by_prefix(&mut self, prefix: &str) -> Result<(Vec<IndexEntry>, bool)> {
        let Some(index) = self.index().await? else { return Ok((Vec::new(), false)) };
        let fits = |entry: &IndexEntry| entry.build_id.as_str().starts_with(prefix);
        if let Some(builds) = &index.builds {
            return Ok((builds.iter().filter(|entry| fits(entry)).cloned().collect(), false));
        }
        let Some(shard) = self.shard_of_ids(prefix).await? else { return Ok((Vec::new(), false)) };
        let (builds, next) = self.walk_ids(&shard, None, usize::MAX).await?;
        Ok((builds.into_iter().filter(fits).collect(), next.is_some()))
    }

    /// The shard that has all ids that start so; none where there is no such id.
    pub(crate) async fn shard_of_ids(&mut self, start: &str) -> Result<Option<String>> {
        let digits = IndexPage::own_digits(start);
        for length in 0..=digits.len() {
            let Some(page) = self.shard(By::Id, &digits[..length]).await? else { return Ok(None) };
            let Some(split) = page.split.as_deref().filter(|_| page.builds.is_none()) else {
                return Ok(Some(digits[..length].to_owned()));
            };
            match digits[length..].chars().next() {
                None => break,
                Some(digit) if !split.contains(digit) => return Ok(None),
                Some(_) => {}
            }
        }
        Ok(Some(digits))
    }

    /// `index.json`; `None` in an archive that nothing was added to.
    pub(crate) async fn index(&mut self) -> Result<Option<Arc<Index>>> {
        self.document::<Index>("index.json").await
    }

    async fn shard(&mut self, by: By, prefix: &str) -> Result<Option<Arc<IndexPage>>> {
        self.document::<IndexPage>(&shard_path(by, prefix)).await
    }

    /// The shard that follows this one under `within`, its parents' splits being known.
    async fn shard_after(&mut self, within: &str, prefix: &str) -> Result<Option<String>> {
        let mut prefix = prefix.to_owned();
        while prefix.len() > within.len() {
            let Some(digit) = prefix.pop() else { break };
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

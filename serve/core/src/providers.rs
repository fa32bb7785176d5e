//! Who may provide an imported symbol: catalogued builds with the soname that is asked for, which define it in that version.
//!
//! They are candidates. What the loader takes depends on the machine that it runs on: search paths, preloaded libraries, and symbols of
//! the same name in libraries that come first.

use elfscope_schema::{
    Address, BuildId, EditionId, ImportEntry, IndexEntry, Name, Sha256Digest, limits, lookup::NamedKind,
};
use serde::Serialize;

use crate::{Answer, Edition, Request, Result, Store, catalogue::By, cursor};

/// Most libraries that are looked for where no version says which one is asked.
pub const LIBRARIES: usize = 8;
/// Reads and bytes of JSON that looking at one build may take: its pointer, its look-up's root, and a name in that.
const ONE: (usize, usize) = (8, 5 * limits::INDEX_PAGE);
/// The same for the catalogue's answer to one library.
const LIBRARY: (usize, usize) = (6, 3 * limits::INDEX_PAGE);

/// A build that defines what is imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// The build.
    pub build_id: BuildId,
    /// Its current edition.
    pub edition: EditionId,
    /// Its file's name.
    pub name: Name,
    /// Its soname, by which the import asks for it.
    pub soname: Name,
    /// The package it came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Where it defines the symbol.
    pub address: Option<Address>,
    /// The version that it defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Name>,
    /// Whether that is the default one.
    pub default: bool,
}

/// Who may provide an imported symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Providers {
    /// What is imported.
    pub import: ImportEntry,
    /// The sonames that were looked for: the library that the import's version is asked of, else those that the file needs, the first
    /// [`LIBRARIES`].
    pub sonames: Vec<Name>,
    /// Whether the file says which library it asks: else any of the needed ones may provide it.
    pub library_is_told: bool,
    /// The candidates.
    pub candidates: Vec<Provider>,
    /// How many builds with such a soname and of the same machine were looked at for this answer.
    pub looked_at: u64,
    /// Whether more builds have such a soname than the catalogue tells in one page: those are not looked at.
    pub more_builds: bool,
}

impl<S: Store> Request<S> {
    /// The catalogued builds that may provide an import.
    ///
    /// # Errors
    /// [`crate::Error::BadCursor`], an archive that can't be read.
    pub async fn providers(
        &mut self,
        edition: &Edition,
        import: &ImportEntry,
        cursor: Option<&str>,
    ) -> Result<Answer<Providers>> {
        let question = format!("providers {:?} {:?}", import.name, import.version);
        let name = edition.source().edition.as_str();
        let [mut library, mut skip, mut known] = match cursor {
            Some(cursor) => cursor::read(cursor, name, &question)?,
            None => [0; 3],
        };
        let sonames = match &import.library {
            Some(library) => vec![library.clone()],
            None => {
                let needed = &self.meta(edition).await?.needed;
                needed.iter().take(LIBRARIES).map(|needed| needed.library.clone()).collect()
            }
        };
        let mut found = Providers {
            import: import.clone(),
            library_is_told: import.library.is_some(),
            sonames,
            candidates: Vec::new(),
            looked_at: 0,
            more_builds: false,
        };
        let mut next = None;
        'libraries: while let Some(soname) =
            usize::try_from(library).ok().and_then(|at| found.sonames.get(at)).cloned()
        {
            if !self.budget().has(LIBRARY.0, LIBRARY.1) {
                next = Some([library, 0, 0]);
                break;
            }
            let (mut builds, more) = self.catalogued(By::Soname, soname.text()).await?;
            found.more_builds |= more;
            builds.retain(|build| build.machine == edition.told.machine);
            builds.sort_by(|a, b| a.build_id.cmp(&b.build_id));
            let now = digest(&builds);
            if skip > 0 && known != now {
                let why = "the catalogue has changed since";
                return Err(crate::Error::BadCursor { given: cursor.unwrap_or_default().to_owned(), why });
            }
            let first = usize::try_from(skip).unwrap_or(usize::MAX);
            for (number, build) in builds.iter().enumerate().skip(first) {
                if !self.budget().has(ONE.0, ONE.1) {
                    next = Some([library, number as u64, now]);
                    break 'libraries;
                }
                found.looked_at += 1;
                if let Some(provider) = self.provider(build, &soname, import).await? {
                    found.candidates.push(provider);
                }
            }
            (library, skip, known) = (library + 1, 0, 0);
        }
        let next_cursor = next.map(|at| cursor::write(name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: found, next_cursor })
    }

    async fn provider(
        &mut self,
        build: &IndexEntry,
        soname: &Name,
        import: &ImportEntry,
    ) -> Result<Option<Provider>> {
        let edition = self.edition(build.build_id.as_str()).await?;
        let (named, _) = self.named_exactly(&edition, import.name.text()).await?;
        let defines =
            |kind: NamedKind| matches!(kind, NamedKind::Function | NamedKind::Data | NamedKind::Tls);
        let mut defined: Vec<_> = named
            .into_iter()
            .filter(|entry| defines(entry.kind) && entry.name == import.name)
            .filter(|entry| match &import.version {
                Some(version) => entry.version.as_ref() == Some(version),
                // Asked without a version, the loader takes the default one or one without.
                None => entry.version.is_none() || entry.default,
            })
            .collect();
        defined.sort_by_key(|entry| (entry.version.is_none(), !entry.default, entry.address));
        Ok(defined.into_iter().next().map(|entry| Provider {
            build_id: build.build_id.clone(),
            edition: edition.source().edition.clone(),
            name: build.name.clone(),
            soname: soname.clone(),
            package: build.package.clone(),
            address: entry.address,
            version: entry.version,
            default: entry.default,
        }))
    }
}

/// What tells one list of builds from another.
fn digest(builds: &[IndexEntry]) -> u64 {
    let ids: Vec<&str> = builds.iter().map(|build| build.build_id.as_str()).collect();
    let digest = Sha256Digest::of(ids.join("\n").as_bytes());
    digest.as_bytes()[..8].iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

//! Which build is meant: a build id, its start, a catalogued name or soname, or `<build-id>/<edition>`.

use elfscope_schema::{BuildId, Current, CurrentEdition, EditionId, IndexEntry};

use crate::{Choice, Edition, Error, Request, Result, Store, catalogue::By, error::MOST_CHOICES, nearest};

/// Fewest digits of a build id that stand for the whole.
pub const PREFIX: usize = 6;

impl<S: Store> Request<S> {
    /// The edition that a text means.
    ///
    /// A full build id is itself; else what is catalogued under the name, the soname or a build id that starts so.
    /// `<any of these>/<edition>` pins an edition, which may be given by its first [`PREFIX`] digits.
    ///
    /// # Errors
    /// [`Error::NotFound`] with the nearest names, [`Error::Ambiguous`] with the list, [`Error::Gone`].
    pub async fn edition(&mut self, text: &str) -> Result<Edition> {
        if let Some((build, edition)) = text.rsplit_once('/') {
            if !is_digits(edition) {
                return Err(bad(text));
            }
            let build = self.build_id(build).await?;
            return self.pinned(build, edition, text).await;
        }
        let build = self.build_id(text).await?;
        let current = self.current(&build).await?.ok_or_else(|| unknown(text, Vec::new()))?;
        match current.edition() {
            Some(told) => Ok(Edition::new(build, told.clone(), true)),
            None => Err(match current.tombstones.first() {
                Some(gone) if current.editions.is_empty() => Error::Gone {
                    build_id: build,
                    edition: gone.edition.clone(),
                    reason: gone.reason.clone(),
                    current: None,
                },
                _ => Error::NotFound {
                    what: "current edition of",
                    given: text.to_owned(),
                    place: "this archive".to_owned(),
                    near: current.editions.iter().map(|other| format!("{build}/{}", other.edition)).collect(),
                    fix: Some("promote one of the editions".to_owned()),
                },
            }),
        }
    }

    /// All editions of a build, the current one first, and its tombstones.
    ///
    /// # Errors
    /// As [`Self::edition`], but a build all of whose editions were removed is answered.
    pub async fn editions(&mut self, text: &str) -> Result<(BuildId, std::sync::Arc<Current>)> {
        let build = self.build_id(text).await?;
        let current = self.current(&build).await?.ok_or_else(|| unknown(text, Vec::new()))?;
        Ok((build, current))
    }

    async fn build_id(&mut self, text: &str) -> Result<BuildId> {
        if let Ok(build) = text.parse::<BuildId>()
            && self.current(&build).await?.is_some()
        {
            return Ok(build);
        }
        let (mut found, mut more) = self.catalogued(By::Name, text).await?;
        let (by_soname, more_sonames) = self.catalogued(By::Soname, text).await?;
        found.extend(by_soname);
        more |= more_sonames;
        let mut unseen = false;
        if found.is_empty() && is_prefix(text) {
            (found, unseen) = self.catalogued_by_prefix(text).await?;
        }
        found.sort_by(|a, b| (a.name.text(), &a.build_id).cmp(&(b.name.text(), &b.build_id)));
        found.dedup_by(|a, b| a.build_id == b.build_id);
        match found.as_slice() {
            [one] if !more && !unseen => Ok(one.build_id.clone()),
            [] if unseen => Err(Error::NotFound {
                what: "build",
                given: text.to_owned(),
                place:
                    "the many ids of this catalogue that start nearly so, the first of which were looked at"
                        .to_owned(),
                near: Vec::new(),
                fix: Some("give the whole build id, or the name".to_owned()),
            }),
            [] => Err(unknown(text, self.builds_like(text).await?)),
            _ => Err(Error::Ambiguous {
                what: "build",
                given: text.to_owned(),
                place: "this archive".to_owned(),
                more: more || unseen || found.len() > MOST_CHOICES,
                choices: found.iter().take(MOST_CHOICES).map(choice).collect(),
            }),
        }
    }

    async fn pinned(&mut self, build: BuildId, edition: &str, text: &str) -> Result<Edition> {
        let current = self.current(&build).await?.ok_or_else(|| unknown(text, Vec::new()))?;
        let now = current.edition().map(|told| told.edition.clone());
        let fits = |id: &EditionId| id.as_str().starts_with(edition);
        let found: Vec<&CurrentEdition> =
            current.editions.iter().filter(|told| fits(&told.edition)).collect();
        match found.as_slice() {
            [one] => Ok(Edition::new(build, (*one).clone(), now.as_ref() == Some(&one.edition))),
            [] => match current.tombstones.iter().find(|gone| fits(&gone.edition)) {
                Some(gone) => Err(Error::Gone {
                    build_id: build,
                    edition: gone.edition.clone(),
                    reason: gone.reason.clone(),
                    current: now,
                }),
                None => Err(Error::NotFound {
                    what: "edition",
                    given: text.to_owned(),
                    place: "this archive".to_owned(),
                    near: current.editions.iter().map(|held| format!("{build}/{}", held.edition)).collect(),
                    fix: Some("leave the edition out for the current one".to_owned()),
                }),
            },
            _ => Err(Error::Ambiguous {
                what: "edition",
                given: text.to_owned(),
                place: "this archive".to_owned(),
                choices: found
                    .iter()
                    .map(|told| Choice {
                        name: told.name.text().to_owned(),
                        ask: format!("{build}/{}", told.edition),
                        about: told.provenance.clone(),
                    })
                    .collect(),
                more: false,
            }),
        }
    }

    async fn current(&mut self, build: &BuildId) -> Result<Option<std::sync::Arc<Current>>> {
        self.document::<Current>(&format!("{build}/current.json")).await
    }

    async fn builds_like(&mut self, text: &str) -> Result<Vec<String>> {
        let Some(index) = self.index().await? else { return Ok(Vec::new()) };
        let builds: &[IndexEntry] = index.builds.as_deref().unwrap_or_default();
        let names = builds.iter().flat_map(|build| [Some(&build.name), build.soname.as_ref()]).flatten();
        Ok(nearest::rank(text, names.map(|name| name.text().to_owned())))
    }
}

fn choice(entry: &IndexEntry) -> Choice {
    Choice {
        name: entry.name.text().to_owned(),
        ask: entry.build_id.to_string(),
        about: match &entry.package {
            Some(package) => format!("{}, {package}, {} functions", entry.machine, entry.functions),
            None => format!("{}, {} functions", entry.machine, entry.functions),
        },
    }
}

/// Whether it may be the start of a build id.
fn is_prefix(text: &str) -> bool {
    is_digits(text.strip_prefix("sha256-").unwrap_or(text))
}

fn is_digits(text: &str) -> bool {
    text.len() >= PREFIX && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn unknown(text: &str, near: Vec<String>) -> Error {
    Error::NotFound {
        what: "build",
        given: text.to_owned(),
        place: "this archive".to_owned(),
        near,
        fix: Some("look at the catalogue for what is there, or add the binary".to_owned()),
    }
}

fn bad(text: &str) -> Error {
    Error::BadReference {
        what: "a build",
        given: text.to_owned(),
        allowed: format!(
            "a build id, its first {PREFIX} digits or more, a name or soname, or any of these and `/<edition>`"
        ),
    }
}

//! A resolved edition, and what every answer says of where it comes from.

use elfscope_schema::{BuildId, CurrentEdition, EditionId, Name};
use serde::Serialize;

/// One edition of one build: what all questions about a binary are asked of.
#[derive(Clone, Debug)]
pub struct Edition {
    folder: String,
    source: Source,
    /// What `current.json` says of it.
    pub told: CurrentEdition,
    /// Whether it is the build's current one.
    pub is_current: bool,
}

impl Edition {
    pub(crate) fn new(build_id: BuildId, told: CurrentEdition, is_current: bool) -> Self {
        let folder = format!("{build_id}/{}", told.edition);
        let source = Source {
            build_id,
            edition: told.edition.clone(),
            name: told.name.clone(),
            provenance: told.provenance.clone(),
        };
        Self { folder, source, told, is_current }
    }

    /// Its folder in the archive, `<build-id>/<edition>`: also what names it for ever.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Where answers from it come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }
}

/// Where an answer comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The build.
    pub build_id: BuildId,
    /// The edition.
    pub edition: EditionId,
    /// The file's name.
    pub name: Name,
    /// One line that says where every claim of the edition comes from.
    pub provenance: String,
}

/// An answer, with where it comes from and where it goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer<T> {
    /// Where it comes from.
    #[serde(flatten)]
    pub source: Source,
    /// What it says.
    #[serde(flatten)]
    pub value: T,
    /// Asked with this, the question goes on; none where nothing is left.
    pub next_cursor: Option<String>,
}

impl<T> Answer<T> {
    pub(crate) fn whole(edition: &Edition, value: T) -> Self {
        Self { source: edition.source.clone(), value, next_cursor: None }
    }
}

/// The start of a build id that is shown where there is no room for all: it works in the place of the whole.
#[must_use]
pub fn short(build: &BuildId) -> &str {
    let text = build.as_str();
    let start = if text.starts_with("sha256-") { "sha256-".len() } else { 0 };
    &text[..text.len().min(start + 12)]
}

/// How answers spell a name with its version: `name@version`, and `name@@version` for the default one.
#[must_use]
pub fn versioned(name: &Name, version: Option<&Name>, default: bool) -> String {
    match version {
        Some(version) => format!("{}{}{}", name.text(), if default { "@@" } else { "@" }, version.text()),
        None => name.text().to_owned(),
    }
}

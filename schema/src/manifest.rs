//! `archive.manifest/1` and `archive.packs/1`: what an edition is made of, to the byte.

use serde::{Deserialize, Serialize};

use crate::{BuildId, Sha256Digest, to_canonical};

/// Files of an edition that `content` leaves out: how things are stored, and how and where inputs were found.
pub const NOT_CONTENT: [&str; 3] = ["manifest.json", "packs.json", "meta.json"];

/// `manifest.json`: the first 32 hex digits of the SHA-256 of its canonical bytes are the edition's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// The build that the edition is of.
    pub build_id: BuildId,
    /// SHA-256 of the canonical array of `[name, sha256]` over [`Self::files`], [`NOT_CONTENT`] left out.
    pub content: Sha256Digest,
    /// Every file of the edition but `manifest.json`, `packs.json` and the `.idx` files, by name.
    pub files: Vec<ManifestFile>,
    /// What it was derived from.
    pub given: Given,
    /// SHA-256 of the canonical bytes of [`Self::given`].
    pub inputs: Sha256Digest,
    /// `archive.manifest/1`.
    pub schema: String,
}

/// One file of an edition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ManifestFile {
    /// Its name in the edition's folder.
    pub name: String,
    /// SHA-256 of what it inflates to; of the file itself where it isn't a pack.
    pub sha256: Sha256Digest,
    /// Size in bytes of what it inflates to.
    pub size: u64,
}

/// What an edition was derived from: with the derivation version, all that its documents depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Given {
    /// The derivation version, see [`crate::DERIVATION`].
    pub derivation: u32,
    /// SHA-256 of the ELF and its debug files, sorted.
    pub files: Vec<Sha256Digest>,
    /// Source maps: FROM and the path inside the tree.
    pub maps: Vec<(String, String)>,
    /// SHA-256 of the packages that files came from, sorted.
    pub packages: Vec<Sha256Digest>,
    /// One digest a source tree, sorted: SHA-256 of the canonical array of `[path, sha256]` over its files, unpacked and
    /// patched, sorted by the bytes of their paths. A path is relative, with `/` between its parts; one that isn't UTF-8 stands as
    /// [`crate::Name`] tells it. A symbolic link to a file of
    /// the tree is that file once more; other links and empty folders count as nothing, and so does whatever is named `.git`, `.hg`,
    /// `.pc` or `.svn`, with all below it: version control and quilt keep their own state there, and two ways to unpack the
    /// same sources leave another one. Only `.pc/applied-patches` at the root counts: by it a tree has its patches applied or
    /// not ([`crate::SourceTree::package_verified`]). Modes and times count as nothing either. A tarball whose files are all in one folder is
    /// the tree of that folder.
    pub sources: Vec<Sha256Digest>,
}

impl Given {
    /// The digest that [`Manifest::inputs`] holds.
    #[must_use]
    pub fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(&to_canonical(self))
    }
}

/// The digest that [`Manifest::content`] holds.
#[must_use]
pub fn content_digest(files: &[ManifestFile]) -> Sha256Digest {
    let told = files.iter().filter(|file| !NOT_CONTENT.contains(&file.name.as_str()));
    let pairs: Vec<(&str, Sha256Digest)> = told.map(|file| (file.name.as_str(), file.sha256)).collect();
    Sha256Digest::of(&to_canonical(&pairs))
}

/// `packs.json`: how each pack is stored. It stands outside the manifest, so that another deflate would change no name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Packs {
    /// Every pack, by name.
    pub packs: Vec<Pack>,
    /// `archive.packs/1`.
    pub schema: String,
}

/// One pack: a file of gzip members, one document a member, one document a line, and beside it `<name>.idx` (its name
/// less `.jsonl.gz`), the offsets of the members and the pack's size as 8-byte little-endian numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Pack {
    /// How many members it has.
    pub members: u64,
    /// Its file's name.
    pub name: String,
    /// SHA-256 of the stored bytes.
    pub sha256: Sha256Digest,
    /// Size of the stored bytes.
    pub size: u64,
}

/// The gzip header (RFC 1952) of every member: deflate, no flags, no time, no extra flags, unknown system.
pub const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Bytes of CRC-32 and length, little-endian, that end every member.
pub const GZIP_TRAILER: usize = 8;

/// The name of a pack's table of offsets.
#[must_use]
pub fn index_name(pack: &str) -> String {
    format!("{}.idx", pack.strip_suffix(".jsonl.gz").unwrap_or(pack))
}

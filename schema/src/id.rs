//! What things are called: build ids, editions, digests, addresses, function keys.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};

use crate::{hex, text::as_text};

/// Text that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadId {
    /// What it should have been.
    pub expected: &'static str,
    /// What was given.
    pub given: String,
}

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.given.chars().take(80).collect();
        write!(f, "`{}` is not {}", shown.escape_debug(), self.expected)
    }
}

impl std::error::Error for BadId {}

/// A SHA-256 (FIPS 180-4), 64 lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest that was computed elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256Digest {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bytes = hex::decode(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| bad("a sha256 of 64 lowercase hex digits", text))
    }
}

as_text!(Sha256Digest, "^[0-9a-f]{64}$", "SHA-256, lowercase hex");

/// The first 16 bytes of a SHA-256 over a body, 32 lowercase hex digits. See [`crate::function::Digests`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyDigest([u8; 16]);

impl BodyDigest {
    /// The first 16 bytes of a longer digest.
    #[must_use]
    pub fn truncated(digest: &[u8; 32]) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(bytes)
    }

    /// Its 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for BodyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for BodyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BodyDigest {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bytes = hex::decode(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| bad("a body digest of 32 lowercase hex digits", text))
    }
}

as_text!(BodyDigest, "^[0-9a-f]{32}$", "first 16 bytes of a SHA-256, lowercase hex");

/// What a binary is known by: the lowercase hex of its `NT_GNU_BUILD_ID` note (4 to 64 bytes), or `sha256-` and the
/// SHA-256 of the whole file where it has none.
///
/// A note is only a claim: stripped and unstripped files share one and anyone can write one, which is why an edition also
/// names its file's SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId(String);

impl BuildId {
    /// Fewest bytes of a note that is used as an id. Shorter ones would collide too soon.
    pub const MIN_NOTE: usize = 4;
    /// Most bytes of a note that is used as an id.
    pub const MAX_NOTE: usize = 64;
    const HASH_PREFIX: &'static str = "sha256-";

    /// The id that a note's descriptor gives, or `None` outside [`Self::MIN_NOTE`]..=[`Self::MAX_NOTE`].
    #[must_use]
    pub fn from_note(descriptor: &[u8]) -> Option<Self> {
        (Self::MIN_NOTE..=Self::MAX_NOTE).contains(&descriptor.len()).then(|| Self(hex::encode(descriptor)))
    }

    /// The id of a file without a usable note.
    #[must_use]
    pub fn from_file(file: Sha256Digest) -> Self {
        Self(format!("{}{file}", Self::HASH_PREFIX))
    }

    /// Its text: also the name of its folder.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BuildId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let good = match text.strip_prefix(Self::HASH_PREFIX) {
            Some(digest) => digest.parse::<Sha256Digest>().is_ok(),
            None => {
                hex::decode(text).is_some_and(|note| (Self::MIN_NOTE..=Self::MAX_NOTE).contains(&note.len()))
            }
        };
        if good {
            Ok(Self(text.to_owned()))
        } else {
            Err(bad("a build id (8 to 128 lowercase hex digits, or `sha256-` and 64)", text))
        }
    }
}

as_text!(BuildId, "^([0-9a-f]{8,128}|sha256-[0-9a-f]{64})$", "NT_GNU_BUILD_ID, or the file's SHA-256");

/// The name of one derivation of a build: the first 32 hex digits of the SHA-256 of its `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditionId(String);

impl EditionId {
    /// The edition that a manifest's canonical bytes are.
    #[must_use]
    pub fn of_manifest(manifest: &[u8]) -> Self {
        let mut text = Sha256Digest::of(manifest).to_string();
        text.truncate(32);
        Self(text)
    }

    /// Its text: also the name of its folder.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for EditionId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        if text.len() == 32 && hex::decode(text).is_some() {
            Ok(Self(text.to_owned()))
        } else {
            Err(bad("an edition of 32 lowercase hex digits", text))
        }
    }
}

as_text!(EditionId, "^[0-9a-f]{32}$", "first 32 hex digits of the SHA-256 of manifest.json");

/// A place in a binary: a virtual address, or in a relocatable file (`ET_REL`), where every section starts at 0, a
/// section's index and an offset in it.
///
/// Written as lowercase hex (`401000`) or `s<section>-<hex>` (`s5-40`). Sorted by section, then address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The section's index in a relocatable file, 0 elsewhere (`SHN_UNDEF` names no section).
    pub section: u32,
    /// Virtual address, or offset in the section.
    pub offset: u64,
}

impl Address {
    /// A virtual address.
    #[must_use]
    pub const fn virt(offset: u64) -> Self {
        Self { section: 0, offset }
    }

    /// The place `bytes` further on, wrapping as the machine does.
    #[must_use]
    pub const fn plus(self, bytes: u64) -> Self {
        Self { section: self.section, offset: self.offset.wrapping_add(bytes) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.section != 0 {
            write!(f, "s{}-", self.section)?;
        }
        write!(f, "{:x}", self.offset)
    }
}

impl FromStr for Address {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let parse = || {
            let (section, offset) = match text.strip_prefix('s') {
                Some(rest) => {
                    let (section, offset) = rest.split_once('-')?;
                    (parse_decimal(section)?.try_into().ok().filter(|index| *index != 0)?, offset)
                }
                None => (0, text),
            };
            Some(Self { section, offset: hex::parse_u64(offset)? })
        };
        parse().ok_or_else(|| bad("an address (lowercase hex, or `s<section>-<hex>`)", text))
    }
}

as_text!(Address, "^(s[1-9][0-9]*-)?(0|[1-9a-f][0-9a-f]{0,15})$", "virtual address, or section and offset");

/// The name of a body: `<address hex>-<size decimal>`, in relocatable files `s<section>-<address hex>-<size>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionKey {
    /// Its first byte.
    pub address: Address,
    /// Its size in bytes, at least 1.
    pub size: u64,
}

impl fmt::Display for FunctionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.address, self.size)
    }
}

impl FromStr for FunctionKey {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let parse = || {
            let (address, size) = text.rsplit_once('-')?;
            Some(Self {
                address: address.parse().ok()?,
                size: parse_decimal(size).filter(|size| *size != 0)?,
            })
        };
        parse().ok_or_else(|| bad("a function key (`<address hex>-<size decimal>`)", text))
    }
}

as_text!(
    FunctionKey,
    "^(s[1-9][0-9]*-)?(0|[1-9a-f][0-9a-f]{0,15})-[1-9][0-9]*$",
    "address in hex and size in decimal"
);

fn parse_decimal(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (plain && (text.len() == 1 || !text.starts_with('0'))).then(|| text.parse().ok())?
}

fn bad(expected: &'static str, given: &str) -> BadId {
    BadId { expected, given: given.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: FromStr<Err = BadId> + fmt::Display + fmt::Debug>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(text.parse::<T>().unwrap().to_string(), *text);
        }
        for text in bad {
            assert!(text.parse::<T>().is_err(), "{text} passed");
        }
    }

    #[test]
    fn ids_have_one_spelling() {
        round::<Address>(
            &["0", "401000", "s5-0", "s12-4f", "ffffffffffffffff"],
            &["", "0x1", "01", "A", "s0-1", "s-1", "s5", "10000000000000000"],
        );
        round::<FunctionKey>(&["401000-12", "s5-0-1"], &["401000", "401000-0", "401000-012", "-1", "s5-1"]);
        round::<BuildId>(
            &["deadbeef", &format!("sha256-{}", "0".repeat(64))],
            &["dead", "DEADBEEF", "deadbee", "sha256-00", ""],
        );
        round::<EditionId>(&[&"a".repeat(32)], &["", "aa"]);
    }

    #[test]
    fn a_digest_is_sha256() {
        // FIPS 180-4 example: SHA-256("abc").
        assert_eq!(
            Sha256Digest::of(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

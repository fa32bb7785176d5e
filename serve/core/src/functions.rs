//! Which function is meant: a name, `name@version`, an address anywhere in a body, a key, or `name+0xOFFSET`.

use elfscope_schema::{Address, FunctionEntry, FunctionKey, Meta, Name, NameEntry, lookup::NamedKind};

use crate::{
    Choice, Edition, Error, Request, Result, Store,
    edition::{short, versioned},
    error::MOST_CHOICES,
    escape, nearest,
    tree::{Key, Leaf, Seek, index},
};

/// What a text in the place of a function means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A body, and the address in it that was asked for.
    Body(FunctionEntry, Address),
    /// An address in no body: of data, where it is known at all.
    Data(Address),
    /// A thread-local object: its name, and its offset in the thread's block.
    Tls(Name, Address),
    /// An imported symbol, which has no body here: its name, and its version where one was given.
    Import(Name, Option<Name>),
}

/// The key of a body that the index tells.
#[must_use]
pub fn key_of(entry: &FunctionEntry) -> FunctionKey {
    FunctionKey { address: entry.0, size: entry.1 }
}

impl<S: Store> Request<S> {
    /// The body that a text means, and the address in it that was asked for.
    ///
    /// # Errors
    /// As [`Self::place`], and [`Error::WrongKind`] for what is no function.
    pub async fn function(&mut self, edition: &Edition, text: &str) -> Result<(FunctionEntry, Address)> {
        let refuse = |is: String, fix: String| Error::WrongKind {
            given: text.to_owned(),
            is,
            wanted: "a function of this binary",
            fix,
        };
        match self.place(edition, text).await? {
            Place::Body(entry, at) => Ok((entry, at)),
            Place::Data(at) => {
                let fix = "ask for the data at that address";
                Err(refuse(format!("at {}, in no function", spell(at)), fix.to_owned()))
            }
            Place::Tls(_, at) => {
                let fix = "ask for a function";
                Err(refuse(
                    format!("thread-local data, at {} of each thread's block", spell(at)),
                    fix.to_owned(),
                ))
            }
            Place::Import(name, version) => {
                let name = versioned(&name, version.as_ref(), false);
                let fix = format!("ask for the callers of `import:{}`", escape::name(&name));
                Err(refuse("imported: its code is in another file".to_owned(), fix))
            }
        }
    }

    /// What a text means: a function, data, or an imported symbol.
    ///
    /// `0x…` is an address, as is a relocatable file's `s5-40`; a number that starts with a digit is one where nothing has that
    /// name. All else is a name first.
    ///
    /// # Errors
    /// [`Error::NotFound`] with the nearest names, [`Error::Ambiguous`] with what to ask for instead.
    pub async fn place(&mut self, edition: &Edition, text: &str) -> Result<Place> {
        if let Ok(key) = text.parse::<FunctionKey>() {
            return match self.body_at(edition, key.address).await? {
                Some(entry) if key_of(&entry) == key => Ok(Place::Body(entry, key.address)),
                Some(entry) => {
                    Err(missing(edition, "body with the key", text, vec![key_of(&entry).to_string()]))
                }
                None => Err(missing(edition, "body with the key", text, Vec::new())),
            };
        }
        if let Some(address) = address_of(text) {
            return self.at(edition, address).await;
        }
        if let Some(place) = self.named(edition, text).await? {
            return Ok(place);
        }
        if let Some((name, offset)) = text.rsplit_once("+0x")
            && let Ok(offset) = u64::from_str_radix(offset, 16)
            && let Some(Place::Body(entry, start)) = self.named(edition, name).await?
        {
            if offset >= entry.1 {
                return Err(Error::OutOfRange {
                    what: "offset",
                    given: format!("0x{offset:x}"),
                    allowed: format!("the {} bytes of `{}`", entry.1, escape::name(name)),
                });
            }
            return Ok(Place::Body(entry, start.plus(offset)));
        }
        if text.starts_with(|first: char| first.is_ascii_digit())
            && let Ok(address) = text.to_ascii_lowercase().parse::<Address>()
        {
            return self.at(edition, address).await;
        }
        let near = self.names_like(edition, text).await?;
        Err(missing(edition, "function", text, near))
    }

    /// The body that has this address.
    ///
    /// # Errors
    /// An archive that can't be read.
    pub async fn body_at(&mut self, edition: &Edition, address: Address) -> Result<Option<FunctionEntry>> {
        let key = Key::Address(address);
        let leaf = self.seek::<FunctionEntry>(edition, index::ADDRESS, &key, Seek::Last).await?;
        let Some(Leaf { records, .. }) = leaf else { return Ok(None) };
        let after = records.partition_point(|entry| entry.0 <= address);
        let entry = after.checked_sub(1).and_then(|at| records.into_iter().nth(at));
        Ok(entry
            .filter(|entry| entry.0.section == address.section && address.offset - entry.0.offset < entry.1))
    }

    /// Everything that has exactly this name: functions by either form of it, data, imports.
    ///
    /// # Errors
    /// An archive that can't be read.
    pub async fn named_exactly(&mut self, edition: &Edition, name: &str) -> Result<(Vec<NameEntry>, bool)> {
        let Key::Text(key) = Key::name(name) else { unreachable!("names are texts") };
        let mut found = Vec::new();
        let mut leaf = self.seek::<NameEntry>(edition, index::NAME, &Key::name(name), Seek::First).await?;
        while let Some(Leaf { number, records, last }) = leaf {
            let ends = records.last().is_some_and(|record| *Name::sort_key(record.name.text()) > *key);
            found.extend(records.into_iter().filter(|record| record.name.text() == name));
            if ends || last {
                break;
            }
            if !self.has_room(4, elfscope_schema::limits::INDEX_PAGE) {
                return Ok((found, true));
            }
            leaf = self.leaf(edition, index::NAME, number + 1).await?;
        }
        Ok((found, false))
    }

    /// What is at an address that was asked for as such.
    async fn at(&mut self, edition: &Edition, address: Address) -> Result<Place> {
        match self.body_at(edition, address).await? {
            Some(entry) => Ok(Place::Body(entry, address)),
            None => Ok(Place::Data(address)),
        }
    }

    /// What is called that, with or without a version.
    async fn named(&mut self, edition: &Edition, text: &str) -> Result<Option<Place>> {
        let (whole, mut more) = self.named_exactly(edition, text).await?;
        let mut found = whole;
        if found.is_empty()
            && let Some((name, version)) = text.split_once('@').filter(|(name, _)| !name.is_empty())
        {
            let (default, version) = match version.strip_prefix('@') {
                Some(version) => (true, version),
                None => (false, version),
            };
            (found, more) = self.named_exactly(edition, name).await?;
            let fits = |entry: &NameEntry| {
                entry.version.as_ref().is_some_and(|told| told.text() == version)
                    && (entry.default || !default)
            };
            found.retain(fits);
        }
        let mut bodies: Vec<&NameEntry> = found
            .iter()
            .filter(|entry| matches!(entry.kind, NamedKind::Function | NamedKind::Demangled))
            .collect();
        bodies.sort_by_key(|entry| entry.address);
        bodies.dedup_by_key(|entry| entry.address);
        match bodies.as_slice() {
            [one] if !more => {
                let address = one.address.ok_or_else(|| broken(edition))?;
                let entry = self.body_at(edition, address).await?.ok_or_else(|| broken(edition))?;
                Ok(Some(Place::Body(entry, address)))
            }
            [] => Ok(found.first().map(|entry| match entry.address {
                Some(address) if entry.kind == NamedKind::Tls => Place::Tls(entry.name.clone(), address),
                Some(address) => Place::Data(address),
                None if found.len() == 1 => Place::Import(entry.name.clone(), entry.version.clone()),
                None => Place::Import(entry.name.clone(), None),
            })),
            several => Err(Error::Ambiguous {
                what: "function",
                given: text.to_owned(),
                place: in_build(edition),
                more: more || several.len() > MOST_CHOICES,
                choices: several.iter().take(MOST_CHOICES).map(|entry| choice(entry, &found)).collect(),
            }),
        }
    }

    /// The names that come nearest: neighbours in the index of a few spellings.
    async fn names_like(&mut self, edition: &Edition, text: &str) -> Result<Vec<String>> {
        if let Some((name, _)) = text.split_once('@').filter(|(name, _)| !name.is_empty()) {
            // The name is there with other versions: those come nearest.
            let (found, _) = self.named_exactly(edition, name).await?;
            let versions =
                found.iter().map(|entry| versioned(&entry.name, entry.version.as_ref(), entry.default));
            let versions: Vec<String> = versions.take(nearest::MOST).collect();
            if !versions.is_empty() {
                return Ok(versions);
            }
        }
        let lower = text.to_ascii_lowercase();
        let bare = text.trim_start_matches('_');
        let start: String = text.chars().take((text.chars().count() / 2).max(2)).collect();
        let mut candidates = Vec::new();
        for spelling in [text, &lower, bare, &format!("_{bare}"), &format!("__{bare}"), &start] {
            if !self.has_room(4, elfscope_schema::limits::INDEX_PAGE) {
                break;
            }
            let leaf =
                self.seek::<NameEntry>(edition, index::NAME, &Key::name(spelling), Seek::First).await?;
            let records = leaf.into_iter().flat_map(|leaf| leaf.records);
            candidates.extend(
                records
                    .filter(|entry| !matches!(entry.kind, NamedKind::Import))
                    .map(|entry| entry.name.text().to_owned()),
            );
        }
        Ok(nearest::rank(text, candidates))
    }

    /// What the binary is, whole.
    ///
    /// # Errors
    /// An archive that can't be read.
    pub async fn meta(&mut self, edition: &Edition) -> Result<std::sync::Arc<Meta>> {
        let path = format!("{}/meta.json", edition.folder());
        let meta = self.document::<Meta>(&path).await?;
        meta.ok_or(Error::Damaged { path, expected: "a file of that name", source: None })
    }
}

/// How answers spell an address: `0x401000`, or `s5-40` in a relocatable file.
#[must_use]
pub fn spell(address: Address) -> String {
    if address.section == 0 { format!("0x{address}") } else { address.to_string() }
}

/// The address that a text can only be.
fn address_of(text: &str) -> Option<Address> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().map(Address::virt);
    }
    text.parse::<Address>().ok().filter(|address| address.section != 0)
}

fn choice(entry: &NameEntry, all: &[NameEntry]) -> Choice {
    let name = versioned(&entry.name, entry.version.as_ref(), entry.default);
    let address = entry.address.map(spell).unwrap_or_default();
    let same = |other: &&NameEntry| {
        other.version == entry.version && other.default == entry.default && other.address != entry.address
    };
    let alone = entry.version.is_some() && !all.iter().any(|other| same(&other));
    Choice { ask: if alone { name.clone() } else { address.clone() }, name, about: format!("at {address}") }
}

fn missing(edition: &Edition, what: &'static str, text: &str, near: Vec<String>) -> Error {
    Error::NotFound {
        what,
        given: text.to_owned(),
        place: in_build(edition),
        near,
        fix: Some("search for a part of the name".to_owned()),
    }
}

pub(crate) fn in_build(edition: &Edition) -> String {
    let source = edition.source();
    format!("{} ({})", escape::name(source.name.text()), short(&source.build_id))
}

fn broken(edition: &Edition) -> Error {
    Error::Damaged {
        path: format!("{}/lookup.jsonl.gz", edition.folder()),
        expected: "a body at every address that a function's name has",
        source: None,
    }
}

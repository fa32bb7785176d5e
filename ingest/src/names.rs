//! Names of code and data, from all symbol tables, one a (place, name, version).

use elfscope_schema::{Address, FunctionName, Name, Origin};
use object::elf;

use crate::{
    diagnostics::Diagnostics,
    dwarf::Function,
    elf::{Elf, Place, Symbol, SymbolKind, shown},
    limits,
};

/// One name of a place.
#[derive(Clone, Debug)]
pub(crate) struct PlaceName<'data> {
    /// The place.
    pub(crate) address: Address,
    /// The name.
    pub(crate) name: &'data [u8],
    /// Its version.
    pub(crate) version: Option<&'data [u8]>,
    /// Whether it is its version's default.
    pub(crate) default: bool,
    /// The size its symbol claims.
    pub(crate) size: u64,
    /// Its type.
    pub(crate) kind: SymbolKind,
    /// Its binding.
    pub(crate) binding: u8,
    /// Its visibility.
    pub(crate) visibility: u8,
    /// Where it comes from, the most trusted first; never empty.
    pub(crate) from: Vec<Origin>,
}

/// Names by place, the one to show first at each place first.
#[derive(Debug, Default)]
pub(crate) struct CodeNames<'data> {
    all: Vec<PlaceName<'data>>,
}

impl<'data> CodeNames<'data> {
    /// The names of code: FUNC and GNU_IFUNC symbols, and NOTYPE ones that start code outside every sized function
    /// (hand-written assembly).
    ///
    /// The name of a subprogram counts where no symbol names its entry: symbols tell clones (`.part.0`) and aliases apart, which
    /// the debug data calls by the name of their source.
    pub(crate) fn of_code(
        elf: &Elf<'data>,
        more: &[Symbol<'data>],
        functions: &[Function<'data>],
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut named = Vec::new();
        let mut labels = Vec::new();
        for symbol in elf.symbols.iter().chain(more) {
            let Some(place) = place_of(elf, symbol) else { continue };
            let region = elf.image.find_region(place).filter(|region| region.executable);
            let inside =
                region.is_some_and(|region| place.offset - region.start.offset < region.data.len() as u64);
            if symbol.kind.is_function() {
                if inside && !symbol.name.is_empty() {
                    named.push(name_of(symbol, place));
                } else {
                    let message =
                        format!("function symbol `{}` is at {place}, where no code is", shown(symbol.name));
                    diagnostics.add("symbol-outside-code", symbol.name, message);
                }
            } else if symbol.kind.0 == elf::STT_NOTYPE.0 && inside && is_label(elf, symbol, place) {
                labels.push(name_of(symbol, place));
            }
        }
        let mut claims: Vec<(Address, Address)> =
            named.iter().filter(|name| name.size > 0).map(|name| (name.address, end_of(name))).collect();
        claims.sort_unstable();
        let mut furthest = Address::virt(0);
        for (_, end) in &mut claims {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        // Inside what a symbol claims, and not at its start.
        let is_claimed = |address: Address| {
            let before = claims.partition_point(|(start, _)| *start < address);
            let last = before.checked_sub(1).map(|index| claims[index].1);
            last.is_some_and(|end| end.section == address.section && end > address)
        };
        labels.retain(|label| !is_claimed(label.address));
        named.append(&mut labels);
        named.sort_by_key(|name| name.address);
        let mut more = Vec::new();
        for function in functions {
            let (address, Some(name)) = (Address::virt(function.entry), function.name) else { continue };
            let first = named.partition_point(|known| known.address < address);
            let count = named[first..].iter().take_while(|known| known.address == address).count();
            let here = &mut named[first..first + count];
            for known in
                here.iter_mut().filter(|known| known.name == name && !known.from.contains(&Origin::Dwarf))
            {
                known.from.push(Origin::Dwarf);
            }
            if here.is_empty() && !is_claimed(address) {
                let range = function.ranges.iter().find(|(start, _)| *start == function.entry);
                more.push(PlaceName {
                    address,
                    name,
                    version: None,
                    default: false,
                    size: range.map_or(0, |(start, end)| end - start),
                    kind: SymbolKind(elf::STT_FUNC.0),
                    binding: elf::STB_LOCAL.0,
                    visibility: elf::STV_DEFAULT.0,
                    from: vec![Origin::Dwarf],
                });
            }
        }
        named.append(&mut more);
        Self::merge(named, diagnostics)
    }

    /// The names of data: OBJECT and COMMON symbols that have a place. (TLS symbols have none: see [`tls`].)
    pub(crate) fn of_data(elf: &Elf<'data>, more: &[Symbol<'data>], diagnostics: &mut Diagnostics) -> Self {
        let objects = elf.symbols.iter().chain(more).filter(|symbol| symbol.kind.0 == elf::STT_OBJECT.0);
        let placed = objects.filter(|symbol| !symbol.name.is_empty()).filter_map(|symbol| {
            let place = place_of(elf, symbol)?;
            elf.image.find_region(place)?;
            Some(name_of(symbol, place))
        });
        let placed = placed.collect();
        Self::merge(placed, diagnostics)
    }

    /// The thread-local names, by offset in the thread's block.
    pub(crate) fn of_tls(elf: &Elf<'data>, more: &[Symbol<'data>], diagnostics: &mut Diagnostics) -> Self {
        let symbols = elf.symbols.iter().chain(more).filter(|symbol| symbol.kind.0 == elf::STT_TLS.0);
        let placed =
            symbols.filter(|symbol| matches!(symbol.place, Place::Section(_)) && !symbol.name.is_empty());
        let placed = placed.map(|symbol| name_of(symbol, Address::virt(symbol.value))).collect();
        Self::merge(placed, diagnostics)
    }

    /// All of them, by place.
    pub(crate) fn all(&self) -> &[PlaceName<'data>] {
        &self.all
    }

    /// The names of one place, as a range of [`Self::all`].
    pub(crate) fn find_at(&self, address: Address) -> std::ops::Range<u32> {
        let first = self.all.partition_point(|name| name.address < address);
        let count = self.all[first..].iter().take_while(|name| name.address == address).count();
        let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        index(first)..index(first + count)
    }

    /// The names of a range.
    pub(crate) fn slice(&self, range: &std::ops::Range<u32>) -> &[PlaceName<'data>] {
        &self.all[range.start as usize..range.end as usize]
    }

    fn merge(mut named: Vec<PlaceName<'data>>, diagnostics: &mut Diagnostics) -> Self {
        named.sort_by(|a, b| {
            (a.address, a.name, a.version, &a.from, b.default, b.size)
                .cmp(&(b.address, b.name, b.version, &b.from, a.default, a.size))
        });
        let mut all: Vec<PlaceName<'data>> = Vec::with_capacity(named.len());
        for name in named {
            match all.last_mut() {
                Some(last) if last.same(&name) => {
                    for origin in name.from {
                        if !last.from.contains(&origin) {
                            last.from.push(origin);
                        }
                    }
                    last.default |= name.default;
                    last.size = if last.size == 0 { name.size } else { last.size };
                }
                // A name without version in `.symtab` is the same symbol as its versioned one in `.dynsym`, but which
                // of several versions it would be is not said: both stay.
                _ => all.push(name),
            }
        }
        for name in &mut all {
            name.from.sort_unstable();
        }
        all.sort_by(|a, b| (a.address, a.order()).cmp(&(b.address, b.order())));
        let mut kept: Vec<PlaceName<'data>> = Vec::with_capacity(all.len());
        let mut at_place = 0usize;
        for name in all {
            at_place =
                if kept.last().is_some_and(|last| last.address == name.address) { at_place + 1 } else { 0 };
            if at_place < limits::NAMES_A_BODY {
                kept.push(name);
            } else {
                let message = format!(
                    "{} has more than {} names: `{}` is left out",
                    name.address,
                    limits::NAMES_A_BODY,
                    shown(name.name)
                );
                diagnostics.add("names-too-many", name.name, message);
            }
        }
        Self { all: kept }
    }
}

impl PlaceName<'_> {
    /// Whether it is a name that ld gives to a veneer: code that only goes on to where a branch can't reach.
    pub(crate) fn is_veneer(&self) -> bool {
        self.binding == elf::STB_LOCAL.0 && self.name.starts_with(b"__") && self.name.ends_with(b"_veneer")
    }

    /// As documents tell it.
    pub(crate) fn to_document(&self) -> FunctionName {
        let binding = match elf::SymbolBind(self.binding) {
            elf::STB_LOCAL => "local".to_owned(),
            elf::STB_GLOBAL => "global".to_owned(),
            elf::STB_WEAK => "weak".to_owned(),
            elf::STB_GNU_UNIQUE => "unique".to_owned(),
            elf::SymbolBind(other) => other.to_string(),
        };
        let visibility = match elf::SymbolVisibility(self.visibility) {
            elf::STV_INTERNAL => "internal",
            elf::STV_HIDDEN => "hidden",
            elf::STV_PROTECTED => "protected",
            _ => "default",
        };
        // The debug data alone says nothing of symbols.
        let is_symbol = self.from != [Origin::Dwarf];
        FunctionName {
            binding: is_symbol.then_some(binding),
            default: self.default,
            demangled: elfscope_demangle::demangle(self.name),
            from: self.from.clone(),
            name: Name::from_bytes(self.name),
            size: Some(self.size),
            symbol_type: is_symbol.then(|| self.kind.name()),
            version: self.version.map(Name::from_bytes),
            visibility: is_symbol.then(|| visibility.to_owned()),
        }
    }

    fn same(&self, other: &Self) -> bool {
        (self.address, self.name, self.version) == (other.address, other.name, other.version)
    }

    /// The name that listings show first: global before weak before local, without leading underscores, a default
    /// version, the shorter one, then by its bytes.
    fn order(&self) -> impl Ord + use<'_> {
        let binding = match elf::SymbolBind(self.binding) {
            elf::STB_GLOBAL => 0,
            elf::STB_WEAK => 1,
            elf::STB_LOCAL => 2,
            _ => 3,
        };
        let underscores = self.name.iter().take_while(|byte| **byte == b'_').count();
        let mangled = self.name.starts_with(b"_Z") || self.name.starts_with(b"_R");
        let underscores = if mangled { 0 } else { underscores };
        let hidden = self.version.is_some() && !self.default;
        (!self.kind.is_function(), hidden, underscores, binding, self.name.len(), self.name, self.version)
    }
}

/// Where a symbol is, if it is anywhere. The addresses of a relocatable file are in the section that it names.
pub(crate) fn place_of(elf: &Elf<'_>, symbol: &Symbol<'_>) -> Option<Address> {
    // Bit 0 of a function's address says Thumb (AAELF32, "Symbol values"); the code is at the address without it.
    let is_thumb = elf.machine == elf::EM_ARM.0 && symbol.kind.is_function();
    let offset = if is_thumb { symbol.value & !1 } else { symbol.value };
    match symbol.place {
        Place::Section(section) if elf.is_relocatable() => Some(Address { section, offset }),
        Place::Section(_) => Some(Address::virt(offset)),
        Place::Undefined | Place::Absolute | Place::Common => None,
    }
}

fn name_of<'data>(symbol: &Symbol<'data>, address: Address) -> PlaceName<'data> {
    PlaceName {
        address,
        name: symbol.name,
        version: symbol.version,
        default: symbol.default,
        size: symbol.size,
        kind: symbol.kind,
        binding: symbol.binding,
        visibility: symbol.visibility,
        from: vec![symbol.origin],
    }
}

fn end_of(name: &PlaceName<'_>) -> Address {
    Address { section: name.address.section, offset: name.address.offset.saturating_add(name.size) }
}

/// Whether a NOTYPE symbol may start a function: not a mapping symbol (`$x`), an assembler's local label, or a mark at a
/// section's end, which stands in the next one.
fn is_label(elf: &Elf<'_>, symbol: &Symbol<'_>, place: Address) -> bool {
    let Place::Section(index) = symbol.place else { return false };
    if symbol.name.is_empty() || symbol.name.starts_with(b"$") || symbol.name.starts_with(b".L") {
        return false;
    }
    // A symbol of the debug file names a section of that file, which has the same headers.
    elf.sections.get(index as usize).is_some_and(|section| {
        let start = section.address.offset;
        place.offset >= start && place.offset - start < section.size
    })
}

//! One edition: from the bytes of an ELF and its debug files to what is published.

use std::collections::BTreeMap;

use elfscope_schema::{
    Address, BodyKind, BuildId, Counts, Coverage, DERIVATION, DebugFile, Diagnostic, Digests, FileId, Found,
    Given, Name, Origin, Package, Sha256Digest, TableEntry,
};
use rayon::prelude::*;

use crate::{
    archive::{Archive, ArchiveError, Facts, Published, Stage},
    bodies::{Bodies, Body},
    diagnostics::Diagnostics,
    disasm::{Family, decode, decode::Decoder, family_of},
    elf::{Elf, Symbol, machine_name},
    landings::Landings,
    marks::Marks,
    names::CodeNames,
    progress::Progress,
    resolve::Resolver,
    tell::{Teller, Told},
    write::{
        LazyPack,
        callers::{self, Callee, Site},
        data::{DataSite, Items},
        lookup, meta,
    },
};

/// A file that was read whole.
pub(crate) struct Source<'a> {
    /// What it is.
    pub(crate) id: FileId,
    /// The ELF in it.
    pub(crate) elf: Elf<'a>,
}

/// A debug file that belongs to a binary.
pub(crate) struct DebugSource<'a> {
    /// The file.
    pub(crate) source: Source<'a>,
    /// How it was found.
    pub(crate) found: Found,
    /// The package that it came in.
    pub(crate) package: Option<Package>,
}

/// What an edition is made from.
pub(crate) struct Material<'a> {
    /// The binary.
    pub(crate) binary: Source<'a>,
    /// The package that it came in.
    pub(crate) package: Option<Package>,
    /// Its separate debug file.
    pub(crate) debug: Option<DebugSource<'a>>,
    /// What dwz shares between that file, or the binary, and others.
    #[expect(dead_code, reason = "what is in it is DWARF, which is not read yet")]
    pub(crate) alternate: Option<DebugSource<'a>>,
    /// What is packed in its `.gnu_debugdata`.
    pub(crate) mini: Option<DebugSource<'a>>,
    /// What could not be had of these.
    pub(crate) diagnostics: Diagnostics,
}

/// What was published of one input, and what of it a caller tells.
pub(crate) struct Derived {
    pub(crate) published: Published,
    pub(crate) functions: u64,
    pub(crate) rows: u64,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What an edition of these files is made from, as its manifest names it.
pub(crate) fn given<'a>(
    files: impl Iterator<Item = &'a FileId>,
    packages: impl Iterator<Item = &'a Package>,
) -> Given {
    let sorted = |mut digests: Vec<Sha256Digest>| {
        digests.sort_unstable();
        digests.dedup();
        digests
    };
    Given {
        derivation: DERIVATION,
        files: sorted(files.map(|file| file.sha256).collect()),
        maps: Vec::new(),
        packages: sorted(packages.map(|package| package.sha256).collect()),
        sources: Vec::new(),
    }
}

/// Derives an edition and publishes it.
pub(crate) fn derive(
    archive: &Archive,
    build: &BuildId,
    given: &Given,
    material: Material<'_>,
    progress: &dyn Progress,
) -> Result<Derived, ArchiveError> {
    let Material { binary: mut source, package, debug, alternate: _, mini, mut diagnostics } = material;
    diagnostics.absorb(std::mem::take(&mut source.elf.diagnostics));
    let elf = &source.elf;
    let (mut more, debug_file) = debug_symbols(elf, debug, &mut diagnostics);
    let mini_file = mini.and_then(|mini| mini_symbols(elf, mini, &mut more, &mut diagnostics));
    let family = family_of(elf.machine, elf.class == 64, elf.big_endian);
    if family.is_none() {
        let message = format!(
            "{} of {} bits, {}-endian, has no decoder here: bodies, names and data are told, rows are not",
            machine_name(elf.machine),
            elf.class,
            if elf.big_endian { "big" } else { "little" }
        );
        diagnostics.add("no-decoder", machine_name(elf.machine).as_bytes(), message);
    }
    let code = CodeNames::of_code(elf, &more, &mut diagnostics);
    let data = CodeNames::of_data(elf, &more, &mut diagnostics);
    let tls = CodeNames::of_tls(elf, &more, &mut diagnostics);
    let marks = family.map(|family| Marks::find(elf, &more, family)).unwrap_or_default();
    let bodies = Bodies::find(elf, &code, &marks, family, &mut diagnostics);
    let resolver = Resolver::new(elf, &code, &data, &bodies, family);
    let landings = family.map(|family| Landings::find(elf, family)).unwrap_or_default();
    let teller = Teller { resolver: &resolver, family, landings: &landings, marks: &marks };

    let stage = archive.stage()?;
    progress.start(source.id.name.text(), bodies.all().len() as u64);
    let mut pack = LazyPack::new(&stage, "fn.jsonl.gz");
    let mut all = Collected::default();
    let (imports, import_of) = lookup::imports(&resolver);
    tell_all(&teller, &import_of, &mut pack, &mut all, progress)?;
    pack.finish()?;

    // Neither needs the other.
    let (mut sites, mut refs) = (std::mem::take(&mut all.sites), std::mem::take(&mut all.refs));
    let (callers, data) = rayon::join(
        || write_callers(&stage, &resolver, &imports, &mut sites),
        || write_data(&stage, &resolver, &mut refs),
    );
    let callers = callers?;
    let data = data?;
    all.counts.data = data.counts;

    let mut pack = LazyPack::new(&stage, "lookup.jsonl.gz");
    let sources = lookup::Sources {
        resolver: &resolver,
        tls: &tls,
        imports: &imports,
        import_of: &import_of,
        ordinals: &all.ordinals,
        digests: &all.digests,
        callers: &callers,
        strings: data.strings,
        data: data.pages,
        cited: Vec::new(),
        citing: Vec::new(),
    };
    let root = lookup::write(&sources, &mut pack)?;
    pack.finish()?;
    stage.document("lookup.json", &root)?;

    let functions = bodies.all().iter().filter(|body| body.is_function()).count() as u64;
    all.counts.functions = functions;
    all.counts.bodies = count(bodies.all().iter().map(|body| lowercase(body.origin)));
    let rows = all.counts.rows;
    let diagnostics = diagnostics.finish();
    let facts = Facts {
        diagnostics: diagnostics.len() as u64,
        file: source.id.sha256,
        functions,
        has_dwarf: false,
        machine: machine_name(elf.machine),
        name: source.id.name.clone(),
        named: bodies.all().iter().filter(|body| body.is_function() && !body.names.is_empty()).count() as u64,
        package: package
            .as_ref()
            .map(|package| format!("{} {} {}", package.name, package.version, package.architecture)),
        package_verified: Vec::new(),
        provenance: provenance(&source.id, debug_file.as_ref().map(|debug| &debug.file), family),
        rows,
        rows_with_line: 0,
        soname: elf.dynamic.soname.map(Name::from_bytes),
        sources: 0,
    };
    let mut more = LazyPack::new(&stage, "more.jsonl.gz");
    let about = meta::About {
        build_id: build.clone(),
        file: source.id.clone(),
        debug: debug_file.into_iter().chain(mini_file).collect(),
        package,
        family,
        counts: all.counts,
        coverage: coverage(&bodies),
        diagnostics: diagnostics.clone(),
    };
    let document = meta::write(elf, about, &mut more)?;
    more.finish()?;
    stage.document("meta.json", &document)?;
    let published = stage.publish(build, given, facts)?;
    progress.done();
    Ok(Derived { published, functions, rows, diagnostics })
}

fn write_callers(
    stage: &Stage<'_>,
    resolver: &Resolver<'_, '_>,
    imports: &[callers::Import<'_>],
    sites: &mut [Site],
) -> Result<Vec<(Callee, u64)>, ArchiveError> {
    let mut pack = LazyPack::new(stage, "callers.jsonl.gz");
    let firsts = callers::write(resolver, imports, sites, &mut pack)?;
    pack.finish()?;
    Ok(firsts)
}

/// What the indices need of the data items.
struct Data {
    counts: BTreeMap<String, u64>,
    strings: Vec<(Address, Name)>,
    pages: Vec<TableEntry>,
}

fn write_data(
    stage: &Stage<'_>,
    resolver: &Resolver<'_, '_>,
    refs: &mut [DataSite],
) -> Result<Data, ArchiveError> {
    let items = Items::find(resolver, refs);
    let strings = lookup::strings_of(items.all());
    let counts = count(items.all().iter().map(|item| lowercase(item.kind)));
    let mut pack = LazyPack::new(stage, "data.jsonl.gz");
    let pages = items.write(&mut pack)?;
    pack.finish()?;
    Ok(Data { counts, strings, pages })
}

/// The symbols that a debug file adds, and the file where it was used.
fn debug_symbols<'a>(
    elf: &Elf<'_>,
    debug: Option<DebugSource<'a>>,
    diagnostics: &mut Diagnostics,
) -> (Vec<Symbol<'a>>, Option<DebugFile>) {
    let Some(DebugSource { source: debug, found, package }) = debug else { return (Vec::new(), None) };
    let same =
        (debug.elf.machine, debug.elf.class, debug.elf.elf_type) == (elf.machine, elf.class, elf.elf_type);
    if !same {
        let message =
            "the debug file has the build's id but is of another machine, class or type: it is not used";
        diagnostics.add("debug-file-differs", debug.id.name.text().as_bytes(), message);
        return (Vec::new(), None);
    }
    diagnostics.absorb(debug.elf.diagnostics);
    let tables = debug.elf.symbols.into_iter().filter(|symbol| symbol.origin == Origin::Symtab);
    (tables.collect(), Some(DebugFile { file: debug.id, found, package }))
}

/// Adds the symbols of `.gnu_debugdata`, and gives the file where it was used.
fn mini_symbols<'a>(
    elf: &Elf<'_>,
    mini: DebugSource<'a>,
    more: &mut Vec<Symbol<'a>>,
    diagnostics: &mut Diagnostics,
) -> Option<DebugFile> {
    let DebugSource { source: mini, found, package } = mini;
    if (mini.elf.machine, mini.elf.class) != (elf.machine, elf.class) {
        let message = "it is of another machine or class than the binary: it is not used";
        diagnostics.add("debug-file-differs", mini.id.name.text().as_bytes(), message);
        return None;
    }
    let tables = mini.elf.symbols.into_iter().filter(|symbol| symbol.origin == Origin::Symtab);
    more.extend(tables.map(|symbol| Symbol { origin: Origin::Minidebuginfo, ..symbol }));
    Some(DebugFile { file: mini.id, found, package })
}

/// What all bodies gave together.
#[derive(Default)]
struct Collected {
    ordinals: Vec<u64>,
    digests: Vec<Option<Digests>>,
    sites: Vec<Site>,
    refs: Vec<DataSite>,
    counts: Counts,
}

/// Bytes of code that are told at once, at least: enough for all cores, little enough to hold.
const BATCH: u64 = 192 * 1024;

fn tell_all(
    teller: &Teller<'_, '_, '_>,
    import_of: &[u32],
    pack: &mut LazyPack<'_>,
    all: &mut Collected,
    progress: &dyn Progress,
) -> Result<(), ArchiveError> {
    let bodies = teller.resolver.bodies.all();
    let mut told: Vec<Told> = Vec::new();
    let mut start = 0;
    loop {
        let end = batch_end(bodies, start);
        // The next batch is told while the last one is written, in order.
        let (written, next) = rayon::join(
            || collect(std::mem::take(&mut told), import_of, pack, all, progress),
            || tell_batch(teller, start..end),
        );
        written?;
        if start == end {
            return Ok(());
        }
        (told, start) = (next, end);
    }
}

fn batch_end(bodies: &[Body], start: usize) -> usize {
    let mut bytes = 0;
    let inside = bodies[start..].iter().take_while(|body| {
        let more = bytes < BATCH;
        bytes += body.size;
        more
    });
    start + inside.count()
}

fn tell_batch(teller: &Teller<'_, '_, '_>, range: std::ops::Range<usize>) -> Vec<Told> {
    let decoder = || teller.family.and_then(|family| Decoder::new(family).ok());
    let bodies = range.into_par_iter().with_min_len(4);
    bodies.map_init(decoder, |decoder, index| teller.tell(index as u32, decoder.as_mut())).collect()
}

fn collect(
    told: Vec<Told>,
    import_of: &[u32],
    pack: &mut LazyPack<'_>,
    all: &mut Collected,
    progress: &dyn Progress,
) -> Result<(), ArchiveError> {
    progress.advance(told.len() as u64);
    for told in told {
        let from = u32::try_from(all.ordinals.len()).unwrap_or(u32::MAX);
        all.ordinals.push(pack.next());
        pack.push_pages(&told.pages)?;
        all.digests.push(told.digests);
        all.counts.rows += told.rows;
        all.counts.undecoded += told.undecoded;
        for class in &told.edges {
            match all.counts.edges.get_mut(class.name()) {
                Some(count) => *count += 1,
                None => drop(all.counts.edges.insert(class.name().to_owned(), 1)),
            }
        }
        all.sites.extend(told.calls.iter().filter_map(|call| {
            let import =
                call.import.map(|symbol| import_of[symbol as usize]).filter(|import| *import != u32::MAX);
            let callee = call.body.map(Callee::Body).or(import.map(Callee::Import))?;
            Some(Site { callee, from, call: *call })
        }));
        all.refs.extend(told.refs.iter().map(|site| DataSite { from, site: *site }));
    }
    Ok(())
}

fn coverage(bodies: &Bodies) -> Coverage {
    let mut coverage = Coverage::default();
    for body in bodies.all() {
        coverage.executable += body.size;
        match body.kind {
            BodyKind::Function | BodyKind::Ifunc => coverage.functions += body.size,
            BodyKind::Stub => coverage.stubs += body.size,
            BodyKind::Gap => coverage.gaps += body.size,
        }
    }
    coverage
}

fn provenance(file: &FileId, debug: Option<&FileId>, family: Option<&'static dyn Family>) -> String {
    let name = |file: &FileId| file.name.text().escape_debug().to_string();
    let mut line = format!("`{}` (sha256 {})", name(file), file.sha256);
    if let Some(debug) = debug {
        line.push_str(&format!(", symbols of debug file `{}` (sha256 {})", name(debug), debug.sha256));
    }
    line.push_str(&format!(", derivation {DERIVATION}"));
    match family {
        Some(family) => line.push_str(&format!(", rows by capstone {} ({})", decode::VERSION, family.name())),
        None => line.push_str(", no rows: no decoder for this machine"),
    }
    line
}

fn count(names: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// The name of a variant in documents.
fn lowercase<T: serde::Serialize>(variant: T) -> String {
    serde_json::to_value(variant).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

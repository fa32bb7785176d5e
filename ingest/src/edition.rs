//! One edition: from the bytes of an ELF and its debug files to what is published.

mod collect;
mod debug;
mod provenance;
mod sources;

use std::collections::BTreeMap;

use elfscope_schema::{
    Address, BodyKind, BuildId, Coverage, DERIVATION, Diagnostic, FileId, Given, Name, Package, Sha256Digest,
    TableEntry,
};

use crate::{
    archive::{Archive, ArchiveError, Facts, Published, Stage},
    bodies::Bodies,
    diagnostics::Diagnostics,
    disasm::family_of,
    dwarf::{CodeRanges, Dwarf},
    elf::{Elf, machine_name},
    landings::Landings,
    marks::Marks,
    names::CodeNames,
    progress::Progress,
    resolve::Resolver,
    source::{Hint, Trees},
    tell::Teller,
    write::{
        LazyPack,
        callers::{self, Callee, Site},
        data::{DataSite, Items},
        lookup, meta,
    },
};
use collect::{Collected, tell_all};
use debug::Debug;
pub(crate) use debug::{DebugSource, DebugSources};
use provenance::Provenance;
use sources::Sources;

/// A file that was read whole.
pub(crate) struct Source<'a> {
    /// What it is.
    pub(crate) id: FileId,
    /// The ELF in it.
    pub(crate) elf: Elf<'a>,
}

/// What an edition is made from.
pub(crate) struct Material<'a> {
    /// The binary.
    pub(crate) binary: Source<'a>,
    /// The package that it came in.
    pub(crate) package: Option<Package>,
    /// Its debug files.
    pub(crate) debug: DebugSources<'a>,
    /// What could not be had of these.
    pub(crate) diagnostics: Diagnostics,
}

/// What was published of one input, and what of it a caller tells.
pub(crate) struct Derived {
    pub(crate) published: Published,
    pub(crate) functions: u64,
    pub(crate) rows: u64,
    pub(crate) rows_with_line: u64,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) sources: u64,
    pub(crate) hints: Vec<Hint>,
}

/// What an edition of these files is made from, as its manifest names it.
pub(crate) fn given<'a>(
    files: impl Iterator<Item = &'a FileId>,
    packages: impl Iterator<Item = &'a Package>,
    trees: &Trees,
) -> Given {
    let sorted = |mut digests: Vec<Sha256Digest>| {
        digests.sort_unstable();
        digests.dedup();
        digests
    };
    let (sources, maps) = trees.given();
    Given {
        derivation: DERIVATION,
        files: sorted(files.map(|file| file.sha256).collect()),
        maps,
        packages: sorted(packages.map(|package| package.sha256).collect()),
        sources,
    }
}

/// Derives an edition and publishes it.
pub(crate) fn derive(
    archive: &Archive,
    build: &BuildId,
    given: &Given,
    material: Material<'_>,
    trees: &Trees,
    progress: &dyn Progress,
) -> Result<Derived, ArchiveError> {
    let Material { binary: mut source, package, debug, mut diagnostics } = material;
    diagnostics.absorb(std::mem::take(&mut source.elf.diagnostics));
    let debug = Debug::of(&source, debug, &mut diagnostics);
    let (elf, more) = (&source.elf, &debug.symbols);
    let wants_declared = !trees.is_empty();
    let dwarf = debug.sections.as_ref().map(|sections| {
        let alternate = debug.alternate.as_ref();
        Dwarf::read(sections, alternate, CodeRanges::of(elf), wants_declared, &mut diagnostics)
    });
    let dwarf = dwarf.filter(Dwarf::has_units);
    let functions = dwarf.as_ref().map(Dwarf::functions).unwrap_or_default();
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
    let code = CodeNames::of_code(elf, more, functions, &mut diagnostics);
    let data = CodeNames::of_data(elf, more, &mut diagnostics);
    let tls = CodeNames::of_tls(elf, more, &mut diagnostics);
    let marks = family.map(|family| Marks::find(elf, more, family)).unwrap_or_default();
    let bodies = Bodies::find(elf, &code, functions, &marks, family, &mut diagnostics);
    let resolver = Resolver::new(elf, &code, &data, &bodies, functions, family);
    let landings = family.map(|family| Landings::find(elf, family)).unwrap_or_default();
    let stage = archive.stage()?;
    let sources = Sources::publish(dwarf.as_ref(), trees, &stage, &mut diagnostics)?;
    let teller = Teller {
        resolver: &resolver,
        family,
        landings: &landings,
        marks: &marks,
        dwarf: dwarf.as_ref(),
        cited: &sources.cited,
    };

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

    let mut pack = LazyPack::new(&stage, "sources.jsonl.gz");
    let citations = sources.write(&all.citing, &mut pack)?;
    pack.finish()?;

    let mut pack = LazyPack::new(&stage, "lookup.jsonl.gz");
    let indices = lookup::Sources {
        resolver: &resolver,
        tls: &tls,
        imports: &imports,
        import_of: &import_of,
        ordinals: &all.ordinals,
        digests: &all.digests,
        callers: &callers,
        strings: data.strings,
        data: data.pages,
        citations,
    };
    let root = lookup::write(&indices, &mut pack)?;
    pack.finish()?;
    stage.document("lookup.json", &root)?;

    let functions = bodies.all().iter().filter(|body| body.is_function()).count() as u64;
    all.counts.functions = functions;
    all.counts.bodies = count(bodies.all().iter().map(|body| lowercase(body.origin)));
    let (rows, rows_with_line) = (all.counts.rows, all.counts.rows_with_line);
    let trees = trees.documents(package.as_ref());
    all.counts.sources = count(sources.levels(&trees));
    let verified = (0u32..).zip(&trees).filter(|(_, tree)| tree.package_verified);
    let hints = sources.hints(package.as_ref(), &trees);
    let diagnostics = diagnostics.finish();
    let provenance = Provenance {
        file: &source.id,
        package: package.as_ref(),
        debug: &debug.files,
        has_dwarf: dwarf.is_some(),
        sources: (sources.published(), sources.files().len() as u64),
        family,
    };
    let facts = Facts {
        diagnostics: diagnostics.len() as u64,
        file: source.id.sha256,
        functions,
        has_dwarf: dwarf.is_some(),
        machine: machine_name(elf.machine),
        name: source.id.name.clone(),
        named: bodies.all().iter().filter(|body| body.is_function() && !body.names.is_empty()).count() as u64,
        package: package
            .as_ref()
            .map(|package| format!("{} {} {}", package.name, package.version, package.architecture)),
        package_verified: verified.map(|(number, _)| number).collect(),
        provenance: provenance.line(),
        rows,
        rows_with_line,
        soname: elf.dynamic.soname.map(Name::from_bytes),
        sources: sources.published(),
    };
    let mut more = LazyPack::new(&stage, "more.jsonl.gz");
    let about = meta::About {
        build_id: build.clone(),
        file: source.id.clone(),
        package,
        debug: debug.files,
        sources: trees,
        producers: dwarf.as_ref().map(|dwarf| dwarf.producers().to_vec()).unwrap_or_default(),
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
    Ok(Derived {
        published,
        functions,
        rows,
        rows_with_line,
        diagnostics,
        sources: sources.published(),
        hints,
    })
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

//! Publishing: from a stage to an edition that the pointer names.
//!
//! # Order of writes
//! 1. Every file of the stage is synced, many at once, then its folder. (`syncfs` would be one call, but it waits for whatever
//!    anyone else has written to the same disk.)
//! 2. Under the archive's lock the sources are moved to `src/<sha256>`, where they are not there yet, and their names synced;
//!    then the folder is renamed to `<build-id>/<edition>` and that name synced.
//! 3. The mark `.tmp/reindex` is set, `current.json` is replaced, the catalogue is brought up to date, the mark is taken away.
//!
//! A crash before 2 leaves a stage, one in 2 sources that no edition cites, one between 2 and 3 also an edition that no pointer
//! names, one in 3 an old catalogue with the mark: the next publication deals with the first and the last, the second is
//! renamed over by the same edition or deleted by [`Archive::gc`], as the sources are.

use std::{fs, path::Path};

use elfscope_schema::{
    BuildId, Current, CurrentEdition, EditionId, Given, Manifest, Name, Packs, Sha256Digest, content_digest,
    current::PROVENANCE, documents::schema, from_slice, to_canonical,
};

use super::{Archive, ArchiveError, Stage, clip, files, gc, index, stage::Written};

/// What `current.json` says of an edition beside its digests.
#[derive(Clone, Debug)]
pub struct Facts {
    /// How many diagnostics it has.
    pub diagnostics: u64,
    /// SHA-256 of the ELF.
    pub file: Sha256Digest,
    /// How many functions it has.
    pub functions: u64,
    /// Whether DWARF was read.
    pub has_dwarf: bool,
    /// The machine's name.
    pub machine: String,
    /// The file's name. The pointer and the catalogue show at most [`clip::TEXT`] bytes of it, of `soname` and of `package`.
    pub name: Name,
    /// How many of its functions have a name.
    pub named: u64,
    /// The package it came in: `name version architecture`.
    pub package: Option<String>,
    /// The numbers of the source trees whose files count as `package-verified`.
    pub package_verified: Vec<u32>,
    /// One line that says where every claim of this edition comes from; cut at [`PROVENANCE`] bytes.
    pub provenance: String,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them have a source line.
    pub rows_with_line: u64,
    /// `DT_SONAME`.
    pub soname: Option<Name>,
    /// How many source files are published.
    pub sources: u64,
}

/// What became of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The edition that holds what was published: a new one, or one that was there.
    pub edition: EditionId,
    /// What was done.
    pub outcome: Outcome,
    /// The build's current edition now. None where the current file has no edition left.
    pub current: Option<EditionId>,
    /// The file that the build is, where the edition is of another one that claims the same id. Worth a diagnostic: such an
    /// edition is kept, and is current only once it is promoted.
    pub other_file: Option<Sha256Digest>,
    /// Builds that the catalogue leaves out, since their pointers are damaged.
    pub left_out: Vec<BuildId>,
}

/// What was done with a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is a new edition.
    Added,
    /// It is an edition that had been removed; its tombstone is gone.
    Restored,
    /// An edition was made of the same inputs: nothing was done.
    AlreadyThere,
    /// An edition that differs in the derivation version only has the same content: that one now names these inputs
    /// beside its own.
    SameContent,
}

impl Stage<'_> {
    /// Publishes what was written, as an edition of `build`.
    ///
    /// - Inputs that an edition was made of: nothing is done, but that lost files and sources are brought back. So check with [`Archive::find_inputs`] before deriving.
    /// - Inputs that differ from an edition's in the derivation version only, and the same content: no new edition; the
    ///   inputs join the edition's `also`.
    /// - An edition that was removed comes back, and its tombstone goes: who adds it again says so explicitly.
    /// - A file other than the build's own is kept and never becomes current by itself, see [`Published::other_file`].
    ///
    /// # Errors
    /// Packs that were begun and not finished, lists in `given` that are not sorted, a pointer that is damaged or would grow too
    /// large, or what the file system says. Whatever happens, no published edition changes.
    pub fn publish(self, build: &BuildId, given: &Given, facts: Facts) -> Result<Published, ArchiveError> {
        check_sorted(given)?;
        let (manifest, edition) = self.seal(build, given)?;
        let archive = self.archive;
        let _held = archive.lock()?;
        // What can't be deleted is no reason not to publish; `gc` will say so.
        let _ = gc::delete_dead_stages(archive);
        let mut current = archive.current(build)?.unwrap_or_else(|| Current {
            build_id: build.clone(),
            check: None,
            editions: Vec::new(),
            file: facts.file,
            schema: schema::CURRENT.to_owned(),
            tombstones: Vec::new(),
        });
        let other_file = Some(current.file).filter(|file| *file != facts.file);
        let done = |current: &Current, edition, outcome, left_out| Published {
            edition,
            outcome,
            current: current.edition().map(|edition| edition.edition.clone()),
            other_file,
            left_out,
        };

        let inputs = manifest.inputs;
        let same = current.editions.iter().find(|old| old.inputs == inputs || old.also.contains(&inputs));
        if let Some(old) = same {
            let edition = old.edition.clone();
            self.put_sources()?;
            if !archive.edition_path(build, &edition).join("manifest.json").exists() {
                self.bring_back(build, &edition, &manifest)?;
            }
            return Ok(done(&current, edition, Outcome::AlreadyThere, index::complete(archive)?));
        }
        if let Some(position) = same_content(archive, &current, &manifest)? {
            let old = &mut current.editions[position];
            old.also.push(inputs);
            old.also.sort();
            let edition = old.edition.clone();
            self.put_sources()?;
            // The catalogue says nothing of `also`.
            archive.write_current(&mut current)?;
            return Ok(done(&current, edition, Outcome::SameContent, index::complete(archive)?));
        }

        let tombstones = current.tombstones.len();
        current.tombstones.retain(|tombstone| tombstone.edition != edition);
        let outcome = if current.tombstones.len() < tombstones { Outcome::Restored } else { Outcome::Added };
        current.editions.push(told(&manifest, &edition, facts));
        archive.check_size(&mut current)?;
        let put = self.put_sources()?;
        let moved = self
            .put_in_place(build, &edition)
            .and_then(|()| index::around(archive, build, || archive.write_current(&mut current)));
        let left_out = moved.inspect_err(|_| self.take_back(build, &edition, &put))?;
        Ok(done(&current, edition, outcome, left_out))
    }

    /// Writes the manifest and `packs.json` and makes all that was written last.
    fn seal(&self, build: &BuildId, given: &Given) -> Result<(Manifest, EditionId), ArchiveError> {
        let Written { begun, mut files, mut packs, .. } = self.parts.with(|parts| Written {
            begun: parts.begun.clone(),
            files: parts.files.clone(),
            packs: parts.packs.clone(),
            ..Written::default()
        });
        if let Some(name) = begun.iter().find(|name| !files.iter().any(|file| file.name == **name)) {
            return Err(ArchiveError::usage(format!("`{name}` was begun and not finished")));
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        packs.sort_by(|a, b| a.name.cmp(&b.name));
        let manifest = Manifest {
            build_id: build.clone(),
            content: content_digest(&files),
            files,
            given: given.clone(),
            inputs: given.digest(),
            schema: schema::MANIFEST.to_owned(),
        };
        let bytes = to_canonical(&manifest);
        let packs = Packs { packs, schema: schema::PACKS.to_owned() };
        let folder = self.edition();
        let mut unsynced = self.parts.with(|parts| std::mem::take(&mut parts.unsynced));
        for (name, bytes) in [("manifest.json", &bytes), ("packs.json", &to_canonical(&packs))] {
            let path = folder.join(name);
            let written = fs::File::create_new(&path)
                .and_then(|mut file| std::io::Write::write_all(&mut file, bytes).map(|()| file));
            unsynced.push(written.map_err(ArchiveError::write(path))?);
        }
        files::sync_all(&unsynced, &self.unsynced_sources()?).map_err(ArchiveError::write(&folder))?;
        files::sync_folder(&folder)?;
        Ok((manifest, EditionId::of_manifest(&bytes)))
    }

    /// Gives the folder its name. What stands there already is no edition that a pointer names: it was left by a writer
    /// that died, and goes with this stage.
    fn put_in_place(&self, build: &BuildId, edition: &EditionId) -> Result<(), ArchiveError> {
        let folder = self.archive.build_path(build);
        let path = self.archive.edition_path(build, edition);
        if !folder.is_dir() {
            fs::create_dir(&folder).map_err(ArchiveError::write(&folder))?;
            files::sync_folder(self.archive.root())?;
        }
        if path.exists() {
            let aside = self.folder().join("leftover");
            fs::rename(&path, &aside).map_err(ArchiveError::write(&path))?;
        }
        fs::rename(self.edition(), &path).map_err(ArchiveError::write(&path))?;
        files::sync_folder(&folder)
    }

    /// After the pointer could not be moved (the disk is full): takes the room back, unless it was moved after all.
    fn take_back(&self, build: &BuildId, edition: &EditionId, put: &[Sha256Digest]) {
        let is_named = match self.archive.current(build) {
            Ok(current) => {
                current.is_some_and(|now| now.editions.iter().any(|told| told.edition == *edition))
            }
            Err(_) => true,
        };
        if !is_named {
            // What fails here leaves an edition that no pointer names, for `gc`.
            let _ = fs::rename(self.archive.edition_path(build, edition), self.edition());
            // Only succeeds where it is empty.
            let _ = fs::remove_dir(self.archive.build_path(build));
            self.take_sources_back(put);
        }
    }

    /// Puts the files of an edition back that the pointer names and the disk has lost.
    fn bring_back(
        &self,
        build: &BuildId,
        edition: &EditionId,
        manifest: &Manifest,
    ) -> Result<(), ArchiveError> {
        let made = EditionId::of_manifest(&to_canonical(manifest));
        if made != *edition {
            let what = format!(
                "its files are lost, and its inputs now give edition {made}: remove it, then add again"
            );
            return Err(ArchiveError::damaged(self.archive.edition_path(build, edition), what));
        }
        self.put_in_place(build, edition)
    }
}

impl Archive {
    /// Refuses a pointer that would grow too large, before anything is put in place.
    pub(super) fn check_size(&self, current: &mut Current) -> Result<(), ArchiveError> {
        current.seal();
        let size = to_canonical(current).len();
        if size > elfscope_schema::limits::INDEX_PAGE {
            return Err(ArchiveError::Full { build: current.build_id.clone(), size });
        }
        Ok(())
    }
}

/// The position of an edition with the same content, made of the same inputs but for the derivation version.
fn same_content(
    archive: &Archive,
    current: &Current,
    manifest: &Manifest,
) -> Result<Option<usize>, ArchiveError> {
    let mut candidates = current.editions.iter().enumerate();
    let found = candidates
        .find(|(_, old)| old.content == manifest.content && old.derivation != manifest.given.derivation);
    let Some((position, old)) = found else { return Ok(None) };
    let path = archive.edition_path(&current.build_id, &old.edition).join("manifest.json");
    let Some(bytes) = files::read(&path)? else { return Ok(None) };
    let old = read_manifest(&path, &bytes)?;
    let given = Given { derivation: manifest.given.derivation, ..old.given };
    Ok((given == manifest.given).then_some(position))
}

/// Reads the bytes of a manifest.
pub(super) fn read_manifest(path: &Path, bytes: &[u8]) -> Result<Manifest, ArchiveError> {
    from_slice(bytes)
        .map_err(|error| ArchiveError::damaged(path, format!("it does not read as a manifest: {error}")))
}

/// What the pointer says of an edition.
fn told(manifest: &Manifest, edition: &EditionId, facts: Facts) -> CurrentEdition {
    CurrentEdition {
        also: Vec::new(),
        content: manifest.content,
        derivation: manifest.given.derivation,
        diagnostics: facts.diagnostics,
        edition: edition.clone(),
        file: facts.file,
        functions: facts.functions,
        has_dwarf: facts.has_dwarf,
        inputs: manifest.inputs,
        machine: facts.machine,
        name: clip::name(&facts.name),
        named: facts.named,
        package: facts.package.map(|package| clip::text(&package, clip::TEXT)),
        package_verified: facts.package_verified,
        provenance: clip::text(&facts.provenance, PROVENANCE),
        rows: facts.rows,
        rows_with_line: facts.rows_with_line,
        soname: facts.soname.as_ref().map(clip::name),
        sources: facts.sources,
    }
}

fn check_sorted(given: &Given) -> Result<(), ArchiveError> {
    let sorted = |digests: &[Sha256Digest]| digests.is_sorted_by(|a, b| a < b);
    if sorted(&given.files) && sorted(&given.packages) && sorted(&given.sources) {
        Ok(())
    } else {
        Err(ArchiveError::usage("the digests of inputs are not sorted, or one is there twice"))
    }
}

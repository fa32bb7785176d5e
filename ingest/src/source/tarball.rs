//! A tarball as a source tree. Nothing is written under a member's name: the bytes of all go into one file, and each is
//! hashed on the way.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, ErrorKind, Read as _, Write as _},
    path::Path,
};

use elfscope_schema::Sha256Digest;
use sha2::{Digest as _, Sha256};

use super::{
    SourceError, links, quilt,
    tree::Tree,
    walk::{self, TreeFile},
};
use crate::{
    InputError,
    elf::shown,
    input::package::{self, CopyError, Kind, Limits, Member},
    limits,
};

/// Reads a tarball; the bytes of its files are kept in `folder`.
pub(super) fn open(path: &Path, folder: &Path) -> Result<Tree, InputError> {
    let most = Limits { unpacked: limits::SOURCE_TOTAL, ..Limits::default() };
    let place = folder.join("files");
    let unwritable = |source| SourceError::Unwritable { path: place.clone(), source };
    let kept = File::create_new(&place).map_err(unwritable)?;
    let mut kept =
        Kept { file: BufWriter::with_capacity(walk::BUFFER, kept), size: 0, buffer: vec![0; walk::BUFFER] };
    let (mut files, mut applied): (Vec<TreeFile>, Vec<TreeFile>) = (Vec::new(), Vec::new());
    // Whether a file belongs to the tree.
    let takes = |count: usize, member: &[u8]| {
        if count >= limits::SOURCE_FILES {
            return Err(too_large(path, "files", limits::SOURCE_FILES as u64));
        }
        let parts = || member.split(|byte| *byte == b'/');
        if parts().count() > limits::FOLDER_DEPTH + 1 {
            return Err(too_large(path, "levels of folders", limits::FOLDER_DEPTH as u64));
        }
        Ok(!parts().any(walk::is_left_out))
    };
    let facts = package::read::<InputError>(path, &most, &mut |member: &mut Member<'_, '_>| {
        let counts = takes(files.len() + applied.len(), member.path)?;
        if counts || member.path.ends_with(quilt::APPLIED) {
            let kept = kept.keep(member).map_err(|error| match error {
                CopyError::Read(source) => package::unreadable(path, source),
                CopyError::Write(source) => unwritable(source).into(),
            })?;
            if counts { &mut files } else { &mut applied }.push(kept);
        }
        Ok(())
    })?;
    kept.file.flush().map_err(unwritable)?;
    // Less than all of it would be another tree under a digest of its own.
    if let Some((member, reason)) = facts.entries.first_refused.first() {
        let reason = format!("`{}` in it is refused: {reason}", shown(member));
        return Err(SourceError::BadPackage { path: path.to_owned(), reason }.into());
    }
    // A hard link is one more name of a member before it.
    let mut known: BTreeMap<Vec<u8>, usize> =
        (0..).zip(&files).map(|(number, file)| (file.path.clone(), number)).collect();
    for (name, to) in facts.entries.hard_links {
        if !takes(files.len(), &name)? {
            continue;
        }
        let Some(number) = known.get(&to) else {
            let reason = format!("`{}` in it is a hard link to what is no member before it", shown(&name));
            return Err(SourceError::BadPackage { path: path.to_owned(), reason }.into());
        };
        let file = TreeFile { path: name.clone(), ..files[*number].clone() };
        known.insert(name, files.len());
        files.push(file);
    }
    let is_tar = package::recognise(path)? == Some(Kind::Tar);
    let top = if is_tar { top_of(&files).to_vec() } else { Vec::new() };
    // Elsewhere it is what quilt keeps of some other tree.
    files.extend(applied.into_iter().filter(|file| file.path == [&top, quilt::APPLIED].concat()));
    for file in &mut files {
        file.path.drain(..top.len());
    }
    let links = facts.entries.symbolic_links.into_iter().filter_map(|(path, to)| {
        let path = path.strip_prefix(top.as_slice())?;
        let counts = !path.split(|byte| *byte == b'/').any(walk::is_left_out);
        counts.then(|| (path.to_vec(), to))
    });
    let links: BTreeMap<Vec<u8>, Vec<u8>> = links.take(limits::SOURCE_FILES).collect();
    // Of two members with one path the last counts, as `tar` unpacks them.
    files.reverse();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|earlier, last| earlier.path == last.path);
    links::add(&mut files, &links);
    Tree::new(path, place, files)
}

/// The bytes of all files, one after the other: a file of its own for each of 20,000 takes longer than to unpack them.
struct Kept {
    file: BufWriter<File>,
    size: u64,
    buffer: Vec<u8>,
}

impl Kept {
    /// Keeps a member. One that is too large to be a source is only hashed.
    fn keep(&mut self, member: &mut Member<'_, '_>) -> Result<TreeFile, CopyError> {
        let stored = self.size;
        let is_kept = member.size <= limits::SOURCE_FILE;
        let mut hasher = Sha256::new();
        loop {
            let read = match member.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(CopyError::Read(error)),
            };
            hasher.update(&self.buffer[..read]);
            if is_kept {
                self.file.write_all(&self.buffer[..read]).map_err(CopyError::Write)?;
                self.size += read as u64;
            }
        }
        let sha256 = Sha256Digest::from_bytes(hasher.finalize().into());
        Ok(TreeFile { path: member.path.to_vec(), sha256, size: member.size, stored: Some(stored) })
    }
}

/// The one folder that all files are in, with its `/`, and nothing where there is none: the root of `glibc-2.36.tar` is
/// `glibc-2.36`.
fn top_of(files: &[TreeFile]) -> &[u8] {
    let end = files.first().and_then(|file| file.path.iter().position(|byte| *byte == b'/'));
    let Some(end) = end else { return &[] };
    let top = &files[0].path[..=end];
    if files.iter().all(|file| file.path.starts_with(top)) { top } else { &[] }
}

fn too_large(path: &Path, what: &'static str, allowed: u64) -> InputError {
    SourceError::TooLarge { path: path.to_owned(), what, allowed }.into()
}

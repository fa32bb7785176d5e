//! Published sources as files of the loose tree, under the paths that the debug data gives them.
//!
//! Those paths are strangers' words. A path is laid down only as names below `src/abs/` or `src/rel/`, each of which is one
//! plain name to the file system. Files are made new and nothing here makes a link, so what is written is written there.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Component, Path, PathBuf},
};

use elfscope_schema::{Name, Sha256Digest, SourceFile};
use sha2::{Digest as _, Sha256};

use super::{Archive, ArchiveError};

/// Longest name of a file or folder that is made: what common file systems take.
const NAME: usize = 255;
/// Longest path below the folder of a build: file systems take 4,096 bytes with what stands before.
const PATH: usize = 2048;
/// How much of a source is read at once.
const READ: usize = 64 * 1024;

/// Lays a published source down in a build's folder. `None` where its path is none that a file can have here; else how many
/// bytes it has.
pub(super) fn lay(
    archive: &Archive,
    folder: &Path,
    file: &SourceFile,
    digest: Sha256Digest,
) -> Result<Option<u64>, ArchiveError> {
    let Some(path) = path(&file.path) else { return Ok(None) };
    let to = folder.join(path);
    let Some(parent) = to.parent() else { return Ok(None) };
    // A path may go through what is a file by another path, or be what is a folder by another one. Not all file systems have
    // all names.
    let is_refused = |error: &io::Error| {
        use io::ErrorKind::{AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory};
        matches!(error.kind(), AlreadyExists | InvalidFilename | InvalidInput | IsADirectory | NotADirectory)
    };
    let made = fs::create_dir_all(parent).and_then(|()| File::create_new(&to));
    match made {
        Ok(made) => copy(archive, digest, made, &to).map(Some),
        Err(error) if is_refused(&error) => Ok(None),
        Err(source) => Err(ArchiveError::Write { path: to, source }),
    }
}

/// Where a source goes, from the folder of its build.
fn path(name: &Name) -> Option<PathBuf> {
    let Name::Text(text) = name else { return None };
    let (root, rest) = match text.strip_prefix('/') {
        Some(rest) => ("src/abs", rest),
        None => ("src/rel", &**text),
    };
    let mut path = PathBuf::from(root);
    // As a file system does: two slashes are one.
    let mut parts = rest.split('/').filter(|part| !part.is_empty()).peekable();
    parts.peek()?;
    if text.len() > PATH || text.ends_with('/') {
        return None;
    }
    for part in parts {
        // One name to this system too: no `.` or `..`, no drive, no separator of its own.
        let mut components = Path::new(part).components();
        let is_name = matches!(
            (components.next(), components.next()),
            (Some(Component::Normal(only)), None) if only == part
        );
        if !is_name || part.len() > NAME || part.contains(char::is_control) {
            return None;
        }
        path.push(part);
    }
    Some(path)
}

/// Copies a source, and holds it to its name. A link to it would let who changes the tree change the archive.
fn copy(archive: &Archive, digest: Sha256Digest, mut to: File, at: &Path) -> Result<u64, ArchiveError> {
    let path = archive.source_path(digest);
    if !path.symlink_metadata().map_err(ArchiveError::read(&path))?.is_file() {
        return Err(ArchiveError::damaged(path, "it is no plain file"));
    }
    let mut from = File::open(&path).map_err(ArchiveError::read(&path))?;
    let (mut hash, mut size, mut buffer) = (Sha256::new(), 0, vec![0; READ]);
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(ArchiveError::Read { path, source }),
        };
        hash.update(&buffer[..count]);
        to.write_all(&buffer[..count]).map_err(ArchiveError::write(at))?;
        size += count as u64;
    }
    if Sha256Digest::from_bytes(hash.finalize().into()) != digest {
        return Err(ArchiveError::damaged(path, "its SHA-256 is not its name"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_folder_or_is_none() {
        let of = |text: &str| path(&text.into()).map(|path| path.to_str().unwrap().to_owned());
        assert_eq!(of("/usr/src/a.c").as_deref(), Some("src/abs/usr/src/a.c"));
        assert_eq!(of("//usr//a.c").as_deref(), Some("src/abs/usr/a.c"));
        assert_eq!(of("sysdeps/a.c").as_deref(), Some("src/rel/sysdeps/a.c"));
        assert_eq!(of("a b…/ü.c").as_deref(), Some("src/rel/a b…/ü.c"));
        assert_eq!(of("..c").as_deref(), Some("src/rel/..c"));
        let (long, deep) = ("x".repeat(NAME + 1), "x/".repeat(PATH) + "x");
        for bad in [
            "",
            "/",
            "//",
            "..",
            "/..",
            "../a.c",
            "a/../../b.c",
            "/a/..",
            ".",
            "a/./b",
            "a\0b",
            "a\nb",
            "a/",
            &long,
            &deep,
        ] {
            assert_eq!(of(bad), None, "{bad:?}");
        }
        assert_eq!(path(&Name::from_bytes(b"a\xff.c")), None);
        assert_eq!(path(&Name::from_bytes(&[b'x'; 5000])), None);
    }
}

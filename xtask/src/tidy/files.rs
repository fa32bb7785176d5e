//! The files of the repository: what git tracks or would track.

use std::{fs, path::Path};

use anyhow::Result;

use crate::run::{program, root};

/// One file.
pub(crate) struct File {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) bytes: Vec<u8>,
}

impl File {
    /// Its text, unless it is binary.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|text| !text.contains('\0'))
    }

    /// Its lines with their numbers from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text().into_iter().flat_map(|text| (1..).zip(text.lines()))
    }

    /// Lines of code: comments, the tests at the end of the file, and files of tests left out.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let is_test = name == "tests.rs" || name == "testing.rs" || name.ends_with("_tests.rs");
        self.lines()
            .take_while(move |_| !is_test)
            .take_while(|(_, line)| *line != "#[cfg(test)]")
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        has_extension(&self.path, "rs")
    }
}

/// All files.
pub(crate) struct Tree(Vec<File>);

impl Tree {
    /// Reads them: what git lists, new files included; in a tree without git everything but `target`.
    pub(crate) fn read() -> Result<Self> {
        let listed = program("git")
            .current_dir(root())
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .output()
            .ok()
            .filter(|output| output.status.success());
        let mut paths = Vec::new();
        match listed {
            Some(output) => {
                paths.extend(
                    String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(str::to_owned),
                );
            }
            None => walk(root(), "", &mut paths)?,
        }
        paths.sort();
        paths.dedup();
        // A file that was deleted and not yet committed is still listed.
        let read = |path: String| fs::read(root().join(&path)).ok().map(|bytes| File { path, bytes });
        Ok(Self(paths.into_iter().filter_map(read).collect()))
    }

    /// All of them, by path.
    pub(crate) fn files(&self) -> &[File] {
        &self.0
    }

    /// Rust files under a folder.
    pub(crate) fn rust_in(&self, folder: &str) -> impl Iterator<Item = &File> {
        self.0.iter().filter(move |file| file.is_rust() && file.path.starts_with(folder))
    }

    /// One file by its path.
    pub(crate) fn find(&self, path: &str) -> Result<&File> {
        let found = self.0.iter().find(|file| file.path == path);
        found.ok_or_else(|| anyhow::anyhow!("{path} is missing"))
    }
}

/// Whether a path ends in this extension.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|given| given == extension)
}

fn walk(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            if name != "target" && name != ".git" {
                walk(&entry.path(), &format!("{path}/"), paths)?;
            }
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_leaves_comments_and_tests_out() {
        let bytes = b"//! a\nfn a() {}\n    // b\n#[cfg(test)]\nmod tests {}\n".to_vec();
        let file = File { path: "a.rs".into(), bytes };
        assert_eq!(file.code().collect::<Vec<_>>(), [(2, "fn a() {}")]);
    }
}

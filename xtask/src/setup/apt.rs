//! Private apt roots: packages of several architectures, and sources, from the mirror that the system itself uses,
//! without changing the system.
//!
//! Adding a foreign architecture to the system's own lists fails on mirrors that don't have it for every suite
//! (the security suite, seen on bookworm), and it needs root; this needs neither. Each root reads one suite's binaries or
//! sources only, so that a mirror without the one still gives the other.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::run::{has, output, program, stdout};

/// Releases that another release's sources can come from.
const RELEASES: [&str; 5] = ["trixie", "bookworm", "forky", "sid", "bullseye"];

/// A private root, its lists read.
pub(super) struct Root {
    folder: TempDir,
}

impl Root {
    /// One that knows the packages of the system's release.
    pub(super) fn packages() -> Result<Self> {
        Self::with("deb", &release()?)
    }

    /// One that knows the sources of the system's release.
    pub(super) fn sources() -> Result<Self> {
        Self::with("deb-src", &release()?)
    }

    /// Those that know the sources of other releases, as far as the mirror has them.
    pub(super) fn sources_of_others() -> Result<impl Iterator<Item = Result<Self>>> {
        let own = release()?;
        let others = RELEASES.into_iter().filter(|suite| *suite != own.suite).collect::<Vec<_>>();
        let of = move |suite: &str| Self::with("deb-src", &Source { suite: suite.to_owned(), ..own.clone() });
        Ok(others.into_iter().map(of))
    }

    fn with(types: &str, source: &Source) -> Result<Self> {
        for tool in ["apt-get", "apt-cache", "dpkg-deb"] {
            if !has(tool) {
                bail!("there is no `{tool}` here");
            }
        }
        let root = Self { folder: tempfile::tempdir()? };
        for below in ["state/lists/partial", "cache/archives/partial", "parts"] {
            fs::create_dir_all(root.folder.path().join(below))?;
        }
        fs::write(root.folder.path().join("state/status"), "")?;
        fs::write(root.folder.path().join("parts/release.sources"), source.to_stanza(types))?;
        output(root.apt("apt-get", root.folder.path()).arg("update"))?;
        Ok(root)
    }

    /// Downloads packages, each `name:architecture`, into a folder.
    pub(super) fn download(&self, packages: &[&str], folder: &Path) -> Result<()> {
        println!("fetching {}", packages.join(", "));
        output(self.apt("apt-get", folder).arg("download").args(packages)).map(|_| ())
    }

    /// Downloads a source package, `name` or `name=version`, into a folder.
    pub(super) fn source(&self, package: &str, folder: &Path) -> Result<()> {
        println!("fetching the source of {package}");
        output(self.apt("apt-get", folder).args(["source", "--download-only", package])).map(|_| ())
    }

    /// The first package that a package depends on whose name starts and ends so.
    pub(super) fn depends(&self, package: &str, start: &str, end: &str) -> Result<String> {
        let said = stdout(self.apt("apt-cache", self.folder.path()).args(["depends", package]))?;
        let depends = said.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let mut names = depends.map(str::trim);
        let found = names.find(|name| name.starts_with(start) && name.ends_with(end));
        found.map(str::to_owned).with_context(|| format!("{package} depends on no {start}…{end}"))
    }

    fn apt(&self, tool: &str, folder: &Path) -> Command {
        let place = |name: &str, below: &str| format!("{name}={}", self.folder.path().join(below).display());
        let mut apt = program(tool);
        apt.arg("-q").current_dir(folder);
        for option in [
            place("Dir::State", "state"),
            place("Dir::State::status", "state/status"),
            place("Dir::Cache", "cache"),
            place("Dir::Etc::sourcelist", "none"),
            place("Dir::Etc::sourceparts", "parts"),
            "APT::Architecture=amd64".to_owned(),
            "APT::Architectures=amd64,arm64".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::Retries=2".to_owned(),
        ] {
            apt.args(["-o", &option]);
        }
        apt
    }
}

/// The system's own release, rather than updates or security fixes to it.
fn release() -> Result<Source> {
    sources().into_iter().find(Source::is_release).context("apt has no source with a release's `main`")
}

/// One source of packages.
#[derive(Clone, Debug, Default, PartialEq)]
struct Source {
    uri: String,
    suite: String,
    components: Vec<String>,
    /// The value of `Signed-By`, all its lines.
    signed_by: String,
}

impl Source {
    /// Whether it is a release itself, rather than updates or security fixes to it, which lack architectures.
    fn is_release(&self) -> bool {
        !self.suite.contains(['-', '/']) && self.components.iter().any(|component| component == "main")
    }

    fn to_stanza(&self, types: &str) -> String {
        let (uri, suite) = (&self.uri, &self.suite);
        let mut text = format!("Types: {types}\nURIs: {uri}\nSuites: {suite}\nComponents: main\n");
        if !self.signed_by.is_empty() {
            text += &format!("Signed-By: {}\n", self.signed_by);
        }
        text
    }
}

/// What the system's apt is configured with.
fn sources() -> Vec<Source> {
    let folder = Path::new("/etc/apt");
    let mut files = vec![folder.join("sources.list")];
    if let Ok(entries) = fs::read_dir(folder.join("sources.list.d")) {
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("list") => found.extend(text.lines().filter_map(parse_line)),
            Some("sources") => {
                for stanza in text.split("\n\n") {
                    found.extend(parse_stanza(stanza));
                }
            }
            _ => {}
        }
    }
    found
}

/// `deb [signed-by=KEYRING arch=…] URI SUITE COMPONENT…`
fn parse_line(line: &str) -> Option<Source> {
    let rest = line.trim().strip_prefix("deb")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let signed_by = options.split_whitespace().find_map(|option| option.strip_prefix("signed-by="));
    let mut words = rest.split('#').next()?.split_whitespace().map(str::to_owned);
    let (uri, suite) = (words.next()?, words.next()?);
    Some(Source {
        uri,
        suite,
        components: words.collect(),
        signed_by: signed_by.unwrap_or_default().to_owned(),
    })
}

/// One stanza in the format of deb822, a source for each of its suites.
fn parse_stanza(stanza: &str) -> Vec<Source> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in stanza.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                *value += &format!("\n{line}");
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
    }
    let field =
        |name: &str| fields.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str());
    let words = |name: &str| -> Vec<String> { field(name).split_whitespace().map(str::to_owned).collect() };
    if !words("types").iter().any(|kind| kind == "deb") || field("enabled").eq_ignore_ascii_case("no") {
        return Vec::new();
    }
    let Some(uri) = words("uris").into_iter().next() else { return Vec::new() };
    let source = |suite| Source {
        uri: uri.clone(),
        suite,
        components: words("components"),
        signed_by: field("signed-by").to_owned(),
    };
    words("suites").into_iter().map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_say_the_same() {
        let source = Source {
            uri: "http://mirror/debian".into(),
            suite: "bookworm".into(),
            components: vec!["main".into()],
            signed_by: "/usr/share/keyrings/a.gpg".into(),
        };
        let line =
            "deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] http://mirror/debian bookworm main # x";
        let stanza = "# x\nTypes: deb deb-src\n# y\nURIs: http://mirror/debian\nSuites: bookworm bookworm-updates\n\
                      Components: main\nSigned-By: /usr/share/keyrings/a.gpg\n";
        assert_eq!(parse_line(line).as_ref(), Some(&source));
        let parsed = parse_stanza(stanza);
        assert_eq!(parsed[0], source);
        assert_eq!(parsed.iter().filter(|source| source.is_release()).count(), 1);
        assert_eq!(parse_stanza(&source.to_stanza("deb")), [source]);
        assert_eq!(parse_line("# deb http://mirror/debian bookworm main"), None);
        assert_eq!(parse_line("deb-src http://mirror/debian bookworm main"), None);
        assert!(parse_stanza("Types: deb\nEnabled: no\nURIs: a\nSuites: b\nComponents: main").is_empty());
    }
}

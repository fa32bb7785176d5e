//! What is added, and which of its files are compared with what.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use super::Machine;
use crate::{
    run::{program, stdout},
    setup::{Debugged, Inputs, Packages},
};

/// Shares of rows whose lines must be those of the other tools, or explained.
const LIBC_LINES: f64 = 0.9999;
const OTHER_LINES: f64 = 0.999;

/// What one archive is made of.
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) given: Given,
    /// The unpacked package, where one is added.
    pub(super) files: Option<PathBuf>,
    pub(super) subjects: Vec<Subject>,
    pub(super) machine: Machine,
}

/// Arguments of `elfscope add`: all that it may read.
#[derive(Clone, Default)]
pub(super) struct Given {
    pub(super) inputs: Vec<PathBuf>,
    pub(super) debug: Vec<PathBuf>,
    pub(super) sources: Vec<PathBuf>,
}

/// One file of an input that is compared.
pub(super) struct Subject {
    pub(super) file: PathBuf,
    /// Whether every document is compared, or only lines: not every program has some of everything.
    pub(super) whole: bool,
    /// Its debug file, where its symbols are compared too.
    pub(super) debug: Option<PathBuf>,
    pub(super) lines: Option<Lines>,
}

/// How its lines are compared.
pub(super) struct Lines {
    pub(super) of: Debugged,
    /// A folder as `/usr/lib/debug` is one.
    pub(super) debug_folder: Option<PathBuf>,
    pub(super) required: f64,
}

impl Given {
    /// Only a file.
    pub(super) fn file(path: &Path) -> Self {
        Self { inputs: vec![path.to_owned()], ..Self::default() }
    }

    /// A package and the package of its debug files.
    pub(super) fn packages(packages: &Packages) -> Self {
        Self {
            inputs: vec![packages.package.deb.clone()],
            debug: vec![packages.debug.deb.clone()],
            ..Self::default()
        }
    }

    /// The command that adds it to an archive.
    pub(super) fn add(&self, elfscope: &Path, archive: &Path) -> Command {
        let mut command = program(elfscope);
        command.args(self.arguments(archive));
        command
    }

    /// The arguments of that command, `add` first.
    pub(super) fn arguments(&self, archive: &Path) -> Vec<OsString> {
        // What the system happens to have must change nothing.
        let mut arguments: Vec<OsString> =
            vec!["add".into(), "--only-given".into(), "--archive".into(), archive.into()];
        for (option, paths) in [("--debug", &self.debug), ("--source", &self.sources)] {
            for path in paths {
                arguments.extend([option.into(), path.into()]);
            }
        }
        arguments.extend(self.inputs.iter().map(OsString::from));
        arguments
    }
}

/// Every input that this machine has.
pub(super) fn inputs(found: &Inputs, elfscope: &Path) -> Vec<Input> {
    let mut inputs = Vec::new();
    let mut alone = |name, file: Option<&PathBuf>, debug: Option<&PathBuf>, lines, machine| {
        if let (Some(file), Some(machine)) = (file, machine) {
            let given = Given { debug: debug.into_iter().cloned().collect(), ..Given::file(file) };
            let subject = Subject { file: file.clone(), whole: true, debug: debug.cloned(), lines };
            inputs.push(Input { name, given, files: None, subjects: vec![subject], machine });
        }
    };
    let (amd64, arm64) = (found.amd64.as_ref(), found.arm64.as_ref());
    alone("libc amd64", amd64, None, None, Some(Machine::X86_64));
    if let (None, Some(debug)) = (&found.libc, &found.amd64_debug) {
        alone("libc amd64 and debug file", amd64, Some(debug), None, Some(Machine::X86_64));
    }
    alone("libc arm64", arm64, None, None, Some(Machine::Aarch64));
    // It is its own debug file: Rust's, with deep inlining.
    let own = elfscope.to_owned();
    let lines = has_lines(&own).then(|| Lines {
        of: Debugged { file: own.clone(), debug: own.clone() },
        debug_folder: None,
        required: OTHER_LINES,
    });
    alone("elfscope itself", Some(&own), None, lines, Machine::host());
    let mut packages = |name, packages: Option<&Packages>, sources: Vec<PathBuf>, required| {
        let Some(packages) = packages else { return };
        let given = Given { sources, ..Given::packages(packages) };
        let debug_folder = Some(packages.debug.files.join("usr/lib/debug"));
        let subject = |of: &Debugged| Subject {
            file: of.file.clone(),
            whole: found.amd64.as_ref() == Some(&of.file),
            debug: Some(of.debug.clone()),
            lines: Some(Lines { of: of.clone(), debug_folder: debug_folder.clone(), required }),
        };
        let subjects = packages.files.iter().map(subject).collect();
        let files = Some(packages.package.files.clone());
        inputs.push(Input { name, given, files, subjects, machine: Machine::X86_64 });
    };
    let sources = found.source.iter().map(|source| source.dsc.clone()).collect();
    packages("libc packages", found.libc.as_ref(), sources, LIBC_LINES);
    packages("python packages", found.python.as_ref(), Vec::new(), OTHER_LINES);
    packages(super::SHARED, found.shared.as_ref(), Vec::new(), OTHER_LINES);
    inputs
}

fn has_lines(file: &Path) -> bool {
    stdout(program("readelf").arg("-SW").arg(file)).is_ok_and(|sections| sections.contains(" .debug_line "))
}

//! `demo`: what this is, in half a minute.

use std::{
    env, fs,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use elfscope_core::{
    escape,
    listing::{self, Kind, Line, Options},
    window::From,
};
use elfscope_ingest::{AddOptions, Added};

use super::{Context, add, serve};
use crate::{archive::program, exit::Exit, failure::Failure, output::progress::Shown};

/// Adds a small example, this program itself and the system's C library to an archive of their own, and looks into one.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// End once everything is shown, also on a terminal
    #[arg(long)]
    once: bool,
}

/// The example of `examples/hello`, made by its `build.sh`.
const HELLO: &[u8] = include_bytes!("../../../examples/hello/hello");
/// Rows of its `main` that are shown.
const ROWS: u32 = 15;

impl Demo {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let archive = context.location.create()?;
        let scratch = Scratch::new()?;
        let hello = scratch.0.join("hello");
        fs::write(&hello, HELLO).map_err(|error| unwritable(&hello, &error))?;
        let libc = libc();
        let mut inputs = vec![hello];
        inputs.extend(env::current_exe());
        inputs.extend(libc.clone());
        let progress = Shown::new();
        let options = AddOptions { only_given: true, ..AddOptions::new(&inputs) };
        let report = elfscope_ingest::add(&archive, &options, &progress);
        progress.clear();
        let report = report?;
        if let Some((_, error)) = report.failed.into_iter().next() {
            return Err(error.into());
        }
        // In the order of the story, not of the names.
        let added: Vec<&Added> = inputs
            .iter()
            .filter_map(|input| report.added.iter().find(|added| added.input == *input))
            .collect();
        self.say(context, &added, libc.as_deref())?;
        // What a script started has to end.
        if self.once || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Ok(Exit::Done);
        }
        drop(scratch);
        context.out.plain("")?;
        serve::Demo::serve(context)
    }

    #[expect(clippy::unused_self, reason = "a part of the command")]
    fn say(&self, context: &mut Context, added: &[&Added], libc: Option<&Path>) -> Result<(), Failure> {
        let [hello, rest @ ..] = added else { return Ok(()) };
        context.out.line(&heading(
            if rest.len() == 2 { "Three binaries, read and kept in" } else { "Read and kept in" },
            &context.location.root,
        ))?;
        context.out.lines(&add::table(added).lines(2))?;
        if libc.is_none() {
            context
                .out
                .note("  no libc.so.6 is loaded here (musl, or a static program): two binaries will do")?;
        }
        context.out.plain("")?;
        let edition = context.location.edition(hello.build_id.as_str())?;
        let (main, _) = pollster::block_on(context.location.request().function(&edition, "main"))?;
        let window =
            pollster::block_on(context.location.request().window(&edition, &main, From::Row(0), ROWS))?;
        context.out.line(
            &Line::of(Kind::Title, "The start of hello's `main`")
                .and(Kind::Note, "  (examples/hello/hello.c)"),
        )?;
        let mut shown = window.value;
        shown.next_row = None;
        context.out.lines(&listing::render(
            &edition,
            &shown,
            Options { head: false, ..Options::default() },
        ))?;
        context.out.plain("")?;
        let unknown = match libc {
            Some(_) => {
                "source lines (this version reads none yet), and names inside libc that its file leaves out."
            }
            None => "source lines: this version reads none yet.",
        };
        context.out.line(&Line::of(Kind::Title, "Not known: ").and(Kind::Plain, unknown))?;
        if let Some(libc) = libc {
            let line = context.location.command(&["add", &libc.to_string_lossy(), "--debug", "FILE"]);
            let line = Line::of(Kind::Note, "  its debug file tells those: ").and(Kind::Symbol, line);
            context.out.line(&line)?;
        }
        context.out.plain("")?;
        context.out.line(&Line::of(Kind::Title, "Go on with"))?;
        let hello = name(context, hello);
        let mut commands = vec![vec!["show", &hello, "main"], vec!["callers", &hello, "import:puts"]];
        let others: Vec<String> = rest.iter().map(|other| name(context, other)).collect();
        match others.as_slice() {
            [.., libc_name] if libc.is_some() => commands.push(vec!["show", libc_name, "qsort"]),
            [me, ..] => commands.push(vec!["search", me, "demo"]),
            [] => commands.push(vec!["search", &hello, "hello"]),
        }
        for command in commands {
            let line = Line::of(Kind::Plain, "  ").and(Kind::Symbol, context.location.command(&command));
            context.out.line(&line)?;
        }
        context.out.note(format!("A binary of your own: {} add FILE", program()))
    }
}

/// The name of a build, where it means just this one in the archive; else the start of its id.
fn name(context: &Context, added: &Added) -> String {
    match context.location.edition(&added.name) {
        Ok(edition) if edition.source().build_id == added.build_id => added.name.clone(),
        _ => elfscope_core::short(&added.build_id).to_owned(),
    }
}

fn heading(text: &str, path: &Path) -> Line {
    Line::of(Kind::Title, text).and(Kind::Note, format!(" {}", escape::name(&path.to_string_lossy())))
}

/// The C library that this program runs with, else one where it usually is.
fn libc() -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let loaded = maps
        .lines()
        .filter_map(|line| line.split_once('/'))
        .map(|(_, path)| PathBuf::from(format!("/{path}")));
    let usual =
        ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib", "/lib"];
    loaded
        .filter(|path| path.file_name().is_some_and(|name| name == "libc.so.6"))
        .chain(usual.iter().map(|folder| Path::new(folder).join("libc.so.6")))
        .find(|path| path.is_file())
}

/// A folder that is deleted again.
struct Scratch(PathBuf);

impl Scratch {
    /// A new folder: one that is there already, whosever it is, is not taken.
    fn new() -> Result<Self, Failure> {
        let base = env::temp_dir();
        for number in 0..100 {
            let folder = base.join(format!("elfscope-demo-{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&folder, &error)),
            }
        }
        Err(Failure::new(Exit::Archive, format!("no new folder can be made in `{}`", base.display())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be deleted is a small file in the folder for temporary ones.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Archive, format!("`{}` can't be written: {error}", path.display()))
}

//! `cargo xtask bench`: `elfscope add` against `objdump` on the same libc, taking turns: stripped against `-d`, with debug
//! data and sources against `-dl` on the same file with its debug data in it. And `elfscope serve` beside nginx.

mod serve;

use std::{
    ffi::OsString,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use tempfile::TempDir;

use crate::{
    real,
    report::Report,
    run::{has, output, program, root, stdout, text},
    setup::Inputs,
};

/// The page that `--write` writes, and the comments between which the tables stand in it.
const PAGE: &str = "docs/benchmarks.md";
const START: &str = "<!-- made by `cargo xtask bench --write` -->";
const END: &str = "<!-- end -->";
/// The heading of the second table, and what stands below it.
const WITH_SOURCES: &str = "Adding libc with debug data and sources";
const SERVING: &str = "Serving libc's functions";
const WHAT_IS_READ: &str = "objdump reads the file with its debug data in it (`eu-unstrip`) and no source; elfscope reads \
    the stripped file, the debug file and the unpacked source package, and writes everything: each cited source included.";

#[derive(Args)]
pub(crate) struct Options {
    /// Runs of each
    #[arg(long, default_value_t = 15)]
    runs: usize,
    /// Rounds of serving
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Cores that each may use
    #[arg(long, default_value_t = 2)]
    cores: usize,
    /// Measure this elfscope instead of building one
    #[arg(long)]
    elfscope: Option<PathBuf>,
    /// Put the tables into docs/benchmarks.md
    #[arg(long)]
    write: bool,
}

/// Makes the command that is measured, which may write into a folder of its own.
type Run = Box<dyn Fn(&Path) -> Result<Command>>;

/// One of the things that take turns.
struct Turn {
    what: &'static str,
    run: Run,
    times: Vec<Duration>,
    peak: u64,
    /// What runs wrote, kept until all have run: ext4 is slow to make files for a minute after as many were deleted (seen:
    /// it tripled the time of adding sources).
    folders: Vec<TempDir>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let elfscope = match &options.elfscope {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => real::build()?,
    };
    let found = Inputs::find(false, &mut Report::default())?;
    let libc = found.amd64.as_ref().context("there is no libc to add")?;
    let (runs, cores) = (options.runs.max(1), options.cores.max(1));
    let work = tempfile::tempdir()?;
    let mut text = measured(stripped(&elfscope, libc, cores), libc, runs, cores)?;
    match (&found.amd64_debug, &found.source) {
        (Some(debug), Some(source)) => {
            let unstripped = work.path().join("libc.so.6");
            output(program("eu-unstrip").arg("-o").arg(&unstripped).args([libc, debug]))?;
            let turns = with_sources(&elfscope, [libc.as_path(), debug, &source.tree], &unstripped, cores);
            let table = measured(turns, &unstripped, runs, cores)?;
            text += &format!("\n## {WITH_SOURCES}\n\n{WHAT_IS_READ}\n\n{table}");
        }
        _ => println!("not measured, for lack of debug file or sources: {WITH_SOURCES}"),
    }
    if let Some(table) = serve::table(&elfscope, libc, options.rounds, work.path())? {
        text += &format!("\n## {SERVING}\n\n{table}");
    }
    print!("{text}");
    if options.write {
        write(&text)?;
        println!("written to {PAGE}");
    }
    Ok(())
}

/// Lets them take turns, and tells how long they took.
fn measured(mut turns: Vec<Turn>, libc: &Path, runs: usize, cores: usize) -> Result<String> {
    for number in 0..=runs {
        for turn in &mut turns {
            let time = turn.time()?;
            // The first round only fills the caches.
            if number > 0 {
                turn.times.push(time);
            }
        }
    }
    for turn in &mut turns {
        turn.peak = turn.peak()?;
    }
    table(&turns, libc, runs, cores)
}

fn stripped(elfscope: &Path, libc: &Path, cores: usize) -> Vec<Turn> {
    vec![
        objdump("`objdump -d libc.so.6 > /dev/null`", "-d", libc, cores, false),
        objdump("`objdump -d libc.so.6 > FILE`", "-d", libc, cores, true),
        add("`elfscope add libc.so.6`, a new archive each time", elfscope, &[libc.into()], cores),
    ]
}

fn with_sources(
    elfscope: &Path,
    [libc, debug, sources]: [&Path; 3],
    unstripped: &Path,
    cores: usize,
) -> Vec<Turn> {
    let what = "`elfscope add libc.so.6 --debug FILE --source FOLDER`, a new archive each time";
    let arguments = [libc.into(), "--debug".into(), debug.into(), "--source".into(), sources.into()];
    vec![
        objdump("`objdump -dl libc.so.6 > /dev/null`", "-dl", unstripped, cores, false),
        objdump("`objdump -dl libc.so.6 > FILE`", "-dl", unstripped, cores, true),
        add(what, elfscope, &arguments, cores),
    ]
}

fn objdump(what: &'static str, option: &'static str, file: &Path, cores: usize, is_kept: bool) -> Turn {
    let file = file.to_owned();
    let run = move |folder: &Path| {
        let mut command = on_cores(cores, "objdump".as_ref());
        command.arg(option).arg(&file);
        let listing = if is_kept { File::create(folder.join("listing"))?.into() } else { Stdio::null() };
        command.stdout(listing);
        Ok(command)
    };
    Turn { what, run: Box::new(run), times: Vec::new(), peak: 0, folders: Vec::new() }
}

fn add(what: &'static str, elfscope: &Path, arguments: &[OsString], cores: usize) -> Turn {
    let (elfscope, arguments) = (elfscope.to_owned(), arguments.to_owned());
    let run = move |folder: &Path| {
        let mut command = on_cores(cores, elfscope.as_os_str());
        command.arg("add").arg("--archive").arg(folder.join("archive"));
        // Debug data that the system happens to have would be read too.
        command.arg("--only-given").arg("--jobs").arg(cores.to_string()).args(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    };
    Turn { what, run: Box::new(run), times: Vec::new(), peak: 0, folders: Vec::new() }
}

/// A program on the first cores only, where the system can say so.
fn on_cores(cores: usize, name: &std::ffi::OsStr) -> Command {
    let all = std::thread::available_parallelism().map_or(cores, std::num::NonZero::get);
    if all <= cores || !has("taskset") {
        return program(name);
    }
    let mut command = program("taskset");
    command.arg("-c").arg(format!("0-{}", cores - 1)).arg(name);
    command
}

impl Turn {
    fn time(&mut self) -> Result<Duration> {
        let folder = tempfile::tempdir()?;
        let mut command = (self.run)(folder.path())?;
        self.folders.push(folder);
        let start = Instant::now();
        let status = command.status().with_context(|| text(&command))?;
        let time = start.elapsed();
        if !status.success() {
            bail!("`{}` ended with {status}", text(&command));
        }
        Ok(time)
    }

    /// The most memory that it held, in bytes, in a run of its own: `getrusage` tells it, through Python.
    fn peak(&mut self) -> Result<u64> {
        const SCRIPT: &str = "import resource, subprocess, sys\n\
            subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n\
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
        let folder = tempfile::tempdir()?;
        let measured = (self.run)(folder.path())?;
        self.folders.push(folder);
        let mut command = program("python3");
        command.arg("-c").arg(SCRIPT).arg(measured.get_program()).args(measured.get_args());
        let kilobytes: u64 = stdout(&mut command)?.trim().parse().context("no number of kilobytes")?;
        Ok(kilobytes * 1024)
    }

    fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times[times.len() / 2]
    }
}

fn table(turns: &[Turn], libc: &Path, runs: usize, cores: usize) -> Result<String> {
    let version = stdout(program("objdump").arg("--version"))?;
    let version = version.lines().next().unwrap_or_default();
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(": ")?.1));
    let size = fs::metadata(libc)?.len();
    let first = turns[0].median();
    let mut table = format!(
        "`cargo xtask bench --runs {runs} --cores {cores}`, on {cores} cores of {}; libc.so.6 (x86-64, {size} bytes); \
         {version}.\nRuns take turns; the first round is not counted.\n\n\
         | what | median | fastest | slowest | ratio | peak memory |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
        cpu.unwrap_or("an unnamed processor"),
    );
    for turn in turns {
        let (fastest, slowest) = (turn.times.iter().min(), turn.times.iter().max());
        let seconds = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64);
        table += &format!(
            "| {} | {:.3} s | {:.3} s | {:.3} s | {:.2} | {:.0} MB |\n",
            turn.what,
            turn.median().as_secs_f64(),
            seconds(fastest),
            seconds(slowest),
            turn.median().as_secs_f64() / first.as_secs_f64(),
            turn.peak as f64 / 1e6,
        );
    }
    Ok(table)
}

/// Replaces what stands between the two comments of the page; the rest of it is written by hand.
fn write(table: &str) -> Result<()> {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path)
        .unwrap_or_else(|_| format!("# Benchmarks\n\n## Adding libc\n\n{START}\n{END}\n"));
    let (before, rest) = page.split_once(START).with_context(|| format!("{PAGE} has no line `{START}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE} has no line `{END}`"))?;
    fs::write(&path, format!("{before}{START}\n\n{table}\n{END}{after}"))?;
    Ok(())
}

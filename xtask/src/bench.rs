//! `cargo xtask bench`: `elfscope add` against `objdump -d` on the same libc, taking turns.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{
    real,
    report::Report,
    run::{has, program, root, stdout, text},
    setup::Inputs,
};

/// The page that `--write` writes, and the comments between which the table stands in it.
const PAGE: &str = "docs/benchmarks.md";
const START: &str = "<!-- made by `cargo xtask bench --write` -->";
const END: &str = "<!-- end -->";

#[derive(Args)]
pub(crate) struct Options {
    /// Runs of each
    #[arg(long, default_value_t = 15)]
    runs: usize,
    /// Cores that each may use
    #[arg(long, default_value_t = 2)]
    cores: usize,
    /// Measure this elfscope instead of building one
    #[arg(long)]
    elfscope: Option<PathBuf>,
    /// Put the table into docs/benchmarks.md
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
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let elfscope = match &options.elfscope {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => real::build()?,
    };
    let libc = Inputs::find(false, &mut Report::default())?.amd64.context("there is no libc to add")?;
    let (runs, cores) = (options.runs.max(1), options.cores.max(1));
    let mut turns = turns(&elfscope, &libc, cores);
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
    let table = table(&turns, &libc, runs, cores)?;
    print!("{table}");
    if options.write {
        write(&table)?;
        println!("written to {PAGE}");
    }
    Ok(())
}

fn turns(elfscope: &Path, libc: &Path, cores: usize) -> Vec<Turn> {
    let turn = |what, run: Run| Turn { what, run, times: Vec::new(), peak: 0 };
    let objdump = {
        let libc = libc.to_owned();
        move || {
            let mut command = on_cores(cores, "objdump".as_ref());
            command.arg("-d").arg(&libc);
            command
        }
    };
    let to_file = objdump.clone();
    let (elfscope, libc) = (elfscope.to_owned(), libc.to_owned());
    vec![
        turn(
            "`objdump -d libc.so.6 > /dev/null`",
            Box::new(move |_| {
                let mut command = objdump();
                command.stdout(Stdio::null());
                Ok(command)
            }),
        ),
        turn(
            "`objdump -d libc.so.6 > FILE`",
            Box::new(move |folder| {
                let mut command = to_file();
                command.stdout(File::create(folder.join("listing"))?);
                Ok(command)
            }),
        ),
        turn(
            "`elfscope add libc.so.6`, a new archive each time",
            Box::new(move |folder| {
                let mut command = on_cores(cores, elfscope.as_os_str());
                command
                    .arg("add")
                    .arg("--archive")
                    .arg(folder.join("archive"))
                    .arg("--jobs")
                    .arg(cores.to_string());
                command.arg(&libc).stdout(Stdio::null()).stderr(Stdio::null());
                Ok(command)
            }),
        ),
    ]
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
    fn time(&self) -> Result<Duration> {
        let folder = tempfile::tempdir()?;
        let mut command = (self.run)(folder.path())?;
        let start = Instant::now();
        let status = command.status().with_context(|| text(&command))?;
        let time = start.elapsed();
        if !status.success() {
            bail!("`{}` ended with {status}", text(&command));
        }
        Ok(time)
    }

    /// The most memory that it held, in bytes, in a run of its own: `getrusage` tells it, through Python.
    fn peak(&self) -> Result<u64> {
        const SCRIPT: &str = "import resource, subprocess, sys\n\
            subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n\
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
        let folder = tempfile::tempdir()?;
        let measured = (self.run)(folder.path())?;
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

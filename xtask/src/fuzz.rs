//! `cargo xtask fuzz`: builds the fuzzing targets and runs each for a while.
//!
//! cargo-fuzz, what it builds and the inputs that were found to reach new code stay in the folder that lasts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{
    report::Report,
    run::{cache, cargo, has, output, program, root, show, text},
};

#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = SECONDS)]
    seconds: u64,
    /// Run only these targets: elf, dwarf, package
    targets: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seconds: SECONDS, targets: Vec::new() }
    }
}

const SECONDS: u64 = 60;
const VERSION: &str = "0.13.2";
const TARGETS: [&str; 3] = ["elf", "dwarf", "package"];
/// Longest input: twice the largest seed.
const MAX_LENGTH: u32 = 64 << 10;
/// Seconds and memory that one input may take.
const TIMEOUT: u32 = 30;
const MEMORY_MB: u32 = 2048;

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<()> {
    for target in &options.targets {
        if !TARGETS.contains(&target.as_str()) {
            bail!("there is no target `{target}`: there are {}", TARGETS.join(", "));
        }
    }
    let targets: Vec<&str> = TARGETS
        .into_iter()
        .filter(|name| options.targets.is_empty() || options.targets.iter().any(|of| of == name))
        .collect();
    let fuzz = Fuzz { folder: cache().with_file_name("fuzz") };
    if let Err(error) = fuzz.install() {
        report.skip("fuzzing", format!("{error:#}"));
        return Ok(());
    }
    show(&mut fuzz.command("build"))?;
    // One core each.
    let ran: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = targets
            .iter()
            .map(|target| (target, scope.spawn(|| fuzz.run(target, options.seconds))))
            .collect();
        running.into_iter().map(|(target, run)| (*target, run.join())).collect()
    });
    for (target, ran) in ran {
        match ran {
            Ok(Ok(executed)) => {
                println!("{target}: {executed} inputs in {} s, nothing found", options.seconds);
                report.pass();
            }
            Ok(Err(error)) => report.fail(format!("fuzzing {target}: {error:#}")),
            Err(_) => report.fail(format!("fuzzing {target}: it could not be watched")),
        }
    }
    Ok(())
}

struct Fuzz {
    /// Where everything lasts.
    folder: PathBuf,
}

impl Fuzz {
    /// Installs cargo-fuzz where it is missing.
    fn install(&self) -> Result<()> {
        if has("cargo-fuzz") || self.tool().is_file() {
            return Ok(());
        }
        println!("installing cargo-fuzz {VERSION}");
        show(
            cargo()
                .args(["install", "--quiet", "cargo-fuzz", "--locked", "--version", VERSION, "--root"])
                .arg(&self.folder),
        )
    }

    fn tool(&self) -> PathBuf {
        self.folder.join("bin/cargo-fuzz")
    }

    /// A command of cargo-fuzz.
    fn command(&self, name: &str) -> Command {
        let tool = self.tool();
        let mut command = program(if tool.is_file() { tool.as_path() } else { Path::new("cargo-fuzz") });
        // What cargo-fuzz asks of the compiler are options of nightly ones, or of stable ones that are told to allow them.
        command.env("RUSTC_BOOTSTRAP", "1").env_remove("CARGO_TARGET_DIR").current_dir(root().join("fuzz"));
        // What is ours has one unsafe line, and the libraries in C are not instrumented: a sanitizer would find nothing more in
        // half as many inputs. Overflows and assertions are checked.
        command.args(["fuzz", name, "--sanitizer", "none", "--target-dir"]).arg(self.folder.join("target"));
        command
    }

    /// Runs one target. Returns how many inputs it was given.
    fn run(&self, target: &str, seconds: u64) -> Result<u64> {
        let (corpus, found) =
            (self.folder.join("corpus").join(target), self.folder.join("found").join(target));
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&found)?;
        let mut command = self.command("run");
        command.arg(target).arg(&corpus).arg("--");
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={MAX_LENGTH}"));
        command.arg(format!("-timeout={TIMEOUT}")).arg(format!("-rss_limit_mb={MEMORY_MB}"));
        command.arg("-print_final_stats=1").arg(format!("-artifact_prefix={}/", found.display()));
        let ended =
            output(&mut command).with_context(|| format!("what it found is in `{}`", found.display()))?;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let executed = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        let executed = executed.and_then(|count| count.trim().parse().ok());
        executed.with_context(|| format!("`{}` doesn't say what it did", text(&command)))
    }
}

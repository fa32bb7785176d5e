//! `fn/<key>.json` of libc: `elfscope serve` from its packs, beside nginx from loose files and gzip files made of them. The load
//! comes from `wrk`, a process of its own, and both take turns.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use crate::run::{has, output, program, stdout};

/// Connections that ask at the same time.
const CONNECTIONS: usize = 16;
/// How long each is asked in a round, in seconds.
const SECONDS: usize = 5;
/// What is said above the table.
const WHAT: &str = "Every function of libc in turn, gzip accepted, over connections that stay open; nginx serves \
    `elfscope export --loose` with `gzip_static` and writes no log, elfscope serves the archive's packs and logs each request.";

/// A server that is being asked.
struct Server {
    what: &'static str,
    child: Child,
    /// Kept open: a server that can't say where it is ends.
    _out: Option<BufReader<ChildStdout>>,
    /// What stands before a function's key.
    before: String,
    rounds: Vec<Round>,
}

/// What `wrk` said.
#[derive(Clone, Copy)]
struct Round {
    per_second: f64,
    /// In milliseconds.
    median: f64,
    most: f64,
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The table; none where a program for it is missing.
pub(super) fn table(elfscope: &Path, libc: &Path, rounds: usize, work: &Path) -> Result<Option<String>> {
    if let Some(missing) = ["nginx", "wrk", "gzip"].into_iter().find(|tool| !has_server(tool)) {
        println!("not measured, for lack of {missing}: serving functions");
        return Ok(None);
    }
    let (archive, loose) = (work.join("archive"), work.join("loose"));
    let ours = |arguments: &[&str]| {
        let mut command = program(elfscope);
        command.arg("--archive").arg(&archive).args(arguments);
        command
    };
    output(ours(&["add", "--only-given"]).arg(libc))?;
    output(ours(&["export", "--loose"]).arg(&loose))?;
    let folders = fs::read_dir(&loose)?.filter_map(|entry| Some(entry.ok()?.path().join("fn")));
    let folder = folders.into_iter().find(|folder| folder.is_dir()).context("nothing was exported")?;
    let build = folder.parent().and_then(Path::file_name).context("no build")?.to_string_lossy().into_owned();
    let mut keys: Vec<String> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    keys.sort();
    output(program("gzip").args(["-k", "-r"]).arg(&folder))?;
    let mut servers =
        [nginx(work, &loose, &build)?, serve(ours(&["serve", "--addr", "127.0.0.1:0"]), &build)?];
    for round in 0..=rounds {
        for server in &mut servers {
            let told = server.ask(work, &keys)?;
            // The first round only fills the caches.
            if round > 0 {
                server.rounds.push(told);
            }
        }
    }
    let first = servers[0].median();
    let mut table = format!(
        "{WHAT}\n{CONNECTIONS} connections, {rounds} rounds of {SECONDS} s each; {}.\n\n\
         | what | answers a second | ratio | median | 99 % | peak memory |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
        version()?
    );
    for server in &servers {
        let middle = server.median();
        table += &format!(
            "| {} | {:.0} | {:.2} | {:.2} ms | {:.2} ms | {:.0} MB |\n",
            server.what,
            middle.per_second,
            middle.per_second / first.per_second,
            middle.median,
            middle.most,
            peak(server.child.id())? as f64 / 1e6,
        );
    }
    Ok(Some(table))
}

impl Server {
    /// One round: `wrk` asks for all functions, over and over.
    fn ask(&self, work: &Path, keys: &[String]) -> Result<Round> {
        let script = work.join("ask.lua");
        let paths: Vec<String> = keys.iter().map(|key| format!("\"{}{key}\"", self.path())).collect();
        let text = format!(
            "local paths = {{{}}}\nlocal at = 0\nwrk.headers[\"Accept-Encoding\"] = \"gzip\"\n\
             request = function()\n  at = at % #paths + 1\n  return wrk.format(\"GET\", paths[at])\nend\n",
            paths.join(",\n")
        );
        fs::write(&script, text)?;
        let mut wrk = program("wrk");
        wrk.args(["--latency", "-t1", "-c", &CONNECTIONS.to_string(), "-d", &format!("{SECONDS}s"), "-s"])
            .arg(script);
        let said = stdout(wrk.arg(&self.before))?;
        if said.contains("Non-2xx") || said.contains("Socket errors") {
            bail!("{} refused some: {said}", self.what);
        }
        let after = |start: &str| -> Result<String> {
            let line = said.lines().find_map(|line| line.trim().strip_prefix(start));
            line.map(|rest| rest.trim().to_owned()).with_context(|| format!("wrk said no `{start}`: {said}"))
        };
        Ok(Round {
            per_second: after("Requests/sec:")?.parse()?,
            median: milliseconds(&after("50%")?)?,
            most: milliseconds(&after("99%")?)?,
        })
    }

    fn path(&self) -> &str {
        let rest = self.before.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').map_or("/", |at| &rest[at..])
    }

    /// The round in the middle.
    fn median(&self) -> Round {
        let mut rounds = self.rounds.clone();
        rounds.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
        rounds[rounds.len() / 2]
    }
}

fn serve(mut command: Command, build: &str) -> Result<Server> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let out = child.stdout.take().context("no output")?;
    let mut out = BufReader::new(out);
    let mut line = String::new();
    out.read_line(&mut line)?;
    let what = "`elfscope serve`";
    let mut server = Server { what, child, _out: Some(out), before: String::new(), rounds: Vec::new() };
    let url = line.split(' ').find(|word| word.starts_with("http://")).context("it says no address")?;
    server.before = format!("{}/archive/{build}/fn/", url.trim().trim_end_matches('/'));
    Ok(server)
}

fn nginx(work: &Path, root: &Path, build: &str) -> Result<Server> {
    // Free a moment ago; who takes it in between makes the bench fail, not lie.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let folder = work.join("nginx");
    fs::create_dir_all(&folder)?;
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("  {kind}_temp_path {};\n", folder.join(kind).display()))
        .concat();
    let user = if crate::run::is_root() { "user root;\n" } else { "" };
    let settings = format!(
        "{user}daemon off;\nworker_processes auto;\npid {};\nerror_log {};\nevents {{ worker_connections 1024; }}\n\
         http {{\n{temporary}  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  \
         types {{ application/json json; }}\n  server {{\n    listen 127.0.0.1:{port};\n    root {};\n    gzip_static on;\n  }}\n}}\n",
        folder.join("pid").display(),
        folder.join("errors").display(),
        root.display(),
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, settings)?;
    let mut command = program(path_of("nginx").context("no nginx")?);
    command.arg("-c").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    let before = format!("http://127.0.0.1:{port}/{build}/fn/");
    let what = "nginx, `gzip_static`";
    let server = Server { what, child: command.spawn()?, _out: None, before, rounds: Vec::new() };
    for _ in 0..100 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(server);
        }
        sleep(Duration::from_millis(50));
    }
    bail!("nginx doesn't listen: {}", fs::read_to_string(folder.join("errors")).unwrap_or_default())
}

/// Debian puts nginx where only root's path has it.
fn path_of(name: &str) -> Option<PathBuf> {
    if has(name) {
        return Some(name.into());
    }
    Some(Path::new("/usr/sbin").join(name)).filter(|path| path.is_file())
}

fn has_server(name: &str) -> bool {
    path_of(name).is_some()
}

fn version() -> Result<String> {
    let nginx = output(program(path_of("nginx").context("no nginx")?).arg("-v"))?;
    Ok(String::from_utf8_lossy(&nginx.stderr).trim().trim_start_matches("nginx version: ").to_owned())
}

/// The most memory that a process and those that it started held, in bytes.
fn peak(process: u32) -> Result<u64> {
    let told = |process: u32| -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    };
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let children =
        children.split_whitespace().filter_map(|child| told(child.parse().ok()?).ok()).sum::<u64>();
    Ok(told(process)? + children)
}

/// `1.23ms`, `12.00us`, `1.20s`.
fn milliseconds(text: &str) -> Result<f64> {
    for (unit, factor) in [("us", 0.001), ("ms", 1.0), ("s", 1000.0)] {
        if let Some(number) = text.strip_suffix(unit) {
            return Ok(number.trim().parse::<f64>()? * factor);
        }
    }
    bail!("`{text}` is no time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let told = ["120.00us", "1.50ms", "2.00s"].map(|text| milliseconds(text).unwrap());
        assert_eq!(told, [0.12, 1.5, 2000.0]);
    }
}

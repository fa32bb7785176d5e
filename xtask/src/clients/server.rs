//! A server that runs while something asks it.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use anyhow::{Context as _, Result};

use crate::run::program;

/// A running `elfscope serve`; it ends with this value.
pub(crate) struct Server {
    child: Child,
    /// Held open: who can't say where it listens doesn't serve.
    output: BufReader<ChildStdout>,
    port: u16,
}

impl Server {
    /// Starts one at a free port.
    pub(crate) fn start(elfscope: &Path, archive: &Path) -> Result<Self> {
        let mut command = program(elfscope);
        command.arg("--archive").arg(archive).args(["serve", "--addr", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().context("no output")?;
        let mut server = Self { child, output: BufReader::new(output), port: 0 };
        let mut line = String::new();
        while server.output.read_line(&mut line)? > 0 {
            if let Some((_, rest)) = line.split_once("http://127.0.0.1:") {
                let digits = rest.split(|sign: char| !sign.is_ascii_digit()).next().unwrap_or_default();
                server.port = digits.parse().with_context(|| line.clone())?;
                return Ok(server);
            }
            line.clear();
        }
        anyhow::bail!("`elfscope serve` said no address")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Where it speaks MCP.
    pub(super) fn url(&self) -> String {
        format!("http://localhost:{}/mcp", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

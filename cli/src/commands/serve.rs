//! `serve`: the archive over HTTP, on this machine.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use elfscope_core::{
    Config,
    listing::{Kind, Line},
};
use elfscope_local::{Log, Server, Stop};

use super::Context;
use crate::{archive::quote, exit::Exit, failure::Failure};

/// Serves the archive over HTTP until it is interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  elfscope serve\n  curl http://127.0.0.1:8787/archive/index.json\n  \
    DEBUGINFOD_URLS=http://127.0.0.1:8787 gdb ./a.out\n  elfscope serve --addr 0.0.0.0:8787 --allow-host box.lan")]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = DEFAULT)]
    addr: SocketAddr,
    /// A host that requests may name, beside this machine's own names
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// What links start with, where this is reached by another address than it listens at
    #[arg(long, value_name = "URL", value_parser = public_url)]
    public_url: Option<String>,
}

/// Where it listens unless something else is said.
const DEFAULT: &str = "127.0.0.1:8787";

impl Serve {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let mut allowed = self.allow_host.clone();
        // An address can't be made to mean another one, as a name can: whoever binds to it means it.
        if !self.addr.ip().is_unspecified() {
            allowed.push(host(self.addr.ip()));
        }
        let server = bind(context, self.addr, allowed, self.public_url.as_deref()).map_err(|error| {
            let failure = Failure::new(Exit::Usage, format!("nothing can listen at {}: {error}", self.addr));
            match error.kind() {
                io::ErrorKind::AddrInUse => {
                    failure.hint("choose another port, or any that is free: `--addr 127.0.0.1:0`")
                }
                _ => failure,
            }
        })?;
        if self.addr.ip().is_unspecified() && self.allow_host.is_empty() {
            let note =
                "only requests that name this machine itself are answered; `--allow-host HOST` names others";
            context.out.note(note)?;
        }
        serve(context, server, None)
    }
}

/// The part of `demo` that serves.
pub(crate) struct Demo;

impl Demo {
    /// Serves at the usual port, or at a free one where that is taken.
    pub(crate) fn serve(context: &mut Context) -> Result<Exit, Failure> {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, 8787));
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = bind(context, usual, Vec::new(), None)
            .or_else(|_taken| bind(context, free, Vec::new(), None))
            .map_err(|error| Failure::new(Exit::Usage, format!("nothing can listen at {free}: {error}")))?;
        let edition = context.location.edition("hello")?;
        let curl = format!("/archive/{}/function/main", edition.source().build_id);
        serve(context, server, Some(&curl))
    }
}

fn bind(
    context: &Context,
    address: SocketAddr,
    allowed_hosts: Vec<String>,
    public_url: Option<&str>,
) -> io::Result<Server> {
    let config = Config {
        public_url: public_url.unwrap_or_default().to_owned(),
        allowed_hosts,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let server = Server::bind(address, context.location.store().clone(), config, Log::stderr())?;
    // Links to this very server, where nothing else was said.
    match public_url {
        Some(_) => Ok(server),
        None => {
            let url = base(server.address()?);
            Ok(server.public_url(url))
        }
    }
}

fn serve(context: &mut Context, server: Server, example: Option<&str>) -> Result<Exit, Failure> {
    let address = server.address().map_err(|error| Failure::output(&error))?;
    let base = base(address);
    let root = context.location.root.to_string_lossy();
    let title = Line::of(Kind::Title, "Serving ").and(Kind::Plain, quote(&root)).and(Kind::Title, " at ");
    context.out.line(&title.and(Kind::Symbol, format!("{base}/")))?;
    let path = example.unwrap_or("/archive/index.json");
    let curl = Line::of(Kind::Note, "  from a shell: ").and(Kind::Symbol, format!("curl {base}{path}"));
    context.out.line(&curl)?;
    let line = format!("claude mcp add --transport http elfscope {base}/mcp");
    let agent = Line::of(Kind::Note, "  for an agent: ").and(Kind::Symbol, line);
    context.out.line(&agent.and(Kind::Note, ", or any MCP client at that URL"))?;
    context.out.note("  it ends with Ctrl-C")?;
    context.out.flush()?;
    server
        .run(&Stop::default())
        .map_err(|error| Failure::new(Exit::Archive, format!("the server can't run: {error}")))?;
    Ok(Exit::Done)
}

/// The URL of an address; of this machine where it listens at all of them.
fn base(address: SocketAddr) -> String {
    let ip = match address.ip() {
        ip if ip.is_unspecified() => IpAddr::from(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}:{}", host(ip), address.port())
}

fn host(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

fn public_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', ' ']) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("it starts with `https://` or `http://` and names a host".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        assert_eq!(base("0.0.0.0:80".parse().unwrap()), "http://127.0.0.1:80");
        assert_eq!(base("[::1]:80".parse().unwrap()), "http://[::1]:80");
        assert_eq!(public_url("https://a.example/b/").unwrap(), "https://a.example/b");
        for bad in ["a.example", "https://", "ftp://a", "https://a/#b"] {
            assert!(public_url(bad).is_err(), "{bad}");
        }
    }
}

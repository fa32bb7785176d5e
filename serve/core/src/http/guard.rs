//! Who may ask: the host that a request names, and the origin that a page of another site has.
//!
//! A page anywhere can make a browser send requests to a loopback address under a name of its own (DNS rebinding): it would
//! then read, as of the same origin, what only the person at that machine should. So the host must be one that the server knows.

use core::net::{Ipv4Addr, Ipv6Addr};

use http::{
    HeaderMap, Uri,
    header::{HOST, ORIGIN},
};

use crate::{Config, Error, Result};

/// The names of this machine, as refusals list them.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Refuses a host that is neither a loopback one nor listed.
///
/// # Errors
/// [`Error::Forbidden`].
pub fn host(config: &Config, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    let named = authority(uri, headers);
    match named.as_deref() {
        Some(named) if is_allowed(config, named) => Ok(()),
        _ => Err(forbidden(config, "host", named.unwrap_or_default())),
    }
}

/// Refuses an origin that is neither the host asked nor one that may be.
///
/// # Errors
/// [`Error::Forbidden`].
pub fn origin(config: &Config, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    let mut values = headers.get_all(ORIGIN).iter();
    let Some(value) = values.next() else { return Ok(()) };
    let given = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let named = given.split_once("://").map(|(_, host)| host);
    let is_same = named.is_some() && named == authority(uri, headers).as_deref();
    match named {
        Some(named) if values.next().is_none() && (is_same || is_allowed(config, named)) => Ok(()),
        _ => Err(forbidden(config, "origin", given)),
    }
}

/// The host that a request names, with its port. HTTP/2 names it in the URI. Two of them are none.
fn authority(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(HOST).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().map(str::to_owned),
        (None, _) => uri.authority().map(ToString::to_string),
        _ => None,
    }
}

fn is_allowed(config: &Config, authority: &str) -> bool {
    let Some(host) = without_port(authority) else { return false };
    let same = |other: &str| without_port(other).is_some_and(|other| other.eq_ignore_ascii_case(host));
    let public = config.public_url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    is_loopback(host) || config.allowed_hosts.iter().any(|other| same(other)) || public.is_some_and(same)
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`, without the port.
fn without_port(authority: &str) -> Option<&str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let port = port.strip_prefix(':').unwrap_or(port);
    (!host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

fn forbidden(config: &Config, what: &'static str, given: String) -> Error {
    let allowed = LOOPBACK.iter().map(|host| (*host).to_owned());
    Error::Forbidden { what, given, allowed: allowed.chain(config.allowed_hosts.iter().cloned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            public_url: "https://archive.example/base".to_owned(),
            allowed_hosts: vec!["box.lan".to_owned()],
            version: String::new(),
        }
    }

    #[test]
    fn hosts() {
        for (named, expected) in [
            ("localhost", true),
            ("localhost:8787", true),
            ("LocalHost:1", true),
            ("127.0.0.1:8787", true),
            ("127.9.9.9", true),
            ("[::1]:8787", true),
            ("[::1]", true),
            ("box.lan:80", true),
            ("BOX.lan", true),
            ("archive.example", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("box.lan.evil.example", false),
            ("0.0.0.0", false),
            ("[::2]", false),
            ("[::1].evil.example", false),
            ("localhost:evil", false),
            ("user@localhost", false),
            ("", false),
            (":80", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, named.parse().unwrap());
            assert_eq!(host(&config(), &Uri::from_static("/"), &headers).is_ok(), expected, "{named}");
        }
        assert!(host(&config(), &Uri::from_static("/"), &HeaderMap::new()).is_err(), "none");
        assert!(host(&config(), &Uri::from_static("http://localhost/x"), &HeaderMap::new()).is_ok());
        let mut twice = HeaderMap::new();
        twice.append(HOST, "localhost".parse().unwrap());
        twice.append(HOST, "localhost".parse().unwrap());
        assert!(host(&config(), &Uri::from_static("/"), &twice).is_err(), "two");
    }

    #[test]
    fn origins() {
        for (named, expected) in [
            (None, true),
            (Some("http://box.lan:8787"), true),
            (Some("http://localhost:3000"), true),
            (Some("https://archive.example"), true),
            (Some("https://evil.example"), false),
            (Some("null"), false),
            (Some(""), false),
            (Some("https://"), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, "box.lan:8787".parse().unwrap());
            if let Some(named) = named {
                headers.insert(ORIGIN, named.parse().unwrap());
            }
            assert_eq!(origin(&config(), &Uri::from_static("/"), &headers).is_ok(), expected, "{named:?}");
        }
    }
}

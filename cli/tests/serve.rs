//! `serve` as a person meets it: it says where it is, answers, logs, and ends when it is told to.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello/hello");

fn elfscope(archive: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elfscope"));
    command.env("ELFSCOPE_ARCHIVE", archive).args(args);
    command
}

/// A server, and where it says that it is.
fn serve(archive: &std::path::Path, args: &[&str]) -> (Child, String) {
    let mut child = elfscope(archive, &[&["serve", "--addr", "127.0.0.1:0"], args].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let (_, address) = line.trim_end().rsplit_once("http://").unwrap();
    let address = address.trim_end_matches('/').to_owned();
    let mut rest = String::new();
    while !rest.contains("Ctrl-C") {
        assert_ne!(out.read_line(&mut rest).unwrap(), 0, "{line}{rest}");
    }
    assert!(rest.contains(&format!("curl http://{address}/archive/index.json")), "{rest}");
    (child, address)
}

fn get(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn it_answers_logs_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    assert!(elfscope(&archive, &["add", HELLO]).stdout(Stdio::null()).status().unwrap().success());
    for signal in ["INT", "TERM"] {
        let (mut child, address) = serve(&archive, &["--allow-host", "box.lan"]);
        assert!(get(&address, "box.lan", "/archive/index.json").contains("\"hello\""));
        assert!(get(&address, "evil.example", "/archive/index.json").starts_with("HTTP/1.1 403 "));
        assert!(get(&address, "localhost", "/").contains("<!doctype html>"));
        let kill = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
        assert!(kill.unwrap().success());
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}: {log}");
        assert!(log.starts_with("GET /archive/index.json 200 "), "{log}");
        assert_eq!(log.lines().count(), 3, "{log}");
    }
}

#[test]
fn a_taken_port_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = serve(folder.path(), &[]);
    let output = elfscope(folder.path(), &["serve", "--addr", &address]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing can listen at") && said.contains("--addr 127.0.0.1:0"), "{said}");
    child.kill().unwrap();
    child.wait().unwrap();
}

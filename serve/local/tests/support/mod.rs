//! A server of a small archive, and a client that sends what it likes and reads what comes.
#![allow(dead_code, unreachable_pub, reason = "every test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    thread::JoinHandle,
    time::Duration,
};

use elfscope_core::Config;
use elfscope_ingest::{AddOptions, add, archive::Archive};
use elfscope_local::{FolderStore, Limits, Log, Server, Stop};
use tempfile::TempDir;

/// What the test's binary is compiled from.
pub const SOURCE: &str = "#include <stdio.h>\n\nint twice(int number)\n{\n    return 2 * number;\n}\n\nint main(void)\n{\n    printf(\"%d\\n\", twice(21));\n    return 0;\n}\n";

/// A binary compiled in a folder of its own, whose source was given with it and is gone now; the archive of it; a server.
pub struct Served {
    pub folder: TempDir,
    pub binary: PathBuf,
    /// The source's path, as the debug data has it.
    pub source: PathBuf,
    pub build: String,
    pub address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub fn new() -> Self {
        Self::with(Limits::default(), |_| {})
    }

    /// With these limits; `before` may change the archive's folder first.
    pub fn with(limits: Limits, before: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (source, binary) = (root.join("project/src/twice.c"), root.join("twice"));
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(&source, SOURCE).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-g", "-O0", "-Wl,--build-id", "-o"])
            .arg(&binary)
            .arg(&source)
            .current_dir(root.join("project"));
        assert!(cc.status().unwrap().success(), "it needs a C compiler");
        let archive_folder = root.join("archive");
        let archive = Archive::create(&archive_folder).unwrap();
        let (inputs, trees) = ([binary.clone()], [root.join("project")]);
        let options = AddOptions { only_given: true, sources: &trees, ..AddOptions::new(&inputs) };
        let report = add(&archive, &options, &()).unwrap();
        let build = report.added[0].build_id.to_string();
        fs::remove_dir_all(root.join("project")).unwrap();
        before(&archive_folder);
        let store = FolderStore::new(&archive_folder);
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), store, Config::default(), Log::none());
        let server = server.unwrap().limits(limits);
        let (address, stop) = (server.address().unwrap(), Stop::default());
        let thread = {
            let stop = stop.clone();
            std::thread::spawn(move || server.run(&stop).unwrap())
        };
        Self { folder, binary, source, build, address, stop, thread: Some(thread) }
    }

    pub fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    /// `<build-id>/<edition>`.
    pub fn edition(&self) -> String {
        let store = FolderStore::new(self.archive());
        let edition = pollster::block_on(elfscope_core::Request::new(store).edition(&self.build)).unwrap();
        edition.folder().to_owned()
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream: BufReader::new(stream) }
    }

    pub fn get(&self, path: &str, headers: &str) -> Reply {
        self.connect().ask("GET", path, headers)
    }

    /// Ends the server and waits for it.
    pub fn stop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A connection.
pub struct Client {
    pub stream: BufReader<TcpStream>,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }
}

impl Client {
    /// Sends a request and reads its answer. Headers end in `\r\n` each.
    #[track_caller]
    pub fn ask(&mut self, method: &str, path: &str, headers: &str) -> Reply {
        let host = if headers.to_ascii_lowercase().contains("host:") { "" } else { "host: localhost\r\n" };
        self.send(format!("{method} {path} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes());
        self.reply(method == "HEAD").expect("an answer")
    }

    pub fn send(&mut self, bytes: &[u8]) {
        // A server that has refused already may have closed its side.
        let _ = self.stream.get_mut().write_all(bytes);
    }

    /// The next answer; none where the connection ends before one.
    pub fn reply(&mut self, is_head: bool) -> Option<Reply> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let status: u16 = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        if is_head || status == 304 || status == 204 {
            return Some(reply);
        }
        if reply.header("transfer-encoding") == "chunked" {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line).unwrap();
                let size = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk).unwrap();
                reply.body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    break;
                }
            }
        } else {
            let length: usize = reply.header("content-length").parse().unwrap_or(0);
            reply.body = vec![0; length];
            if self.stream.read_exact(&mut reply.body).is_err() {
                return None;
            }
        }
        Some(reply)
    }
}

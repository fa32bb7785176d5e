//! A line a request. Who reads the log slowly, or not at all, delays no answer: lines that don't fit are counted instead.

use std::{
    fmt,
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use elfscope_core::escape;

/// Lines that may wait to be written.
const WAITING: usize = 1024;

/// What is said of a request.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) bytes: Option<u64>,
    pub(crate) time: Duration,
}

/// Where lines go.
#[derive(Clone, Debug, Default)]
pub struct Log(Option<Arc<Writer>>);

#[derive(Debug)]
struct Writer {
    send: SyncSender<Line>,
    lost: Arc<AtomicU64>,
}

impl Log {
    /// A log that keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// A log on standard error.
    #[must_use]
    pub fn stderr() -> Self {
        let (send, lines) = sync_channel::<Line>(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        // It ends with the last sender. A log that can't be written is no reason to end.
        let spawned = thread::Builder::new().name("elfscope-log".to_owned()).spawn(move || {
            for line in lines {
                let lost = counted.swap(0, Ordering::Relaxed);
                let mut text = if lost > 0 { format!("({lost} lines left out)\n") } else { String::new() };
                text.push_str(&line.to_string());
                text.push('\n');
                let _ = io::stderr().write_all(text.as_bytes());
            }
        });
        Self(spawned.is_ok().then(|| Arc::new(Writer { send, lost })))
    }

    pub(crate) fn line(&self, line: Line) {
        if let Some(writer) = &self.0
            && writer.send.try_send(line).is_err()
        {
            writer.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, path) = (escape::name(&self.method), escape::name(&self.path));
        let bytes = self.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        let time = self.time.as_secs_f64() * 1000.0;
        write!(f, "{method} {path} {} {bytes} {time:.1} ms", self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_line() {
        let line = Line {
            method: "GET".to_owned(),
            path: "/a\u{1b}[31m\nb".to_owned(),
            status: 200,
            bytes: None,
            time: Duration::from_micros(1250),
        };
        assert_eq!(line.to_string(), "GET /a\\u{1b}[31m\\nb 200 - 1.2 ms");
    }
}

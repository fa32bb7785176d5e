//! MCP over standard input and output: a message a line, one at a time, nothing else on the output.

use std::io::{self, BufRead, Read as _, Write};

use elfscope_core::{Service, Store, mcp};

/// A line's longest, with what may end it.
const MOST_LINE: usize = mcp::MOST_MESSAGE + "\r\n".len();

/// Answers what comes in until it ends. A line that is too long is refused by its start; the rest of it is never held.
///
/// # Errors
/// Input that can't be read, or an output that can't be written.
pub fn serve<S: Store>(
    service: &Service<S>,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MOST_LINE as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() == MOST_LINE && !line.ends_with(b"\n") {
            skip_line(input)?;
        }
        let message = line.strip_suffix(b"\n").unwrap_or(&line);
        let message = message.strip_suffix(b"\r").unwrap_or(message);
        if message.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Some(reply) = pollster::block_on(mcp::answer(service, message)) {
            for message in reply.messages() {
                output.write_all(message)?;
                output.write_all(b"\n")?;
            }
            output.flush()?;
        }
    }
}

/// Reads to the end of the line, or of the input.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let held = input.fill_buf()?;
        let (skipped, ends) = match held.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (held.len(), held.is_empty()),
        };
        input.consume(skipped);
        if ends {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use elfscope_core::Config;

    use super::*;

    /// An archive with nothing in it.
    struct Empty;

    impl Store for Empty {
        async fn get(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
            Ok(None)
        }

        async fn get_range(&self, _: &str, _: u64, _: u64) -> io::Result<Option<Vec<u8>>> {
            Ok(None)
        }
    }

    /// Lines of the answers, read through a buffer of this size.
    fn answers(input: &[u8], buffer: usize) -> Vec<String> {
        let service = Service::new(Empty, Config::default());
        let mut output = Vec::new();
        serve(&service, &mut BufReader::with_capacity(buffer, Cursor::new(input)), &mut output).unwrap();
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"id":1,"jsonrpc":"2.0","result":{}}"#;

    #[test]
    fn a_line_a_message() {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let input = format!("{PING}\n\r\n \n{note}\n{PING}\r\n{PING}");
        for buffer in [1, 7, 4096] {
            assert_eq!(answers(input.as_bytes(), buffer), [PONG; 3], "{buffer}");
        }
        assert!(answers(b"", 16).is_empty());
    }

    #[test]
    fn what_is_too_long_is_refused_and_what_follows_answered() {
        let long = "x".repeat(1_000_000);
        for (line, expected) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"x":"{long}"}}}}"#),
                Some("\"a\""),
            ),
            (format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"x":"{long}"}}}}"#), None),
            (long.clone(), Some("null")),
        ] {
            for buffer in [1000, 1 << 20] {
                let answers = answers(format!("{line}\n{PING}\n").as_bytes(), buffer);
                assert_eq!(answers.last().unwrap(), PONG);
                assert_eq!(answers.len(), 1 + usize::from(expected.is_some()));
                if let Some(id) = expected {
                    assert!(answers[0].contains("E_INPUT_TOO_LARGE"), "{}", answers[0]);
                    assert!(answers[0].contains(&format!("\"id\":{id},")), "{}", answers[0]);
                }
            }
        }
    }

    #[test]
    fn the_longest_message_is_read() {
        let fill = |size: usize| {
            let bare = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""}}"#.len();
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#,
                "x".repeat(size - bare)
            )
        };
        for end in ["\n", "\r\n", ""] {
            let most = fill(mcp::MOST_MESSAGE);
            assert_eq!(most.len(), mcp::MOST_MESSAGE);
            assert_eq!(answers(format!("{most}{end}").as_bytes(), 4096), [PONG], "{end:?}");
            let more = fill(mcp::MOST_MESSAGE + 1);
            let told = answers(format!("{more}{end}").as_bytes(), 4096);
            assert!(told.len() == 1 && told[0].contains("E_INPUT_TOO_LARGE"), "{end:?} {told:?}");
        }
    }
}

//! MCP: one small dispatcher without a runtime, for stdio, HTTP and the Worker alike; both eras of the protocol.
//!
//! One message in, at most one message out: [`answer`]. Nothing is kept between two messages, so one connection can't change
//! what another is told, and a host may carry messages in whatever order it likes.
//!
//! | file | subject |
//! | --- | --- |
//! | `message` | bytes to a message: identifiers, what is refused before anything is asked |
//! | `json` | JSON read strictly: no key twice, no deep nesting |
//! | `cut` | what can be told of a message that is too long to be read |
//! | `era` | which revision a message speaks |
//! | `refused` | protocol errors |
//! | `dispatch` | methods to answers |
//! | `about` | what the server says of itself |
//! | `tools`, `resources`, `prompts`, `complete` | what there is to ask |
//! | `fixtures` | what the conformance suite calls (feature `conformance`) |

mod about;
mod base64;
mod complete;
mod cut;
mod dispatch;
mod era;
#[cfg(feature = "conformance")]
mod fixtures;
mod json;
mod message;
mod prompts;
mod refused;
mod resources;
mod tools;

use serde_json::{Value, json};

pub(crate) use self::{
    base64::decode as base64_decode,
    dispatch::{respond, respond_refused},
    era::{Header, decide},
    message::{Asked, Id, Incoming, read},
    refused::{Kind, Refused},
};

pub use era::{Era, VERSIONS};

use crate::{Service, Store, limits};

/// Longest message, in bytes.
pub const MOST_MESSAGE: usize = limits::BODY;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// One JSON-RPC message, on one line, without the newline.
    pub message: Vec<u8>,
    /// What the message refuses, where it does.
    pub(crate) refused: Option<Kind>,
    /// The revision it is written for.
    pub(crate) era: Era,
    /// Messages that come before it: only fixture tools have any.
    #[cfg(feature = "conformance")]
    pub before: Vec<Vec<u8>>,
}

impl Reply {
    /// All of it, in the order in which it is sent.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        #[cfg(feature = "conformance")]
        let before = self.before.as_slice();
        #[cfg(not(feature = "conformance"))]
        let before: &[Vec<u8>] = &[];
        before.iter().chain([&self.message]).map(Vec::as_slice)
    }

    fn of(message: &Value, refused: Option<Kind>, era: Era) -> Self {
        Self {
            message: message.to_string().into_bytes(),
            refused,
            era,
            #[cfg(feature = "conformance")]
            before: Vec::new(),
        }
    }
}

/// Answers one message of a transport without headers; `None` where nothing is to be said: to a notification, or to an answer.
///
/// What is longer than [`MOST_MESSAGE`] is refused by what its start tells; a host needn't hold more than one byte more.
pub async fn answer<S: Store>(service: &Service<S>, message: &[u8]) -> Option<Reply> {
    if message.len() > MOST_MESSAGE {
        return too_large(message);
    }
    match read(message) {
        Ok(Incoming::Silent) => None,
        Ok(Incoming::Asked(asked)) => match decide(&asked, None) {
            Ok(era) => Some(respond(service, &asked, era).await),
            Err(refused) => Some(respond_refused(Some(&asked.id), &refused, Era::OLDER)),
        },
        Err((id, refused)) => Some(respond_refused(id.as_ref(), &refused, Era::OLDER)),
    }
}

/// The refusal of a message that is too long; `None` where it is a notification, as far as its start tells.
pub(crate) fn too_large(start: &[u8]) -> Option<Reply> {
    let heading = cut::heading(start);
    if heading.is_notification() {
        return None;
    }
    Some(respond_refused(heading.id.as_ref(), &Refused::too_large(), Era::OLDER))
}

/// A JSON-RPC message that answers.
fn envelope(id: Option<&Id>, key: &str, value: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id.map_or(Value::Null, Id::value)});
    message[key] = value;
    message
}

//! Protocol errors: by code, with data that says what is allowed. What a tool refuses is no protocol error but a result.

use serde_json::{Value, json};

use super::{MOST_MESSAGE, era::Era};
use crate::{Error, Refusal, limits};

/// What is refused; never `-32603`, which would say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No JSON that every reader reads alike.
    Parse,
    /// JSON, but no message.
    Invalid,
    /// No such method.
    Method,
    /// A method that is not asked so; whether the message is at fault rather than what it asks for.
    Params { early: bool },
    /// A resource that isn't there, to clients of the older era.
    NotFound,
    /// A header that says otherwise than the message.
    Header,
    /// What the client must be able to do and doesn't say it can.
    #[cfg_attr(not(feature = "conformance"), expect(dead_code, reason = "only fixtures ask for more"))]
    Capability,
    /// A revision that isn't spoken.
    Version,
    /// The archive can't be read.
    Archive,
}

impl Kind {
    /// Its code.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            Self::Invalid => -32600,
            Self::Method => -32601,
            Self::Params { .. } => -32602,
            Self::NotFound => -32002,
            Self::Header => -32020,
            Self::Capability => -32021,
            Self::Version => -32022,
            Self::Archive => -32000,
        }
    }
}

/// A protocol error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) kind: Kind,
    message: String,
    data: Option<Value>,
}

impl Refused {
    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), data: None }
    }

    pub(super) fn parse(error: &serde_json::Error) -> Self {
        Self::new(Kind::Parse, format!("not JSON that can be read: {error}"))
    }

    pub(super) fn invalid(why: &str) -> Self {
        Self::new(Kind::Invalid, format!("not a JSON-RPC request: {why}"))
    }

    pub(super) fn method(method: &str) -> Self {
        let shown = crate::escape::name(&method.chars().take(100).collect::<String>());
        Self::new(Kind::Method, format!("no method `{shown}`"))
    }

    pub(crate) fn params(why: &str) -> Self {
        Self::new(Kind::Params { early: false }, why)
    }

    /// The same, where the message is at fault rather than what it asks for.
    pub(super) fn early(self) -> Self {
        Self { kind: Kind::Params { early: true }, ..self }
    }

    pub(crate) fn header(name: &str, why: &str) -> Self {
        Self::new(Kind::Header, format!("the header `{name}` and the message differ: {why}"))
    }

    #[cfg(feature = "conformance")]
    pub(super) fn capability(name: &str) -> Self {
        let data = json!({"requiredCapabilities": {name: {}}});
        Self::new(Kind::Capability, format!("the client must be capable of {name}")).with(data)
    }

    pub(super) fn unsupported(data: Value) -> Self {
        Self::new(Kind::Version, "this revision of the protocol isn't spoken").with(data)
    }

    /// A message that is too long to be read.
    pub(super) fn too_large() -> Self {
        let refusal = too_large("the message", MOST_MESSAGE);
        Self::new(Kind::Invalid, refusal.message.as_str()).with(json!(refusal))
    }

    /// An argument that is too long to be meant.
    pub(super) fn argument(name: &str) -> Self {
        let refusal = too_large(&format!("`{name}`"), limits::ARGUMENT);
        Self::params(&refusal.message).with(json!(refusal))
    }

    /// A resource that can't be read, for whatever reason.
    pub(super) fn resource(error: &Error, uri: &str, era: Era) -> Self {
        let kind = match era {
            _ if error.is_archive() => Kind::Archive,
            Era::Modern => Kind::Params { early: false },
            Era::Older(_) => Kind::NotFound,
        };
        let mut data = json!(error.refusal());
        data["uri"] = Value::from(uri);
        Self::new(kind, error.to_string()).with(data)
    }

    pub(super) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The error as JSON-RPC has it.
    pub(super) fn value(&self) -> Value {
        let mut value = json!({"code": self.kind.code(), "message": self.message});
        if let Some(data) = &self.data {
            value["data"] = data.clone();
        }
        value
    }
}

/// The refusal of something by its size.
pub(super) fn too_large(what: &str, most: usize) -> Refusal {
    Refusal {
        code: "E_INPUT_TOO_LARGE",
        message: format!("{what} has more than {most} bytes"),
        given: None,
        allowed: vec![format!("at most {most} bytes")],
        fix: Some("ask for less at a time".to_owned()),
    }
}

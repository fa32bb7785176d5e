//! One message: a request with its identifier, or something that is not answered.

use serde_json::{Map, Number, Value};

use super::{json, refused::Refused};

/// A request's identifier: a string or an integer, given back as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

impl Id {
    /// The identifier that a value is; no fraction and no `null`.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.clone()),
        }
    }
}

/// What came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A request.
    Asked(Asked),
    /// A notification, or the answer to a request that this server never made: nothing is said to either.
    Silent,
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

impl Asked {
    /// A parameter that is a text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name).and_then(Value::as_str)
    }

    /// What the request says of itself.
    pub(super) fn meta(&self) -> Option<&Value> {
        self.params.get("_meta")
    }
}

/// Reads a message. With a refusal comes the identifier to refuse it under, where the message tells one.
pub(crate) fn read(bytes: &[u8]) -> Result<Incoming, (Option<Id>, Refused)> {
    let value = json::parse(bytes).map_err(|error| (None, Refused::parse(&error)))?;
    let mut object = match value {
        Value::Object(object) => object,
        Value::Array(_) => {
            let why = "a batch; send one message at a time";
            return Err((None, Refused::invalid(why)));
        }
        _ => return Err((None, Refused::invalid("no object"))),
    };
    let given = object.get("id").cloned();
    let id = given.as_ref().and_then(Id::of);
    let refuse = |why: &str| Err((id.clone(), Refused::invalid(why)));
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse("without `\"jsonrpc\": \"2.0\"`");
    }
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        None if object.contains_key("result") || object.contains_key("error") => return Ok(Incoming::Silent),
        _ => return refuse("without a `method` that is a string"),
    };
    if given.is_none() {
        return Ok(Incoming::Silent);
    }
    let Some(id) = id else {
        return refuse("with an `id` that is neither a string nor an integer");
    };
    match object.remove("params") {
        None => Ok(Incoming::Asked(Asked { id, method, params: Map::new() })),
        Some(Value::Object(params)) => Ok(Incoming::Asked(Asked { id, method, params })),
        Some(_) => Err((Some(id), Refused::params("`params` is no object").early())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "asked Number(Number(1))"),
            (r#"{"jsonrpc":"2.0","id":"1","method":"ping","params":{}}"#, "asked Text(\"1\")"),
            (
                r#"{"jsonrpc":"2.0","id":-9007199254740993,"method":"a"}"#,
                "asked Number(Number(-9007199254740993))",
            ),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "silent"),
            (r#"{"jsonrpc":"2.0","method":"notifications/x","params":5}"#, "silent"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "silent"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{}}"#, "silent"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "Some(Number(Number(1))) -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "Some(Number(Number(1))) -32600"),
            (r#"{"id":1,"method":"ping"}"#, "Some(Number(Number(1))) -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, "Some(Number(Number(1))) -32602"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "None -32600"),
            ("[]", "None -32600"),
            ("7", "None -32600"),
            ("{", "None -32700"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "None -32700"),
        ] {
            let told = match read(text.as_bytes()) {
                Ok(Incoming::Silent) => "silent".to_owned(),
                Ok(Incoming::Asked(asked)) => format!("asked {:?}", asked.id),
                Err((id, refused)) => format!("{id:?} {}", refused.kind.code()),
            };
            assert_eq!(told, expected, "{text}");
        }
    }
}

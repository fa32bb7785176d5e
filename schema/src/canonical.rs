//! Canonical bytes: the one way a document is written.
//!
//! UTF-8 JSON, object keys sorted by their bytes, no spaces, integers only, one `\n` at the end. Strings are escaped as
//! `serde_json` does it: `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, other control characters as lowercase `\u00xx`, all
//! else verbatim.
//!
//! The types of this crate declare their fields in the order of their keys, so that writing one needs no tree in
//! between; [`is_canonical`] is what tests and `verify` hold every written document to.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The canonical bytes of a document of this crate.
///
/// # Panics
/// Never for the types of this crate: their maps have string keys and their numbers are integers.
#[must_use]
pub fn to_canonical<T: Serialize>(document: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(document).expect("documents have string keys and integers only");
    bytes.push(b'\n');
    bytes
}

/// The canonical bytes of any JSON value: what [`to_canonical`] gives for a typed document, from its tree.
#[must_use]
pub fn value_to_canonical(value: &Value) -> Vec<u8> {
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Whether these are the canonical bytes of some JSON document.
#[must_use]
pub fn is_canonical(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes)
        .is_ok_and(|value| !has_float(&value) && value_to_canonical(&value) == bytes)
}

/// Reads a document, whatever its field order and spacing.
///
/// # Errors
/// What `serde_json` says of text that is not JSON or not this document.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(bytes)
}

fn has_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_float),
        Value::Object(map) => map.values().any(has_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_spelling_is_canonical() {
        let good = b"{\"a\":[1,\"\\u001b\\n\xc3\xa9\"],\"b\":null}\n";
        assert!(is_canonical(good));
        for bad in [
            &b"{\"a\":[1,\"\\u001b\\n\xc3\xa9\"],\"b\":null}"[..],
            b"{\"b\":null,\"a\":1}\n",
            b"{\"a\": 1}\n",
            b"{\"a\":1.0}\n",
            b"{\"a\":1,\"a\":1}\n",
            b"{\"a\":\"\\u0041\"}\n",
            b"{\"a\":1}\n\n",
            b"",
        ] {
            assert!(!is_canonical(bad), "{}", String::from_utf8_lossy(bad));
        }
    }
}

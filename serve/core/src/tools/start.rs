//! Where an answer starts, as an agent gives it: a number, an address, or the cursor of an earlier answer.

use serde::Deserialize;

/// A number or a text: the schema asks for a text, but a number says the same.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Start {
    Number(u64),
    Text(String),
}

impl Start {
    pub(super) fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

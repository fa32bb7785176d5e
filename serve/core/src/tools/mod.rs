//! The tools that agents call: one file a tool, one registry for every host and protocol.
//!
//! A tool is a type: its fields are the arguments, its schema is derived from them, `Tool::answer` answers. Listing and
//! calling come from the one list in `registry!`, so a new tool is a file and a word there.
//!
//! Some clients show the model only the structured half of an answer, others only the text, so each half is complete by itself:
//! [`Answered::structured`] and [`Answered::text`] say the same.

mod answered;
mod read_me;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use answered::{Answered, Envelope};

use crate::{Error, Result, Service, Store};

/// Most characters of an answer's text.
pub const MOST_CHARACTERS: usize = 12_000;

/// A question that agents can ask.
pub(crate) trait Tool: DeserializeOwned + JsonSchema {
    /// What it is called by.
    const NAME: &'static str;
    /// What people read.
    const TITLE: &'static str;
    /// What models read: when to call it, and what comes back.
    const DESCRIPTION: &'static str;

    /// Answers.
    fn answer<S: Store>(self, service: &Service<S>) -> impl Future<Output = Result<Answered>>;
}

/// What a list of tools says of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What it is called by.
    pub name: &'static str,
    /// What people read.
    pub title: &'static str,
    /// What models read.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub input: Value,
}

macro_rules! registry {
    ($($tool:ty),* $(,)?) => {
        /// All tools, in the order in which lists show them.
        #[must_use]
        pub fn list() -> Vec<Described> {
            vec![$(describe::<$tool>()),*]
        }

        /// Calls the tool of this name; `None` where there is none.
        ///
        /// # Errors
        /// Whatever the tool refuses, arguments that are not its own first.
        pub async fn call<S: Store>(
            service: &Service<S>,
            name: &str,
            arguments: Value,
        ) -> Option<Result<Answered>> {
            match name {
                $(<$tool>::NAME => Some(match parse::<$tool>(arguments) {
                    Ok(tool) => tool.answer(service).await,
                    Err(error) => Err(error),
                }),)*
                _ => None,
            }
        }
    };
}

registry![read_me::ReadMe];

fn describe<T: Tool>() -> Described {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut input = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = input.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    Described { name: T::NAME, title: T::TITLE, description: T::DESCRIPTION, input }
}

fn parse<T: Tool>(arguments: Value) -> Result<T> {
    let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
    serde_json::from_value(arguments)
        .map_err(|source| Error::BadArguments { tool: T::NAME, why: source.to_string() })
}

//! `read_me`: how to use this server truthfully, in one page.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answered, Envelope, Tool};
use crate::{Result, Service, Store};

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadMe {}

impl Tool for ReadMe {
    const NAME: &'static str = "read_me";
    const TITLE: &'static str = "How to use this server truthfully";
    const DESCRIPTION: &'static str = "Read once before concluding anything: what the answers claim, how sure each kind of claim is, what is not stored.";

    async fn answer<S: Store>(self, _: &Service<S>) -> Result<Answered> {
        let envelope = Envelope {
            provenance: "elfscope's own documentation".to_owned(),
            total: Some(1),
            ..Envelope::default()
        };
        Ok(Answered { envelope, listing: PAGE.to_owned(), ..Answered::default() })
    }
}

const PAGE: &str = include_str!("read_me.md");

//! Answers questions about an elfscope archive, without an operating system.
//!
//! A [`Store`] gives bytes by path; a [`Request`] asks it, counts what it reads and parses (never more than
//! [`elfscope_schema::limits::REQUEST_READS`] reads and [`elfscope_schema::limits::REQUEST_JSON`] bytes of JSON), and answers
//! in parts with a cursor where that isn't enough. Make one request for one question:
//!
//! 1. [`Request::edition`] resolves a build;
//! 2. [`Request::place`], [`Request::function`], [`Request::callee`], [`Request::source`] resolve what is meant in it;
//! 3. [`Request::window`], [`Request::callees`], [`Request::callers`], [`Request::data`], [`Request::source_lines`],
//!    [`Request::cited_by`], [`Request::search`] answer, [`Request::source_text`] adds to a window;
//! 4. [`listing`] renders a window to lines, for a terminal and for a model alike.
//!
//! No reference ever means the first of several things: what fits several is refused with the list, what fits none with
//! the nearest names. This crate reads no clock, file, environment or network, and prints nothing.

pub mod builds;
pub mod cache;
pub mod calls;
pub mod catalogue;
pub mod cited;
pub mod cursor;
pub mod data;
pub mod diff;
pub mod edition;
pub mod error;
pub mod escape;
pub mod functions;
pub mod http;
mod inflate;
pub mod interleave;
pub mod limits;
pub mod link;
pub mod listing;
mod literals;
pub mod mcp;
pub mod nearest;
pub mod pattern;
pub mod providers;
mod raw;
pub mod request;
pub mod search;
pub mod service;
pub mod several;
pub mod sources;
pub mod store;
pub mod tools;
mod tree;
mod trigram;
pub mod window;

pub use cache::Cache;
pub use calls::{Callee, Callees, Callers};
pub use catalogue::{By, Catalogue};
pub use cited::{CitedBy, Citing};
pub use data::DataAt;
pub use diff::{BuildDiff, Compared, FunctionDiff};
pub use edition::{Answer, Edition, Source, short, versioned};
pub use error::{Choice, Error, Refusal, Result};
pub use functions::{Place, key_of, spell};
pub use link::Link;
pub use providers::{Provider, Providers};
pub use request::{Budget, Request};
pub use search::{Hit, HitKind, Hits, Match, Query, SameCode};
pub use service::{Config, Service};
pub use several::{BuildQuery, FoundBuilds, FoundInSeveral};
pub use sources::{Level, SourceLine, SourceLines};
pub use store::Store;
pub use window::{LeftOut, StackLevel, Window, WindowFile};

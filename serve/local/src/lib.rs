//! The host for one machine.

pub mod stdio;

//! The archive under ordinary use and under faults: killed writers, full disks, many writers, flipped bits.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;
mod faults;
mod publish;
mod sources;
mod together;
mod upkeep;
mod verify;

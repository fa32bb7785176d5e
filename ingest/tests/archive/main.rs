//! The archive under ordinary use and under faults: killed writers, full disks, many writers, flipped bits.

mod common;
mod faults;
mod publish;
mod together;
mod upkeep;
mod verify;

//! The page's files are put into the program: built again when one of them changes, which `include_dir` can't say on a
//! stable compiler.
#![allow(clippy::print_stdout, reason = "that is how cargo is told")]

fn main() {
    println!("cargo::rerun-if-changed=../page");
}

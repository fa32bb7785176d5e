//! `export`: the archive as one file a document.

use std::path::PathBuf;

use elfscope_core::escape;
use serde::Serialize;

use super::Context;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{bar, count},
};

/// Writes the current editions as one file a document, for a plain file host.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The folder to write to: new or empty
    #[arg(long, value_name = "DIR")]
    loose: PathBuf,
}

#[derive(Serialize)]
struct Told {
    builds: u64,
    bytes: u64,
    files: u64,
    left_out: u64,
    sources: u64,
}

impl Export {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let archive = context.location.open()?;
        let bar = bar("writing", "builds");
        let exported = archive.export_loose(&self.loose, &|done, total| bar.at(done, total));
        bar.clear();
        let exported = exported?;
        if context.out.json {
            context.out.document(&Told {
                builds: exported.builds,
                bytes: exported.bytes,
                files: exported.files,
                left_out: exported.left_out,
                sources: exported.sources,
            })?;
        } else {
            let what = format!(
                "{} in {}, {}",
                count(exported.builds, "build", "builds"),
                count(exported.files, "file", "files"),
                count(exported.bytes, "byte", "bytes")
            );
            context.out.plain(format!("wrote {what} to {}", escape::name(&self.loose.to_string_lossy())))?;
            if exported.left_out > 0 {
                let sources = count(exported.left_out, "published source", "published sources");
                context.out.note(format!("left out {sources}: no file can have such a path here"))?;
            }
        }
        Ok(Exit::Done)
    }
}

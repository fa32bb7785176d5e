//! `search`: functions, data, imports, strings and sources by their text, bodies by their digest, functions by their source.

use elfscope_core::{
    HitKind, Match, Query, escape,
    listing::{self, Kind, Line},
    search::MOST,
    spell,
};
use elfscope_schema::BodyDigest;

use super::{Context, Paging};
use crate::{args, exit::Exit, failure::Failure, output::count};

/// Finds functions, data, imports, strings and sources.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  elfscope search libc.so.6 getaddrinfo\n  elfscope search libc.so.6 'No such' --kind string\n  \
    elfscope search libc.so.6 mem --match prefix --kind function\n  elfscope search libc.so.6 ioputs.c --kind source\n  \
    elfscope search libc.so.6 --file libio/ioputs.c"
)]
pub(crate) struct Search {
    #[arg(value_name = "BUILD", help = args::BUILD)]
    build: String,
    /// What to look for: text, or a digest of a body that `show` tells
    #[arg(
        value_name = "QUERY",
        required_unless_present = "file",
        default_value = "",
        hide_default_value = true
    )]
    query: String,
    /// Find the functions with code from this source file, by its path or the end of it
    #[arg(long, value_name = "PATH", conflicts_with_all = ["query", "matching", "kind"])]
    file: Option<String>,
    /// How it has to fit
    #[arg(long = "match", value_enum, default_value_t = How::Substring)]
    matching: How,
    /// Look only for these
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<What>,
    #[command(flatten)]
    paging: Paging,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum How {
    /// The whole name
    Exact,
    /// The start of it
    Prefix,
    /// Any part of it, upper and lower case alike
    Substring,
    /// A regular expression that fits any part, upper and lower case alike unless it says (?-i)
    Regex,
    /// Bodies with this digest: the same code
    Digest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    Function,
    Data,
    /// Thread-local data
    Tls,
    Import,
    String,
    /// A source file, by its path
    Source,
}

impl Search {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let edition = context.location.edition(&self.build)?;
        if let Some(file) = &self.file {
            return self.by_file(context, &edition, file);
        }
        let matching = match self.matching {
            How::Exact => Match::Exact,
            How::Prefix => Match::Prefix,
            How::Substring => Match::Substring,
            How::Regex => Match::Regex,
            How::Digest => return self.by_digest(context, &edition),
        };
        let kinds: Vec<HitKind> = self.kind.iter().map(|kind| kind.kind()).collect();
        let mut cursor = self.paging.cursor.clone();
        let mut shown = 0;
        let mut scanned = 0;
        loop {
            let limit = self.paging.left(shown).min(MOST);
            let query =
                Query { text: &self.query, matching, kinds: &kinds, limit, cursor: cursor.as_deref() };
            let answer = pollster::block_on(context.location.request().search(&edition, &query))?;
            shown += answer.value.hits.len();
            scanned += answer.value.scanned;
            cursor.clone_from(&answer.next_cursor);
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                context.out.lines(&listing::hits(&answer.value.hits))?;
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if context.out.json {
            return Ok(Exit::Done);
        }
        if let Some(cursor) = cursor {
            let mut args = vec!["search", self.build.as_str(), self.query.as_str()];
            let matching = format!("{:?}", self.matching).to_lowercase();
            args.extend(["--match", &matching]);
            let kinds: Vec<String> =
                self.kind.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect();
            kinds.iter().for_each(|kind| args.extend(["--kind", kind]));
            args.extend(["--cursor", &cursor]);
            context.out.note(format!("more: {} (or `--all`)", context.location.command(&args)))?;
        } else if shown == 0 && self.paging.cursor.is_none() {
            let what = escape::name(&self.query);
            context.out.plain(format!(
                "Nothing in {} fits `{what}` ({} looked at).",
                escape::name(edition.source().name.text()),
                count(scanned, "record", "records")
            ))?;
        }
        Ok(Exit::Done)
    }

    fn by_digest(&self, context: &mut Context, edition: &elfscope_core::Edition) -> Result<Exit, Failure> {
        let digest: BodyDigest = self.query.parse().map_err(|error| {
            Failure::new(Exit::Usage, format!("{error}"))
                .hint("`elfscope show BUILD FUNCTION` tells the digests of a body")
        })?;
        let mut cursor = self.paging.cursor.clone();
        let mut shown = 0;
        loop {
            let answer =
                pollster::block_on(context.location.request().same_code(edition, digest, cursor.as_deref()))?;
            shown += answer.value.bodies.len();
            cursor.clone_from(&answer.next_cursor);
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                for (address, exact) in &answer.value.bodies {
                    let how = if *exact { "equal code" } else { "same shape" };
                    context.out.line(
                        &Line::of(Kind::Address, spell(*address)).and(Kind::Note, format!("  {how}")),
                    )?;
                }
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if shown == 0 && !context.out.json {
            context.out.plain("No body here has that digest.")?;
        }
        Ok(Exit::Done)
    }
}

impl Search {
    /// The functions with code from a source file.
    fn by_file(
        &self,
        context: &mut Context,
        edition: &elfscope_core::Edition,
        file: &str,
    ) -> Result<Exit, Failure> {
        let source = pollster::block_on(context.location.request().source(edition, file))?;
        let mut cursor = self.paging.cursor.clone();
        let mut shown = 0;
        loop {
            let limit = self.paging.left(shown).min(MOST);
            let mut request = context.location.request();
            let answer =
                pollster::block_on(request.cited_by(edition, &source.path, limit, cursor.as_deref()))?;
            shown += answer.value.functions.len();
            cursor.clone_from(&answer.next_cursor);
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                context.out.lines(&listing::cited_by(&answer.value))?;
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if context.out.json {
            return Ok(Exit::Done);
        }
        let path = source.path.text();
        if let Some(cursor) = cursor {
            let args = ["search", self.build.as_str(), "--file", path, "--cursor", &cursor];
            context.out.note(format!("more: {} (or `--all`)", context.location.command(&args)))?;
        } else if shown == 0 && self.paging.cursor.is_none() {
            context.out.plain(format!("No row is from `{}`.", escape::path(path)))?;
        }
        Ok(Exit::Done)
    }
}

impl What {
    fn kind(self) -> HitKind {
        match self {
            Self::Function => HitKind::Function,
            Self::Data => HitKind::Data,
            Self::Tls => HitKind::Tls,
            Self::Import => HitKind::Import,
            Self::String => HitKind::String,
            Self::Source => HitKind::Source,
        }
    }
}

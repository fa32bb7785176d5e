//! Which question a link stands for: the tool and its arguments that answer with exactly that view.

use serde_json::{Value, json};

use crate::link::{Link, View};

/// The tool and the arguments whose answers have the view; where the link names a part of a list, it is in the answers of a walk
/// that have its items ([`Link::rows`]), which may be cut elsewhere. None for a view that no tool answers.
#[must_use]
pub fn question(link: &Link) -> Option<(&'static str, Value)> {
    let pin = link.edition.as_ref().map(|(build, edition)| format!("{build}/{edition}"));
    let mut arguments = json!({});
    if let Some(pin) = &pin {
        arguments["build_id"] = json!(pin);
    }
    let name = match link.view {
        View::Catalogue | View::Search | View::Strings => {
            if let Some(query) = &link.query {
                arguments["query"] = json!(query);
            }
            if let Some(matching) = &link.matching {
                arguments["match"] = json!(matching);
            }
            if let Some(kind) = &link.kind {
                arguments["kind"] = json!(kind);
            }
            if link.view == View::Strings {
                arguments["kind"] = json!("string");
            }
            "archive_lookup"
        }
        View::Atlas => match link.address {
            Some(address) => {
                arguments["function"] = json!(crate::spell(address));
                "archive_function"
            }
            None => "archive_lookup",
        },
        View::Listing => {
            arguments["function"] = json!(link.function?.to_string());
            arguments["view"] = json!(match link.shown.as_deref() {
                Some("outline") => "outline",
                Some("source") => "asm+source",
                _ => "asm",
            });
            if let Some((first, last)) = link.rows {
                arguments["from"] = json!(first.to_string());
                arguments["rows"] = json!(last - first + 1);
            }
            "archive_function"
        }
        View::Graph => {
            arguments["function"] = json!(match (&link.function, &link.import) {
                (Some(key), _) => key.to_string(),
                (None, Some(name)) => format!("import:{name}"),
                (None, None) => return None,
            });
            if let Some(context) = link.context {
                arguments["context"] = json!(context);
            }
            if let Some(class) = &link.class {
                arguments["class"] = json!(class);
            }
            if link.direction.as_deref() == Some("out") { "archive_callees" } else { "archive_callers" }
        }
        View::Source => {
            arguments["path"] = json!(link.path.as_ref()?);
            if let Some((first, last)) = link.lines {
                arguments["from"] = json!(first.to_string());
                arguments["lines"] = json!(last - first + 1);
            }
            "archive_source"
        }
        View::Diff => {
            let (build, edition, key) = link.other.as_ref()?;
            let side = |pin: String, key: &Option<elfscope_schema::FunctionKey>| match key {
                Some(key) => format!("{pin}:{key}"),
                None => pin,
            };
            let b = side(format!("{build}/{edition}"), key);
            arguments = json!({"a": side(pin?, &link.function), "b": b});
            if let Some(context) = link.context {
                arguments["context"] = json!(context);
            }
            "archive_diff"
        }
    };
    Some((name, arguments))
}

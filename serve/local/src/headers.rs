//! `_headers`: which static files get which headers, in the form that Cloudflare's static hosts read, so that both hosts send the same.
//!
//! A line that starts with `/` is a pattern, in which a `*` stands for anything; the indented lines below it are headers, or with
//! `! ` before a name say that an earlier pattern's is left out. `#` starts a comment.

use http::{HeaderMap, HeaderName, HeaderValue};

/// The rules of a file, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    /// A header and its value; none where it is left out.
    headers: Vec<(HeaderName, Option<HeaderValue>)>,
}

impl Rules {
    /// Reads a file. Lines that say nothing are left out.
    pub(crate) fn parse(text: &str) -> Self {
        let mut rules: Vec<Rule> = Vec::new();
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            if line.starts_with('/') {
                rules.push(Rule { pattern: line.trim_end().to_owned(), headers: Vec::new() });
                continue;
            }
            let Some(rule) = rules.last_mut() else { continue };
            let line = line.trim();
            if let Some(name) = line.strip_prefix("! ") {
                rule.headers.extend(name.trim().parse().ok().map(|name| (name, None)));
            } else if let Some((name, value)) = line.split_once(':')
                && let (Ok(name), Ok(value)) = (name.trim().parse(), value.trim().parse())
            {
                rule.headers.push((name, Some(value)));
            }
        }
        Self(rules)
    }

    /// Sets the headers of a path.
    pub(crate) fn apply(&self, path: &str, headers: &mut HeaderMap) {
        for rule in self.0.iter().filter(|rule| fits(&rule.pattern, path)) {
            for (name, value) in &rule.headers {
                match value {
                    Some(value) => headers.insert(name, value.clone()),
                    None => headers.remove(name),
                };
            }
        }
    }
}

/// Whether a path is what a pattern says.
fn fits(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| fits(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_apply_in_order() {
        let rules = Rules::parse(
            "# all\n/*\n  X-Frame-Options: DENY\n  Cache-Control: no-cache\n\n/app/*.js\n  ! Cache-Control\n  bad line\n  X-A: a: b\n",
        );
        let told = |path: &str| {
            let mut headers = HeaderMap::new();
            rules.apply(path, &mut headers);
            headers
                .iter()
                .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()))
                .collect::<Vec<_>>()
        };
        assert_eq!(told("/"), ["x-frame-options=DENY", "cache-control=no-cache"]);
        assert_eq!(told("/app/x/y.js"), ["x-frame-options=DENY", "x-a=a: b"]);
        assert_eq!(told("/app/y.css").len(), 2);
    }
}

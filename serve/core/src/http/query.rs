//! The part of a URL behind `?`: parameters that a route takes, each at most once.

use super::path::decode;
use crate::{Error, Result, limits};

/// The parameters of a request.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// What the route is called in refusals.
    route: &'static str,
    parameters: Vec<(String, String)>,
}

impl Query {
    /// The parameters that a route takes. One that it doesn't take is refused: left out silently, an answer to another
    /// question would come back.
    pub(super) fn parse(raw: Option<&str>, route: &'static str, takes: &[&str]) -> Result<Self> {
        let mut query = Self { route, parameters: Vec::new() };
        for pair in raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if value.len() > 3 * limits::ARGUMENT {
                return Err(Error::InputTooLarge { what: "a parameter", limit: limits::ARGUMENT });
            }
            let decoded = |text: &str| decode(text.as_bytes(), true).map_err(|why| query.refuse(why));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if value.len() > limits::ARGUMENT {
                return Err(Error::InputTooLarge { what: "a parameter", limit: limits::ARGUMENT });
            }
            if !takes.contains(&name.as_str()) {
                let takes = if takes.is_empty() { "none".to_owned() } else { takes.join(", ") };
                return Err(query.refuse(&format!("there is no parameter `{name}`; it takes {takes}")));
            }
            if query.get(&name).is_some() {
                return Err(query.refuse(&format!("the parameter `{name}` is given twice")));
            }
            query.parameters.push((name, value));
        }
        Ok(query)
    }

    /// What was given under a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        number.map(Some).ok_or_else(|| bad("a number", text, "a number, as in `12`".to_owned()))
    }

    /// `first-last`, both included; `first` alone is one. No more than `most`.
    pub(super) fn span(&self, name: &str, most: u32) -> Result<Option<(u32, u32)>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number =
            |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let allowed = || format!("`first-last`, as in `{name}=10-19`, at most {most} of them");
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => {
                if last - first >= most {
                    let what = "the number of them,";
                    let given = (u64::from(last - first) + 1).to_string();
                    return Err(Error::OutOfRange { what, given, allowed: format!("1 to {most} at once") });
                }
                Ok(Some((first, last)))
            }
            _ => Err(bad("a range", text, allowed())),
        }
    }

    fn refuse(&self, why: &str) -> Error {
        Error::BadArguments { tool: self.route, why: why.to_owned() }
    }
}

fn bad(what: &'static str, given: &str, allowed: String) -> Error {
    Error::BadReference { what, given: given.to_owned(), allowed }
}

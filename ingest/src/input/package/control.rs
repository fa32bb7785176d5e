//! The `control` file of a Debian package: who it says it is.

use elfscope_schema::SourcePackage;

use super::{About, Refusal};
use crate::{elf::shown, limits};

/// Reads the fields of the first paragraph.
pub(super) fn parse(text: &[u8]) -> Result<About, Refusal> {
    let name = required(text, "Package")?;
    let version = required(text, "Version")?;
    let architecture = required(text, "Architecture")?;
    let source = match field(text, "Source")? {
        None => None,
        Some(source) => Some(match source.split_once('(') {
            None => SourcePackage { name: source, version: version.clone() },
            Some((name, rest)) => {
                let version = rest.strip_suffix(')').map(str::trim).filter(|version| !version.is_empty());
                let version = version.ok_or_else(|| {
                    Refusal(format!(
                        "its control file's `Source` is `{}`, not `name (version)`",
                        shown(source.as_bytes())
                    ))
                })?;
                SourcePackage { name: name.trim().to_owned(), version: version.to_owned() }
            }
        }),
    };
    Ok(About { name, version, architecture, source })
}

fn required(text: &[u8], name: &str) -> Result<String, Refusal> {
    field(text, name)?.ok_or_else(|| Refusal(format!("its control file has no `{name}`")))
}

/// The value of a field, on one line. Two of one name are refused: programs differ in which they take.
fn field(text: &[u8], name: &str) -> Result<Option<String>, Refusal> {
    let mut found = None;
    let lines = text.split(|byte| *byte == b'\n').skip_while(|line| line.trim_ascii().is_empty());
    for line in lines.take_while(|line| !line.trim_ascii().is_empty()) {
        let Some(at) = line.iter().position(|byte| *byte == b':') else { continue };
        if !line[..at].eq_ignore_ascii_case(name.as_bytes()) {
            continue;
        }
        let value = line[at + 1..].trim_ascii();
        let plain = !value.is_empty()
            && value.len() <= limits::CONTROL_VALUE
            && value.iter().all(|byte| (b' '..=b'~').contains(byte));
        if !plain {
            return Err(Refusal(format!(
                "its control file's `{name}` is `{}`, not 1 to {} characters of ASCII",
                shown(value),
                limits::CONTROL_VALUE
            )));
        }
        if found.replace(String::from_utf8_lossy(value).into_owned()).is_some() {
            return Err(Refusal(format!("its control file has `{name}` twice")));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_source_package_is_what_the_field_says_and_nothing_without_it() {
        let fields = "Package: a\nVersion: 1:2-3\nArchitecture: amd64\nDescription: x\n Package: no\n";
        for (source, expected) in [
            ("", None),
            ("Source: b\n", Some(("b", "1:2-3"))),
            ("source: b (4-5)\n", Some(("b", "4-5"))),
            ("\nSource: of another paragraph\n", None),
        ] {
            let about = parse(format!("{fields}{source}").as_bytes()).unwrap();
            let told = about.source.as_ref().map(|source| (source.name.as_str(), source.version.as_str()));
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn fields_that_lack_or_lie_are_refused_by_name() {
        for (text, expected) in [
            ("Package: a\nVersion: 1\n", "has no `Architecture`"),
            ("Package: a\nPackage: b\nVersion: 1\nArchitecture: all\n", "has `Package` twice"),
            ("Package: a\x1b[2J\nVersion: 1\nArchitecture: all\n", "`Package` is `a\\u{1b}[2J`"),
            ("Package: a\nVersion: 1\nArchitecture: all\nSource: b (\n", "not `name (version)`"),
        ] {
            let refusal = parse(text.as_bytes()).unwrap_err();
            assert!(refusal.0.contains(expected), "{}", refusal.0);
        }
    }
}

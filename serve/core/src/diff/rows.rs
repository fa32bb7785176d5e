//! The rows of one body as a diff needs them: what each says apart from where things stand.
//!
//! Two rows say the same where mnemonic and operands are equal after every address in them is replaced by what stands there:
//! the name, text or import that the row's note tells, or `self` for a place in the body itself. Where such places lead is compared
//! after the rows are aligned.

use elfscope_schema::{Address, FunctionKey};

use crate::raw;

/// A row.
pub(super) struct Shaped {
    /// The row as it stands in its page.
    pub(super) record: Vec<u8>,
    /// Offset from the body's start.
    pub(super) offset: u64,
    /// What it says, apart from where things stand.
    pub(super) says: String,
    /// Its mnemonic's length at the start of `says`.
    mnemonic: usize,
    /// The places in the body itself that its operands name, as offsets.
    pub(super) selfs: Vec<u64>,
}

impl Shaped {
    /// Its mnemonic.
    pub(super) fn mnemonic(&self) -> &str {
        &self.says[..self.mnemonic]
    }
}

/// The rows of a page of a body, unparsed.
pub(super) fn rows_of(page: &[u8], key: FunctionKey) -> Option<Vec<Shaped>> {
    let mut rows = Vec::new();
    for run in raw::elements(raw::member(page, "runs")?)? {
        for record in raw::elements(raw::member(run, "rows")?)? {
            rows.push(shape(record, key)?);
        }
    }
    Some(rows)
}

fn shape(record: &[u8], key: FunctionKey) -> Option<Shaped> {
    let parts = raw::elements(record)?;
    let (offset, mnemonic, operands) = (parts.first()?, parts.get(2)?, parts.get(3)?);
    let (mnemonic, operands) = (raw::text(mnemonic)?, raw::text(operands)?);
    let notes = parts.get(4);
    let to = notes.and_then(|notes| raw::member(notes, "to"));
    let relocations = notes.and_then(|notes| raw::member(notes, "relocations"));
    let mut says = format!("{mnemonic} ");
    let mut selfs = Vec::new();
    let moves = to.is_some() || relocations.is_some() || mnemonic.starts_with("adr");
    let mut rest = operands.as_ref();
    while let Some(at) = rest.find("0x") {
        let (before, number) = rest.split_at(at);
        let digits = number[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let (digits, after) = number[2..].split_at(digits);
        says.push_str(before);
        let value = u64::from_str_radix(digits, 16).ok();
        let inside =
            value.and_then(|value| value.checked_sub(key.address.offset)).filter(|at| *at < key.size);
        match inside {
            // Only branches and the like name a place in the body without a note; an immediate is one when it happens to be.
            Some(at) if !moves && !before.ends_with('$') && !before.ends_with('#') => {
                selfs.push(at);
                says.push_str("self");
            }
            _ if moves => says.push('@'),
            _ => {
                says.push_str("0x");
                says.push_str(digits);
            }
        }
        rest = after;
    }
    says.push_str(rest);
    if let Some(to) = to {
        says.push_str(" -> ");
        says.push_str(&referent(to, key, &mut selfs)?);
    }
    for relocation in relocations.map(raw::elements).unwrap_or(Some(Vec::new()))? {
        says.push_str(" reloc ");
        says.push_str(std::str::from_utf8(relocation).ok()?);
    }
    Some(Shaped {
        record: record.to_vec(),
        offset: raw::number(offset)?,
        mnemonic: mnemonic.len(),
        says,
        selfs,
    })
}

/// What a row refers to, apart from where that is. A place without a name of its own is told by its section, and its text.
fn referent(to: &[u8], key: FunctionKey, selfs: &mut Vec<u64>) -> Option<String> {
    let told = |member: &str| raw::member(to, member).and_then(raw::text);
    let kind = told("kind")?;
    let address = told("address").and_then(|address| address.parse::<Address>().ok());
    let inside = address.filter(|at| kind == "function" && at.section == key.address.section);
    let inside = inside.and_then(|at| at.offset.checked_sub(key.address.offset)).filter(|at| *at < key.size);
    if let Some(at) = inside {
        selfs.push(at);
        return Some("self".to_owned());
    }
    let mut says = kind.into_owned();
    for member in ["name", "version", "text"] {
        if let Some(text) = told(member) {
            says = format!("{says} {member} {text:?}");
        }
    }
    if let Some(offset) = raw::member(to, "offset").and_then(raw::number) {
        says = format!("{says} +{offset:#x}");
    }
    Some(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(record: &str, start: u64) -> (String, Vec<u64>) {
        let key = FunctionKey { address: Address::virt(start), size: 0x100 };
        let shaped = shape(record.as_bytes(), key).unwrap();
        assert!(shaped.says.starts_with(shaped.mnemonic()));
        (shaped.says, shaped.selfs)
    }

    #[test]
    fn where_things_stand_is_left_out_and_what_stands_there_not() {
        for (a, b, same) in [
            // The same call from elsewhere, and another.
            (
                r#"[4,"e877ffffff","callq","0x2040",{"to":{"address":"2040","kind":"import","name":"puts"}}]"#,
                r#"[9,"e811ffffff","callq","0x3040",{"to":{"address":"3040","kind":"import","name":"puts"}}]"#,
                true,
            ),
            (
                r#"[4,"e877ffffff","callq","0x2040",{"to":{"address":"2040","kind":"import","name":"puts"}}]"#,
                r#"[4,"e877ffffff","callq","0x2040",{"to":{"address":"2040","kind":"import","name":"system"}}]"#,
                false,
            ),
            // A jump within, whose targets are held against each other later.
            (r#"[6,"740d","je","0x1015"]"#, r#"[6,"740e","je","0x5016"]"#, true),
            // Numbers that are no places.
            (r#"[0,"b8","movl","$0x1015, %eax"]"#, r#"[0,"b8","movl","$0x5015, %eax"]"#, false),
            (r#"[0,"8b","movl","0x10(%rax), %eax"]"#, r#"[0,"8b","movl","0x18(%rax), %eax"]"#, false),
            (
                r#"[0,"48","leaq","0x2e(%rip), %rdi",{"to":{"address":"3000","kind":"string","text":"a"}}]"#,
                r#"[0,"48","leaq","0x3e(%rip), %rdi",{"to":{"address":"4000","kind":"string","text":"a"}}]"#,
                true,
            ),
            (
                r#"[0,"48","leaq","0x2e(%rip), %rdi",{"to":{"address":"3000","kind":"string","text":"a"}}]"#,
                r#"[0,"48","leaq","0x2e(%rip), %rdi",{"to":{"address":"3000","kind":"string","text":"b"}}]"#,
                false,
            ),
        ] {
            assert_eq!(says(a, 0x1000).0 == says(b, 0x5000).0, same, "{a} {b}");
        }
        assert_eq!(says(r#"[6,"740d","je","0x1015"]"#, 0x1000), ("je self".to_owned(), vec![0x15]));
    }
}

//! A row of a listing: one unit of code and what its operand refers to.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::SerializeSeq as _};

use crate::{Address, Name, hex};

/// One unit of code, written as the array `[offset, bytes, mnemonic, operands]`, with a fifth element, an object of
/// [`Notes`], where there is something to note.
///
/// - `offset`: from the start of the body, in bytes.
/// - `bytes`: lowercase hex, in file order.
/// - `mnemonic`: `.byte` for what the decoder doesn't know, or data in code.
/// - `operands`: as the decoder prints them; x86 in AT&T syntax. Branch targets are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Offset from the start of the body.
    pub offset: u32,
    /// The unit's bytes.
    pub bytes: Vec<u8>,
    /// The mnemonic.
    pub mnemonic: String,
    /// The operands.
    pub operands: String,
    /// What is known beside the text.
    pub notes: Notes,
}

/// What is known of a row beside its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Notes {
    /// In a relocatable file: the relocations that fill the unit's fields.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub relocations: Vec<Relocation>,
    /// What the operand refers to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<Referent>,
}

impl Notes {
    /// Whether there is nothing to note.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.relocations.is_empty() && self.to.is_none()
    }
}

/// A relocation that fills a field of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Relocation {
    /// The addend; for a file without explicit ones 0.
    pub addend: String,
    /// Offset of the field from the start of the unit.
    pub at: u8,
    /// The symbol, or the section that a section symbol stands for; none where the relocation has no symbol.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbol: Option<Name>,
    /// The type's number (psABI).
    #[serde(rename = "type")]
    pub r_type: u32,
}

/// What kind of thing an operand refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReferentKind {
    /// A function of this binary, at its start or `offset` inside it.
    Function,
    /// An imported symbol: its stub, or the slot that its address is put into.
    Import,
    /// A slot that the resolver function `name` fills at load time (IRELATIVE).
    Ifunc,
    /// Bytes that read as text up to a NUL.
    String,
    /// An object that a symbol names, at its start or `offset` inside it.
    Object,
    /// A slot that holds the address of `name`, fixed before the program starts.
    Pointer,
    /// Any other place in the binary: `name` is its section.
    Data,
}

/// What an operand refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Referent {
    /// The address that the operand computes, reads, writes or branches to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<Address>,
    /// `true` where only the start of a string's text stands here.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub cut: bool,
    /// What it is.
    pub kind: ReferentKind,
    /// The symbol, or the section for `data`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<Name>,
    /// How far inside it: never 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// The text of a string.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// The version of an imported symbol.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<Name>,
}

impl Row {
    /// Appends the canonical JSON of a row, from its parts: what serialising a [`Row`] gives, without making one. An
    /// edition has hundreds of thousands.
    pub fn write(
        out: &mut Vec<u8>,
        offset: u32,
        bytes: &[u8],
        mnemonic: &str,
        operands: &str,
        notes: &Notes,
    ) {
        out.push(b'[');
        push_number(out, offset);
        out.extend_from_slice(b",\"");
        hex::push_bytes(out, bytes);
        out.extend_from_slice(b"\",");
        push_text(out, mnemonic);
        out.push(b',');
        push_text(out, operands);
        if !notes.is_empty() {
            out.push(b',');
            push_json(out, notes);
        }
        out.push(b']');
    }
}

fn push_number(out: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut left = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        push_json(out, text);
    }
}

fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing into memory doesn't fail, and these values have string keys only.
    serde_json::to_writer(out, value).expect("documents have string keys and integers only");
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = if self.notes.is_empty() { 4 } else { 5 };
        let mut row = serializer.serialize_seq(Some(length))?;
        row.serialize_element(&self.offset)?;
        row.serialize_element(&hex::encode(&self.bytes))?;
        row.serialize_element(&self.mnemonic)?;
        row.serialize_element(&self.operands)?;
        if length == 5 {
            row.serialize_element(&self.notes)?;
        }
        row.end()
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Row;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a row `[offset, bytes, mnemonic, operands]` or one with notes")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Row, A::Error> {
                let short = |at: usize| A::Error::invalid_length(at, &self);
                let offset = seq.next_element()?.ok_or_else(|| short(0))?;
                let bytes: String = seq.next_element()?.ok_or_else(|| short(1))?;
                let mnemonic = seq.next_element()?.ok_or_else(|| short(2))?;
                let operands = seq.next_element()?.ok_or_else(|| short(3))?;
                let notes = seq.next_element()?.unwrap_or_default();
                let bytes =
                    hex::decode(&bytes).ok_or_else(|| A::Error::custom("bytes are not lowercase hex"))?;
                Ok(Row { offset, bytes, mnemonic, operands, notes })
            }
        }
        deserializer.deserialize_seq(Visitor)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Row {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Row".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let notes = generator.subschema_for::<Notes>();
        schemars::json_schema!({
            "type": "array",
            "description": "[offset, bytes, mnemonic, operands] and, where there is something to note, notes",
            "prefixItems": [
                { "type": "integer", "minimum": 0, "maximum": u32::MAX, "description": "offset from the start of the body" },
                { "type": "string", "pattern": "^([0-9a-f]{2})+$", "description": "bytes, in file order" },
                { "type": "string", "description": "mnemonic; `.byte` for what is not known" },
                { "type": "string", "description": "operands, x86 in AT&T syntax" },
                notes,
            ],
            "items": false,
            "minItems": 4,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_canonical;

    #[test]
    fn a_row_written_from_its_parts_is_the_row() {
        let to = Referent {
            address: Some(Address::virt(0x2004)),
            cut: false,
            kind: ReferentKind::String,
            name: None,
            offset: None,
            text: Some("\"quoted\"\n".to_owned()),
            version: None,
        };
        for (offset, operands, notes) in [
            (0, "%rax, %rbx", Notes::default()),
            (7, "", Notes::default()),
            (u32::MAX, "\"odd\\\u{1}\u{e9}", Notes { relocations: Vec::new(), to: Some(to) }),
        ] {
            let row = Row {
                offset,
                bytes: vec![0, 0xff],
                mnemonic: "movq".into(),
                operands: operands.into(),
                notes,
            };
            let mut written = Vec::new();
            Row::write(&mut written, row.offset, &row.bytes, &row.mnemonic, &row.operands, &row.notes);
            written.push(b'\n');
            assert_eq!(String::from_utf8(written), String::from_utf8(to_canonical(&row)));
        }
    }
}

//! JSON read strictly: what two readers could understand differently is refused.
//!
//! A key that stands twice is the first to one reader and the last to another; deep nesting exhausts the stack of a third. The
//! size is bounded by who calls.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Deepest nesting of arrays and objects.
pub(super) const DEPTH: usize = 32;

/// The value that these bytes are.
pub(super) fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { left: DEPTH }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict {
    /// Levels that may still be opened.
    left: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        let left = self.left.checked_sub(1);
        let left = left.ok_or_else(|| E::custom(format_args!("nested deeper than {DEPTH} levels")))?;
        Ok(Self { left })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom("a key stands twice in one object"));
            }
            let value = entries.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_reader_reads_alike() {
        for good in
            ["{}", "[1,-2,3.5,\"a\\u00e9\",null,true]", " {\"a\":{\"b\":[]}} ", "18446744073709551615"]
        {
            assert_eq!(
                parse(good.as_bytes()).unwrap(),
                serde_json::from_str::<Value>(good).unwrap(),
                "{good}"
            );
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(deep(DEPTH).as_bytes()).is_ok());
        for bad in [
            "",
            "{",
            "{} {}",
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,\"\\u0061\":2}",
            "[{\"a\":{\"b\":1,\"b\":2}}]",
            "1e999",
            "\"\\ud800\"",
            "\u{feff}{}",
            "NaN",
            &deep(DEPTH + 1),
            &"[".repeat(60_000),
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse(b"\"\xff\"").is_err());
    }
}

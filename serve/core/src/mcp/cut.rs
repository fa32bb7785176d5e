//! What the start of a message tells: of one that is too long, no more is read.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::message::Id;

/// What stands in a message's start.
#[derive(Debug, Default)]
pub(super) struct Heading {
    /// Its identifier.
    pub(super) id: Option<Id>,
    method: Option<String>,
}

impl Heading {
    /// Whether it is surely a notification: MCP calls those so, and they have no identifier.
    pub(super) fn is_notification(&self) -> bool {
        self.id.is_none() && self.method.as_ref().is_some_and(|method| method.starts_with("notifications/"))
    }
}

/// What the start of a message tells; nothing where it is no message.
pub(super) fn heading(start: &[u8]) -> Heading {
    let mut heading = Heading::default();
    let mut reader = serde_json::Deserializer::from_slice(start);
    // It ends in an error where the text is cut off; what was seen before stays.
    let _cut = reader.deserialize_any(Seen(&mut heading));
    heading
}

struct Seen<'a>(&'a mut Heading);

impl<'de> Visitor<'de> for Seen<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        // A number is whole only where something follows it.
        let mut id = None;
        while let Some(key) = entries.next_key::<String>()? {
            self.0.id = self.0.id.take().or(id.take());
            match key.as_str() {
                "id" => id = entries.next_value_seed(Scalar)?.and_then(|value| Id::of(&value)),
                "method" => {
                    let method = entries.next_value_seed(Scalar)?;
                    self.0.method = method.and_then(|value| value.as_str().map(str::to_owned));
                }
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        self.0.id = self.0.id.take().or(id);
        Ok(())
    }
}

/// A string or a number, whole.
struct Scalar;

impl<'de> DeserializeSeed<'de> for Scalar {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Scalar {
    type Value = Option<Value>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a string or an integer")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts() {
        for (start, id, notification) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"xx"#, Some("7"), false),
            (r#"{"id":"a","params":{"id":8,"method":"notifications/x"},"x":"#, Some("\"a\""), false),
            (r#"{"method":"notifications/x","params":{"id":1,"b":"#, None, true),
            (r#"{"params":{"id":1,"b":"#, None, false),
            (r#"{"method":"notifications/x","id":12"#, None, true),
            (r#"{"id":{"a":1},"method":"x"#, None, false),
            (r#"[{"id":1"#, None, false),
            ("nothing", None, false),
            ("", None, false),
        ] {
            let heading = heading(start.as_bytes());
            assert_eq!(heading.id.as_ref().map(|id| id.value().to_string()).as_deref(), id, "{start}");
            assert_eq!(heading.is_notification(), notification, "{start}");
        }
    }
}

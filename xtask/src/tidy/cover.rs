//! Holds documents to a JSON Schema and notes which of its members and variants they have.
//!
//! As much of JSON Schema as `schemars` writes for our types. Patterns are left out: the types check those.

use std::collections::BTreeSet;

use serde_json::Value;

/// A schema, and what was seen of it so far.
pub(super) struct Cover<'a> {
    root: &'a Value,
    /// `Type.member` and `Type|variant` that some document had.
    pub(super) seen: BTreeSet<String>,
}

impl<'a> Cover<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, seen: BTreeSet::new() }
    }

    /// Whether a document is valid; notes what it has.
    pub(super) fn check(&mut self, document: &Value) -> Result<(), String> {
        let root = self.root;
        let mut seen = BTreeSet::new();
        self.visit(root, document, &self.title(), &mut seen)?;
        self.seen.extend(seen);
        Ok(())
    }

    /// Every member and variant that the schema has.
    pub(super) fn wanted(&self) -> BTreeSet<String> {
        let mut wanted = BTreeSet::new();
        self.collect(self.root, &self.title(), &mut BTreeSet::new(), &mut wanted);
        wanted
    }

    fn title(&self) -> String {
        self.root["title"].as_str().unwrap_or("document").to_owned()
    }

    fn resolve(&self, schema: &'a Value, label: &str) -> (&'a Value, String) {
        match schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
            Some(name) => (&self.root["$defs"][name], name.to_owned()),
            None => (schema, label.to_owned()),
        }
    }

    fn visit(
        &self,
        schema: &'a Value,
        value: &Value,
        label: &str,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let (schema, label) = self.resolve(schema, label);
        if !has_type(schema, value) {
            return Err(format!("{label}: {} is not of type {}", cut(value), schema["type"]));
        }
        if schema.get("const").is_some_and(|only| only != value) {
            return Err(format!("{label}: {} is not {}", cut(value), schema["const"]));
        }
        if schema["enum"].as_array().is_some_and(|options| !options.contains(value)) {
            return Err(format!("{label}: {} is none of {}", cut(value), schema["enum"]));
        }
        self.visit_variants(schema, value, &label, seen)?;
        match value {
            Value::Object(map) => self.visit_object(schema, map, &label, seen),
            Value::Array(items) => self.visit_array(schema, items, &label, seen),
            _ => Ok(()),
        }
    }

    fn visit_variants(
        &self,
        schema: &'a Value,
        value: &Value,
        label: &str,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let variants = variants(schema);
        if variants.is_empty() {
            return Ok(());
        }
        let mut errors = Vec::new();
        for (number, variant) in variants.iter().enumerate() {
            let mut below = BTreeSet::new();
            match self.visit(variant, value, label, &mut below) {
                Ok(()) => {
                    seen.append(&mut below);
                    seen.insert(format!("{label}|{}", self.variant_name(variant, number)));
                    return Ok(());
                }
                Err(error) => errors.push(error),
            }
        }
        Err(format!("{label}: {} fits no variant ({})", cut(value), errors.join("; ")))
    }

    fn visit_object(
        &self,
        schema: &'a Value,
        map: &serde_json::Map<String, Value>,
        label: &str,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !map.contains_key(required) {
                return Err(format!("{label}: `{required}` is missing"));
            }
        }
        for (key, value) in map {
            let member = format!("{label}.{key}");
            if let Some(known) = schema["properties"].get(key) {
                seen.insert(member.clone());
                self.visit(known, value, &member, seen)?;
            } else {
                match schema.get("additionalProperties") {
                    Some(Value::Bool(false)) => return Err(format!("{member}: not a member")),
                    Some(other) => self.visit(other, value, &format!("{label}.*"), seen)?,
                    None if schema.get("properties").is_some() && variants(schema).is_empty() => {
                        return Err(format!("{member}: not a member that the schema knows"));
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn visit_array(
        &self,
        schema: &'a Value,
        items: &[Value],
        label: &str,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), String> {
        let fits = |key: &str, good: fn(u64, u64) -> bool| {
            schema[key].as_u64().is_none_or(|limit| good(items.len() as u64, limit))
        };
        if !fits("minItems", |length, limit| length >= limit)
            || !fits("maxItems", |length, limit| length <= limit)
        {
            return Err(format!("{label}: {} items", items.len()));
        }
        let first = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
        for (number, item) in items.iter().enumerate() {
            let name =
                format!("{label}[{}]", if number < first.len() { number.to_string() } else { String::new() });
            match (first.get(number), schema.get("items")) {
                (Some(known), _) => self.visit(known, item, &name, seen)?,
                (None, Some(Value::Bool(false))) => return Err(format!("{name}: too many items")),
                (None, Some(known)) => self.visit(known, item, &name, seen)?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn collect(
        &self,
        schema: &'a Value,
        label: &str,
        done: &mut BTreeSet<String>,
        wanted: &mut BTreeSet<String>,
    ) {
        let is_reference = schema.get("$ref").is_some();
        let (schema, label) = self.resolve(schema, label);
        if is_reference && !done.insert(label.clone()) {
            return;
        }
        for (number, variant) in variants(schema).iter().enumerate() {
            // `null` for a member that may be missing is in the schema and never in a canonical document.
            if variant["type"] != "null" {
                wanted.insert(format!("{label}|{}", self.variant_name(variant, number)));
                self.collect(variant, &label, done, wanted);
            }
        }
        for (key, member) in schema["properties"].as_object().into_iter().flatten() {
            let name = format!("{label}.{key}");
            wanted.insert(name.clone());
            self.collect(member, &name, done, wanted);
        }
        for (number, item) in schema["prefixItems"].as_array().into_iter().flatten().enumerate() {
            self.collect(item, &format!("{label}[{number}]"), done, wanted);
        }
        for (key, name) in [("items", format!("{label}[]")), ("additionalProperties", format!("{label}.*"))] {
            if let Some(below) = schema.get(key) {
                self.collect(below, &name, done, wanted);
            }
        }
    }

    /// What tells one variant from the others: its constant, its type's name, its only member, or its number.
    fn variant_name(&self, variant: &'a Value, number: usize) -> String {
        let (schema, name) = self.resolve(variant, "");
        if let Some(only) = schema["const"].as_str() {
            return only.to_owned();
        }
        match schema["required"].as_array().map(Vec::as_slice) {
            _ if !name.is_empty() => name,
            Some([Value::String(member)]) => member.clone(),
            _ => number.to_string(),
        }
    }
}

fn variants(schema: &Value) -> &[Value] {
    let listed = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    listed.map_or(&[][..], Vec::as_slice)
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn cut(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let schema = json!({
            "title": "A",
            "type": "object",
            "required": ["b"],
            "properties": {
                "b": { "$ref": "#/$defs/B" },
                "c": { "type": ["integer", "null"] },
                "d": { "type": "array", "items": { "type": "string" } },
            },
            "$defs": { "B": { "oneOf": [{ "const": "x", "type": "string" }, { "const": "y", "type": "string" }] } },
        });
        let mut cover = Cover::new(&schema);
        cover.check(&json!({ "b": "x", "d": ["e"] })).unwrap();
        let missing: Vec<_> = cover.wanted().difference(&cover.seen).cloned().collect();
        assert_eq!(missing, ["A.c", "B|y"]);
        for bad in [
            json!({}),
            json!({ "b": "z" }),
            json!({ "b": "x", "d": [1] }),
            json!({ "b": "x", "f": 1 }),
            json!([]),
        ] {
            assert!(cover.check(&bad).is_err(), "{bad}");
        }
    }
}

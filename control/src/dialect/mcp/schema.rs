//! JSON schemas that strict clients accept: without `$ref`, nullable types, Rust's integer formats, and unknown
//! arguments.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;
use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The schema of a tool's arguments.
pub fn of_arguments<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    made_once::<T>(SchemaVariant::Arguments, || {
        object::<T>(SchemaSettings::draft2020_12().for_deserialize(), true)
    })
}

/// The short form of the schema of a tool's arguments. It is short because models read all of it.
pub fn of_arguments_in_brief<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    made_once::<T>(SchemaVariant::ArgumentsInBrief, || {
        let mut schema = (*of_arguments::<T>()).clone();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.iter_mut().for_each(|(name, property)| brief_argument(name, property));
        }
        Arc::new(schema)
    })
}

/// The schema of a tool's reply: the names and types of its fields. The schema is short: it does not state which fields
/// are required, and does not describe numbers with clear names.
pub fn of_reply<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    made_once::<T>(SchemaVariant::Reply, || {
        object::<T>(SchemaSettings::draft2020_12().for_serialize(), false)
    })
}

/// The short form of the schema of every tool's reply: an object. It is short because models read all of it. The tool's
/// description contains what a model must know about the reply before a call. The reply itself contains the names of
/// its fields.
pub fn of_reply_in_brief() -> Arc<JsonObject> {
    static BRIEF: LazyLock<Arc<JsonObject>> =
        LazyLock::new(|| Arc::new(JsonObject::from_iter([("type".to_owned(), "object".into())])));
    BRIEF.clone()
}

/// The variants of a type's schema.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SchemaVariant {
    Arguments,
    ArgumentsInBrief,
    Reply,
}

/// Arguments whose names are clear to a model. The short schemas leave out their descriptions, which the manual
/// contains.
const CLEAR: [&str; 18] = [
    "append",
    "base64",
    "env",
    "first_line",
    "include_typed",
    "max_results",
    "offset",
    "prompt",
    "raw",
    "redact",
    "regex",
    "secret",
    "secrets",
    "signal",
    "takes_text",
    "title",
    "whole",
    "ignore_case",
];
/// Frequent descriptions of other arguments. The short schemas leave these out as well.
const USUAL: [&str; 4] = [
    "The pane; optional if there is only one.",
    "The longest wait; default and most 50,000.",
    "The longest wait; default 50,000.",
    "If `run` returned the handle: as in `run`.",
];

fn brief_argument(name: &str, argument: &mut Value) {
    let Value::Object(fields) = argument else { return };
    let is_usual = |doc: &Value| CLEAR.contains(&name) || USUAL.iter().any(|usual| doc == usual);
    if fields.get("description").is_some_and(is_usual) {
        fields.remove("description");
    }
    // The minimum 0 is left out, because a negative number is refused with a clear error anyway.
    if fields.get("minimum").is_some_and(|least| least == 0) {
        fields.remove("minimum");
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.iter_mut().for_each(|(name, property)| brief_argument(name, property));
        // Left out, because an unknown field is refused with a clear error anyway.
        fields.remove("additionalProperties");
    }
    if let Some(items) = fields.get_mut("items") {
        brief_argument("", items);
    }
}

/// The schema of a type. It is built at the first use and cached, because each call checks its arguments against it.
fn made_once<T: 'static>(
    kind: SchemaVariant,
    make: impl FnOnce() -> Arc<JsonObject>,
) -> Arc<JsonObject> {
    type SchemaCache = Mutex<HashMap<(TypeId, SchemaVariant), Arc<JsonObject>>>;
    static MADE: LazyLock<SchemaCache> = LazyLock::new(SchemaCache::default);
    let key = (TypeId::of::<T>(), kind);
    if let Some(made) = MADE.lock().get(&key) {
        return made.clone();
    }
    // The schema is built without holding the lock, because it may need another schema.
    let made = make();
    MADE.lock().insert(key, made.clone());
    made
}

fn object<T: JsonSchema>(mut settings: SchemaSettings, is_closed: bool) -> Arc<JsonObject> {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = serde_json::to_value(schema).unwrap_or_default();
    simplify(&mut schema, is_closed);
    let mut object = match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    object.remove("description");
    object.entry("type").or_insert_with(|| "object".into());
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    Arc::new(object)
}

fn is_null(value: &Value) -> bool {
    value.is_null() || value.get("type").is_some_and(|kind| kind == "null")
}

/// Converts a schema and all its parts to the form that strict clients accept.
fn simplify(schema: &mut Value, is_closed: bool) {
    let Value::Object(fields) = schema else { return };
    for name in ["$schema", "title", "format", "default"] {
        // A keyword is removed, but a property with the same name stays.
        if fields.get(name).is_some_and(|value| !value.is_object()) {
            fields.remove(name);
        }
    }
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for name in ["anyOf", "oneOf"] {
        let Some(Value::Array(choices)) = fields.get_mut(name) else { continue };
        choices.retain(|choice| !is_null(choice));
        if let [only] = choices.as_mut_slice() {
            let only = only.take();
            fields.remove(name);
            if let Value::Object(only) = only {
                for (name, value) in only {
                    fields.entry(name).or_insert(value);
                }
            }
        }
    }
    for (name, value) in fields.iter_mut() {
        match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(|property| simplify(property, is_closed));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter_mut().for_each(|one| simplify(one, is_closed));
            }
            ("items" | "additionalProperties", value) => simplify(value, is_closed),
            _ => {}
        }
    }
    if !is_closed {
        // The keyword `required` is removed, but a property with this name stays.
        if fields.get("required").is_some_and(Value::is_array) {
            fields.remove("required");
        }
        if fields.get("minimum").is_some_and(Value::is_number) {
            fields.remove("minimum");
        }
    }
    if is_closed && fields.contains_key("properties") {
        fields.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[allow(dead_code, reason = "its schema is what counts")]
    struct Sample {
        /// How many.
        count: Option<u64>,
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        inner: Option<Inner>,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[allow(dead_code, reason = "its schema is what counts")]
    struct Inner {
        kind: Option<SchemaVariant>,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum SchemaVariant {
        Left,
        Right,
    }

    #[test]
    fn a_brief_schema_has_names_and_types() {
        assert_eq!(Value::Object((*of_reply_in_brief()).clone()), json!({"type": "object"}));
        let arguments = Value::Object((*of_arguments_in_brief::<Sample>()).clone());
        let count = json!({"type": "integer", "description": "How many."});
        assert_eq!(arguments["properties"]["count"], count);
        assert_eq!(arguments["required"], json!(["title"]));
    }

    #[test]
    fn nothing_may_be_null_and_nothing_is_named_elsewhere() {
        assert_eq!(
            Value::Object((*of_arguments::<Sample>()).clone()),
            json!({
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "minimum": 0, "description": "How many."},
                    "title": {"type": "string"},
                    "inner": {
                        "type": "object",
                        "properties": {"kind": {"type": "string", "enum": ["left", "right"]}},
                        "additionalProperties": false,
                    },
                },
                "required": ["title"],
                "additionalProperties": false,
            })
        );
    }
}

//! The list of a plugin's functions: the result of its `describe()`, or else the names of its exported functions.

use serde_json::{Value, json};

use crate::{outcome::kind, text::is_name};

/// The suffix of the names of functions that return a matcher.
const MATCHER: &str = "_matcher";

/// The intents, wait matchers and states of a plugin, as `plugin.describe` shows them.
#[derive(Debug)]
pub(crate) struct Catalog(Value);

impl Catalog {
    /// The lists by their names: `intents`, `wait_matchers`, `states`, and any other values that `describe()` returned.
    pub(crate) fn into_value(self) -> Value {
        self.0
    }

    /// Creates the catalog from what `describe()` returned. The three lists must be lists of tables with a `name`.
    pub(crate) fn described(mut value: Value) -> Result<Self, String> {
        let Some(fields) = value.as_object_mut() else {
            return Err(format!("a table with named keys is expected, not {}", kind(&value)));
        };
        for key in ["intents", "wait_matchers", "states"] {
            let list = fields.entry(key).or_insert_with(|| json!([]));
            // Luau can't represent an empty list, so it becomes an empty object.
            if list.as_object().is_some_and(serde_json::Map::is_empty) {
                *list = json!([]);
            }
            let Some(entries) = list.as_array() else {
                return Err(format!("`{key}` must be a list, not {}", kind(list)));
            };
            for (at, entry) in entries.iter().enumerate() {
                if !entry["name"].as_str().is_some_and(is_name) {
                    let at = at + 1;
                    return Err(format!("`{key}[{at}]` must be a table with a `name`"));
                }
            }
        }
        Ok(Self(value))
    }

    /// Creates the catalog from the names of exported functions, which are divided into intents and wait matchers.
    pub(crate) fn introspected(mut exports: Vec<String>) -> Self {
        exports.sort();
        let named = |names: Vec<&String>| -> Value {
            names.into_iter().map(|name| json!({ "name": name })).collect()
        };
        let (matchers, intents): (Vec<_>, Vec<_>) =
            exports.iter().filter(|name| !is_reserved(name)).partition(|name| is_matcher(name));
        Self(json!({ "intents": named(intents), "wait_matchers": named(matchers), "states": [] }))
    }
}

/// Whether the protocol reserves the name of an exported function for another purpose than an intent or a predicate.
pub(crate) fn is_reserved(name: &str) -> bool {
    ["classify", "describe"].contains(&name)
}

/// Whether the exported function with this name returns a matcher.
pub(crate) fn is_matcher(name: &str) -> bool {
    name.ends_with(MATCHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_sorted_by_their_names() {
        let exports = ["send", "classify", "wait_turn_matcher", "describe", "cancel"];
        let catalog = Catalog::introspected(exports.map(str::to_owned).to_vec());
        let expected = json!({
            "intents": [{ "name": "cancel" }, { "name": "send" }],
            "wait_matchers": [{ "name": "wait_turn_matcher" }],
            "states": []
        });
        assert_eq!(catalog.into_value(), expected);
    }

    #[test]
    fn a_description_is_kept_verbatim() {
        let value =
            json!({ "intents": [{ "name": "send", "x": 1 }], "wait_matchers": {}, "note": "more" });
        let catalog = Catalog::described(value).expect("a catalog");
        let expected = json!({
            "intents": [{ "name": "send", "x": 1 }], "wait_matchers": [], "states": [], "note": "more"
        });
        assert_eq!(catalog.into_value(), expected);
        let error =
            Catalog::described(json!({ "states": [{ "title": "x" }] })).expect_err("no name");
        assert_eq!(error, "`states[1]` must be a table with a `name`");
    }
}

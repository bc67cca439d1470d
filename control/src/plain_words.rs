//! Converts error messages of parsers to sentences for users.
//!
//! serde, its JSON parser and the TOML parser write their errors for programmers. Owns how these errors read for users.
//! A message of an unknown form stays unchanged, except for its quotes.

use crate::suggestion::did_you_mean;

/// Beginnings of messages about the syntax of TOML and JSON, with the sentences that users read instead.
const SYNTAX: &[(&str, &str)] = &[
    // TOML
    ("duplicate key", "this key stands twice"),
    ("string values must be quoted", UNQUOTED),
    ("key with no value", "a key needs a value, such as key = \"value\""),
    ("missing value", "the value is missing"),
    ("missing assignment between key-value pairs", "an equals sign is missing after a key"),
    ("missing key", "the key is missing"),
    ("missing comma", "a comma is missing"),
    ("missing opening quote", "a quote is missing"),
    ("missing escaped value", BACKSLASH),
    ("too few unicode value digits", BACKSLASH),
    ("unclosed table", "a closing ] is missing"),
    ("unclosed array", "a closing ] is missing"),
    ("unclosed inline table", "a closing } is missing"),
    (
        "invalid basic string",
        "a text in double quotes is not closed, or contains a wrong backslash",
    ),
    ("invalid literal string", "a text in single quotes is not closed"),
    ("invalid multi-line basic string", "a text in triple quotes is not closed"),
    ("invalid multi-line literal string", "a text in triple quotes is not closed"),
    ("keys cannot be multi-line", "a key must stand on one line"),
    ("invalid unquoted key", "a key with such a character needs quotes, such as \"ctrl+a\""),
    ("unquoted keys cannot be empty", "the key is missing"),
    ("extra comma", "there is a comma too many"),
    ("extra `=`", "there is an equals sign too many"),
    ("extra assignment", "there is an equals sign too many"),
    ("unexpected `=`", "there is an equals sign too many"),
    ("unexpected leading zero", "a number can't begin with 0"),
    ("unexpected sign", "a number has a wrong sign"),
    ("redundant numeric sign", "a number has a sign too many"),
    ("redundant integer number prefix", WRONG_NUMBER),
    ("`_` may only go between digits", WRONG_NUMBER),
    ("integers with a radix", WRONG_NUMBER),
    ("radix must be lowercase", WRONG_NUMBER),
    ("integer number overflowed", "the number is too large"),
    ("floating-point number overflowed", "the number is too large"),
    ("carriage return must be followed by newline", "a line has a wrong end; save the file anew"),
    ("invalid comment character", "a comment contains a control character"),
    ("unexpected key or value", MISPLACED),
    ("unexpected content", MISPLACED),
    ("invalid key-value pair", MISPLACED),
    ("invalid inline table", MISPLACED),
    // The parser guesses the type of a text without quotes from its first letter: `nord` may be meant as `nan`.
    ("invalid string", UNQUOTED),
    ("invalid boolean", UNQUOTED),
    ("invalid date", "this is no date; text needs quotes, such as \"text\""),
    ("invalid float", UNQUOTED_OR_NUMBER),
    ("invalid integer", UNQUOTED_OR_NUMBER),
    ("invalid hexadecimal", WRONG_NUMBER),
    ("invalid octal", WRONG_NUMBER),
    ("invalid binary", WRONG_NUMBER),
    ("invalid table", "the name of a table is missing or needs quotes"),
    ("invalid key", "the key is missing or needs quotes"),
    ("cannot extend value of type", "a key with dots extends a value that is no table"),
    ("cannot recurse further", "values are nested too deeply"),
    ("recursion limit", "values are nested too deeply"),
    // JSON
    ("EOF while parsing", "it ends too early"),
    ("expected value", "a value is missing, or a text has no double quotes"),
    ("expected ident", "a text has no double quotes"),
    ("expected `:`", "a colon is missing after a key"),
    ("expected `,` or `]`", "a comma or a closing ] is missing"),
    ("expected `,` or `}`", "a comma or a closing } is missing"),
    ("expected `\"`", "a double quote is missing"),
    ("key must be a string", "a key needs double quotes"),
    ("trailing comma", "there is a comma too many"),
    ("trailing characters", "there is something after its end"),
    ("control character", "a text contains a control character, such as a line break"),
    ("invalid number", WRONG_NUMBER),
    ("number out of range", "the number is too large"),
    ("invalid escape", BACKSLASH),
    ("invalid unicode code point", BACKSLASH),
    ("lone leading surrogate", BACKSLASH),
    ("unexpected end of hex escape", BACKSLASH),
    // serde
    ("data did not match any variant", "it has none of the forms that are possible here"),
];

const BACKSLASH: &str = "a backslash in a text in double quotes must be doubled";
const UNQUOTED: &str = "text needs quotes, such as \"text\"";
const UNQUOTED_OR_NUMBER: &str = "this is no number; text needs quotes, such as \"text\"";
const WRONG_NUMBER: &str = "this is no number";
const MISPLACED: &str = "this can't stand here; a line has the form key = \"value\"";

/// A message of serde, of its JSON parser or of the TOML parser as a sentence for users, without a position.
pub fn plain(message: &str) -> String {
    let message = without_position(message.trim());
    about_data(message).unwrap_or_else(|| {
        match SYNTAX.iter().find(|(raw, _)| message.starts_with(raw)) {
            Some((_, sentence)) => (*sentence).to_owned(),
            None => {
                let end = message.find(", expected ").unwrap_or(message.len());
                message[..end].replace('`', "\"")
            }
        }
    })
}

/// An error in a JSON text as a sentence for users, with its line and column.
pub fn of_json(error: &serde_json::Error) -> String {
    let sentence = plain(&error.to_string());
    match (error.line(), error.column()) {
        (0, _) => sentence,
        (line, column) => format!("line {line}, column {column}: {sentence}"),
    }
}

/// The message without the position that serde_json appends: ` at line 1 column 5`.
fn without_position(message: &str) -> &str {
    let Some((before, place)) = message.rsplit_once(" at line ") else { return message };
    let is_place = place.split(" column ").all(|number| number.parse::<usize>().is_ok());
    if is_place { before } else { message }
}

/// A message of serde about keys and values. `None` for another message.
fn about_data(message: &str) -> Option<String> {
    let quoted = |text: &str| -> Vec<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let of_rest = |start: &str| message.strip_prefix(start).map(quoted);
    if let Some(names) = of_rest("unknown field ") {
        let (wrong, known) = names.split_first()?;
        let hint = did_you_mean(wrong, known.iter().map(String::as_str));
        return Some(match known {
            [] => format!("unknown key {wrong:?}"),
            known => format!("unknown key {wrong:?}; there are {}{hint}", known.join(", ")),
        });
    }
    if let Some(names) = of_rest("unknown variant ") {
        let (wrong, known) = names.split_first()?;
        let hint = did_you_mean(wrong, known.iter().map(String::as_str));
        return Some(match known {
            [] => format!("{wrong:?} is not possible here"),
            known => format!("{wrong:?} is none of {}{hint}", known.join(", ")),
        });
    }
    if let Some(names) = of_rest("missing field ") {
        return Some(format!("the key {:?} is missing", names.first()?));
    }
    if let Some(names) = of_rest("duplicate field ") {
        return Some(format!("the key {:?} stands twice", names.first()?));
    }
    if let Some(rest) = message.strip_prefix("invalid length ") {
        let (count, wanted) = rest.split_once(", expected ")?;
        let needed = wanted.split_whitespace().find_map(|word| word.parse::<u64>().ok());
        return Some(match needed {
            Some(needed) => format!("it has {count} items, but needs {needed}"),
            None => format!("it has {count} items, which are too many"),
        });
    }
    let found = ["invalid type: ", "invalid value: "];
    let rest = found.iter().find_map(|start| message.strip_prefix(start))?;
    let (found, wanted) = rest.rsplit_once(", expected ")?;
    Some(format!("it must be {}, not {}", wanted_type(wanted), found_value(found)))
}

/// A Rust type, as users call it.
fn wanted_type(wanted: &str) -> String {
    let wanted = wanted.trim_matches('`');
    let words = match wanted {
        "f32" | "f64" => "a number",
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a sequence" => "a list",
        "a map" => "a table",
        "a boolean" => "true or false",
        "unit" => "nothing",
        "a borrowed string" | "string or map" => "a string",
        wanted if wanted.starts_with("struct ") || wanted.starts_with("internally tagged enum") => {
            "a table"
        }
        wanted if wanted.starts_with("enum ") || wanted.starts_with("variant ") => "a string",
        wanted if wanted.starts_with("tuple ") || wanted.starts_with("an array") => "a list",
        wanted => return wanted.replace('`', "\""),
    };
    words.to_owned()
}

/// A value in a message of serde, such as `string "x"`, as users call it.
fn found_value(found: &str) -> String {
    let kinds = ["string ", "integer ", "floating point ", "boolean ", "character "];
    let value = kinds.iter().find_map(|kind| found.strip_prefix(kind));
    match (value, found) {
        (Some(value), _) => value.replace('`', ""),
        (None, "sequence") => "a list".to_owned(),
        (None, "map") => "a table".to_owned(),
        (None, "null" | "unit value" | "Option value") => "nothing".to_owned(),
        (None, found) => found.replace('`', ""),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn messages_of_parsers_are_plain_sentences() {
        for (raw, sentence) in [
            (
                "unknown field `tabz`, expected `active` or `tabs`",
                "unknown key \"tabz\"; there are active, tabs; did you mean \"tabs\"?",
            ),
            ("unknown field `x`, there are no fields", "unknown key \"x\""),
            (
                "unknown variant `rihgt`, expected `right` or `down`",
                "\"rihgt\" is none of right, down; did you mean \"right\"?",
            ),
            ("missing field `tabs`", "the key \"tabs\" is missing"),
            ("missing field `tabs` at line 1 column 2", "the key \"tabs\" is missing"),
            ("duplicate field `a`", "the key \"a\" stands twice"),
            (
                "invalid type: string \"x\", expected u64",
                "it must be a whole number of at least 0, not \"x\"",
            ),
            (
                "invalid type: string \"a, expected b\", expected f32",
                "it must be a number, not \"a, expected b\"",
            ),
            ("invalid value: integer `-1`, expected i8", "it must be a whole number, not -1"),
            ("invalid type: integer `3`, expected a sequence", "it must be a list, not 3"),
            (
                "invalid type: floating point `3.5`, expected a string",
                "it must be a string, not 3.5",
            ),
            (
                "invalid type: boolean `true`, expected struct TabFile",
                "it must be a table, not true",
            ),
            ("invalid type: map, expected a boolean", "it must be true or false, not a table"),
            ("invalid type: null, expected a map", "it must be a table, not nothing"),
            ("invalid length 3, expected an array of length 16", "it has 3 items, but needs 16"),
            (
                "data did not match any variant of untagged enum Choice",
                "it has none of the forms that are possible here",
            ),
            (
                "string values must be quoted, expected literal string",
                "text needs quotes, such as \"text\"",
            ),
            (
                "invalid float, expected `nan`",
                "this is no number; text needs quotes, such as \"text\"",
            ),
            ("invalid boolean, expected `true`", "text needs quotes, such as \"text\""),
            ("unclosed table, expected `]`", "a closing ] is missing"),
            (
                "expected value at line 1 column 1",
                "a value is missing, or a text has no double quotes",
            ),
            ("EOF while parsing an object at line 1 column 9", "it ends too early"),
            // Sentences of Unterm itself, and messages of an unknown form.
            ("share must be between 0 and 1", "share must be between 0 and 1"),
            ("stopped at line 7 of it", "stopped at line 7 of it"),
            ("a new `form`", "a new \"form\""),
        ] {
            assert_eq!(plain(raw), sentence, "{raw}");
        }
    }

    /// Words of serde and its JSON parser that no user should read.
    fn is_raw(sentence: &str) -> bool {
        let words =
            ["expected", "EOF", "ident", "`", "serde", "u64", "variant", "surrogate", "map"];
        words.iter().any(|word| sentence.contains(word))
    }

    #[test]
    fn no_error_in_json_reads_as_a_parsers_message() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Sample {
            #[expect(dead_code, reason = "only its type is of interest")]
            count: u64,
        }
        for text in [
            "",
            "{",
            "[1",
            "\"a",
            "{\"count\"}",
            "{\"count\": }",
            "{\"count\": 1,}",
            "{count: 1}",
            "{\"count\": 1} x",
            "{\"count\": tru}",
            "{\"count\": 01}",
            "{\"count\": 1e999}",
            "{\"count\": \"\\x\"}",
            "{\"count\": \"\\ud800\"}",
            "{\"count\": \"\\u12\"}",
            "{\"count\": \"a\nb\"}",
            "{\"count\": -1}",
            "{\"count\": \"x\"}",
            "{\"count\": null}",
            "{\"count\": {}}",
            "{\"count\": []}",
            "{\"count\": 1.5}",
            "{\"coutn\": 1}",
            "{}",
            "[]",
            "x",
            "{\"count\": 1 \"b\": 2}",
            "[1 2]",
        ] {
            let error = serde_json::from_str::<Sample>(text).unwrap_err();
            let sentence = of_json(&error);
            assert!(!is_raw(&sentence), "{text:?}: {error} became {sentence}");
            assert!(sentence.starts_with("line "), "{sentence}");
        }
        let deep = "[".repeat(1000);
        let error = serde_json::from_str::<serde_json::Value>(&deep).unwrap_err();
        assert!(of_json(&error).ends_with(": values are nested too deeply"), "{error}");
    }
}

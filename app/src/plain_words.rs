//! Converts error messages of parsers to the words of Unterm's own messages.
//!
//! serde, clap and the standard library write their errors for programmers. This module owns how these errors read for
//! users. A message of an unknown form stays unchanged.

use clap::{
    Error,
    error::{ContextKind, ContextValue},
};

use unterm_control::did_you_mean;

/// Messages of the standard library about numbers, with the messages that users read instead.
const NUMBERS: [(&str, &str); 6] = [
    ("invalid digit found in string", "it is not a whole number"),
    ("invalid float literal", "it is not a number"),
    ("cannot parse integer from empty string", "the number is missing"),
    ("cannot parse float from empty string", "the number is missing"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
];

/// The error message for a wrong command line. Messages of the standard library are replaced, advice about `--` is
/// removed, and at most one similar name is suggested.
pub fn command_line(mut error: Error) -> String {
    let similar =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    for kind in similar {
        if let Some(ContextValue::Strings(names)) = error.get(kind).cloned()
            && names.len() > 1
        {
            let wrong = [
                ContextKind::InvalidSubcommand,
                ContextKind::InvalidArg,
                ContextKind::InvalidValue,
            ]
            .into_iter()
            .find_map(|kind| error.get(kind).map(ToString::to_string));
            let near = |name: &String| {
                wrong
                    .as_ref()
                    .map_or(0.0, |wrong| strsim::normalized_damerau_levenshtein(wrong, name))
            };
            let best = names.into_iter().max_by(|a, b| near(a).total_cmp(&near(b)));
            error.insert(kind, ContextValue::String(best.unwrap_or_default()));
        }
    }
    let text = error.render().to_string();
    let lines = text.lines().filter(|line| !line.contains("as a value, use '-- "));
    let mut out = String::new();
    for line in lines {
        // Avoid two successive blank lines where advice was removed.
        if line.is_empty() && (out.is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        let words = NUMBERS.iter().find(|(raw, _)| line.ends_with(raw));
        out.push_str(
            &words.map_or_else(|| line.to_owned(), |(raw, plain)| line.replace(raw, plain)),
        );
        out.push('\n');
    }
    out
}

/// Converts a message of serde about the keys and values of a file.
pub fn of_file(message: &str) -> String {
    let quoted = |text: &str| -> Vec<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let message = message.trim();
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let names = quoted(rest);
        let Some((wrong, known)) = names.split_first() else { return message.to_owned() };
        let hint = did_you_mean(wrong, known.iter().map(String::as_str));
        return match known {
            [] => format!("unknown key {wrong:?}"),
            known => format!("unknown key {wrong:?}; there are {}{hint}", known.join(", ")),
        };
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let names = quoted(rest);
        let Some((wrong, known)) = names.split_first() else { return message.to_owned() };
        let hint = did_you_mean(wrong, known.iter().map(String::as_str));
        return format!("{wrong:?} is none of {}{hint}", known.join(", "));
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return match quoted(rest).first() {
            Some(name) => format!("the key {name:?} is missing"),
            None => message.to_owned(),
        };
    }
    if let Some(rest) = message.strip_prefix("duplicate field ") {
        return match quoted(rest).first() {
            Some(name) => format!("the key {name:?} stands twice"),
            None => message.to_owned(),
        };
    }
    for start in ["invalid type: ", "invalid value: "] {
        if let Some((found, wanted)) =
            message.strip_prefix(start).and_then(|rest| rest.split_once(", expected "))
        {
            return format!("it must be {}, not {}", type_of(wanted), found.replace('`', ""));
        }
    }
    message.to_owned()
}

/// The name of a Rust type, as users call it.
fn type_of(wanted: &str) -> String {
    match wanted.trim_matches('`') {
        "f32" | "f64" => "a number".to_owned(),
        "usize" | "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" => {
            "a whole number".to_owned()
        }
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "a boolean" => "true or false".to_owned(),
        wanted if wanted.starts_with("struct ") => "a table".to_owned(),
        wanted => wanted.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn line(words: &[&str]) -> String {
        let command = Command::new("x")
            .arg(Arg::new("number").long("number").value_parser(clap::value_parser!(u16)))
            .arg(Arg::new("share").long("share").value_parser(clap::value_parser!(f32)))
            .subcommand(Command::new("session.list"))
            .subcommand(Command::new("session.input"))
            .subcommand(Command::new("session.resize"));
        let error = command.try_get_matches_from(words).unwrap_err();
        command_line(error)
    }

    #[test]
    fn a_wrong_command_line_is_told_in_plain_words() {
        for (words, said) in [
            (
                &["x", "--number", "z"][..],
                "invalid value 'z' for '--number <number>': it is not a whole number",
            ),
            (&["x", "--number", "70000"], "70000 is not in 0..=65535"),
            (&["x", "--number", ""], "the number is missing"),
            (&["x", "--share", "z"], "it is not a number"),
        ] {
            let text = line(words);
            assert!(text.contains(said), "{text}");
        }
        let text = line(&["x", "sesion.list"]);
        assert!(text.contains("session.list") && !text.contains("session.input"), "{text}");
        let text = line(&["x", "session.list", "--lines"]);
        assert!(
            !text.contains("-- --lines") && text.contains("unexpected argument '--lines'"),
            "{text}"
        );
    }

    #[test]
    fn a_wrong_key_of_a_file_is_told_in_plain_words() {
        for (raw, plain) in [
            (
                "unknown field `tabz`, expected `active` or `tabs`",
                "unknown key \"tabz\"; there are active, tabs; did you mean \"tabs\"?",
            ),
            (
                "unknown variant `rihgt`, expected `right` or `down`",
                "\"rihgt\" is none of right, down; did you mean \"right\"?",
            ),
            ("missing field `tabs`", "the key \"tabs\" is missing"),
            ("duplicate field `a`", "the key \"a\" stands twice"),
            (
                "invalid type: string \"x\", expected usize",
                "it must be a whole number, not string \"x\"",
            ),
            ("invalid type: integer `3`, expected a sequence", "it must be a list, not integer 3"),
            (
                "invalid type: floating point `3.5`, expected a string",
                "it must be a string, not floating point 3.5",
            ),
            (
                "invalid type: integer `3`, expected struct TabFile",
                "it must be a table, not integer 3",
            ),
            ("share must be between 0 and 1", "share must be between 0 and 1"),
        ] {
            assert_eq!(of_file(raw), plain);
        }
    }
}

//! Converts error messages of parsers to the words of Unterm's own messages.
//!
//! serde, clap and the standard library write their errors for programmers. This module owns how errors of the command
//! line read for users. [`unterm_control::plain_words`] owns the same for files. A message of an unknown form stays
//! unchanged.

use clap::{
    Error,
    error::{ContextKind, ContextValue},
};

pub use unterm_control::plain_words::{of_json, plain as of_file};

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
        let line = words.map_or_else(|| line.to_owned(), |(raw, plain)| line.replace(raw, plain));
        out.push_str(&with_limits(&line).unwrap_or(line));
        out.push('\n');
    }
    out
}

/// Replaces Rust's notation of a range at the end of a line, such as `70000 is not in 0..=65535`. `None` if the line
/// has no such end.
fn with_limits(line: &str) -> Option<String> {
    let (before, range) = line.rsplit_once(" is not in ")?;
    let (before, number) = before.rsplit_once(' ')?;
    let (low, high) = range.split_once("..")?;
    let low: i64 = low.parse().ok()?;
    let limit = match high.strip_prefix('=') {
        Some(high) => high.parse::<u64>().ok()?,
        None => high.parse::<u64>().ok()?.saturating_sub(1),
    };
    let limits = match limit < u64::from(u32::MAX) {
        true => format!("between {low} and {limit}"),
        // No command line needs such a large number. The limit is that of the number's type.
        false => format!("at least {low}"),
    };
    Some(format!("{before} it must be {limits}, not {number}"))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;

    fn line(words: &[&str]) -> String {
        let command = Command::new("x")
            .arg(Arg::new("number").long("number").value_parser(clap::value_parser!(u16)))
            .arg(Arg::new("share").long("share").value_parser(clap::value_parser!(f32)))
            .arg(Arg::new("count").long("count").value_parser(clap::value_parser!(u64).range(1..)))
            .subcommand(Command::new("session.list"))
            .subcommand(Command::new("session.input"))
            .subcommand(Command::new("session.resize"));
        let error = command.try_get_matches_from(words).unwrap_err();
        command_line(error)
    }

    #[test]
    fn a_wrong_command_line_is_told_in_plain_words() {
        for (words, message) in [
            (
                &["x", "--number", "z"][..],
                "invalid value 'z' for '--number <number>': it is not a whole number",
            ),
            (&["x", "--number", "70000"], "it must be between 0 and 65535, not 70000"),
            (&["x", "--count", "0"], "it must be at least 1, not 0"),
            (&["x", "--number", ""], "the number is missing"),
            (&["x", "--share", "z"], "it is not a number"),
        ] {
            let text = line(words);
            assert!(text.contains(message), "{text}");
        }
        let text = line(&["x", "sesion.list"]);
        assert!(text.contains("session.list") && !text.contains("session.input"), "{text}");
        let text = line(&["x", "session.list", "--lines"]);
        assert!(
            !text.contains("-- --lines") && text.contains("unexpected argument '--lines'"),
            "{text}"
        );
    }

    /// Words of serde and of the TOML parser that no user should read.
    fn is_raw(sentence: &str) -> bool {
        let words = ["expected", "`", "serde", "u64", "variant", "recurse", "radix", "literal"];
        words.iter().any(|word| sentence.contains(word))
    }

    #[test]
    fn no_error_in_toml_reads_as_a_parsers_message() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only the types are of interest")]
        struct Sample {
            count: u64,
            names: Vec<String>,
        }
        for text in [
            "count",
            "count =",
            "count = x",
            "count = 'x",
            "count = \"x",
            "count = \"\"\"x",
            "count = \u{27}\u{27}\u{27}x",
            "count = [1, 2",
            "count = [1 2]",
            "count = [,]",
            "count = {a = 1",
            "count = {a}",
            "count = {= 1}",
            "count == 1",
            "= 1",
            "[count",
            "[[count]",
            "[]",
            "count = 1\ncount = 2",
            "count = 1 2",
            "count = 01",
            "count = +-1",
            "count = 1__0",
            "count = 0X1",
            "count = 99999999999999999999",
            "count = \"\\x\"",
            "count = \"\\u12\"",
            "a+b = 1",
            "count = 1 # \u{1}",
            "count = 1\rnames = []",
            "count = 2026-13-45",
            "count = 1_",
            "count = 0x_1",
            "count = -",
            "count = .5",
            "count = 1.",
            "count = tru",
            "count = inf0",
            "\"\"\"a\"\"\" = 1",
            "{",
            "]",
            "count = -1\nnames = []",
            "count = 'x'\nnames = []",
            "names = []",
            "count = 1\nnames = 'x'",
            "count = 1\nnames = [1]",
            "count = 1\nnames = []\nother = 1",
            "count = []\nnames = []",
            "count = {}\nnames = []",
            "count = 1.5\nnames = []",
            "count = 2026-01-01\nnames = []",
            "count = true\nnames = []",
        ] {
            let error = toml_edit::de::from_str::<Sample>(text).unwrap_err();
            let sentence = of_file(error.message());
            assert!(!is_raw(&sentence), "{text:?}: {} became {sentence}", error.message());
        }
    }
}

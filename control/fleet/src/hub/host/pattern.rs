//! Patterns of paths, such as `src/**/*.rs`.

use anyhow::{Context as _, Result, ensure};
use regex_automata::meta::Regex;

/// The maximum number of bytes of a pattern.
const LONGEST: usize = 1000;
/// The maximum number of bytes of memory of a compiled pattern.
const SIZE: usize = 1 << 20;

/// Compiles a regular expression with bounded memory. The time of a search with it is proportional to the length of the
/// text.
pub fn regex(pattern: &str) -> Result<Regex> {
    ensure!(pattern.len() <= LONGEST, "a pattern must have at most {LONGEST} bytes");
    let config = Regex::config().nfa_size_limit(Some(SIZE)).onepass_size_limit(Some(SIZE));
    let built = Regex::builder().configure(config).build(pattern);
    built.with_context(|| format!("not a regular expression: {pattern:?}"))
}

/// Compiles a pattern of paths: `*` and `?` do not match `/`, `**` does, and `[…]` matches one of several characters.
pub fn glob(pattern: &str) -> Result<Regex> {
    let mut text = String::from("(?s)^");
    let mut rest = pattern;
    while let Some(char) = rest.chars().next() {
        let after = &rest[char.len_utf8()..];
        let mut next = after;
        match char {
            '*' if rest.starts_with("**/") => {
                text.push_str("(?:.*/)?");
                next = &rest[3..];
            }
            '*' if rest.starts_with("**") => {
                text.push_str(".*");
                next = &rest[2..];
            }
            '*' => text.push_str("[^/]*"),
            '?' => text.push_str("[^/]"),
            '[' if after.contains(']') => {
                let (class, behind) = after.split_once(']').unwrap_or((after, ""));
                let (not, class) = match class.strip_prefix('!') {
                    Some(class) => ("^/", class),
                    None => ("", class),
                };
                let class: String = class.chars().map(in_class).collect();
                text.push_str(&format!("[{not}{class}]"));
                next = behind;
            }
            _ => text.extend(escaped(char)),
        }
        rest = next;
    }
    text.push('$');
    regex(&text)
}

fn in_class(char: char) -> String {
    if char == '-' { "-".to_owned() } else { escaped(char).collect() }
}

fn escaped(char: char) -> impl Iterator<Item = char> {
    let is_plain = char.is_alphanumeric() || matches!(char, '/' | '_' | ' ') || !char.is_ascii();
    (!is_plain).then_some('\\').into_iter().chain([char])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, path, matches) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/b/a.rs", true),
            ("src/**", "src/b/a.rs", true),
            ("src/?.rs", "src/a.rs", true),
            ("src/?.rs", "src//.rs", false),
            ("[ab].c", "b.c", true),
            ("[!ab].c", "b.c", false),
            ("[a-c].c", "b.c", true),
            ("a+(b).c", "a+(b).c", true),
            ("a+", "aa", false),
            ("é*", "éa", true),
            ("[", "[", true),
        ] {
            assert_eq!(glob(pattern).unwrap().is_match(path), matches, "{pattern} {path}");
        }
        assert!(regex(&"a".repeat(LONGEST + 1)).is_err());
        assert!(regex("(a{1000}){1000}").is_err());
    }
}

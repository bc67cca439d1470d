//! The answers that a dialog offers: numbered lines such as `❯ 1. Yes`, or words in brackets such as `[y/N]`.

use std::sync::LazyLock;

use regex_automata::{meta::Regex, util::captures::Captures};

/// The maximum number of rows below the last choice. A list further up belongs to earlier output.
const BELOW: usize = 12;
/// The maximum number of rows from one choice to the next. A long choice is wrapped.
const APART: usize = 6;
/// The maximum number of characters of a choice's label.
const LONGEST: usize = 200;

/// A numbered line. Before the number, there may be a frame and the mark of the selected line.
static NUMBERED: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r"^[\s│┃║|]*[>❯›▸►●○◉◯•*-]?\s*([1-9])[.)]\s+(\S.*?)[\s│┃║|]*$"));
/// Words in brackets at the end of a question, such as `[Y/n]` or `(yes/no/[fingerprint])`.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"[\[(]([A-Za-z]{1,12}(?:/\[?[A-Za-z]{1,12}\]?){1,5})[\])][^\[(]{0,3}$")
});

fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(pattern)
        .map_err(|error| tracing::error!(%error, "choices of dialogs are not recognized"))
        .ok()
}

/// An answer that a dialog offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The choice's text on the screen.
    pub label: String,
    /// The characters to type, without Enter.
    pub keys: String,
}

/// The meaning of an answer, independent of the dialog's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Allow the requested action this time.
    Approve,
    /// Refuse the requested action.
    Deny,
}

impl Wish {
    /// The choice with this meaning: the only one, or the first of several that allows no more than this meaning.
    /// `None` if no choice clearly has the meaning.
    pub fn choice(self, choices: &[Choice]) -> Option<&Choice> {
        const APPROVING: &[&str] =
            &["y", "yes", "allow", "approve", "accept", "ok", "proceed", "continue", "run"];
        const DENYING: &[&str] =
            &["n", "no", "deny", "reject", "cancel", "decline", "abort", "don't", "stop"];
        /// A choice with such a word allows more than a single time.
        const BROADER: &[&str] = &["always", "again", "session", "all", "every", "auto", "future"];
        let words = |choice: &Choice| -> Vec<String> {
            let label = choice.label.to_lowercase().replace('’', "'");
            let parts = label.split(|char: char| !char.is_alphanumeric() && char != '\'');
            parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let is_meant = |choice: &&Choice| {
            let words = words(choice);
            let starts = |with: &[&str]| words.first().is_some_and(|it| with.contains(&&**it));
            match self {
                Self::Approve => {
                    starts(APPROVING) && !words.iter().any(|it| BROADER.contains(&&**it))
                }
                Self::Deny => starts(DENYING),
            }
        };
        choices.iter().find(is_meant)
    }
}

/// The choices on a screen. `line`: the last line, if it is a question.
pub fn of_screen(rows: &[String], line: Option<&str>) -> Vec<Choice> {
    let words = line.map(in_brackets).unwrap_or_default();
    if words.is_empty() { numbered(rows) } else { words }
}

/// The words in brackets at the end of a question.
fn in_brackets(line: &str) -> Vec<Choice> {
    let Some(found) = captured(&WORDS, line.trim_end()) else { return Vec::new() };
    let words = found.0.split('/').map(|word| word.trim_matches(['[', ']']));
    // In `[y/N]`, the capital letter is the default.
    let typed = |word: &str| if word.len() == 1 { word.to_lowercase() } else { word.to_owned() };
    words.map(|word| Choice { label: word.to_owned(), keys: typed(word) }).collect()
}

/// The last list on the screen that is numbered from 1.
fn numbered(rows: &[String]) -> Vec<Choice> {
    let mut list: Vec<(usize, Choice)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some((number, label)) = captured(&NUMBERED, row) else { continue };
        let is_next = list.last().is_some_and(|(last, _)| at - last <= APART)
            && number == (list.len() + 1).to_string();
        if !is_next {
            list.clear();
        }
        if is_next || number == "1" {
            let label = label.chars().take(LONGEST).collect();
            list.push((at, Choice { label, keys: number }));
        }
    }
    let is_near = list.last().is_some_and(|(last, _)| rows.len() - last <= BELOW);
    // A list with one line is no choice.
    if !is_near || list.len() < 2 {
        return Vec::new();
    }
    list.into_iter().map(|(_, choice)| choice).collect()
}

/// The two groups of a pattern. The second is empty if the pattern has only one.
fn captured(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<(String, String)> {
    let pattern = pattern.as_ref()?;
    let mut found: Captures = pattern.create_captures();
    pattern.captures(text, &mut found);
    let group = |index| found.get_group(index).map(|span| text[span.start..span.end].to_owned());
    found.is_match().then(|| (group(1).unwrap_or_default(), group(2).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(screen: &str, line: Option<&str>) -> Vec<(String, String)> {
        let rows: Vec<String> = screen.lines().map(str::to_owned).collect();
        let choices = of_screen(&rows, line).into_iter();
        choices.map(|Choice { label, keys }| (keys, label)).collect()
    }

    fn wished(wish: Wish, labels: &[&str]) -> Option<usize> {
        let choices: Vec<_> = labels
            .iter()
            .map(|label| Choice { label: (*label).to_owned(), keys: String::new() })
            .collect();
        let found = wish.choice(&choices)?;
        choices.iter().position(|choice| choice.label == found.label)
    }

    #[test]
    fn a_numbered_list_at_the_end_of_the_screen_is_a_choice() {
        let framed = "│ Do you want to proceed?            │\n\
            │ ❯ 1. Yes                           │\n\
            │   2. Yes, and don't ask again for  │\n\
            │      npm test in this folder       │\n\
            │   3. No, and tell the agent (esc)  │\n\
            ╰────────────────────────────────────╯";
        let pair = |keys: &str, label: &str| (keys.to_owned(), label.to_owned());
        assert_eq!(
            of(framed, None),
            [
                pair("1", "Yes"),
                pair("2", "Yes, and don't ask again for"),
                pair("3", "No, and tell the agent (esc)")
            ]
        );
        let select = "1) red\n2) blue\n#? ";
        assert_eq!(of(select, Some("#? ")), [pair("1", "red"), pair("2", "blue")]);
        let two = "1. old\n2. older\n\n● 1. Yes, allow once\n  2. No";
        assert_eq!(of(two, None), [pair("1", "Yes, allow once"), pair("2", "No")]);
    }

    #[test]
    fn other_lines_are_no_choice() {
        assert_eq!(of("1. alone", None), []);
        assert_eq!(of("2. two\n3. three", None), []);
        assert_eq!(of("1. one\n3. three", None), []);
        assert_eq!(of(&format!("1. one\n2. two\n{}", "text\n".repeat(BELOW)), None), []);
        assert_eq!(of(&format!("1. one\n{}2. two", "text\n".repeat(APART)), None), []);
        assert_eq!(of("version 1.2\n10. ten", None), []);
    }

    #[test]
    fn words_in_brackets_are_choices() {
        let keys = |line: &str| -> Vec<String> {
            of("1. a list\n2. above", Some(line)).into_iter().map(|(keys, _)| keys).collect()
        };
        assert_eq!(keys("Do you want to continue? [Y/n] "), ["y", "n"]);
        assert_eq!(keys("Overwrite (yes/no)? "), ["yes", "no"]);
        assert_eq!(
            keys("continue connecting (yes/no/[fingerprint])? "),
            ["yes", "no", "fingerprint"]
        );
        assert_eq!(keys("Name (Ada): "), ["1", "2"], "one word is a default");
    }

    #[test]
    fn a_wish_never_means_more_than_this_time() {
        let claude = ["Yes", "Yes, and don't ask again for npm", "No, and tell Claude (esc)"];
        assert_eq!(wished(Wish::Approve, &claude), Some(0));
        assert_eq!(wished(Wish::Deny, &claude), Some(2));
        assert_eq!(wished(Wish::Approve, &["Always allow", "Allow for this session"]), None);
        assert_eq!(wished(Wish::Approve, &["Allow all edits", "Allow once", "Reject"]), Some(1));
        assert_eq!(wished(Wish::Deny, &["Yes", "Don’t run it"]), Some(1));
        assert_eq!(wished(Wish::Approve, &["red", "yesterday"]), None);
        assert_eq!(wished(Wish::Deny, &["nothing", "y"]), None);
    }
}

//! The page's texts in nine languages, and the choice of a language.

use serde_json::{Map, Value};

macro_rules! languages {
    ($($code:literal $name:literal,)*) => {
        /// The code, the native name and the texts of each language. If a language lacks a text, the first language's
        /// text is used.
        const LANGUAGES: &[(&str, &str, &str)] = &[$((
            $code,
            $name,
            include_str!(concat!("../../../../assets/settings/i18n/", $code, ".json")),
        )),*];
    };
}

languages! {
    "en-US" "English",
    "zh-CN" "简体中文",
    "zh-TW" "繁體中文",
    "ja-JP" "日本語",
    "ko-KR" "한국어",
    "de-DE" "Deutsch",
    "fr-FR" "Français",
    "it-IT" "Italiano",
    "hi-IN" "हिन्दी",
}

/// The codes and native names of all languages.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    LANGUAGES.iter().map(|(code, name, _)| (*code, *name))
}

/// The texts of a language. English texts stand for missing ones.
pub fn words(code: &str) -> Option<Map<String, Value>> {
    let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let (.., own) = LANGUAGES.iter().find(|(known, ..)| *known == code)?;
    let mut words = read(LANGUAGES[0].2);
    words.extend(read(own));
    Some(words)
}

/// The keys of English texts that a language lacks, in alphabetical order. Texts of actions are not among them, because
/// their English texts are in the app.
pub fn missing(code: &str) -> Vec<String> {
    let own = LANGUAGES.iter().find(|(known, ..)| *known == code).map_or("{}", |(.., own)| own);
    let own: Map<String, Value> = serde_json::from_str(own).unwrap_or_default();
    let english = words(LANGUAGES[0].0).unwrap_or_default();
    let mut missing: Vec<String> = english.into_iter().map(|(key, _)| key).collect();
    missing.retain(|key| !own.contains_key(key));
    missing.sort_unstable();
    missing
}

/// The language that a value of the preference selects. The value is a language's code, or `auto` for the environment's
/// language.
pub fn current(preferred: &str) -> &'static str {
    find(preferred).unwrap_or_else(|| of_environment(|name| std::env::var(name).ok()))
}

/// The language of the environment. Reads the variables of gettext in gettext's order. The default is English.
fn of_environment(variable: impl Fn(&str) -> Option<String>) -> &'static str {
    let mut values =
        ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"].iter().filter_map(|n| variable(n));
    values.find_map(|value| value.split(':').find_map(find)).unwrap_or(LANGUAGES[0].0)
}

/// Finds the language for a code or a locale, such as `de-DE`, `de_AT.UTF-8`, `de` or `zh_Hant`.
pub fn find(text: &str) -> Option<&'static str> {
    let plain = text.split(['.', '@']).next()?.replace('_', "-").to_ascii_lowercase();
    let exact = LANGUAGES.iter().find(|(code, ..)| code.to_ascii_lowercase() == plain);
    if let Some((code, ..)) = exact {
        return Some(code);
    }
    if plain.starts_with("zh") && ["hant", "-hk", "-mo"].iter().any(|end| plain.contains(end)) {
        return Some("zh-TW");
    }
    let language = plain.split('-').next().filter(|language| language.len() == 2)?;
    LANGUAGES.iter().find(|(code, ..)| code.starts_with(language)).map(|(code, ..)| *code)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::services::people::questions::{Question, QuestionKind, Verdict};

    #[test]
    fn no_language_has_a_word_without_an_english_one() {
        let read = |text| {
            let mut words = serde_json::from_str::<BTreeMap<String, String>>(text).unwrap();
            // Names of actions are checked elsewhere: the app's table contains the English ones, and its test compares
            // the other languages.
            words.retain(|key, _| !key.starts_with("a."));
            words
        };
        let english = read(LANGUAGES[0].2);
        for (code, _, text) in LANGUAGES {
            let words = read(text);
            let extra: Vec<_> = words.keys().filter(|key| !english.contains_key(*key)).collect();
            assert!(extra.is_empty(), "{code} has {extra:?}");
            for (key, word) in &words {
                assert!(!word.trim().is_empty(), "{code}: {key} is empty");
                // The placeholders in a text must have the same names in every language.
                let places = |text: &str| {
                    let mut places: Vec<_> = text
                        .split('{')
                        .skip(1)
                        .map(|rest| rest.split('}').next().unwrap_or_default().to_owned())
                        .collect();
                    places.sort();
                    places
                };
                assert_eq!(places(word), places(&english[key]), "{code}: {key}");
            }
        }
        assert_eq!(LANGUAGES.len(), 9);
    }

    #[test]
    fn english_stands_for_a_missing_text() {
        let english = words("en-US").unwrap();
        for (code, _) in all() {
            let words = words(code).unwrap();
            assert!(english.keys().all(|key| words.contains_key(key)), "{code}");
            assert!(missing(code).iter().all(|key| words[key] == english[key]), "{code}");
        }
    }

    #[test]
    fn the_page_asks_in_the_words_of_the_window() {
        let words = words("en-US").unwrap();
        let word = |key: &str| {
            let word = words[key].as_str().unwrap();
            word.replace("{pane}", "3").replace("{client}", "agent")
        };
        let asked = |kind, session| Question {
            number: 1,
            kind,
            client: "agent".to_owned(),
            text: "run: make\ninstall".to_owned(),
            choices: Vec::new(),
            takes_text: false,
            session,
            asked_at: String::new(),
            connection: 0,
            call: 0,
        };
        for (kind, session, key) in [
            (QuestionKind::Approval, None, "approvals.act"),
            (QuestionKind::Approval, Some(3), "approvals.act.pane"),
            (QuestionKind::Question, None, "approvals.asks"),
            (QuestionKind::Question, Some(3), "approvals.asks.pane"),
        ] {
            assert_eq!(word(key), asked(kind, session).heading());
        }
        let approval = asked(QuestionKind::Approval, None);
        for verdict in Verdict::ALL {
            let name = verdict.name();
            assert_eq!(word(&format!("approvals.{name}")), approval.title(name));
        }
        let question = asked(QuestionKind::Question, None);
        assert_eq!(question.title("deny"), "deny", "an agent's own choice");
        assert_eq!(question.leaving().unwrap(), word("approvals.leave"));
        assert_eq!(
            (approval.leaving(), &*approval.text_on_one_line()),
            (None, "run: make ⏎ install")
        );
    }

    #[test]
    fn a_locale_finds_its_language() {
        for (text, code) in [
            ("de_AT.UTF-8", Some("de-DE")),
            ("zh_Hant_HK", Some("zh-TW")),
            ("zh-TW", Some("zh-TW")),
            ("zh", Some("zh-CN")),
            ("fr", Some("fr-FR")),
            ("C.UTF-8", None),
            ("auto", None),
            ("", None),
        ] {
            assert_eq!(find(text), code, "{text}");
        }
        let of = |pairs: &[(&str, &str)]| {
            of_environment(|name| {
                let (_, value) = pairs.iter().find(|(own, _)| *own == name)?;
                Some((*value).to_owned())
            })
        };
        assert_eq!(of(&[("LANG", "it_IT.UTF-8"), ("LC_ALL", "ko_KR")]), "ko-KR");
        assert_eq!(of(&[("LANG", "C"), ("LANGUAGE", "xx:hi:de")]), "hi-IN");
        assert_eq!(of(&[]), "en-US");
    }
}

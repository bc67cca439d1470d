//! The emoji of the character picker, and characters by code point.
//!
//! `app/tools/emoji.mjs` generates `assets/emoji.txt`. The table is parsed only when the picker opens.

use crate::window::overlays::{choice::Choice, panel::item::Item};

/// Each line contains an emoji, its name and its keywords, separated by tabs. A line that starts with `#` is a
/// comment.
const TABLE: &str = include_str!("../../../../assets/emoji.txt");

/// Every emoji with its name and keywords, for the picker's search.
pub(crate) fn items() -> Vec<Item<Choice>> {
    let rows = TABLE.lines().filter_map(|line| {
        let mut parts = line.split('\t');
        let (emoji, name) = (parts.next()?, parts.next()?);
        let more = parts.next().filter(|more| !more.is_empty());
        let title = match more {
            Some(more) => format!("{emoji}  {name} · {more}"),
            None => format!("{emoji}  {name}"),
        };
        let choice = Choice::Text(emoji.to_owned());
        Some(Item::new(title, choice).named(name))
    });
    rows.collect()
}

/// The character of a code point that the user types as `U+1F600`, `\u{1f600}`, `0x1f600` or at least four digits.
pub(crate) fn by_code(query: &str) -> Option<Item<Choice>> {
    let query = query.trim().to_ascii_lowercase();
    let braced = query.strip_prefix(r"\u{").map(|rest| rest.trim_end_matches('}'));
    let marked =
        braced.or_else(|| ["u+", "0x", r"\u"].iter().find_map(|mark| query.strip_prefix(mark)));
    let digits = marked.or_else(|| Some(query.as_str()).filter(|query| query.len() >= 4))?;
    if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return None;
    }
    let code = u32::from_str_radix(digits, 16).ok()?;
    let c = char::from_u32(code).filter(|c| !c.is_control())?;
    let item = Item::new(format!("{c}  U+{code:04X}"), Choice::Text(c.to_string()));
    Some(item.noted("code point"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(query: &str) -> Option<String> {
        by_code(query).map(|item| match item.choice {
            Choice::Text(text) => text,
            _ => String::new(),
        })
    }

    #[test]
    fn the_table_has_faces_first_and_flags_too() {
        let items = items();
        assert!(items.len() > 1800, "{}", items.len());
        assert!(items[0].title.starts_with("😀  grinning face"), "{}", items[0].title);
        assert!(items.iter().any(|item| item.title.starts_with("🇿🇼  flag: Zimbabwe")));
    }

    #[test]
    fn code_points_are_taken_in_the_usual_forms() {
        for query in ["U+1F600", "u+1f600", r"\u{1f600}", "0x1F600", "1f600"] {
            assert_eq!(coded(query).as_deref(), Some("😀"), "{query}");
        }
        assert_eq!(coded("u+e9").as_deref(), Some("é"));
        for query in ["face", "u+", "u+110000", "u+d800", "u+7", "e9", "u+1f600 x"] {
            let expected = (query == "face").then_some("\u{face}");
            assert_eq!(coded(query).as_deref(), expected, "{query}");
        }
    }
}

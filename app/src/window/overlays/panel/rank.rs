//! How well an item of a panel matches the input.
//!
//! Exact matches rank first, then prefixes, then word starts, then fuzzy matches by score. Of two equal matches, the
//! more recently used ranks first.

use std::{cmp::Reverse, ops::Range};

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{CaseMatching, Normalization, Pattern},
};

use crate::window::overlays::panel::item::Item;

/// How the best of an item's names matches, best kind first. Within a kind, a title ranks before other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Exact,
    ExactName,
    Prefix,
    PrefixOfName,
    WordStarts,
    WordStartsOfName,
    Fuzzy,
    FuzzyName,
}

/// An item's place in the list, where the least rank is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    kind: Kind,
    /// The score of a fuzzy match; 0 for other kinds.
    score: Reverse<u32>,
    used: Reverse<u32>,
}

/// The input, prepared for matching.
pub(crate) struct Query {
    text: String,
    pattern: Pattern,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl Query {
    pub(crate) fn new(text: &str) -> Self {
        let mut config = Config::DEFAULT;
        config.prefer_prefix = true;
        Self {
            pattern: Pattern::parse(text, CaseMatching::Ignore, Normalization::Smart),
            text: folded(text),
            matcher: Matcher::new(config),
            buffer: Vec::new(),
        }
    }

    /// Ranks an item, with the byte ranges of its title that match; `None` if it does not match.
    pub(crate) fn rank<C>(&mut self, item: &Item<C>) -> Option<(Rank, Vec<Range<usize>>)> {
        let mut indices = Vec::new();
        let title = Utf32Str::new(&item.title, &mut self.buffer);
        let score = self.pattern.indices(title, &mut self.matcher, &mut indices);
        let (kind, score) = match (self.kind(item), score) {
            (Some(kind), _) => (kind, 0),
            (None, Some(score)) => (Kind::Fuzzy, score),
            (None, None) => (Kind::FuzzyName, self.score_of_names(item)?),
        };
        let rank = Rank { kind, score: Reverse(score), used: Reverse(item.used) };
        Some((rank, byte_ranges(&item.title, indices)))
    }

    /// The kind of an exact, prefix or word-start match; `None` if only a fuzzy match is possible.
    fn kind<C>(&self, item: &Item<C>) -> Option<Kind> {
        let query = self.text.as_str();
        let of = |name: &str, kinds: [Kind; 3]| {
            let name = folded(name);
            match () {
                () if name == query => Some(kinds[0]),
                () if name.starts_with(query) => Some(kinds[1]),
                () if begins_words(&name, query) => Some(kinds[2]),
                () => None,
            }
        };
        let names = item.names().filter_map(|name| {
            of(name, [Kind::ExactName, Kind::PrefixOfName, Kind::WordStartsOfName])
        });
        let title = of(&item.title, [Kind::Exact, Kind::Prefix, Kind::WordStarts]);
        names.chain(title).min()
    }

    fn score_of_names<C>(&mut self, item: &Item<C>) -> Option<u32> {
        let scores = item.names().filter_map(|name| {
            let name = folded(name);
            self.pattern.score(Utf32Str::new(&name, &mut self.buffer), &mut self.matcher)
        });
        scores.max()
    }
}

/// Text in lower case, with a space for each dash or underscore.
fn folded(text: &str) -> String {
    let text = text.trim().to_lowercase();
    text.chars().map(|c| if matches!(c, '-' | '_') { ' ' } else { c }).collect()
}

/// Whether each word of `query` begins a word of `text`.
fn begins_words(text: &str, query: &str) -> bool {
    let begins = |wanted: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word.starts_with(wanted))
    };
    let mut wanted = query.split_whitespace().peekable();
    wanted.peek().is_some() && wanted.all(begins)
}

/// Converts indices of graphemes to byte ranges, and joins adjacent ones.
fn byte_ranges(text: &str, mut indices: Vec<u32>) -> Vec<Range<usize>> {
    indices.sort_unstable();
    indices.dedup();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut wanted = indices.into_iter().peekable();
    // The matcher counts graphemes in Unicode text and characters in ASCII text, where both have the same indices.
    for (index, (start, part)) in graphemes(text).enumerate() {
        if wanted.next_if_eq(&(index as u32)).is_none() {
            continue;
        }
        let end = start + part.len();
        match ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}

fn graphemes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    unicode_segmentation::UnicodeSegmentation::grapheme_indices(text, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The titles of the items that match `query`, in the order of the list.
    fn listed<'a>(query: &str, items: &'a [Item<()>]) -> Vec<&'a str> {
        let mut query = Query::new(query);
        let mut found: Vec<_> =
            items.iter().filter_map(|item| Some((query.rank(item)?.0, &*item.title))).collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, title)| title).collect()
    }

    fn item(title: &str) -> Item<()> {
        Item::new(title, ())
    }

    #[test]
    fn exact_goes_before_prefix_before_word_starts_before_letters() {
        let items = ["Answer an agent", "Swap panes", "Pan an image", "Pan", "Reset span"];
        let items = items.map(item);
        assert_eq!(
            listed("pan", &items),
            ["Pan", "Pan an image", "Swap panes", "Reset span"],
            "what has the letters nowhere is not listed"
        );
        assert_eq!(listed("image pan", &items), ["Pan an image"], "words in any order");
    }

    #[test]
    fn a_synonym_finds_as_a_title_does_and_a_title_goes_first() {
        let items = [
            item("Reset font size"),
            item("Close window").named("close_window", &["quit"]),
            item("Quick select"),
            item("Quit"),
        ];
        assert_eq!(listed("quit", &items)[..2], ["Quit", "Close window"]);
        assert_eq!(listed("close-win", &items), ["Close window"]);
    }

    #[test]
    fn of_equals_the_one_used_last_is_first() {
        let items = [item("Split down"), item("Split right").used(2), item("Split up").used(1)];
        assert_eq!(listed("split", &items), ["Split right", "Split up", "Split down"]);
        assert_eq!(listed("", &items), ["Split right", "Split up", "Split down"]);
        assert_eq!(listed("split down", &items)[0], "Split down");
    }

    #[test]
    fn accents_cover_whole_characters() {
        let whole = byte_ranges("éàb", vec![0, 1]);
        assert_eq!((whole.len(), whole[0].clone()), (1, 0..4));
        assert_eq!(byte_ranges("abc", vec![2, 0]), [0..1, 2..3]);
    }
}

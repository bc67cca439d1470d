//! Ranks how well an item of a panel matches the input.
//!
//! Each word of the input must match a word of the item's title or of one of its other names. The variants of [`MatchKind`]
//! are the ways to match, the best way first. Letters scattered over several words do not match. If two items match
//! equally well, the more recently used item comes first. If no name of an item matches the whole input, words such as
//! "show" and "the" are left out, and the other words may match different names of the item.

use std::ops::Range;

use crate::window::overlays::panel::item::Item;

/// The minimum length of an input word that may contain one wrong letter (`LONG`), and of an input word that may match
/// inside a word (`INSIDE`).
const LONG: usize = 4;
const INSIDE: usize = 3;

/// Words that say little about what the user looks for.
const FILLERS: &str = "a activate active adjust an at change configure current decrease disable edit enable for go hide \
                       in increase into jump list make my of off on open select selected set show switch terminal the \
                       this to toggle turn use view with";

/// The best way in which any name of an item matches; the best kind is first. Within a kind, matches of titles come
/// before matches of other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchKind {
    /// The input is the whole name.
    Exact,
    /// The name starts with the input.
    Prefix,
    /// Each word of the input is the beginning of a word, in any order: `image pan` for "Pan an image".
    WordStarts,
    /// A word of the input consists of beginnings of successive words: `ntab` for "New tab".
    Joined,
    /// A word of the input is inside a word of the name: `croll` for "Scroll".
    Inside,
    /// A word of the input contains letters of a single word, in order and including its first letter: `splt` for
    /// "Split".
    Shortened,
    /// A word of the input contains one wrong, missing or additional letter, or two swapped letters: `serach` for
    /// "Search".
    Misspelled,
    /// The input matches without its [`FILLERS`], or its words are beginnings of words of different names.
    Loosely,
    /// Each word of the input is the beginning of a word of the description.
    Described,
}

/// The sort key of an item in the list. The item with the smallest rank comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    kind: MatchKind,
    /// How the rest of the input matches, if `kind` is [`MatchKind::Loosely`]; otherwise equal to `kind`.
    rest: MatchKind,
    /// Whether the match is in a name other than the title.
    by_name: bool,
    used: std::cmp::Reverse<u32>,
}

impl Rank {
    /// Whether the input begins a word of the item's names, so that the user most likely means such an item.
    pub(crate) fn is_strong(&self) -> bool {
        self.kind <= MatchKind::WordStarts
    }
}

/// The user's input, prepared for matching.
pub(crate) struct Query {
    text: String,
    /// The words of the text without [`FILLERS`].
    words: Vec<String>,
}

impl Query {
    pub(crate) fn new(text: &str) -> Self {
        let text = folded(text);
        let is_filler = |word: &&str| FILLERS.split(' ').any(|filler| filler == *word);
        let words = text.split_whitespace().filter(|word| !is_filler(word));
        Self { words: words.map(str::to_owned).collect(), text }
    }

    /// The rank of an item, and the byte ranges of its title that match. `None` if the item does not match.
    pub(crate) fn rank<C>(&self, item: &Item<C>) -> Option<(Rank, Vec<Range<usize>>)> {
        let by_title = self.matches(&item.title);
        let by_name = item.names.iter().filter_map(|name| Some(self.matches(name)?.0)).min();
        let found = by_title.as_ref().map(|(kind, _)| (*kind, false));
        let found = found.into_iter().chain(by_name.map(|kind| (kind, true))).min();
        let found = found.map(|(kind, by_name)| (kind, kind, by_name));
        let loosely = || Some((MatchKind::Loosely, self.loosely(item)?, true));
        let (kind, rest, by_name) = found.or_else(loosely).or_else(|| {
            let mut words = self.text.split_whitespace();
            let is_long = words.clone().all(|word| word.chars().count() > INSIDE);
            let about = folded(&item.about);
            let begins = |wanted: &str| words_of(&about).any(|(_, word)| word.starts_with(wanted));
            let is_described = is_long && words.all(begins);
            is_described.then_some((MatchKind::Described, MatchKind::Described, true))
        })?;
        let accents = by_title.map(|(_, accents)| accents).unwrap_or_default();
        Some((Rank { kind, rest, by_name, used: std::cmp::Reverse(item.used) }, accents))
    }

    /// How the input matches an item without its [`FILLERS`]. Words that match different names count as misspelled.
    fn loosely<C>(&self, item: &Item<C>) -> Option<MatchKind> {
        let rest = self.words.join(" ");
        let is_shorter = rest != self.text;
        // A single word has been compared with every name already.
        if rest.is_empty() || (!is_shorter && self.words.len() == 1) {
            return None;
        }
        let others = item.names.iter().map(|name| &**name);
        let names = || std::iter::once(item.title.as_str()).chain(others.clone());
        let rest = Self { text: rest, words: Vec::new() };
        let by_name = names().filter(|_| is_shorter).filter_map(|name| Some(rest.matches(name)?.0));
        let all: Vec<String> = names().map(folded).collect();
        let begins = |wanted: &String| {
            all.iter().any(|name| words_of(name).any(|(_, word)| word.starts_with(wanted.as_str())))
        };
        by_name.min().or_else(|| self.words.iter().all(begins).then_some(MatchKind::Misspelled))
    }

    /// How the input matches a name, and the byte ranges of the name that match.
    fn matches(&self, name: &str) -> Option<(MatchKind, Vec<Range<usize>>)> {
        let query = self.text.as_str();
        let folded = folded(name);
        // The ranges are valid only if folding did not change the length of the name.
        let is_same = folded.len() == name.len();
        let shown = |ranges: Vec<Range<usize>>| if is_same { joined(ranges) } else { Vec::new() };
        if folded == query {
            return Some((MatchKind::Exact, shown(std::iter::once(0..name.len()).collect())));
        }
        if folded.starts_with(query) {
            return Some((MatchKind::Prefix, shown(std::iter::once(0..query.len()).collect())));
        }
        let (mut worst, mut ranges) = (MatchKind::WordStarts, Vec::new());
        for wanted in query.split_whitespace() {
            let (kind, more) = word_matches(&folded, wanted)?;
            worst = worst.max(kind);
            ranges.extend(more);
        }
        Some((worst, shown(ranges)))
    }
}

/// How a word of the input matches a word of a name, and the byte ranges of the match.
fn word_matches(name: &str, wanted: &str) -> Option<(MatchKind, Vec<Range<usize>>)> {
    let one = |kind: MatchKind, start: usize, length: usize| {
        Some((kind, std::iter::once(start..start + length).collect()))
    };
    if let Some((at, _)) = words_of(name).find(|(_, word)| word.starts_with(wanted)) {
        return one(MatchKind::WordStarts, at, wanted.len());
    }
    let words: Vec<_> = words_of(name).collect();
    if let Some(ranges) = (0..words.len()).find_map(|from| beginnings(&words[from..], wanted)) {
        return Some((MatchKind::Joined, ranges));
    }
    let length = wanted.chars().count();
    if length >= INSIDE
        && let Some((at, inside)) =
            words.iter().find_map(|(at, word)| Some((at, word.find(wanted)?)))
    {
        return one(MatchKind::Inside, at + inside, wanted.len());
    }
    if length < LONG {
        return None;
    }
    if let Some((at, word)) = words.iter().find(|(_, word)| is_shortened(word, wanted)) {
        return one(MatchKind::Shortened, *at, word.len());
    }
    let near = |word: &str| {
        word.chars().next() == wanted.chars().next()
            && strsim::damerau_levenshtein(word, wanted) == 1
    };
    match words.iter().find(|(_, word)| near(word)) {
        Some((at, word)) => one(MatchKind::Misspelled, *at, word.len()),
        None => None,
    }
}

/// The words of a name, with their byte offsets.
fn words_of(name: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = |word: &str| word.as_ptr() as usize - name.as_ptr() as usize;
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(move |word| (place(word), word))
}

/// The ranges of the beginnings that form `wanted`: one beginning of each successive word, from the first word on. At
/// least two words must contribute. `None` if `wanted` can't be formed.
fn beginnings(words: &[(usize, &str)], wanted: &str) -> Option<Vec<Range<usize>>> {
    let ((at, word), rest) = words.split_first()?;
    let ends = wanted.char_indices().map(|(end, _)| end).skip(1);
    // Try the longest beginning first: in "split right", `spr` consists of "sp" and "r".
    for end in ends.collect::<Vec<_>>().into_iter().rev() {
        if !word.starts_with(&wanted[..end]) {
            continue;
        }
        let left = &wanted[end..];
        let begins = |(at, word): &(usize, &str)| {
            word.starts_with(left).then(|| std::iter::once(*at..at + left.len()).collect())
        };
        let more = rest.first().and_then(begins).or_else(|| beginnings(rest, left));
        if let Some(more) = more {
            let mut ranges: Vec<Range<usize>> = more;
            ranges.insert(0, *at..at + end);
            return Some(ranges);
        }
    }
    None
}

/// Whether `wanted` consists of letters of `word` in their order, including the first letter, and at least half of the
/// letters.
fn is_shortened(word: &str, wanted: &str) -> bool {
    let mut letters = word.chars();
    letters.next() == wanted.chars().next()
        && 2 * wanted.chars().count() >= word.chars().count()
        && wanted.chars().skip(1).all(|letter| letters.any(|other| other == letter))
}

/// Merges ranges that touch or overlap. Returns them in the order of the text.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// Converts a text to lower case, and each dash and underscore to a space.
fn folded(text: &str) -> String {
    let text = text.trim().to_lowercase();
    text.chars().map(|c| if matches!(c, '-' | '_') { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The titles of the items that match `query`, in the order in which the panel lists them.
    fn listed<'a>(query: &str, items: &'a [Item<()>]) -> Vec<&'a str> {
        let query = Query::new(query);
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
            item("Close window").named("close_window").also(["quit"]),
            item("Quick select"),
            item("Quit"),
        ];
        assert_eq!(listed("quit", &items)[..2], ["Quit", "Close window"]);
        assert_eq!(listed("close-win", &items), ["Close window"]);
    }

    #[test]
    fn words_of_little_meaning_and_of_several_names_match_last() {
        let items = [
            item("Show marks"),
            item("Opacity").named("window.opacity").also(["transparent background"]),
            item("Copy output").also(["last command"]),
        ];
        assert_eq!(listed("show opacity", &items), ["Opacity"]);
        assert_eq!(listed("set the window opacity", &items), ["Opacity"]);
        assert_eq!(listed("last output", &items), ["Copy output"]);
        assert_eq!(listed("show", &items), ["Show marks"], "a filler alone is a word");
        assert!(listed("the", &items).is_empty());
        assert!(listed("opacity zebra", &items).is_empty());
        let both = [item("Output of commands"), item("Show output")];
        assert_eq!(listed("show output", &both), ["Show output", "Output of commands"]);
    }

    #[test]
    fn of_equals_the_one_used_last_is_first() {
        let items = [item("Split down"), item("Split right").used(2), item("Split up").used(1)];
        assert_eq!(listed("split", &items), ["Split right", "Split up", "Split down"]);
        assert_eq!(listed("", &items), ["Split right", "Split up", "Split down"]);
        assert_eq!(listed("split down", &items)[0], "Split down");
    }

    #[test]
    fn letters_of_several_words_are_no_match_but_beginnings_are() {
        let items = ["New tab", "Split right", "Start or stop recording", "Search"].map(item);
        assert_eq!(listed("ntab", &items), ["New tab"]);
        assert_eq!(listed("spri", &items), ["Split right"]);
        assert_eq!(listed("sosr", &items), ["Start or stop recording"]);
        assert_eq!(listed("srch", &items), ["Search"]);
        assert_eq!(listed("serach", &items), ["Search"]);
        assert_eq!(listed("ecord", &items), ["Start or stop recording"]);
        for scattered in ["nwtb", "eat", "stpre", "lrig", "sorr", "sh"] {
            assert_eq!(listed(scattered, &items), [""; 0], "{scattered}");
        }
    }

    #[test]
    fn accents_are_where_the_input_matches() {
        let accents = |query: &str, title: &str| {
            Query::new(query).rank(&item(title)).map(|(_, accents)| accents)
        };
        assert_eq!(accents("image pan", "Pan an image"), Some(vec![0..3, 7..12]));
        assert_eq!(accents("ntab", "New tab"), Some(vec![0..1, 4..7]));
        assert_eq!(accents("", "New tab"), Some(vec![]));
        // The lower-case form of "İ" has a different length, so byte ranges in the title would be wrong.
        assert_eq!(accents("istanbul", "İstanbul"), Some(vec![]));
        assert_eq!(accents("éà", "éàb"), Some(std::iter::once(0..4).collect()));
    }
}

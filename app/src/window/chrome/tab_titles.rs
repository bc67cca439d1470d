//! Makes the titles of tabs short and distinct. Removes a host that all tabs share, adds parent directories to
//! directories of equal name and directories to programs of equal title, and cuts long titles: in the middle, or where
//! titles are equal that would look alike otherwise.

use std::{
    borrow::Cow,
    collections::HashMap,
    path::{Path, PathBuf},
};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::window::workspace::title::PaneTitle;

/// The separator between a title and the directory that distinguishes it from an equal title.
const SEPARATOR: &str = " · ";

/// Returns the titles of all tabs. If all titles start with the same `user@host:`, this prefix is removed. Directories
/// of equal name get as many parent directories as it takes to make them differ. Equal titles of programs in different
/// directories get these directories.
pub(crate) fn distinguish(titles: Vec<PaneTitle>) -> Vec<String> {
    let hosts: Vec<usize> = titles.iter().map(|title| host(&title.text)).collect();
    let named = titles.iter().zip(&hosts).filter(|(_, host)| **host > 0);
    let mut named = named.map(|(title, _)| title.text.split(':').next());
    let first = named.next();
    let is_shared = named.all(|host| Some(host) == first);
    let short = titles.iter().zip(&hosts).map(|(title, host)| match (&title.place, is_shared) {
        (Some(place), _) => with_parents(title, place, &titles),
        (None, true) => title.text[*host..].to_owned(),
        (None, false) => title.text.clone(),
    });
    let short: Vec<String> = short.collect();
    let extended = titles.iter().zip(&short).map(|(title, text)| {
        let Some(directory) = &title.directory else { return text.clone() };
        let alike = titles.iter().zip(&short).filter(|(_, other)| *other == text);
        let others: Vec<&Path> = alike
            .filter_map(|(other, _)| other.directory.as_deref())
            .filter(|other| other != directory)
            .collect();
        match others.is_empty() {
            true => text.clone(),
            false => format!("{text}{SEPARATOR}{}", distinct_tail(directory, &others).display()),
        }
    });
    extended.collect()
}

/// The length of a `user@host:` at the start of a title, including the blanks after it; 0 if nothing follows the
/// prefix.
fn host(title: &str) -> usize {
    let Some((name, rest)) = title.split_once(':') else { return 0 };
    let is_host = name.split_once('@').is_some_and(|(user, host)| {
        let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        is_word(user) && is_word(host) && !host.contains(['@', '/'])
    });
    let rest = rest.trim_start();
    if is_host && !rest.is_empty() { title.len() - rest.len() } else { 0 }
}

/// The name of a directory, with as many parent directories as it takes to differ from the directories of equal name
/// in other tabs.
fn with_parents(title: &PaneTitle, place: &Path, titles: &[PaneTitle]) -> String {
    let others = titles.iter().filter(|other| other.text == title.text);
    let others: Vec<&Path> =
        others.filter_map(|other| other.place.as_deref()).filter(|it| *it != place).collect();
    let distinct = distinct_tail(place, &others);
    match distinct.components().count() {
        0 | 1 => title.text.clone(),
        _ => distinct.to_string_lossy().into_owned(),
    }
}

/// The shortest end of a path that differs from the equally long ends of all other paths. The whole path if there is
/// none.
fn distinct_tail(path: &Path, others: &[&Path]) -> PathBuf {
    let tail = |path: &Path, parts: usize| -> PathBuf {
        path.components().skip(path.components().count().saturating_sub(parts)).collect()
    };
    let count = path.components().count();
    let parts = (1..=count)
        .find(|parts| others.iter().all(|other| tail(other, *parts) != tail(path, *parts)));
    tail(path, parts.unwrap_or(count))
}

/// The fewest columns in which titles are cut at their equal parts. With less room, too little would be left.
const FEWEST_APART: usize = 6;

/// Cuts all titles to `columns`. Titles that would look alike are cut where they are equal: at their starts and ends, as far
/// as whole words are equal. Titles that are equal as a whole, or whose differences do not fit, still look alike.
pub(crate) fn cut_apart<'a>(titles: &[&'a str], columns: usize) -> Vec<Cow<'a, str>> {
    let mut texts: Vec<_> = titles.iter().map(|title| cut(title, columns)).collect();
    if columns < FEWEST_APART {
        return texts;
    }
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, text) in texts.iter().enumerate() {
        groups.entry(&**text).or_default().push(index);
    }
    let mut apart = Vec::new();
    for group in groups.values().filter(|group| group.len() > 1) {
        let alike: Vec<&str> = group.iter().map(|index| titles[*index]).collect();
        if alike.iter().all(|title| *title == alike[0]) {
            continue;
        }
        let (start, end) = equal_ends(&alike);
        if start + end > 0 {
            apart.extend(group.iter().map(|index| (*index, start, end)));
        }
    }
    for (index, start, end) in apart {
        let title = &titles[index][..titles[index].len() - end];
        let start = start_in_room(title, start, columns - 1);
        let rest = cut(&title[start..], columns - 1);
        texts[index] = if start > 0 { format!("…{rest}") } else { format!("{rest}…") }.into();
    }
    texts
}

/// Moves the start of a part of a title to the left, as far as the part fits into `columns`.
fn start_in_room(title: &str, start: usize, columns: usize) -> usize {
    let mut width = title[start..].width();
    let before = title[..start].grapheme_indices(true).rev();
    let fitting = before.take_while(|(_, part)| {
        width += part.width();
        width <= columns
    });
    fitting.last().map_or(start, |(at, _)| at)
}

/// The lengths of the start and of the end that these titles share, in bytes. Both consist of whole words, with the signs
/// between them. Zero if nothing would be left of a title.
fn equal_ends(titles: &[&str]) -> (usize, usize) {
    let Some((first, others)) = titles.split_first() else { return (0, 0) };
    let shared = |of: &dyn Fn(&str, &str) -> usize| {
        others.iter().map(|other| of(first, other)).min().unwrap_or_default()
    };
    let starts = shared(&|one, other| {
        let pairs = one.chars().zip(other.chars());
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    });
    let is_sign = |c: &char| !c.is_alphanumeric();
    let signs = first[..starts].char_indices().filter(|(_, c)| is_sign(c));
    let start = signs.map(|(at, c)| at + c.len_utf8()).next_back().unwrap_or_default();
    let ends = shared(&|one, other| {
        let pairs = one[start..].chars().rev().zip(other[start..].chars().rev());
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    });
    let tail = &first[first.len() - ends..];
    let end = tail.char_indices().find(|(_, c)| is_sign(c)).map_or(0, |(at, _)| tail.len() - at);
    let is_left = |end: usize| titles.iter().all(|title| title.len() > start + end);
    match (is_left(end), is_left(0)) {
        (true, _) => (start, end),
        (false, true) => (start, 0),
        (false, false) => (0, 0),
    }
}

/// Cuts the middle of a title that is wider than `columns`. Both ends are kept, because they identify a title best: a
/// program and its last argument, or the start of a name and its number.
pub(crate) fn cut(title: &str, columns: usize) -> Cow<'_, str> {
    if title.width() <= columns {
        return Cow::Borrowed(title);
    }
    let room = columns.saturating_sub(1);
    let fitting = |parts: &mut dyn Iterator<Item = &str>, room: usize| {
        let mut width = 0;
        let fits = parts.take_while(|part| {
            width += part.width();
            width <= room
        });
        fits.map(str::len).sum::<usize>()
    };
    let head = fitting(&mut title.graphemes(true), room.div_ceil(2));
    let tail = fitting(&mut title.graphemes(true).rev(), room - title[..head].width().min(room));
    Cow::Owned(format!("{}…{}", &title[..head], &title[title.len() - tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(titles: &[&str]) -> Vec<String> {
        let plain = |text: &&str| PaneTitle::given((*text).to_owned());
        distinguish(titles.iter().map(plain).collect())
    }

    #[test]
    fn a_host_that_all_tabs_share_is_left_out() {
        assert_eq!(titled(&["me@here: ~/a", "me@here:~/b", "vim x"]), ["~/a", "~/b", "vim x"]);
        assert_eq!(titled(&["root@box: ~"]), ["~"]);
        let two = ["me@here: ~", "me@there: ~", "top"];
        assert_eq!(titled(&two), two);
        // None of these titles starts with a `user@host:` that can be removed.
        let others = ["ssh a@b: c", "a@b", "a@b:", "@b: c", "make: x", "git@host/x: y"];
        assert_eq!(titled(&others), others);
    }

    #[test]
    fn directories_of_the_same_name_show_their_parents() {
        let titles = |paths: &[&str]| {
            let title = |path: &&str| PaneTitle {
                text: path.rsplit('/').next().unwrap_or_default().to_owned(),
                place: Some(path.into()),
                directory: None,
            };
            distinguish(paths.iter().map(title).collect())
        };
        assert_eq!(titles(&["/w/a/src", "/w/b/src", "/w/c"]), ["a/src", "b/src", "c"]);
        assert_eq!(titles(&["/w/a/x/src", "/w/b/x/src"]), ["a/x/src", "b/x/src"]);
        assert_eq!(titles(&["/w/a/src", "/w/a/src"]), ["src", "src"]);
        assert_eq!(titles(&["/src", "/a/src"]), ["/src", "a/src"]);
    }

    #[test]
    fn equal_titles_of_programs_show_their_directories() {
        let titles = |titles: &[(&str, &str)]| {
            let title = |(text, directory): &(&str, &str)| PaneTitle {
                text: (*text).to_owned(),
                place: None,
                directory: (!directory.is_empty()).then(|| directory.into()),
            };
            distinguish(titles.iter().map(title).collect())
        };
        assert_eq!(
            titles(&[("vim", "/w/a"), ("vim", "/w/b"), ("top", "/w/a")]),
            ["vim · a", "vim · b", "top"]
        );
        assert_eq!(
            titles(&[("vim", "/w/a/src"), ("vim", "/w/b/src")]),
            ["vim · a/src", "vim · b/src"]
        );
        // A shared host is removed first.
        assert_eq!(
            titles(&[("me@here: vim", "/w/a"), ("me@here:vim", "/w/b")]),
            ["vim · a", "vim · b"]
        );
        // The tab bar numbers tabs that no directory distinguishes, because their directories are equal or unknown.
        assert_eq!(titles(&[("vim", "/w/a"), ("vim", "/w/a")]), ["vim", "vim"]);
        assert_eq!(titles(&[("vim", "/w/a"), ("vim", "")]), ["vim", "vim"]);
        assert_eq!(
            titles(&[("vim", "/w/a"), ("vim", "/w/a"), ("vim", "/")]),
            ["vim · a", "vim · a", "vim · /"]
        );
    }

    #[test]
    fn titles_that_look_alike_are_cut_where_they_are_equal() {
        for (titles, columns, expected) in [
            (&["~/src/api/test", "~/src/web/test"][..], 8, &["…src/api", "…src/web"][..]),
            (
                &["/srv/backend-service-00/src", "/srv/frontend-service-01/src"],
                8,
                &["…bac…-00", "…fro…-01"],
            ),
            (&["job 1 of the long list", "job 2 of the long list"], 8, &["job 1…", "job 2…"]),
            (&["one.machines.example", "only.machines.example"], 5, &["on…le", "on…le"]),
            (&["alphax in a long list", "alphay in a long list"], 8, &["alphax…", "alphay…"]),
            // Nothing is left of the first title without the shared start.
            (&["/long/path/of/a/x/", "/long/path/of/a/x/y/x/"], 8, &["/lon…/x/", "/lon…/x/"]),
            (&["equal as a whole", "equal as a whole"], 8, &["equa…ole", "equa…ole"]),
            (
                &["漢字漢字漢字 1 漢字漢字", "漢字漢字漢字 2 漢字漢字"],
                9,
                &["…字漢字 1", "…字漢字 2"],
            ),
            (&["short", "another long title"], 8, &["short", "anot…tle"]),
        ] {
            assert_eq!(cut_apart(titles, columns), expected, "{titles:?}");
        }
    }

    #[test]
    fn a_long_title_is_cut_in_the_middle() {
        assert_eq!(cut("service-07", 10), "service-07");
        assert_eq!(cut("service-07", 9), "serv…e-07");
        assert_eq!(cut("service-07", 8), "serv…-07");
        assert_eq!(cut("service-07", 1), "…");
        assert_eq!(cut("漢字漢字漢字", 8), "漢字…字");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}e\u{301}", 3), "e\u{301}…e\u{301}");
    }
}

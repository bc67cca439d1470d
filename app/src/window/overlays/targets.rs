//! Targets in the visible text: links, addresses, paths, hashes, numbers, and matches of the user's patterns.
//!
//! Only reads the rows of a snapshot, and joins wrapped rows to lines. `reach.rs` adds rows that are out of view or folded
//! but belong to visible lines. Never acts on a target.

pub(crate) mod reach;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, Ipv6Addr, SocketAddrV4},
    ops::Range,
    sync::OnceLock,
};

use regex_automata::meta::Regex;
use unterm_term::{Content, Point, SnapshotRow, Term, TextRange, Width};

use crate::config::{HintAction, HintPattern, compile_pattern};
use crate::window::overlays::targets::reach::{Reach, follows};

/// The maximum number of targets to list.
const CAP: usize = 1000;

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A hyperlink (OSC 8). The target's text is the link's URI.
    Link,
    /// A URL in the text.
    Url,
    /// A file path. A line and a column may follow.
    Path,
    /// Text that is worth copying: an address, a hash or a number.
    Text,
    /// A match of a pattern that the user configured, with the pattern's action.
    Own(HintAction),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) range: TextRange,
    pub(crate) text: String,
}

/// A kind of target, a pattern, and a test that each match must pass.
type Rule<P> = (TargetKind, P, fn(&str) -> bool);

/// The patterns, the most specific first. Text that an earlier rule matched is not matched by later rules. If a
/// pattern has groups, group 1 is the target, and groups 2 and 3 are the line and column in a file.
const RULES: &[Rule<&str>] = &[
    (
        TargetKind::Url,
        r#"(?i)\b(?:(?:https?|ftp|file|ssh|git|gemini|gopher|news)://|mailto:)[^\s<>"'`{}|\\^\x00-\x1f]+"#,
        |_| true,
    ),
    (
        TargetKind::Text,
        r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
        |_| true,
    ),
    // Paths in tracebacks of Python.
    (TargetKind::Path, r#""([^"]+)", line (\d+)"#, |text| !text.starts_with('<')),
    // A name in quotes may contain blanks. This is a path that contains a folder, or a name that `ls` quoted.
    (TargetKind::Path, r#"(?:^|[\s(\[=:,])["']((?:~|\.\.?)?/[^"']+)["']"#, |text| {
        // If a `-`, `/` or `~` follows a blank, the quotes contain a command, not a path.
        ![" -", " /", " ~"].iter().any(|sign| text.contains(sign))
    }),
    (TargetKind::Path, r"(?:^|\s)'([^'/]*[^'/\s] [^'/]*\.[A-Za-z]\w{0,9})'", |_| true),
    // Paths in the output of `git diff` and `git status`.
    (TargetKind::Path, r"(?:--- a|\+\+\+ b|diff --git a)/([\w@+.,=%~/-]+)", |_| true),
    (
        TargetKind::Path,
        r"^\s+(?:modified|deleted|new file|typechange|both \w+):\s+(\S.*?)\s*$",
        |_| true,
    ),
    // Paths in messages of the C# and TypeScript compilers.
    (TargetKind::Path, r"([\w@+./-]+\.[A-Za-z]\w{0,9})\((\d+)(?:,(\d+))?\) ?:", |_| true),
    (
        TargetKind::Path,
        r"(?:~|[\w@+.,-]+)?(?:/[\w@+.,=%~-]+)+/?(?::\d+(?::\d+)?)?|[\w@+-][\w@+.-]*\.[A-Za-z]\w{0,9}:\d+(?::\d+)?",
        |text| text.contains(char::is_alphabetic),
    ),
    (TargetKind::Text, r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b", |text| {
        text.parse::<Ipv4Addr>().is_ok() || text.parse::<SocketAddrV4>().is_ok()
    }),
    (TargetKind::Text, r"(?:[0-9a-fA-F]{1,4})?(?::[0-9a-fA-F]{0,4}){2,7}", |text| {
        text.len() > 2 && text.parse::<Ipv6Addr>().is_ok()
    }),
    (TargetKind::Text, r"\b(?:[0-9a-f]{7,40}|[0-9a-f]{64})\b", |text| {
        text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_alphabetic())
    }),
    (TargetKind::Text, r"\b(?:0x[0-9a-fA-F]+|\d{4,})\b", |_| true),
];

/// The compiled rules for URLs. They run before all other rules, so that no other rule matches a part of a URL. Rules
/// are compiled on first use, because that takes as long as several frames.
fn url_rules() -> &'static [Rule<Regex>] {
    static READY: OnceLock<Vec<Rule<Regex>>> = OnceLock::new();
    READY.get_or_init(|| ready(&RULES[..urls()]))
}

fn other_rules() -> &'static [Rule<Regex>] {
    static READY: OnceLock<Vec<Rule<Regex>>> = OnceLock::new();
    READY.get_or_init(|| ready(&RULES[urls()..]))
}

/// The number of rules for URLs, which are the first rules in [`RULES`].
fn urls() -> usize {
    RULES.partition_point(|(kind, ..)| *kind == TargetKind::Url)
}

fn ready(rules: &[Rule<&str>]) -> Vec<Rule<Regex>> {
    let compiled = rules.iter().filter_map(|(kind, pattern, is_one)| {
        Some((*kind, compile_pattern(pattern).ok()?, *is_one))
    });
    compiled.collect()
}

struct Line {
    text: String,
    /// For each character: its byte offset in the text, its first cell, and its last column.
    places: Vec<(usize, Point, u16)>,
}

impl Line {
    fn of(rows: &[SnapshotRow]) -> Vec<Self> {
        let mut lines = Vec::new();
        let mut line = Self { text: String::new(), places: Vec::new() };
        for (index, row) in rows.iter().enumerate() {
            for (col, cell) in row.cells.iter().enumerate() {
                let wide = match cell.width() {
                    Width::Tail | Width::Head => continue,
                    Width::Wide => {
                        row.multicell(col as u16).map_or(1, |part| part.size.columns() - 1)
                    }
                    Width::Narrow => 0,
                };
                let col = col as u16;
                line.places.push((line.text.len(), Point { line: row.line, col }, col + wide));
                match cell.content() {
                    Content::Empty => line.text.push(' '),
                    Content::Char(c) => line.text.push(c),
                    Content::Cluster(_) => line.text.push_str(row.cluster(col).unwrap_or(" ")),
                }
            }
            // The row after folded output does not continue the row before it.
            let continues =
                row.wrapped && rows.get(index + 1).is_some_and(|next| follows(row, next));
            if !continues {
                lines.push(std::mem::replace(
                    &mut line,
                    Self { text: String::new(), places: Vec::new() },
                ));
            }
        }
        lines
    }

    /// The cells of a part of the text. The part must not be empty.
    fn range(&self, bytes: &Range<usize>) -> Option<TextRange> {
        let place = |byte: usize| {
            let after = self.places.partition_point(|(start, ..)| *start <= byte);
            self.places.get(after.checked_sub(1)?)
        };
        let (_, start, _) = place(bytes.start)?;
        let (_, end, last) = place(bytes.end.checked_sub(1)?)?;
        Some(TextRange { start: *start, end: Point { col: *last, ..*end }, block: false })
    }

    /// Finds matches of the user's patterns and of the rules for URLs. If `others` is set, also finds matches of all
    /// other rules.
    fn find(&self, own: &[(HintAction, Regex)], others: bool, found: &mut Vec<Target>) {
        let mut taken: Vec<Range<usize>> = Vec::new();
        let mut add = |kind: TargetKind, regex: &Regex, is_one: &dyn Fn(&str) -> bool| {
            for captures in regex.captures_iter(self.text.as_bytes()) {
                let group = |index| captures.get_group(index).map(|span| span.range());
                let named = group(1).filter(|_| !matches!(kind, TargetKind::Own(_)));
                let is_named = named.is_some();
                let Some(mut bytes) = named.or_else(|| group(0)) else { continue };
                if !is_named && (kind == TargetKind::Url || kind == TargetKind::Path) {
                    bytes.end = bytes.start + trimmed(&self.text[bytes.clone()]).len();
                }
                let text = &self.text[bytes.clone()];
                let overlaps =
                    |other: &Range<usize>| other.start < bytes.end && bytes.start < other.end;
                if text.is_empty() || !is_one(text) || taken.iter().any(overlaps) {
                    continue;
                }
                if let Some(range) = self.range(&bytes) {
                    let mut text = text.to_owned();
                    for place in [group(2), group(3)].into_iter().flatten().filter(|_| is_named) {
                        text.push(':');
                        text.push_str(&self.text[place]);
                    }
                    found.push(Target { kind, range, text });
                    taken.push(bytes);
                }
            }
        };
        for (action, regex) in own {
            add(TargetKind::Own(*action), regex, &|_| true);
        }
        let others = if others { other_rules() } else { &[] };
        for (kind, regex, is_one) in url_rules().iter().chain(others) {
            add(*kind, regex, is_one);
        }
    }
}

/// Removes punctuation at the end of the text, and a closing bracket at the end that the text does not open.
fn trimmed(text: &str) -> &str {
    let mut text = text;
    loop {
        let Some(last) = text.chars().last() else { return text };
        let unopened = |open: char, close: char| {
            last == close && text.matches(close).count() > text.matches(open).count()
        };
        let ends = matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '…')
            || unopened('(', ')')
            || unopened('[', ']');
        if !ends {
            return text;
        }
        text = &text[..text.len() - last.len_utf8()];
    }
}

/// All visible targets, in the order of the text. `own` contains the user's patterns. Invalid patterns are ignored.
pub(crate) fn find(reach: &Reach<'_>, own: &BTreeMap<String, HintPattern>) -> Vec<Target> {
    let rows = &reach.rows;
    let own: Vec<_> = own
        .values()
        .filter_map(|pattern| Some((pattern.action, compile_pattern(&pattern.regex).ok()?)))
        .collect();
    let mut found = links(rows);
    let linked = found.len();
    for line in Line::of(rows) {
        line.find(&own, true, &mut found);
    }
    let (links, rest) = found.split_at(linked);
    let is_free = |target: &&Target| {
        !links.iter().any(|link| {
            link.range.start <= target.range.end && target.range.start <= link.range.end
        })
    };
    let mut all: Vec<Target> = links.iter().chain(rest.iter().filter(is_free)).cloned().collect();
    // The whole URI of a hyperlink (OSC 8) is known even if its text was only partly read.
    all.retain(|target| {
        target.kind == TargetKind::Link && reach.sees(&target.range) || reach.holds(&target.range)
    });
    all.sort_by_key(|target| (target.range.start, target.range.end));
    all.truncate(CAP);
    all
}

/// All hyperlinks (OSC 8). Adjacent cells with equal URIs form a single link.
fn links(rows: &[SnapshotRow]) -> Vec<Target> {
    let mut found: Vec<Target> = Vec::new();
    for row in rows {
        for run in &row.styles {
            let Some(link) = &run.link else { continue };
            let start = Point { line: row.line, col: run.start };
            let end = Point { line: row.line, col: run.end.saturating_sub(1) };
            let goes_on = found.last().is_some_and(|last| {
                let next = match last.range.end {
                    at if at.line == row.line => at.col + 1 == run.start,
                    at => at.line.0 + 1 == row.line.0 && run.start == 0,
                };
                next && last.text == link.uri
            });
            match found.last_mut().filter(|_| goes_on) {
                Some(last) => last.range.end = end,
                None => found.push(Target {
                    kind: TargetKind::Link,
                    range: TextRange { start, end, block: false },
                    text: link.uri.clone(),
                }),
            }
        }
    }
    found
}

/// The target that a click on a cell opens: a URL or, if `files` is set, a path that [`names_a_place`].
pub(crate) fn clicked(rows: &[SnapshotRow], term: &Term, at: Point, files: bool) -> Option<Target> {
    let mut lines = rows.chunk_by(|above, below| above.wrapped && follows(above, below));
    let line = lines.find(|line| line.iter().any(|row| row.line == at.line))?;
    let reach = Reach::of(line, term);
    let lines = Line::of(&reach.rows);
    // The pointer moves over many lines, but few of them contain a URL. Skip all others early.
    let has_url = |line: &&Line| {
        line.text.contains("://") || line.text.contains(':') && line.text.contains('@')
    };
    let mut found = Vec::new();
    for line in lines.iter().filter(|line| files || has_url(line)) {
        line.find(&[], files, &mut found);
    }
    found.into_iter().find(|target| {
        let is_opened = match target.kind {
            TargetKind::Url => true,
            TargetKind::Path => names_a_place(&target.text),
            _ => false,
        };
        is_opened
            && target.range.start <= at
            && at <= target.range.end
            && reach.holds(&target.range)
    })
}

/// Whether a path starts with a well-known folder or ends with a line number. False for text such as "and/or".
fn names_a_place(path: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    ["/", "~/", "./", "../"].iter().any(|start| path.starts_with(start))
        || path.rsplit_once(':').is_some_and(|(_, line)| is_number(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{LineId, Options, Parser, Size, Snapshot, Term};

    fn shown(bytes: &str) -> (Term, Vec<SnapshotRow>) {
        let mut term = Term::new(Size::cells(40, 5), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, None);
        (term, snapshot.rows)
    }

    fn found(bytes: &str, own: &BTreeMap<String, HintPattern>) -> Vec<Target> {
        find(&Reach::only(&shown(bytes).1), own)
    }

    fn opened(bytes: &str, (line, col): (u64, u16), files: bool) -> Option<Target> {
        let (term, rows) = shown(bytes);
        clicked(&rows, &term, Point { line: LineId(line), col }, files)
    }

    #[track_caller]
    fn check(bytes: &str, expected: &[(TargetKind, &str)]) {
        let found = found(bytes, &BTreeMap::new());
        let found: Vec<_> = found.iter().map(|one| (one.kind, one.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn urls_end_where_a_reader_would_end_them() {
        use TargetKind::Url;
        check("see https://a.b/c?d=1#e, or", &[(Url, "https://a.b/c?d=1#e")]);
        check(
            "(http://a.b/x_(y)) mailto:a@b.c.",
            &[(Url, "http://a.b/x_(y)"), (Url, "mailto:a@b.c")],
        );
        check("[x](https://a.b) <HTTP://c.d>", &[(Url, "https://a.b"), (Url, "HTTP://c.d")]);
    }

    #[test]
    fn paths_keep_their_line_and_column() {
        use TargetKind::Path;
        check("src/a.rs:12:3: error", &[(Path, "src/a.rs:12:3")]);
        check(
            "--> ~/x/y.c ./z /usr/lib/",
            &[(Path, "~/x/y.c"), (Path, "./z"), (Path, "/usr/lib/")],
        );
        check("main.rs:7 is, 3/4 is none", &[(Path, "main.rs:7")]);
    }

    #[test]
    fn names_with_blanks_and_those_that_programs_dress_up_are_paths() {
        use TargetKind::Path;
        check("File \"/a b/c d.py\", line 12, in f", &[(Path, "/a b/c d.py:12")]);
        check("File \"<stdin>\", line 1", &[]);
        check("no '/a b/c' or \"~/d e\": x", &[(Path, "/a b/c"), (Path, "~/d e")]);
        check("it's 'my file.txt' isn't", &[(Path, "my file.txt")]);
        check("run \"/bin/sh -c x\"", &[(Path, "/bin/sh")]);
        check("--- a/src/x.rs", &[(Path, "src/x.rs")]);
        check("+++ b/src/x.rs", &[(Path, "src/x.rs")]);
        check("diff --git a/x.rs b/x.rs", &[(Path, "x.rs"), (Path, "b/x.rs")]);
        check("        modified:   My notes", &[(Path, "My notes")]);
        check("src/a.ts(12,5): error", &[(Path, "src/a.ts:12:5")]);
        check("a.sleep(3); b.c(4): x", &[(Path, "b.c:4")]);
    }

    #[test]
    fn hashes_addresses_and_numbers_are_found() {
        use TargetKind::Text;
        check("1a2b3c4 deadbeef 123 2024", &[(Text, "1a2b3c4"), (Text, "2024")]);
        check("10.0.0.1 999.0.0.1 fe80::1", &[(Text, "10.0.0.1"), (Text, "fe80::1")]);
        check("10.0.0.1:8080 x", &[(Text, "10.0.0.1:8080")]);
        check("at 12:30:45 0xff", &[(Text, "0xff")]);
        let id = "123e4567-e89b-12d3-a456-426614174000";
        check(id, &[(Text, id)]);
    }

    #[test]
    fn a_wrapped_url_is_one_and_a_link_goes_before_its_text() {
        let long = format!("https://example.org/{}", "x".repeat(60));
        let found = found(&long, &BTreeMap::new());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, long);
        assert_eq!(found[0].range.end, Point { line: LineId(1), col: 39 });
        assert_eq!(opened(&long, (1, 5), false).map(|one| one.text), Some(long));
        check(
            "\x1b]8;;https://real.example\x07http://shown.example\x1b]8;;\x07",
            &[(TargetKind::Link, "https://real.example")],
        );
    }

    #[test]
    fn a_click_opens_what_surely_names_a_file() {
        let clicked = |text: &str, files| {
            let target = opened(text, (0, 6), files);
            target.map(|target| (target.kind, target.text))
        };
        let path = |text: &str| Some((TargetKind::Path, text.to_owned()));
        assert_eq!(clicked("at src/x.rs:12:3: error", true), path("src/x.rs:12:3"));
        assert_eq!(clicked("at src/x.rs:12:3: error", false), None);
        assert_eq!(clicked("in ~/notes/x", true), path("~/notes/x"));
        assert_eq!(clicked("this and/or that", true), None);
        assert_eq!(clicked("abc 1234567", true), None);
        let mail = Some((TargetKind::Url, "mailto:a@b.c".to_owned()));
        assert_eq!(clicked("to mailto:a@b.c", false), mail);
    }

    #[test]
    fn own_patterns_go_first() {
        let pattern = HintPattern { regex: r"[A-Z]+-\d+".into(), action: HintAction::Paste };
        let own = BTreeMap::from([("ticket".to_owned(), pattern)]);
        let found = found("fix ABC-12345 now", &own);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].kind, found[0].text.as_str()),
            (TargetKind::Own(HintAction::Paste), "ABC-12345")
        );
        assert!(compile_pattern("(").unwrap_err().contains("unclosed"));
    }
}

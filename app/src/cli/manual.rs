//! `unterm-cli help`: shows the pages of the manual as text for a terminal. The pages are compiled into the program.
//!
//! Owns the list of topics, and the conversion of a page's Markdown to text. Supports only the Markdown that the pages
//! use: headings, paragraphs, lists, tables, code, links and bold text. mdBook builds the manual's website from the
//! same files.

use std::{
    io::{self, IsTerminal, Write},
    process::{Command, Stdio},
};

use anyhow::{Result, bail};
use unicode_width::UnicodeWidthStr;

/// The maximum width of a line. It is also the width if standard output is not a terminal.
const WIDEST: usize = 100;
/// The minimum width to which pages are wrapped.
const NARROWEST: usize = 40;

/// The topics and their pages, in the order of `SUMMARY.md`.
macro_rules! pages {
    ($($topic:literal)*) => {
        &[$(($topic, include_str!(concat!("../../../assets/docs/", $topic, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages![
    "introduction" "first-steps" "daily-use" "shortcuts"
    "panes" "commands" "find" "palette" "looks" "images" "notifications" "inbox" "recordings" "ssh" "proxy" "access"
    "scripting" "agents" "fleet" "tmux" "ptywright" "plugins"
    "configuration" "config"
    "import" "from-kitty" "from-tmux" "from-iterm2" "compare" "keys"
    "troubleshooting" "platforms"
    "methods" "tools"
];

/// All topics with their titles.
pub fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|(topic, page)| (*topic, title(page)))
}

/// The heading of a page, which is its title.
fn title(page: &str) -> &str {
    page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default()
}

/// The Markdown text of a topic's page.
pub fn page(topic: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| *name == topic).map(|(_, page)| *page)
}

/// The page of a topic as text with escape sequences, for a pager.
pub fn text(topic: &str) -> Option<String> {
    page(topic).map(|page| render(page, WIDEST, true))
}

/// The list of topics, as text.
pub fn contents() -> String {
    let widest = topics().map(|(topic, _)| topic.len()).max().unwrap_or_default();
    let mut out = String::from("Pages of the manual:\n\n");
    for (topic, title) in topics() {
        out.push_str(&format!("  {topic:widest$}  {title}\n"));
    }
    out.push_str(
        "\n`unterm-cli help TOPIC` prints a page, and `unterm-cli help COMMAND` the options of a command.\n\
         `unterm-cli --help` lists all commands.\n",
    );
    out
}

/// Prints a page. If standard output is a terminal, uses a pager; otherwise prints plain text.
///
/// # Errors
/// Fails if the output can't be written.
pub fn show(page: &str) -> Result<()> {
    let out = io::stdout();
    if !out.is_terminal() {
        return write(out.lock(), &render(page, WIDEST, false));
    }
    // A terminal without a known size reports 0 columns.
    let width = rustix::termios::tcgetwinsize(&out).map_or(0, |size| size.ws_col as usize);
    let width = if width == 0 { 80 } else { width };
    let text = render(page, width.clamp(NARROWEST, WIDEST), true);
    // Run the pager in a shell, which splits the variable into words, as man(1) and git do.
    let pager = std::env::var("PAGER").unwrap_or_default();
    let pager = if pager.trim().is_empty() { "less".to_owned() } else { pager };
    let child = Command::new("sh")
        .args(["-c", &pager])
        // F: exit at once if the text fits on one screen. R: pass colors on. X: keep the text visible after the end.
        .env("LESS", std::env::var("LESS").unwrap_or_else(|_| "FRX".to_owned()))
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return write(out.lock(), &text) };
    if let Some(stdin) = child.stdin.take() {
        write(stdin, &text)?;
    }
    if child.wait()?.code() == Some(NOT_FOUND) {
        return write(out.lock(), &text);
    }
    Ok(())
}

/// The exit status of a shell if a program does not exist.
const NOT_FOUND: i32 = 127;

/// Writes a text. If the reader, such as a pager, ends before the end of the text, that is not an error.
fn write(mut out: impl Write, text: &str) -> Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => bail!("cannot print: {error}"),
        _ => Ok(()),
    }
}

/// Converts a page to text that is wrapped to `width` columns. If `styled` is set, the text contains escape sequences.
fn render(page: &str, width: usize, styled: bool) -> String {
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    let bold = |text: &str| if styled { format!("\x1b[1m{text}\x1b[m") } else { text.to_owned() };
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim_start();
        if text.starts_with("```") {
            for line in lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")) {
                let code = line.get(indent.min(line.len())..).unwrap_or(line);
                out.push_str(format!("{}{code}", " ".repeat(indent + 4)).trim_end());
                out.push('\n');
            }
        } else if text.is_empty() {
            out.push('\n');
        } else if text.starts_with("![") {
            // Skip a picture and the blank line after it.
            lines.next_if(|line| line.trim().is_empty());
        } else if indent >= 4 && !is_item(text) {
            // An indented line is code.
            out.push_str(line);
            out.push('\n');
        } else if text.starts_with('#') {
            let title = plain(text.trim_start_matches('#').trim());
            let title = if text.starts_with("# ") { title.to_uppercase() } else { title };
            out.push_str(&bold(&title));
            out.push('\n');
        } else if text.starts_with('|') {
            let mut rows = vec![cells(text)];
            while let Some(row) = lines.next_if(|line| line.trim_start().starts_with('|')) {
                rows.push(cells(row));
            }
            table(&rows, width, &bold, &mut out);
        } else {
            // A paragraph or an item continues until another element begins.
            let mut paragraph = text.to_owned();
            let goes_on = |next: &&str| {
                let text = next.trim_start();
                !text.is_empty()
                    && !text.starts_with(['#', '|'])
                    && !text.starts_with("```")
                    && !is_item(text)
            };
            while let Some(next) = lines.next_if(goes_on) {
                paragraph.push(' ');
                paragraph.push_str(next.trim_start());
            }
            let hang = indent + marker(text);
            wrap(&plain(&paragraph), width, indent, hang, &mut out);
        }
    }
    out
}

/// The length of the marker of a list item, such as `- ` or `1. `.
fn marker(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes() {
        [b'-' | b'*', b' ', ..] => 2,
        _ if digits > 0 && text[digits..].starts_with(". ") => digits + 2,
        _ => 0,
    }
}

fn is_item(text: &str) -> bool {
    marker(text) > 0
}

/// Removes the marks of Markdown, except for the backquotes of code. A link to a page of the manual becomes the link's
/// text and `(unterm-cli help TOPIC)`. Any other link becomes its text and its address.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '[', '*', '\\']) {
        out.push_str(&rest[..at]);
        let from = &rest[at..];
        let escaped = from.strip_prefix('\\').and_then(|after| after.chars().next());
        if let Some(escaped) = escaped.filter(char::is_ascii_punctuation) {
            out.push(escaped);
            rest = &from[1 + escaped.len_utf8()..];
        } else if let Some((code, after)) = code(from) {
            out.push_str(&format!("`{code}`"));
            rest = after;
        } else if let Some((text, target, after)) = link(from) {
            out.push_str(&plain(text));
            let target = target.split('#').next().unwrap_or_default();
            match target.strip_suffix(".md") {
                Some(topic) if page(topic).is_some() => {
                    out.push_str(&format!(" (unterm-cli help {topic})"));
                }
                _ if target.is_empty() || target == text => {}
                _ => out.push_str(&format!(" <{target}>")),
            }
            rest = after;
        } else if let Some(after) = from.strip_prefix("**") {
            rest = after;
        } else if let Some((word, after)) = emphasis(from) {
            out.push_str(word);
            rest = after;
        } else {
            out.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Splits a text after a code span at its start. The span ends with as many backquotes as it starts with. Returns the
/// code and the text after the span.
fn code(text: &str) -> Option<(&str, &str)> {
    let quotes = text.bytes().take_while(|&b| b == b'`').count();
    let fence = &text[..quotes];
    let inner = text.get(quotes..).filter(|_| quotes > 0)?;
    let end = inner.find(fence)?;
    let (code, after) = (&inner[..end], &inner[end + quotes..]);
    // A space at both ends of a code span only separates the code from the backquotes, so remove it.
    let padded = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
    Some((padded.unwrap_or(code), after))
}

/// Splits a text after a link `[text](target)` at its start. Returns the link's text and target, and the text after
/// the link.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, after) = text.strip_prefix('[')?.split_once("](")?;
    let (target, after) = after.split_once(')')?;
    (!label.contains('\n') && !target.contains(' ')).then_some((label, target, after))
}

/// Splits a text after an emphasized `*word*` at its start. Returns the word and the text after it.
fn emphasis(text: &str) -> Option<(&str, &str)> {
    let (word, after) = text.strip_prefix('*')?.split_once('*')?;
    (!word.is_empty() && !word.starts_with(' ') && !word.ends_with(' ')).then_some((word, after))
}

/// The cells of a table row. In a cell, `\|` stands for a `|`.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row).replace("\\|", "\u{0}");
    row.split('|').map(|cell| plain(cell.trim()).replace('\u{0}', "|")).collect()
}

/// Prints a table in columns, if the columns fit. Otherwise, prints each row as its first cell, with its other cells
/// below.
fn table(rows: &[Vec<String>], width: usize, bold: &dyn Fn(&str) -> String, out: &mut String) {
    let is_rule =
        |row: &Vec<String>| row.iter().all(|cell| cell.trim_matches([':', '-']).is_empty());
    let body: Vec<_> = rows.iter().filter(|row| !is_rule(row)).collect();
    let columns = body.iter().map(|row| row.len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| body.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max())
        .map(Option::unwrap_or_default)
        .collect();
    // The text in the last column may wrap.
    let fixed: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum::<usize>() + 2;
    let last = widths.last().copied().unwrap_or_default();
    let fits = fixed + last.min(NARROWEST) <= width;
    let (header, others) =
        body.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    let header = header.filter(|row| row.iter().any(|cell| !cell.is_empty()));
    if fits {
        for (index, row) in header.into_iter().chain(others).enumerate() {
            let mut line = String::from("  ");
            for (cell, width) in row.iter().zip(&widths).take(columns - 1) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - cell.width() + 2));
            }
            let mut text = String::new();
            let end = row.get(columns - 1).map(String::as_str).unwrap_or_default();
            wrap(&format!("{line}\u{0}{end}"), width, 0, fixed, &mut text);
            let text = text.replace('\u{0}', "");
            match header.is_some() && index == 0 {
                true => out.push_str(&format!("{}\n", bold(text.trim_end()))),
                false => out.push_str(&text),
            }
        }
        return;
    }
    for row in others {
        let mut cells = row.iter();
        let first = cells.next().map(String::as_str).unwrap_or_default();
        let mut text = String::new();
        wrap(first, width, 2, 4, &mut text);
        text.lines().for_each(|line| out.push_str(&format!("{}\n", bold(line))));
        for (column, cell) in cells.enumerate().filter(|(_, cell)| !cell.is_empty()) {
            // If the table has only two columns, the heading above it is enough to explain the second column.
            let name = header.filter(|_| columns > 2).and_then(|header| header.get(column + 1));
            let text = match name.filter(|name| !name.is_empty()) {
                Some(name) => format!("{name}: {cell}"),
                None => cell.clone(),
            };
            wrap(&text, width, 6, 8, out);
        }
    }
}

/// Wraps a paragraph at spaces. The first line begins at column `indent`, all other lines at column `hang`.
fn wrap(text: &str, width: usize, indent: usize, hang: usize, out: &mut String) {
    // Text before a NUL is already laid out, because it contains the columns of a table.
    let (start, text) = text.split_once('\u{0}').unwrap_or(("", text));
    let mut line = " ".repeat(indent) + start;
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.width() + 1 + word.width() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(hang);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topics_are_those_of_the_summary() {
        let summary = include_str!("../../../assets/docs/SUMMARY.md");
        let listed: Vec<&str> = summary
            .split("](")
            .skip(1)
            .filter_map(|link| link.split_once(".md)").map(|(topic, _)| topic))
            .collect();
        assert_eq!(topics().map(|(topic, _)| topic).collect::<Vec<_>>(), listed);
        assert!(topics().all(|(_, title)| !title.is_empty()));
    }

    #[test]
    fn a_page_becomes_text() {
        let page = "# Title\n\n![A picture](pictures/a.png)\n\nA `word` and **bold**\nwith a [page](ssh.md#x), a [site](https://x.org) and *more*.\n\n\
                    - one\n  two\n\n```sh\nls  *\n```\n\n| a | b |\n|---|---|\n| `x \\| y` | z |\n| longer | \\* |\n";
        assert_eq!(
            render(page, 60, false),
            "TITLE\n\nA `word` and bold with a page (unterm-cli help ssh), a site\n<https://x.org> and more.\n\n\
             - one two\n\n    ls  *\n\n  a        b\n  `x | y`  z\n  longer   *\n"
        );
        assert!(render(page, 60, true).starts_with("\x1b[1mTITLE\x1b[m\n"));
    }

    #[test]
    fn lines_fit_and_tables_that_are_too_wide_become_lists() {
        let wide = "| name | first | second |\n|---|---|---|\n| a | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb cc | d |\n";
        let text = render(wide, 40, false);
        assert_eq!(
            text,
            "  a\n      first:\n        bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n        cc\n      second: d\n"
        );
        for (topic, page) in PAGES {
            let text = render(page, 80, false);
            assert!(!text.contains('\u{0}') && !text.contains("]("), "{topic}: {text}");
        }
    }

    /// The words of a command line up to a comment, a pipe or a similar character. Quotes keep words together.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for c in line.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, '|' | '#' | '>' | ';' | '&') => break,
                (None, ' ') => words.extend(word.take()),
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn the_commands_in_the_pages_exist() {
        use clap::{CommandFactory, error::ErrorKind};
        let whole = || crate::cli::generated::with_methods(crate::cli::args::Args::command());
        let mut count = 0;
        for (topic, page) in PAGES.iter().filter(|(topic, _)| !["methods", "tools"].contains(topic))
        {
            // Check the commands in code spans and in lines of code.
            let lines = page.lines().flat_map(|line| line.split('`').chain([line]));
            for line in lines.filter(|line| line.trim_start().starts_with("unterm-cli ")) {
                let line = line.trim().replace('…', "x").replace("$pane", "0");
                count += 1;
                if let Err(error) = whole().try_get_matches_from(words(&line)) {
                    // A page may mention a command without its arguments.
                    let is_short = matches!(
                        error.kind(),
                        ErrorKind::MissingRequiredArgument
                            | ErrorKind::MissingSubcommand
                            | ErrorKind::DisplayHelp
                            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    );
                    assert!(is_short, "{topic}: {line}: {error}");
                }
            }
        }
        assert!(count > 50, "the pages have another form now: {count} commands");
    }
}

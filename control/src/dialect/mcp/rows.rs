//! Joins the rows of a screen to a text, and cuts rows at columns. The rows are those that methods return.

use unterm_term::{Content, Options, Parser, Size, Snapshot, SnapshotRow, Term, Width};

use super::tool_result::ToolResult;
use crate::methods::screen::{Lines, TextFields, TextReply};

/// The fields of a reply of `screen.text`.
pub fn fields(reply: &TextReply) -> ToolResult<TextFields> {
    reply.fields().map_err(|error| format!("Internal error: {error}"))
}

/// `count` rows from `first` on as one text, without trailing blanks.
pub fn joined(lines: &Lines, first: usize, count: usize) -> String {
    let rows: Vec<&str> = lines.iter().skip(first).take(count).collect();
    rows.join("\n").trim_end().to_owned()
}

/// The approximate number of columns of a character. Wide scripts have higher code points than all others.
pub fn columns_of(char: char) -> u64 {
    if char < '\u{1100}' { 1 } else { 2 }
}

/// Whether a row's text fills its columns, so that it may continue in the next row.
fn is_full(row: &str, cols: u16) -> bool {
    let taken: u64 = row.chars().map(columns_of).sum();
    taken >= u64::from(cols)
}

/// Rows of a screen with `cols` columns as one text. A row that fills its columns is joined to the next row.
pub fn unwrapped(rows: &[&str], cols: u16) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        text.push_str(row);
        text.extend((at + 1 < rows.len() && !is_full(row, cols)).then_some('\n'));
    }
    text
}

/// Replaces text in rows: `cover` replaces parts of the joined text, even across rows. It must not change the number of
/// characters.
pub fn covered(rows: &[&str], cols: u16, cover: impl FnOnce(&str) -> String) -> Vec<String> {
    let text = cover(&unwrapped(rows, cols));
    let mut chars = text.chars();
    let mut row = |row: &&str| {
        let covered = chars.by_ref().take(row.chars().count()).collect();
        if !is_full(row, cols) {
            chars.next();
        }
        covered
    };
    rows.iter().map(&mut row).collect()
}

/// The columns `from..to` of a text that fills `cols` columns. If only half of a wide character is in the range, a
/// blank replaces it.
pub fn cut(text: &str, cols: u16, from: u16, to: u16) -> String {
    let (from, to) = (from.min(cols), to.min(cols));
    if from >= to {
        return String::new();
    }
    if (from, to) == (0, cols) {
        return text.to_owned();
    }
    if text.is_ascii() {
        return text.get(from.into()..text.len().min(to.into())).unwrap_or_default().to_owned();
    }
    // The terminal engine computes the widths, because the width of a character depends on its cluster.
    let mut term = Term::new(Size::cells(cols, 1), Options::default());
    Parser::new().advance(&mut term, text.as_bytes());
    let mut snapshot = Snapshot::default();
    term.snapshot(&mut snapshot, None);
    snapshot.rows.first().map(|row| columns(row, from, to)).unwrap_or_default()
}

/// The text in the columns `from..to` of a row, with blanks for empty cells.
pub fn columns(row: &SnapshotRow, from: u16, to: u16) -> String {
    let mut text = String::new();
    for col in from..to {
        let cell = row.cells.get(usize::from(col)).copied().unwrap_or_default();
        match (cell.width(), cell.content()) {
            (Width::Tail, _) if col > from => {}
            (Width::Wide, _) if col + 1 == to => text.push(' '),
            (Width::Tail, _) | (_, Content::Empty) => text.push(' '),
            (_, Content::Char(char)) => text.push(char),
            (_, Content::Cluster(_)) => text.push_str(row.cluster(col).unwrap_or(" ")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_joined_without_the_blanks_at_the_end() {
        let lines: Lines = serde_json::from_value(json!(["a", "", " b", "", ""])).unwrap();
        assert_eq!(joined(&lines, 0, usize::MAX), "a\n\n b");
        assert_eq!(joined(&lines, 1, 2), "\n b");
        assert_eq!(joined(&lines, 9, 1), "");
    }

    #[test]
    fn rows_that_are_full_go_on() {
        let rows = ["abcd", "ef", "漢字", "g"];
        assert_eq!(unwrapped(&rows, 4), "abcdef\n漢字g");
        let covered = covered(&rows, 4, |text| text.replace("de", "**").replace("字g", "**"));
        assert_eq!(covered, ["abc*", "*f", "漢*", "*"]);
    }

    #[test]
    fn columns_are_cut_out_whatever_stands_in_them() {
        assert_eq!(cut("abcdef", 6, 1, 3), "bc");
        assert_eq!(cut("abc", 3, 2, 9), "c");
        assert_eq!(cut("abc", 3, 5, 9), "");
        assert_eq!(cut("a漢字b", 6, 1, 5), "漢字");
        assert_eq!(cut("a漢字b", 6, 2, 4), "  ", "halves of two");
        assert_eq!(cut("xe\u{301}y", 3, 1, 2), "e\u{301}");
    }
}

//! A row of the screen as a text run of AccessKit: the text, and the position of each character.

use unterm_term::{Content, SnapshotRow, Width};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// The length of each character, in bytes.
    pub(crate) lengths: Vec<u8>,
    /// The column in which each character starts, followed by the end column of the last character.
    starts: Vec<u16>,
    ends_line: bool,
}

impl Run {
    /// Converts a row. Omits trailing blanks, but keeps at least `at_least` columns.
    pub(crate) fn of(row: &SnapshotRow, at_least: usize, ends_line: bool) -> Self {
        let is_blank = |content| matches!(content, Content::Empty | Content::Char(' '));
        let end = row.cells.iter().rposition(|cell| !is_blank(cell.content()));
        let end = end.map_or(0, |end| end + 1).max(at_least).min(row.cells.len());
        let mut run = Self { ends_line, ..Self::default() };
        for (col, cell) in row.cells[..end].iter().enumerate() {
            if matches!(cell.width(), Width::Tail | Width::Head) {
                continue;
            }
            let before = run.text.len();
            match cell.content() {
                Content::Empty => run.text.push(' '),
                Content::Char(char) => run.text.push(char),
                Content::Cluster(_) => {
                    // AccessKit stores each length in a byte. A cluster of 256 bytes or more is not a word of any
                    // language.
                    let cluster = row.cluster(col as u16).filter(|text| text.len() < 256);
                    run.text.push_str(cluster.unwrap_or("\u{fffd}"));
                }
            }
            run.lengths.push((run.text.len() - before) as u8);
            run.starts.push(col as u16);
        }
        run.starts.push(end as u16);
        if ends_line {
            run.text.push('\n');
            run.lengths.push(1);
            run.starts.push(end as u16);
        }
        run
    }

    /// The index of the character at a column. For a column after the text, the index of the line's end.
    pub(crate) fn index(&self, col: u16) -> usize {
        let end = self.lengths.len() - usize::from(self.ends_line);
        self.starts[..end].partition_point(|&start| start < col).min(end)
    }

    pub(crate) fn columns(&self, of: impl Fn(u16, u16) -> f32) -> Vec<f32> {
        self.starts.windows(2).map(|pair| of(pair[0], pair[1])).collect()
    }

    /// The indices of the characters at which words start. Omits indices that do not fit in a byte.
    pub(crate) fn words(&self) -> Vec<u8> {
        let (mut starts, mut in_word) = (Vec::new(), false);
        let mut at = 0;
        for (index, length) in self.lengths.iter().enumerate() {
            let char = self.text[at..].chars().next().unwrap_or(' ');
            at += usize::from(*length);
            let is_word = !char.is_whitespace();
            if is_word && !in_word {
                starts.extend(u8::try_from(index).ok());
            }
            in_word = is_word;
        }
        starts
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Snapshot, Term};

    use super::*;

    fn row(bytes: &str) -> SnapshotRow {
        let mut term = Term::new(Size::cells(12, 2), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, None);
        snapshot.rows.swap_remove(0)
    }

    #[test]
    fn a_row_is_its_text_with_each_character_where_it_lies() {
        let run = Run::of(&row("ls 世 e\u{301}x  "), 0, true);
        assert_eq!(run.text, "ls 世 e\u{301}x\n");
        assert_eq!(run.lengths, [1, 1, 1, 3, 1, 3, 1, 1]);
        assert_eq!(run.starts, [0, 1, 2, 3, 5, 6, 7, 8, 8]);
        assert_eq!(run.words(), [0, 3, 5]);
        assert_eq!(run.index(3), 3);
        assert_eq!(run.index(5), 4, "behind the wide one");
        assert_eq!(run.index(11), 7, "the end of the line");
        assert_eq!(run.columns(|from, to| f32::from(to - from))[3], 2.0);
    }

    #[test]
    fn blanks_stay_up_to_the_cursor() {
        assert_eq!(Run::of(&row("$"), 2, false).text, "$ ");
        assert_eq!(Run::of(&row(""), 0, false), Run { starts: vec![0], ..Run::default() });
        assert_eq!(Run::of(&row(""), 0, false).index(5), 0);
    }
}

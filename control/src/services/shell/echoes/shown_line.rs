//! A line of a screen, with the writer of each character.

use std::ops::Range;

use unterm_term::{LineId, Lines, Point, PromptRole};

/// A line of a screen, with wrapped rows joined.
pub(super) struct ShownLine {
    pub rows: Range<u64>,
    pub text: String,
    /// For each character, in the order of `text`: its byte offset in `text`, its position, and its writer.
    cells: Vec<(usize, Point, Writer)>,
}

/// The writer of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Output,
    /// A line editor.
    Edited,
    /// A shell, which marked the character as input. Input is not output.
    Input,
    /// A shell, which marked the character as its prompt. A prompt is not output.
    Prompt,
}

impl ShownLine {
    pub fn of(lines: &mut Lines, rows: Range<u64>) -> Self {
        let (mut text, mut cells) = (String::new(), Vec::new());
        for row in rows.clone() {
            lines.row_cells(LineId(row), |col, cell, shown| {
                let kind = match cell.prompt_role() {
                    PromptRole::Prompt => Writer::Prompt,
                    PromptRole::Input => Writer::Input,
                    PromptRole::Output if cell.is_edited() => Writer::Edited,
                    PromptRole::Output => Writer::Output,
                };
                cells.push((text.len(), Point { line: LineId(row), col }, kind));
                text.push_str(shown);
            });
        }
        Self { rows, text, cells }
    }

    /// The whole line that contains a row.
    pub fn at(lines: &mut Lines, row: LineId) -> Self {
        let mut end = row.0;
        while lines.is_wrapped(LineId(end)) {
            end += 1;
        }
        let mut start = row.0;
        while start > 0 && lines.is_wrapped(LineId(start - 1)) {
            start -= 1;
        }
        Self::of(lines, start..end + 1)
    }

    /// The byte offset in the text of the character at a position, or the end of the text. `None` if the position is in
    /// another line.
    pub fn byte(&self, at: Point) -> Option<usize> {
        self.rows.contains(&at.line.0).then(|| self.after(at))
    }

    /// The byte offset of the first character that is not before a position. `None` if the whole line is before the
    /// position.
    pub fn byte_from(&self, at: Point) -> Option<usize> {
        (at.line.0 < self.rows.end).then(|| self.after(at))
    }

    fn after(&self, at: Point) -> usize {
        let cell = self.cells.partition_point(|(_, cell, _)| *cell < at);
        self.cells.get(cell).map_or(self.text.len(), |(start, ..)| *start)
    }

    pub fn point(&self, byte: usize) -> Point {
        self.cells[self.cell(byte)].1
    }

    fn cell(&self, byte: usize) -> usize {
        self.cells.partition_point(|(start, ..)| *start <= byte).saturating_sub(1)
    }

    /// Whether an editor drew all of a range.
    pub fn is_drawn(&self, range: Range<usize>) -> bool {
        let is_drawn = |kind| matches!(kind, Writer::Edited | Writer::Input);
        let cells = &self.cells[self.cell(range.start)..];
        let mut cells = cells.iter().take_while(|(start, ..)| *start < range.end);
        cells.all(|(.., kind)| is_drawn(*kind))
    }

    /// Whether a word ends here: the text ends, a blank follows, or the next character was written by another party.
    pub fn ends_word(&self, end: usize) -> bool {
        let kind = |byte| self.cells[self.cell(byte)].2;
        self.text[end..].chars().next().is_none_or(|next| next == ' ' || kind(end) != kind(end - 1))
    }

    /// The output in the line, without these ranges.
    pub fn output(&self, gone: &[Range<usize>]) -> String {
        let ends = self.cells.iter().skip(1).map(|(start, ..)| *start).chain([self.text.len()]);
        let mut text = String::new();
        for ((start, _, kind), end) in self.cells.iter().zip(ends) {
            let is_output = matches!(kind, Writer::Output | Writer::Edited);
            if is_output && !gone.iter().any(|gone| gone.contains(start)) {
                text.push_str(&self.text[*start..end]);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }
}

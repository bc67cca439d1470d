//! Clicks at a prompt: computes the input that moves the shell's cursor to the clicked cell.
//!
//! Sources: "Semantic prompts" (`cl`), kitty's "Shell integration" (`click_events`). Only reads the terminal's state.
//! The terminal's owner sends the bytes as if the user had typed them.

use crate::grid::Scratch;
use crate::grid::cell::{PromptRole, Width};
use crate::term::shell::commands::{ClickEvents, ClickKeys, Command};
use crate::term::{ScreenKind, Term};
use crate::{Attrs, Color, Content, LineId, Modes, Point, Rgb, Style};

/// The maximum number of arrow keys that a click sends. A click that would need more does nothing.
const KEYS_CAP: usize = 4096;

/// A row of the input at the prompt.
struct InputRow {
    line: LineId,
    /// The columns in which the row's characters begin.
    stops: Vec<u16>,
    /// Whether the text continues in the next row without a line break.
    wrapped: bool,
}

impl InputRow {
    /// The number of characters before column `col`.
    fn before(&self, col: u16) -> usize {
        self.stops.partition_point(|stop| *stop < col)
    }
}

impl Term {
    /// The bytes that move the shell's cursor to `point`, a cell of the input, in a form that the shell supports
    /// according to its own report. `None` if there is no prompt, or no bytes are needed.
    pub fn prompt_click(&self, point: Point) -> Option<Vec<u8>> {
        let command = self.commands.last().filter(|command| command.is_prompting())?;
        let first = self.command(command.id)?.prompt?.line;
        if self.screen != ScreenKind::Main || point.line < first || point.line.0 >= self.grid.end()
        {
            return None;
        }
        match command.options.click_events {
            Some(events) => self.click_event(point, first, events),
            None => self.click_keys(command, point),
        }
    }

    /// The bytes of a mouse press in SGR form (mode 1006). Sent even if the program has not enabled a mouse mode.
    fn click_event(&self, point: Point, first: LineId, events: ClickEvents) -> Option<Vec<u8>> {
        let top = match events {
            ClickEvents::Absolute => self.grid.live_top(),
            ClickEvents::Relative => first.0,
        };
        let (row, col) = (point.line.0.checked_sub(top)? + 1, point.col + 1);
        Some(format!("\x1b[<0;{col};{row}M").into_bytes())
    }

    fn click_keys(&self, command: &Command, point: Point) -> Option<Vec<u8>> {
        let rows = self.input_rows(command)?;
        let here = LineId(self.grid.live_top() + self.cursor.row as u64);
        let from = (row_of(&rows, here)?, self.cursor.col as u16);
        let to = (row_of(&rows, point.line)?, point.col);
        let keys = match command.options.click {
            ClickKeys::Line => {
                let (low, high) = (from.0.min(to.0), from.0.max(to.0));
                if !rows[low..high].iter().all(|row| row.wrapped) {
                    return None;
                }
                sideways(distance(&rows, from, to))
            }
            ClickKeys::Multiple => sideways(distance(&rows, from, to)),
            ClickKeys::Vertical => {
                let mut keys = Vec::new();
                if from.0 != to.0 {
                    keys.extend(vec![b'D'; rows[from.0].before(from.1)]);
                    keys.extend(upwards(from.0, to.0));
                    keys.extend(vec![b'C'; rows[to.0].before(to.1)]);
                    keys
                } else {
                    sideways(distance(&rows, from, to))
                }
            }
            ClickKeys::Smart => {
                let mut keys = upwards(from.0, to.0);
                // If a line is shorter, up and down stop at its end, so count steps from there.
                let steps = rows[to.0].before(to.1) as isize - rows[to.0].before(from.1) as isize;
                keys.extend(sideways(steps));
                keys
            }
        };
        if keys.is_empty() || keys.len() > KEYS_CAP {
            return None;
        }
        let introducer = match self.modes.contains(Modes::APP_CURSOR) {
            true => b"\x1bO",
            false => b"\x1b[",
        };
        Some(keys.iter().flat_map(|key| [introducer[0], introducer[1], *key]).collect())
    }

    /// The rows of input, up to the cursor or to the last row with input. Excludes text after a gap, such as a prompt
    /// on the right. Also excludes the shell's suggestion after the cursor, because a key that moves into the
    /// suggestion would accept it.
    fn input_rows(&self, command: &Command) -> Option<Vec<InputRow>> {
        let input = command.input?;
        let start = input.line.0.max(self.grid.oldest());
        let cursor = (self.grid.live_top() + self.cursor.row as u64, self.cursor.col as u16);
        let mut rows: Vec<InputRow> = Vec::new();
        let (mut before, mut behind) = (None, Vec::new());
        let mut scratch = Scratch::default();
        for line in start..self.grid.end() {
            let view = self.grid.read(line, &mut scratch)?;
            let mut stops = Vec::new();
            let first = if line == input.line.0 { input.col } else { 0 };
            for (col, cell) in view.cells.iter().enumerate().skip(usize::from(first)) {
                if cell.is_blank() && (line == input.line.0 || !stops.is_empty()) {
                    break;
                }
                let is_start = !matches!(cell.width(), Width::Tail | Width::Head);
                if !is_start || cell.prompt_role() != PromptRole::Input || cell.is_blank() {
                    continue;
                }
                stops.push(col as u16);
                if cell.content() == Content::Char(' ') {
                    continue;
                }
                let style = view.tables.style(cell.style_id());
                match (line, col as u16) < cursor {
                    true => before = Some(style),
                    false => behind.push(style),
                }
            }
            if line > cursor.0 && stops.is_empty() {
                break;
            }
            rows.push(InputRow { line: LineId(line), stops, wrapped: view.meta.is_wrapped() });
        }
        let suggests = !behind.is_empty() && behind.iter().all(is_grey);
        if suggests && before != behind.first().copied() {
            rows.retain(|row| row.line.0 <= cursor.0);
            if let Some(row) = rows.last_mut().filter(|row| row.line.0 == cursor.0) {
                row.stops.retain(|stop| *stop < cursor.1);
            }
        }
        Some(rows)
    }
}

/// Whether text looks like a shell's suggestion: dim or gray. The color numbers are xterm's.
fn is_grey(style: &Style) -> bool {
    let is_grey = match style.foreground {
        Color::Default => false,
        Color::Indexed(index) => matches!(index, 8 | 59 | 102 | 232..=250),
        Color::Rgb(Rgb { r, g, b }) => r == g && g == b && r < 0xc0,
    };
    is_grey || style.attrs.contains(Attrs::DIM)
}

fn row_of(rows: &[InputRow], line: LineId) -> Option<usize> {
    rows.iter().position(|row| row.line == line)
}

/// The number of characters between two positions, negative if `to` comes before `from`. A line break counts as one
/// character.
fn distance(rows: &[InputRow], from: (usize, u16), to: (usize, u16)) -> isize {
    if to < from {
        return -distance(rows, to, from);
    }
    let place = |(row, col): (usize, u16)| rows[row].before(col) as isize;
    let between: isize =
        rows[from.0..to.0].iter().map(|row| row.stops.len() as isize + !row.wrapped as isize).sum();
    between + place(to) - place(from)
}

fn sideways(steps: isize) -> Vec<u8> {
    vec![if steps < 0 { b'D' } else { b'C' }; steps.unsigned_abs().min(KEYS_CAP + 1)]
}

fn upwards(from: usize, to: usize) -> Vec<u8> {
    vec![if to < from { b'A' } else { b'B' }; from.abs_diff(to)]
}

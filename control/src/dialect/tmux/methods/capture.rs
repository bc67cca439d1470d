//! `tmux.capture`: the text of a pane's screen and history, with or without colors and attributes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;
use unterm_term::{Attrs, Color, Content, LineId, Snapshot, SnapshotRow, Style, Underline, Width};

use crate::{
    authority::Subjects,
    caller::Caller,
    error::{Error, Result},
    methods::{Context, Group, Method, params::Raw, screen::reading},
};

/// The maximum number of rows in a reply.
const MOST_ROWS: u64 = 100_000;

/// `tmux.capture`.
pub struct Capture;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct CaptureParams {
    /// The pane.
    pub id: u64,
    /// The first row. 0 is the top of the screen, and negative rows are the history. Absent: the first row of the
    /// history.
    #[serde(default)]
    pub start: Option<i64>,
    /// The last row. Absent: the last row of the screen.
    #[serde(default)]
    pub end: Option<i64>,
    /// Whether the text contains escape sequences for colors and attributes.
    #[serde(default)]
    pub escapes: bool,
    /// Whether wrapped rows are joined.
    #[serde(default)]
    pub joined: bool,
    /// Whether trailing blanks are kept.
    #[serde(default)]
    pub blanks: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct CaptureReply {
    /// The rows. A joined row contains the text of all rows that it wraps into.
    pub lines: Vec<String>,
}

impl Method for Capture {
    const NAME: &'static str = "tmux.capture";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Reads the text of a pane's screen and history.";
    type Params<'a> = Raw<'a, CaptureParams>;
    type Reply = CaptureReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<CaptureReply> {
        let params: CaptureParams = params.params()?;
        let pane = context.mux.pane(PaneId(params.id)).ok_or(Error::NoSession(params.id))?;
        let (cells, first, last) = {
            let term = pane.term();
            let (oldest, top, size) = (term.oldest().0, term.live_top().0, term.size());
            let bottom = top + u64::from(size.rows) - 1;
            let row = |row: i64| top.saturating_add_signed(row).clamp(oldest, bottom);
            let mut ends = [params.start.map_or(oldest, row), params.end.map_or(bottom, row)];
            // tmux swaps the rows if they are in the wrong order.
            ends.sort_unstable();
            let first = ends[0].max(ends[1].saturating_sub(MOST_ROWS - 1));
            let count = ends[1] - first + 1;
            (usize::from(size.cols).saturating_mul(count as usize), first, ends[1])
        };
        let lines = reading(cells, move || match params.escapes {
            true => styled(&pane, first, last, &params),
            false => plain(&pane, first, last, &params),
        });
        Ok(CaptureReply { lines: lines.await? })
    }
}

/// Joins wrapped rows if the caller requests it.
#[derive(Default)]
struct Joined {
    lines: Vec<String>,
    is_open: bool,
}

impl Joined {
    fn push(&mut self, text: &str, is_wrapped: bool) {
        match self.lines.last_mut().filter(|_| self.is_open) {
            Some(last) => last.push_str(text),
            None => self.lines.push(text.to_owned()),
        }
        self.is_open = is_wrapped;
    }
}

fn plain(pane: &unterm_mux::Pane, first: u64, last: u64, params: &CaptureParams) -> Vec<String> {
    let mut rows = pane.term().lines();
    let mut joined = Joined::default();
    for line in first..=last {
        let mut text = String::new();
        if params.blanks || params.joined {
            // Blanks that a program printed are kept.
            rows.row_cells(LineId(line), |_, _, shown| text.push_str(shown));
        } else {
            rows.row_text(LineId(line), &mut text);
        }
        joined.push(&text, params.joined && rows.is_wrapped(LineId(line)));
    }
    joined.lines
}

fn styled(pane: &unterm_mux::Pane, first: u64, last: u64, params: &CaptureParams) -> Vec<String> {
    let mut joined = Joined::default();
    let mut look = Style::default();
    let mut next = first;
    while next <= last {
        let mut snapshot = Snapshot::default();
        pane.term().snapshot(&mut snapshot, Some(LineId(next)));
        let before = next;
        for row in &snapshot.rows {
            let line = row.line.0;
            if line < next || line > last {
                continue;
            }
            next = line + 1;
            let text = written(row, &mut look);
            joined.push(&text, params.joined && row.wrapped);
        }
        if next == before {
            break;
        }
    }
    joined.lines
}

/// The text of a row, with an escape sequence before each change of its look. `look`: the look at the end of the row
/// before.
fn written(row: &SnapshotRow, look: &mut Style) -> String {
    let mut out = String::new();
    let end = row.cells.iter().rposition(|cell| cell.content() != Content::Empty);
    let end = end.map_or(0, |end| end + 1);
    for run in &row.styles {
        let cells = usize::from(run.start)..usize::from(run.end).min(row.cells.len());
        // Blanks at the end are left out, unless they have a background.
        let cells = match run.style.background == Color::Default {
            true => cells.start..cells.end.min(end),
            false => cells,
        };
        if cells.is_empty() {
            continue;
        }
        if is_different(look, &run.style) {
            out.push_str(&sequence(look, &run.style));
            *look = run.style;
        }
        for col in cells {
            let cell = row.cells[col];
            match cell.content() {
                _ if cell.width() == Width::Tail => {}
                Content::Empty => out.push(' '),
                Content::Char(char) => out.push(char),
                Content::Cluster(_) => {
                    out.push_str(
                        row.cluster(u16::try_from(col).unwrap_or(u16::MAX)).unwrap_or(" "),
                    );
                }
            }
        }
    }
    out
}

fn is_different(one: &Style, other: &Style) -> bool {
    (one.foreground, one.background, one.underline, one.attrs)
        != (other.foreground, other.background, other.underline, other.attrs)
}

/// The escape sequences (SGR) that change a look into another one, as tmux writes them: attributes, foreground and
/// background. If an attribute ends, everything is set again.
fn sequence(from: &Style, to: &Style) -> String {
    const ATTRIBUTES: [(Attrs, &str); 8] = [
        (Attrs::BOLD, "1"),
        (Attrs::DIM, "2"),
        (Attrs::ITALIC, "3"),
        (Attrs::BLINK, "5"),
        (Attrs::REVERSE, "7"),
        (Attrs::HIDDEN, "8"),
        (Attrs::STRIKE, "9"),
        (Attrs::OVERLINE, "53"),
    ];
    let is_reset = !to.attrs.contains(from.attrs)
        || from.underline != Underline::None && from.underline != to.underline;
    let before = if is_reset { Style::default() } else { *from };
    let mut codes = if is_reset { vec!["0"] } else { Vec::new() };
    let set = ATTRIBUTES.iter().filter(|(attribute, _)| {
        to.attrs.contains(*attribute) && !before.attrs.contains(*attribute)
    });
    codes.extend(set.map(|(_, code)| *code));
    if to.underline != before.underline {
        codes.push(match to.underline {
            Underline::None => "24",
            Underline::Single => "4",
            Underline::Double => "4:2",
            Underline::Curly => "4:3",
            Underline::Dotted => "4:4",
            Underline::Dashed => "4:5",
        });
    }
    let mut sequences = String::new();
    if !codes.is_empty() {
        sequences.push_str(&format!("\u{1b}[{}m", codes.join(";")));
    }
    for (now, before, base) in
        [(to.foreground, from.foreground, 30), (to.background, from.background, 40)]
    {
        if now != before || is_reset {
            sequences.push_str(&format!("\u{1b}[{}m", color(now, base)));
        }
    }
    sequences
}

/// The code of a color. `base`: 30 for the foreground, 40 for the background.
fn color(color: Color, base: u32) -> String {
    match color {
        Color::Default => (base + 9).to_string(),
        Color::Indexed(index @ 0..8) => (base + u32::from(index)).to_string(),
        Color::Indexed(index @ 8..16) => (base + 52 + u32::from(index)).to_string(),
        Color::Indexed(index) => format!("{};5;{index}", base + 8),
        Color::Rgb(rgb) => format!("{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_look_is_written_as_its_codes() {
        let plain = Style::default();
        let red = Style { foreground: Color::Indexed(1), ..plain };
        assert_eq!(sequence(&plain, &red), "\u{1b}[31m");
        assert_eq!(sequence(&red, &plain), "\u{1b}[39m");
        let look = Style {
            foreground: Color::Indexed(1),
            background: Color::Indexed(12),
            attrs: Attrs::BOLD | Attrs::REVERSE,
            underline: Underline::Curly,
            ..plain
        };
        assert_eq!(sequence(&red, &look), "\u{1b}[1;7;4:3m\u{1b}[104m");
        assert_eq!(sequence(&look, &red), "\u{1b}[0m\u{1b}[31m\u{1b}[49m");
        let bold = Style { attrs: Attrs::BOLD, foreground: Color::Indexed(200), ..plain };
        assert_eq!(sequence(&plain, &bold), "\u{1b}[1m\u{1b}[38;5;200m");
    }
}

//! A session's screen in the formats of the toolset `tester`.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::STANDARD};
use unterm_mux::PaneId;
use unterm_term::{Cell, Content, Snapshot, SnapshotRow, Width};

use super::apps::App;
use crate::{
    dialect::mcp::{
        rows::columns,
        tool::{Ask, ToolResult},
    },
    methods::{
        cells::{Attribute, Bytes, BytesParams, Cells, CellsParams, CellsReply, Run},
        screen::{Scroll, ScrollParams},
    },
    untrusted::{clipped, escaped},
};

/// The formats.
pub const FORMATS: [&str; 5] = ["plain", "raw", "ansi", "scrollback", "passthrough"];

/// The maximum number of rows of history in a view.
const HISTORY: u64 = 1000;
/// The maximum number of characters of a readable view. History and screen of the usual size have fewer.
const MOST_CHARACTERS: usize = 200_000;

/// The screen's content and the cursor's row and column, from 0.
pub async fn view(ask: &Ask<'_>, app: &App, format: &str) -> ToolResult<(String, u16, u16)> {
    let mut screen = screen(ask, app)?;
    let content = match format {
        "raw" => {
            let cells = ask.call::<Cells>(CellsParams::of(app.pane)).await?;
            (screen.cursor.row, screen.cursor.col) = (cells.cursor.y, cells.cursor.x);
            raw(&cells)
        }
        "ansi" => readable(&marked(&screen)),
        "scrollback" => {
            let mut lines = history(ask, app, &screen).await?;
            lines.push(plain(&screen));
            readable(&lines.join("\n"))
        }
        "passthrough" => {
            let bytes = STANDARD.decode(ask.call::<Bytes>(BytesParams::of(app.pane)).await?.base64);
            String::from_utf8_lossy(&bytes.map_err(|error| error.to_string())?).into_owned()
        }
        _ => readable(&plain(&screen)),
    };
    Ok((content, screen.cursor.row, screen.cursor.col))
}

/// Makes a view readable: escapes invisible characters, and cuts long text with a note. Not used for the formats `raw`
/// and `passthrough`, which stay unchanged.
fn readable(text: &str) -> String {
    clipped(escaped(text), MOST_CHARACTERS, "").0
}

/// The screen of a pane that the caller may read. It is read from the terminal directly, because no method returns
/// which blanks were written.
fn screen(ask: &Ask<'_>, app: &App) -> ToolResult<Snapshot> {
    let pane = ask.server.dispatcher.context().mux.pane(PaneId(app.pane));
    let pane = pane.ok_or("session not found")?;
    let mut snapshot = Snapshot::default();
    pane.term().snapshot(&mut snapshot, None);
    Ok(snapshot)
}

/// The screen as text, in the protocol's form. Each row ends at its last written cell, and written blanks count.
/// Unwritten rows at the end are left out.
fn plain(screen: &Snapshot) -> String {
    let is_written = |cell: &Cell| cell.content() != Content::Empty || cell.width() == Width::Tail;
    let end = |row: &SnapshotRow| row.cells.iter().rposition(is_written).map_or(0, |last| last + 1);
    let rows: Vec<String> =
        screen.rows.iter().map(|row| columns(row, 0, end(row) as u16)).collect();
    let count = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    rows[..count].join("\n")
}

/// The rows above the screen.
async fn history(ask: &Ask<'_>, app: &App, screen: &Snapshot) -> ToolResult<Vec<String>> {
    let Some(first) = screen.rows.first() else { return Ok(Vec::new()) };
    let top = first.line.0.saturating_sub(screen.oldest.0);
    let offset = top.saturating_sub(HISTORY);
    let count = (top - offset).into();
    let params = ScrollParams { offset: offset.into(), count, ..ScrollParams::of(app.pane) };
    let rows = ask.call::<Scroll>(params).await?;
    Ok(rows.lines.iter().map(str::to_owned).collect())
}

/// Every row in full width, with visible marks for the cursor and blanks.
fn marked(screen: &Snapshot) -> String {
    let marked = |(y, row): (usize, &SnapshotRow)| {
        let mut text = String::new();
        for (x, cell) in row.cells.iter().enumerate() {
            let col = x as u16;
            let is_cursor = |col| usize::from(screen.cursor.row) == y && screen.cursor.col == col;
            match (cell.width(), cell.content()) {
                _ if is_cursor(col) => text.push('▮'),
                // The cursor is on the first half of this wide character.
                (Width::Tail, _) if x > 0 && is_cursor(col - 1) => text.push('·'),
                (Width::Tail, _) => {}
                (_, Content::Empty | Content::Char(' ')) => text.push('·'),
                (_, Content::Char(char)) => text.push(char),
                (_, Content::Cluster(_)) => text.push_str(row.cluster(col).unwrap_or("·")),
            }
        }
        text
    };
    screen.rows.iter().enumerate().map(marked).collect::<Vec<_>>().join("\n")
}

/// The screen as escape sequences that draw it.
fn raw(cells: &CellsReply) -> String {
    let mut text = String::from("\x1b[0m");
    let mut look = String::new();
    for (y, line) in cells.lines.iter().enumerate() {
        if y > 0 {
            change(&mut text, &mut look, "");
            text.push_str("\r\n");
        }
        let mut at = 0;
        for run in &line.runs {
            if run.col > at {
                change(&mut text, &mut look, "");
                text.extend(std::iter::repeat_n(' ', usize::from(run.col - at)));
            }
            change(&mut text, &mut look, &sgr(run));
            text.push_str(&run.text);
            at = run.col + run.cols;
        }
    }
    change(&mut text, &mut look, "");
    let _ = write!(text, "\x1b[{};{}H", cells.cursor.y + 1, cells.cursor.x + 1);
    text
}

/// Switches to another style.
fn change(text: &mut String, look: &mut String, to: &str) {
    if look != to {
        text.push_str("\x1b[0");
        text.push_str(to);
        text.push('m');
        to.clone_into(look);
    }
}

/// The SGR parameters of a run, each after a semicolon (ECMA-48, 8.3.117).
fn sgr(run: &Run) -> String {
    let mut sgr = String::new();
    for attribute in &run.attributes {
        let number = match attribute {
            Attribute::Bold => 1,
            Attribute::Dim => 2,
            Attribute::Italic => 3,
            Attribute::Blink => 5,
            Attribute::Inverse => 7,
            Attribute::Hidden => 8,
            Attribute::Strike => 9,
            Attribute::Overline => 53,
        };
        let _ = write!(sgr, ";{number}");
    }
    if run.underline.is_some() {
        sgr.push_str(";4");
    }
    for (color, base) in [(&run.foreground, 38), (&run.background, 48)] {
        let Some(color) = color else { continue };
        if let Some((red, green, blue)) = rgb(color) {
            let _ = write!(sgr, ";{base};2;{red};{green};{blue}");
        }
    }
    sgr
}

/// The red, green and blue of a color. Indexed colors have xterm's values.
fn rgb(color: &str) -> Option<(u8, u8, u8)> {
    if let Some(parts) = color.strip_prefix("rgb:") {
        let mut parts = parts.split(':').map(|part| part.parse().ok());
        return Some((parts.next()??, parts.next()??, parts.next()??));
    }
    const SYSTEM: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let index: u8 = color.strip_prefix("idx:")?.parse().ok()?;
    Some(match index {
        0..=15 => SYSTEM[usize::from(index)],
        16..=231 => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let n = index - 16;
            (level(n / 36), level(n / 6 % 6), level(n % 6))
        }
        _ => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    fn cells() -> CellsReply {
        let cells = json!({
            "seq": 1,
            "cols": 6,
            "rows": 2,
            "cursor": {"x": 0, "y": 1, "visible": true},
            "images": [],
            "alternate_screen": false,
            "reverse_screen": false,
            "lines": [
                {"row": 0, "line_id": 0, "wrapped": false, "runs": [
                    {"col": 1, "cols": 2, "text": "ab", "foreground": "idx:9", "attributes": ["bold"]},
                    {"col": 4, "cols": 2, "text": "漢"},
                ]},
                {"row": 1, "line_id": 1, "wrapped": false, "runs": []},
            ],
        });
        serde_json::from_value(cells).unwrap()
    }

    fn screen(bytes: &str) -> Snapshot {
        let mut term = Term::new(Size::cells(6, 3), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut screen = Snapshot::default();
        term.snapshot(&mut screen, None);
        screen
    }

    #[test]
    fn plain_text_reaches_as_far_as_something_was_written() {
        assert_eq!(plain(&screen("")), "");
        assert_eq!(plain(&screen("ab\r\n漢\r\n    ")), "ab\n漢\n    ");
        assert_eq!(plain(&screen("\x1b[2;3Hx\x1b[1;1H")), "\n  x");
        // Erased cells count as unwritten.
        assert_eq!(plain(&screen("abc   \x1b[3G\x1b[K\r\ndef\r\x1b[K")), "ab");
    }

    #[test]
    fn a_debug_view_has_every_column_and_the_cursor() {
        let text = "a b\x1b[2;2H漢e\u{301}\x1b[3;1H";
        assert_eq!(marked(&screen(text)), "a·b···\n·漢e\u{301}··\n▮·····");
        assert_eq!(marked(&screen("漢\x1b[1;1H")).lines().next(), Some("▮·····"));
    }

    #[test]
    fn a_screen_is_drawn_again() {
        assert_eq!(raw(&cells()), "\x1b[0m \x1b[0;1;38;2;255;0;0mab\x1b[0m 漢\r\n\x1b[2;1H");
    }

    #[test]
    fn colours_have_parts() {
        assert_eq!(rgb("rgb:1:2:3"), Some((1, 2, 3)));
        assert_eq!(rgb("idx:16"), Some((0, 0, 0)));
        assert_eq!(rgb("idx:231"), Some((255, 255, 255)));
        assert_eq!(rgb("idx:244"), Some((128, 128, 128)));
        assert_eq!(rgb("default"), None);
    }
}

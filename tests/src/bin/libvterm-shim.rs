//! Implements libvterm's test harness with Unterm's terminal. Reads the commands of libvterm's `t/*.test` files, as
//! libvterm's own `t/run-test.pl` sends them, and answers their questions about the screen.
//!
//! Supports the commands about the screen, the cursor, the pen and replies. Everything else that libvterm reports to
//! its embedder (damage, moved rectangles, callbacks of its parser) has no counterpart here. Such commands get the
//! answer `?`, the harness's answer to unknown commands. `tests/conformance/run` drives this program. This program adds
//! two commands. `?clusters` answers with the contents of the screen's cells in order, and `?looks ROW` with the size of a
//! row's characters and the look of each of its cells.

use std::{
    fmt::Write as _,
    io::{BufRead as _, Write as _},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use unterm_term::{
    Attrs, Color, Content, LineId, LineSize, Options, Palette, Parser, Rgb, Size, Snapshot,
    SnapshotRow, Style, Term, Underline, Width,
};

/// The colors of libvterm (src/pen.c), because its tests expect them.
const COLORS: [u32; 16] = [
    0x000000, 0xe00000, 0x00e000, 0xe0e000, 0x0000e0, 0xe000e0, 0x00e0e0, 0xe0e0e0, 0x808080,
    0xff4040, 0x40ff40, 0xffff40, 0x4040ff, 0xff40ff, 0x40ffff, 0xffffff,
];
const FOREGROUND: Rgb = Rgb::hex(0xf0f0f0);
const BACKGROUND: Rgb = Rgb::hex(0x000000);
/// The maximum number of characters per cell in libvterm.
const CELL_CHARS: usize = 6;

fn main() -> Result<()> {
    let mut harness = Harness::new(25, 80);
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = harness.line(&line?).unwrap_or_else(|_| "?\n".into());
        out.write_all(answer.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

struct Harness {
    term: Term,
    parser: Parser,
    palette: Palette,
}

impl Harness {
    fn new(rows: u16, cols: u16) -> Self {
        let palette = Palette::new(COLORS.map(Rgb::hex), FOREGROUND, BACKGROUND);
        let mut harness = Self {
            term: Term::new(Size::cells(1, 1), Options::default()),
            parser: Parser::new(),
            palette,
        };
        harness.restart(rows, cols);
        harness
    }

    fn restart(&mut self, rows: u16, cols: u16) {
        let options = Options { palette: Arc::new(self.palette.clone()), ..Options::default() };
        self.term = Term::new(Size::cells(cols, rows), options);
        self.parser = Parser::new();
    }

    /// The answer to one line, including its line feed.
    fn line(&mut self, line: &str) -> Result<String> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut answer = match command {
            "INIT" | "WANTSTATE" | "WANTSCREEN" | "UTF8" => String::new(),
            "RESET" => {
                let size = self.term.size();
                self.restart(size.rows, size.cols);
                String::new()
            }
            "RESIZE" => {
                let numbers = numbers(rest)?;
                self.term.resize(Size::cells(at(&numbers, 1)?, at(&numbers, 0)?));
                self.output()
            }
            "PUSH" => {
                self.parser.advance(&mut self.term, &bytes(rest)?);
                self.output()
            }
            "SETDEFAULTCOL" => {
                self.set_default_colors(rest)?;
                String::new()
            }
            _ => {
                let question = command.strip_prefix('?').context("not a question")?;
                return Ok(self.question(question, rest)? + "\n");
            }
        };
        answer.push_str("DONE\n");
        Ok(answer)
    }

    /// The terminal's replies as an `output` line.
    fn output(&mut self) -> String {
        let replies: Vec<String> =
            self.term.take_replies().iter().map(|byte| format!("{byte:x}")).collect();
        if replies.is_empty() { String::new() } else { format!("output {}\n", replies.join(",")) }
    }

    fn set_default_colors(&mut self, rest: &str) -> Result<()> {
        let mut colors = rest.split(' ').filter_map(|word| word.strip_prefix("rgb("));
        let mut next = || -> Result<Option<Rgb>> {
            let Some(color) = colors.next() else { return Ok(None) };
            let parts = numbers(color.trim_end_matches(')'))?;
            Ok(Some(Rgb {
                r: at(&parts, 0)? as u8,
                g: at(&parts, 1)? as u8,
                b: at(&parts, 2)? as u8,
            }))
        };
        self.palette.foreground = next()?.context("a color")?;
        self.palette.background = next()?.unwrap_or(self.palette.background);
        self.term.set_base_palette(Arc::new(self.palette.clone()));
        Ok(())
    }

    fn question(&mut self, question: &str, rest: &str) -> Result<String> {
        let mut snapshot = Snapshot::default();
        self.term.snapshot(&mut snapshot, None);
        Ok(match question {
            "cursor" => {
                let cursor = self.term.cursor();
                format!("{},{}", cursor.row, cursor.col)
            }
            "screen_chars" => {
                hex(&chars(&snapshot, rest)?.chars().map(u32::from).collect::<Vec<_>>())
            }
            "screen_text" => {
                hex(&chars(&snapshot, rest)?.bytes().map(u32::from).collect::<Vec<_>>())
            }
            "screen_cell" => {
                let (row, col) = cell_at(&snapshot, rest)?;
                self.cell(row, col)
            }
            "screen_eol" => {
                let (row, col) = cell_at(&snapshot, rest)?;
                let is_eol = row.cells[col..].iter().all(|cell| cell.content() == Content::Empty);
                u8::from(is_eol).to_string()
            }
            "screen_attrs_extent" => {
                let (row, col) = cell_at(&snapshot, rest)?;
                let run =
                    row.styles.iter().find(|run| usize::from(run.end) > col).context("a run")?;
                let line = row.line.0 - snapshot.live_top.0;
                format!("{line},{}-{},{}", run.start, line + 1, run.end - 1)
            }
            "lineinfo" => {
                let row: u64 = rest.trim().parse()?;
                let before = (snapshot.live_top.0 + row).checked_sub(1);
                let is_cont = before.is_some_and(|before| self.term.is_wrapped(LineId(before)));
                let size = match snapshot.rows.get(row as usize).context("no such row")?.size {
                    LineSize::Single => "",
                    LineSize::DoubleWidth => "dwl ",
                    LineSize::DoubleTop | LineSize::DoubleBottom => "dwl dhl ",
                };
                format!("{size}{}", if is_cont { "cont " } else { "" })
            }
            "pen" => self.pen(rest.trim())?,
            "clusters" => clusters(&snapshot).join(" "),
            "looks" => {
                let row: usize = rest.trim().parse()?;
                looks(snapshot.rows.get(row).context("no such row")?)
            }
            _ => anyhow::bail!("unknown"),
        })
    }

    fn cell(&self, row: &SnapshotRow, col: usize) -> String {
        let style = row.styles.iter().find(|run| usize::from(run.end) > col).map(|run| run.style);
        let style = style.unwrap_or_default();
        let text = text_of(row, col);
        let text: Vec<_> =
            text.chars().take(CELL_CHARS).map(|c| format!("{:#x}", u32::from(c))).collect();
        let width = if row.cells[col].width() == Width::Wide { 2 } else { 1 };
        let mut attrs = String::new();
        let on = |attr| style.attrs.contains(attr);
        attrs.push_str(if on(Attrs::BOLD) { "B" } else { "" });
        if style.underline != Underline::None {
            let _ = write!(attrs, "U{}", style.underline as u8);
        }
        attrs.push_str(if on(Attrs::ITALIC) { "I" } else { "" });
        attrs.push_str(if on(Attrs::BLINK) { "K" } else { "" });
        attrs.push_str(if on(Attrs::REVERSE) { "R" } else { "" });
        let palette = self.term.palette();
        let rgb = |color: Color, default: Rgb| {
            let Rgb { r, g, b } = match color {
                Color::Default => default,
                Color::Indexed(i) => palette.colors[usize::from(i)],
                Color::Rgb(rgb) => rgb,
            };
            format!("rgb({r},{g},{b})")
        };
        let (fg, bg) =
            (rgb(style.foreground, palette.foreground), rgb(style.background, palette.background));
        let size = match row.size {
            LineSize::Single => "",
            LineSize::DoubleWidth => "dwl ",
            LineSize::DoubleTop => "dwl dhl-top ",
            LineSize::DoubleBottom => "dwl dhl-bottom ",
        };
        format!("{{{}}} width={width} attrs={{{attrs}}} {size}fg={fg} bg={bg}", text.join(","))
    }

    /// An attribute of the pen, from the terminal's own report (DECRQSS).
    fn pen(&mut self, name: &str) -> Result<String> {
        self.parser.advance(&mut self.term, b"\x1bP$qm\x1b\\");
        let reply = String::from_utf8(self.term.take_replies())?;
        let params = reply.strip_prefix("\x1bP1$r").and_then(|rest| rest.split_once('m'));
        // Feed the report to another terminal. Its next cell then shows the attribute.
        let mut other = Self::new(1, 2);
        let sgr = format!("\x1b[{}m ", params.context("a reply to DECRQSS")?.0);
        other.parser.advance(&mut other.term, sgr.as_bytes());
        let mut snapshot = Snapshot::default();
        other.term.snapshot(&mut snapshot, None);
        let style = snapshot.rows[0].styles[0].style;
        let on = |attr| (if style.attrs.contains(attr) { "on" } else { "off" }).to_owned();
        let color = |color: Color, Rgb { r, g, b }: Rgb, default: &str| match color {
            Color::Default => format!("rgb({r},{g},{b},{default})"),
            Color::Indexed(i) => format!("idx({i})"),
            Color::Rgb(Rgb { r, g, b }) => format!("rgb({r},{g},{b})"),
        };
        Ok(match name {
            "bold" => on(Attrs::BOLD),
            "italic" => on(Attrs::ITALIC),
            "blink" => on(Attrs::BLINK),
            "reverse" => on(Attrs::REVERSE),
            "underline" => (style.underline as u8).to_string(),
            "foreground" => color(style.foreground, FOREGROUND, "is_default_fg"),
            "background" => color(style.background, BACKGROUND, "is_default_bg"),
            _ => anyhow::bail!("unknown"),
        })
    }
}

fn numbers(text: &str) -> Result<Vec<u16>> {
    Ok(text.split(',').map(|number| number.trim().parse()).collect::<Result<_, _>>()?)
}

fn at(numbers: &[u16], place: usize) -> Result<u16> {
    numbers.get(place).copied().context("too few numbers")
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let pair = |at: usize| hex.get(at..at + 2).context("an odd number of digits");
    (0..hex.len()).step_by(2).map(|at| Ok(u8::from_str_radix(pair(at)?, 16)?)).collect()
}

fn hex(values: &[u32]) -> String {
    values.iter().map(|value| format!("0x{value:02x}")).collect::<Vec<_>>().join(",")
}

fn cell_at<'a>(snapshot: &'a Snapshot, rest: &str) -> Result<(&'a SnapshotRow, usize)> {
    let place = numbers(rest)?;
    let row = snapshot.rows.get(usize::from(at(&place, 0)?)).context("no such row")?;
    Ok((row, usize::from(at(&place, 1)?).min(row.cells.len() - 1)))
}

/// The text of a cell. Empty for a blank and for the second half of a wide character.
fn text_of(row: &SnapshotRow, col: usize) -> String {
    match (row.cells[col].width(), row.cells[col].content()) {
        (Width::Tail | Width::Head, _) | (_, Content::Empty) => String::new(),
        (_, Content::Char(c)) => c.into(),
        (_, Content::Cluster(_)) => row.cluster(col as u16).unwrap_or_default().to_owned(),
    }
}

/// The text of a row or of a rectangle, which is given by its first row, first column, row after the last and column
/// after the last. A cell that was never written counts as a blank if text follows. Rows are separated by line feeds.
fn chars(snapshot: &Snapshot, rest: &str) -> Result<String> {
    let place = numbers(rest)?;
    let (top, left) = (at(&place, 0)?, at(&place, 1).unwrap_or(0));
    let (bottom, right) = (at(&place, 2).unwrap_or(top + 1), at(&place, 3).unwrap_or(u16::MAX));
    let mut rows = Vec::new();
    for row in usize::from(top)..usize::from(bottom).min(snapshot.rows.len()) {
        let row = &snapshot.rows[row];
        let cells = usize::from(left)..usize::from(right).min(row.cells.len());
        let mut text = String::new();
        let mut blanks = 0;
        for col in cells {
            let cell = row.cells[col];
            let shown = text_of(row, col);
            if shown.is_empty() {
                blanks += usize::from(!matches!(cell.width(), Width::Tail));
                continue;
            }
            text.extend(std::iter::repeat_n(' ', std::mem::take(&mut blanks)));
            text.push_str(&shown);
        }
        rows.push(text);
    }
    Ok(rows.join("\n"))
}

/// The contents of all non-empty cells, as code points joined by commas.
fn clusters(snapshot: &Snapshot) -> Vec<String> {
    let mut clusters = Vec::new();
    for row in &snapshot.rows {
        for col in 0..row.cells.len() {
            let text = text_of(row, col);
            if !text.is_empty() {
                let codes: Vec<_> = text.chars().map(|c| format!("{:04X}", u32::from(c))).collect();
                clusters.push(codes.join(","));
            }
        }
    }
    clusters
}

/// The size of a row's characters, and the look of each cell: its attributes, foreground and background as codes of SGR,
/// separated by `-`. Leaves out the foreground of blanks, and their invisible attributes.
fn looks(row: &SnapshotRow) -> String {
    let mut out = String::from(match row.size {
        LineSize::Single => "single",
        LineSize::DoubleWidth => "double",
        LineSize::DoubleTop => "top",
        LineSize::DoubleBottom => "bottom",
    });
    for run in &row.styles {
        let attributes = attribute_codes(&run.style).join(",");
        let foreground = color_code(run.style.foreground, 30);
        let background = color_code(run.style.background, 40);
        // Without these, the other attributes of a blank are not visible.
        let has_lines = run.style.underline != Underline::None
            || run.style.attrs.intersects(Attrs::REVERSE | Attrs::STRIKE);
        for col in run.start..run.end {
            let is_blank = matches!(text_of(row, usize::from(col)).as_str(), "" | " " | "\u{a0}");
            let (attributes, foreground) = match (is_blank, has_lines) {
                (false, _) => (attributes.as_str(), foreground.as_str()),
                (true, true) => (attributes.as_str(), ""),
                (true, false) => ("", ""),
            };
            let _ = write!(out, " {attributes}-{foreground}-{background}");
        }
    }
    out
}

/// The SGR codes of a style's attributes, in ascending order.
fn attribute_codes(style: &Style) -> Vec<&'static str> {
    let attrs = [
        (Attrs::BOLD, "1"),
        (Attrs::DIM, "2"),
        (Attrs::ITALIC, "3"),
        (Attrs::BLINK, "5"),
        (Attrs::REVERSE, "7"),
        (Attrs::HIDDEN, "8"),
        (Attrs::STRIKE, "9"),
        (Attrs::OVERLINE, "53"),
    ];
    let underline = match style.underline {
        Underline::None => None,
        Underline::Double => Some("21"),
        _ => Some("4"),
    };
    let on = attrs.iter().filter(|(attr, _)| style.attrs.contains(*attr)).map(|(_, code)| *code);
    let mut codes: Vec<_> = on.chain(underline).collect();
    codes.sort_unstable_by_key(|code| code.parse::<u8>().unwrap_or(u8::MAX));
    codes
}

/// The SGR code of a color. `base`: 30 for the foreground, 40 for the background. Empty for the default color.
fn color_code(color: Color, base: u8) -> String {
    match color {
        Color::Default => String::new(),
        Color::Indexed(i) if i < 8 => (base + i).to_string(),
        Color::Indexed(i) if i < 16 => (base + 60 + i - 8).to_string(),
        Color::Indexed(i) => format!("{}:5:{i}", base + 8),
        Color::Rgb(Rgb { r, g, b }) => format!("{}:2::{r}:{g}:{b}", base + 8),
    }
}

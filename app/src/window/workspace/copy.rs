//! Copies text of a pane: as plain text, as HTML with its colors, or with ANSI escape sequences.
//!
//! Owns the formats. `selection.rs` determines the selected cells.

use std::fmt::Write;

use unterm_mux::Pane;
use unterm_term::{
    Attrs, Color, Content, LineId, Palette, Rgb, Snapshot, SnapshotRow, Style, TextRange,
    Underline, Width,
};

use crate::config::CopyOnSelect;
use crate::window::{
    cx::Cx,
    effect::Effect,
    input::{buffer::Buffer, clipboard::Request},
    ui::colors::mix,
    workspace::view::Views,
};

/// The maximum number of lines that are copied with styles, and the number of lines that are read each time the
/// terminal is locked.
pub(crate) const LINES_CAP: u64 = 100_000;
const AT_ONCE: u64 = 1000;

/// A format of copied text that preserves colors and styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// HTML, and also plain text for programs that do not accept HTML.
    Html,
    /// Text with the escape sequences of its colors and styles.
    Ansi,
}

/// The selected text of a pane. If `trim` is set, trailing blanks are removed. `None` if no text is selected.
pub(crate) fn selected_text(views: &Views, pane: &Pane, trim: bool) -> Option<String> {
    let range = views.get(&pane.id())?.selection?.range?;
    let text = match trim {
        true => pane.term().text(range),
        false => plain(&lines(pane, range, false).0),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Copies the focused pane's selection to the clipboard, and clears the selection. Returns false if nothing is
/// selected.
pub(crate) fn copy_selection(cx: &mut Cx<'_>) -> bool {
    let Some(pane) = cx.focused_pane() else { return false };
    let text = selected_text(cx.views, &pane, cx.prefs.config.mouse.trim_copied);
    let Some(text) = text else { return false };
    cx.store(Buffer::Clipboard, text);
    end_selection(&pane, cx);
    true
}

/// Copies the focused pane's selection in a format with colors, and clears the selection. Returns false if nothing is
/// selected.
pub(crate) fn copy_as(form: Form, cx: &mut Cx<'_>) -> bool {
    let Some(pane) = cx.focused_pane() else { return false };
    let view = cx.views.get(&pane.id());
    let Some(range) = view.and_then(|view| view.selection?.range) else { return false };
    let (lines, snapshot) = lines(&pane, range, cx.prefs.config.mouse.trim_copied);
    match form {
        Form::Html => {
            let html = html(&lines, &snapshot.palette);
            cx.effects.push(Effect::Clipboard(Request::StoreHtml(html, plain(&lines))));
        }
        Form::Ansi => cx.store(Buffer::Clipboard, ansi(&lines)),
    }
    end_selection(&pane, cx);
    true
}

/// Copies the text of a finished selection, if `mouse.copy_on_select` is set.
pub(crate) fn copy_on_select(text: String, cx: &mut Cx<'_>) {
    match cx.prefs.config.mouse.copy_on_select {
        CopyOnSelect::Off => {}
        CopyOnSelect::Primary => cx.store(Buffer::Primary, text),
        CopyOnSelect::Clipboard => {
            cx.store(Buffer::Primary, text.clone());
            cx.store(Buffer::Clipboard, text);
        }
    }
}

fn end_selection(pane: &Pane, cx: &mut Cx<'_>) {
    if let Some(view) = cx.views.get_mut(&pane.id()) {
        view.selection = None;
    }
}

/// The text of adjacent cells with equal styles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StyledText {
    text: String,
    style: Style,
}

/// A line of text. Wrapped rows are joined into one line.
type Line = Vec<StyledText>;

/// The lines of a range, and the last snapshot that was taken to read them. If `trim` is set, trailing blanks are
/// removed.
pub(crate) fn lines(pane: &Pane, range: TextRange, trim: bool) -> (Vec<Line>, Snapshot) {
    let mut snapshot = Snapshot::default();
    let mut lines = Vec::new();
    let mut line = Line::new();
    let mut next = range.start.line.0;
    let last = range.end.line.0.min(next.saturating_add(LINES_CAP));
    // Read the lines in batches, so that the terminal is locked only for a short time.
    while next <= last {
        pane.term().snapshot_more(&mut snapshot, Some(LineId(next)), AT_ONCE as usize);
        let before = next;
        for row in &snapshot.rows {
            if !(next..=last).contains(&row.line.0) {
                continue;
            }
            next = row.line.0 + 1;
            let (start, end) = columns(row, range);
            push_cells(row, start, end, &mut line);
            if !row.wrapped || range.block || row.line.0 == last {
                if trim {
                    trim_end(&mut line);
                }
                lines.push(std::mem::take(&mut line));
            }
        }
        // Skip lines that the terminal has discarded in the meantime.
        let first = snapshot.rows.first().map_or(last + 1, |row| row.line.0);
        if next == before {
            next = if first > next { first } else { last + 1 };
        }
    }
    (lines, snapshot)
}

/// The columns of a row that belong to a range: the first column, and the column after the last.
fn columns(row: &SnapshotRow, range: TextRange) -> (usize, usize) {
    let width = row.cells.len();
    if range.block {
        let (a, b) = (usize::from(range.start.col), usize::from(range.end.col));
        return (a.min(b), (a.max(b) + 1).min(width));
    }
    let start = if row.line == range.start.line { usize::from(range.start.col) } else { 0 };
    let end = if row.line == range.end.line { usize::from(range.end.col) + 1 } else { width };
    (start.min(width), end.min(width))
}

fn push_cells(row: &SnapshotRow, start: usize, end: usize, line: &mut Line) {
    let mut runs = row.styles.iter().peekable();
    for col in start..end {
        let cell = row.cells[col];
        while runs.next_if(|run| usize::from(run.end) <= col).is_some() {}
        let style = runs.peek().map_or_else(Style::default, |run| run.style);
        if !line.last().is_some_and(|piece| piece.style == style) {
            line.push(StyledText { text: String::new(), style });
        }
        let Some(piece) = line.last_mut() else { continue };
        match (cell.width(), cell.content()) {
            (Width::Tail | Width::Head, _) => {}
            (_, Content::Empty) => piece.text.push(' '),
            (_, Content::Char(char)) => piece.text.push(char),
            (_, Content::Cluster(_)) => {
                piece.text.push_str(row.cluster(col as u16).unwrap_or(" "));
            }
        }
    }
}

fn trim_end(line: &mut Line) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        line.pop();
    }
}

pub(crate) fn plain(lines: &[Line]) -> String {
    join(lines, |line, out| line.iter().for_each(|piece| out.push_str(&piece.text)))
}

fn join(lines: &[Line], mut write: impl FnMut(&Line, &mut String)) -> String {
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        write(line, &mut out);
    }
    out
}

/// The lines as a self-contained piece of HTML, with the colors of the theme.
pub(crate) fn html(lines: &[Line], palette: &Palette) -> String {
    let hex = |color: Rgb| color.to_string();
    let mut out = format!(
        "<pre style=\"font-family:monospace;color:{};background-color:{}\">",
        hex(palette.foreground),
        hex(palette.background)
    );
    out += &join(lines, |line, out| {
        for piece in line {
            let css = css(&piece.style, palette, hex);
            if !css.is_empty() {
                let _ = write!(out, "<span style=\"{css}\">");
            }
            for char in piece.text.chars() {
                match char {
                    '&' => out.push_str("&amp;"),
                    '<' => out.push_str("&lt;"),
                    '>' => out.push_str("&gt;"),
                    char => out.push(char),
                }
            }
            if !css.is_empty() {
                out.push_str("</span>");
            }
        }
    });
    out + "</pre>"
}

fn css(style: &Style, palette: &Palette, hex: impl Fn(Rgb) -> String) -> String {
    let of = |color: Color, default: Rgb| match color {
        Color::Default => default,
        Color::Indexed(index) => palette.colors[usize::from(index)],
        Color::Rgb(rgb) => rgb,
    };
    let mut text = of(style.foreground, palette.foreground);
    let mut back = of(style.background, palette.background);
    if style.attrs.contains(Attrs::REVERSE) {
        (text, back) = (back, text);
    }
    if style.attrs.contains(Attrs::DIM) {
        text = mix(text, back, 0.5);
    }
    if style.attrs.contains(Attrs::HIDDEN) {
        text = back;
    }
    let mut css = String::new();
    if text != palette.foreground {
        let _ = write!(css, "color:{};", hex(text));
    }
    if back != palette.background {
        let _ = write!(css, "background-color:{};", hex(back));
    }
    if style.attrs.contains(Attrs::BOLD) {
        css.push_str("font-weight:bold;");
    }
    if style.attrs.contains(Attrs::ITALIC) {
        css.push_str("font-style:italic;");
    }
    let mut drawn = Vec::new();
    match style.underline {
        Underline::None => {}
        Underline::Single => drawn.push("underline"),
        Underline::Double => drawn.push("underline double"),
        Underline::Curly => drawn.push("underline wavy"),
        Underline::Dotted => drawn.push("underline dotted"),
        Underline::Dashed => drawn.push("underline dashed"),
    }
    if style.attrs.contains(Attrs::STRIKE) {
        drawn.push("line-through");
    }
    if style.attrs.contains(Attrs::OVERLINE) {
        drawn.push("overline");
    }
    if !drawn.is_empty() {
        let _ = write!(css, "text-decoration:{};", drawn.join(" "));
    }
    css
}

/// The lines as text that looks the same when a terminal prints it. An SGR sequence (ECMA-48 8.3.117, with the colors
/// of xterm and the underlines of kitty) marks each change of style. Styles are reset at the end of each line.
pub(crate) fn ansi(lines: &[Line]) -> String {
    join(lines, |line, out| {
        let mut now = Style::default();
        for piece in line {
            if piece.style != now {
                out.push_str(&sgr(&piece.style));
                now = piece.style;
            }
            out.push_str(&piece.text);
        }
        if now != Style::default() {
            out.push_str("\x1b[0m");
        }
    })
}

/// The SGR sequence of a style. Colors are separated by semicolons, which more terminals accept than the colons of ISO
/// 8613-6.
fn sgr(style: &Style) -> String {
    let mut out = format!("\x1b[{}", style.attribute_parameters());
    for (color, base) in [(style.foreground, 30), (style.background, 40)] {
        let _ = match color {
            Color::Default => Ok(()),
            Color::Indexed(index @ 0..=7) => write!(out, ";{}", base + index),
            Color::Indexed(index @ 8..=15) => write!(out, ";{}", base + 52 + index),
            Color::Indexed(index) => write!(out, ";{};5;{index}", base + 8),
            Color::Rgb(Rgb { r, g, b }) => write!(out, ";{};2;{r};{g};{b}", base + 8),
        };
    }
    let _ = match style.underline_color {
        Color::Default => Ok(()),
        Color::Indexed(index) => write!(out, ";58:5:{index}"),
        Color::Rgb(Rgb { r, g, b }) => write!(out, ";58:2::{r}:{g}:{b}"),
    };
    out.push('m');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, style: Style) -> StyledText {
        StyledText { text: text.to_owned(), style }
    }

    fn red() -> Style {
        Style { foreground: Color::Indexed(9), attrs: Attrs::BOLD, ..Style::default() }
    }

    #[test]
    fn html_has_the_colours_and_nothing_of_the_text_is_markup() {
        let mut palette = Palette::default();
        palette.colors[9] = Rgb::hex(0xff0102);
        let lines = [
            vec![piece("<b>&", Style::default()), piece("x", red())],
            vec![piece("y", Style { attrs: Attrs::REVERSE, ..Style::default() })],
        ];
        let html = html(&lines, &palette);
        assert!(
            html.contains(
                ">&lt;b&gt;&amp;<span style=\"color:#ff0102;font-weight:bold;\">x</span>\n"
            ),
            "{html}"
        );
        let hex = |color: Rgb| color.to_string();
        let reversed = format!(
            "color:{};background-color:{};",
            hex(palette.background),
            hex(palette.foreground)
        );
        assert!(html.contains(&reversed), "{html}");
        assert_eq!(plain(&lines), "<b>&x\ny");
    }

    #[test]
    fn ansi_makes_a_terminal_show_the_same() {
        let wavy = Style {
            background: Color::Rgb(Rgb { r: 1, g: 2, b: 3 }),
            foreground: Color::Indexed(200),
            underline: Underline::Curly,
            underline_color: Color::Indexed(4),
            ..Style::default()
        };
        let lines = [vec![piece("a", Style::default()), piece("b", red())], vec![piece("c", wavy)]];
        assert_eq!(
            ansi(&lines),
            "a\x1b[0;1;91mb\x1b[0m\n\x1b[0;4:3;38;5;200;48;2;1;2;3;58:5:4mc\x1b[0m"
        );
    }

    #[test]
    fn blanks_at_the_end_go_with_their_looks() {
        let mut line = vec![piece("a b ", Style::default()), piece("   ", red())];
        trim_end(&mut line);
        assert_eq!(line, [piece("a b", Style::default())]);
    }
}

//! The rows of a program's screen, as the inbox panel shows them: in the colors of the pane, and wrapped to the panel.
//!
//! The text of a row is always the text that the control server returned, in which secrets are masked. A row has the
//! pane's colors only if the pane still shows this text there.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;
use unterm_term::{Attrs, Color, Content, Palette, Rgb, Snapshot, SnapshotRow, Style, Width};

/// A part of a row in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// The first column of the run.
    pub(crate) column: usize,
    /// `None`: the default colors.
    pub(crate) color: Option<Rgb>,
    pub(crate) ground: Option<Rgb>,
    pub(crate) is_bold: bool,
}

/// The rows of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells(Vec<Vec<Run>>);

impl Cells {
    /// Rows in the default colors.
    pub(crate) fn plain<'a>(rows: impl IntoIterator<Item = &'a str>) -> Self {
        let run = |row: &str| vec![Run { text: row.to_owned(), ..Run::default() }];
        Self(rows.into_iter().map(run).collect())
    }

    /// Rows in the colors of a pane that shows them.
    pub(crate) fn colored(rows: &[String], snapshot: &Snapshot) -> Self {
        let mut cells = Self::plain(rows.iter().map(String::as_str));
        for (runs, row) in cells.0.iter_mut().zip(&snapshot.rows) {
            let colored = runs_of(row, &snapshot.palette);
            let is_same = runs.first().is_some_and(|plain| {
                let text: String = colored.iter().map(|run| run.text.as_str()).collect();
                text.trim_end() == plain.text.trim_end()
            });
            if is_same {
                *runs = colored;
            }
        }
        cells
    }

    /// The rows, wrapped to a number of columns.
    pub(crate) fn wrapped(&self, columns: usize) -> Vec<Vec<Run>> {
        self.0.iter().flat_map(|row| wrapped(row, columns.max(2))).collect()
    }

    /// The text for screen readers.
    pub(crate) fn text(&self) -> String {
        let row = |row: &Vec<Run>| row.iter().map(|run| run.text.as_str()).collect::<String>();
        self.0.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

/// Splits a row into lines of at most `columns` columns.
fn wrapped(row: &[Run], columns: usize) -> Vec<Vec<Run>> {
    let (mut lines, mut column) = (vec![Vec::new()], 0);
    for run in row {
        let mut part = Run { text: String::new(), column, ..run.clone() };
        for grapheme in run.text.graphemes(true) {
            let width = grapheme.width();
            if column + width > columns {
                let done = std::mem::replace(&mut part, Run { column: 0, ..run.clone() });
                part.text.clear();
                lines.last_mut().into_iter().for_each(|line| line.push(done.clone()));
                lines.push(Vec::new());
                column = 0;
            }
            part.text.push_str(grapheme);
            column += width;
        }
        lines.last_mut().into_iter().for_each(|line| line.push(part.clone()));
    }
    for line in &mut lines {
        line.retain(|run| !run.text.is_empty());
    }
    lines
}

/// The runs of a row, without blank default cells at its end. A character that is not one column of ASCII ends a run,
/// because the font of the panel may draw it with another width.
fn runs_of(row: &SnapshotRow, palette: &Palette) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for styled in &row.styles {
        let mut is_open = false;
        for column in styled.start..styled.end {
            let Some(cell) = row.cells.get(usize::from(column)) else { break };
            if cell.width() == Width::Tail {
                is_open = false;
                continue;
            }
            let text = match cell.content() {
                Content::Char(char) => char.to_string(),
                Content::Cluster(_) => row.cluster(column).unwrap_or(" ").to_owned(),
                Content::Empty => " ".to_owned(),
            };
            let is_plain = text.is_ascii();
            match runs.last_mut().filter(|_| is_open && is_plain) {
                Some(run) => run.text.push_str(&text),
                None => runs.push(run(&styled.style, text, usize::from(column), palette)),
            }
            is_open = is_plain;
        }
    }
    while let Some(last) = runs.last_mut() {
        if last.ground.is_none() {
            last.text.truncate(last.text.trim_end().len());
        }
        if !last.text.is_empty() {
            break;
        }
        runs.pop();
    }
    runs
}

fn run(style: &Style, text: String, column: usize, palette: &Palette) -> Run {
    let color = |color, default| match color {
        Color::Default => default,
        Color::Indexed(index) => Some(palette.colors[usize::from(index)]),
        Color::Rgb(rgb) => Some(rgb),
    };
    let (mut front, mut ground) = (color(style.foreground, None), color(style.background, None));
    if style.attrs.contains(Attrs::REVERSE) {
        let swapped = (ground.or(Some(palette.background)), front.or(Some(palette.foreground)));
        (front, ground) = swapped;
    }
    if style.attrs.contains(Attrs::HIDDEN) {
        front = ground.or(Some(palette.background));
    }
    let is_bold = style.attrs.contains(Attrs::BOLD);
    Run { text, column, color: front, ground, is_bold }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    fn snapshot(output: &str) -> Snapshot {
        let mut term = Term::new(Size::cells(20, 3), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, None);
        snapshot
    }

    #[test]
    fn a_row_has_the_panes_colors_if_its_text_is_the_same() {
        let snapshot = snapshot("Run \x1b[31mrm\x1b[m it?\r\n\x1b[7m> 1. Yes\x1b[m\r\nkey secret");
        let rows = ["Run rm it?", "> 1. Yes", "key ***"].map(str::to_owned);
        let cells = Cells::colored(&rows, &snapshot);
        let (palette, row) = (&snapshot.palette, |at: usize| &cells.0[at]);
        assert_eq!(cells.text(), rows.join("\n"));
        let colors: Vec<_> = row(0).iter().map(|run| (run.column, run.color)).collect();
        assert_eq!(colors, [(0, None), (4, Some(palette.colors[1])), (6, None)]);
        assert_eq!(row(1)[0].ground, Some(palette.foreground));
        assert_eq!(row(2).len(), 1, "a masked row is plain");
        assert_eq!(row(2)[0].color, None);
    }

    #[test]
    fn long_rows_are_wrapped_and_lose_nothing() {
        let row = "abc 中文 def";
        for columns in 2..14 {
            let lines = Cells::plain([row]).wrapped(columns);
            let text = |line: &Vec<Run>| line.iter().map(|run| &*run.text).collect::<String>();
            assert!(lines.iter().all(|line| text(line).width() <= columns), "{columns}");
            assert_eq!(lines.iter().map(text).collect::<String>(), row);
        }
    }
}

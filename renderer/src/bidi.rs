//! The order in which a row with right-to-left text is shown.
//!
//! Cells hold text in reading order, and programs, selections and searches count columns in that order. A row that
//! contains Hebrew, Arabic or another right-to-left script is shown in the order that the Unicode Bidirectional Algorithm
//! (UAX #9) gives for a left-to-right paragraph. Box drawing, `|` and two or more blanks divide a row into fields that are
//! ordered one by one, so that the columns of tables and the borders of panels stay in place.

use std::ops::Range;
use std::sync::Arc;

use icu_properties::CodePointMapData;
use icu_properties::props::{BidiMirroringGlyph, JoiningType};
use unicode_bidi::{Level, ParagraphBidiInfo};
use unterm_term::{Content, SnapshotRow, StyleRun, Width};

use crate::chars::JOINER;

const NON_JOINER: char = '\u{200c}';

/// The order in which the columns of a row are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOrder {
    /// For each shown column: the column of the grid that is shown there.
    columns: Vec<u16>,
    /// For each column of the grid: the column in which it is shown.
    shown: Vec<u16>,
    /// For each column of the grid: whether its text runs from right to left.
    is_rtl: Vec<bool>,
}

/// A character of a row, with the columns of its cells.
struct Unit {
    base: char,
    columns: Range<u16>,
}

impl ColumnOrder {
    /// The display order of a row's columns. `None` if the row is shown in the order of the grid, because it contains
    /// no right-to-left text or because it contains multicell characters.
    pub fn of(row: &SnapshotRow) -> Option<Self> {
        if !has_rtl(row) || !row.multicells.is_empty() {
            return None;
        }
        let units = units(row);
        let count = row.cells.len() as u16;
        let mut order = Self {
            columns: (0..count).collect(),
            shown: (0..count).collect(),
            is_rtl: vec![false; row.cells.len()],
        };
        for field in units.split(|unit| unit.base == SEPARATOR) {
            order.arrange(field);
        }
        for (shown, column) in (0..).zip(&order.columns) {
            order.shown[usize::from(*column)] = shown;
        }
        Some(order)
    }

    /// Orders the characters of one field.
    fn arrange(&mut self, field: &[Unit]) {
        let Some(first) = field.first().filter(|_| field.iter().any(|unit| is_rtl(unit.base)))
        else {
            return;
        };
        let text: String = field.iter().map(|unit| unit.base).collect();
        let info = ParagraphBidiInfo::new(&text, Some(Level::ltr()));
        let levels = info.reordered_levels_per_char(0..text.len());
        let mut next = first.columns.start;
        for unit in ParagraphBidiInfo::reorder_visual(&levels) {
            for column in field[unit].columns.clone() {
                self.columns[usize::from(next)] = column;
                self.is_rtl[usize::from(column)] = levels[unit].is_rtl();
                next += 1;
            }
        }
    }

    /// The column of the grid that is shown in column `shown`.
    pub fn column(&self, shown: u16) -> u16 {
        self.columns.get(usize::from(shown)).copied().unwrap_or(shown)
    }

    /// The column in which a column of the grid is shown.
    pub fn shown(&self, column: u16) -> u16 {
        self.shown.get(usize::from(column)).copied().unwrap_or(column)
    }

    /// Whether the text in a column of the grid runs from right to left.
    pub fn is_rtl(&self, column: u16) -> bool {
        self.is_rtl.get(usize::from(column)).is_some_and(|is| *is)
    }

    /// The columns in which a range of columns of the grid is shown, from left to right.
    pub fn shown_ranges(&self, columns: Range<u16>) -> Vec<Range<u16>> {
        let mut all: Vec<u16> = columns.map(|column| self.shown(column)).collect();
        all.sort_unstable();
        let mut ranges: Vec<Range<u16>> = Vec::new();
        for column in all {
            match ranges.last_mut() {
                Some(last) if last.end == column => last.end += 1,
                _ => ranges.push(column..column + 1),
            }
        }
        ranges
    }

    /// The row with its cells in display order, with mirrored brackets and joined letters.
    pub(crate) fn apply(&self, row: &SnapshotRow) -> SnapshotRow {
        let texts = self.joined(row);
        let mut out = row.clone();
        (out.styles, out.clusters) = (Vec::new(), Vec::new());
        let mut run = 0;
        for (shown, &column) in (0u16..).zip(&self.columns) {
            let at = usize::from(shown);
            out.cells[at] = row.cells[usize::from(column)];
            if let Some(text) = &texts[usize::from(column)] {
                let content =
                    if text.text.is_some() { Content::Cluster(0) } else { Content::Empty };
                out.cells[at] = out.cells[at].with_content(content, text.width);
                out.clusters.extend(text.text.clone().map(|text| (shown, text)));
            } else if let Content::Char(c) = out.cells[at].content()
                && self.is_rtl(column)
                && let Some(mirrored) = mirrored(c)
            {
                let width = out.cells[at].width();
                out.cells[at] = out.cells[at].with_content(Content::Char(mirrored), width);
            } else if let Ok(i) = row.clusters.binary_search_by_key(&column, |(col, _)| *col) {
                out.clusters.push((shown, row.clusters[i].1.clone()));
            }
            // Adjacent cells mostly belong to the same style run, so the search begins at the last run found.
            let is_in = |run: &StyleRun| (run.start..run.end).contains(&column);
            if !row.styles.get(run).is_some_and(is_in) {
                run = row.styles.iter().position(is_in).unwrap_or(run);
            }
            let Some(style) = row.styles.get(run) else { continue };
            match out.styles.last_mut() {
                Some(last) if last.style == style.style && last.link == style.link => last.end += 1,
                _ => out.styles.push(StyleRun { start: shown, end: shown + 1, ..style.clone() }),
            }
        }
        out
    }

    /// For each column of the grid: the text to show if its letter joins a neighbor.
    fn joined(&self, row: &SnapshotRow) -> Vec<Option<Joined>> {
        let mut texts = vec![None; row.cells.len()];
        let units = units(row);
        // Whether the letter at an index of `units` joins the one after it.
        let joins = |at: usize| {
            let Some([first, second]) = units.get(at..at + 2) else { return false };
            self.is_rtl(first.columns.start)
                && self.is_rtl(second.columns.start)
                && joins_next(&text_of(row, first))
                && joins_last(second.base)
        };
        let mut at = 0;
        while let Some(unit) = units.get(at) {
            let (before, after) = (at > 0 && joins(at - 1), joins(at));
            let column = usize::from(unit.columns.start);
            if before || after {
                let mut text = String::new();
                text.extend(before.then_some(JOINER));
                text += &text_of(row, unit);
                let next = units.get(at + 1).filter(|next| {
                    after && unit.base == LAM && ALEFS.contains(&next.base) && is_plain(row, next)
                });
                if let Some(next) = next {
                    // LAM and ALEF together form one glyph (a ligature). It is shown in the columns of both letters,
                    // from the left one on.
                    text.push(next.base);
                    let second = usize::from(next.columns.start);
                    texts[second] = Some(Joined { text: Some(text.into()), width: Width::Wide });
                    texts[column] = Some(Joined { text: None, width: Width::Tail });
                    at += 2;
                    continue;
                }
                text.extend(after.then_some(JOINER));
                texts[column] =
                    Some(Joined { text: Some(text.into()), width: row.cells[column].width() });
            }
            at += 1;
        }
        texts
    }
}

/// The text of a cell whose letter joins a neighbor. The text is `None` in a cell that is covered by the cell beside
/// it.
#[derive(Clone)]
struct Joined {
    text: Option<Arc<str>>,
    width: Width,
}

/// Replaces characters that divide a row into fields, such as `|`.
const SEPARATOR: char = '\u{2029}';
/// Replaces characters that control text direction, because programs must not reorder the text around them invisibly.
const CONTROL: char = '\u{fffc}';
const LAM: char = '\u{644}';
const ALEFS: [char; 4] = ['\u{622}', '\u{623}', '\u{625}', '\u{627}'];

/// Whether a row contains right-to-left text.
fn has_rtl(row: &SnapshotRow) -> bool {
    let is = |text: &str| text.chars().next().is_some_and(is_rtl);
    // Most rows contain no right-to-left text. Checking every cell without a branch is several times faster than
    // stopping at the first match.
    let may_be = row.cells.iter().fold(false, |may_be, cell| may_be | may_be_rtl(cell.code()));
    may_be && row.cells.iter().any(|cell| matches!(cell.content(), Content::Char(c) if is_rtl(c)))
        || row.clusters.iter().any(|(_, text)| is(text))
}

/// A quick test before [`is_rtl`]: false only if the code point is not right-to-left. Also true for some other code
/// points, such as cuneiform.
fn may_be_rtl(code: u32) -> bool {
    let is_in = |code: u32, first: u32, last: u32| code.wrapping_sub(first) <= last - first;
    is_in(code, 0x590, 0x8ff)
        | is_in(code, 0xfb1d, 0xfeff)
        | is_in(code & !0xe000, 0x10800, 0x10fff)
}

/// Whether a character is in a block of right-to-left scripts (Unicode's `DerivedBidiClass.txt`).
fn is_rtl(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// The characters of a row. Characters that divide fields are replaced by [`SEPARATOR`].
fn units(row: &SnapshotRow) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::with_capacity(row.cells.len());
    for (column, cell) in (0u16..).zip(&row.cells) {
        let base = match cell.content() {
            Content::Empty => ' ',
            Content::Char(c) => c,
            Content::Cluster(_) => {
                row.cluster(column).and_then(|text| text.chars().next()).unwrap_or(' ')
            }
        };
        let base = match base {
            '\u{2500}'..='\u{259f}' | '|' => SEPARATOR,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{85}' | '\u{2029}' => CONTROL,
            c if c.is_control() => CONTROL,
            base => base,
        };
        match units.last_mut() {
            Some(last) if cell.width() == Width::Tail && !cell.is_multicell() => {
                last.columns.end = column + 1;
            }
            Some(last) if base == ' ' && matches!(last.base, ' ' | SEPARATOR) => {
                last.base = SEPARATOR;
                units.push(Unit { base: SEPARATOR, columns: column..column + 1 });
            }
            _ => units.push(Unit { base, columns: column..column + 1 }),
        }
    }
    units
}

fn text_of(row: &SnapshotRow, unit: &Unit) -> String {
    let text = row.cluster(unit.columns.start);
    text.map_or_else(|| unit.base.to_string(), str::to_owned)
}

/// Whether a character has no combining marks.
fn is_plain(row: &SnapshotRow, unit: &Unit) -> bool {
    row.cluster(unit.columns.start).is_none()
}

/// The mirror image of a bracket or sign.
fn mirrored(c: char) -> Option<char> {
    CodePointMapData::<BidiMirroringGlyph>::new().get(c).mirroring_glyph
}

fn joining_type(c: char) -> JoiningType {
    CodePointMapData::<JoiningType>::new().get(c)
}

/// Whether a letter joins the letter after it.
fn joins_next(text: &str) -> bool {
    let type_of_base = text.chars().next().map(joining_type);
    let can = matches!(
        type_of_base,
        Some(JoiningType::DualJoining | JoiningType::LeftJoining | JoiningType::JoinCausing)
    );
    can && !text.ends_with(NON_JOINER)
}

/// Whether a letter joins the letter before it.
fn joins_last(base: char) -> bool {
    matches!(
        joining_type(base),
        JoiningType::DualJoining | JoiningType::RightJoining | JoiningType::JoinCausing
    )
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Snapshot, Term};

    use super::*;

    /// The first row of a terminal of 40 columns that shows a text.
    fn row(text: &str) -> SnapshotRow {
        let mut term = Term::new(Size::cells(40, 2), Options::default());
        Parser::new().advance(&mut term, text.as_bytes());
        let mut snapshot = Snapshot::default();
        term.snapshot(&mut snapshot, None);
        snapshot.rows.swap_remove(0)
    }

    /// The text of a row as it is shown, with ZERO WIDTH JOINERs as `-`.
    fn shown(text: &str) -> String {
        let row = row(text);
        let row = ColumnOrder::of(&row).map_or(row.clone(), |order| order.apply(&row));
        let mut shown = String::new();
        for (column, cell) in (0..).zip(&row.cells) {
            match cell.content() {
                Content::Char(c) => shown.push(c),
                Content::Cluster(_) => shown += row.cluster(column).unwrap_or("?"),
                Content::Empty if cell.width() == Width::Tail => {}
                Content::Empty => shown.push(' '),
            }
        }
        shown.trim_end().replace(JOINER, "-")
    }

    #[test]
    fn hebrew_is_shown_from_right_to_left() {
        assert_eq!(shown("abc"), "abc");
        assert_eq!(shown("\u{5d0}\u{5d1}\u{5d2}"), "\u{5d2}\u{5d1}\u{5d0}");
        assert_eq!(shown("say \u{5d0}\u{5d1} 12 \u{5d2}."), "say \u{5d2} 12 \u{5d1}\u{5d0}.");
        // A mark stays with its letter.
        assert_eq!(shown("\u{5d0}\u{5b8}\u{5d1}"), "\u{5d1}\u{5d0}\u{5b8}");
        // A wide character between two Hebrew letters keeps its halves in order.
        assert_eq!(shown("\u{5d0}\u{1f600}\u{5d1}"), "\u{5d1}\u{1f600}\u{5d0}");
    }

    #[test]
    fn no_right_to_left_character_is_overlooked() {
        assert!(('\0'..=char::MAX).all(|c| !is_rtl(c) || may_be_rtl(c.into())));
        assert!(!may_be_rtl('│'.into()) && !may_be_rtl('世'.into()) && !may_be_rtl('😀'.into()));
    }

    #[test]
    fn brackets_are_mirrored() {
        assert_eq!(shown("\u{5d0}(\u{5d1})\u{5d2}"), "\u{5d2}(\u{5d1})\u{5d0}");
        assert_eq!(shown("\u{5d0}<\u{5d1}"), "\u{5d1}>\u{5d0}");
    }

    #[test]
    fn borders_and_blanks_divide_fields() {
        let hebrew = "\u{2502}\u{5d0}\u{5d1} \u{2502} \u{5d2}\u{5d3}\u{2502}";
        assert_eq!(shown(hebrew), "\u{2502}\u{5d1}\u{5d0} \u{2502} \u{5d3}\u{5d2}\u{2502}");
        assert_eq!(shown("\u{5d0}\u{5d1} | 456 | \u{5d2}"), "\u{5d1}\u{5d0} | 456 | \u{5d2}");
        assert_eq!(shown("\u{5d0}\u{5d1}  \u{5d2}\u{5d3}"), "\u{5d1}\u{5d0}  \u{5d3}\u{5d2}");
        assert_eq!(shown("\u{5d0}\u{5d1} \u{5d2}\u{5d3}"), "\u{5d3}\u{5d2} \u{5d1}\u{5d0}");
    }

    #[test]
    fn arabic_letters_join_their_neighbors() {
        // BEH, TEH, ALEF, BEH: ALEF joins only the letter before it.
        assert_eq!(shown("\u{628}\u{62a}\u{627}\u{628}"), "\u{628}-\u{627}-\u{62a}-\u{628}-");
        // ZERO WIDTH NON-JOINER prevents the letters beside it from joining.
        assert_eq!(shown("\u{628}\u{200c}\u{628}"), "\u{628}\u{628}\u{200c}");
        // LAM and ALEF together form one glyph.
        assert_eq!(shown("\u{644}\u{627}"), "\u{644}\u{627}");
        assert_eq!(shown("\u{628}\u{644}\u{627}"), "-\u{644}\u{627}\u{628}-");
    }

    #[test]
    fn output_cannot_change_the_direction_of_other_text() {
        // RIGHT-TO-LEFT OVERRIDE
        let text = "\u{5d0} a\u{202e}bc";
        assert_eq!(shown(text), text);
    }

    #[test]
    fn columns_map_in_both_directions() {
        let row = row("ab \u{5d0}\u{5d1}\u{5d2} cd");
        let order = ColumnOrder::of(&row).unwrap();
        assert_eq!((order.shown(3), order.shown(5), order.shown(7)), (5, 3, 7));
        assert!((0..40).all(|column| order.column(order.shown(column)) == column));
        assert!(order.is_rtl(4) && !order.is_rtl(2));
        assert_eq!(order.shown_ranges(1..5), [1..3, 4..6]);
        assert_eq!(order.shown_ranges(0..40).len(), 1);
    }
}

//! Layout in a pane: rows of commands, their marks and buttons, the sticky header and the notes in place of folded
//! lines.

use unterm_renderer::{Highlight, PixelRect};

use crate::window::{
    ui::geometry::Geometry,
    workspace::{
        blocks::{Block, Header},
        view::View,
    },
};

/// An action of the mouse on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    CopyOutput,
    CopyCommand,
    Rerun,
    Fold,
}

pub(crate) const PARTS: [(Part, &str); 4] = [
    (Part::CopyOutput, "Copy output"),
    (Part::CopyCommand, "Copy command"),
    (Part::Rerun, "Rerun"),
    (Part::Fold, "Unfold"),
];

/// The layout of a command's row, mark and buttons, all inside the pane.
pub(crate) struct Place {
    pub(crate) mark: PixelRect,
    pub(crate) row: PixelRect,
    pub(crate) bar: PixelRect,
    /// The first of [`PARTS`], as many as fit.
    pub(crate) parts: Vec<(Part, PixelRect)>,
}

impl Place {
    /// The layout for the command in row `index` of a pane.
    pub(crate) fn new(view: &View, index: usize, area: PixelRect, geometry: &Geometry) -> Self {
        let height = geometry.cell.height;
        let origin = geometry.inside(area);
        let y = origin.1 + (index as u32 * height) as i32 - view.shift as i32;
        let row = PixelRect { y, height, ..area }.intersection(&area);
        let mark = dot(PixelRect { y, height, ..area }, geometry).intersection(&area);
        let padding = geometry.px(8.0);
        let tall = geometry.ui_line() + geometry.px(4.0);
        // Leaves room for the mark, a gap and the scrollbar.
        let room = if tall <= area.height { area.width.saturating_sub(3 * padding) } else { 0 };
        let mut all = 0;
        let mut parts = Vec::new();
        for (part, text) in PARTS {
            let width = geometry.ui_width(text) + 2 * padding;
            if all + width > room {
                break;
            }
            parts.push((part, PixelRect { x: all as i32, width, ..PixelRect::default() }));
            all += width;
        }
        let lowest = area.y + area.height.saturating_sub(tall) as i32;
        // Over the line above the command, so that the command stays readable; in the top row, below it.
        let above = y - tall as i32;
        let bar = PixelRect {
            x: area.x + padding as i32,
            y: if above >= area.y { above } else { y + height as i32 }.clamp(area.y, lowest),
            width: all,
            height: tall,
        };
        for (_, rect) in &mut parts {
            *rect = PixelRect { x: bar.x + rect.x, width: rect.width, ..bar };
        }
        Self { mark, row, bar, parts }
    }

    /// Where the pointer hits the mark: the padding beside the row.
    pub(crate) fn edge(&self, geometry: &Geometry) -> PixelRect {
        PixelRect { width: geometry.px(8.0), ..self.row }
    }
}

/// A command's mark: a dot in the padding, unlike a cursor and clear of text. Empty if the padding is too small.
pub(crate) fn dot(row: PixelRect, geometry: &Geometry) -> PixelRect {
    let padding = geometry.px(geometry.padding.min(8.0));
    let side = geometry.px(4.0);
    if padding < side + 2 || row.height < side {
        return PixelRect::default();
    }
    PixelRect {
        x: row.x + ((padding - side) / 2) as i32,
        y: row.y + ((row.height - side) / 2) as i32,
        width: side,
        height: side,
    }
}

impl View {
    /// The visible commands, each with its row.
    pub(crate) fn blocks_in_rows(&self) -> impl Iterator<Item = (usize, &Block)> {
        let rows = &self.snapshot.rows;
        self.blocks.list.iter().filter_map(|block| {
            let row = rows.iter().position(|row| row.line == block.line)?;
            Some((row, block))
        })
    }

    /// The notes about folded lines: each behind the text of the row above the fold, with the number of lines.
    pub(crate) fn folded_marks(
        &self,
        area: PixelRect,
        geometry: &Geometry,
    ) -> Vec<(PixelRect, u64)> {
        let rows = &self.snapshot.rows;
        let hidden = self.folds.hidden().iter().filter(|_| !self.is_alternate());
        let marks = hidden.filter_map(|hidden| {
            let row = rows.partition_point(|row| row.line < hidden.first).checked_sub(1)?;
            if rows[row].line.0 + 1 != hidden.first.0 {
                return None;
            }
            let blank = unterm_term::Cell::default().content();
            let end = rows[row].cells.iter().rposition(|cell| cell.content() != blank);
            let col = end.map_or(0, |end| end as u32 + 1) + 2;
            let origin = geometry.inside(area);
            let (cell, text) = (geometry.cell, folded(hidden.count()));
            let width = geometry.ui_width(&text) + geometry.px(12.0);
            let most = area.width.saturating_sub(width + geometry.px(16.0));
            let rect = PixelRect {
                x: (origin.0 + (col * cell.width) as i32).min(area.x + most as i32),
                y: origin.1 + (row as u32 * cell.height) as i32 - self.shift as i32,
                width,
                height: cell.height,
            };
            // A note that does not fit is left out.
            area.contains(&rect).then(|| (rect, hidden.count()))
        });
        marks.collect()
    }

    /// The sticky header and its rectangle. It hides if it would cover the cursor, or the start of a selection or a
    /// match.
    pub(crate) fn kept_header(
        &self,
        area: PixelRect,
        geometry: &Geometry,
        matches: &[Highlight],
    ) -> Option<(&Header, PixelRect)> {
        let header = self.blocks.header.as_ref()?;
        let rect = header_rect(area, geometry);
        let foot = rect.y + rect.height as i32 + self.shift as i32 - geometry.inside(area).1;
        let rows = (foot.max(0) as u32).div_ceil(geometry.cell.height.max(1)) as usize;
        let rows = &self.snapshot.rows[..rows.min(self.snapshot.rows.len())];
        let holds = |line| rows.iter().any(|row| row.line == line);
        let cursor = self.snapshot.cursor;
        let selected = self.selection.and_then(|selection| selection.range);
        let starts = matches.iter().map(|one| one.range).chain(selected);
        let makes_way = cursor.visible && usize::from(cursor.row) < rows.len()
            || starts.into_iter().any(|range| holds(range.start.line));
        (!makes_way).then_some((header, rect))
    }
}

/// The note in place of folded lines.
pub(crate) fn folded(count: u64) -> String {
    format!("⋯ {count} {}", if count == 1 { "line" } else { "lines" })
}

/// Where the sticky header lies in a pane: over whole rows, so that no row below it is cut.
fn header_rect(area: PixelRect, geometry: &Geometry) -> PixelRect {
    let wanted = geometry.ui_line() + geometry.px(8.0);
    let above = (geometry.inside(area).1 - area.y).max(0) as u32;
    let cell = geometry.cell.height.max(1);
    let rows = wanted.saturating_sub(above).div_ceil(cell).max(1);
    PixelRect { height: (above + rows * cell).min(area.height), ..area }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_shows_stays_in_its_pane() {
        let geometry = Geometry::TEST;
        let mut view = View::default();
        for width in (0..500).chain([2000]) {
            let area = PixelRect { x: 300, y: 50, width, height: 8 + 3 * 19 };
            for shift in 0..19 {
                view.shift = shift;
                for row in 0..4 {
                    let place = Place::new(&view, row, area, &geometry);
                    let shown = [place.mark, place.row, place.bar];
                    let parts = place.parts.iter().map(|(_, rect)| *rect);
                    for rect in shown.into_iter().chain(parts).filter(|rect| !rect.is_empty()) {
                        assert!(area.contains(&rect), "{rect:?} in {area:?}");
                    }
                }
            }
        }
        let shown = |width, height| {
            let area = PixelRect { x: 0, y: 0, width, height };
            Place::new(&View::default(), 0, area, &geometry).parts.len()
        };
        assert_eq!(shown(800, 400), PARTS.len());
        assert_eq!(shown(200, 400), 1, "the first, where there is room for no more");
        assert_eq!(shown(60, 400), 0);
        assert_eq!(shown(800, 10), 0);
    }
}

//! The window's state of each pane: a snapshot, scroll position and selection.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustc_hash::FxHashMap;
use unterm_control::Driver;
use unterm_mux::{Pane, PaneId};
use unterm_renderer::{ColumnOrder, PixelRect};
use unterm_term::{
    CursorShape, LineId, LineSize, Link, Modes, Point, Rgb, ScreenKind, Size, Snapshot, TextRange,
    Width,
};

use crate::window::{
    ui::geometry::Geometry,
    workspace::{
        blocks::Blocks,
        copy_mode::CopyMode,
        folds::Folds,
        prompts::Prompts,
        selection::{Edge, Selection, Spot},
        surroundings::Surroundings,
        title::{self, PaneNames, PaneTitle},
        work::{LastCommand, Work},
    },
};

/// For this time after a start, a resize or a change of colors, output of a pane counts as a repaint of the program.
const REPAINTING: Duration = Duration::from_millis(500);

/// The views of all panes. The map has a fast hash function, because each key press looks up several views.
pub(crate) type Views = FxHashMap<PaneId, View>;

#[derive(Default)]
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    /// Whether right-to-left text is shown in its own direction.
    pub(crate) reorders: bool,
    /// The first visible line; `None` for the live screen.
    pub(crate) top: Option<LineId>,
    /// The number of pixels by which the first line is scrolled out of view; 0 on the live screen.
    pub(crate) shift: u32,
    pub(crate) prompts: Prompts,
    pub(crate) selection: Option<Selection>,
    /// The state of copy mode, while copy mode is on. Copy mode pins the view and owns the selection.
    pub(crate) copy: Option<CopyMode>,
    /// The commands whose output is hidden.
    pub(crate) folds: Folds,
    /// The visible commands.
    pub(crate) blocks: Blocks,
    pub(crate) hovered_link: Option<Link>,
    pub(crate) pastes: Pastes,
    pub(crate) sizes: Sizes,
    /// The last time when the window made the pane's programs repaint: at their start, by a resize, or by new colors.
    pub(crate) repainted: Option<Instant>,
    pub(crate) signals: Signals,
    names: ViewNames,
}

/// Sizes of the pane that need no further handling.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// The size that the window last set for the pane.
    pub(crate) given: Option<Size>,
    /// The size after whose reflow the scroll position and the selection were last adjusted.
    followed: Option<Size>,
}

/// Pastes that were requested and have not yet been sent to the pane.
#[derive(Debug, Default)]
pub(crate) struct Pastes {
    /// The number of pastes whose text has not yet been received from the clipboard.
    pub(crate) due: usize,
    /// Input that the user typed after requesting these pastes.
    pub(crate) typed_behind: Vec<u8>,
}

/// The state of the pane that its tab and its badges show.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    pub(crate) unseen: bool,
    /// The time when the pane's bell last rang. `None` as soon as the user has seen the pane's tab.
    pub(crate) bell: Option<Instant>,
    /// The progress or status that the pane's programs report.
    pub(crate) work: Option<Work>,
    /// The newest message about the work; empty if there is none.
    pub(crate) message: String,
    /// The last command, if none is running.
    pub(crate) last_command: Option<LastCommand>,
    pub(crate) surroundings: Surroundings,
    /// Whether the user has seen the pane since its programs last reported something.
    pub(crate) looked: bool,
    /// The color that the pane's programs set for their tab.
    pub(crate) tab_color: Option<Rgb>,
    /// The client that drives the pane, as of the last whole frame.
    pub(crate) driver: Option<Driver>,
    /// The time when the bell started a visual flash.
    pub(crate) flash: Option<Instant>,
    /// Whether copy mode has ended because the program switched screens. The pane ignores keys until the user leaves
    /// this state, because the user pressed these keys for copy mode, not for the program.
    pub(crate) has_lost_copy_mode: bool,
}

/// The names of the pane, its program, its directory and its project.
#[derive(Debug, Default, PartialEq, Eq)]
struct ViewNames {
    /// Empty until the names are read.
    pane: PaneNames,
    cwd: Option<PathBuf>,
    project: Option<PathBuf>,
    are_known: bool,
}

impl Signals {
    /// Sets the work that the programs report, and the newest message about it.
    pub(crate) fn set_work(&mut self, reported: Option<(Work, String)>) {
        let (work, message) = reported.unzip();
        (self.work, self.message) = (work, message.unwrap_or_default());
    }
}

impl View {
    /// Takes a new snapshot, unless the program delays the frame (synchronized output, mode 2026).
    ///
    /// `clock` is the time for animated images. If it is `None`, images do not move. Returns the time on this clock at
    /// which a visible image next changes.
    pub(crate) fn refresh(&mut self, pane: &Pane, clock: Option<Duration>) -> Option<Duration> {
        let before = (self.snapshot.screen, self.snapshot.size);
        let copied;
        {
            let mut term = pane.term();
            let held = term.modes().contains(Modes::SYNCHRONIZED);
            if held && self.snapshot.seq != 0 && term.size() == self.snapshot.size {
                return None;
            }
            if let Some(clock) = clock {
                term.advance_animations(clock);
            }
            // If the first line is only partly visible, a part of one more line is visible at the bottom.
            let more = usize::from(self.shift > 0);
            if self.folds.is_empty() {
                term.snapshot_more(&mut self.snapshot, self.top, more);
            } else if self.folds.snapshot(&term, &mut self.snapshot, self.top, more)
                && self.copy.is_none()
            {
                self.top = None;
            }
            if let Some(copy) = self.copy.as_mut().filter(|_| self.snapshot.screen == before.0) {
                copy.show(&mut self.snapshot);
            } else if self.copy.take().is_some() {
                self.signals.has_lost_copy_mode = true;
                self.top = None;
                term.snapshot(&mut self.snapshot, None);
            }
            copied = self.copy.as_ref().map(|copy| copy.selection(&term));
            let is_scrolled = self.top.is_some_and(|top| top < self.snapshot.live_top);
            self.blocks.read(&term, &self.snapshot, is_scrolled);
        }
        if self.copy.is_none() && self.top.is_some_and(|top| top >= self.snapshot.live_top) {
            self.top = None;
        }
        if self.top.is_none() {
            self.shift = 0;
        }
        let (screen, size) = (self.snapshot.screen, self.snapshot.size);
        let reflowed = before.1 != size && self.sizes.followed.take() != Some(size);
        let moved = before.0 != screen || reflowed;
        if self.selection.is_some_and(|selection| moved || self.overwrites(&selection)) {
            self.selection = None;
        }
        if let Some(copied) = copied {
            self.selection = copied;
        }
        clock.and(self.snapshot.images.iter().filter_map(|image| image.next_frame).min())
    }

    /// Starts copy mode. Pins the view at its first row.
    pub(crate) fn begin_copy_mode(&mut self, mode: CopyMode, top: LineId) {
        self.top = self.top.or(Some(top));
        self.copy = Some(mode);
        self.signals.has_lost_copy_mode = false;
    }

    /// Whether copy mode receives the keys of the pane.
    pub(crate) fn is_copying(&self) -> bool {
        self.copy.is_some() || self.signals.has_lost_copy_mode
    }

    /// Leaves copy mode without scrolling. Returns false if copy mode was off.
    pub(crate) fn end_copy_mode(&mut self) -> bool {
        let was_lost = std::mem::take(&mut self.signals.has_lost_copy_mode);
        if self.copy.take().is_none() && !was_lost {
            return false;
        }
        self.copy_anew();
        true
    }

    /// Moves the cursor of copy mode, and scrolls it into view.
    pub(crate) fn put_copy_cursor(&mut self, to: Point) {
        if let Some(copy) = &mut self.copy {
            copy.put(to);
            self.follow(to.line);
        }
    }

    /// The first and the last line that the next frame shows. The lines may include folded lines between the two.
    pub(crate) fn rows_in_sight(&self) -> (LineId, LineId) {
        let (rows, height) = (&self.snapshot.rows, usize::from(self.snapshot.size.rows).max(1));
        let shown = rows.first().map_or(LineId(0), |row| row.line);
        let first = self.top.unwrap_or(shown);
        // If the snapshot was taken at another scroll position, it does not contain the last visible line.
        let last = rows.get(height - 1).filter(|_| first == shown && self.snapshot.seq != 0);
        (first, last.map_or(LineId(first.0 + height as u64 - 1), |row| row.line))
    }

    /// Scrolls as little as possible to show a line. If the distance is a screen or more, puts the line at a third of
    /// the height.
    pub(crate) fn follow(&mut self, line: LineId) {
        self.change_folds(|folds| folds.reveal(line));
        self.shift = 0;
        let (first, last) = self.rows_in_sight();
        let height = (last.0 - first.0 + 1) as i64;
        let by = match line {
            line if line < first => line.0 as i64 - first.0 as i64,
            line if line > last => line.0 as i64 - last.0 as i64,
            _ => return,
        };
        if by.abs() < height {
            self.scroll(by);
        } else {
            self.scroll(line.0 as i64 - first.0 as i64 - height / 3);
        }
    }

    /// Resizes the pane. Scroll position and selection move with their text. A block selection is cleared.
    pub(crate) fn resize(&mut self, pane: &Pane, size: Size) {
        let range = self.selection.and_then(|selection| selection.range);
        let range = range.filter(|range| !range.block);
        let mut points = [
            self.top.map(|line| Point { line, col: 0 }),
            range.map(|range| range.start),
            range.map(|range| range.end),
            self.copy.as_ref().map(|copy| copy.cursor),
            self.copy.as_ref().and_then(|copy| copy.anchor),
        ];
        let seq = pane.resize_following(size, &mut points);
        let [top, start, end, cursor, anchor] = points;
        if let Some(copy) = &mut self.copy {
            copy.cursor = cursor.unwrap_or(copy.cursor);
            copy.anchor = anchor;
        }
        self.top = top.map(|point| point.line);
        self.selection = match (self.selection, start, end) {
            (Some(selection), Some(start), Some(end)) => Some(selection.moved_to(start, end, seq)),
            _ => None,
        };
        self.sizes.followed = Some(size);
    }

    /// Sets the shape and the blinking of the cursor, if the program set no shape.
    pub(crate) fn shape_cursor(&mut self, (shape, blinking): (CursorShape, bool)) {
        let cursor = &mut self.snapshot.cursor;
        if cursor.shape == CursorShape::Default {
            cursor.shape = shape;
            cursor.blinking |= blinking;
        }
    }

    /// Whether output of this hidden pane needs no mark. Either the pane is already marked, or the window caused the
    /// output by a resize or new colors.
    pub(crate) fn is_marked(&self, now: Instant) -> bool {
        let is_repaint = |at| now.saturating_duration_since(at) < REPAINTING;
        self.signals.unseen || self.repainted.is_some_and(is_repaint)
    }

    pub(crate) fn copy_anew(&mut self) {
        self.snapshot.seq = 0;
    }

    /// Whether a visible selected row has changed since it was selected.
    fn overwrites(&self, selection: &Selection) -> bool {
        self.snapshot
            .rows
            .iter()
            .any(|row| row.revision > selection.seq && selection.covers(row.line))
    }

    /// Scrolls by a number of lines. Negative values scroll to older lines.
    pub(crate) fn scroll(&mut self, lines: i64) {
        let Some(row) = self.snapshot.rows.first() else { return };
        self.shift = 0;
        let top = self.top.unwrap_or(row.line).0 as i64 + lines;
        let top = LineId(top.max(self.snapshot.oldest.0 as i64) as u64);
        self.hold(self.folds.outside(top, lines < 0));
    }

    /// Changes the folds; the next frame shows the change. Returns whether any fold changed.
    pub(crate) fn change_folds(&mut self, change: impl FnOnce(&mut Folds) -> bool) -> bool {
        let changed = change(&mut self.folds);
        if changed {
            self.copy_anew();
            self.blocks.forget();
        }
        changed
    }

    /// Pins the view at a line. If the line is at the live screen, the view follows the live screen, except in copy
    /// mode.
    fn hold(&mut self, top: LineId) {
        let live = self.snapshot.live_top;
        self.top = (top < live || self.copy.is_some()).then_some(top.min(live));
    }

    /// Whether the view is pinned, so that it does not follow the live screen.
    pub(crate) fn is_scrolled(&self) -> bool {
        self.top.is_some()
    }

    pub(crate) fn last_line(&self) -> LineId {
        self.snapshot.rows.last().map_or(LineId(u64::MAX), |row| row.line)
    }

    /// Whether something is selected. The selection may contain no text.
    pub(crate) fn has_selection(&self) -> bool {
        self.selection.is_some_and(|selection| selection.range.is_some())
    }

    /// Returns to the live screen. Returns true if the view was pinned.
    pub(crate) fn scroll_to_live(&mut self) -> bool {
        self.top.take().is_some()
    }

    /// If a line is not visible, scrolls until the line is at a third of the height.
    pub(crate) fn reveal(&mut self, line: LineId) {
        self.change_folds(|folds| folds.reveal(line));
        let (Some(first), Some(last)) = (self.snapshot.rows.first(), self.snapshot.rows.last())
        else {
            return;
        };
        if (first.line..=last.line).contains(&line) {
            return;
        }
        let third = self.snapshot.rows.len() as u64 / 3;
        let top = LineId(line.0.saturating_sub(third).max(self.snapshot.oldest.0));
        self.hold(top);
    }

    /// Scrolls until a line is at the top, or until the live screen is reached.
    pub(crate) fn show_at_top(&mut self, line: LineId) {
        self.shift = 0;
        self.hold(line.max(self.snapshot.oldest));
    }

    pub(crate) fn scroll_to_oldest(&mut self) {
        self.scroll(-(self.snapshot.live_top.0 as i64));
    }

    pub(crate) fn is_alternate(&self) -> bool {
        self.snapshot.screen == ScreenKind::Alternate
    }

    /// The cell and the edge of a cell at a position, in pixels from the grid's first cell. For a position outside the
    /// grid, the nearest cell.
    pub(crate) fn spot(&self, x: f64, y: f64, cell: (u32, u32)) -> Option<Spot> {
        let cols = self.snapshot.size.cols;
        let last_row = self.snapshot.rows.len().checked_sub(1)?;
        let row = ((y / f64::from(cell.1)).floor().max(0.0) as usize).min(last_row);
        let line = self.snapshot.rows[row].line;
        let columns = x / self.column_width(row, cell);
        let shown = (columns.floor().max(0.0) as u16).min(cols.saturating_sub(1));
        let order = self.order(row);
        let order = order.as_ref();
        let col = order.map_or(shown, |order| order.column(shown));
        // A wide or multicell character can only be selected as a whole. Its nearer edge depends on the side of its
        // middle on which the position is.
        let row = &self.snapshot.rows[row];
        let width = row.cells.get(usize::from(col)).map(|cell| cell.width());
        let block = match (row.multicell(col), width) {
            (Some(part), _) => part.columns(),
            (None, Some(Width::Wide)) => col..col + 2,
            (None, Some(Width::Tail)) => col.saturating_sub(1)..col + 1,
            _ => col..col + 1,
        };
        let left = order.map_or(block.start, |order| order.shown(block.start));
        let is_right = columns >= f64::from(left) + f64::from(block.end - block.start) / 2.0;
        let is_rtl = order.is_some_and(|order| order.is_rtl(col));
        let boundary = if is_right != is_rtl { block.end } else { block.start }.min(cols);
        Some(Spot { cell: Point { line, col }, edge: Edge { line, boundary } })
    }

    /// The order in which the columns of a visible row are shown. `None` if the row is shown in the order of the grid.
    pub(crate) fn order(&self, row: usize) -> Option<ColumnOrder> {
        ColumnOrder::of(self.snapshot.rows.get(row).filter(|_| self.reorders)?)
    }

    /// The grid column that a visible row shows at the screen column `shown`.
    pub(crate) fn column(&self, row: usize, shown: u16) -> u16 {
        self.order(row).map_or(shown, |order| order.column(shown))
    }

    /// The screen column at which a visible row shows the grid column `column`.
    pub(crate) fn shown_column(&self, row: usize, column: u16) -> u16 {
        self.order(row).map_or(column, |order| order.shown(column))
    }

    /// The width of a row's columns in pixels. In double-width rows, columns are twice as wide.
    pub(crate) fn column_width(&self, row: usize, cell: (u32, u32)) -> f64 {
        let size = self.snapshot.rows.get(row).map_or(LineSize::Single, |row| row.size);
        f64::from(if size == LineSize::Single { cell.0 } else { 2 * cell.0 })
    }

    /// The rectangles of the visible cells of a range. Adjacent cells of a row share a rectangle. `origin` is the
    /// position of the grid.
    pub(crate) fn cells_of(
        &self,
        range: &TextRange,
        origin: (i32, i32),
        geometry: &Geometry,
    ) -> Vec<PixelRect> {
        let (width, height) = (geometry.cell.width, geometry.cell.height);
        let lines = range.start.line..=range.end.line;
        let rows = self.snapshot.rows.iter().enumerate();
        rows.filter(|(_, row)| lines.contains(&row.line))
            .flat_map(|(index, row)| {
                let start = if row.line == range.start.line { range.start.col } else { 0 };
                let last = self.snapshot.size.cols.saturating_sub(1);
                let end = if row.line == range.end.line { range.end.col.min(last) } else { last };
                let column = self.column_width(index, (width, height)) as u32;
                let columns = start..end + 1;
                let ranges = match self.order(index) {
                    Some(order) => order.shown_ranges(columns),
                    None => vec![columns],
                };
                let y = origin.1 + (index as u32 * height) as i32 - self.shift as i32;
                ranges.into_iter().map(move |range| PixelRect {
                    x: origin.0 + (u32::from(range.start) * column) as i32,
                    y,
                    width: u32::from(range.end.saturating_sub(range.start)) * column,
                    height,
                })
            })
            .collect()
    }

    /// The hyperlink (OSC 8) at a position, in pixels from the grid's first cell.
    pub(crate) fn link_at(&self, x: f64, y: f64, cell: (u32, u32)) -> Option<Link> {
        if x < 0.0 || y < 0.0 {
            return None;
        }
        let row = (y / f64::from(cell.1)) as usize;
        let shown = u16::try_from((x / self.column_width(row, cell)) as u64).ok()?;
        let col = self.column(row, shown);
        let row = self.snapshot.rows.get(row)?;
        let run = row.styles.iter().find(|run| (run.start..run.end).contains(&col))?;
        run.link.as_deref().cloned()
    }

    pub(crate) fn title(&self) -> &str {
        &self.names.pane.title.text
    }

    pub(crate) fn pane_title(&self) -> &PaneTitle {
        &self.names.pane.title
    }

    /// The name of the pane's project; empty if the directory is in no project.
    pub(crate) fn project(&self) -> &str {
        self.project_root().and_then(|root| root.file_name()?.to_str()).unwrap_or_default()
    }

    pub(crate) fn project_root(&self) -> Option<&Path> {
        self.names.project.as_deref()
    }

    /// The working directory as a local path. `None` if it is unknown or not local.
    pub(crate) fn cwd(&self) -> Option<&Path> {
        self.names.cwd.as_deref()
    }

    /// The name of the foreground program, as last read.
    pub(crate) fn program(&self) -> &str {
        &self.names.pane.program
    }

    /// Reads the title, the program and the project together, which queries the operating system. Returns whether they
    /// changed.
    pub(crate) fn read_names(&mut self, pane: &Pane) -> bool {
        self.names.are_known = true;
        let cwd = pane.cwd_path();
        let names = PaneNames::read(pane, cwd.as_deref());
        let project = cwd.as_deref().and_then(title::project);
        let read = ViewNames { pane: names, cwd, project, are_known: true };
        let is_new = read != self.names;
        self.names = read;
        is_new
    }

    /// Whether the names have been read and are up to date.
    pub(crate) fn are_names_known(&self) -> bool {
        self.names.are_known
    }

    /// Marks the names as outdated, so that the next frame reads them again.
    pub(crate) fn forget_names(&mut self) {
        self.names.are_known = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{Options, Parser, SnapshotRow, Term};

    /// A view of a terminal of 10 columns and 2 rows, after this output.
    fn view(output: &str) -> View {
        let mut term = Term::new(Size::cells(10, 2), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        let mut view = View { reorders: true, ..View::default() };
        term.snapshot(&mut view.snapshot, None);
        view
    }

    #[test]
    fn right_to_left_text_is_selected_by_character() {
        const CELL: (u32, u32) = (10, 20);
        // The last two Hebrew letters have the link `l`.
        let shown = view("a \u{5d0}\x1b]8;;l\x1b\\\u{5d1}\u{5d2}\x1b]8;;\x1b\\ b");
        let spot = |x| shown.spot(x, 5.0, CELL).map(|spot| (spot.cell.col, spot.edge.boundary));
        assert_eq!([spot(2.0), spot(8.0)], [Some((0, 0)), Some((0, 1))]);
        // The leftmost letter is the last letter of the text. Its right edge on the screen comes before the letter in
        // the text.
        assert_eq!([spot(22.0), spot(28.0)], [Some((4, 5)), Some((4, 4))]);
        assert_eq!([spot(42.0), spot(48.0)], [Some((2, 3)), Some((2, 2))]);
        assert_eq!([spot(-5.0), spot(999.0)], [Some((0, 0)), Some((9, 10))]);
        let link = |x| shown.link_at(x, 5.0, CELL).map(|link| link.uri);
        assert_eq!(
            [link(25.0), link(35.0), link(45.0)],
            [Some("l".into()), Some("l".into()), None]
        );
        let wide = view("\u{5d0}\u{1f600}\u{5d1}");
        let spot = |x| wide.spot(x, 5.0, CELL).map(|spot| (spot.cell.col, spot.edge.boundary));
        assert_eq!([spot(12.0), spot(18.0)], [Some((1, 3)), Some((1, 3))]);
        assert_eq!([spot(22.0), spot(28.0)], [Some((2, 1)), Some((2, 1))]);
        let plain = View { reorders: false, ..shown };
        assert_eq!(plain.spot(22.0, 5.0, CELL).map(|spot| spot.cell.col), Some(2));
    }

    #[test]
    fn with_folded_lines_the_view_ends_with_its_last_row() {
        let mut view = View::default();
        let row = |line| SnapshotRow { line: LineId(line), ..SnapshotRow::default() };
        view.snapshot.rows = vec![row(10), row(11), row(30)];
        view.snapshot.size.rows = 3;
        view.snapshot.live_top = LineId(40);
        view.snapshot.seq = 1;
        assert_eq!(view.rows_in_sight(), (LineId(10), LineId(30)));
        view.top = Some(LineId(10));
        view.follow(LineId(30));
        assert_eq!(view.top, Some(LineId(10)), "it is in sight");
        view.follow(LineId(31));
        assert_eq!(view.top, Some(LineId(11)));
        assert_eq!(view.rows_in_sight(), (LineId(11), LineId(13)), "before the next picture");
    }
}

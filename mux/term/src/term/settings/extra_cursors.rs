//! Extra cursors: cursors that a program shows beside the main cursor (kitty, "The multiple cursors protocol").
//!
//! Owns their cells, shapes and colors, and the sequences `CSI > … SP q`. An extra cursor belongs to a cell of the screen
//! and not to the text there, so scrolling does not move it. ED 2, 3 and 22, RIS and a change of the screen remove all
//! extra cursors. A resize keeps those that are inside the new screen.

use std::fmt::Write;

use crate::cap::Caps;
use crate::params::Params;
use crate::term::Term;
use crate::{CursorShape, LineId, Rgb};

/// The maximum number of extra cursors. Further ones are dropped.
const CURSORS_CAP: usize = 16_384;
/// The maximum number of bytes in a reply that lists the extra cursors, below the maximum of queued replies.
const REPLY_CAP: usize = 48 << 10;

/// The reply to the query for support: the shapes and operations that this module handles.
const SUPPORTED: &[u8] = b"\x1b[>1;2;3;29;30;40;100;101 q";

/// A cursor that a program shows beside the main cursor. It blinks like the main cursor, and is visible even if the main
/// cursor is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraCursor {
    /// The line in the cursor's row.
    pub line: LineId,
    /// The column.
    pub col: u16,
    /// The shape. `None`: the shape of the main cursor.
    pub shape: Option<CursorShape>,
}

/// One of the two colors that all extra cursors share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraCursorColor {
    /// The color that the main cursor has now.
    #[default]
    Main,
    /// Reverse video: the cursor has the foreground of its cell, and the text the background of its cell.
    Reverse,
    /// A color of the palette.
    Indexed(u8),
    /// A direct color.
    Rgb(Rgb),
}

impl ExtraCursorColor {
    /// The color space and its parameters in the protocol.
    fn parameters(self) -> String {
        match self {
            Self::Main => "0".to_owned(),
            Self::Reverse => "1".to_owned(),
            Self::Indexed(index) => format!("5:{index}"),
            Self::Rgb(Rgb { r, g, b }) => format!("2:{r}:{g}:{b}"),
        }
    }
}

/// The colors of extra cursors. If `cursor` is [`ExtraCursorColor::Reverse`], `text` has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraCursorColors {
    /// The color of text under a cursor.
    pub text: ExtraCursorColor,
    /// The color of a cursor.
    pub cursor: ExtraCursorColor,
}

/// The shape of an extra cursor in the protocol. 0 is no cursor, and 29 the shape of the main cursor.
type Shape = u8;

fn shape(number: Shape) -> Option<CursorShape> {
    match number {
        1 => Some(CursorShape::Block),
        2 => Some(CursorShape::Bar),
        3 => Some(CursorShape::Underline),
        _ => None,
    }
}

/// The cells of a rectangle that have the same extra cursor. Rows and columns count from 0, and all are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    shape: Shape,
    top: usize,
    left: usize,
    bottom: usize,
    right: usize,
}

impl Area {
    /// The coordinates in the protocol: its type and numbers that count from 1.
    fn coordinates(&self) -> String {
        let (top, left) = (self.top + 1, self.left + 1);
        match (self.bottom, self.right) {
            corner if corner == (self.top, self.left) => format!("2:{top}:{left}"),
            (bottom, right) => format!("4:{top}:{left}:{}:{}", bottom + 1, right + 1),
        }
    }
}

/// The extra cursors of the visible screen. See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtraCursors {
    /// The shape in each cell of the screen, row by row. Empty if there are no extra cursors.
    cells: Vec<Shape>,
    cols: usize,
    /// The number of cells with a cursor.
    count: usize,
    pub(crate) colors: ExtraCursorColors,
}

impl ExtraCursors {
    /// Removes all cursors. The colors stay.
    pub fn clear(&mut self) {
        *self = Self { colors: self.colors, ..Self::default() };
    }

    /// Adapts to a screen of this size.
    pub fn resize(&mut self, rows: usize, cols: usize) {
        if self.count == 0 {
            return self.clear();
        }
        let mut cells = vec![0; rows * cols];
        let width = cols.min(self.cols);
        for (new, old) in cells.chunks_mut(cols).zip(self.cells.chunks(self.cols)) {
            new[..width].copy_from_slice(&old[..width]);
        }
        let count = cells.iter().filter(|shape| **shape != 0).count();
        (self.cells, self.cols, self.count) = (cells, cols, count);
    }

    /// Sets the shape in all cells of an area, which is inside a screen of this size.
    fn fill(&mut self, area: Area, (rows, cols): (usize, usize), caps: &mut Caps) {
        if self.cells.is_empty() {
            if area.shape == 0 {
                return;
            }
            (self.cells, self.cols) = (vec![0; rows * cols], cols);
        }
        for row in self.cells.chunks_mut(cols).take(area.bottom + 1).skip(area.top) {
            for cell in &mut row[area.left..=area.right] {
                if *cell == 0 && area.shape != 0 {
                    if self.count == CURSORS_CAP {
                        return caps.dropped("extra cursor", CURSORS_CAP);
                    }
                    self.count += 1;
                }
                self.count -= usize::from(*cell != 0 && area.shape == 0);
                *cell = area.shape;
            }
        }
        if self.count == 0 {
            self.clear();
        }
    }

    /// Rectangles that together contain every cursor once, from the top.
    fn areas(&self) -> Vec<Area> {
        let mut areas: Vec<Area> = Vec::new();
        // The areas that end in the row above, from the left.
        let mut above: Vec<usize> = Vec::new();
        for (top, row) in self.cells.chunks(self.cols.max(1)).enumerate() {
            let (mut here, mut left) = (Vec::new(), 0);
            for run in row.chunk_by(|one, next| one == next) {
                let area =
                    Area { shape: run[0], top, left, bottom: top, right: left + run.len() - 1 };
                left += run.len();
                if area.shape == 0 {
                    continue;
                }
                let known = above.binary_search_by_key(&area.left, |at| areas[*at].left).ok();
                let known = known
                    .map(|at| above[at])
                    .filter(|at| (areas[*at].right, areas[*at].shape) == (area.right, area.shape));
                match known {
                    Some(at) => areas[at].bottom = top,
                    None => areas.push(area),
                }
                here.push(known.unwrap_or(areas.len() - 1));
            }
            above = here;
        }
        areas
    }
}

impl Term {
    /// A sequence of the protocol with these numbers.
    pub(crate) fn extra_cursors(&mut self, params: &Params) {
        let numbers = params.values().iter().enumerate();
        let numbers: Vec<_> = numbers.map(|(at, number)| (*number, params.is_part(at))).collect();
        self.set_extra_cursors(&numbers);
    }

    /// Like [`Term::extra_cursors`], with any number of numbers, as they are in the sequence.
    pub(crate) fn extra_cursors_of(&mut self, text: &[u8]) {
        let mut numbers = vec![(0u16, false)];
        for &byte in text {
            match (byte, numbers.last_mut()) {
                (b'0'..=b'9', Some((number, _))) => {
                    *number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                }
                (b';' | b':', _) => numbers.push((0, byte == b':')),
                _ => {}
            }
        }
        self.set_extra_cursors(&numbers);
        self.end_operation();
    }

    /// `numbers`: each number, and whether it follows `:`.
    fn set_extra_cursors(&mut self, numbers: &[(u16, bool)]) {
        let mut groups = numbers.chunk_by(|_, next| next.1);
        let what = groups.next().and_then(|group| group.first()).map_or(0, |first| first.0);
        let mut groups = groups.map(|group| group.iter().map(|number| number.0)).peekable();
        if groups.peek().is_none() {
            return match what {
                0 => self.reply(SUPPORTED),
                100 => self.report_extra_cursors(),
                101 => {
                    let ExtraCursorColors { text, cursor } = self.extra_cursors.colors;
                    let (text, cursor) = (text.parameters(), cursor.parameters());
                    self.reply_text(format!("\x1b[>101;30:{text};40:{cursor} q"));
                }
                _ => {}
            };
        }
        for mut group in groups {
            let kind = group.next();
            let rest: Vec<usize> = group.map(usize::from).collect();
            match (what, kind) {
                (0..=3 | 29, Some(kind)) => self.place_extra_cursors(what as Shape, kind, &rest),
                (30 | 40, Some(space)) => {
                    let Some(color) = color(space, &rest) else { continue };
                    let colors = &mut self.extra_cursors.colors;
                    *(if what == 30 { &mut colors.text } else { &mut colors.cursor }) = color;
                }
                _ => tracing::debug!(what, "unknown shape of extra cursors"),
            }
        }
    }

    /// Sets the shape of the extra cursors at coordinates of a type.
    fn place_extra_cursors(&mut self, shape: Shape, kind: u16, coordinates: &[usize]) {
        let (rows, cols) = (self.grid.rows(), self.grid.cols());
        let mut fill = |top: usize, left: usize, bottom: usize, right: usize| {
            let (bottom, right) = (bottom.min(rows), right.min(cols));
            let (top, left) = (top.max(1), left.max(1));
            if top <= bottom && left <= right {
                let (top, left, bottom, right) = (top - 1, left - 1, bottom - 1, right - 1);
                let area = Area { shape, top, left, bottom, right };
                self.extra_cursors.fill(area, (rows, cols), &mut self.caps);
            }
        };
        match (kind, coordinates) {
            (0, _) => {
                let (row, col) = (self.cursor.row + 1, self.cursor.col + 1);
                fill(row, col, row, col);
            }
            (2, points) => {
                for point in points.chunks_exact(2).filter(|point| !point.contains(&0)) {
                    fill(point[0], point[1], point[0], point[1]);
                }
            }
            // Fewer numbers than a rectangle has count as none.
            (4, [] | [_] | [_, _] | [_, _, _]) => fill(1, 1, rows, cols),
            (4, rectangles) => {
                for area in rectangles.chunks_exact(4) {
                    fill(area[0], area[1], area[2], area[3]);
                }
            }
            _ => tracing::debug!(kind, "unknown coordinates of extra cursors"),
        }
    }

    /// Reports the extra cursors, as points and as rectangles of cells with the same cursor.
    fn report_extra_cursors(&mut self) {
        let mut reply = String::from("\x1b[>100");
        for area in self.extra_cursors.areas() {
            if reply.len() > REPLY_CAP {
                self.caps.dropped("extra cursor in a reply", REPLY_CAP);
                break;
            }
            let _ = write!(reply, ";{}:{}", area.shape, area.coordinates());
        }
        reply.push_str(" q");
        self.reply_text(reply);
    }

    /// Writes the sequences that set the extra cursors and their colors. For [`Term::to_vt`].
    pub(crate) fn write_extra_cursors(&self, out: &mut String) {
        let ExtraCursors { colors, .. } = &self.extra_cursors;
        for (which, color) in [(30, colors.text), (40, colors.cursor)] {
            if color != ExtraCursorColor::Main {
                let _ = write!(out, "\x1b[>{which};{} q", color.parameters());
            }
        }
        for area in self.extra_cursors.areas() {
            let _ = write!(out, "\x1b[>{};{} q", area.shape, area.coordinates());
        }
    }

    /// The extra cursors, in the order of their lines and columns.
    pub(crate) fn visible_extra_cursors(&self) -> impl Iterator<Item = ExtraCursor> {
        let live = self.grid.live_top();
        let rows = self.extra_cursors.cells.chunks(self.grid.cols()).enumerate();
        rows.flat_map(move |(row, shapes)| {
            let line = LineId(live + row as u64);
            let cursors = (0..).zip(shapes).filter(|(_, number)| **number != 0);
            cursors.map(move |(col, number)| ExtraCursor { line, col, shape: shape(*number) })
        })
    }

    /// The extra cursors as text, for [`Term::dump`].
    pub(crate) fn dump_extra_cursors(&self, out: &mut String) {
        let mut text = String::new();
        self.write_extra_cursors(&mut text);
        if !text.is_empty() {
            let _ = writeln!(out, "extra cursors {}", text.replace('\x1b', "").replace('[', " "));
        }
    }
}

/// A color in a color space of the protocol, with its parameters.
fn color(space: u16, parameters: &[usize]) -> Option<ExtraCursorColor> {
    let byte = |value: usize| value.min(255) as u8;
    Some(match (space, parameters) {
        (0, _) => ExtraCursorColor::Main,
        (1, _) => ExtraCursorColor::Reverse,
        (2, [r, g, b, ..]) => ExtraCursorColor::Rgb(Rgb { r: byte(*r), g: byte(*g), b: byte(*b) }),
        (5, [index, ..]) => ExtraCursorColor::Indexed(byte(*index)),
        _ => {
            tracing::debug!(space, "unknown color of extra cursors");
            return None;
        }
    })
}

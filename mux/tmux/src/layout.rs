//! tmux's layout strings, such as `af65,90x20,0,0{45x20,0,0,0,44x20,46,0,1}`.
//!
//! A layout is a tree of cells. A cell contains a pane, or cells side by side (`{}`), or cells one above the other
//! (`[]`). One column or row separates two cells. Four hexadecimal digits before the tree are its checksum.

use std::fmt::Write as _;

use crate::{PaneId, number};

/// The maximum number of panes in a window. tmux refuses panes that would have no room, long before.
const PANES: usize = 512;
/// The maximum depth of a tree.
const DEPTH: usize = 64;
/// The maximum width and height of a window in cells (`WINDOW_MAXIMUM` of tmux).
const LENGTH: u16 = 10_000;

/// Why a text is no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The checksum does not match.
    Checksum,
    /// The text has another form.
    Syntax,
    /// The parts of a cell do not fill it, or the layout exceeds a limit.
    Size,
}

/// The layout of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The cell that fills the window.
    pub root: Cell,
}

/// A part of a window. Lengths and positions are in character cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The width.
    pub width: u16,
    /// The height.
    pub height: u16,
    /// The distance from the window's left edge.
    pub x: u16,
    /// The distance from the window's top edge.
    pub y: u16,
    /// The contents of the cell.
    pub content: Content,
}

/// The contents of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A pane.
    Pane(PaneId),
    /// At least two cells, from left to right.
    Row(Vec<Cell>),
    /// At least two cells, from top to bottom.
    Column(Vec<Cell>),
}

/// The lines with titles of panes (tmux's option `pane-border-status`). They cost the panes at an edge of the window a
/// row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Borders {
    /// There are no title lines at the window's edges.
    #[default]
    Off,
    /// The panes at the top edge are a row smaller than their cells.
    Top,
    /// The panes at the bottom edge are a row smaller than their cells.
    Bottom,
}

impl Layout {
    /// Parses a layout string.
    ///
    /// # Errors
    /// If the text is no layout, or its parts do not fit together.
    pub fn parse(text: &str) -> Result<Self, LayoutError> {
        let (sum, tree) = text.split_once(',').ok_or(LayoutError::Syntax)?;
        if sum.len() != 4 || u16::from_str_radix(sum, 16) != Ok(checksum(tree)) {
            return Err(LayoutError::Checksum);
        }
        let mut parser = Parser { rest: tree, panes: Vec::new() };
        let root = parser.cell(0)?;
        if !parser.rest.is_empty() {
            return Err(LayoutError::Syntax);
        }
        parser.panes.sort_unstable();
        if parser.panes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(LayoutError::Syntax);
        }
        Ok(Self { root })
    }

    /// The panes, in reading order.
    pub fn panes(&self) -> Vec<PaneId> {
        let mut panes = Vec::new();
        self.root.each_pane(&mut |pane, _| panes.push(pane));
        panes
    }

    /// Each pane with its columns and rows.
    pub fn sizes(&self, borders: Borders) -> Vec<(PaneId, u16, u16)> {
        let bottom = self.root.y + self.root.height;
        let mut sizes = Vec::new();
        self.root.each_pane(&mut |pane, cell| {
            let is_at_border = match borders {
                Borders::Off => false,
                Borders::Top => cell.y == self.root.y,
                Borders::Bottom => cell.y + cell.height == bottom,
            };
            let rows = cell.height.saturating_sub(u16::from(is_at_border)).max(1);
            sizes.push((pane, cell.width, rows));
        });
        sizes
    }
}

impl std::fmt::Display for Layout {
    /// Writes the layout string with its checksum.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut tree = String::new();
        self.root.write(&mut tree);
        write!(f, "{:04x},{tree}", checksum(&tree))
    }
}

impl Cell {
    fn each_pane(&self, found: &mut impl FnMut(PaneId, &Cell)) {
        match &self.content {
            Content::Pane(pane) => found(*pane, self),
            Content::Row(cells) | Content::Column(cells) => {
                cells.iter().for_each(|cell| cell.each_pane(found));
            }
        }
    }

    fn write(&self, text: &mut String) {
        let _ = write!(text, "{}x{},{},{}", self.width, self.height, self.x, self.y);
        let (cells, open, close) = match &self.content {
            Content::Pane(pane) => {
                let _ = write!(text, ",{}", pane.0);
                return;
            }
            Content::Row(cells) => (cells, '{', '}'),
            Content::Column(cells) => (cells, '[', ']'),
        };
        text.push(open);
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            cell.write(text);
        }
        text.push(close);
    }

    /// Whether the cells inside fill this cell, with one column or row between two of them.
    fn is_filled(&self) -> bool {
        let (cells, is_row) = match &self.content {
            Content::Pane(_) => return true,
            Content::Row(cells) => (cells, true),
            Content::Column(cells) => (cells, false),
        };
        let mut next = u32::from(if is_row { self.x } else { self.y });
        for cell in cells {
            let (start, length) = if is_row { (cell.x, cell.width) } else { (cell.y, cell.height) };
            let crosses = match is_row {
                true => (cell.y, cell.height) == (self.y, self.height),
                false => (cell.x, cell.width) == (self.x, self.width),
            };
            if !crosses || u32::from(start) != next {
                return false;
            }
            next += u32::from(length) + 1;
        }
        let end = if is_row { self.x + self.width } else { self.y + self.height };
        cells.len() >= 2 && next == u32::from(end) + 1
    }
}

/// The checksum of the tree's text (`layout_checksum` in tmux's layout-custom.c).
fn checksum(text: &str) -> u16 {
    text.bytes().fold(0u16, |sum, byte| {
        let rotated = sum.rotate_right(1);
        rotated.wrapping_add(u16::from(byte))
    })
}

struct Parser<'a> {
    rest: &'a str,
    panes: Vec<PaneId>,
}

impl Parser<'_> {
    fn cell(&mut self, depth: usize) -> Result<Cell, LayoutError> {
        if depth > DEPTH {
            return Err(LayoutError::Size);
        }
        let width = self.number()?;
        self.take('x')?;
        let height = self.number()?;
        self.take(',')?;
        let x = self.number()?;
        self.take(',')?;
        let y = self.number()?;
        let content = match self.rest.chars().next() {
            Some(',') => {
                self.take(',')?;
                let pane = PaneId(self.number()?);
                self.panes.push(pane);
                Content::Pane(pane)
            }
            Some('{') => Content::Row(self.cells('{', '}', depth)?),
            Some('[') => Content::Column(self.cells('[', ']', depth)?),
            _ => return Err(LayoutError::Syntax),
        };
        let cell = Cell { width, height, x, y, content };
        let is_inside = |length: u16, start: u16| (1..=LENGTH).contains(&length) && start <= LENGTH;
        let is_allowed = is_inside(width, x) && is_inside(height, y) && self.panes.len() <= PANES;
        if is_allowed && cell.is_filled() { Ok(cell) } else { Err(LayoutError::Size) }
    }

    fn cells(&mut self, open: char, close: char, depth: usize) -> Result<Vec<Cell>, LayoutError> {
        self.take(open)?;
        let mut cells = vec![self.cell(depth + 1)?];
        while self.take(',').is_ok() {
            cells.push(self.cell(depth + 1)?);
        }
        self.take(close)?;
        Ok(cells)
    }

    fn take(&mut self, char: char) -> Result<(), LayoutError> {
        self.rest = self.rest.strip_prefix(char).ok_or(LayoutError::Syntax)?;
        Ok(())
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, LayoutError> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (text, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number(text).ok_or(LayoutError::Syntax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the checksum to a tree.
    fn with_sum(tree: &str) -> String {
        format!("{:04x},{tree}", checksum(tree))
    }

    #[test]
    fn layouts_of_tmux_are_read_and_written_back() {
        for text in
            ["a29d,90x20,0,0,0", "af65,90x20,0,0{45x20,0,0,0,44x20,46,0,1}", "a87d,100x30,0,0,0"]
        {
            assert_eq!(Layout::parse(text).map(|layout| layout.to_string()), Ok(text.to_owned()));
        }
        let tree = "200x50,0,0[200x25,0,0,0,200x24,0,26{100x24,0,26,1,99x24,101,26,2}]";
        let layout = Layout::parse(&with_sum(tree)).unwrap();
        assert_eq!(layout.panes(), [PaneId(0), PaneId(1), PaneId(2)]);
        assert_eq!(layout.to_string(), with_sum(tree));
    }

    #[test]
    fn titles_at_the_edge_cost_a_row() {
        let tree = "80x24,0,0[80x12,0,0,0,80x11,0,13,1]";
        let layout = Layout::parse(&with_sum(tree)).unwrap();
        let rows = |borders| layout.sizes(borders).iter().map(|size| size.2).collect::<Vec<_>>();
        assert_eq!(rows(Borders::Off), [12, 11]);
        assert_eq!(rows(Borders::Top), [11, 11]);
        assert_eq!(rows(Borders::Bottom), [12, 10]);
    }

    #[test]
    fn parts_that_do_not_fit_together_are_refused() {
        for tree in [
            "0x24,0,0,0",
            "80x20000,0,0,0",
            "80x24,0,0{80x24,0,0,0}",
            "80x24,0,0{40x24,0,0,0,40x24,41,0,1}",
            "80x24,0,0{40x24,0,0,0,39x23,41,0,1}",
            "80x24,0,0{40x24,0,0,0,39x24,42,0,1}",
        ] {
            assert_eq!(Layout::parse(&with_sum(tree)), Err(LayoutError::Size), "{tree}");
        }
        for tree in [
            "",
            "80x24",
            "80x24,0,0",
            "80x24,0,0,0,",
            "80x24,0,0{",
            "80x24,0,0{40x24,0,0,0,39x24,41,0,0}",
            "80x24,0,0{40x24,0,0,0,39x24,41,0,1]",
            "-1x24,0,0,0",
            "80x24,0,0,99999999999",
        ] {
            assert_eq!(Layout::parse(&with_sum(tree)), Err(LayoutError::Syntax), "{tree}");
        }
        assert_eq!(Layout::parse("0000,80x24,0,0,0"), Err(LayoutError::Checksum));
        assert_eq!(Layout::parse("80x24"), Err(LayoutError::Syntax));
        let deep = "1x1,0,0[".repeat(100_000);
        assert_eq!(Layout::parse(&with_sum(&deep)), Err(LayoutError::Size));
    }
}

//! Layouts as text: `#{window_layout}`, such as `bb62,159x48,0,0{79x48,0,0,79x48,80,0}`.
//!
//! tmux's tree has any number of parts in each split. Here, each split has two parts, so nested splits along one axis are
//! written as one list.

use std::fmt::Write as _;

use unterm_mux::{Axis, Node, PaneId, Rect};

use super::ratio;

/// The maximum number of panes and splits in a text.
const MOST: usize = 1000;
/// The maximum depth of a text.
const DEEPEST: usize = 64;

/// Writes a tree whose panes have these positions.
pub fn print(root: &Node, placed: &[(PaneId, Rect)]) -> String {
    let mut text = String::new();
    write(root, placed, &mut text);
    format!("{:04x},{text}", checksum(&text))
}

fn checksum(text: &str) -> u16 {
    text.bytes().fold(0_u16, |sum, byte| sum.rotate_right(1).wrapping_add(u16::from(byte)))
}

fn bounds(node: &Node, placed: &[(PaneId, Rect)]) -> Rect {
    match node {
        Node::Pane(id) => {
            placed.iter().find(|(pane, _)| pane == id).map(|(_, rect)| *rect).unwrap_or_default()
        }
        Node::Split { first, second, .. } => {
            let (one, two) = (bounds(first, placed), bounds(second, placed));
            let right = (one.x + one.width).max(two.x + two.width);
            let bottom = (one.y + one.height).max(two.y + two.height);
            Rect { x: one.x, y: one.y, width: right - one.x, height: bottom - one.y }
        }
    }
}

fn write(node: &Node, placed: &[(PaneId, Rect)], text: &mut String) {
    let Rect { x, y, width, height } = bounds(node, placed);
    // Writing to memory can't fail.
    let _ = write!(text, "{width}x{height},{x},{y}");
    match node {
        Node::Pane(pane) => {
            let _ = write!(text, ",{}", pane.0);
        }
        Node::Split { axis, .. } => {
            let (open, close) = match axis {
                Axis::Horizontal => ('{', '}'),
                Axis::Vertical => ('[', ']'),
            };
            let mut parts = Vec::new();
            flatten(node, *axis, &mut parts);
            text.push(open);
            for (index, part) in parts.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(part, placed, text);
            }
            text.push(close);
        }
    }
}

/// The parts of nested splits along one axis.
fn flatten<'a>(node: &'a Node, axis: Axis, parts: &mut Vec<&'a Node>) {
    match node {
        Node::Split { axis: own, first, second, .. } if *own == axis => {
            flatten(first, axis, parts);
            flatten(second, axis, parts);
        }
        node => parts.push(node),
    }
}

/// Reads a text. Assigns `panes` to its positions. `None` if the text is invalid, or does not have exactly one position
/// for each pane.
pub fn parse(text: &str, panes: &[PaneId]) -> Option<Node> {
    let (sum, rest) = text.split_once(',')?;
    if sum.len() != 4 || u16::from_str_radix(sum, 16).ok()? != checksum(rest) {
        return None;
    }
    let mut reader = Reader { rest, panes: panes.iter(), count: 0 };
    let (node, _) = reader.cell(0)?;
    (reader.rest.is_empty() && reader.panes.next().is_none()).then_some(node)
}

struct Reader<'a> {
    rest: &'a str,
    panes: std::slice::Iter<'a, PaneId>,
    count: usize,
}

impl Reader<'_> {
    fn number(&mut self) -> Option<u32> {
        let end = self.rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok().filter(|number| *number <= 100_000)
    }

    fn eat(&mut self, char: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(char)?;
        Some(())
    }

    /// Reads a pane or a split. Returns it with its width and height.
    fn cell(&mut self, depth: usize) -> Option<(Node, (u32, u32))> {
        self.count += 1;
        if depth > DEEPEST || self.count > MOST {
            return None;
        }
        let width = self.number()?;
        self.eat('x')?;
        let height = self.number()?;
        for _ in 0..2 {
            self.eat(',')?;
            self.number()?;
        }
        let size = (width, height);
        let (axis, close) = match self.rest.chars().next() {
            Some('{') => (Axis::Horizontal, '}'),
            Some('[') => (Axis::Vertical, ']'),
            _ => {
                // The pane's id follows, unless the comma begins the next cell.
                if let Some(rest) = self.rest.strip_prefix(',') {
                    let before = self.rest;
                    self.rest = rest;
                    let is_id = self.number().is_some() && !self.rest.starts_with('x');
                    if !is_id {
                        self.rest = before;
                    }
                }
                return Some((Node::Pane(*self.panes.next()?), size));
            }
        };
        self.rest = &self.rest[1..];
        let mut parts = vec![self.cell(depth + 1)?];
        while self.eat(',').is_some() {
            parts.push(self.cell(depth + 1)?);
        }
        self.eat(close)?;
        let length = |size: (u32, u32)| match axis {
            Axis::Horizontal => size.0,
            Axis::Vertical => size.1,
        };
        let (mut node, last) = parts.pop()?;
        let mut total = length(last);
        while let Some((part, size)) = parts.pop() {
            let first = length(size);
            total += first + 1;
            node = Node::Split {
                axis,
                ratio: ratio(first, total),
                first: Box::new(part),
                second: Box::new(node),
            };
        }
        Some((node, size))
    }
}

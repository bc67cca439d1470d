//! The pen: the style, link, role and protection of text to be printed, and their ids in the current table.

use std::sync::Arc;

use crate::color::Color;
use crate::grid::Grid;
use crate::grid::cell::{Cell, EDITED, PromptRole};
use crate::grid::link::Link;
use crate::grid::style::Style;

/// The attributes of the next printed character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pen {
    style: Style,
    link: Option<Arc<Link>>,
    role: PromptRole,
    /// Whether a line editor is drawing.
    edits: bool,
    protected: bool,
    /// The bits of these values in a cell, with ids of `table`. Not valid unless `valid` is set.
    bits: u64,
    valid: bool,
    table: usize,
    generation: u32,
}

impl Pen {
    pub fn style(&self) -> &Style {
        &self.style
    }

    #[inline]
    pub fn style_mut(&mut self) -> &mut Style {
        self.valid = false;
        &mut self.style
    }

    pub fn link(&self) -> Option<&Arc<Link>> {
        self.link.as_ref()
    }

    pub fn set_link(&mut self, link: Option<Arc<Link>>) {
        self.valid = false;
        self.link = link;
    }

    pub fn role(&self) -> PromptRole {
        self.role
    }

    pub fn set_role(&mut self, role: PromptRole) {
        self.valid = false;
        self.role = role;
    }

    pub fn set_edits(&mut self, edits: bool) {
        self.valid &= self.edits == edits;
        self.edits = edits;
    }

    pub fn is_protected(&self) -> bool {
        self.protected
    }

    pub fn set_protected(&mut self, protected: bool) {
        self.valid = false;
        self.protected = protected;
    }

    /// Interns the ids again at the next use, because the tables have changed.
    pub fn forget_ids(&mut self) {
        self.valid = false;
    }

    /// The bits of a cell that this pen writes, with ids of one of the grid's tables.
    #[inline]
    pub fn bits(&mut self, grid: &mut Grid, table: usize) -> u64 {
        if self.valid && self.table == table && self.generation == grid.generation() {
            return self.bits;
        }
        self.intern(grid, table)
    }

    #[inline]
    fn intern(&mut self, grid: &mut Grid, table: usize) -> u64 {
        let style = grid.intern_style(table, &self.style);
        let link = self.link.as_ref().map_or(0, |link| grid.intern_link(table, link));
        self.bits = Cell::template(style, link, self.role, self.protected);
        if self.edits && self.role == PromptRole::Output {
            self.bits |= EDITED;
        }
        self.valid = true;
        self.table = table;
        self.generation = grid.generation();
        self.bits
    }

    /// Returns a function that creates erased cells: empty, with the pen's background (xterm's "back color erase").
    pub fn blank(&self) -> impl FnMut(&mut Grid, usize) -> Cell + use<> {
        let background = self.style.background;
        move |grid, table| {
            if background == Color::Default {
                return Cell::EMPTY;
            }
            let style = Style { background, ..Style::default() };
            Cell(Cell::template(grid.intern_style(table, &style), 0, PromptRole::Output, false))
        }
    }
}

//! Packs rows into a history of another width, a page at a time.
//!
//! Owns the page being built, and tracks which tables the ids of its rows refer to.

use std::sync::Arc;

use crate::grid::cell::Cell;
use crate::grid::history::{History, Stored};
use crate::grid::page::{Page, PageBuilder, rows_per_page};
use crate::grid::row::RowMeta;
use crate::grid::tables::TablesView;

/// Packs rows into a history.
pub(super) struct Packer<'a> {
    pub history: &'a mut History,
    builder: PageBuilder,
    pub cols: usize,
    /// The source of the previous row's ids: a page, or [`CARRIED`].
    source: u64,
}

/// The source that is not a page: the tables of lines that span pages.
pub(super) const CARRIED: u64 = 0;

impl<'a> Packer<'a> {
    pub fn new(history: &'a mut History, cols: usize) -> Self {
        Self { history, builder: PageBuilder::default(), cols, source: CARRIED }
    }

    /// Declares the source of the following rows' ids. Pass `changed` if the tables of the same source changed.
    pub fn read_from(&mut self, source: u64, changed: bool) {
        if changed || self.source != source {
            self.source = source;
            self.builder.source();
        }
    }

    /// The number of the next row.
    pub fn next(&self) -> u64 {
        self.history.end() + self.builder.len() as u64
    }

    pub fn push(&mut self, cells: &[Cell], meta: RowMeta, tables: TablesView<'_>) {
        self.make_room();
        self.builder.push(cells, meta, tables);
    }

    /// Adds a row of a page unchanged.
    pub fn push_packed(&mut self, page: &Page, row: usize) {
        self.make_room();
        self.builder.push_packed(page, row);
    }

    pub fn make_room(&mut self) {
        if self.builder.len() == rows_per_page(self.cols) {
            self.finish();
        }
    }

    pub fn finish(&mut self) {
        if self.builder.len() > 0 {
            self.history.push(Stored::Packed(Arc::new(self.builder.finish())));
        }
    }
}

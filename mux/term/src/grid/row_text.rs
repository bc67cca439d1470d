//! The text of a row's cells.

use crate::grid::RowView;
use crate::grid::cell::{Cell, Content, PromptRole, Width};

/// Appends a row's text, without trailing blanks.
pub(crate) fn push_row(view: &RowView<'_>, text: &mut String) {
    let start = text.len();
    push_cells(view, 0, view.cells.len(), text);
    trim(text, start);
}

/// Appends the row's text like [`push_row`], but without the cells of prompts and their input.
pub(crate) fn push_output(view: &RowView<'_>, text: &mut String) {
    let start = text.len();
    let mut col = 0;
    for run in view.cells.chunk_by(|a, b| a.prompt_role() == b.prompt_role()) {
        if run.first().is_some_and(|cell| cell.prompt_role() == PromptRole::Output) {
            push_cells(view, col, col + run.len(), text);
        }
        col += run.len();
    }
    trim(text, start);
}

/// Appends the text of columns `start..end`.
pub(crate) fn push_cells(view: &RowView<'_>, start: usize, end: usize, text: &mut String) {
    let end = end.min(view.cells.len());
    let mut cells = view.cells.get(start..end).unwrap_or_default();
    text.reserve(cells.len());
    while !cells.is_empty() {
        cells = push_ascii(cells, text);
        let Some((cell, rest)) = cells.split_first() else { return };
        match (cell.width(), cell.content()) {
            (Width::Tail | Width::Head, _) => {}
            (_, Content::Empty) => text.push(' '),
            (_, Content::Char(c)) => text.push(c),
            (_, Content::Cluster(id)) => {
                text.push_str(view.tables.cluster(id as u16).map_or(" ", |text| text));
            }
        }
        cells = rest;
    }
}

/// Appends the ASCII characters and blanks at the start of `cells`, which make up most of a typical screen. Returns the
/// remaining cells.
fn push_ascii<'a>(mut cells: &'a [Cell], text: &mut String) -> &'a [Cell] {
    let mut bytes = [0; 64];
    loop {
        let mut len = 0;
        for (byte, ascii) in bytes.iter_mut().zip(cells.iter().map_while(|cell| cell.ascii())) {
            *byte = ascii;
            len += 1;
        }
        text.push_str(std::str::from_utf8(&bytes[..len]).unwrap_or_default());
        cells = &cells[len..];
        if len < bytes.len() {
            return cells;
        }
    }
}

pub(crate) fn first_char(view: &RowView<'_>, cell: Cell) -> Option<char> {
    match cell.content() {
        Content::Empty => None,
        Content::Char(c) => Some(c),
        Content::Cluster(id) => view.tables.cluster(id as u16)?.chars().next(),
    }
}

/// Drops blanks from the end of `text`, but not before `start`.
pub(crate) fn trim(text: &mut String, start: usize) {
    let len = text[start..].trim_end_matches(' ').len();
    text.truncate(start + len);
}

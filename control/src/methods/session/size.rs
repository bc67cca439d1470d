//! `session.resize`, and the sizes that callers request.

use unterm_term::Size;

use super::Acknowledged;
use crate::{
    error::Error,
    methods::{
        Caller, Context, Group, Method, Result, Subjects,
        params::{Arg, session_params},
    },
};

/// The maximum number of columns, and of rows, of a grid.
const LONGEST_SIDE: u64 = 10_000;
/// The maximum number of cells of a grid. They use 32 MB.
const MOST_CELLS: u32 = 4_000_000;
/// The documented size of a side that the caller does not give.
pub(super) const DEFAULT_COLS: u16 = 120;
pub(super) const DEFAULT_ROWS: u16 = 30;

/// The size that the caller requests. `None` if it requests none.
pub(super) fn size(cols: &Arg<'_, u64>, rows: &Arg<'_, u64>) -> Result<Option<Size>> {
    let side = |arg: &Arg<'_, u64>, name| {
        Ok::<_, Error>(arg.number(name, 1..=LONGEST_SIDE)?.map(|n| n as u16))
    };
    let (cols, rows) = match (side(cols, "cols")?, side(rows, "rows")?) {
        (None, None) => return Ok(None),
        (cols, rows) => (cols.unwrap_or(DEFAULT_COLS), rows.unwrap_or(DEFAULT_ROWS)),
    };
    if u32::from(cols) * u32::from(rows) > MOST_CELLS {
        return Err(Error::TooLarge { cols, rows, max: MOST_CELLS });
    }
    Ok(Some(Size::cells(cols, rows)))
}

/// The maximum number of pixels of a side of a grid.
const MOST_PIXELS: u64 = u16::MAX as u64;

/// Adds a size in pixels to a size in cells. Each cell gets a whole number of pixels. 0: the program receives no size
/// in pixels.
pub(super) fn with_pixels(size: Size, width: &Arg<'_, u64>, height: &Arg<'_, u64>) -> Result<Size> {
    let width = width.number("pixel_width", 0..=MOST_PIXELS)?.map(|width| width as u16);
    let height = height.number("pixel_height", 0..=MOST_PIXELS)?.map(|height| height as u16);
    Ok(Size {
        cell_width: width.map_or(size.cell_width, |width| width / size.cols),
        cell_height: height.map_or(size.cell_height, |height| height / size.rows),
        ..size
    })
}

/// `session.resize`.
pub struct Resize;

session_params! {
    /// A session and its new size.
    ResizeParams {
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
        /// Width of the grid in pixels, for programs that ask. Each cell gets a whole number of them. Default: as before.
        #[serde(default)]
        pixel_width: u64,
        /// Height of the grid in pixels.
        #[serde(default)]
        pixel_height: u64,
    }
}

impl Method for Resize {
    const NAME: &'static str = "session.resize";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Sets a session's size. After that, the window does not change the size.";
    type Params<'a> = ResizeParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: ResizeParams<'a>,
    ) -> Result<Acknowledged> {
        let pane = context.pane_for(caller, params.target())?;
        let given = |arg: &Arg<'_, u64>, name| {
            arg.number(name, 1..=LONGEST_SIDE)?.ok_or(Error::Missing(name))
        };
        given(&params.cols, "cols")?;
        given(&params.rows, "rows")?;
        if let Some(size) = size(&params.cols, &params.rows)? {
            // By default, a cell keeps its size in pixels.
            let cell = pane.term().size();
            let size = Size { cols: size.cols, rows: size.rows, ..cell };
            let size = with_pixels(size, &params.pixel_width, &params.pixel_height)?;
            pane.set_pinned(true);
            pane.resize(size);
        }
        Ok(Acknowledged::OK)
    }
}

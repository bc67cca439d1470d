//! The terminal that this process runs in: its size, its current modes, and its original modes.

use std::{io, sync::Arc};

use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr};
use unterm_term::Size;

/// The modes of the terminal on standard input when the program started.
#[derive(Clone)]
pub struct Modes(Arc<Termios>);

impl Modes {
    /// Reads the modes of the terminal on standard input. `None` if standard input is not a terminal.
    pub fn of_stdin() -> Option<Self> {
        tcgetattr(io::stdin()).ok().map(|modes| Self(Arc::new(modes)))
    }

    /// Sets raw mode, in which every key and byte is passed unchanged.
    ///
    /// # Errors
    /// Fails if the terminal is closed.
    pub fn set_raw(&self) -> io::Result<()> {
        let mut raw = Termios::clone(&self.0);
        raw.make_raw();
        // `Drain` would wait as long as the user stops the output with Ctrl+S.
        Ok(tcsetattr(io::stdin(), OptionalActions::Now, &raw)?)
    }

    /// Restores the original modes. If the terminal is closed, this does nothing.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Raw mode. When it is dropped, the original modes are restored, even if a thread panics.
pub struct Raw(Modes);

impl Raw {
    /// Enters raw mode.
    ///
    /// # Errors
    /// Fails if the terminal is closed.
    pub fn enter(modes: &Modes) -> io::Result<Self> {
        modes.set_raw()?;
        Ok(Self(modes.clone()))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.0.restore();
    }
}

/// The size of the terminal on standard output, input or error. `None` if none of them is a terminal with a size.
pub fn size() -> Option<Size> {
    let sizes = [tcgetwinsize(io::stdout()), tcgetwinsize(io::stdin()), tcgetwinsize(io::stderr())];
    sizes.into_iter().flatten().find_map(|size| of_winsize(&size))
}

fn of_winsize(size: &Winsize) -> Option<Size> {
    let Winsize { ws_row: rows, ws_col: cols, ws_xpixel, ws_ypixel } = *size;
    (rows > 0 && cols > 0).then(|| Size {
        cell_width: ws_xpixel / cols,
        cell_height: ws_ypixel / rows,
        ..Size::cells(cols, rows)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_counts_only_if_it_has_rows_and_columns() {
        let size = |rows, cols, x, y| {
            of_winsize(&Winsize { ws_row: rows, ws_col: cols, ws_xpixel: x, ws_ypixel: y })
        };
        assert_eq!(size(0, 80, 0, 0), None);
        assert_eq!(size(24, 80, 0, 0), Some(Size::cells(80, 24)));
        let drawn = Size { cell_width: 10, cell_height: 20, ..Size::cells(80, 24) };
        assert_eq!(size(24, 80, 805, 490), Some(drawn));
    }
}

//! Reports the color table in a form that can restore it (DECRQTSR, DECCTR, DECRSTS).
//!
//! Sources: DEC VT340 and VT525 manuals, and the current behavior of Windows Terminal. DEC defines one more terminal
//! state report, which is not supported, because only the terminal that sent it can interpret it. Colors are red, green
//! and blue in percent.

use std::fmt::Write;

use crate::Rgb;
use crate::color::Slot;
use crate::params::Params;
use crate::term::Term;

/// The number of the color table, the only supported report.
const COLORS: u16 = 2;
/// The number of the color format: red, green and blue in percent.
const PERCENT: u16 = 2;

impl Term {
    /// DECRQTSR. The parameter 2 requests the color table (DECCTR), in the color format of the second parameter.
    pub(crate) fn report_terminal_state(&mut self, params: &Params) {
        if (params.get(0), params.get(1)) != (COLORS, PERCENT) && params.values() != [COLORS] {
            tracing::debug!(?params, "no such terminal state report");
            return;
        }
        let mut colors = String::new();
        for index in 0..=u8::MAX {
            let Rgb { r, g, b } = self.palette.shown(Slot::Indexed(index));
            let [r, g, b] = [r, g, b].map(|part| (part as u32 * 100 + 127) / 255);
            let before = if index > 0 { "/" } else { "" };
            let _ = write!(colors, "{before}{index};{PERCENT};{r};{g};{b}");
        }
        self.reply_text(format!("\x1bP{COLORS}$s{colors}\x1b\\"));
    }

    /// DECRSTS. `what` is the number that DECRQTSR was sent with, and `state` the reported text.
    pub(crate) fn restore_terminal_state(&mut self, what: &[u8], state: &[u8]) {
        if what != b"2" {
            return;
        }
        for color in state.split(|&byte| byte == b'/') {
            let mut numbers = color.split(|&byte| byte == b';').map(|number| {
                let number = std::str::from_utf8(number).ok()?;
                number.parse::<u16>().ok()
            });
            let mut next = || numbers.next().flatten();
            let (Some(index), Some(PERCENT)) = (next(), next()) else { continue };
            let parts = [next(), next(), next()];
            let (Ok(index), [Some(r), Some(g), Some(b)]) = (u8::try_from(index), parts) else {
                continue;
            };
            let [r, g, b] = [r, g, b].map(|part| (part.min(100) as u32 * 255 / 100) as u8);
            self.set_color(Slot::Indexed(index), Some(Rgb { r, g, b }));
        }
    }
}

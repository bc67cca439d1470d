//! The stack of palettes: XTPUSHCOLORS, XTPOPCOLORS, XTREPORTCOLORS (xterm ctlseqs), and kitty's OSC 30001 and 30101
//! ("Saving and restoring colors"), which do the same without a place.

use std::fmt::Write;
use std::sync::Arc;

use crate::params::Params;
use crate::term::Term;
use crate::{Event, Palette};

/// The number of places, as in xterm.
const PLACES: usize = 10;

/// Saved palettes. A palette that is pushed unchanged shares its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColorStack {
    places: [Option<Arc<Palette>>; PLACES],
    /// Places in use, and the highest number ever in use.
    used: usize,
    most: usize,
}

impl Term {
    /// Writes the sequences that rebuild the stack. They change the current colors, so write those afterwards. For
    /// [`Term::to_vt`].
    pub(crate) fn write_color_stack(&self, out: &mut String) {
        let stack = &self.osc.colors;
        for (place, palette) in stack.places.iter().enumerate() {
            if let Some(palette) = palette {
                self.write_colors(palette, out);
                let _ = write!(out, "\x1b[{}#P", place + 1);
                self.write_no_colors(out);
            }
        }
        // The last push sets the number of places in use, and so does a pop.
        let last = stack.places.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        if stack.used < last {
            let _ = write!(out, "\x1b[{}#Q", stack.used + 1);
            self.write_no_colors(out);
        }
    }

    /// OSC 30001.
    pub(super) fn push_color(&mut self) {
        self.push_colors_at(0);
    }

    /// OSC 30101.
    pub(super) fn pop_color(&mut self) {
        self.pop_colors_at(0);
    }

    /// `CSI # P`: pushes on top without a number, or to that place (from 1). Handles each number.
    pub(crate) fn push_colors(&mut self, places: &Params) {
        places.values().iter().for_each(|&place| self.push_colors_at(place as usize));
    }

    fn push_colors_at(&mut self, place: usize) {
        let stack = &mut self.osc.colors;
        let at = if place == 0 { stack.used } else { place - 1 };
        let Some(own) = stack.places.get_mut(at) else {
            return self.caps.dropped("colors put aside", PLACES);
        };
        *own = Some(self.palette.clone());
        stack.used = at + 1;
        stack.most = stack.most.max(stack.used);
    }

    /// `CSI # Q`: pops from the top without a number, or from that place.
    pub(crate) fn pop_colors(&mut self, places: &Params) {
        places.values().iter().for_each(|&place| self.pop_colors_at(place as usize));
    }

    fn pop_colors_at(&mut self, place: usize) {
        let stack = &mut self.osc.colors;
        let at = if place == 0 { stack.used.wrapping_sub(1) } else { place - 1 };
        let Some(Some(palette)) = stack.places.get(at).cloned() else { return };
        stack.used = at;
        if self.palette != palette {
            self.palette = palette;
            self.event(Event::Palette);
        }
    }

    /// `CSI # R`: reports the places in use, and the highest number ever in use.
    pub(crate) fn report_color_stack(&mut self) {
        let (used, most) = (self.osc.colors.used, self.osc.colors.most);
        self.reply(format!("\x1b[?{used};{most}#Q").as_bytes());
    }
}

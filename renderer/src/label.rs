//! Chrome text: shaped once, kept while it is shown, cut with an ellipsis where it is too long.

use std::sync::Arc;

use cosmic_text::{Attrs, Buffer, Family, Metrics, Shaping, Weight, Wrap};
use rustc_hash::FxHashMap;
use unicode_segmentation::UnicodeSegmentation;

use crate::fonts::{BUNDLED_FAMILY, Fonts};
use crate::frame::FrameLabel;
use crate::{Label, LabelAlign};

#[derive(Clone, Debug)]
struct Shaped {
    buffer: Arc<Buffer>,
    width: f32,
    line_height: f32,
    /// Shown since the labels were last laid out.
    used: bool,
}

/// What decides how text is shaped: itself, the bits of its size, bold, and the width it is cut to in pixels.
type Key = (String, u32, bool, u32);

/// Shaped labels, kept from frame to frame.
#[derive(Default)]
pub(crate) struct Labels {
    shaped: FxHashMap<Key, Shaped>,
}

const UNCUT: u32 = u32::MAX;

impl Labels {
    pub(crate) fn clear(&mut self) {
        self.shaped.clear();
    }

    /// Width of the text, uncut, in pixels.
    pub(crate) fn width(&mut self, fonts: &mut Fonts, text: &str, size: f32, bold: bool) -> f32 {
        self.shaped(fonts, text, size, bold, UNCUT).width
    }

    pub(crate) fn layout(&mut self, fonts: &mut Fonts, label: &Label) -> FrameLabel {
        let room = label.rect.width;
        let whole = self.shaped(fonts, &label.text, label.size, label.bold, UNCUT);
        let shaped = if whole.width.ceil() as u32 <= room {
            whole
        } else {
            self.shaped(fonts, &label.text, label.size, label.bold, room)
        };
        let free = (room as f32 - shaped.width).max(0.0);
        let indent = match label.align {
            LabelAlign::Left => 0.0,
            LabelAlign::Center => (free / 2.0).round(),
            LabelAlign::Right => free.floor(),
        };
        FrameLabel {
            clip: label.rect,
            left: label.rect.x as f32 + indent,
            top: label.rect.y as f32
                + ((label.rect.height as f32 - shaped.line_height) / 2.0).round(),
            color: label.color,
            buffer: shaped.buffer,
        }
    }

    /// Forgets what has not been shown since the last call.
    pub(crate) fn sweep(&mut self) {
        self.shaped.retain(|_, shaped| std::mem::take(&mut shaped.used));
    }

    fn shaped(
        &mut self,
        fonts: &mut Fonts,
        text: &str,
        size: f32,
        bold: bool,
        room: u32,
    ) -> Shaped {
        let key = (text.to_owned(), size.to_bits(), bold, room);
        if let Some(shaped) = self.shaped.get_mut(&key) {
            shaped.used = true;
            return shaped.clone();
        }
        let mut shaped = if room == UNCUT {
            shape(fonts, text, size, bold)
        } else {
            cut(fonts, text, size, bold, room as f32)
        };
        shaped.used = true;
        self.shaped.insert(key, shaped.clone());
        shaped
    }
}

fn shape(fonts: &mut Fonts, text: &str, size: f32, bold: bool) -> Shaped {
    let size = if size.is_finite() { size.clamp(1.0, 1000.0) } else { 12.0 };
    let line_height = (size * 1.3).round().max(1.0);
    fonts.cover(text);
    let system = &mut fonts.system;
    let mut buffer = Buffer::new(system, Metrics::new(size, line_height));
    buffer.set_wrap(Wrap::None);
    let attrs = Attrs::new().family(Family::Name(BUNDLED_FAMILY)).weight(if bold {
        Weight::BOLD
    } else {
        Weight::NORMAL
    });
    // One line, whatever a title holds.
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    buffer.set_text(&line, &attrs, Shaping::Advanced, None);
    buffer.shape_until_scroll(system, false);
    let width = buffer.layout_runs().map(|run| run.line_w).fold(0.0, f32::max);
    Shaped { buffer: Arc::new(buffer), width, line_height, used: false }
}

/// The longest start of the text that fits with an ellipsis after it.
fn cut(fonts: &mut Fonts, text: &str, size: f32, bold: bool, room: f32) -> Shaped {
    let ends: Vec<usize> = text.grapheme_indices(true).map(|(start, _)| start).collect();
    let (mut fits, mut too_long) = (0, ends.len());
    let mut best = shape(fonts, "", size, bold);
    while fits < too_long {
        let middle = (fits + too_long) / 2;
        let end = ends.get(middle).copied().unwrap_or(text.len());
        let shaped = shape(fonts, &format!("{}…", text[..end].trim_end()), size, bold);
        if shaped.width <= room {
            fits = middle + 1;
            best = shaped;
        } else {
            too_long = middle;
        }
    }
    best
}

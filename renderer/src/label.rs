//! Chrome text: shaped once, cached while it is shown, and cut with an ellipsis if it is too long.

use std::{ops::Range, sync::Arc};

use cosmic_text::{Attrs, Buffer, Color, Family, Metrics, Shaping, Weight, Wrap};
use rustc_hash::FxHashMap;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
use unterm_term::Rgb;

use crate::chars::wants_emoji;
use crate::fonts::{BUNDLED_FAMILY, Fonts};
use crate::frame::FrameLabel;
use crate::{Label, LabelAlign};

#[derive(Clone, Debug)]
struct Shaped {
    buffer: Arc<Buffer>,
    width: f32,
    line_height: f32,
    /// Whether the text was shown since the last sweep.
    used: bool,
}

/// The parameters of shaping: the text with its look, the bits of its size, and the width in pixels at which it is cut.
type LabelKey = (LabelStyle, u32, u32);

/// A text with its look, without size and color.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct LabelStyle {
    text: String,
    bold: bool,
    /// See [`Label::accents`].
    accents: Vec<Range<usize>>,
    accent: Rgb,
}

/// Shaped labels, kept from frame to frame.
#[derive(Default)]
pub(crate) struct Labels {
    shaped: FxHashMap<LabelKey, Shaped>,
    /// The labels of the last frame. Most frames have the same labels, so the result is reused.
    last: Vec<(Label, FrameLabel)>,
}

const UNCUT: u32 = u32::MAX;

impl Labels {
    pub(crate) fn clear(&mut self) {
        self.shaped.clear();
        self.last.clear();
    }

    /// Width of the text, uncut, in pixels.
    pub(crate) fn width(&mut self, fonts: &mut Fonts, text: &str, size: f32, bold: bool) -> f32 {
        let look = LabelStyle { text: text.to_owned(), bold, ..LabelStyle::default() };
        self.shaped(fonts, look, size, UNCUT).width
    }

    /// Places all labels of a frame, and drops cached text that is no longer shown.
    pub(crate) fn lay_out(&mut self, fonts: &mut Fonts, labels: &[Label]) -> Vec<FrameLabel> {
        let same = self.last.len() == labels.len()
            && self.last.iter().zip(labels).all(|((known, _), label)| known == label);
        if !same {
            let placed = labels.iter().map(|label| (label.clone(), self.layout(fonts, label)));
            self.last = placed.collect();
            self.sweep();
        }
        self.last.iter().map(|(_, placed)| placed.clone()).collect()
    }

    fn layout(&mut self, fonts: &mut Fonts, label: &Label) -> FrameLabel {
        let room = label.rect.width;
        let look = LabelStyle {
            text: label.text.clone(),
            bold: label.bold,
            accents: label.accents.clone(),
            accent: label.accent,
        };
        let whole = self.shaped(fonts, look.clone(), label.size, UNCUT);
        let shaped = if whole.width.ceil() as u32 <= room {
            whole
        } else {
            self.shaped(fonts, look, label.size, room)
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

    /// Drops text that was not shown since the last call.
    fn sweep(&mut self) {
        self.shaped.retain(|_, shaped| std::mem::take(&mut shaped.used));
    }

    fn shaped(&mut self, fonts: &mut Fonts, look: LabelStyle, size: f32, room: u32) -> Shaped {
        let key = (look, size.to_bits(), room);
        if let Some(shaped) = self.shaped.get_mut(&key) {
            shaped.used = true;
            return shaped.clone();
        }
        let look = &key.0;
        let mut shaped = if room == UNCUT {
            shape(fonts, look, &look.text, size)
        } else {
            cut(fonts, look, size, room as f32)
        };
        shaped.used = true;
        self.shaped.insert(key, shaped.clone());
        shaped
    }
}

/// Shapes `text`: either the whole text of `look`, or its beginning with an ellipsis.
fn shape(fonts: &mut Fonts, look: &LabelStyle, text: &str, size: f32) -> Shaped {
    let size = if size.is_finite() { size.clamp(1.0, 1000.0) } else { 12.0 };
    let line_height = (size * 1.3).round().max(1.0);
    fonts.cover(text);
    let mut buffer = Buffer::new(&mut fonts.system, Metrics::new(size, line_height));
    buffer.set_wrap(Wrap::None);
    let weight = if look.bold { Weight::BOLD } else { Weight::NORMAL };
    let attrs = Attrs::new().family(Family::Name(BUNDLED_FAMILY)).weight(weight);
    let line: String = text.chars().map(stand_in).collect();
    let accent = Color::rgb(look.accent.r, look.accent.g, look.accent.b);
    // Request a color font by name for emoji, because other fonts may contain the emoji as a plain letter form.
    let has_emoji = line.graphemes(true).any(is_emoji);
    let emoji = if has_emoji { fonts.emoji_family() } else { None };
    let kind = |at: usize, text: &str| {
        (look.accents.iter().any(|part| part.contains(&at)), emoji.is_some() && is_emoji(text))
    };
    let mut spans = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, text) in line.grapheme_indices(true) {
        let now = kind(at, text);
        if let Some(before) = last.replace(now).filter(|before| *before != now) {
            spans.push((from..at, before));
            from = at;
        }
    }
    spans.extend(last.map(|last| (from..line.len(), last)));
    let spans = spans.iter().map(|(range, (is_accent, is_emoji))| {
        let mut attrs = attrs.clone();
        if let (true, Some(family)) = (*is_emoji, &emoji) {
            attrs = attrs.family(Family::Name(family)).weight(Weight::NORMAL);
        }
        (&line[range.clone()], if *is_accent { attrs.color(accent) } else { attrs })
    });
    let system = &mut fonts.system;
    buffer.set_rich_text(spans, &attrs, Shaping::Advanced, None);
    buffer.shape_until_scroll(system, false);
    let width = buffer.layout_runs().map(|run| run.line_w).fold(0.0, f32::max);
    Shaped { buffer: Arc::new(buffer), width, line_height, used: false }
}

/// The character that replaces `c` in chrome text, with the same length in UTF-8. Chrome text is one line. A character
/// in it must not reorder its neighbors, because a title, or text about to be pasted, could then read as something else
/// (UAX #9, explicit directional formatting).
fn stand_in(c: char) -> char {
    match c {
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_ascii_control() => ' ',
        c if c.is_control() => '\u{a0}',
        c => c,
    }
}

/// Whether a grapheme is shown as an emoji picture.
fn is_emoji(text: &str) -> bool {
    !text.is_ascii() && wants_emoji(text, text.width().min(2) as u8)
}

/// The longest beginning of the text that fits together with an ellipsis.
fn cut(fonts: &mut Fonts, look: &LabelStyle, size: f32, room: f32) -> Shaped {
    let text = look.text.as_str();
    let ends: Vec<usize> = text.grapheme_indices(true).map(|(start, _)| start).collect();
    let (mut fits, mut too_long) = (0, ends.len());
    let mut best = shape(fonts, look, "", size);
    while fits < too_long {
        let middle = (fits + too_long) / 2;
        let end = ends.get(middle).copied().unwrap_or(text.len());
        let shaped = shape(fonts, look, &format!("{}…", text[..end].trim_end()), size);
        if shaped.width <= room {
            fits = middle + 1;
            best = shaped;
        } else {
            too_long = middle;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_on_one_line_and_in_order() {
        let drawn: String =
            "a\tb\u{85}c\u{2029}d\u{202e}e\u{2067}é 👩\u{200d}👧".chars().map(stand_in).collect();
        assert_eq!(drawn, "a b\u{a0}c\u{fffd}d\u{fffd}e\u{fffd}é 👩\u{200d}👧");
        for c in '\0'..=char::MAX {
            assert_eq!(stand_in(c).len_utf8(), c.len_utf8(), "{c:?}");
        }
    }
}

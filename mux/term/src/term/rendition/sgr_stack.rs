//! The stack of SGR attributes (XTPUSHSGR, XTPOPSGR), and the attributes that all cells of a rectangle share
//! (XTREPORTSGR).
//!
//! Source: xterm ctlseqs, "CSI # {", "CSI # }", "CSI # |".

use crate::Color;
use crate::grid::Scratch;
use crate::grid::style::{Attrs, Style, Underline};
use crate::params::Params;
use crate::term::Term;
use crate::term::painter::{Look, Painter};
use crate::term::rendition::sgr::rendition_of;

/// The maximum number of entries, as in xterm. Further pushes are only counted. The pops that belong to them have no
/// effect.
const STACK_CAP: usize = 10;

/// The maximum number of counted pushes that [`Term::to_vt`] writes.
const BEYOND_WRITTEN: u32 = 1000;

/// An entry of the stack: the style at the push, and which of its parts a pop restores.
#[derive(Clone, Debug)]
struct Saved {
    style: Style,
    attrs: Attrs,
    underline: bool,
    foreground: bool,
    background: bool,
}

impl Saved {
    /// Saves the parts that the parameters name. Without parameters, saves all parts.
    fn new(style: Style, params: &Params) -> Self {
        let all = params.values().iter().all(|value| *value == 0);
        let mut saved = Self {
            style,
            attrs: if all { Attrs::all() } else { Attrs::empty() },
            underline: all,
            foreground: all,
            background: all,
        };
        for value in params.values() {
            match value {
                1 => saved.attrs |= Attrs::BOLD,
                2 => saved.attrs |= Attrs::DIM,
                3 => saved.attrs |= Attrs::ITALIC,
                4 | 21 => saved.underline = true,
                5 => saved.attrs |= Attrs::BLINK,
                7 => saved.attrs |= Attrs::REVERSE,
                8 => saved.attrs |= Attrs::HIDDEN,
                9 => saved.attrs |= Attrs::STRIKE,
                10 | 30 => saved.foreground = true,
                11 | 31 => saved.background = true,
                _ => {}
            }
        }
        saved
    }

    fn give_back(&self, style: &mut Style) {
        style.attrs = (style.attrs - self.attrs) | (self.style.attrs & self.attrs);
        if self.underline {
            style.underline = self.style.underline;
            style.underline_color = self.style.underline_color;
        }
        if self.foreground {
            style.foreground = self.style.foreground;
        }
        if self.background {
            style.background = self.style.background;
        }
    }
}

/// The stack of SGR attributes. See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct SgrStack {
    saved: Vec<Saved>,
    /// The number of pushes beyond the maximum.
    beyond: u32,
}

impl Term {
    /// XTPUSHSGR: saves SGR attributes.
    pub(crate) fn push_rendition(&mut self, params: &Params) {
        if self.sgr_stack.saved.len() == STACK_CAP {
            // Count the push, so that its pop restores nothing.
            self.caps.dropped("rendition put aside", STACK_CAP);
            self.sgr_stack.beyond = self.sgr_stack.beyond.saturating_add(1);
            return;
        }
        self.sgr_stack.saved.push(Saved::new(*self.pen.style(), params));
    }

    /// Writes the sequences that push the stack's entries. For [`Term::to_vt`].
    pub(crate) fn write_rendition_stack(&self, painter: &mut Painter) {
        for Saved { style, attrs, underline, foreground, background } in &self.sgr_stack.saved {
            painter.look(&Look { style: *style, ..Look::default() });
            let is_all = attrs.is_all() && *underline && *foreground && *background;
            let named = [
                (1, attrs.contains(Attrs::BOLD)),
                (2, attrs.contains(Attrs::DIM)),
                (3, attrs.contains(Attrs::ITALIC)),
                (4, *underline),
                (5, attrs.contains(Attrs::BLINK)),
                (7, attrs.contains(Attrs::REVERSE)),
                (8, attrs.contains(Attrs::HIDDEN)),
                (9, attrs.contains(Attrs::STRIKE)),
                (10, *foreground),
                (11, *background),
            ];
            // Start with a number that names no attribute, because a sequence without numbers means all attributes.
            let mut params = String::from(if is_all { "" } else { "99" });
            for (number, _) in named.iter().filter(|(_, is_named)| *is_named && !is_all) {
                params += &format!(";{number}");
            }
            painter.put(&format!("\x1b[{params}#{{"));
        }
        for _ in 0..self.sgr_stack.beyond.min(BEYOND_WRITTEN) {
            painter.put("\x1b[#{");
        }
    }

    /// XTPOPSGR: restores SGR attributes.
    pub(crate) fn pop_rendition(&mut self) {
        if self.sgr_stack.beyond > 0 {
            self.sgr_stack.beyond -= 1;
        } else if let Some(saved) = self.sgr_stack.saved.pop() {
            saved.give_back(self.pen.style_mut());
        }
    }

    /// XTREPORTSGR: reports the SGR parameters of the attributes that all cells of a rectangle share.
    pub(crate) fn report_rendition(&mut self, params: &Params) {
        let Some(block) = self.rectangle(params, 0) else { return };
        let mut scratch = Scratch::default();
        let mut common: Option<Style> = None;
        for row in block.top..block.bottom {
            let line = self.grid.live_top() + row as u64;
            let Some(view) = self.grid.read(line, &mut scratch) else { continue };
            for col in block.left..block.right {
                let cell = view.cells.get(col).copied().unwrap_or_default();
                let style = view.tables.style(cell.style_id());
                common = Some(common.map_or(style, |common| shared(&common, &style)));
            }
        }
        self.reply_text(format!("\x1b[{}m", rendition_of(&common.unwrap_or_default())));
    }
}

/// The attributes that two styles share.
fn shared(a: &Style, b: &Style) -> Style {
    let color = |a: Color, b: Color| if a == b { a } else { Color::Default };
    Style {
        foreground: color(a.foreground, b.foreground),
        background: color(a.background, b.background),
        underline_color: color(a.underline_color, b.underline_color),
        attrs: a.attrs & b.attrs,
        underline: if a.underline == b.underline { a.underline } else { Underline::None },
        ..Style::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Parser, Size, Term};

    /// The terminal's replies to `bytes`.
    fn reply(bytes: &str) -> String {
        let mut term = Term::new(Size::cells(10, 4), crate::Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        String::from_utf8(term.take_replies()).unwrap()
    }

    const ASK: &str = "\x1bP$qm\x1b\\";

    #[test]
    fn a_pop_gives_back_what_the_push_named() {
        // Save and restore all attributes.
        assert_eq!(
            reply(&format!("\x1b[1;31m\x1b[#{{\x1b[0;4;44m\x1b[#}}{ASK}")),
            "\x1bP1$r0;1;31m\x1b\\"
        );
        // Save bold and the foreground. Other attributes are not restored.
        assert_eq!(
            reply(&format!("\x1b[1;31m\x1b[1;30#{{\x1b[0;4;44m\x1b[#}}{ASK}")),
            "\x1bP1$r0;1;4;31;44m\x1b\\"
        );
        // An attribute that was off when it was saved is off again.
        assert_eq!(reply(&format!("\x1b[1#{{\x1b[1;3m\x1b[#}}{ASK}")), "\x1bP1$r0;3m\x1b\\");
        // Use the alternative sequences, and one pop too many.
        assert_eq!(
            reply(&format!("\x1b[3m\x1b[#p\x1b[m\x1b[#q\x1b[#q{ASK}")),
            "\x1bP1$r0;3m\x1b\\"
        );
    }

    #[test]
    fn pushes_beyond_the_cap_are_counted_and_not_kept() {
        let nested = |depth: usize| {
            let pushes: String = (0..depth).map(|i| format!("\x1b[3{}m\x1b[#{{", i % 8)).collect();
            reply(&format!("{pushes}\x1b[m{}{ASK}", "\x1b[#}".repeat(depth)))
        };
        assert_eq!(nested(10), "\x1bP1$r0;30m\x1b\\");
        assert_eq!(nested(100), "\x1bP1$r0;30m\x1b\\");
    }

    #[test]
    fn a_rectangle_reports_the_attributes_its_cells_share() {
        let text = "\x1b[1;4;31mab\x1b[1;4;32mcd\x1b[m";
        assert_eq!(reply(&format!("{text}\x1b[1;1;1;2#|")), "\x1b[0;1;4;31m");
        assert_eq!(reply(&format!("{text}\x1b[1;1;1;4#|")), "\x1b[0;1;4m");
        assert_eq!(reply(&format!("{text}\x1b[1;1;1;5#|")), "\x1b[0m");
    }
}

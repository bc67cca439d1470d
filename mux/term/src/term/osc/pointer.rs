//! OSC 22: the shape of the mouse pointer (kitty, "Mouse pointer shapes"; xterm's form is its simplest case).

use super::terminator;
use crate::Event;
use crate::term::Term;

/// Maximum shapes on one screen's stack (the protocol requires at least 16); the oldest is dropped.
const STACK_CAP: usize = 32;
/// Maximum names in one query.
const QUERY_CAP: usize = 64;

/// The shapes, by their names in CSS.
const SHAPES: [&str; 30] = [
    "alias",
    "cell",
    "copy",
    "crosshair",
    "default",
    "e-resize",
    "ew-resize",
    "grab",
    "grabbing",
    "help",
    "move",
    "n-resize",
    "ne-resize",
    "nesw-resize",
    "no-drop",
    "not-allowed",
    "ns-resize",
    "nw-resize",
    "nwse-resize",
    "pointer",
    "progress",
    "s-resize",
    "se-resize",
    "sw-resize",
    "text",
    "vertical-text",
    "w-resize",
    "wait",
    "zoom-in",
    "zoom-out",
];

/// Names from X11/cursorfont.h that programs written for xterm use, with their CSS names.
const X11: [(&str, &str); 20] = [
    ("left_ptr", "default"),
    ("arrow", "default"),
    ("top_left_arrow", "default"),
    ("xterm", "text"),
    ("hand", "pointer"),
    ("hand1", "pointer"),
    ("hand2", "pointer"),
    ("pointing_hand", "pointer"),
    ("watch", "wait"),
    ("clock", "wait"),
    ("left_ptr_watch", "progress"),
    ("question_arrow", "help"),
    ("cross", "crosshair"),
    ("tcross", "crosshair"),
    ("plus", "cell"),
    ("fleur", "move"),
    ("X_cursor", "not-allowed"),
    ("sb_h_double_arrow", "ew-resize"),
    ("sb_v_double_arrow", "ns-resize"),
    ("dnd-link", "alias"),
];

/// Shapes set on the main and the alternate screen. The last is current; `None` is the terminal's own.
pub(crate) type Pointers = [Vec<Option<&'static str>>; 2];

fn shape(name: &str) -> Option<&'static str> {
    let alias = X11.iter().find(|(own, _)| *own == name).map(|(_, css)| *css);
    alias.or_else(|| SHAPES.into_iter().find(|own| *own == name))
}

impl Term {
    /// The CSS name of the pointer shape that the program set for the visible screen; `None`: the terminal's own.
    pub fn pointer_shape(&self) -> Option<&'static str> {
        self.osc.pointers[self.screen as usize].last().copied().flatten()
    }

    /// `name` or `=name` sets, `>a,b` pushes, `<` pops, `?a,b` queries.
    pub(super) fn set_pointer(&mut self, rest: &[u8], bell: bool) {
        let Ok(rest) = std::str::from_utf8(rest) else { return };
        let before = self.pointer_shape();
        let (operation, names) = match rest.chars().next() {
            Some(c @ ('=' | '>' | '<' | '?')) => (c, &rest[1..]),
            _ => ('=', rest),
        };
        let stack = &mut self.osc.pointers[self.screen as usize];
        match operation {
            '<' => drop(stack.pop()),
            '>' => {
                for shape in names.split(',').filter_map(shape) {
                    if stack.len() == STACK_CAP {
                        self.caps.oldest_dropped("pointer shape", STACK_CAP);
                        stack.remove(0);
                    }
                    stack.push(Some(shape));
                }
            }
            '?' => return self.report_pointer(names, bell),
            _ => {
                let set = shape(names);
                if set.is_none() && !names.is_empty() {
                    tracing::debug!("unknown pointer shape");
                    return;
                }
                stack.pop();
                stack.extend(set.map(Some).or((!stack.is_empty()).then_some(None)));
            }
        }
        if self.pointer_shape() != before {
            self.event(Event::PointerShape);
        }
    }

    fn report_pointer(&mut self, names: &str, bell: bool) {
        if memchr::memchr_iter(b',', names.as_bytes()).count() >= QUERY_CAP {
            return self.caps.dropped("question of pointer shapes", QUERY_CAP);
        }
        let answer = |name: &str| match name {
            "__current__" => self.pointer_shape().unwrap_or("0"),
            "__default__" => "text",
            "__grabbed__" => "default",
            name => ["0", "1"][shape(name).is_some() as usize],
        };
        let answers: Vec<_> = names.split(',').map(answer).collect();
        self.reply(format!("\x1b]22;{}{}", answers.join(","), terminator(bell)).as_bytes());
    }
}

//! Operating system commands: each family has a file; this one only tells them apart.
//!
//! Source: xterm ctlseqs "Operating System Commands", and the page of each protocol that is not xterm's. Owns, in
//! [`OscState`], what programs told by them that is neither on the screen nor a mode.

mod clipboard;
mod color_cie;
mod color_spec;
mod color_stack;
mod cwd;
mod iterm;
mod kitty_notify;
mod link;
mod notify;
mod palette;
mod pointer;
mod prompt;
pub(crate) mod status;
mod text;
pub(crate) mod title;
mod to_vt;

use crate::notification::Progress;
use crate::term::Term;
use crate::{Event, Rgb};
use status::ProgramStatus;

/// What programs told. Every list is bounded in the file of its command.
#[derive(Debug, Default)]
pub(crate) struct OscState {
    colors: color_stack::ColorStack,
    questions: clipboard::Questions,
    notifications: kitty_notify::Notifications,
    pointers: pointer::Stacks,
    progress: Progress,
    /// See [`Term::host`].
    host: Option<String>,
    remote_host: Option<String>,
    statuses: Vec<ProgramStatus>,
    tab_color: Option<Rgb>,
    user_vars: Vec<(String, String)>,
}

impl Term {
    /// An OSC, from behind `ESC ]` to before its end; `bell`: ended by BEL, and so will the answer be.
    pub(crate) fn osc(&mut self, string: &[u8], bell: bool) {
        match string.split_first() {
            // Sun shelltool and CDE dtterm.
            Some((b'l', title)) => {
                self.set_titles(2, title);
                return self.end_operation();
            }
            Some((b'L', label)) => {
                self.set_titles(1, label);
                return self.end_operation();
            }
            _ => {}
        }
        let digits = string.iter().take_while(|b| b.is_ascii_digit()).count();
        let number = match string.get(digits) {
            None | Some(b';') => std::str::from_utf8(&string[..digits]).ok(),
            Some(_) => None,
        };
        let Some(number) = number.and_then(|digits| digits.parse::<u16>().ok()) else {
            tracing::debug!(length = string.len(), "OSC without a number");
            return self.end_operation();
        };
        let rest = string.get(digits + 1..).unwrap_or_default();
        match number {
            0..=2 => self.set_titles(number, rest), // both titles, the icon's label, the title
            4 | 5 => self.set_colors(number, rest, bell), // palette, special colours
            6 => self.set_tab_color(rest),          // tab colour (iTerm2)
            7 => self.set_cwd_and_host(rest),       // working directory
            8 => self.set_link(rest),               // hyperlink
            9 => self.notify(rest), // notification (iTerm2), progress and directory (ConEmu)
            10..=19 => self.set_dynamic_colors(number, rest, bell), // foreground, background, cursor …
            21 => self.control_colors(rest, bell),                  // colours (kitty)
            22 => self.set_pointer(rest, bell),                     // pointer shape
            52 => self.use_clipboard(rest, bell),                   // clipboard
            99 => self.notify_kitty(rest, bell),                    // notification (kitty)
            104 | 105 => self.reset_colors(number - 100, rest),     // palette, special colours
            110..=119 => self.reset_dynamic_color(number), // foreground, background, cursor …
            133 => self.mark_prompt(rest),                 // shell integration
            633 => self.mark_prompt_vscode(rest),          // shell integration (VS Code)
            777 => self.notify_urxvt(rest),                // notification (urxvt)
            1337 => self.iterm2(rest, bell),               // iTerm2's
            7501 => self.report_program_status(rest, bell), // program status
            30001 => self.push_color(),                    // colour stack (kitty)
            30101 => self.pop_color(),                     // colour stack (kitty)
            _ => tracing::debug!(number, "unknown OSC"),
        }
        self.end_operation();
    }

    /// RIS: what programs told is forgotten, and those who show it hear of that.
    pub(crate) fn reset_osc(&mut self) {
        let shape = self.pointer_shape();
        // A reset moves the program to no other machine.
        let host = self.osc.host.take();
        let old = std::mem::replace(&mut self.osc, OscState { host, ..OscState::default() });
        self.commands.clear();
        self.marks = Default::default();
        for (changed, event) in [
            (shape.is_some(), Event::PointerShape),
            (old.progress != Progress::None, Event::Progress),
            (old.tab_color.is_some(), Event::TabColor),
            (!old.statuses.is_empty(), Event::ProgramStatus),
        ] {
            if changed {
                self.event(event);
            }
        }
    }
}

/// What a reply to an OSC ends with: what the question ended with.
fn terminator(bell: bool) -> &'static str {
    if bell { "\x07" } else { "\x1b\\" }
}

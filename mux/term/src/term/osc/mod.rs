//! Operating system commands. Each family has its own file; this file only dispatches to them.
//!
//! Source: xterm ctlseqs "Operating System Commands", and the page of each protocol beyond xterm. Owns, in
//! [`OscState`], the state that OSCs set and that is neither on the screen nor a mode.

mod clipboard;
mod color_stack;
pub(crate) mod context;
mod cwd;
mod iterm;
mod kitty_notify;
mod link;
mod notify;
mod palette;
mod pointer;
pub(crate) mod prompt;
pub(crate) mod status;
mod text;
mod text_size;
pub(crate) mod title;
mod to_vt;
pub(crate) mod transfer;
pub(crate) mod typed_clipboard;

pub(crate) use color_stack::ColorStack;
pub(crate) use pointer::Pointers;

use crate::term::Term;
use crate::term::notification::Progress;
use crate::{Event, Rgb};
use status::ProgramStatus;

/// State set by OSCs. Every list is bounded in the file of its command.
#[derive(Debug, Default)]
pub(crate) struct OscState {
    pub colors: ColorStack,
    questions: clipboard::Questions,
    clipboard_requests: typed_clipboard::Requests,
    notifications: kitty_notify::Notifications,
    /// The number of commands of OSC 5113 so far.
    transfer_commands: u64,
    pub pointers: Pointers,
    progress: Progress,
    /// See [`Term::progress_seq`] and [`Term::progress_time`].
    progress_seq: u64,
    progress_time: u64,
    /// Links refused since the last that was accepted.
    refused_links: u32,
    /// See [`Term::host`].
    host: Option<String>,
    remote_host: Option<String>,
    contexts: context::Contexts,
    statuses: Vec<ProgramStatus>,
    tab_color: Option<Rgb>,
    user_vars: Vec<(String, String)>,
}

impl Term {
    /// Handles an OSC, the text between `ESC ]` and its terminator. `bell`: BEL terminated it, so a reply ends with BEL
    /// too.
    pub(crate) fn osc(&mut self, string: &[u8], bell: bool) {
        let Some((number, rest)) = command(string) else {
            tracing::debug!(length = string.len(), "OSC without a number");
            return self.end_operation();
        };
        match number {
            133 => self.mark_prompt(rest), // shell integration
            _ if self.is_vt52() => tracing::debug!(number, "OSC in VT52 mode"),
            0..=2 => self.set_titles(number, rest), // both titles, the icon's label, the title
            4 | 5 => self.set_colors(number, rest, bell), // palette, special colors
            6 => self.set_tab_color(rest),          // tab color (iTerm2)
            7 => self.set_cwd_and_host(rest),       // working directory
            8 => self.set_link(rest),               // hyperlink
            9 => self.notify(rest), // notification (iTerm2), progress and directory (ConEmu)
            10..=19 => self.set_dynamic_colors(number, rest, bell), // foreground, background, cursor …
            21 => self.control_colors(rest, bell),                  // colors (kitty)
            22 => self.set_pointer(rest, bell),                     // pointer shape
            52 => self.use_clipboard(rest, bell),                   // clipboard
            66 => self.print_text_size(rest),                       // text of another size (kitty)
            99 => self.notify_kitty(rest, bell),                    // notification (kitty)
            104 | 105 => self.reset_colors(number - 100, rest),     // palette, special colors
            110..=119 => self.reset_dynamic_color(number), // foreground, background, cursor …
            633 => self.mark_prompt_vscode(rest),          // shell integration (VS Code)
            777 => self.notify_urxvt(rest),                // notification (urxvt)
            1337 => self.iterm2(rest, bell),               // iTerm2's
            3008 => self.signal_context(rest),             // contexts (UAPI.15)
            5113 => self.transfer_files(rest),             // file transfer (kitty)
            5522 => self.exchange_clipboard(rest, bell),   // clipboard with types (kitty)
            7501 => self.report_program_status(rest, bell), // program status
            30001 => self.push_color(),                    // color stack (kitty)
            30101 => self.pop_color(),                     // color stack (kitty)
            _ => tracing::debug!(number, "unknown OSC"),
        }
        self.end_operation();
    }

    /// RIS: clears the state set by OSCs, and sends an event for each visible part that changed.
    pub(crate) fn reset_osc(&mut self) {
        let shape = self.pointer_shape();
        // A reset does not move the program to another machine or out of its contexts.
        let (host, contexts) = (self.osc.host.take(), std::mem::take(&mut self.osc.contexts));
        let mut clipboard_requests = std::mem::take(&mut self.osc.clipboard_requests);
        clipboard_requests.forget();
        let transfer_commands = self.osc.transfer_commands;
        let initial = OscState {
            host,
            contexts,
            clipboard_requests,
            transfer_commands,
            ..OscState::default()
        };
        let old = std::mem::replace(&mut self.osc, initial);
        self.commands.clear();
        self.marks = Default::default();
        self.typed.clear();
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

/// The number that an OSC begins with, and the text after its semicolon.
fn command(string: &[u8]) -> Option<(u16, &[u8])> {
    match string {
        // The forms of Sun shelltool and CDE dtterm for the title and the icon's label.
        [b'l', title @ ..] => return Some((2, title)),
        [b'L', label @ ..] => return Some((1, label)),
        _ => {}
    }
    let digits = string.iter().take_while(|b| b.is_ascii_digit()).count();
    let number = std::str::from_utf8(&string[..digits]).ok()?.parse().ok()?;
    match string.get(digits) {
        None => Some((number, &[])),
        Some(b';') => Some((number, &string[digits + 1..])),
        Some(_) => None,
    }
}

/// The terminator of a reply to an OSC, which matches that of the query.
fn terminator(bell: bool) -> &'static str {
    if bell { "\x07" } else { "\x1b\\" }
}

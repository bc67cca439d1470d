//! OSC 1337, iTerm2's own commands, and its OSC 6;1;bg for the tab's color.
//!
//! Supports the commands that report something or request something harmless. Source: iTerm2, "Proprietary Escape
//! Codes".

use base64::Engine as _;

use super::terminator;
use super::text::{BASE64, clean, clean_base64};
use crate::term::Term;
use crate::{ClipboardTarget, CursorShape, Event, Rgb};

/// Maximum user variables; further variables are dropped.
const VARS_CAP: usize = 64;
/// Maximum bytes of a variable's name, and of its value.
const NAME_CAP: usize = 128;
const VALUE_CAP: usize = 4096;
/// The features of this terminal in the codes of iTerm2's "Terminal Feature Reporting" (iterm2.com/feature-reporting,
/// table "The codes are"): 24-bit colors in both forms, clipboard, margins, mouse, all cursor shapes, Unicode and its
/// version, title setting and stacks, bracketed paste, focus (whose code the table also assigns to files), strike and
/// overline, synchronized output, links, notifications, sixel.
const CAPABILITIES: &str = "T3CwLrMSc7UUw17Ts3BFGsGoSyHNoSx";
/// The code, in iTerm2's table of widths, for ambiguous-width characters that occupy two columns.
const AMBIGUOUS_WIDE: &str = "Aw";

impl Term {
    /// Variables that a program set (OSC 1337 SetUserVar), in the order they were first set. At most 64; a value has no
    /// control characters and at most 4 KiB.
    pub fn user_vars(&self) -> impl Iterator<Item = (&str, &str)> {
        self.osc.user_vars.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `user@host` as the program reported it (OSC 1337 RemoteHost).
    pub fn remote_host(&self) -> Option<&str> {
        self.osc.remote_host.as_deref()
    }

    /// The color that the program requested for its tab (OSC 6;1;bg).
    pub fn tab_color(&self) -> Option<Rgb> {
        self.osc.tab_color
    }

    /// Offers the nonce to the next program that sends `OSC 1337 ; UntermNonce=ticket`. The program receives
    /// [`crate::Options::nonce`] once, as a line of input after `unterm-nonce:`, so that a login shell on another
    /// machine can mark its commands with it. The ticket expires when the current command ends, or when another ticket
    /// is set.
    pub fn lend_nonce(&mut self, ticket: String) {
        self.commands.lend_nonce(ticket);
    }

    fn lend(&mut self, ticket: &[u8]) {
        match self.commands.borrow_nonce(ticket) {
            Some(nonce) => self.reply(format!("unterm-nonce:{nonce}\r").as_bytes()),
            None => tracing::debug!("a request for the nonce without a ticket"),
        }
    }

    /// OSC 1337: `command` or `command=value`.
    pub(super) fn iterm2(&mut self, rest: &[u8], bell: bool) {
        let (command, value) = match rest.iter().position(|&b| b == b'=') {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &[][..]),
        };
        match command {
            b"SetUserVar" => self.set_user_var(value),
            b"CurrentDir" => self.set_cwd_path(value),
            b"RemoteHost" => {
                let Some(host) = clean(&mut self.caps, value, NAME_CAP, "remote host") else {
                    return;
                };
                let name = host.rsplit_once('@').map_or(host.as_str(), |(_, name)| name);
                self.osc.host = (!name.is_empty()).then(|| name.to_owned());
                self.osc.remote_host = (!host.is_empty()).then_some(host);
            }
            b"SetMark" => self.mark_line(),
            b"UntermNonce" => self.lend(value),
            b"ClearScrollback" => self.erase_in_display(3),
            b"CursorShape" => {
                self.shape = match value {
                    b"1" => CursorShape::Bar,
                    b"2" => CursorShape::Underline,
                    _ => CursorShape::Block,
                };
            }
            b"Copy" => self.copy_iterm2(value),
            b"ReportCellSize" => {
                let (width, height) = self.size.cell_pixels();
                let end = terminator(bell);
                let reply = format!("\x1b]1337;ReportCellSize={height}.0;{width}.0;1.0{end}");
                self.reply(reply.as_bytes());
            }
            b"Capabilities" => {
                let end = terminator(bell);
                let wide = if self.ambiguous_wide { AMBIGUOUS_WIDE } else { "" };
                let reply = format!("\x1b]1337;Capabilities={CAPABILITIES}{wide}{end}");
                self.reply(reply.as_bytes());
            }
            b"File" => self.show_iterm2_file(value),
            b"MultipartFile" => self.begin_iterm2_file(value),
            b"FilePart" => self.continue_iterm2_file(value),
            b"FileEnd" => self.end_iterm2_file(),
            _ => tracing::debug!("unknown command of iTerm2's"),
        }
    }

    /// `name=base64`.
    fn set_user_var(&mut self, value: &[u8]) {
        let Some(at) = value.iter().position(|&b| b == b'=') else { return };
        let caps = &mut self.caps;
        let name = clean(caps, &value[..at], NAME_CAP, "name of a user variable");
        let value = clean_base64(caps, &value[at + 1..], VALUE_CAP, "value of a user variable");
        let (Some(name), Some(value)) = (name, value) else { return };
        let vars = &mut self.osc.user_vars;
        match vars.iter().position(|(own, _)| *own == name) {
            Some(at) => vars[at].1.clone_from(&value),
            None if vars.len() < VARS_CAP && !name.is_empty() => {
                vars.push((name.clone(), value.clone()));
            }
            None => return self.caps.dropped("user variable", VARS_CAP),
        }
        self.event(Event::UserVar { name, value });
    }

    /// `[clipboard]:base64`.
    fn copy_iterm2(&mut self, value: &[u8]) {
        let Some(at) = value.iter().position(|&b| b == b':') else { return };
        match BASE64.decode(&value[at + 1..]).map(String::from_utf8) {
            Ok(Ok(text)) => {
                self.event(Event::Clipboard { target: ClipboardTarget::Clipboard, text });
            }
            _ => tracing::debug!("copied text is no base64 of UTF-8"),
        }
    }

    /// OSC 6: `1;bg;red|green|blue;brightness;n` sets a channel, `1;bg;*;default` resets.
    pub(super) fn set_tab_color(&mut self, rest: &[u8]) {
        let Ok(rest) = std::str::from_utf8(rest) else { return };
        let parts: Vec<_> = rest.splitn(6, ';').collect();
        let mut color = self.osc.tab_color.unwrap_or_default();
        let color = match parts[..] {
            ["1", "bg", "*", "default"] => None,
            ["1", "bg", channel, "brightness", value] => {
                let Ok(value) = value.parse::<u8>() else { return };
                match channel {
                    "red" => color.r = value,
                    "green" => color.g = value,
                    "blue" => color.b = value,
                    _ => return,
                }
                Some(color)
            }
            _ => return tracing::debug!("unknown OSC 6"),
        };
        if self.osc.tab_color != color {
            self.osc.tab_color = color;
            self.event(Event::TabColor);
        }
    }
}

//! OSC 9 (iTerm2's notification; ConEmu's progress, directory and prompt) and OSC 777 (urxvt's notification).
//!
//! ConEmu's commands that run programs, wait or show message boxes are not supported.

use std::mem::discriminant;

use super::text::clean;
use crate::Event;
use crate::term::Term;
use crate::term::notification::{Notification, Progress};

/// Maximum bytes of a title and of a body.
pub(super) const TEXT_CAP: usize = 4096;

impl Term {
    /// The progress that the program last reported (OSC 9;4).
    pub fn progress(&self) -> Progress {
        self.osc.progress
    }

    /// The `seq` at which the progress entered its state. Another percentage does not change it.
    pub fn progress_seq(&self) -> u64 {
        self.osc.progress_seq
    }

    /// The time at which the progress entered its state, in milliseconds since 1970. 0 if unknown
    /// ([`Term::set_time`]).
    pub fn progress_time(&self) -> u64 {
        self.osc.progress_time
    }

    /// OSC 9: a number before a `;` is a ConEmu command; everything else is a notification.
    pub(super) fn notify(&mut self, rest: &[u8]) {
        let (command, argument) = match rest.iter().position(|&b| b == b';') {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &[][..]),
        };
        match command {
            b"4" if rest.len() > 1 => self.set_progress(argument),
            b"9" if rest.len() > 1 => self.set_cwd_path(argument),
            b"12" => self.end_conemu_prompt(),
            b"1" | b"2" | b"3" | b"5" | b"6" | b"7" | b"8" | b"10" | b"11" if rest.len() > 1 => {
                tracing::debug!("command of ConEmu's that is not done");
            }
            _ => {
                if let Some(text) = clean(&mut self.caps, rest, TEXT_CAP, "notification") {
                    self.show_text(String::new(), text);
                }
            }
        }
    }

    /// OSC 777: `notify ; title ; body`.
    pub(super) fn notify_urxvt(&mut self, rest: &[u8]) {
        let mut parts = rest.splitn(3, |&b| b == b';');
        if parts.next() != Some(b"notify") {
            tracing::debug!("unknown extension of urxvt's");
            return;
        }
        let mut text = || {
            let part = parts.next().unwrap_or_default();
            clean(&mut self.caps, part, TEXT_CAP, "notification")
        };
        if let (Some(title), Some(body)) = (text(), text()) {
            self.show_text(title, body);
        }
    }

    fn show_text(&mut self, title: String, body: String) {
        let (title, body) = if title.is_empty() { (body, title) } else { (title, body) };
        if title.is_empty() {
            return;
        }
        let handle = self.osc.notifications.add(&mut self.caps, None, false, false);
        let notification = Notification { handle, title, body, focus: true, ..Default::default() };
        self.event(Event::Notification(Box::new(notification)));
    }

    /// `state ; percent` (ConEmu, "ANSI X3.64 and Xterm 256 Colors", OSC 9;4).
    fn set_progress(&mut self, argument: &[u8]) {
        let mut parts = argument.split(|&b| b == b';').map(number);
        let state = parts.next().flatten();
        let percent = parts.next().flatten().map(|percent| percent.min(100) as u8);
        let known = match self.osc.progress {
            Progress::Percent(percent) => Some(percent),
            Progress::Error(percent) | Progress::Paused(percent) => percent,
            Progress::None | Progress::Indeterminate => None,
        };
        let progress = match state {
            Some(0) => Progress::None,
            Some(1) => Progress::Percent(percent.unwrap_or(0)),
            Some(2) => Progress::Error(percent.or(known)),
            Some(3) => Progress::Indeterminate,
            Some(4) => Progress::Paused(percent.or(known)),
            _ => {
                tracing::debug!("unknown state of progress");
                return;
            }
        };
        self.change_progress(progress);
    }

    pub(crate) fn change_progress(&mut self, progress: Progress) {
        let before = std::mem::replace(&mut self.osc.progress, progress);
        if discriminant(&before) != discriminant(&progress) {
            (self.osc.progress_seq, self.osc.progress_time) = (self.seq, self.now());
        }
        if before != progress {
            self.event(Event::Progress);
        }
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.trim().parse().ok()
}

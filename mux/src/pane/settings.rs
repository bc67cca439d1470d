//! Settings of a pane: those that the user or a caller changes, and those with which the pane was opened.
//!
//! Owns the pane's name, its theme colors, and replies to its notifications. Never reads or writes a settings file.

use std::sync::Arc;

use unterm_term::{Palette, Term};

use super::Pane;
use crate::MuxEvent;

impl Pane {
    /// Changes the theme's colors. Colors that the program has set stay unchanged.
    pub fn set_palette(&self, palette: Arc<Palette>) {
        self.act_on(|term| term.set_base_palette(palette));
    }

    /// Reports a click on the program's notification `handle`, or on one of its buttons, counted from 1.
    pub fn notification_clicked(&self, handle: u64, button: Option<u8>) {
        self.act_on(|term| term.activate_notification(handle, button));
    }

    /// Reports that a notification of the program was closed or could not be shown.
    pub fn notification_closed(&self, handle: u64) {
        self.act_on(|term| term.close_notification(handle));
    }

    /// Changes the terminal and sends its replies to the program.
    pub(super) fn act_on(&self, act: impl FnOnce(&mut Term)) {
        let mut term = self.term.lock();
        act(&mut term);
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.reply(&replies);
        self.announce(seq, events);
    }

    /// Sets the pane's name. It is shown instead of the titles that programs set. An empty name removes it.
    pub fn set_name(&self, name: &str) {
        *self.name.lock() = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        self.observers.event(MuxEvent::Title(self.id));
    }

    /// Copies the name of another pane, without an event.
    pub(crate) fn take_name(&self, other: &Pane) {
        let name = other.name.lock().clone();
        *self.name.lock() = name;
    }

    /// Whether the pane has a name ([`Pane::set_name`]).
    pub fn has_name(&self) -> bool {
        self.name.lock().is_some()
    }

    /// The requested program and its arguments. `None`: the default shell.
    pub fn command(&self) -> Option<(&str, &[String])> {
        self.command.as_ref().map(|(program, args)| (program.as_str(), args.as_slice()))
    }

    /// The secret in the prompt marks of the pane's own shells (OSC 133 `nonce=`). `None`: no shell integration.
    pub fn nonce(&self) -> Option<&Arc<str>> {
        self.nonce.as_ref()
    }
}

//! tmux's control mode (`tmux -CC`), as a client: the server's lines go in, changes of tabs and panes come out.
//!
//! Owns the grammar of the lines and of layout strings, the commands that are sent to tmux, and a model of the session's
//! windows. Never does I/O, starts threads, reads clocks, or depends on a terminal or a window. A [`Client`] is the
//! state. Its owner passes the bytes of the control mode to it, carries out the [`Action`]s that it returns, and sends
//! the commands that it has collected.
//!
//! A program can print the beginning of the control mode although it is not tmux. So every text from the server is
//! hostile: malformed lines are skipped, and everything that is stored has a bound.
//!
//! Source: tmux(1), "Control mode"; control.c, layout-custom.c and grid.c of tmux 3.3a to 3.6.

mod client;
mod command;
mod escape;
mod layout;
mod lines;
mod notification;
mod recent;
mod restore;

use std::fmt;

pub use client::{Action, Client, End, Opened, Ticket, View};
pub use command::{NewProgram, Side};
pub use layout::{Borders, Cell, Content, Layout, LayoutError};

/// A pane of the tmux server, which tmux writes as `%0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u32);

/// A window of the tmux server, which tmux writes as `@0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(pub u32);

impl PaneId {
    fn parse(text: &str) -> Option<Self> {
        number(text.strip_prefix('%')?).map(Self)
    }
}

impl WindowId {
    fn parse(text: &str) -> Option<Self> {
        number(text.strip_prefix('@')?).map(Self)
    }
}

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Display for WindowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// A decimal number without a sign.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

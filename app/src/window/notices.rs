//! Notices: what programs and long commands want a person to know who is not looking (OSC 9, 99, 777; the end of a
//! command), and the bell.
//!
//! Owns when one is shown, and what a click does. It is shown as a message in the window.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use unterm_mux::PaneId;
use unterm_renderer::{PixelRect, Quad, Scene};
use unterm_term::{Notification, Occasion};

use super::{App, chrome::Colors, errand::Done, view::View};
use crate::bell;

/// Notices of one pane that may come at once; then one a [`REFILL`].
const BUDGET: u32 = 5;
const REFILL: Duration = Duration::from_secs(2);
/// Notices between two looks; what is more is dropped.
const QUEUE: usize = 64;
/// Characters of a command line.
const LINE: usize = 120;
/// How long a visual bell is seen.
const FLASH: Duration = Duration::from_millis(120);
/// Bells closer together than this are one.
const BELL_PAUSE: Duration = Duration::from_millis(200);

/// What was told of a pane, in order.
#[derive(Debug)]
pub(super) enum Told {
    Show(PaneId, Box<Notification>),
    Ended(PaneId, Ended),
}

/// A command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) command: u64,
    pub(super) exit_code: Option<i32>,
    pub(super) took: Duration,
}

/// Adds to what was told, as long as there is room.
pub(super) fn queue(told: &mut Vec<Told>, new: Told) {
    if told.len() < QUEUE {
        told.push(new);
    }
}

/// The window's part in notices.
#[derive(Default)]
pub(super) struct Notices {
    /// How many each pane may still show, and since when it gains.
    budgets: HashMap<PaneId, (u32, Instant)>,
    /// When the last bell was rung aloud.
    rung: Option<Instant>,
}

impl Notices {
    /// Whether a pane may show one more now.
    fn may_show(&mut self, pane: PaneId, now: Instant) -> bool {
        let (left, since) = self.budgets.entry(pane).or_insert((BUDGET, now));
        let gained =
            (now.saturating_duration_since(*since).as_millis() / REFILL.as_millis()) as u32;
        if gained > 0 {
            *left = left.saturating_add(gained).min(BUDGET);
            *since = now;
        }
        let may = *left > 0;
        *left = left.saturating_sub(1);
        may
    }

    /// A pane is gone.
    pub(super) fn forget(&mut self, pane: PaneId) {
        self.budgets.remove(&pane);
    }
}

impl App {
    /// Takes what was told.
    pub(super) fn told(&mut self, told: Told) {
        match told {
            Told::Show(pane, notification) => self.program_notifies(pane, *notification),
            Told::Ended(pane, ended) => self.command_ended(pane, ended),
        }
    }

    /// Whether a person can see the pane: its tab is in front and the window is not hidden; and whether they look at it:
    /// the window has the keyboard as well.
    fn attention(&self, pane: PaneId) -> (bool, bool) {
        let layout = self.mux.layout();
        let in_front = layout.active_tab().is_some_and(|tab| tab.root.contains(pane));
        let occluded = self.screen.as_ref().is_none_or(|screen| screen.occluded);
        (in_front && !occluded, in_front && !occluded && self.focused)
    }

    fn program_notifies(&mut self, pane: PaneId, notification: Notification) {
        if !self.config.notifications.programs {
            return;
        }
        let (visible, looked_at) = self.attention(pane);
        let wanted = match notification.occasion {
            Occasion::Always => true,
            Occasion::Unfocused => !looked_at,
            Occasion::Invisible => !self.focused && !visible,
        };
        if !wanted {
            return;
        }
        if !self.notices.may_show(pane, Instant::now()) {
            tracing::debug!(pane = pane.0, "too many notifications");
            return;
        }
        self.show_notice(&notification.title, &notification.body);
    }

    fn command_ended(&mut self, pane: PaneId, ended: Ended) {
        let least = Duration::from_secs(self.config.notifications.long_commands.into());
        if least.is_zero() || ended.took < least || self.attention(pane).1 {
            return;
        }
        let line = self.mux.pane(pane).and_then(|pane| {
            let term = pane.term();
            term.command(ended.command).and_then(|command| command.line.clone())
        });
        let took = lasted(ended.took);
        let body = match ended.exit_code {
            Some(0) | None => format!("Finished after {took}."),
            Some(code) => format!("Failed with exit code {code} after {took}."),
        };
        let title = line.map_or_else(|| "A command".to_owned(), |line| short(&line));
        self.show_notice(&title, &body);
    }

    fn show_notice(&mut self, title: &str, body: &str) {
        let text = if body.is_empty() { title.to_owned() } else { format!("{title}\n{body}") };
        self.notify("notification", text);
    }

    /// A bell is to be heard.
    pub(super) fn sound_bell(&mut self) {
        let config = &self.config.bell;
        let (audible, command) = (config.audible, config.command.clone());
        let now = Instant::now();
        let is_soon = self.notices.rung.is_some_and(|rung| now < rung + BELL_PAUSE);
        if is_soon || !audible && command.is_empty() {
            return;
        }
        self.notices.rung = Some(now);
        self.errand("bell", move || match bell::ring(audible, &command) {
            Ok(()) => Done::Nothing,
            Err(error) => Done::Failed("bell", format!("The bell can't be rung.\n{error:#}")),
        });
    }
}

impl App {
    /// Forgets the flashes that were seen long enough; gives when the next one ends.
    pub(super) fn end_flashes(&mut self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for view in self.views.values_mut() {
            match view.flash.map(|rang| rang + FLASH) {
                Some(end) if now < end => next = next.into_iter().chain([end]).min(),
                Some(_) => view.flash = None,
                None => {}
            }
        }
        next
    }
}

/// Whether a bell is seen as a flash of a pane now.
pub(super) fn is_flashing(views: &HashMap<PaneId, View>, pane: &PaneId) -> bool {
    views.get(pane).is_some_and(|view| view.flash.is_some())
}

/// Draws the flash over a pane.
pub(super) fn draw_flash(rect: PixelRect, colors: &Colors, scene: &mut Scene<'_>) {
    scene.quads.push(Quad { rect, color: colors.text, alpha: 0.15, radius: 0.0 });
}

/// A command line in one line, cut.
fn short(line: &str) -> String {
    let mut words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(LINE) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// A duration for people.
fn lasted(took: Duration) -> String {
    let seconds = took.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_notices_is_held_back_and_comes_again_in_time() {
        let mut notices = Notices::default();
        let start = Instant::now();
        let shown = (0..100).filter(|_| notices.may_show(PaneId(1), start)).count();
        assert_eq!(shown, BUDGET as usize);
        assert!(notices.may_show(PaneId(2), start), "another pane has its own");
        assert!(notices.may_show(PaneId(1), start + REFILL));
        assert!(!notices.may_show(PaneId(1), start + REFILL));
        let later = start + REFILL * 100;
        assert_eq!(
            (0..100).filter(|_| notices.may_show(PaneId(1), later)).count(),
            BUDGET as usize
        );
    }

    #[test]
    fn times_and_lines_are_short() {
        assert_eq!(lasted(Duration::from_millis(12_900)), "12 s");
        assert_eq!(lasted(Duration::from_secs(83)), "1 min 23 s");
        assert_eq!(lasted(Duration::from_secs(3 * 3600 + 125)), "3 h 2 min");
        assert_eq!(short("make  -j\n  all"), "make -j all");
        assert_eq!(short(&"é".repeat(500)).chars().count(), LINE + 1);
    }
}

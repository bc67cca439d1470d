//! A frame in which only the panes' text is new: updates the views, and builds the frame if nothing else has changed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_mux::{Mux, PaneId, Rect};
use unterm_renderer::PaneScene;

use crate::window::{
    echo::{
        last_frame::{LastFrame, Outline},
        text_style::TextStyle,
    },
    surface::Surface,
    workspace::view::{View, Views},
};

/// Half the period of a blinking cursor.
const BLINK: Duration = Duration::from_millis(530);

/// The parts of the window that a text frame changes.
pub(crate) struct TextFrame<'a> {
    pub(crate) mux: &'a Mux,
    pub(crate) surface: &'a mut Surface,
    pub(crate) views: &'a mut Views,
}

impl TextFrame<'_> {
    /// Builds a text frame. Returns false if anything else has changed since the last whole frame.
    pub(crate) fn build(&mut self, last_frame: &mut LastFrame, now: Instant) -> bool {
        if !Arc::ptr_eq(&last_frame.layout, &self.mux.layout()) {
            return false;
        }
        self.refresh(&last_frame.placed, last_frame.style, now);
        let is_same = |((id, _), before): (&(PaneId, Rect), &Outline)| {
            self.views.get(id).and_then(View::outline).is_some_and(|outline| outline == *before)
        };
        if !last_frame.placed.iter().zip(&last_frame.outlines).all(is_same) {
            return false;
        }
        last_frame.look.blink_on = self.blink(&last_frame.placed, last_frame.style, now);
        let LastFrame { placed, look, .. } = last_frame;
        let scene = |(id, area): &(PaneId, Rect)| Some(look.scene(*id, *area, self.views.get(id)?));
        let panes: Vec<PaneScene<'_>> = placed.iter().filter_map(scene).collect();
        self.surface.renderer.frame_with_panes(&panes);
        true
    }

    /// Updates the views of visible panes, and sets the timer for the next frame of their animated images.
    pub(crate) fn refresh(&mut self, placed: &[(PaneId, Rect)], style: TextStyle, now: Instant) {
        let started = self.surface.started;
        let clock = style.has_motion.then(|| now.saturating_duration_since(started));
        let mut next_frame: Option<Duration> = None;
        for (id, _) in placed {
            let Some(pane) = self.mux.pane(*id) else { continue };
            let view = self.views.entry(*id).or_default();
            let due = view.refresh(&pane, clock);
            view.reorders = style.options.reorders(view.snapshot.modes);
            next_frame = next_frame.into_iter().chain(due).min();
            view.shape_cursor(style.cursor);
            view.signals.unseen = false;
        }
        if let Some(due) = next_frame {
            self.surface.wake_at(started + due);
        }
    }

    /// Returns whether blinking cells and cursors are visible now. If any exist, sets the timer for their next change.
    pub(crate) fn blink(
        &mut self,
        placed: &[(PaneId, Rect)],
        style: TextStyle,
        now: Instant,
    ) -> bool {
        let blinks = |id: &PaneId| {
            self.views.get(id).is_some_and(|view| {
                let (cursor, extra) = (view.snapshot.cursor, &view.snapshot.extra_cursors);
                let has_cursor = cursor.visible || !extra.is_empty();
                has_cursor && cursor.blinking || view.snapshot.blinks()
            })
        };
        if !style.has_focus || !style.has_motion || !placed.iter().any(|(id, _)| blinks(id)) {
            return true;
        }
        let since = self.surface.blink_since;
        let halves = (now - since).as_nanos() / BLINK.as_nanos();
        self.surface.wake_at(since + BLINK * (halves as u32 + 1));
        halves.is_multiple_of(2)
    }
}

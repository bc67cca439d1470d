//! Which frame of an image is shown, and when the next one is.
//!
//! The engine has no clock: its owner says what time it is, as the time since any moment of its choice.

use std::time::Duration;

use super::store::Image;

/// Whether an animation moves by itself (kitty's key `s`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Run {
    #[default]
    Stopped,
    /// Runs to the last frame and waits there for more.
    Loading,
    Looping,
}

/// The state of an image's animation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Animation {
    pub run: Run,
    /// The frame shown, counted from 0.
    pub current: usize,
    /// Loops to play; 0 for no end.
    pub loops: u32,
    /// Loops played.
    pub played: u32,
    /// When the frame shown came up; `None`: at the next look at the clock.
    pub since: Option<Duration>,
    /// When the next one is due, as of the last look at the clock.
    due: Option<Duration>,
}

/// Frames that one look at the clock passes over at most; a longer sleep goes on from there.
const CATCH_UP: usize = 64;

impl Image {
    /// Whether the image moves by itself.
    fn moves(&self) -> bool {
        let animation = &self.animation;
        animation.run != Run::Stopped
            && self.frames.len() > 1
            && self.frames.iter().any(|frame| frame.gap > 0)
            && (animation.loops == 0 || animation.played < animation.loops)
    }

    /// Shows the frame that is due at `now`; whether that is another one.
    pub fn advance(&mut self, now: Duration) -> bool {
        let before = self.animation.current;
        self.animation.due = self.step(now);
        self.animation.current != before
    }

    /// When the next frame is due, if any is, as of the last look at the clock.
    pub fn next_frame(&self) -> Option<Duration> {
        self.animation.due
    }

    fn step(&mut self, now: Duration) -> Option<Duration> {
        for _ in 0..CATCH_UP {
            if !self.moves() {
                return None;
            }
            let since = *self.animation.since.get_or_insert(now);
            let gap = self.frames.get(self.animation.current).map_or(0, |frame| frame.gap);
            let due = since.saturating_add(Duration::from_millis(gap as u64));
            if due > now {
                return Some(due);
            }
            if !self.go_on() {
                return None;
            }
            self.animation.since = Some(due);
        }
        // Too far behind: nobody looked for long. Go on from now.
        self.animation.since = Some(now);
        let gap = self.frames.get(self.animation.current).map_or(0, |frame| frame.gap);
        Some(now + Duration::from_millis(gap.max(1) as u64))
    }

    /// Goes to the next frame that is shown at all; false where there is none to come.
    fn go_on(&mut self) -> bool {
        let animation = &mut self.animation;
        let mut at = animation.current;
        for _ in 0..self.frames.len() {
            at += 1;
            if at >= self.frames.len() {
                if animation.run == Run::Loading {
                    return false;
                }
                animation.played = animation.played.saturating_add(1);
                if animation.loops > 0 && animation.played >= animation.loops {
                    return false;
                }
                at = 0;
            }
            if self.frames[at].gap > 0 {
                animation.current = at;
                return true;
            }
        }
        false
    }
}

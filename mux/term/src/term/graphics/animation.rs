//! Which frame of an image is current, and when the next one is due.
//!
//! The engine has no clock: its owner passes the time since any fixed moment.

use std::time::Duration;

use super::store::Image;

/// Whether an animation advances by itself (kitty's key `s`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Run {
    #[default]
    Stopped,
    /// Runs to the last frame and waits there for more frames.
    Loading,
    Looping,
}

/// The state of an image's animation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Animation {
    pub run: Run,
    /// The current frame, counted from 0.
    pub current: usize,
    /// Loops to play; 0 for endless.
    pub loops: u32,
    /// Loops played so far.
    pub played: u32,
    /// When the current frame appeared; `None`: set at the next call of `Image::advance`.
    pub since: Option<Duration>,
    /// When the next frame is due, as of the last call of `Image::advance`.
    due: Option<Duration>,
}

/// Maximum frames that one call skips; after a longer pause, the animation continues from there.
const CATCH_UP: usize = 64;

impl Image {
    /// Whether the image advances by itself.
    fn moves(&self) -> bool {
        let animation = &self.animation;
        animation.run != Run::Stopped
            && self.frames.len() > 1
            && self.frames.iter().any(|frame| frame.gap > 0)
            && (animation.loops == 0 || animation.played < animation.loops)
    }

    /// Advances to the frame due at `now`. Returns whether the frame changed.
    pub fn advance(&mut self, now: Duration) -> bool {
        let before = self.animation.current;
        self.animation.due = self.step(now);
        self.animation.current != before
    }

    /// When the next frame is due, if any, as of the last call of `Image::advance`.
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
        // Too far behind after a long pause: continue from now.
        self.animation.since = Some(now);
        let gap = self.frames.get(self.animation.current).map_or(0, |frame| frame.gap);
        Some(now + Duration::from_millis(gap.max(1) as u64))
    }

    /// Moves to the next frame that is not skipped. Returns false if there is none.
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

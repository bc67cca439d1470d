//! The marks of a tab: the state of the tab's programs, and output and bells that the user has not seen.
//!
//! Marks are drawn from rectangles, so that they need no font.

use unterm_renderer::{PixelRect, Quad, Scene};
use unterm_term::Rgb;

use crate::window::{
    ui::{colors::Colors, geometry::Geometry},
    workspace::work::{Fare, Work},
};

/// The size of a mark in logical pixels, and the space after it.
const SIZE: f32 = 10.0;
const GAP: f32 = 6.0;
/// The number of dots in a ring.
const DOTS: u32 = 28;
/// The fraction of a turning ring that is colored, if the extent of the progress is unknown.
const UNKNOWN: f32 = 0.3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) work: Option<Work>,
    /// Whether a program printed while the tab was hidden.
    pub(crate) unseen: bool,
    pub(crate) bell: bool,
    /// Whether one pane of the tab is zoomed.
    pub(crate) zoomed: bool,
    /// Whether input goes to all panes of the tab.
    pub(crate) broadcast: bool,
    /// Whether an agent drives a pane of the tab.
    pub(crate) driven: bool,
    /// Whether the tab is a window of tmux.
    pub(crate) tmux: bool,
}

/// Returns the color of a state.
type StateColor<'a> = dyn Fn(Fare, &Colors) -> Rgb + 'a;

impl Marks {
    /// The width of the marks in pixels, as [`Marks::draw`] returns it.
    pub(crate) fn width(self, geometry: &Geometry) -> u32 {
        let signals = [
            self.work.is_some(),
            self.bell || self.unseen,
            self.zoomed,
            self.broadcast,
            self.driven,
            self.tmux,
        ];
        let count = signals.into_iter().filter(|is_shown| *is_shown).count();
        count as u32 * step(geometry)
    }

    /// Draws the marks from the left edge of `place`, and returns their total width. `turn` is the rotation of turning
    /// rings, from 0 to 1. `hue` returns the color of a state.
    pub(crate) fn draw(
        self,
        place: PixelRect,
        geometry: &Geometry,
        colors: &Colors,
        (turn, hue): (f32, &StateColor<'_>),
        scene: &mut Scene<'_>,
    ) -> u32 {
        let size = geometry.px(SIZE);
        let mut taken = 0;
        let mut next = || {
            let rect = PixelRect {
                x: place.x + taken as i32,
                y: place.y + (place.height.saturating_sub(size) / 2) as i32,
                width: size,
                height: size,
            };
            taken += step(geometry);
            rect
        };
        if let Some(work) = self.work {
            let color = hue(work.fare, colors);
            match (work.fare, work.percent) {
                (Fare::Done, _) => dot(next(), geometry, color, scene),
                (_, Some(percent)) => {
                    let part = f32::from(percent.min(100)) / 100.0;
                    ring(next(), (0.0, part), (color, colors.hairline), scene);
                }
                (Fare::Works, None) => {
                    ring(next(), (turn, UNKNOWN), (color, colors.hairline), scene);
                }
                (_, None) => ring(next(), (0.0, 1.0), (color, colors.hairline), scene),
            }
        }
        if self.bell {
            bell(next(), colors.bell, scene);
        } else if self.unseen {
            dot(next(), geometry, colors.accent, scene);
        }
        if self.zoomed {
            zoom(next(), colors.muted, scene);
        }
        if self.broadcast {
            broadcast(next(), colors.danger, scene);
        }
        if self.driven {
            agent(next(), colors, scene);
        }
        if self.tmux {
            tmux(next(), colors.muted, scene);
        }
        taken
    }
}

/// The distance between the left edges of two marks.
fn step(geometry: &Geometry) -> u32 {
    geometry.px(SIZE) + geometry.px(GAP)
}

fn fill(rect: PixelRect, radius: f32, color: Rgb, scene: &mut Scene<'_>) {
    scene.quads.push(Quad { rect, color, alpha: 1.0, radius });
}

/// A part of a square, given in tenths of the square's width.
fn part(place: PixelRect, x: f32, y: f32, width: f32, height: f32) -> PixelRect {
    let unit = place.width as f32 / 10.0;
    let at = |tenths: f32| (tenths * unit).round();
    PixelRect {
        x: place.x + at(x) as i32,
        y: place.y + at(y) as i32,
        width: (at(x + width) - at(x)).max(1.0) as u32,
        height: (at(y + height) - at(y)).max(1.0) as u32,
    }
}

fn dot(place: PixelRect, geometry: &Geometry, color: Rgb, scene: &mut Scene<'_>) {
    let size = geometry.px(6.0);
    let inset = (place.width.saturating_sub(size) / 2) as i32;
    let rect = PixelRect { x: place.x + inset, y: place.y + inset, width: size, height: size };
    fill(rect, size as f32 / 2.0, color, scene);
}

pub(crate) fn bell(place: PixelRect, color: Rgb, scene: &mut Scene<'_>) {
    fill(part(place, 2.0, 0.0, 6.0, 8.0), place.width as f32 * 0.3, color, scene);
    fill(part(place, 0.5, 6.0, 9.0, 2.0), place.width as f32 * 0.1, color, scene);
    fill(part(place, 4.0, 8.5, 2.0, 1.5), place.width as f32 * 0.1, color, scene);
}

/// The mark of a zoomed pane: a frame with one large pane in it.
fn zoom(place: PixelRect, color: Rgb, scene: &mut Scene<'_>) {
    let edges = [(0.0, 1.0, 10.0, 1.0), (0.0, 8.0, 10.0, 1.0), (0.0, 1.0, 1.0, 8.0)];
    for (x, y, width, height) in edges.into_iter().chain([(9.0, 1.0, 1.0, 8.0)]) {
        fill(part(place, x, y, width, height), 0.0, color, scene);
    }
    fill(part(place, 2.0, 3.0, 6.0, 4.0), 0.0, color, scene);
}

/// The mark of a window of tmux: a frame with two panes and a status line.
fn tmux(place: PixelRect, color: Rgb, scene: &mut Scene<'_>) {
    let edges = [(0.0, 1.0, 10.0, 1.0), (0.0, 1.0, 1.0, 6.0), (9.0, 1.0, 1.0, 6.0)];
    for (x, y, width, height) in edges.into_iter().chain([(4.5, 1.0, 1.0, 6.0)]) {
        fill(part(place, x, y, width, height), 0.0, color, scene);
    }
    fill(part(place, 0.0, 7.0, 10.0, 2.0), 0.0, color, scene);
}

/// The mark of an agent: a robot's head.
fn agent(place: PixelRect, colors: &Colors, scene: &mut Scene<'_>) {
    let radius = place.width as f32 * 0.2;
    fill(part(place, 4.5, 0.0, 1.0, 2.5), 0.0, colors.accent, scene);
    fill(part(place, 0.5, 2.5, 9.0, 7.0), radius, colors.accent, scene);
    for x in [2.5, 6.0] {
        fill(part(place, x, 5.0, 1.5, 2.0), 0.0, colors.raised, scene);
    }
}

/// The mark of broadcast input: one box on the left, and three boxes on the right.
fn broadcast(place: PixelRect, color: Rgb, scene: &mut Scene<'_>) {
    fill(part(place, 0.0, 3.5, 3.0, 3.0), place.width as f32 * 0.15, color, scene);
    for y in [0.0, 4.0, 8.0] {
        fill(part(place, 6.0, y, 4.0, 2.0), place.width as f32 * 0.1, color, scene);
    }
}

/// Draws a ring with an arc in the first color. `shown` is the arc's start and length, as fractions of a full turn.
fn ring(place: PixelRect, shown: (f32, f32), colors: (Rgb, Rgb), scene: &mut Scene<'_>) {
    let thickness = (place.width as f32 * 0.22).max(2.0);
    let radius = (place.width as f32 - thickness) / 2.0;
    let middle = place.width as f32 / 2.0;
    let filled = (shown.1.clamp(0.0, 1.0) * DOTS as f32).round() as u32;
    let first = (shown.0 * DOTS as f32).round() as u32;
    for dot in 0..DOTS {
        // The angle starts at the top and grows clockwise.
        let angle = dot as f32 / DOTS as f32 * std::f32::consts::TAU;
        let x = middle + radius * angle.sin() - thickness / 2.0;
        let y = middle - radius * angle.cos() - thickness / 2.0;
        let rect = PixelRect {
            x: place.x + x.round() as i32,
            y: place.y + y.round() as i32,
            width: thickness.round() as u32,
            height: thickness.round() as u32,
        };
        let is_filled = (dot + DOTS - first % DOTS) % DOTS < filled;
        fill(rect, thickness / 2.0, if is_filled { colors.0 } else { colors.1 }, scene);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::workspace::work::{Fare, Work};

    #[test]
    fn marks_stand_side_by_side_and_take_their_room() {
        let geometry = Geometry { width: 400, height: 300, ..Geometry::TEST };
        let colors = Colors::new(&unterm_term::Palette::default());
        let place = PixelRect { x: 20, y: 0, width: 200, height: 28 };
        let drawn = |marks: Marks| {
            let mut scene = Scene::default();
            let taken = marks.draw(place, &geometry, &colors, (0.0, &Fare::color), &mut scene);
            assert_eq!(marks.width(&geometry), taken);
            let right = scene.quads.iter().map(|quad| quad.rect.x + quad.rect.width as i32).max();
            (taken, right.unwrap_or(place.x))
        };
        assert_eq!(drawn(Marks::default()), (0, 20));
        let (one, right) = drawn(Marks { bell: true, unseen: true, ..Marks::default() });
        assert!(right <= 20 + one as i32);
        let work = Some(Work { fare: Fare::Works, percent: Some(50) });
        let all = Marks {
            work,
            unseen: true,
            bell: true,
            zoomed: true,
            broadcast: true,
            driven: true,
            tmux: true,
        };
        let (six, right) = drawn(all);
        assert_eq!(six, 6 * one, "the bell stands for output too");
        assert!(right <= 20 + six as i32);
    }
}

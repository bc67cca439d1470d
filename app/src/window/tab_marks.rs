//! The marks of a tab: the state of its programs, and output and bells that the user has not seen.
//!
//! Drawn from rectangles, so that they need no font.

use unterm_renderer::{PixelRect, Quad, Scene};
use unterm_term::{ProgramState, Progress, Rgb, Term};

use super::{chrome::Colors, geometry::Geometry};

/// The size of a mark in logical pixels, and the space after it.
const SIZE: f32 = 10.0;
const GAP: f32 = 6.0;
/// The number of dots in a ring.
const DOTS: u32 = 28;
/// The coloured part of a turning ring, which shows progress of unknown extent.
const UNKNOWN: f32 = 0.3;

/// The state of a program's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fare {
    /// Finished, but not yet seen by the user.
    Done,
    Works,
    /// Waiting, or blocked on the user.
    Waits,
    Failed,
}

/// The work that a program reports (OSC 9;4, OSC 7501). Of two, the greater is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    pub(super) fare: Fare,
    /// The progress in percent, if the program reports it.
    pub(super) percent: Option<u8>,
}

impl Work {
    /// The most urgent work that a terminal's programs report.
    pub(super) fn of(term: &Term) -> Option<Self> {
        let work = |fare, percent| Some(Self { fare, percent });
        let progress = match term.progress() {
            Progress::None => None,
            Progress::Percent(percent) => work(Fare::Works, Some(percent)),
            Progress::Indeterminate => work(Fare::Works, None),
            Progress::Paused(percent) => work(Fare::Waits, percent),
            Progress::Error(percent) => work(Fare::Failed, percent),
        };
        let status = term.program_status().and_then(|status| match status.state {
            ProgramState::Idle => None,
            ProgramState::Done => work(Fare::Done, None),
            ProgramState::Working => work(Fare::Works, status.progress),
            ProgramState::Blocked(_) => work(Fare::Waits, status.progress),
            ProgramState::Error => work(Fare::Failed, None),
        });
        progress.max(status)
    }

    pub(super) fn turns(self) -> bool {
        self.fare == Fare::Works && self.percent.is_none()
    }

    fn color(self, colors: &Colors) -> Rgb {
        match self.fare {
            Fare::Done => colors.success,
            Fare::Works => colors.accent,
            Fare::Waits => colors.bell,
            Fare::Failed => colors.danger,
        }
    }
}

/// The marks of a tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) work: Option<Work>,
    /// It printed while its tab was hidden.
    pub(super) unseen: bool,
    pub(super) bell: bool,
    /// One pane is zoomed.
    pub(super) zoomed: bool,
    /// Input goes to all its panes.
    pub(super) broadcast: bool,
    /// An agent drives one of its panes.
    pub(super) driven: bool,
}

impl Marks {
    /// Draws the marks from the left of `place`, and returns their width. `turn`, 0 to 1, is the rotation of turning
    /// rings.
    pub(super) fn draw(
        self,
        place: PixelRect,
        geometry: &Geometry,
        colors: &Colors,
        turn: f32,
        scene: &mut Scene<'_>,
    ) -> u32 {
        let size = geometry.px(SIZE);
        let step = size + geometry.px(GAP);
        let mut taken = 0;
        let mut next = || {
            let rect = PixelRect {
                x: place.x + taken as i32,
                y: place.y + (place.height.saturating_sub(size) / 2) as i32,
                width: size,
                height: size,
            };
            taken += step;
            rect
        };
        if let Some(work) = self.work {
            let color = work.color(colors);
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
        taken
    }
}

fn fill(rect: PixelRect, radius: f32, color: Rgb, scene: &mut Scene<'_>) {
    scene.quads.push(Quad { rect, color, alpha: 1.0, radius });
}

/// A part of a rectangle, in tenths of its width.
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

fn bell(place: PixelRect, color: Rgb, scene: &mut Scene<'_>) {
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

/// The mark of an agent: a robot's head.
fn agent(place: PixelRect, colors: &Colors, scene: &mut Scene<'_>) {
    let radius = place.width as f32 * 0.2;
    fill(part(place, 4.5, 0.0, 1.0, 2.5), 0.0, colors.accent, scene);
    fill(part(place, 0.5, 2.5, 9.0, 7.0), radius, colors.accent, scene);
    for x in [2.5, 6.0] {
        fill(part(place, x, 5.0, 1.5, 2.0), 0.0, colors.raised, scene);
    }
}

/// The mark of broadcast input: one box and three.
fn broadcast(place: PixelRect, color: Rgb, scene: &mut Scene<'_>) {
    fill(part(place, 0.0, 3.5, 3.0, 3.0), place.width as f32 * 0.15, color, scene);
    for y in [0.0, 4.0, 8.0] {
        fill(part(place, 6.0, y, 4.0, 2.0), place.width as f32 * 0.1, color, scene);
    }
}

/// A ring with an arc in the first colour; `shown` is the arc's start and length, as fractions of 1.
fn ring(place: PixelRect, shown: (f32, f32), colors: (Rgb, Rgb), scene: &mut Scene<'_>) {
    let thickness = (place.width as f32 * 0.22).max(2.0);
    let radius = (place.width as f32 - thickness) / 2.0;
    let middle = place.width as f32 / 2.0;
    let filled = (shown.1.clamp(0.0, 1.0) * DOTS as f32).round() as u32;
    let first = (shown.0 * DOTS as f32).round() as u32;
    for dot in 0..DOTS {
        // From the top, clockwise.
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
    use unterm_term::{Options, Parser, Size};

    use super::*;

    fn work(bytes: &str) -> Option<Work> {
        let mut term = Term::new(Size::cells(10, 5), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        Work::of(&term)
    }

    #[test]
    fn the_most_urgent_of_what_programs_say_counts() {
        let is = |fare, percent| Some(Work { fare, percent });
        assert_eq!(work(""), None);
        assert_eq!(work("\x1b]9;4;1;40\x07"), is(Fare::Works, Some(40)));
        assert_eq!(work("\x1b]9;4;3\x07"), is(Fare::Works, None));
        assert_eq!(work("\x1b]7501;state=done\x07"), is(Fare::Done, None));
        assert_eq!(work("\x1b]9;4;4;70\x07\x1b]7501;state=working\x07"), is(Fare::Waits, Some(70)));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=blocked\x07"), is(Fare::Waits, None));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=error\x07"), is(Fare::Failed, None));
    }

    #[test]
    fn marks_stand_side_by_side_and_take_their_room() {
        let geometry = Geometry { width: 400, height: 300, ..Geometry::TEST };
        let colors = Colors::new(&unterm_term::Palette::default());
        let place = PixelRect { x: 20, y: 0, width: 200, height: 28 };
        let drawn = |marks: Marks| {
            let mut scene = Scene::default();
            let taken = marks.draw(place, &geometry, &colors, 0.0, &mut scene);
            let right = scene.quads.iter().map(|quad| quad.rect.x + quad.rect.width as i32).max();
            (taken, right.unwrap_or(place.x))
        };
        assert_eq!(drawn(Marks::default()), (0, 20));
        let (one, right) = drawn(Marks { bell: true, unseen: true, ..Marks::default() });
        assert!(right <= 20 + one as i32);
        let work = Some(Work { fare: Fare::Works, percent: Some(50) });
        let all =
            Marks { work, unseen: true, bell: true, zoomed: true, broadcast: true, driven: true };
        let (five, right) = drawn(all);
        assert_eq!(five, 5 * one, "the bell stands for output too");
        assert!(right <= 20 + five as i32);
    }
}

//! The order in which a frame is drawn: which rectangles, by which pipeline, clipped to which part of the surface.
//!
//! Rows of a pane never overlap, so all fills of its rows come first, then all glyphs, then the fills over them. Each
//! pipeline is set once and draws only its own kind of rectangle, which matters on an emulated GPU.

use std::ops::Range;

use super::pipeline::{Draw, RectangleKind};
use super::rows::{Instance, Parts};
use crate::blend::premultiplied;
use crate::{Frame, FramePane, ImageLayer, PixelRect, Quad};

/// The buffer that contains the instances of a draw call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The buffer of [`Plan::areas`].
    Areas,
    /// The buffer of rows.
    Rows,
    /// The buffer of [`Plan::areas`], drawn with the texture of this image.
    Image(u64),
}

/// One step of a plan.
#[derive(Debug)]
pub(super) enum Call {
    /// A draw call.
    Rectangles {
        kind: RectangleKind,
        source: Source,
        instances: Range<u32>,
        /// Index into [`Plan::draws`].
        draw: u32,
        /// The area to which drawing is clipped.
        rect: PixelRect,
    },
    /// The labels of a layer of chrome.
    Text { layer: usize },
}

/// A frame as draw calls.
#[derive(Debug)]
pub(super) struct Plan {
    surface: PixelRect,
    /// Rectangles that do not belong to a row.
    pub(super) areas: Vec<Instance>,
    /// Values that draw calls share; the first covers the whole surface.
    pub(super) draws: Vec<Draw>,
    pub(super) calls: Vec<Call>,
}

/// A row to draw.
pub(super) struct PlannedRow {
    pub(super) parts: Parts,
    /// The row's index in its pane.
    pub(super) index: usize,
}

impl Plan {
    /// A plan that draws the frame's background outside the panes.
    pub(super) fn new(frame: &Frame) -> Self {
        let surface = frame.rect();
        let mut plan = Self { surface, areas: Vec::new(), draws: Vec::new(), calls: Vec::new() };
        plan.clip((0, 0), surface);
        for rect in uncovered(frame) {
            let PixelRect { x, y, width, height } = rect;
            plan.areas.push(Instance::fill(x, y, width, height, frame.background));
        }
        let instances = 0..plan.areas.len() as u32;
        plan.call(RectangleKind::Fill, Source::Areas, instances, 0, surface);
        plan
    }

    /// Adds a pane: its background, the given rows, and its images. The pane covers panes that were added before it.
    pub(super) fn pane(&mut self, pane: &FramePane, rows: &[PlannedRow]) {
        let PixelRect { x, y, width, height } = pane.area;
        let mut fill = Instance::fill(x, y, width, height, pane.background);
        let [opacity, red, green, blue] =
            premultiplied(pane.background, pane.opacity).to_be_bytes();
        fill.color = [red, green, blue, opacity];
        let first = self.areas.len() as u32;
        self.areas.push(fill);
        self.call(RectangleKind::Fill, Source::Areas, first..first + 1, 0, pane.area);
        let placed: Vec<_> = rows
            .iter()
            .map(|row| {
                let rect = pane.row_rect(row.index).intersection(&self.surface);
                let y = pane.origin.1 + row.index as i32 * pane.row_height as i32;
                (self.clip((pane.origin.0, y), rect), rect, row.parts)
            })
            .collect();
        let all = |plan: &mut Self, kind: RectangleKind, part: fn(&Parts) -> Range<u32>| {
            for (draw, rect, parts) in &placed {
                plan.call(kind, Source::Rows, part(parts), *draw, *rect);
            }
        };
        if pane.images.is_empty() {
            all(self, RectangleKind::Fill, Parts::below);
        } else {
            self.images(pane, ImageLayer::Ground);
            all(self, RectangleKind::Fill, Parts::backgrounds);
            self.images(pane, ImageLayer::Under);
            all(self, RectangleKind::Fill, Parts::under);
        }
        all(self, RectangleKind::Mask, Parts::masks);
        all(self, RectangleKind::Color, Parts::pictures);
        all(self, RectangleKind::Fill, Parts::over);
        self.images(pane, ImageLayer::Over);
    }

    /// Adds a layer of chrome: its quads, then its labels if it has any.
    pub(super) fn chrome(&mut self, layer: usize, quads: &[Quad], has_labels: bool) {
        let first = self.areas.len() as u32;
        self.areas.extend(quads.iter().map(quad));
        let instances = first..self.areas.len() as u32;
        self.call(RectangleKind::Rounded, Source::Areas, instances, 0, self.surface);
        if has_labels {
            self.calls.push(Call::Text { layer });
        }
    }

    fn images(&mut self, pane: &FramePane, layer: ImageLayer) {
        let mut draw = None;
        for image in pane.images.iter().filter(|image| image.layer == layer) {
            let draw = *draw.get_or_insert_with(|| self.clip((0, 0), pane.grid));
            let PixelRect { x, y, width, height } = image.rect;
            let mut instance = Instance::fill(x, y, width, height, Default::default());
            instance.color[3] = image.alpha;
            let at = self.areas.len() as u32;
            self.areas.push(instance);
            let rect = image.rect.intersection(&pane.grid);
            self.call(
                RectangleKind::Color,
                Source::Image(image.pixels.id()),
                at..at + 1,
                draw,
                rect,
            );
        }
    }

    /// Adds the values shared by draw calls that are clipped to `rect` and place instances relative to `origin`.
    /// Returns their index.
    fn clip(&mut self, origin: (i32, i32), rect: PixelRect) -> u32 {
        let (right, bottom) = (rect.x + rect.width as i32, rect.y + rect.height as i32);
        self.draws.push(Draw {
            origin: origin.into(),
            surface: [self.surface.width as i32, self.surface.height as i32],
            clip: [rect.x, rect.y, right, bottom],
        });
        self.draws.len() as u32 - 1
    }

    fn call(
        &mut self,
        kind: RectangleKind,
        source: Source,
        instances: Range<u32>,
        draw: u32,
        rect: PixelRect,
    ) {
        if !instances.is_empty() {
            self.calls.push(Call::Rectangles { kind, source, instances, draw, rect });
        }
    }
}

/// The parts of a frame's surface that no pane covers.
fn uncovered(frame: &Frame) -> Vec<PixelRect> {
    let mut left = vec![frame.rect()];
    for pane in &frame.panes {
        left = left.iter().flat_map(|rect| outside(rect, &pane.area)).collect();
    }
    left
}

/// The parts of a rectangle outside another: above, left, right and below.
fn outside(rect: &PixelRect, hole: &PixelRect) -> impl Iterator<Item = PixelRect> + use<> {
    let inner = rect.intersection(hole);
    let edges = |r: &PixelRect| (r.x, r.y, r.x + r.width as i32, r.y + r.height as i32);
    let (left, top, right, bottom) = edges(rect);
    // Without an overlap, put an empty hole at the bottom, so that the whole rectangle counts as the part above it.
    let (x0, y0, x1, y1) =
        if inner.is_empty() { (left, bottom, right, bottom) } else { edges(&inner) };
    let between = |x0: i32, y0: i32, x1: i32, y1: i32| PixelRect {
        x: x0,
        y: y0,
        width: (x1 - x0).max(0) as u32,
        height: (y1 - y0).max(0) as u32,
    };
    [
        between(left, top, right, y0),
        between(left, y0, x0, y1),
        between(x1, y0, right, y1),
        between(left, y1, right, bottom),
    ]
    .into_iter()
    .filter(|rect| !rect.is_empty())
}

fn quad(quad: &Quad) -> Instance {
    let rect = quad.rect;
    let mut instance = Instance::fill(rect.x, rect.y, rect.width, rect.height, quad.color);
    instance.color[3] = (quad.alpha.clamp(0.0, 1.0) * 255.0).round() as u8;
    instance.radius = quad.radius.max(0.0);
    instance
}

#[cfg(test)]
mod tests {
    use super::{PixelRect, outside};

    /// The parts outside a hole cover each pixel once, and no pixel of the hole.
    #[test]
    fn parts_outside_a_rectangle_are_covered_once() {
        let rect = PixelRect { x: 2, y: 3, width: 10, height: 8 };
        for hole in [(4, 5, 3, 2), (0, 0, 5, 5), (2, 3, 10, 8), (20, 0, 4, 4), (0, 4, 40, 2)] {
            let (x, y, width, height) = hole;
            let hole = PixelRect { x, y, width, height };
            let parts: Vec<_> = outside(&rect, &hole).collect();
            for y in 0..20 {
                for x in 0..20 {
                    let pixel = PixelRect { x, y, width: 1, height: 1 };
                    let times = parts.iter().filter(|part| part.contains(&pixel)).count();
                    let wanted = rect.contains(&pixel) && !hole.contains(&pixel);
                    assert_eq!(times, usize::from(wanted), "{x},{y} of {hole:?}: {parts:?}");
                }
            }
        }
    }
}

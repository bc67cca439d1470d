//! Damage: the rectangles that changed between two frames.

use std::{ops::Range, sync::Arc};

use crate::{Fill, Frame, FrameChrome, FramePane, FrameRow, PixelRect};

/// The maximum number of images in a pane to compare one by one.
const MANY_IMAGES: usize = 64;
/// The maximum number of changed rows in a pane to search for the columns that changed. More changed rows mean a flood
/// of output, and whole rows merge into one rectangle.
const FEW_ROWS: usize = 3;

/// Rectangles that look different in a newer frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Every rectangle lies within the newer frame. Overlapping rectangles are merged only where that is cheap.
    pub rects: Vec<PixelRect>,
}

impl Damage {
    /// Damage that covers the whole frame.
    pub fn whole(frame: &Frame) -> Self {
        Self { rects: vec![frame.rect()] }
    }

    /// The difference between the frame a painter painted last and the frame to paint now.
    pub fn between(before: &Frame, now: &Frame) -> Self {
        Self::after_scrolls(before, now, &[])
    }

    /// The difference that remains after `scrolls` moved the pixels of some panes.
    pub(crate) fn after_scrolls(before: &Frame, now: &Frame, scrolls: &[Scroll]) -> Self {
        let same_surface = before.width == now.width
            && before.height == now.height
            && before.background == now.background
            && before.blending == now.blending;
        let same_panes = before.panes.len() == now.panes.len()
            && before.panes.iter().zip(&now.panes).all(|(before, now)| {
                before.id == now.id
                    && before.area == now.area
                    && before.rows.len() == now.rows.len()
            });
        let same_glyphs = before.glyphs == now.glyphs;
        if !same_surface || !same_panes {
            return Self::whole(now);
        }
        let mut damage = Self::default();
        for (at, (before, now)) in before.panes.iter().zip(&now.panes).enumerate() {
            if !same_place(before, now) {
                damage.add(now.area);
                continue;
            }
            damage.add_images(before, now);
            let shift = scrolls.iter().find(|scroll| scroll.pane == at).map_or(0, |s| s.shift);
            // The old row whose pixels are now at row `i`.
            let there = |i: usize| {
                let from = usize::try_from(i as isize + shift).ok();
                from.and_then(|from| before.rows.get(from))
            };
            let changed = || {
                let rows = now.rows.iter().enumerate();
                let changed = rows.map(|(i, row)| (i, row, there(i)));
                changed.filter(|(_, row, there)| there.is_none_or(|it| !is_same(it, row)))
            };
            let are_few = same_glyphs && changed().nth(FEW_ROWS).is_none();
            for (i, row, there) in changed() {
                match there.filter(|_| are_few) {
                    Some(there) => {
                        if let Some(columns) = differing_columns(there, row) {
                            damage.add(now.part_of_row(i, columns));
                        }
                    }
                    None => damage.add(now.row_rect(i)),
                }
            }
        }
        if !Arc::ptr_eq(&before.chrome, &now.chrome) {
            damage.add_chrome(&before.chrome, &now.chrome);
        }
        damage.clip(now.rect());
        damage
    }

    /// Adds the difference between two frames' chrome.
    fn add_chrome(&mut self, before: &FrameChrome, now: &FrameChrome) {
        let quads = before.quads.len().max(now.quads.len());
        for i in 0..quads {
            let (before, now) = (before.quads.get(i), now.quads.get(i));
            if before != now {
                for quad in before.into_iter().chain(now) {
                    self.add(quad.rect);
                }
            }
        }
        let labels = before.labels.len().max(now.labels.len());
        for i in 0..labels {
            let (before, now) = (before.labels.get(i), now.labels.get(i));
            if before != now {
                for label in before.into_iter().chain(now) {
                    self.add(label.clip);
                }
            }
        }
        // Count every layer from the first changed one on as changed: an item that moved to another layer may now
        // cover, or be covered by, the items between.
        let same = before.raised.iter().zip(&now.raised).take_while(|(a, b)| a == b).count();
        if before.raised.len().max(now.raised.len()) > same {
            for chrome in [before, now] {
                let (quads, labels) = chrome.raised.get(same).copied().unwrap_or_default();
                chrome.quads.iter().skip(quads).for_each(|quad| self.add(quad.rect));
                chrome.labels.iter().skip(labels).for_each(|label| self.add(label.clip));
            }
        }
    }

    /// Adds the difference between the images of a pane.
    fn add_images(&mut self, before: &FramePane, now: &FramePane) {
        if before.images == now.images {
            return;
        }
        if before.images.len().max(now.images.len()) > MANY_IMAGES {
            return self.add(now.area);
        }
        let differing = |some: &FramePane, others: &FramePane| -> Vec<PixelRect> {
            let gone = some.images.iter().filter(|image| !others.images.contains(image));
            gone.map(|image| image.rect.intersection(&some.grid)).collect()
        };
        let mut rects = differing(before, now);
        rects.extend(differing(now, before));
        if rects.is_empty() {
            // The panes contain the same images in another order.
            rects = now.images.iter().map(|image| image.rect.intersection(&now.grid)).collect();
        }
        rects.into_iter().for_each(|rect| self.add(rect));
    }

    /// Whether one of the rectangles contains all of `rect`.
    pub(crate) fn covers(&self, rect: PixelRect) -> bool {
        self.rects.iter().any(|known| known.contains(&rect))
    }

    /// Whether the damage is empty.
    pub fn is_empty(&self) -> bool {
        self.rects.is_empty()
    }

    /// Adds a rectangle. If it continues the last rectangle downward, as rows of a pane do, the two are joined.
    pub fn add(&mut self, rect: PixelRect) {
        if rect.is_empty() {
            return;
        }
        if let Some(last) = self.rects.last_mut() {
            let below = last.x == rect.x
                && last.width == rect.width
                && last.y + last.height as i32 == rect.y;
            if below {
                last.height += rect.height;
                return;
            }
        }
        if !self.rects.iter().any(|known| known.contains(&rect)) {
            self.rects.retain(|known| !rect.contains(known));
            self.rects.push(rect);
        }
    }

    /// Clips every rectangle to `bounds`.
    pub fn clip(&mut self, bounds: PixelRect) {
        for rect in &mut self.rects {
            *rect = rect.intersection(&bounds);
        }
        self.rects.retain(|rect| !rect.is_empty());
    }
}

/// The columns that two rows draw differently, in pixels from the grid's left edge.
fn differing_columns(before: &FrameRow, now: &FrameRow) -> Option<Range<i32>> {
    let mut columns = None;
    let fill = |fill: &Fill| fill.x..fill.x.saturating_add_unsigned(fill.width);
    let lists = [
        (&before.backgrounds, &now.backgrounds),
        (&before.under, &now.under),
        (&before.over, &now.over),
    ];
    for (before, now) in lists {
        widen(&mut columns, before, now, fill);
    }
    widen(&mut columns, &before.glyphs, &now.glyphs, |glyph| {
        glyph.x..glyph.x + i32::from(glyph.width)
    });
    columns
}

/// Widens `columns` to cover the items that differ between two lists. Ignores equal items at the start and at the end
/// of the lists.
fn widen<T: PartialEq>(
    columns: &mut Option<Range<i32>>,
    before: &[T],
    now: &[T],
    place: impl Fn(&T) -> Range<i32>,
) {
    let start = before.iter().zip(now).take_while(|(a, b)| a == b).count();
    let (before, now) = (&before[start..], &now[start..]);
    let end = before.iter().rev().zip(now.iter().rev()).take_while(|(a, b)| a == b).count();
    for item in before[..before.len() - end].iter().chain(&now[..now.len() - end]) {
        let place = place(item);
        *columns = Some(match columns.take() {
            Some(known) => known.start.min(place.start)..known.end.max(place.end),
            None => place,
        });
    }
}

/// Rows of a pane that moved up or down and otherwise look unchanged.
pub(crate) struct Scroll {
    /// Index of the pane.
    pane: usize,
    /// Row `i` of the newer frame was row `i + shift` of the older frame.
    shift: isize,
    /// The `shift` in pixels.
    pub(crate) pixels: i32,
    /// The area of all rows of the pane.
    pub(crate) rows: PixelRect,
}

/// The panes whose text scrolled between two frames with the same panes, so that moving pixels saves painting. Panes
/// under chrome are left out, because the chrome's pixels would move along.
pub(crate) fn scrolls(before: &Frame, now: &Frame) -> Vec<Scroll> {
    let overlaid = |frame: &Frame, area: PixelRect| {
        let quads = frame.chrome.quads.iter().map(|quad| quad.rect);
        let labels = frame.chrome.labels.iter().map(|label| label.clip);
        quads.chain(labels).any(|rect| !rect.intersection(&area).is_empty())
    };
    let mut found = Vec::new();
    for (pane, (before_pane, now_pane)) in before.panes.iter().zip(&now.panes).enumerate() {
        let area = now_pane.area;
        let Some(shift) = shift(before_pane, now_pane) else { continue };
        let height = now_pane.row_height * now_pane.rows.len() as u32;
        let rows = PixelRect { x: area.x, y: now_pane.origin.1, width: area.width, height };
        let inside = area.contains(&rows) && now.rect().contains(&rows);
        let alone = now.panes.iter().enumerate().all(|(other, pane_other)| {
            other == pane || pane_other.area.intersection(&area).is_empty()
        });
        if same_place(before_pane, now_pane)
            && before_pane.area == area
            && inside
            && alone
            && !overlaid(before, area)
            && !overlaid(now, area)
        {
            let pixels = shift as i32 * now_pane.row_height as i32;
            found.push(Scroll { pane, shift, pixels, rows });
        }
    }
    found
}

/// The distance by which most rows moved, in rows. It is measured at the first row that the older frame also shows.
/// `None` unless more than half of the rows moved by that distance.
fn shift(before: &FramePane, now: &FramePane) -> Option<isize> {
    let rows = now.rows.len();
    // Give up if a pane shows images: images don't move together with the rows.
    if before.rows.len() != rows || !before.images.is_empty() || !now.images.is_empty() {
        return None;
    }
    let moved = now.rows.iter().enumerate().find_map(|(i, row)| {
        let was = before.rows.iter().position(|old| is_same(old, row))?;
        Some(was as isize - i as isize)
    })?;
    let kept = now.rows.iter().enumerate().filter(|(i, row)| {
        let was = usize::try_from(*i as isize + moved).ok();
        was.and_then(|was| before.rows.get(was)).is_some_and(|old| is_same(old, row))
    });
    (moved != 0 && kept.count() * 2 > rows).then_some(moved)
}

/// Whether two rows look the same. Most unchanged rows share one `Arc`, so their contents are rarely compared.
fn is_same(before: &Arc<FrameRow>, now: &Arc<FrameRow>) -> bool {
    Arc::ptr_eq(before, now) || before.version == now.version
}

fn same_place(before: &FramePane, now: &FramePane) -> bool {
    before.origin == now.origin
        && before.seen == now.seen
        && before.grid == now.grid
        && before.row_height == now.row_height
        && before.background == now.background
        && before.opacity == now.opacity
}

impl Frame {
    /// The whole surface.
    pub fn rect(&self) -> PixelRect {
        PixelRect { x: 0, y: 0, width: self.width, height: self.height }
    }
}

impl PixelRect {
    /// Whether the rectangle contains no pixels.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The part that both rectangles share.
    pub fn intersection(&self, other: &Self) -> Self {
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let right = self.right().min(other.right());
        let bottom = self.bottom().min(other.bottom());
        if right <= i64::from(x) || bottom <= i64::from(y) {
            return Self::default();
        }
        Self { x, y, width: (right - i64::from(x)) as u32, height: (bottom - i64::from(y)) as u32 }
    }

    /// Whether `other` lies entirely inside.
    pub fn contains(&self, other: &Self) -> bool {
        self.x <= other.x
            && self.y <= other.y
            && self.right() >= other.right()
            && self.bottom() >= other.bottom()
    }

    fn right(&self) -> i64 {
        i64::from(self.x) + i64::from(self.width)
    }

    fn bottom(&self) -> i64 {
        i64::from(self.y) + i64::from(self.height)
    }
}

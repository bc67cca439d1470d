//! What changed between two frames.

use std::{ops::Range, sync::Arc};

use crate::{Fill, Frame, FrameChrome, FramePane, FrameRow, PixelRect};

/// Images of a pane that are compared one by one at most.
const MANY_IMAGES: usize = 64;
/// Rows of a pane that are looked into for the part that changed; where more did, a flood goes on, and whole rows make
/// one rectangle.
const FEW_ROWS: usize = 3;

/// Rectangles that look different in a newer frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// They don't overlap where that was cheap to have; all lie within the newer frame.
    pub rects: Vec<PixelRect>,
}

impl Damage {
    /// Everything.
    pub fn whole(frame: &Frame) -> Self {
        Self { rects: vec![frame.rect()] }
    }

    /// What differs between the frame a painter painted last and the one to paint now.
    pub fn between(before: &Frame, now: &Frame) -> Self {
        Self::after_scrolls(before, now, &[])
    }

    /// What still differs after the pixels of some panes have been moved.
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
            // Where the pixels that are here now came from.
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

    /// What differs between what lies around and over the panes.
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
        // What was in one layer and is in another looks different where something lies between: in the layers above.
        let same = before.raised.iter().zip(&now.raised).take_while(|(a, b)| a == b).count();
        if before.raised.len().max(now.raised.len()) > same {
            for chrome in [before, now] {
                let (quads, labels) = chrome.raised.get(same).copied().unwrap_or_default();
                chrome.quads.iter().skip(quads).for_each(|quad| self.add(quad.rect));
                chrome.labels.iter().skip(labels).for_each(|label| self.add(label.clip));
            }
        }
    }

    /// What differs between the images of a pane.
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
            // The same ones in another order.
            rects = now.images.iter().map(|image| image.rect.intersection(&now.grid)).collect();
        }
        rects.into_iter().for_each(|rect| self.add(rect));
    }

    /// One of the rectangles is all of `rect`.
    pub(crate) fn covers(&self, rect: PixelRect) -> bool {
        self.rects.iter().any(|known| known.contains(&rect))
    }

    /// Nothing changed.
    pub fn is_empty(&self) -> bool {
        self.rects.is_empty()
    }

    /// Adds a rectangle; joined with the last one where it continues it downwards, as rows of a pane do.
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

    /// Cuts everything to `bounds`.
    pub fn clip(&mut self, bounds: PixelRect) {
        for rect in &mut self.rects {
            *rect = rect.intersection(&bounds);
        }
        self.rects.retain(|rect| !rect.is_empty());
    }
}

/// What two rows draw differently: from where to where, in pixels from the grid's left edge.
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

/// Widens `columns` by the places of what two lists don't have in common at their start and end.
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

/// Rows of a pane that are the same as before, but higher or lower.
pub(crate) struct Scroll {
    /// Index of the pane.
    pane: usize,
    /// Row `i` was row `i + shift`.
    shift: isize,
    /// The same in pixels.
    pub(crate) pixels: i32,
    /// All rows of the pane.
    pub(crate) rows: PixelRect,
}

/// The panes whose text has scrolled between two frames with the same panes, so that moving pixels saves painting.
/// Panes under chrome are left out: what lies over them would be moved with them.
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

/// How far most rows have moved: by the place that the first row that was there before had then.
fn shift(before: &FramePane, now: &FramePane) -> Option<isize> {
    let rows = now.rows.len();
    // Images do not move with the rows, or not with all.
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

/// Whether rows look the same. Most are one and the same, and need not be looked into.
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
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The part both rectangles have.
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

    /// Whether `other` lies wholly inside.
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

//! What changed between two frames.

use crate::{Frame, PixelRect};

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
        let same_surface = before.width == now.width
            && before.height == now.height
            && before.background == now.background;
        let same_panes = before.panes.len() == now.panes.len()
            && before.panes.iter().zip(&now.panes).all(|(before, now)| {
                before.id == now.id
                    && before.area == now.area
                    && before.rows.len() == now.rows.len()
            });
        if !same_surface || !same_panes {
            return Self::whole(now);
        }
        let mut damage = Self::default();
        for (before, now) in before.panes.iter().zip(&now.panes) {
            let same_place = before.origin == now.origin
                && before.row_height == now.row_height
                && before.background == now.background;
            if !same_place {
                damage.add(now.area);
                continue;
            }
            for (i, (before, row)) in before.rows.iter().zip(&now.rows).enumerate() {
                if before.version != row.version {
                    damage.add(now.row_rect(i));
                }
            }
        }
        let quads = before.quads.len().max(now.quads.len());
        for i in 0..quads {
            let (before, now) = (before.quads.get(i), now.quads.get(i));
            if before != now {
                for quad in before.into_iter().chain(now) {
                    damage.add(quad.rect);
                }
            }
        }
        let labels = before.labels.len().max(now.labels.len());
        for i in 0..labels {
            let (before, now) = (before.labels.get(i), now.labels.get(i));
            if before != now {
                for label in before.into_iter().chain(now) {
                    damage.add(label.clip);
                }
            }
        }
        damage.clip(now.rect());
        damage
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

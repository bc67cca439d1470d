//! Draws the marks and panels of commands, the sticky header, and the notes about folded lines.

use unterm_renderer::{Highlight, LabelAlign, PixelRect, Scene};

use crate::window::{
    ui::{
        colors::{Colors, framed, grown, label, quad},
        geometry::{Geometry, contains},
    },
    workspace::{
        blocks::{
            layout::{BlockLayout, FoldNote, dot},
            mark,
        },
        view::View,
    },
};

impl View {
    /// Draws marks, buttons and the sticky header into the pane at `area`. `shows` contains whether marks are drawn
    /// and, if the header may be drawn, the matches in the pane, which the header must not cover.
    pub(crate) fn draw_blocks(
        &self,
        area: PixelRect,
        hovered: Option<u64>,
        pointer: Option<(f64, f64)>,
        shows: (bool, Option<&[Highlight]>),
        look: (&Geometry, &Colors),
        scene: &mut Scene<'_>,
    ) {
        let (geometry, colors) = look;
        let (marks, highlights) = shows;
        let header = highlights.and_then(|matches| self.kept_header(area, geometry, matches));
        let label = |rect, text: &str, color, align| label(geometry, rect, text, color, align);
        for (row, block) in self.blocks_in_rows().filter(|_| marks) {
            let place = BlockLayout::new(self, (row, block), area, geometry);
            let color = block.fare.color(colors);
            let is_current = self.blocks.current == Some(block.id) || hovered == Some(block.id);
            let rect = match is_current && !place.mark.is_empty() {
                true => grown(place.mark, geometry.px(1.0)).intersection(&area),
                false => place.mark,
            };
            mark::draw(block.fare, rect, (color, colors.surface), scene);
            if hovered != Some(block.id) || place.bar.is_empty() {
                continue;
            }
            framed(place.bar, geometry.px(4.0) as f32, colors, scene);
            let padding = geometry.px(8.0);
            let about = PixelRect {
                x: place.about.x + padding as i32,
                width: place.about.width.saturating_sub(padding),
                ..place.about
            };
            scene.labels.push(label(about, &block.about, colors.text, LabelAlign::Left));
            for (action, rect) in &place.parts {
                let lit = pointer.is_some_and(|(x, y)| contains(*rect, x, y));
                let color = if lit { colors.text } else { colors.muted };
                let text = self.button(*action, block.id);
                scene.labels.push(label(*rect, text, color, LabelAlign::Center));
            }
        }
        for FoldNote { rect, text, .. } in self.fold_notes(area, geometry) {
            let lit = pointer.is_some_and(|(x, y)| contains(rect, x, y));
            let color = if lit { colors.text } else { colors.muted };
            let Some(text) = text else {
                let height = geometry.px(2.0);
                let y = rect.y + (rect.height.saturating_sub(height) / 2) as i32;
                scene.quads.push(quad(PixelRect { y, height, ..rect }, color));
                continue;
            };
            framed(rect, geometry.px(4.0) as f32, colors, scene);
            scene.labels.push(label(rect, &text, color, LabelAlign::Center));
        }
        if let Some((kept, rect)) = header {
            scene.quads.push(quad(rect, colors.raised));
            let line = PixelRect { y: rect.y + rect.height as i32 - 1, height: 1, ..rect };
            scene.quads.push(quad(line, colors.hairline));
            let colors_of = (kept.fare.color(colors), colors.raised);
            mark::draw(kept.fare, dot(rect, geometry), colors_of, scene);
            let padding = geometry.px(8.0);
            let inside = PixelRect {
                x: rect.x + padding as i32,
                width: rect.width.saturating_sub(3 * padding),
                ..rect
            };
            scene.labels.push(label(inside, &kept.text, colors.text, LabelAlign::Left));
        }
    }
}

//! Badges in a pane's corner. They show that the pane receives broadcast input, and which agent drives the pane.

use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Renderer, Scene};
use unterm_term::{Cell, Content, LineSize, Rgb, RowImages, SnapshotRow, Width};

use crate::window::{
    ui::{
        colors::{Colors, quad, readable},
        geometry::Geometry,
    },
    workspace::view::View,
};

/// Maximum length of a client's name, in characters; a longer name ends in an ellipsis.
const NAME: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Badge {
    /// The pane also receives input typed into other panes.
    Broadcast,
    /// The client of this name drives the pane.
    Driven(String),
}

impl Badge {
    fn text(&self) -> String {
        match self {
            Self::Broadcast => "broadcast".to_owned(),
            Self::Driven(client) => {
                let mut name: String =
                    client.chars().filter(|c| !c.is_control()).take(NAME).collect();
                if name.chars().count() < client.chars().count() {
                    name.push('…');
                }
                format!("{name} drives")
            }
        }
    }

    fn color(&self, colors: &Colors) -> Rgb {
        match self {
            Self::Broadcast => colors.danger,
            Self::Driven(_) => colors.accent,
        }
    }
}

/// A pane's area in a frame with its contents. A badge must find free space there.
pub(crate) struct BadgeArea<'a> {
    pub(crate) area: PixelRect,
    pub(crate) rows: &'a [SnapshotRow],
    /// Rectangles that are drawn over the pane, such as toasts.
    pub(crate) over: &'a [PixelRect],
}

/// Draws badges along a pane's right edge. Each is at the first place from the top where it covers no text and no
/// rectangle of `over`. If there is no such place, a bar of the badge's color in the pane's padding replaces the badge.
pub(crate) fn draw_badges(
    badges: &[Badge],
    around: &BadgeArea<'_>,
    (geometry, colors): (&Geometry, &Colors),
    renderer: &mut Renderer,
    scene: &mut Scene<'_>,
) {
    let area = around.area;
    let (size, padding) = (geometry.ui_font(), geometry.px(8.0));
    let height = geometry.ui_line() + geometry.px(4.0);
    // Start below the other content of this corner: the mark of copy mode, or a command's header.
    let mut top = area.y + 2 * height as i32;
    for badge in badges {
        let text = badge.text();
        let color = badge.color(colors);
        let width = renderer.label_width(&text, size, true).ceil() as u32 + 2 * padding;
        let x = area.x + area.width.saturating_sub(width + padding) as i32;
        let wanted = PixelRect { x, y: top, width, height };
        let room = if width + padding > area.width { None } else { around.room(wanted, geometry) };
        let Some(rect) = room else {
            // The bar is as thin as the line that marks the focused pane.
            let width = geometry.px(2.0).min(geometry.px(geometry.padding)).max(1);
            let x = area.x + area.width.saturating_sub(width) as i32;
            let height = height.min(area.height);
            let y = top.min(area.y + (area.height - height) as i32);
            scene.quads.push(quad(PixelRect { x, y, width, height }, color));
            top += height as i32;
            continue;
        };
        scene.quads.push(Quad { rect, color, alpha: 1.0, radius: geometry.px(4.0) as f32 });
        scene.labels.push(Label {
            rect,
            text,
            color: readable(colors.surface, color),
            size,
            bold: true,
            align: LabelAlign::Center,
            ..Label::default()
        });
        top = rect.y + (height + geometry.px(4.0)) as i32;
    }
}

impl BadgeArea<'_> {
    /// The first place at or below `wanted` where a badge covers no text and no rectangle of `over`.
    fn room(&self, wanted: PixelRect, geometry: &Geometry) -> Option<PixelRect> {
        let foot = self.area.y + self.area.height as i32;
        let step = geometry.cell.height.max(1) as usize;
        let tops = (wanted.y..=foot - wanted.height as i32).step_by(step);
        tops.map(|y| PixelRect { y, ..wanted }).find(|rect| {
            self.over.iter().all(|over| over.intersection(rect).is_empty())
                && !self.has_text(*rect, geometry)
        })
    }

    fn has_text(&self, rect: PixelRect, geometry: &Geometry) -> bool {
        let (left, top) = geometry.inside(self.area);
        let cell = (geometry.cell.width.max(1), geometry.cell.height.max(1));
        let index = |at: i32, origin: i32, cell: u32| ((at - origin).max(0) as u32 / cell) as usize;
        let first = index(rect.y, top, cell.1);
        let last = index(rect.y + rect.height as i32 - 1, top, cell.1);
        let columns =
            index(rect.x, left, cell.0)..=index(rect.x + rect.width as i32 - 1, left, cell.0);
        let mut rows = self.rows.iter().take(last + 1).skip(first);
        rows.any(|row| match row.size {
            LineSize::Single => {
                let width = columns.end() - columns.start() + 1;
                let mut cells = row.cells.iter().skip(*columns.start()).take(width);
                row.images != RowImages::default() || cells.any(|cell| !is_blank(*cell))
            }
            // Double-size characters are drawn at other columns than their cells, so any text in the row counts.
            _ => row.cells.iter().any(|cell| !is_blank(*cell)),
        })
    }
}

fn is_blank(cell: Cell) -> bool {
    matches!(cell.content(), Content::Empty | Content::Char(' ')) && cell.width() != Width::Tail
}

impl View {
    /// The pane's badges; `receives`: the pane receives broadcast input.
    pub(crate) fn badges(&self, receives: bool) -> Vec<Badge> {
        let driven =
            self.signals.driver.as_ref().map(|driver| Badge::Driven(driver.client.clone()));
        receives.then_some(Badge::Broadcast).into_iter().chain(driven).collect()
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Snapshot, Term};

    use super::*;

    #[test]
    fn names_are_cut_and_plain() {
        let text = |name: &str| Badge::Driven(name.to_owned()).text();
        assert_eq!(text("claude-code"), "claude-code drives");
        assert_eq!(text("a\u{7}b\nc"), "abc… drives");
        assert_eq!(text(&"x".repeat(30)), format!("{}… drives", "x".repeat(NAME)));
    }

    #[test]
    fn a_badge_takes_the_first_place_where_it_covers_nothing() {
        let geometry = Geometry { width: 400, height: 300, ..Geometry::TEST };
        let (cell, padding) = (geometry.cell, geometry.inside(PixelRect::default()).1);
        let area = PixelRect { x: 0, y: 0, width: 400, height: 300 };
        let (cols, rows) = (400 / cell.width as u16, 300 / cell.height as u16);
        let top_of = |bytes: &str, over: &[PixelRect]| {
            let mut term = Term::new(Size::cells(cols, rows), Options::default());
            Parser::new().advance(&mut term, bytes.as_bytes());
            let mut snapshot = Snapshot::default();
            term.snapshot(&mut snapshot, None);
            let around = BadgeArea { area, rows: &snapshot.rows, over };
            let width = 4 * cell.width;
            let x = (400 - width) as i32;
            let wanted = PixelRect { x, y: padding, width, height: cell.height };
            around.room(wanted, &geometry).map(|rect| rect.y)
        };
        let row = |row: i32| Some(padding + row * cell.height as i32);
        let full = "x".repeat(cols.into());
        assert_eq!(top_of("short\r\nlines", &[]), row(0));
        assert_eq!(top_of(&format!("{full}\r\n{full}\r\nshort"), &[]), row(2));
        assert_eq!(top_of("\x1b#6", &[]), row(0));
        assert_eq!(top_of("\x1b#6wide", &[]), row(1));
        assert_eq!(top_of(&full.repeat(rows.into()), &[]), None);
        let toast = PixelRect { y: 0, height: cell.height, ..area };
        assert_eq!(top_of("", &[toast]), row(1));
    }
}

//! Badges in a pane's corner: that it receives broadcast input, and which agent drives it.

use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Renderer, Scene};
use unterm_term::Rgb;

use crate::window::{
    ui::{
        colors::{Colors, readable},
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

/// Draws badges into a pane's corner, stacked downwards.
pub(crate) fn draw_badges(
    badges: &[Badge],
    area: PixelRect,
    (geometry, colors): (&Geometry, &Colors),
    renderer: &mut Renderer,
    scene: &mut Scene<'_>,
) {
    let (size, padding) = (geometry.ui_font(), geometry.px(8.0));
    let height = geometry.ui_line() + geometry.px(4.0);
    // Below whatever else that corner shows (copy mode's mark, a command's header), above the messages.
    let mut top = 2 * height;
    for badge in badges {
        let text = badge.text();
        let width = renderer.label_width(&text, size, true).ceil() as u32 + 2 * padding;
        if width + padding > area.width || height > area.height {
            continue;
        }
        let rect = PixelRect {
            x: area.x + (area.width - width - padding) as i32,
            y: area.y + top.min(area.height - height) as i32,
            width,
            height,
        };
        let color = badge.color(colors);
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
        top += height + geometry.px(4.0);
    }
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
    use super::*;

    #[test]
    fn names_are_cut_and_plain() {
        let text = |name: &str| Badge::Driven(name.to_owned()).text();
        assert_eq!(text("claude-code"), "claude-code drives");
        assert_eq!(text("a\u{7}b\nc"), "abc… drives");
        assert_eq!(text(&"x".repeat(30)), format!("{}… drives", "x".repeat(NAME)));
    }
}

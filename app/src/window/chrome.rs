//! The window's own parts around the panes: their colours, made from the theme, and the tab bar.

use unterm_mux::TabId;
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};
use unterm_term::{Palette, Rgb};

use super::geometry::{Geometry, contains};

/// Colours of chrome, derived from a theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colors {
    pub(super) surface: Rgb,
    pub(super) raised: Rgb,
    pub(super) hairline: Rgb,
    pub(super) text: Rgb,
    pub(super) muted: Rgb,
    /// What can't be chosen now.
    pub(super) disabled: Rgb,
    pub(super) accent: Rgb,
    pub(super) bell: Rgb,
    pub(super) danger: Rgb,
    /// The same as text.
    pub(super) danger_text: Rgb,
    /// The accent as text.
    pub(super) accent_text: Rgb,
}

impl Colors {
    pub(super) fn new(palette: &Palette) -> Self {
        let (surface, text) = (palette.background, palette.foreground);
        let raised = mix(surface, text, 0.05);
        Self {
            surface,
            raised,
            hairline: mix(surface, text, 0.11),
            text: readable(text, raised),
            muted: readable(mix(surface, text, 0.6), raised),
            disabled: mix(surface, text, 0.35),
            accent: palette.colors[4],
            bell: palette.colors[3],
            danger: palette.colors[1],
            danger_text: readable(palette.colors[1], raised),
            accent_text: readable(palette.colors[4], raised),
        }
    }
}

/// `a` moved towards `b` by a share of the way.
pub(super) fn mix(a: Rgb, b: Rgb, share: f32) -> Rgb {
    let channel =
        |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    Rgb { r: channel(a.r, b.r), g: channel(a.g, b.g), b: channel(a.b, b.b) }
}

/// Relative luminance (WCAG 2.2).
fn luminance(color: Rgb) -> f32 {
    let linear = |channel: u8| {
        let c = f32::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)
}

/// Contrast ratio of two colours, 1 to 21 (WCAG 2.2).
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// `text` stepped towards black or white until it has a contrast of 4.5 on `background`.
pub(super) fn readable(text: Rgb, background: Rgb) -> Rgb {
    let (white, black) = (Rgb::hex(0xffffff), Rgb::hex(0));
    let goal =
        if contrast(white, background) > contrast(black, background) { white } else { black };
    (0..=10)
        .map(|step| mix(text, goal, step as f32 / 10.0))
        .find(|color| contrast(*color, background) >= 4.5)
        .unwrap_or(goal)
}

/// What the tab bar shows of one tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TabLabel {
    pub(super) id: TabId,
    pub(super) title: String,
    pub(super) unseen: bool,
    pub(super) bell: bool,
    pub(super) zoomed: bool,
}

/// A place in the tab bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TabBarPart {
    Tab(TabId),
    Close(TabId),
    New,
    Empty,
}

struct Slot {
    index: usize,
    rect: PixelRect,
    close: PixelRect,
}

/// The tab bar as it lies in the window.
pub(super) struct TabBar<'a> {
    geometry: Geometry,
    tabs: &'a [TabLabel],
    active: usize,
    slots: Vec<Slot>,
    new: PixelRect,
}

impl<'a> TabBar<'a> {
    /// Lays the bar out. Tabs share the space up to 220 px each; one never shrinks below 8 characters, and when they
    /// don't fit, those around the active one are shown.
    pub(super) fn new(geometry: Geometry, tabs: &'a [TabLabel], active: usize) -> Self {
        let bar = geometry.tab_bar();
        let button = bar.height;
        let space = bar.width.saturating_sub(button);
        let narrowest = geometry.px(12.0 * 0.62 * 8.0 + 44.0).max(1);
        let fitting = (space / narrowest).max(1) as usize;
        let shown = tabs.len().min(fitting);
        let first = active.saturating_sub(shown / 2).min(tabs.len() - shown);
        let width = (space / shown.max(1) as u32).min(geometry.px(220.0));
        let slots = (0..shown)
            .map(|i| {
                let rect =
                    PixelRect { x: (i as u32 * width) as i32, y: 0, width, height: bar.height };
                let inset = bar.height / 4;
                let close = PixelRect {
                    x: rect.x + (width - inset.min(width)) as i32 - (bar.height / 2) as i32,
                    y: inset as i32,
                    width: bar.height / 2,
                    height: bar.height / 2,
                };
                Slot { index: first + i, rect, close }
            })
            .collect::<Vec<_>>();
        let x = slots.last().map_or(0, |slot| slot.rect.x + width as i32);
        let new = PixelRect { x, y: 0, width: button, height: bar.height };
        Self { geometry, tabs, active, slots, new }
    }

    /// What lies at a point.
    pub(super) fn at(&self, x: f64, y: f64) -> TabBarPart {
        if contains(self.new, x, y) {
            return TabBarPart::New;
        }
        self.slots.iter().find(|slot| contains(slot.rect, x, y)).map_or(TabBarPart::Empty, |slot| {
            let id = self.tabs[slot.index].id;
            if contains(slot.close, x, y) { TabBarPart::Close(id) } else { TabBarPart::Tab(id) }
        })
    }

    /// Where a tab lies, if it is in sight.
    pub(super) fn place_of(&self, tab: TabId) -> Option<PixelRect> {
        self.slots.iter().find(|slot| self.tabs[slot.index].id == tab).map(|slot| slot.rect)
    }

    /// Draws it; `pointer` is where the mouse is.
    pub(super) fn draw(&self, scene: &mut Scene<'_>, colors: &Colors, pointer: Option<(f64, f64)>) {
        let bar = self.geometry.tab_bar();
        if bar.height == 0 {
            return;
        }
        scene.quads.push(quad(bar, colors.raised));
        let line = PixelRect { y: bar.height as i32 - 1, height: 1, ..bar };
        scene.quads.push(quad(line, colors.hairline));
        let hovered = pointer.map(|(x, y)| self.at(x, y));
        for slot in &self.slots {
            self.draw_tab(slot, scene, colors, hovered);
        }
        let color = if hovered == Some(TabBarPart::New) { colors.text } else { colors.muted };
        scene.labels.push(self.label(self.new, "+", color, LabelAlign::Center));
    }

    fn draw_tab(
        &self,
        slot: &Slot,
        scene: &mut Scene<'_>,
        colors: &Colors,
        hovered: Option<TabBarPart>,
    ) {
        let tab = &self.tabs[slot.index];
        let is_active = slot.index == self.active;
        if is_active {
            scene.quads.push(quad(slot.rect, colors.surface));
        }
        let edge = PixelRect { x: slot.rect.x + slot.rect.width as i32 - 1, width: 1, ..slot.rect };
        scene.quads.push(quad(edge, colors.hairline));
        let pad = self.geometry.px(12.0);
        let mut text = PixelRect {
            x: slot.rect.x + pad as i32,
            width: (slot.close.x - slot.rect.x).max(0) as u32
                - pad.min((slot.close.x - slot.rect.x).max(0) as u32),
            ..slot.rect
        };
        let mark = match (tab.bell, tab.unseen) {
            (true, _) => Some(colors.bell),
            (false, true) => Some(colors.accent),
            (false, false) => None,
        };
        if let Some(color) = mark {
            let size = self.geometry.px(6.0);
            let y = (slot.rect.height.saturating_sub(size) / 2) as i32;
            let rect = PixelRect { x: text.x, y, width: size, height: size };
            scene.quads.push(Quad { rect, color, alpha: 1.0, radius: size as f32 / 2.0 });
            let taken = size + self.geometry.px(6.0);
            text.x += taken as i32;
            text.width = text.width.saturating_sub(taken);
        }
        let color = if is_active { colors.text } else { colors.muted };
        let title = if tab.zoomed { format!("[Z] {}", tab.title) } else { tab.title.clone() };
        scene.labels.push(self.label(text, &title, color, LabelAlign::Left));
        let close = TabBarPart::Close(tab.id);
        if hovered == Some(TabBarPart::Tab(tab.id)) || hovered == Some(close) {
            let color = if hovered == Some(close) { colors.text } else { colors.muted };
            scene.labels.push(self.label(slot.close, "×", color, LabelAlign::Center));
        }
    }

    fn label(&self, rect: PixelRect, text: &str, color: Rgb, align: LabelAlign) -> Label {
        Label {
            rect,
            text: text.to_owned(),
            color,
            size: self.geometry.ui_font(),
            bold: false,
            align,
            ..Label::default()
        }
    }
}

/// A raised surface with a hairline around it.
pub(super) fn framed(rect: PixelRect, radius: f32, colors: &Colors, scene: &mut Scene<'_>) {
    for (rect, color) in [(grown(rect, 1), colors.hairline), (rect, colors.raised)] {
        scene.quads.push(Quad { rect, color, alpha: 1.0, radius });
    }
}

/// A rectangle with so many pixels more on each side.
pub(super) fn grown(rect: PixelRect, by: u32) -> PixelRect {
    PixelRect {
        x: rect.x - by as i32,
        y: rect.y - by as i32,
        width: rect.width + 2 * by,
        height: rect.height + 2 * by,
    }
}

/// A plain rectangle.
pub(super) fn quad(rect: PixelRect, color: Rgb) -> Quad {
    Quad { rect, color, alpha: 1.0, radius: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(width: u32) -> Geometry {
        Geometry { width, height: 600, ..Geometry::TEST }
    }

    fn tabs(count: u64) -> Vec<TabLabel> {
        (0..count)
            .map(|i| TabLabel {
                id: TabId(i),
                title: format!("tab {i}"),
                unseen: false,
                bell: false,
                zoomed: false,
            })
            .collect()
    }

    #[test]
    fn a_click_finds_the_tab_it_hits() {
        let tabs = tabs(3);
        let bar = TabBar::new(geometry(1000), &tabs, 0);
        assert_eq!(bar.at(10.0, 5.0), TabBarPart::Tab(TabId(0)));
        assert_eq!(bar.at(230.0, 5.0), TabBarPart::Tab(TabId(1)));
        assert_eq!(bar.at(665.0, 5.0), TabBarPart::New);
        assert_eq!(bar.at(990.0, 5.0), TabBarPart::Empty);
    }

    #[test]
    fn the_active_tab_is_in_sight_however_many_there_are() {
        let tabs = tabs(100);
        for active in [0, 1, 50, 98, 99] {
            let bar = TabBar::new(geometry(600), &tabs, active);
            assert!(bar.slots.iter().any(|slot| slot.index == active), "tab {active} is hidden");
            let last = bar.slots.last().unwrap().rect;
            assert!(last.x as u32 + last.width <= 600);
        }
    }

    #[test]
    fn a_bar_without_tabs_or_space_is_laid_out_too() {
        TabBar::new(geometry(0), &[], 0);
        TabBar::new(geometry(5), &tabs(2), 1);
    }

    #[test]
    fn chrome_text_is_readable_on_every_palette() {
        let pale = Palette::new([Rgb::hex(0); 16], Rgb::hex(0x93a1a1), Rgb::hex(0xfdf6e3));
        for palette in [Palette::default(), pale] {
            let colors = Colors::new(&palette);
            assert!(contrast(colors.text, colors.raised) >= 4.5);
            assert!(contrast(colors.muted, colors.raised) >= 4.5);
        }
    }
}

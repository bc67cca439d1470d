//! Draws the sidebar.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
use unterm_mux::TabId;
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};
use unterm_term::Rgb;

use crate::window::{
    chrome::{
        sidebar::layout::{Row, SidebarLayout, has_groups},
        tab_bar::{Look, TINT, TabBarPart},
        tab_label::{TabLabel, cut_title},
        tab_marks::Marks,
    },
    ui::colors::{Colors, label, mix, quad, readable, selected_row},
    workspace::work::Fare,
};

/// In logical pixels: the space beside the text of a row, and the width of the bar at the left of a row.
const PADDING: f32 = 12.0;
const BAR: f32 = 3.0;
/// In logical pixels: the tile of a folded row, and the width of the mark that shows how far the list is scrolled.
const TILE: f32 = 26.0;
const THUMB: f32 = 3.0;
/// The name of the group of tabs whose directories are in no project.
const NO_PROJECT: &str = "no project";

/// The colors of a row.
#[derive(Clone, Copy)]
struct RowColors {
    ground: Rgb,
    title: Rgb,
    muted: Rgb,
}

impl SidebarLayout<'_> {
    /// Draws the sidebar. `selected` is the tab that the keyboard marks, and `attention` the number of panes and agents
    /// that need the user.
    pub(crate) fn draw(
        &self,
        scene: &mut Scene<'_>,
        colors: &Colors,
        (look, selected, attention): (Look, Option<TabId>, usize),
    ) {
        let bar = self.geometry.sidebar();
        scene.quads.push(quad(bar, colors.raised));
        // The hairline between the sidebar and the panes.
        let edge = PixelRect { x: bar.width as i32 - 1, width: 1, ..bar };
        scene.quads.push(quad(edge, colors.hairline));
        let hovered = look.pointer.filter(|_| look.dragged.is_none()).map(|(x, y)| self.at(x, y));
        for (row, rect) in &self.rows {
            match *row {
                Row::Heading(index) => self.draw_heading(index, *rect, scene, colors),
                Row::Tab(index) => {
                    let id = self.tabs[index].id;
                    if look.dragged.is_none_or(|(dragged, _)| dragged != id) {
                        let is_selected = selected == Some(id);
                        self.draw_row(
                            index,
                            *rect,
                            (&mut *scene, colors),
                            (look, hovered, is_selected),
                        );
                    }
                }
            }
        }
        self.draw_thumb(scene, colors);
        self.draw_foot(scene, colors, hovered, attention);
        let dragged = look.dragged.and_then(|(id, y)| {
            let index = self.tabs.iter().position(|tab| tab.id == id)?;
            Some((index, PixelRect { y, ..self.place_of(id)? }))
        });
        if let Some((index, rect)) = dragged {
            // Draw the dragged tab above all other tabs.
            scene.raise();
            self.draw_row(index, rect, (&mut *scene, colors), (look, None, false));
        }
    }

    fn draw_heading(&self, index: usize, rect: PixelRect, scene: &mut Scene<'_>, colors: &Colors) {
        if index > self.first {
            scene.quads.push(quad(PixelRect { height: 1, ..rect }, colors.hairline));
        }
        let project = self.tabs[index].details.project.as_str();
        let text = if project.is_empty() { NO_PROJECT } else { project };
        let inside = self.inset(rect);
        scene.labels.push(Label {
            bold: true,
            ..label(&self.geometry, inside, text, colors.muted, LabelAlign::Left)
        });
    }

    fn draw_row(
        &self,
        index: usize,
        rect: PixelRect,
        (scene, colors): (&mut Scene<'_>, &Colors),
        (look, hovered, is_selected): (Look, Option<TabBarPart>, bool),
    ) {
        let tab = &self.tabs[index];
        let row = self.draw_ground(tab, rect, (&mut *scene, colors), is_selected);
        if self.is_folded {
            return self.draw_tile(index, rect, (&mut *scene, colors), (look, row));
        }
        let close = TabBarPart::Close(tab.id);
        let is_hovered = hovered == Some(TabBarPart::Tab(tab.id)) || hovered == Some(close);
        let line = self.geometry.ui_line();
        let space = rect.height.saturating_sub(2 * line) / 2;
        let inside = self.inset(rect);
        let mut title = PixelRect { y: rect.y + space as i32, height: line, ..inside };
        if let Some(button) = self.close_button(rect).filter(|_| is_hovered) {
            title.width = (button.x - title.x).max(0) as u32;
            let color = if hovered == Some(close) { row.title } else { row.muted };
            scene.labels.push(label(&self.geometry, button, "×", color, LabelAlign::Center));
        }
        let hue = |fare: Fare, colors: &Colors| fare.text_color(colors, row.ground);
        let taken = tab.marks.draw(title, &self.geometry, colors, (look.turn, &hue), scene);
        title.x += taken as i32;
        title.width = title.width.saturating_sub(taken);
        let text = self.title(index, look.numbers, title.width);
        scene.labels.push(label(&self.geometry, title, &text, row.title, LabelAlign::Left));
        let details = tab.detail_line(!has_groups(self.tabs));
        let below = PixelRect { y: rect.y + (space + line) as i32, height: line, ..inside };
        let accent = details.fare.map_or(row.muted, |fare| hue(fare, colors));
        scene.labels.push(Label {
            accents: (details.state_length > 0)
                .then_some(0..details.state_length)
                .into_iter()
                .collect(),
            accent,
            ..label(&self.geometry, below, &details.text, row.muted, LabelAlign::Left)
        });
    }

    /// Draws the background of a row and the bar at its left. Returns the colors of the row.
    fn draw_ground(
        &self,
        tab: &TabLabel,
        rect: PixelRect,
        (scene, colors): (&mut Scene<'_>, &Colors),
        is_selected: bool,
    ) -> RowColors {
        if is_selected {
            let row = selected_row(rect, &self.geometry, colors, scene);
            return RowColors { ground: row.fill(), title: row.text, muted: row.muted };
        }
        let is_active = Some(tab.id) == self.active;
        // The active row reaches over the hairline, so that it joins the panes.
        let width = rect.width + u32::from(is_active);
        let bare = if is_active { colors.surface } else { colors.raised };
        let ground = tab.color.map_or(bare, |color| mix(bare, color, TINT));
        scene.quads.push(quad(PixelRect { width, ..rect }, ground));
        if let Some(color) = tab.color.or(is_active.then_some(colors.focus)) {
            let width = self.geometry.px(BAR);
            scene.quads.push(quad(PixelRect { width, ..rect }, color));
        }
        let title = if is_active { colors.text } else { colors.muted };
        RowColors { ground, title: readable(title, ground), muted: readable(colors.muted, ground) }
    }

    /// Draws the icon of a tab in the folded sidebar: the first character of its title, and its most important mark.
    fn draw_tile(
        &self,
        index: usize,
        rect: PixelRect,
        (scene, colors): (&mut Scene<'_>, &Colors),
        (look, row): (Look, RowColors),
    ) {
        let tab = &self.tabs[index];
        let side = self.geometry.px(TILE);
        let tile = PixelRect {
            x: rect.x + (rect.width.saturating_sub(side) / 2) as i32,
            y: rect.y + (rect.height.saturating_sub(side) / 2) as i32,
            width: side,
            height: side,
        };
        let radius = self.geometry.px(6.0) as f32;
        let fill = mix(row.ground, colors.text, 0.08);
        scene.quads.push(Quad { rect: tile, color: fill, alpha: 1.0, radius });
        let text = match look.numbers {
            true => (index + 1).to_string(),
            false => tab.title.graphemes(true).next().unwrap_or("·").to_uppercase(),
        };
        let color = readable(row.title, fill);
        scene.labels.push(label(&self.geometry, tile, &text, color, LabelAlign::Center));
        let Marks { work, bell, unseen, .. } = tab.marks;
        let mark = match work {
            Some(_) => Marks { work, ..Marks::default() },
            None => Marks { bell, unseen, ..Marks::default() },
        };
        let hue = |fare: Fare, colors: &Colors| fare.text_color(colors, row.ground);
        let size = self.geometry.px(10.0);
        let corner = PixelRect {
            x: tile.x + side as i32 - (size / 2) as i32,
            y: tile.y - (size / 2) as i32,
            width: size,
            height: size,
        };
        mark.draw(corner, &self.geometry, colors, (look.turn, &hue), scene);
    }

    /// The title of a tab. If it is too wide, it is cut so that it differs from the titles of the other tabs. It begins
    /// with the tab's number if `numbers` is set, or if another tab has an equal title.
    fn title(&self, index: usize, numbers: bool, width: u32) -> String {
        let title = &self.tabs[index].title;
        let is_shared = self.tabs.iter().filter(|tab| tab.title == *title).count() > 1;
        let number = if numbers || is_shared { format!("{}  ", index + 1) } else { String::new() };
        let columns = (width as f32 / self.geometry.ui_column) as usize;
        let room = columns.saturating_sub(number.width());
        number + &cut_title(self.tabs, index, room)
    }

    /// Draws a mark at the right that shows which part of the tabs is visible. Without hidden tabs, draws nothing.
    fn draw_thumb(&self, scene: &mut Scene<'_>, colors: &Colors) {
        let (shown, count) = (self.shown(), self.tabs.len());
        if shown >= count {
            return;
        }
        let part = |tabs: usize| (self.list.height as usize * tabs / count) as u32;
        let width = self.geometry.px(THUMB);
        let x = self.list.x + self.list.width.saturating_sub(width) as i32;
        let rect = PixelRect {
            x,
            y: self.list.y + part(self.first) as i32,
            width,
            height: part(shown).max(width),
        };
        scene.quads.push(Quad { rect, color: colors.disabled, alpha: 1.0, radius: 1.0 });
    }

    /// Draws the buttons, and between them how many panes and agents need the user.
    fn draw_foot(
        &self,
        scene: &mut Scene<'_>,
        colors: &Colors,
        hovered: Option<TabBarPart>,
        attention: usize,
    ) {
        let list = self.list;
        let line = PixelRect { y: list.y + list.height as i32, height: 1, ..list };
        scene.quads.push(quad(line, colors.hairline));
        for (part, rect) in &self.buttons {
            let text = match part {
                TabBarPart::New => "+",
                TabBarPart::Menu => "▼",
                _ if self.is_folded => "›",
                _ => "‹",
            };
            let color = if hovered == Some(*part) { colors.text } else { colors.muted };
            scene.labels.push(label(&self.geometry, *rect, text, color, LabelAlign::Center));
        }
        let between = self.button(TabBarPart::Fold).zip(self.button(TabBarPart::New));
        if let Some((fold, new)) = between.filter(|_| attention > 0 && !self.is_folded) {
            let x = fold.x + fold.width as i32;
            let rect = PixelRect { x, width: (new.x - x).max(0) as u32, ..fold };
            let text = match attention {
                1 => "1 needs you".to_owned(),
                count => format!("{count} need you"),
            };
            let color = colors.accent_text;
            scene.labels.push(label(&self.geometry, rect, &text, color, LabelAlign::Left));
        }
    }

    fn inset(&self, rect: PixelRect) -> PixelRect {
        let padding = self.geometry.px(PADDING);
        let width = rect.width.saturating_sub(2 * padding);
        PixelRect { x: rect.x + padding as i32, width, ..rect }
    }
}

//! The status bar at the bottom of the window. The left side describes the focused pane: program, directory, size,
//! project and recording. The right side describes the window: screen captures, and agents, proxy and theme if they
//! differ from the default. Most items can be clicked. When the pointer rests on an item, its tooltip appears.
//!
//! Owns the items and their layout, and handles clicks. Reads no file and queries no process:
//! the views and the watcher of Unterm's home directory supply the values.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
use unterm_control::Server;
use unterm_renderer::{Label, LabelAlign, PixelRect, Renderer, Scene};
use winit::event::MouseButton;

use crate::window::{
    cx::Cx,
    input::buffer::Buffer,
    system::screenshot,
    ui::{
        colors::{Colors, framed, label, quad},
        geometry::{Geometry, contains},
    },
    wish::Wish,
    workspace::view::View,
};
use crate::{
    action::Action,
    config::{StatusItem, ThemeChoice},
};

/// The maximum width of a directory, in columns. The middle of a longer directory is replaced by an ellipsis.
const CWD_COLUMNS: usize = 48;
/// The space between two items, and the margin at both ends of the bar, in logical pixels.
const GAP: f32 = 18.0;
const MARGIN: f32 = 12.0;
/// The time until an item's tooltip appears.
const TOOLTIP: Duration = Duration::from_millis(500);

/// The items to drop if the bar is too narrow. The first item of this list is dropped first.
const DISPENSABLE: [StatusItem; 11] = [
    StatusItem::CaptureExclude,
    StatusItem::CaptureInclude,
    StatusItem::Size,
    StatusItem::Project,
    StatusItem::Theme,
    StatusItem::Pane,
    StatusItem::Program,
    StatusItem::Proxy,
    StatusItem::Directory,
    StatusItem::Recording,
    StatusItem::Agents,
];

/// Whether an item describes the focused pane and is aligned left. All other items describe the window and are aligned
/// right.
fn is_of_pane(item: StatusItem) -> bool {
    use StatusItem::{Directory, Pane, Program, Project, Recording, Size};
    matches!(item, Pane | Program | Directory | Size | Project | Recording)
}

/// The values that the bar shows. Items without a value are hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Status {
    /// The number of the focused pane.
    pane: Option<u64>,
    program: String,
    cwd: String,
    /// The full path of the directory that `cwd` abbreviates.
    directory: Option<PathBuf>,
    size: Option<(u16, u16)>,
    project: String,
    /// The project's directory.
    root: Option<PathBuf>,
    is_recorded: bool,
    /// Whether `unterm-capture` is installed.
    captures: bool,
    /// Whether the window can hide itself while the screen is captured.
    hides: bool,
    proxy: bool,
    /// Whether the user paused the agents.
    is_paused: bool,
    /// The number of agents' questions that await the user's answer.
    questions: usize,
    /// The name of the theme; empty for the default theme.
    theme: String,
}

impl Status {
    fn text(&self, item: StatusItem) -> String {
        match item {
            StatusItem::Pane => self.pane.map_or_else(String::new, |id| format!("pane {id}")),
            StatusItem::Program => self.program.clone(),
            StatusItem::Directory => self.cwd.clone(),
            StatusItem::Size => {
                self.size.map_or_else(String::new, |(cols, rows)| format!("{cols}×{rows}"))
            }
            StatusItem::Project => self.project.clone(),
            StatusItem::Recording if self.is_recorded => "● recording".to_owned(),
            StatusItem::Recording => String::new(),
            StatusItem::CaptureExclude | StatusItem::CaptureInclude if !self.captures => {
                String::new()
            }
            StatusItem::CaptureExclude if !self.hides => String::new(),
            StatusItem::CaptureExclude => "capture exclude".to_owned(),
            StatusItem::CaptureInclude => "capture include".to_owned(),
            StatusItem::Agents if self.is_paused => "agents paused".to_owned(),
            StatusItem::Agents if self.questions == 1 => "an agent asks".to_owned(),
            StatusItem::Agents if self.questions > 1 => format!("agents ask ({})", self.questions),
            StatusItem::Agents => String::new(),
            StatusItem::Proxy => if self.proxy { "proxy on" } else { "" }.to_owned(),
            StatusItem::Theme => self.theme.clone(),
        }
    }

    /// An item's tooltip: the item's meaning, and what a click on the item does.
    fn tooltip(&self, item: StatusItem) -> String {
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        match item {
            StatusItem::Pane => match self.pane {
                Some(id) => format!("Scripts name this pane by --id {id} · click copies it"),
                None => String::new(),
            },
            StatusItem::Program => {
                "Program in the foreground · click opens another shell".to_owned()
            }
            StatusItem::Directory => format!("{} · click copies it", path(&self.directory)),
            StatusItem::Size => "Columns × rows of the focused pane".to_owned(),
            StatusItem::Project => format!("Project in {} · click copies it", path(&self.root)),
            StatusItem::Recording => "This pane is recorded · click stops it".to_owned(),
            StatusItem::CaptureExclude => "Capture a region without this window".to_owned(),
            StatusItem::CaptureInclude => "Capture a region of the screen".to_owned(),
            StatusItem::Agents if self.is_paused => {
                "Calls of agents that change something are held · click resumes".to_owned()
            }
            StatusItem::Agents => "An agent waits for an answer · click shows it".to_owned(),
            StatusItem::Proxy => "New programs use the proxy · click turns it off".to_owned(),
            StatusItem::Theme => "Theme · click lists the themes".to_owned(),
        }
    }
}

struct Slot {
    item: StatusItem,
    text: String,
    rect: PixelRect,
}

/// The status bar as last laid out.
#[derive(Default)]
pub(crate) struct StatusBar {
    status: Status,
    items: Vec<StatusItem>,
    geometry: Option<Geometry>,
    slots: Vec<Slot>,
    /// The item under the pointer, and the time when the pointer reached the item.
    pointed: Option<(StatusItem, Instant)>,
    /// Whether the pointer has rested on the item long enough to show its tooltip.
    has_tooltip: bool,
}

/// The values from which [`StatusBar::update`] builds the bar.
pub(crate) struct About<'a> {
    /// The configured items, in order.
    pub(crate) items: &'a [StatusItem],
    pub(crate) pane: Option<u64>,
    pub(crate) view: Option<&'a View>,
    pub(crate) is_recorded: bool,
    /// Whether the window can hide itself while the screen is captured.
    pub(crate) hides: bool,
    pub(crate) has_proxy: bool,
    pub(crate) is_paused: bool,
    pub(crate) questions: usize,
    pub(crate) theme: &'a str,
}

impl<'a> About<'a> {
    /// The name of the theme; empty for the default theme.
    fn own_theme(&self) -> &'a str {
        if self.theme == ThemeChoice::default().pick(None) { "" } else { self.theme }
    }

    fn status(&self) -> Status {
        let home = std::env::home_dir();
        let cwd = self.view.and_then(View::cwd);
        Status {
            pane: self.pane,
            program: self.view.map_or("", View::program).to_owned(),
            cwd: cwd.map_or_else(String::new, |cwd| abbreviated(cwd, home.as_deref())),
            directory: cwd.map(Path::to_owned),
            size: self.view.map(|view| (view.snapshot.size.cols, view.snapshot.size.rows)),
            project: self.view.map_or("", View::project).to_owned(),
            root: self.view.and_then(View::project_root).map(Path::to_owned),
            is_recorded: self.is_recorded,
            captures: screenshot::sees_screen(),
            hides: self.hides,
            proxy: self.has_proxy,
            is_paused: self.is_paused,
            questions: self.questions,
            theme: self.own_theme().to_owned(),
        }
    }
}

impl Status {
    /// Whether the bar already shows these values.
    fn is_about(&self, about: &About<'_>) -> bool {
        let size = about.view.map(|view| (view.snapshot.size.cols, view.snapshot.size.rows));
        (self.proxy, self.is_paused, self.questions, self.is_recorded)
            == (about.has_proxy, about.is_paused, about.questions, about.is_recorded)
            && (self.theme.as_str(), self.size) == (about.own_theme(), size)
            && self.pane == about.pane
            && self.directory.as_deref() == about.view.and_then(View::cwd)
            && self.root.as_deref() == about.view.and_then(View::project_root)
            && self.program == about.view.map_or("", View::program)
    }
}

impl StatusBar {
    /// Updates the bar if it is enabled. Returns the time when the tooltip must appear.
    pub(crate) fn update(
        &mut self,
        about: &About<'_>,
        geometry: &Geometry,
        pointer: Option<(f64, f64)>,
        now: Instant,
        renderer: &mut Renderer,
    ) -> Option<Instant> {
        if !geometry.has_status_bar {
            *self = Self::default();
            return None;
        }
        let is_same = self.geometry == Some(*geometry) && self.items == about.items;
        if !is_same || !self.status.is_about(about) {
            self.items = about.items.to_vec();
            self.lay_out(*geometry, about.status(), renderer);
        }
        let pointed = pointer.and_then(|(x, y)| self.at(x, y));
        if self.pointed.map(|(item, _)| item) != pointed {
            self.pointed = pointed.map(|item| (item, now));
        }
        let due = self.pointed.map(|(_, since)| since + TOOLTIP);
        self.has_tooltip = due.is_some_and(|due| due <= now);
        due.filter(|due| *due > now)
    }

    fn lay_out(&mut self, geometry: Geometry, status: Status, renderer: &mut Renderer) {
        let size = geometry.ui_font();
        let mut width = |text: &str| renderer.label_width(text, size, false).ceil() as u32 + 1;
        let items = self.items.iter().map(|item| (*item, status.text(*item)));
        let items = items
            .filter(|(_, text)| !text.is_empty())
            .map(|(item, text)| (item, width(&text), text))
            .collect();
        self.slots = place(&geometry, items);
        self.geometry = Some(geometry);
        self.status = status;
    }

    /// The item at a point.
    pub(crate) fn at(&self, x: f64, y: f64) -> Option<StatusItem> {
        let slot = self.slots.iter().find(|slot| contains(slot.rect, x, y))?;
        Some(slot.item)
    }

    /// Draws the bar, if it is enabled.
    /// The item under the pointer. The outer `None` means that the pointer is not on the bar.
    pub(crate) fn under_pointer(&self, cx: &Cx<'_>) -> Option<Option<StatusItem>> {
        let (x, y) = cx.pointer.position?;
        contains(cx.geometry?.status_bar(), x, y).then(|| self.at(x, y))
    }

    pub(crate) fn draw(&self, scene: &mut Scene<'_>, colors: &Colors) {
        let Some(geometry) = self.geometry else { return };
        let bar = geometry.status_bar();
        scene.quads.push(quad(bar, colors.raised));
        scene.quads.push(quad(PixelRect { height: 1, ..bar }, colors.hairline));
        let pointed = self.pointed.map(|(item, _)| item);
        for slot in &self.slots {
            let color = match slot.item {
                // A size can't be clicked.
                StatusItem::Size => colors.muted,
                StatusItem::Agents | StatusItem::Recording => colors.danger_text,
                item if pointed == Some(item) => colors.text,
                StatusItem::Proxy => colors.accent_text,
                _ => colors.muted,
            };
            let half = geometry.px(GAP / 2.0);
            scene.labels.push(Label {
                rect: PixelRect {
                    x: slot.rect.x + half as i32,
                    width: slot.rect.width.saturating_sub(2 * half),
                    ..slot.rect
                },
                text: slot.text.clone(),
                color,
                size: geometry.ui_font(),
                ..Label::default()
            });
        }
    }

    /// Draws the tooltip of the item on which the pointer rests.
    pub(crate) fn draw_tooltip(
        &self,
        colors: &Colors,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) {
        let rested = self.pointed.filter(|_| self.has_tooltip);
        let (Some((item, _)), Some(geometry)) = (rested, self.geometry) else { return };
        let Some(slot) = self.slots.iter().find(|slot| slot.item == item) else { return };
        let text = self.status.tooltip(item);
        let (padding, gap) = (geometry.px(8.0), geometry.px(4.0));
        let wanted = renderer.label_width(&text, geometry.ui_font(), false).ceil() as u32 + 1;
        let most = geometry.width.saturating_sub(2 * gap);
        let (width, height) =
            ((wanted + 2 * padding).min(most), geometry.ui_line() + geometry.px(8.0));
        let rightmost = (geometry.width - width.min(geometry.width)) as i32 - gap as i32;
        let rect = PixelRect {
            x: slot.rect.x.min(rightmost).max(gap as i32),
            y: geometry.status_bar().y - (height + gap) as i32,
            width,
            height,
        };
        framed(rect, geometry.px(4.0) as f32, colors, scene);
        let inside = PixelRect {
            x: rect.x + padding as i32,
            width: width.saturating_sub(2 * padding),
            ..rect
        };
        scene.labels.push(label(&geometry, inside, &text, colors.text, LabelAlign::Left));
    }
}

/// Lays out items of these widths: the pane's items from the left edge, the window's items up to the right edge. If
/// not all items fit, the least important items are dropped. If a single item is left and is still too wide, it is cut
/// off.
fn place(geometry: &Geometry, mut items: Vec<(StatusItem, u32, String)>) -> Vec<Slot> {
    let bar = geometry.status_bar();
    let (gap, margin) = (geometry.px(GAP), geometry.px(MARGIN));
    let room = bar.width.saturating_sub((2 * margin).saturating_sub(gap));
    for item in DISPENSABLE {
        if items.len() <= 1 || items.iter().map(|(_, width, _)| width + gap).sum::<u32>() <= room {
            break;
        }
        items.retain(|(own, ..)| *own != item);
    }
    // Each slot extends half a gap to both sides, so that a click between two items always hits one of the two.
    let left = margin as i32 - (gap / 2) as i32;
    let ours: u32 =
        items.iter().filter(|(item, ..)| !is_of_pane(*item)).map(|(_, width, _)| width + gap).sum();
    let mut at = (left, left + room as i32 - ours as i32);
    items
        .into_iter()
        .map(|(item, width, text)| {
            let width = (width + gap).min(room);
            let x = if is_of_pane(item) { &mut at.0 } else { &mut at.1 };
            let rect = PixelRect { x: *x, y: bar.y, width, height: bar.height };
            *x += width as i32;
            Slot { item, text, rect }
        })
        .collect()
}

/// Handles a press of a button on an item of the bar, or on an empty part of the bar.
pub(crate) fn press(item: Option<StatusItem>, button: MouseButton, cx: &mut Cx<'_>) {
    let (Some(item), MouseButton::Left) = (item, button) else { return };
    let action = match item {
        StatusItem::Program => Action::ChooseShell,
        StatusItem::Theme => Action::ChooseTheme,
        StatusItem::CaptureExclude => Action::CaptureRegionExclude,
        StatusItem::CaptureInclude => Action::CaptureRegionInclude,
        StatusItem::Recording => Action::ToggleRecording,
        StatusItem::Proxy => Action::ToggleProxy,
        StatusItem::Agents => match cx.server.is_some_and(Server::is_paused) {
            true => Action::PauseAgents,
            false => Action::AnswerAgent,
        },
        StatusItem::Pane => {
            let Some(pane) = cx.focused() else { return };
            cx.store(Buffer::Clipboard, pane.0.to_string());
            return cx.notify("copied", "Copied the pane's number.");
        }
        StatusItem::Directory => return copy_path(View::cwd, cx),
        StatusItem::Project => return copy_path(View::project_root, cx),
        StatusItem::Size => return,
    };
    cx.wish(Wish::Act(None, action));
}

/// Copies a path of the focused pane.
fn copy_path(path: impl FnOnce(&View) -> Option<&Path>, cx: &mut Cx<'_>) {
    let view = cx.focused().and_then(|pane| cx.views.get(&pane));
    let Some(path) = view.and_then(path).map(|path| path.display().to_string()) else { return };
    cx.notify("copied", format!("Copied {path}"));
    cx.store(Buffer::Clipboard, path);
}

/// A directory for display: `~` for the home directory, and at most [`CWD_COLUMNS`] columns.
pub(crate) fn abbreviated(directory: &Path, home: Option<&Path>) -> String {
    let in_home = home.filter(|home| home.parent().is_some()).and_then(|home| {
        let rest = directory.strip_prefix(home).ok()?;
        Some(if rest.as_os_str().is_empty() {
            "~".to_owned()
        } else {
            format!("~/{}", rest.display())
        })
    });
    let path = in_home.unwrap_or_else(|| directory.display().to_string());
    if path.width() <= CWD_COLUMNS {
        return path;
    }
    // The end of a path matters most. Keep the first directory, and as much of the end as fits.
    let first = path.split_inclusive('/').next().unwrap_or_default();
    let first = if first.width() <= CWD_COLUMNS / 4 { first } else { "" };
    let mut room = CWD_COLUMNS - first.width() - 1;
    let mut start = path.len();
    for (at, part) in path.grapheme_indices(true).rev() {
        match room.checked_sub(part.width()) {
            Some(left) => (room, start) = (left, at),
            None => break,
        }
    }
    // Start this end at a `/`, unless that would drop more than half of the maximum width.
    let tail = &path[start..];
    let tail = match tail.find('/') {
        Some(slash) if tail.width() - tail[slash..].width() <= CWD_COLUMNS / 2 => &tail[slash..],
        _ => tail,
    };
    format!("{first}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_written_from_home_and_loses_its_middle() {
        let home = Path::new("/home/ada");
        let short = |path: &str| abbreviated(Path::new(path), Some(home));
        assert_eq!(short("/home/ada"), "~");
        assert_eq!(short("/home/ada/notes"), "~/notes");
        assert_eq!(short("/home/adam"), "/home/adam");
        assert_eq!(abbreviated(Path::new("/x"), Some(Path::new("/"))), "/x");
        assert_eq!(
            short("/home/ada/projects/a-long-name/with/many/parts/in/it/src/window"),
            "~/…/a-long-name/with/many/parts/in/it/src/window"
        );
        let one = format!("/{}", "x".repeat(100));
        assert_eq!(short(&one).width(), CWD_COLUMNS);
        let wide = format!("/home/ada/{}", "語".repeat(60));
        assert!((CWD_COLUMNS - 1..=CWD_COLUMNS).contains(&short(&wide).width()));
    }

    #[test]
    fn a_picture_without_the_window_needs_a_window_that_can_hide() {
        let offers = |captures, hides| {
            let status = Status { captures, hides, ..Status::default() };
            [StatusItem::CaptureExclude, StatusItem::CaptureInclude]
                .map(|item| !status.text(item).is_empty())
        };
        assert_eq!(offers(true, true), [true, true]);
        assert_eq!(offers(true, false), [false, true]);
        assert_eq!(offers(false, true), [false, false]);
    }

    #[test]
    fn usual_values_are_not_shown() {
        let status = Status::default();
        for item in
            [StatusItem::Proxy, StatusItem::Theme, StatusItem::Agents, StatusItem::Recording]
        {
            assert_eq!(status.text(item), "", "{item:?}");
        }
        let default = ThemeChoice::default();
        let about = About {
            items: &[],
            pane: None,
            view: None,
            is_recorded: true,
            hides: true,
            has_proxy: true,
            is_paused: false,
            questions: 0,
            theme: default.pick(None),
        };
        assert_eq!(about.own_theme(), "");
        assert_eq!(About { theme: "nord", ..about }.status().text(StatusItem::Theme), "nord");
        let status = Status { is_recorded: true, proxy: true, ..Status::default() };
        assert_eq!(status.text(StatusItem::Recording), "● recording");
        assert_eq!(status.text(StatusItem::Proxy), "proxy on");
    }

    fn items() -> Vec<(StatusItem, u32, String)> {
        let width = |item| if item == StatusItem::Directory { 300 } else { 60 };
        let all = crate::config::StatusBar::default().items;
        all.into_iter().map(|item| (item, width(item), String::new())).collect()
    }

    #[test]
    fn items_keep_their_order_and_never_overlap() {
        for width in [1, 100, 300, 500, 700, 1400] {
            let geometry = Geometry { width, height: 600, has_status_bar: true, ..Geometry::TEST };
            let slots = place(&geometry, items());
            assert!(!slots.is_empty());
            for of_pane in [true, false] {
                let side: Vec<_> =
                    slots.iter().filter(|slot| is_of_pane(slot.item) == of_pane).collect();
                for pair in side.windows(2) {
                    let end = pair[0].rect.x + pair[0].rect.width as i32;
                    assert!(end <= pair[1].rect.x, "{:?} at {width}", pair[0].item);
                }
            }
            assert_eq!(slots.len() == items().len(), width >= 1400);
        }
    }
}

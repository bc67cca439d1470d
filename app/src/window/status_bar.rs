//! The status bar at the window's foot: what the focused pane runs, where, how large it is, its project, whether
//! programs go through a proxy, and the theme. Most of it can be clicked.
//!
//! Owns what is said, where it lies and what a click does. Reads no file and asks no process: the views and the
//! watcher of Unterm's home directory know already.

use std::{
    ops::Bound,
    path::{Path, PathBuf},
};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
use unterm_mux::input::Modifiers;
use unterm_renderer::{Label, PixelRect, Renderer, Scene};
use winit::event::MouseButton;

use super::{
    App,
    chrome::{Colors, quad},
    clipboard::Buffer,
    errand::Done,
    geometry::{Geometry, contains},
    inbox::Inbox,
    screenshot,
    view::View,
};
use crate::{
    action::{Action, Shot},
    config::theme,
    proxy,
};

/// Columns of a directory; what is longer loses its middle.
const CWD_COLUMNS: usize = 48;
/// Space between two parts, and at the ends, in logical pixels.
const GAP: f32 = 18.0;
const MARGIN: f32 = 12.0;

/// A part of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusPart {
    Shell,
    Cwd,
    Size,
    Project,
    Exclude,
    Include,
    Agents,
    Proxy,
    Theme,
}

impl StatusPart {
    /// Every part, in its order.
    const ALL: [Self; 9] = [
        Self::Shell,
        Self::Cwd,
        Self::Size,
        Self::Project,
        Self::Exclude,
        Self::Include,
        Self::Agents,
        Self::Proxy,
        Self::Theme,
    ];
    /// What goes first where there is no room for all.
    const DISPENSABLE: [Self; 9] = [
        Self::Exclude,
        Self::Include,
        Self::Size,
        Self::Project,
        Self::Shell,
        Self::Theme,
        Self::Proxy,
        Self::Cwd,
        Self::Agents,
    ];

    /// Whether it is about the pane, and lies at the left; the others are about the window.
    fn is_of_pane(self) -> bool {
        matches!(self, Self::Shell | Self::Cwd | Self::Size | Self::Project)
    }

    fn is_clickable(self) -> bool {
        self != Self::Size
    }
}

/// What the bar says. A part with nothing to say is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Status {
    shell: String,
    cwd: String,
    /// What that abbreviates.
    directory: Option<PathBuf>,
    size: Option<(u16, u16)>,
    project: String,
    /// The program that sees the screen is there.
    captures: bool,
    /// The window can be hidden from it.
    hides: bool,
    proxy: bool,
    /// Agents have to wait.
    is_paused: bool,
    /// Questions of agents that wait for the person.
    questions: usize,
    theme: String,
}

impl Status {
    fn text(&self, part: StatusPart) -> String {
        match part {
            StatusPart::Shell => self.shell.clone(),
            StatusPart::Cwd => self.cwd.clone(),
            StatusPart::Size => {
                self.size.map_or_else(String::new, |(cols, rows)| format!("{cols}×{rows}"))
            }
            StatusPart::Project => self.project.clone(),
            StatusPart::Exclude | StatusPart::Include if !self.captures => String::new(),
            StatusPart::Exclude if !self.hides => String::new(),
            StatusPart::Exclude => "capture exclude".to_owned(),
            StatusPart::Include => "capture include".to_owned(),
            StatusPart::Agents if self.is_paused => "agents paused".to_owned(),
            StatusPart::Agents if self.questions == 1 => "an agent asks".to_owned(),
            StatusPart::Agents if self.questions > 1 => format!("agents ask ({})", self.questions),
            StatusPart::Agents => String::new(),
            StatusPart::Proxy => if self.proxy { "proxy on" } else { "proxy off" }.to_owned(),
            StatusPart::Theme => self.theme.clone(),
        }
    }
}

struct Slot {
    part: StatusPart,
    text: String,
    rect: PixelRect,
}

/// The bar as it was last laid out.
#[derive(Default)]
pub(super) struct StatusBar {
    status: Status,
    geometry: Option<Geometry>,
    slots: Vec<Slot>,
}

/// What the bar is about.
pub(super) struct About<'a> {
    /// The view of the focused pane.
    pub(super) view: Option<&'a View>,
    /// The window can be hidden.
    pub(super) hides: bool,
    pub(super) has_proxy: bool,
    pub(super) is_paused: bool,
    pub(super) questions: usize,
    pub(super) theme: &'a str,
}

impl About<'_> {
    fn status(&self) -> Status {
        let home = std::env::home_dir();
        let cwd = self.view.and_then(View::cwd);
        Status {
            shell: self.view.map_or("", View::program).to_owned(),
            cwd: cwd.map_or_else(String::new, |cwd| abbreviated(cwd, home.as_deref())),
            directory: cwd.map(Path::to_owned),
            size: self.view.map(|view| (view.snapshot.size.cols, view.snapshot.size.rows)),
            project: self.view.map_or("", View::project).to_owned(),
            captures: screenshot::sees_screen(),
            hides: self.hides,
            proxy: self.has_proxy,
            is_paused: self.is_paused,
            questions: self.questions,
            theme: self.theme.to_owned(),
        }
    }
}

impl Status {
    /// Whether it says what there is to say.
    fn is_about(&self, about: &About<'_>) -> bool {
        let size = about.view.map(|view| (view.snapshot.size.cols, view.snapshot.size.rows));
        (self.proxy, self.is_paused, self.questions)
            == (about.has_proxy, about.is_paused, about.questions)
            && (self.theme.as_str(), self.size) == (about.theme, size)
            && self.directory.as_deref() == about.view.and_then(View::cwd)
            && self.shell == about.view.map_or("", View::program)
            && self.project == about.view.map_or("", View::project)
    }
}

impl StatusBar {
    /// Draws it where there is one.
    pub(super) fn show(
        &mut self,
        about: &About<'_>,
        (geometry, colors): (&Geometry, &Colors),
        pointer: Option<(f64, f64)>,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) {
        if geometry.has_status_bar {
            if self.geometry != Some(*geometry) || !self.status.is_about(about) {
                self.lay_out(*geometry, about.status(), renderer);
            }
            self.draw(scene, colors, pointer);
        } else {
            *self = Self::default();
        }
    }

    fn lay_out(&mut self, geometry: Geometry, status: Status, renderer: &mut Renderer) {
        let size = geometry.ui_font();
        let mut width = |text: &str| renderer.label_width(text, size, false).ceil() as u32 + 1;
        let parts = StatusPart::ALL
            .into_iter()
            .map(|part| (part, status.text(part)))
            .filter(|(_, text)| !text.is_empty())
            .map(|(part, text)| (part, width(&text), text))
            .collect();
        self.slots = place(&geometry, parts);
        self.geometry = Some(geometry);
        self.status = status;
    }

    /// What lies at a point.
    fn at(&self, x: f64, y: f64) -> Option<StatusPart> {
        let slot = self.slots.iter().find(|slot| contains(slot.rect, x, y))?;
        Some(slot.part)
    }

    fn draw(&self, scene: &mut Scene<'_>, colors: &Colors, pointer: Option<(f64, f64)>) {
        let Some(geometry) = self.geometry else { return };
        let bar = geometry.status_bar();
        scene.quads.push(quad(bar, colors.raised));
        scene.quads.push(quad(PixelRect { height: 1, ..bar }, colors.hairline));
        let hovered = pointer.and_then(|(x, y)| self.at(x, y)).filter(|part| part.is_clickable());
        for slot in &self.slots {
            let is_on = slot.part == StatusPart::Proxy && self.status.proxy;
            let color = match () {
                () if hovered == Some(slot.part) => colors.text,
                () if is_on => colors.accent_text,
                () if slot.part == StatusPart::Agents => colors.danger_text,
                () => colors.muted,
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
}

/// Gives parts of these widths their places: the pane's from the left, the window's up to the right edge. Where not
/// all fit, the least important are left out; a directory that is alone is cut.
fn place(geometry: &Geometry, mut parts: Vec<(StatusPart, u32, String)>) -> Vec<Slot> {
    let bar = geometry.status_bar();
    let (gap, margin) = (geometry.px(GAP), geometry.px(MARGIN));
    let room = bar.width.saturating_sub((2 * margin).saturating_sub(gap));
    for part in StatusPart::DISPENSABLE {
        if parts.len() <= 1 || parts.iter().map(|(_, width, _)| width + gap).sum::<u32>() <= room {
            break;
        }
        parts.retain(|(own, ..)| *own != part);
    }
    // Each slot has half a gap at both sides, so that clicks between two parts hit one of them.
    let left = margin as i32 - (gap / 2) as i32;
    let ours: u32 =
        parts.iter().filter(|(part, ..)| !part.is_of_pane()).map(|(_, width, _)| width + gap).sum();
    let mut at = (left, left + room as i32 - ours as i32);
    parts
        .into_iter()
        .map(|(part, width, text)| {
            let width = (width + gap).min(room);
            let x = if part.is_of_pane() { &mut at.0 } else { &mut at.1 };
            let rect = PixelRect { x: *x, y: bar.y, width, height: bar.height };
            *x += width as i32;
            Slot { part, text, rect }
        })
        .collect()
}

/// A directory as people write it: `~` for their home, and no more than [`CWD_COLUMNS`] columns.
pub(super) fn abbreviated(directory: &Path, home: Option<&Path>) -> String {
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
    // Where one is matters more than the way there: the first part and as many of the last ones as fit.
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
    // From a part's beginning, unless that would leave too little.
    let tail = &path[start..];
    let tail = match tail.find('/') {
        Some(slash) if tail.width() - tail[slash..].width() <= CWD_COLUMNS / 2 => &tail[slash..],
        _ => tail,
    };
    format!("{first}…{tail}")
}

/// A file of Unterm's home directory was written: tells the window when it is the proxy's.
pub(super) fn file_written(home: &Path, file: &Path, inbox: &Inbox) {
    if file.file_name().is_none_or(|name| name != proxy::FILE) {
        return;
    }
    match proxy::is_enabled(home) {
        Ok(enabled) => inbox.post(|news| news.proxy = Some(enabled)),
        // It may be half written; what was last read stays.
        Err(error) => tracing::warn!("{error:#}"),
    }
}

impl App {
    /// The proxy was turned on or off, or is another one: programs started from now on are told, which takes a moment.
    pub(super) fn proxy_changed(&mut self, enabled: bool) {
        self.has_proxy = enabled;
        self.pacing.ask();
        let (mux, home) = (self.mux.clone(), self.settings.home().to_owned());
        let tell = move || unterm_control::apply_proxy(&mux, &home);
        if let Err(error) = std::thread::Builder::new().name("proxy".to_owned()).spawn(tell) {
            tracing::warn!(%error, "programs are not told of the proxy");
        }
    }

    /// The part of the bar under the pointer; `None`: the pointer is not in the bar.
    pub(super) fn status_part(&self) -> Option<Option<StatusPart>> {
        let (x, y) = self.pointer.position?;
        let bar = self.screen.as_ref()?.geometry.status_bar();
        contains(bar, x, y).then(|| self.status_bar.at(x, y))
    }

    /// A button was pressed on a part of the bar.
    pub(super) fn status_pressed(&mut self, part: Option<StatusPart>, button: MouseButton) {
        let view = self.focused_pane().and_then(|pane| self.views.get(&pane.id()));
        let action = match (part, button) {
            (Some(StatusPart::Theme), MouseButton::Right) => Action::ChooseTheme,
            (_, MouseButton::Right) => return,
            (Some(StatusPart::Shell), MouseButton::Left) => Action::ChooseShell,
            (Some(StatusPart::Theme), MouseButton::Left) => Action::NextTheme,
            (Some(StatusPart::Exclude), MouseButton::Left) => {
                Action::Screenshot(Shot::Region { hidden: true })
            }
            (Some(StatusPart::Include), MouseButton::Left) => {
                Action::Screenshot(Shot::Region { hidden: false })
            }
            (Some(StatusPart::Proxy), MouseButton::Left) => Action::ToggleProxy,
            (Some(StatusPart::Agents), MouseButton::Left) => match self.are_agents_paused() {
                true => Action::PauseAgents,
                false => Action::AnswerAgent,
            },
            (Some(StatusPart::Cwd), MouseButton::Left) => {
                let path = view.and_then(View::cwd).map(Path::to_owned);
                return self.copy_path(path.as_deref());
            }
            (Some(StatusPart::Project), MouseButton::Left) => {
                let path = view.and_then(View::project_root).map(Path::to_owned);
                return self.copy_path(path.as_deref());
            }
            _ => return,
        };
        self.act(action, Modifiers::SHIFT);
    }

    fn copy_path(&mut self, path: Option<&Path>) {
        let Some(path) = path.map(|path| path.display().to_string()) else { return };
        self.notify("copied", format!("Copied {path}"));
        self.clipboard.store(Buffer::Clipboard, path);
    }

    /// Turns the proxy on or off in its file; the watcher of that tells the bar.
    pub(super) fn toggle_proxy(&mut self) {
        let home = self.settings.home().to_owned();
        self.errand("proxy", move || match proxy::toggle(&home) {
            Ok(true) => Done::Said("proxy", "The proxy is on in proxy.json.".to_owned()),
            Ok(false) => Done::Said("proxy", "The proxy is off in proxy.json.".to_owned()),
            Err(error) => Done::Failed("proxy", format!("{error:#}")),
        });
    }

    /// Makes the theme after the one in force the one in force.
    pub(super) fn next_theme(&mut self) {
        let names = theme::names(self.settings.home());
        let current = self.config.theme.pick(self.is_light());
        // In their order, round the end.
        let next = names.range::<str, _>((Bound::Excluded(current), Bound::Unbounded)).next();
        if let Some(next) = next.or_else(|| names.first()) {
            self.set_theme(next);
        }
    }
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
    fn a_picture_without_the_window_is_offered_where_it_can_be_hidden() {
        let offers = |captures, hides| {
            let status = Status { captures, hides, ..Status::default() };
            [StatusPart::Exclude, StatusPart::Include].map(|part| !status.text(part).is_empty())
        };
        assert_eq!(offers(true, true), [true, true]);
        assert_eq!(offers(true, false), [false, true]);
        assert_eq!(offers(false, true), [false, false]);
    }

    fn parts() -> Vec<(StatusPart, u32, String)> {
        let width = |part| if part == StatusPart::Cwd { 300 } else { 60 };
        StatusPart::ALL.into_iter().map(|part| (part, width(part), String::new())).collect()
    }

    #[test]
    fn parts_keep_their_order_and_never_overlap() {
        for width in [1, 100, 300, 500, 700, 1200] {
            let geometry = Geometry { width, height: 600, has_status_bar: true, ..Geometry::TEST };
            let slots = place(&geometry, parts());
            assert!(!slots.is_empty());
            for pair in slots.windows(2) {
                let end = pair[0].rect.x + pair[0].rect.width as i32;
                assert!(end <= pair[1].rect.x, "{:?} at {width}", pair[0].part);
            }
            assert_eq!(slots.len() == StatusPart::ALL.len(), width >= 1200);
        }
    }
}

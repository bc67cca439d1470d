//! The sections about the window and its bars: `[window]`, `[startup]`, `[scrollbar]`, `[tab_bar]` and `[status_bar]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::window`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Window {
    /// Width of a new window, in columns.
    #[schemars(range(min = 10, max = 1000))]
    pub columns: u16,
    /// Height of a new window, in rows.
    #[schemars(range(min = 3, max = 1000))]
    pub rows: u16,
    /// Space around the text of each pane, in logical pixels.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub padding: f32,
    /// How much to dim panes without the keyboard focus, from 0 (not at all) to 0.9.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub dim_unfocused: f32,
    /// Turn off blinking, spinners and animated images. `"auto"` follows the desktop (portal or XSETTINGS).
    pub reduced_motion: ReducedMotion,
    /// Support screen readers. Applies to new windows. Has no cost while no screen reader is running.
    pub accessibility: bool,
    /// State of a new window.
    pub start: WindowStart,
    /// When to ask before closing a pane, a tab or the window.
    pub confirm_close: ConfirmClose,
    /// What happens to the programs when the window is closed. `"keep"` and `"ask"` need `sessions.keep`, and Linux.
    pub on_close: OnClose,
    /// Title of the window. `{instance}` is the instance's title or id; `{project}`, `{title}`, `{program}`,
    /// `{directory}` and `{tab}` describe the focused pane. A part between two dashes (" — ") is left out if it has no
    /// value.
    pub title_format: String,
    /// Open new windows with the size and position of the last one, if the desktop allows it. Then `columns` and `rows` apply to the first window only.
    pub restore: bool,
    /// Opacity of the panes' backgrounds, from 0 to 1 (opaque). Needs a compositor, and on Wayland the GPU painter. A window that started opaque stays opaque.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub opacity: f32,
    /// Blur what is behind a translucent window, if the desktop supports it (KDE and picom on X11, KDE on Wayland, macOS).
    pub blur: bool,
    /// Height of a window started with `--quake`, as a fraction of the screen's height.
    #[schemars(range(min = 0.1, max = 1.0))]
    pub quake_height: f32,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            columns: 120,
            rows: 30,
            padding: 8.0,
            dim_unfocused: 0.1,
            reduced_motion: ReducedMotion::System(FollowSystem::Auto),
            accessibility: true,
            start: WindowStart::default(),
            confirm_close: ConfirmClose::default(),
            on_close: OnClose::default(),
            title_format: "Unterm — {instance} — {project} — {title}".into(),
            restore: true,
            opacity: 1.0,
            blur: false,
            quake_height: 0.45,
        }
    }
}

/// See [`Window::confirm_close`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmClose {
    /// If a program other than an idle shell is running.
    Programs,
    /// If a program is running, or if several tabs close at once.
    #[default]
    Tabs,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// See [`Window::on_close`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnClose {
    /// The programs end.
    #[default]
    End,
    /// The programs continue, and `unterm --attach` shows them again.
    Keep,
    /// Ask whether they continue or end.
    Ask,
}

/// The names of the values that can be used in [`Window::title_format`].
pub const TITLE_FIELDS: [&str; 6] = ["instance", "project", "title", "program", "directory", "tab"];

/// Describes the error in a [`Window::title_format`], if there is one.
pub(super) fn title_format_fault(format: &str) -> Option<String> {
    let mut rest = format;
    while let Some((_, from)) = rest.split_once('{') {
        let name = from.split_once('}').map(|(name, _)| name);
        if !name.is_some_and(|name| TITLE_FIELDS.contains(&name)) {
            let named = name.map_or("an open {".to_owned(), |name| format!("{{{name}}}"));
            let fields = TITLE_FIELDS.map(|field| format!("{{{field}}}")).join(", ");
            return Some(format!("window.title_format contains {named}; it can contain {fields}"));
        }
        rest = from;
    }
    None
}

/// See [`Window::start`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowStart {
    /// The size of `columns` and `rows`.
    #[default]
    Normal,
    /// Maximized.
    Maximized,
    /// Full screen.
    Fullscreen,
}

/// See [`Window::reduced_motion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReducedMotion {
    /// On or off.
    Fixed(bool),
    /// As the desktop is set.
    System(FollowSystem),
}

/// Follows the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FollowSystem {
    /// Follow the desktop.
    Auto,
}

/// See [`super::Config::startup`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Startup {
    /// Layout to open. Empty: one shell. `last`: the tabs, splits and directories of the last window. Otherwise the name of a layout in `~/.unterm/layouts`, where `save_layout` writes it, or the path of its file.
    pub layout: String,
}

/// See [`super::Config::scrollbar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scrollbar {
    /// When to show the scrollbar.
    pub show: ShowScrollbar,
    /// Mark prompts on the scrollbar, and whether their commands succeeded.
    pub marks: bool,
}

impl Default for Scrollbar {
    fn default() -> Self {
        Self { show: ShowScrollbar::default(), marks: true }
    }
}

/// See [`Scrollbar::show`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShowScrollbar {
    /// While you scroll back, and under the pointer.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// See [`super::Config::tab_bar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TabBar {
    /// When to show the tab bar.
    pub show: ShowTabBar,
    /// Where to show the tab bar.
    pub position: BarPosition,
    /// Width of a tab's title, in characters. If there is free room, tabs get as wide as the longest title needs.
    #[schemars(range(min = 8, max = 200))]
    pub max_title: u16,
    /// Show the number of each tab before its title.
    pub numbers: bool,
    /// Width of the sidebar, in characters. `position = "left"` shows the sidebar. You can also drag its edge.
    #[schemars(range(min = 12, max = 100))]
    pub sidebar_width: u16,
    /// Fold the sidebar, so that it shows only an icon for each tab.
    pub sidebar_folded: bool,
}

impl Default for TabBar {
    fn default() -> Self {
        Self {
            show: ShowTabBar::default(),
            position: BarPosition::default(),
            max_title: 24,
            numbers: false,
            sidebar_width: 30,
            sidebar_folded: false,
        }
    }
}

/// See [`TabBar::position`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BarPosition {
    /// At the top of the window.
    #[default]
    Top,
    /// At the bottom, above the status bar.
    Bottom,
    /// In a sidebar at the left, with two lines for each tab.
    Left,
}

impl BarPosition {
    /// The name in the configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::Bottom => "bottom",
            Self::Left => "left",
        }
    }
}

/// See [`TabBar::show`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShowTabBar {
    /// Always.
    #[default]
    Always,
    /// With two tabs or more.
    Several,
    /// Never.
    Never,
}

/// See [`super::Config::status_bar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatusBar {
    /// Show the status bar.
    pub show: bool,
    /// Items of the status bar, in this order. An item without a value takes no space.
    pub items: Vec<StatusItem>,
}

impl Default for StatusBar {
    fn default() -> Self {
        use StatusItem as Item;
        Self {
            show: true,
            items: vec![
                Item::Pane,
                Item::Program,
                Item::Directory,
                Item::Size,
                Item::Project,
                Item::Recording,
                Item::CaptureExclude,
                Item::CaptureInclude,
                Item::Agents,
                Item::Proxy,
                Item::Theme,
            ],
        }
    }
}

/// See [`StatusBar::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusItem {
    /// The number of the focused pane, by which scripts name it.
    Pane,
    /// The program in the foreground.
    Program,
    /// The working directory.
    Directory,
    /// Columns and rows of the focused pane.
    Size,
    /// The project that the directory belongs to.
    Project,
    /// A mark while the focused pane is recorded.
    Recording,
    /// A button that captures a region without the window.
    CaptureExclude,
    /// A button that captures a region.
    CaptureInclude,
    /// A mark while agents are paused or wait for an answer.
    Agents,
    /// A mark while new programs use the proxy.
    Proxy,
    /// The theme, unless it is the default one.
    Theme,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_format_names_only_what_there_is() {
        assert_eq!(title_format_fault(&Window::default().title_format), None);
        assert_eq!(title_format_fault("plain } text"), None);
        for wrong in ["{titel}", "{", "{title} {", "{{title}}", "{}"] {
            let fault = title_format_fault(wrong).expect(wrong);
            assert!(fault.contains("it can contain {instance}, {project}, {title}"), "{fault}");
        }
    }
}

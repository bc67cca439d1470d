//! The sections about the window and what lies in it beside the cells: `[window]`, `[startup]`, `[scrollbar]`, `[tab_bar]` and
//! `[status_bar]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See [`super::Config::window`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Window {
    /// Columns of a new window.
    #[schemars(range(min = 10, max = 1000))]
    pub columns: u16,
    /// Rows of a new window.
    #[schemars(range(min = 3, max = 1000))]
    pub rows: u16,
    /// Space around each pane's cells, in logical pixels.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub padding: f32,
    /// How far panes without the keyboard are mixed towards their background, from 0 (not at all) to 0.9.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub dim_unfocused: f32,
    /// Whether nothing moves by itself: cursors and text don't blink, rings don't turn, images stay at one picture. `"auto"`: as the desktop says, by its portal or XSETTINGS.
    pub reduced_motion: ReducedMotion,
    /// Tell screen readers what is shown, in windows opened from now on. Costs nothing while none listens.
    pub accessibility: bool,
    /// What a new window starts as.
    pub start: WindowStart,
    /// Start as large as the last window was, and where it was, as far as the desktop lets: `columns` and `rows` then count for the first one only.
    pub restore: bool,
    /// Opacity of the panes' backgrounds, where the desktop shows what is behind. A window that started opaque stays so. On Wayland only the painter of the GPU does that.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub opacity: f32,
    /// Blur what is behind a translucent window, where the desktop can (KDE and picom on X11, KDE on Wayland, macOS).
    pub blur: bool,
    /// Height of a window started with `--quake`, as a share of the screen's.
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
            restore: true,
            opacity: 1.0,
            blur: false,
            quake_height: 0.45,
        }
    }
}

/// See [`Window::start`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowStart {
    /// A window of `columns` and `rows`.
    #[default]
    Normal,
    /// As large as the desktop allows.
    Maximized,
    /// The whole screen.
    Fullscreen,
}

/// See [`Window::reduced_motion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReducedMotion {
    /// As it is said.
    Fixed(bool),
    /// As the desktop says.
    System(FollowSystem),
}

/// What follows the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FollowSystem {
    /// It does.
    Auto,
}

/// See [`super::Config::startup`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Startup {
    /// Empty: one shell. `last`: the tabs, splits and directories that the last window had. Else a layout's name in `~/.unterm/layouts` (`save_layout` writes one), or the path of its file.
    pub layout: String,
}

/// See [`super::Config::scrollbar`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Scrollbar {
    /// When it is shown.
    pub show: ShowScrollbar,
    /// Mark prompts on it, by how their commands ended.
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
    /// While older lines are in sight, and under the pointer.
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
    /// When it is shown.
    pub show: ShowTabBar,
    /// Where it is.
    pub position: BarPosition,
    /// Characters of a title that a tab is at most as wide as.
    #[schemars(range(min = 8, max = 200))]
    pub max_title: u16,
}

impl Default for TabBar {
    fn default() -> Self {
        Self { show: ShowTabBar::default(), position: BarPosition::default(), max_title: 24 }
    }
}

/// See [`TabBar::position`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BarPosition {
    /// At the window's top.
    #[default]
    Top,
    /// At its foot, above the status bar.
    Bottom,
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
    /// Whether it is shown.
    pub show: bool,
    /// What it shows, in this order. An item with nothing to say takes no room.
    pub items: Vec<StatusItem>,
}

impl Default for StatusBar {
    fn default() -> Self {
        use StatusItem as Item;
        Self {
            show: true,
            items: vec![
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

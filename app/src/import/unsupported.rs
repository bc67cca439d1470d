//! The settings and actions of other terminals that Unterm lacks. Each has words, of which at least one would be in
//! the reference of options and actions if Unterm had the feature. A name that ends with `*` stands for all names with
//! that beginning.
//!
//! A test fails if the reference contains one of these words. Then Unterm has the feature, and the setting must be
//! converted. Settings that need no conversion, or whose counterpart is not an option, are listed here, too.

mod alacritty;
mod ghostty;
mod kitty;
mod wezterm;

pub(super) use self::{alacritty::ALACRITTY, ghostty::GHOSTTY, kitty::KITTY, wezterm::WEZTERM};
use super::{
    reasons::{NO_ACTION, NO_COMMAND, NO_SETTING, unknown_name},
    text::switch,
};

/// The names of settings or actions, each with the words of its feature.
pub(super) type Lacks = &'static [(&'static str, &'static [&'static str])];

/// The settings and actions of one terminal that can't be converted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    /// The name of the terminal.
    pub title: &'static str,
    /// Settings with the values that Unterm always has.
    pub always: &'static [(&'static str, &'static str)],
    /// Settings whose counterpart is not an option, each with the reason for leaving it out.
    pub elsewhere: &'static [(&'static str, &'static str)],
    /// The settings of the terminal that Unterm lacks.
    pub settings: Lacks,
    /// The actions of the terminal that Unterm lacks.
    pub actions: Lacks,
    /// The commands of the terminal's copy mode that Unterm's copy mode lacks.
    pub commands: Lacks,
}

impl Of {
    /// Whether Unterm always has this value of a setting.
    pub fn is_always(&self, name: &str, value: &str) -> bool {
        let same = |always: &str| match (switch(always), switch(value)) {
            (Ok(always), Ok(value)) => always == value,
            _ => always == value,
        };
        self.always.iter().any(|(known, always)| *known == name && same(always))
    }

    /// The reason for leaving out a setting that is not converted.
    pub fn setting(&self, name: &str) -> String {
        if let Some((_, why)) = self.elsewhere.iter().find(|(known, _)| matches(known, name)) {
            return (*why).to_owned();
        }
        match lists(self.settings, name) {
            true => NO_SETTING.into(),
            false => unknown_name(self.title),
        }
    }

    /// The reason for leaving out an action that is not converted.
    pub fn action(&self, name: &str) -> String {
        match lists(self.actions, name) {
            true => NO_ACTION.into(),
            false => unknown_name(self.title),
        }
    }

    /// The reason for leaving out a command of copy mode that is not converted.
    pub fn command(&self, name: &str) -> String {
        match lists(self.commands, name) {
            true => NO_COMMAND.into(),
            false => unknown_name(self.title),
        }
    }
}

fn lists(lacks: Lacks, name: &str) -> bool {
    lacks.iter().any(|(known, _)| matches(known, name))
}

fn matches(known: &str, name: &str) -> bool {
    match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known == name,
    }
}

const BACKGROUND_IMAGE: &[&str] = &["background_image", "background image", "wallpaper"];
const BOLD_IS_BRIGHT: &[&str] = &["bold_is_bright", "bright colors for bold"];
const BORDERS: &[&str] = &["border_width", "border_color", "borders of panes"];
const CACHES: &[&str] = &["cache_size", "size of the cache"];
const CLIPBOARD_ACCESS: &[&str] = &["osc52", "osc 52", "clipboard_read"];
const COLORS_OF_PARTS: &[&str] = &["search_foreground", "bell_color", "border_color"];
const CURSOR_SIZE: &[&str] = &["cursor_thickness", "thickness of the cursor"];
const CURSOR_UNFOCUSED: &[&str] = &["shape_unfocused", "cursor of an unfocused"];
const CURSOR_TIMES: &[&str] = &["blink_interval", "blink_timeout", "stop_blinking"];
const DECORATIONS: &[&str] = &["decorations", "title bar of the window"];
const DESKTOP_LAYER: &[&str] = &["layer shell", "always_on_top", "always on top", "keep above"];
const FONT_RENDERING: &[&str] = &["hinting", "thicken", "subpixel", "gamma", "font_weight"];
const FRAME_TIMING: &[&str] = &["repaint_delay", "vsync", "max_fps", "frames a second"];
const IMAGES: &[&str] = &["image_storage", "storage of images"];
const LINK_LOOK: &[&str] = &["link_color", "color of links", "underline of links"];
const LINK_RULES: &[&str] = &["detect_links", "program that opens links", "link_regex"];
const MACOS: &[&str] = &["macos_", "option_as_alt"];
const MARKERS: &[&str] = &["marker"];
const OTHER_WINDOWS: &[&str] = &["next_window", "other window's"];
const PANE_BY_NUMBER: &[&str] =
    &["activate_pane", "focus_pane:", "pane with this number", "choose_pane"];
const POINTER: &[&str] = &["pointer_shape", "shape of the pointer"];
const REMAPPED: &[&str] = &["remap"];
const SCROLL_PARTS: &[&str] = &["half a page", "scroll_half", "fraction of a page"];
const SELECTION_RULES: &[&str] = &["clear_selection", "selection_clear", "click_interval"];
const SHADERS: &[&str] = &["shader"];
const SPLIT_BEFORE: &[&str] = &["split_left", "split_up"];
const TAB_LOOKS: &[&str] =
    &["tab_bar.style", "powerline", "colors of tabs", "template of a tab's title"];
const TAB_ORDER: &[&str] = &["new_tab_position", "used before", "switch_strategy"];
const UPDATES: &[&str] = &["check for updates", "update_check"];
const VERTICAL_METRICS: &[&str] = &["strikethrough", "overline", "cursor_height"];
const WINDOW_GEOMETRY: &[&str] =
    &["resize_in_steps", "resize_increments", "position_x", "resize overlay"];
const WINDOW_STATES: &[&str] = &["minimize", "toggle_maximized", "maximize_window", "hide_window"];
const WORKSPACES: &[&str] = &["workspace", "multiplexer domain"];
const X11_WAYLAND: &[&str] = &["display server", "titlebar_color", "gtk"];

//! Converts Ghostty's configuration. Each line has the form `key = value`, and a key may occur several times.
//! `config-file` reads another file.

use std::{
    collections::{HashSet, VecDeque},
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    action_lists::{font_steps, repeated},
    action_parts::SWALLOW,
    colors::ColorRole,
    converted::ConfigLine,
    draft::{Draft, ThemeName},
    files::Files,
    forms::{self, Form, Row},
    keys,
    reasons::{self, unknown},
    text::{feature, number, switch, typed, unescape},
    unsupported,
};
use crate::editor::words;

/// The number of pixels in a point, at a scale of 1.
const PIXELS_PER_POINT: f64 = 96.0 / 72.0;
/// The words for a color that follows the color of the cell.
const CELL: &[&str] = &["cell-foreground", "cell-background"];

/// Settings with the same meaning: the name in Ghostty, and the key and the form of the value.
#[rustfmt::skip]
const SETTINGS: &[Row] = &[
    ("alpha-blending", "text.blending", Form::Words(&[("native", "native"), ("linear", "linear"), ("linear-corrected", "linear")])),
    ("background", "", Form::Color(ColorRole::Background, &[])),
    ("background-opacity", "window.opacity", Form::Number),
    ("clipboard-paste-bracketed-safe", "paste.confirm", Form::Either("unsafe", "always")),
    ("clipboard-paste-protection", "paste.confirm", Form::Either("unsafe", "never")),
    ("clipboard-trim-trailing-spaces", "mouse.trim_copied", Form::Switch),
    ("confirm-close-surface", "window.confirm_close", Form::Words(&[("true", "programs"), ("false", "never"), ("always", "always")])),
    ("copy-on-select", "mouse.copy_on_select", Form::Words(&[("false", "off"), ("true", "primary"), ("clipboard", "clipboard")])),
    ("cursor-click-to-move", "commands.click_to_move", Form::Switch),
    ("cursor-color", "", Form::Color(ColorRole::Cursor, CELL)),
    ("cursor-style", "cursor.shape", Form::Words(&[("block", "block"), ("bar", "bar"), ("underline", "underline")])),
    ("cursor-style-blink", "cursor.blink", Form::Switch),
    ("cursor-text", "", Form::Color(ColorRole::CursorText, CELL)),
    ("desktop-notifications", "notifications.programs", Form::Switch),
    ("focus-follows-mouse", "mouse.focus_follows_mouse", Form::Switch),
    ("font-size", "font.size", Form::Number),
    ("foreground", "", Form::Color(ColorRole::Foreground, &[])),
    ("minimum-contrast", "text.minimum_contrast", Form::Number),
    ("mouse-hide-while-typing", "mouse.hide_while_typing", Form::Switch),
    ("right-click-action", "mouse.right_button", Form::Words(&[
        ("context-menu", "menu"), ("paste", "paste"), ("copy-or-paste", "copy_or_paste"), ("ignore", "none"),
    ])),
    ("scrollbar", "scrollbar.show", Form::Words(&[("system", "auto"), ("never", "never")])),
    ("selection-background", "", Form::Color(ColorRole::Selection, CELL)),
    ("selection-foreground", "", Form::Color(ColorRole::SelectionText, CELL)),
    ("title", "window.title_format", Form::Text),
    ("window-show-tab-bar", "tab_bar.show", Form::Words(&[("auto", "several"), ("always", "always"), ("never", "never")])),
];

/// Actions: the name in Ghostty, and the name in Unterm.
const ACTIONS: &[(&str, &str)] = &[
    ("unbind", "none"),
    ("ignore", SWALLOW),
    ("reset", "reset_terminal"),
    ("copy_to_clipboard", "copy"),
    ("copy_to_clipboard:plain", "copy"),
    ("copy_to_clipboard:mixed", "copy"),
    ("copy_to_clipboard:html", "copy_as_html"),
    ("copy_to_clipboard:vt", "copy_as_ansi"),
    ("paste_from_clipboard", "paste"),
    ("paste_from_selection", "paste_primary"),
    ("reset_font_size", "reset_font"),
    ("start_search", "search"),
    ("search_selection", "search_selection"),
    ("select_all", "select_all"),
    ("scroll_to_top", "scroll_to_top"),
    ("scroll_to_bottom", "scroll_to_bottom"),
    ("scroll_page_up", "scroll_page_up"),
    ("scroll_page_down", "scroll_page_down"),
    ("new_window", "new_window"),
    ("move_tab_to_new_window", "tab_to_new_window"),
    ("new_tab", "new_tab"),
    ("previous_tab", "previous_tab"),
    ("next_tab", "next_tab"),
    ("last_tab", "activate_tab:999"),
    ("toggle_tab_overview", "choose_tab"),
    ("prompt_surface_title", "rename_tab"),
    ("prompt_tab_title", "rename_tab"),
    ("new_split:right", "split_right"),
    ("new_split:auto", "split_right"),
    ("new_split", "split_right"),
    ("new_split:down", "split_down"),
    ("goto_split:previous", "previous_pane"),
    ("goto_split:next", "next_pane"),
    ("goto_split:left", "focus_left"),
    ("goto_split:right", "focus_right"),
    ("goto_split:up", "focus_up"),
    ("goto_split:top", "focus_up"),
    ("goto_split:down", "focus_down"),
    ("goto_split:bottom", "focus_down"),
    ("toggle_split_zoom", "zoom_pane"),
    ("equalize_splits", "equalize_panes"),
    ("write_scrollback_file:copy", "export_session"),
    ("write_screen_file:copy", "export_session"),
    ("write_scrollback_file:open", "show_history"),
    ("write_screen_file:open", "show_history"),
    ("clear_screen", "clear_screen"),
    ("inspector", "debug_overlay"),
    ("inspector:toggle", "debug_overlay"),
    ("inspector:show", "debug_overlay"),
    ("undo", "undo_close"),
    ("close_tab:other", "close_other_tabs"),
    ("close_all_windows", "close_window"),
    ("toggle_quick_terminal", "toggle_quake"),
    ("open_config", "open_config"),
    ("close_surface", "close_pane"),
    ("close_tab", "close_tab"),
    ("close_tab:this", "close_tab"),
    ("close_window", "close_window"),
    ("quit", "close_window"),
    ("toggle_fullscreen", "fullscreen"),
    ("toggle_command_palette", "command_palette"),
];

/// Actions for a number of steps: the name in Ghostty, and the actions of Unterm for a step back and forward.
const STEPS: &[(&str, &str, &str)] = &[
    ("jump_to_prompt", "previous_prompt", "next_prompt"),
    ("move_tab", "move_tab_left", "move_tab_right"),
    ("scroll_page_fractional", "scroll_page_up", "scroll_page_down"),
];

/// A file that is named in a line of another file.
struct Include {
    place: ConfigLine,
    /// The name of the file, as written in the configuration.
    name: String,
    path: PathBuf,
    is_optional: bool,
}

/// State that is only complete after all files have been read.
#[derive(Default)]
struct Later {
    /// The files to read after the current file.
    files: VecDeque<Include>,
    /// Whether commands cause a notification when they finish, and the minimum duration of these commands in seconds.
    notifies: Option<bool>,
    seconds: Option<f64>,
    /// The key that was bound last. `chain` adds actions to it.
    bound: Option<String>,
}

/// Reads a configuration, and adds its settings to the draft.
///
/// # Errors
/// Fails if the file can't be read.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let mut later = Later::default();
    let mut seen = HashSet::from([file.to_owned()]);
    read_one(file, files, draft, &mut later)?;
    while let Some(Include { place, name, path, is_optional }) = later.files.pop_front() {
        if !seen.insert(path.clone()) || (is_optional && !path.exists()) {
            continue;
        }
        if let Err(why) = read_one(&path, files, draft, &mut later) {
            draft.begin(&place, &format!("config-file {name}"));
            draft.leave_out(&why);
        }
    }
    if let Some(notifies) = later.notifies {
        let seconds = if notifies { later.seconds.unwrap_or(5.0) } else { 0.0 };
        draft.set_number(&["notifications", "long_commands"], seconds);
    }
    Ok(())
}

fn read_one(
    file: &Path,
    files: &mut Files,
    draft: &mut Draft,
    later: &mut Later,
) -> Result<(), String> {
    let text = files.enter(file)?;
    let shared = Rc::new(file.to_owned());
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = ConfigLine { file: Rc::clone(&shared), line: index + 1 };
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let (name, value) = (name.trim(), unquoted(value.trim()));
        if name == "config-file" {
            let (path, is_optional) = match value.strip_prefix('?') {
                Some(path) => (unquoted(path), true),
                None => (value, false),
            };
            let (name, path) = (path.to_owned(), files.named(path, file));
            later.files.push_back(Include { place, name, path, is_optional });
            continue;
        }
        let shown = match name {
            "keybind" | "palette" => format!("{name} {value}"),
            _ => name.to_owned(),
        };
        draft.setting(&place, &shown, |draft| match value {
            // An empty value restores the default of the key.
            "" => {
                reset(draft, name);
                Ok(())
            }
            value => convert(draft, name, value, later, files, file),
        });
    }
    files.leave();
    Ok(())
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// The list that a key of Ghostty sets in Unterm, if the key sets a list.
fn list_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "font-family" => "family",
        "font-family-bold" => "bold",
        "font-family-italic" => "italic",
        "font-family-bold-italic" => "bold_italic",
        "font-feature" => "features",
        "font-codepoint-map" => "symbol_map",
        _ => return None,
    })
}

fn reset(draft: &mut Draft, name: &str) {
    if let Some(key) = list_of(name) {
        draft.unset(&["font", key]);
    }
}

fn convert(
    draft: &mut Draft,
    name: &str,
    value: &str,
    later: &mut Later,
    files: &mut Files,
    file: &Path,
) -> Result<(), String> {
    if unsupported::GHOSTTY.is_always(name, value) {
        return Ok(());
    }
    if let Some(converted) = forms::convert(draft, SETTINGS, name, value) {
        return converted;
    }
    match name {
        "font-family" | "font-family-bold" | "font-family-italic" | "font-family-bold-italic" => {
            draft.append(&["font", list_of(name).unwrap_or_default()], value);
        }
        "font-feature" => {
            for text in value.split(',') {
                draft.append(&["font", "features"], &feature(text));
            }
        }
        "font-codepoint-map" => {
            let (codes, family) = value.split_once('=').ok_or_else(|| unknown(value))?;
            draft.add(&["font", "symbol_map"], codes.trim(), family.trim());
        }
        "font-synthetic-style" => {
            draft.set(&["font", "synthetic"], switch(value).map_err(|_| reasons::ALL_STYLES)?)
        }
        "adjust-cell-width"
        | "adjust-cell-height"
        | "adjust-underline-position"
        | "adjust-underline-thickness" => {
            draft.set(&["font", &name.replace('-', "_")], change(value)?);
        }
        "adjust-font-baseline" => draft.set(&["font", "adjust_baseline"], change(value)?),
        "theme" => theme(draft, value, files, file)?,
        "palette" => {
            let (index, color) = value.split_once('=').ok_or_else(|| unknown(value))?;
            let index = index.trim().parse().map_err(|_| unknown(index))?;
            draft.set_ansi(index, color.trim())?;
        }
        "mouse-scroll-multiplier" => match number(value) {
            Ok(factor) => draft.set_number(&["mouse", "scroll_multiplier"], factor),
            Err(_) => scroll(draft, value)?,
        },
        "background-blur" | "background-blur-radius" => {
            draft.set(&["window", "blur"], !["false", "0"].contains(&value));
        }
        "unfocused-split-opacity" => {
            let dim = (1.0 - number(value)?).clamp(0.0, 0.9);
            draft.set_number(&["window", "dim_unfocused"], dim);
        }
        "command" => {
            let command = value.strip_prefix("direct:").or_else(|| value.strip_prefix("shell:"));
            draft.set_shell(&words(command.unwrap_or(value)));
        }
        "env" => {
            let (name, value) = value.split_once('=').ok_or_else(|| unknown(value))?;
            draft.set(&["env", name.trim()], value.trim());
        }
        "notify-on-command-finish" => later.notifies = Some(value != "never"),
        "notify-on-command-finish-after" => later.seconds = Some(seconds(value)?),
        "scrollback-limit-lines" => {
            let lines = if value == "unlimited" { 999_999_999.0 } else { number(value)? };
            draft.set_number(&["scrollback", "lines"], lines);
        }
        "window-padding-x" | "window-padding-y" => {
            let sides = value.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
            let side = (sides[0] * PIXELS_PER_POINT).round();
            if name.ends_with('x') {
                draft.set_number(&["window", "padding"], side);
            } else {
                draft.padding(side);
            }
            if sides.iter().any(|other| *other != sides[0]) {
                draft.leave_out(reasons::ONE_PADDING.why);
            }
        }
        "window-width" | "window-height" => {
            let key = if name == "window-width" { "columns" } else { "rows" };
            match number(value)? {
                0.0 => draft.unset(&["window", key]),
                cells => draft.set_number(&["window", key], cells),
            }
        }
        "window-save-state" => draft.set(&["window", "restore"], value != "never"),
        "maximize" => start(draft, "maximized", switch(value)?),
        "fullscreen" => start(draft, "fullscreen", value != "false"),
        "gtk-tabs-location" => match value {
            "top" | "bottom" | "left" => draft.set(&["tab_bar", "position"], value),
            "hidden" => draft.set(&["tab_bar", "show"], "never"),
            _ => return Err(reasons::TAB_BAR.into()),
        },
        "selection-word-chars" => {
            let separators = unescape(value)?;
            let separators: String = separators.chars().filter(|c| !c.is_whitespace()).collect();
            draft.set(&["mouse", "word_separators"], separators);
        }
        "quick-terminal-size" => {
            let share = value.split(',').next().and_then(|first| first.trim().strip_suffix('%'));
            let share = share.ok_or(reasons::NO_DROP_DOWN_PIXELS)?;
            draft.set_number(&["window", "quake_height"], number(share)? / 100.0);
        }
        "shell-integration" => draft.set(&["shell", "integration"], value != "none"),
        "bell-features" => bell(draft, value)?,
        "keybind" => bind(draft, value, later)?,
        "language" => {
            draft.set(&["language"], value.split('.').next().unwrap_or(value).replace('_', "-"))
        }
        "middle-click-action" => {
            let action = match value {
                "primary-paste" => "paste_primary",
                "ignore" => "none",
                _ => return Err(unknown(value)),
            };
            draft.bind_mouse("middle", &[action.to_owned()])?;
        }
        "command-palette-entry" => entry(draft, value)?,
        _ => return Err(unsupported::GHOSTTY.setting(name)),
    }
    Ok(())
}

/// Converts factors for kinds of devices, such as `precision:1,discrete:3`. The factor of a wheel with steps is its
/// number of lines.
fn scroll(draft: &mut Draft, value: &str) -> Result<(), String> {
    for part in value.split(',') {
        let (device, factor) = part.split_once(':').ok_or_else(|| unknown(value))?;
        match (device.trim(), number(factor)?) {
            ("discrete", lines) => draft.set_number(&["mouse", "scroll_lines"], lines),
            ("precision", 1.0) => {}
            ("precision", _) => draft.leave_out(reasons::ONE_FACTOR.why),
            _ => return Err(unknown(value)),
        }
    }
    Ok(())
}

/// Converts a change of a measure, which is given in pixels or percent.
fn change(value: &str) -> Result<String, String> {
    match value.strip_suffix('%') {
        Some(share) => Ok(format!("{}%", number(share)?)),
        None => Ok(format!("{}px", number(value)?)),
    }
}

fn start(draft: &mut Draft, state: &str, on: bool) {
    if on {
        draft.set(&["window", "start"], state);
    }
}

/// Parses a duration, such as `1m 30s`. Returns seconds.
fn seconds(value: &str) -> Result<f64, String> {
    let mut sum = 0.0;
    for part in value.split_whitespace() {
        let digits = part.trim_end_matches(char::is_alphabetic);
        let unit = match &part[digits.len()..] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(unknown(value)),
        };
        sum += number(digits)? * unit;
    }
    Ok(f64::max(sum.round(), 1.0))
}

/// Converts the settings of the bell. The name of a feature turns it on; with the prefix `no-`, it is turned off.
fn bell(draft: &mut Draft, value: &str) -> Result<(), String> {
    if let Ok(all) = switch(value) {
        for key in ["audible", "attention", "mark", "visual"] {
            draft.set(&["bell", key], all);
        }
        return Ok(());
    }
    for word in value.split(',').map(str::trim) {
        let (feature, on) = match word.strip_prefix("no-") {
            Some(feature) => (feature, false),
            None => (word, true),
        };
        let key = match feature {
            "system" | "audio" => "audible",
            "attention" => "attention",
            "title" => "mark",
            "border" => "visual",
            _ => return Err(unknown(word)),
        };
        draft.set(&["bell", key], on);
    }
    Ok(())
}

/// Converts a theme. The name may refer to a file of the user, to a file of Ghostty, or to a theme of Unterm with that
/// name.
fn theme(draft: &mut Draft, value: &str, files: &mut Files, file: &Path) -> Result<(), String> {
    let pair: Vec<_> = value.split(',').filter_map(|part| part.trim().split_once(':')).collect();
    let find = |wanted: &str| {
        pair.iter().find(|(kind, _)| kind.trim() == wanted).map(|(_, name)| name.trim().to_owned())
    };
    if let (Some(light), Some(dark)) = (find("light"), find("dark")) {
        draft.choose(ThemeName::Pair(light, dark));
        return Ok(());
    }
    let own = match Path::new(value).is_absolute() {
        true => PathBuf::from(value),
        false if value.contains('/') => return Err(unknown(value)),
        false => file.parent().unwrap_or(Path::new("/")).join("themes").join(value),
    };
    if !own.exists() {
        draft.choose(ThemeName::One(value.to_owned()));
        return Ok(());
    }
    let text = files.enter(&own)?;
    files.leave();
    // Colors in the configuration override the colors of its theme, even if they are set before the theme.
    let before = std::mem::take(&mut draft.colors);
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let (name, value) = (name.trim(), unquoted(value.trim()));
        let is_color = name.starts_with("cursor-") || name.starts_with("selection-");
        if is_color || ["palette", "background", "foreground"].contains(&name) {
            convert(draft, name, value, &mut Later::default(), files, &own)?;
        }
    }
    draft.colors.replace(before);
    Ok(())
}

/// Adds an entry to the command palette. The value has the form `title:…,description:…,action:…`. Commas in quotes do
/// not separate fields.
fn entry(draft: &mut Draft, value: &str) -> Result<(), String> {
    if value == "clear" {
        draft.unset_all("palette");
        return Ok(());
    }
    let (mut title, mut action) = (None, None);
    let mut rest = value;
    while let Some((name, after)) = rest.split_once(':') {
        let after = after.trim_start();
        let (field, more) = match after.strip_prefix('"').and_then(|quoted| quoted.split_once('"'))
        {
            Some((field, more)) => (field, more.trim_start().trim_start_matches(',')),
            // The action is the last field, and may contain commas.
            None if name.trim() == "action" => (after, ""),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        match name.trim() {
            "title" => title = Some(field.trim()),
            "action" => action = Some(field.trim()),
            _ => {}
        }
        rest = more;
    }
    let (title, action) = title.zip(action).ok_or_else(|| unknown(value))?;
    let actions = actions_of(action)?;
    if actions == ["none"] {
        return Err(unknown(value));
    }
    draft.palette(title, &actions)
}

/// Converts a key binding.
fn bind(draft: &mut Draft, value: &str, later: &mut Later) -> Result<(), String> {
    if value == "clear" {
        draft.clear_keys();
        return Ok(());
    }
    // The key may be `=` itself.
    let at = value.char_indices().skip(1).find(|(at, c)| *c == '=' && !value[..*at].ends_with('+'));
    let (mut trigger, action) =
        at.map(|(at, _)| (&value[..at], &value[at + 1..])).ok_or_else(|| unknown(value))?;
    if trigger == "chain" {
        let bound = later.bound.as_ref().ok_or("no binding that was converted stands before it")?;
        return draft.chain(bound, &actions_of(action)?);
    }
    later.bound = None;
    while let Some((prefix, rest)) = trigger.split_once(':').filter(|(_, rest)| !rest.is_empty()) {
        match prefix {
            // Both prefixes can be ignored. Unterm's keys always apply to the window, and some keys reach the program
            // if their action has no effect.
            "physical" | "performable" => trigger = rest,
            "global" if action == "toggle_quick_terminal" => {
                return Err(reasons::DROP_DOWN_KEY.to_owned());
            }
            "global" | "all" => return Err(reasons::NO_GLOBAL_KEYS.into()),
            _ => return Err(reasons::NO_UNCONSUMED.into()),
        }
    }
    let (mode, trigger) = match trigger.split_once('/') {
        Some((mode, key)) if !mode.contains(['+', '>']) && !mode.is_empty() && !key.is_empty() => {
            (mode, key)
        }
        _ => ("", trigger),
    };
    let single = trigger.ends_with("+>") || trigger == ">";
    let parts: Vec<&str> = if single { vec![trigger] } else { trigger.split('>').collect() };
    let chord = |trigger: &str| {
        let (modifiers, key) = match trigger.strip_suffix("++") {
            Some(modifiers) => (modifiers, "+"),
            None => trigger.rsplit_once('+').unwrap_or(("", trigger)),
        };
        keys::chord(modifiers.split('+'), key)
    };
    let keys = parts.into_iter().map(chord).collect::<Result<Vec<_>, _>>()?.join(">");
    match action.split_once(':').unwrap_or((action, "")) {
        ("activate_key_table_once", table) if mode.is_empty() => draft.enter_mode(table, &keys),
        // A sequence ends by itself, so it needs no key that leaves the mode.
        ("deactivate_key_table" | "deactivate_all_key_tables", _) if !mode.is_empty() => {}
        (name, _) if name.starts_with("activate_key_") || name.starts_with("deactivate_") => {
            return Err(reasons::NO_MODES.into());
        }
        _ if mode.is_empty() => {
            draft.bind(&keys, &actions_of(action)?)?;
            later.bound = Some(keys);
        }
        _ => draft.bind_in_mode(mode, &keys, actions_of(action)?),
    }
    Ok(())
}

/// Converts an action of Ghostty. An action for several steps results in several actions.
fn actions_of(action: &str) -> Result<Vec<String>, String> {
    let (name, argument) = action.split_once(':').unwrap_or((action, ""));
    if let Some((_, back, forward)) = STEPS.iter().find(|(known, ..)| *known == name) {
        let steps = repeated(number(argument)?, back, forward);
        return steps.ok_or_else(|| reasons::WHOLE_STEPS.into());
    }
    match name {
        "increase_font_size" => font_steps(number(argument)?),
        "decrease_font_size" => font_steps(-number(argument)?),
        _ => Ok(vec![action_of(action)?]),
    }
}

/// Converts an action of Ghostty that results in one action.
fn action_of(action: &str) -> Result<String, String> {
    if let Some((_, ours)) = ACTIONS.iter().find(|(name, _)| *name == action) {
        return Ok((*ours).to_owned());
    }
    let (name, argument) = action.split_once(':').unwrap_or((action, ""));
    Ok(match name {
        "reload_config" => return Err(reasons::RELOADS.to_owned()),
        "text" => typed(&unescape(argument)?),
        "csi" => typed(&format!("\u{1b}[{argument}")),
        "esc" => typed(&format!("\u{1b}{argument}")),
        "scroll_page_lines" => format!("scroll_lines:{argument}"),
        "goto_tab" => format!("activate_tab:{argument}"),
        "set_tab_title" | "set_surface_title" => {
            format!("set_tab_title:{}", argument.replace('\\', "\\\\"))
        }
        "resize_split" => match argument.split(',').next().unwrap_or_default() {
            direction @ ("left" | "right" | "up" | "down") => format!("resize_{direction}"),
            _ => return Err(unknown(argument)),
        },
        _ => return Err(unsupported::GHOSTTY.action(name)),
    })
}

//! Converts `kitty.conf`: a name and a value a line, `include`, and lines that go on after a backslash.

use std::{path::Path, rc::Rc};

use super::{
    colors::Part,
    converted::Place,
    draft::Draft,
    files::Files,
    keys,
    reasons::{self, unknown},
    text::{number, switch, typed, unescape},
};
use crate::editor::words;

/// Pixels in a point, at the scale of 1.
const PIXELS_PER_POINT: f64 = 96.0 / 72.0;

/// Actions without arguments, and Unterm's.
const ACTIONS: &[(&str, &str)] = &[
    ("new_window", "split_right"),
    ("new_window_with_cwd", "split_right"),
    ("new_tab", "new_tab"),
    ("new_tab_with_cwd", "new_tab"),
    ("new_os_window", "new_window"),
    ("new_os_window_with_cwd", "new_window"),
    ("close_window", "close_pane"),
    ("close_window_with_confirmation", "close_pane"),
    ("close_tab", "close_tab"),
    ("close_os_window", "close_window"),
    ("quit", "close_window"),
    ("next_window", "next_pane"),
    ("previous_window", "previous_pane"),
    ("next_tab", "next_tab"),
    ("previous_tab", "previous_tab"),
    ("move_tab_forward", "move_tab_right"),
    ("move_tab_backward", "move_tab_left"),
    ("set_tab_title", "rename_tab"),
    ("select_tab", "choose_tab"),
    ("copy_to_clipboard", "copy"),
    ("copy_or_interrupt", "copy"),
    ("copy_and_clear_or_interrupt", "copy"),
    ("copy_ansi_to_clipboard", "copy_as_ansi"),
    ("copy_last_command_output", "copy_output"),
    ("paste_from_clipboard", "paste"),
    ("paste_from_selection", "paste_primary"),
    ("scroll_line_up", "scroll_lines:-1"),
    ("scroll_line_down", "scroll_lines:1"),
    ("scroll_page_up", "scroll_page_up"),
    ("scroll_page_down", "scroll_page_down"),
    ("scroll_home", "scroll_to_top"),
    ("scroll_end", "scroll_to_bottom"),
    ("search_scrollback", "search"),
    ("show_last_command_output", "select_output"),
    ("increase_font_size", "larger_font"),
    ("decrease_font_size", "smaller_font"),
    ("restore_font_size", "reset_font"),
    ("toggle_fullscreen", "fullscreen"),
    ("edit_config_file", "open_config"),
    ("command_palette", "command_palette"),
    ("open_url_with_hints", "open_hint"),
    ("input_unicode_character", "choose_emoji"),
    ("no_op", "none"),
];

/// A `map`, which is converted when the last `kitty_mod` is known.
struct Map {
    place: Place,
    text: String,
}

struct Reader<'a> {
    files: &'a mut Files,
    draft: &'a mut Draft,
    modifiers: String,
    maps: Vec<Map>,
    family: Option<String>,
}

/// Reads a configuration into the draft.
///
/// # Errors
/// If the file can't be read.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let modifiers = "ctrl+shift".to_owned();
    let mut reader = Reader { files, draft, modifiers, maps: Vec::new(), family: None };
    reader.file(file)?;
    // kitty applies the last kitty_mod to all keys.
    for map in std::mem::take(&mut reader.maps) {
        let modifiers = &reader.modifiers;
        let name = format!("map {}", map.text);
        reader.draft.setting(&map.place, &name, |draft| bind(draft, &map.text, modifiers));
    }
    Ok(())
}

impl Reader<'_> {
    fn file(&mut self, file: &Path) -> Result<(), String> {
        let text = self.files.enter(file)?;
        let shared = Rc::new(file.to_owned());
        for (line, text) in joined(&text) {
            let place = Place { file: Rc::clone(&shared), line };
            let (name, value) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
            self.setting(&place, name, value.trim());
        }
        self.files.leave();
        Ok(())
    }

    fn setting(&mut self, place: &Place, name: &str, value: &str) {
        match name {
            "include" => {
                let path = self.files.named(value, &place.file);
                if let Err(why) = self.file(&path) {
                    self.draft.begin(place, &format!("include {value}"));
                    self.draft.leave_out(&why);
                }
            }
            "map" => self.maps.push(Map { place: place.clone(), text: value.to_owned() }),
            "kitty_mod" => value.clone_into(&mut self.modifiers),
            _ => {
                let family = &mut self.family;
                self.draft.setting(place, name, |draft| convert(draft, name, value, family));
            }
        }
    }
}

/// The settings of a file with their lines: without comments and blank lines, and with the lines that go on after a backslash.
fn joined(text: &str) -> Vec<(usize, String)> {
    let mut settings: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        match (line.strip_prefix('\\'), settings.last_mut()) {
            (Some(more), Some((_, last))) => last.push_str(more),
            _ => settings.push((index + 1, line.to_owned())),
        }
    }
    settings.retain(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'));
    settings
}

/// Converts a setting that is neither a key nor an include. `regular` is the regular font's family so far.
fn convert(
    draft: &mut Draft,
    name: &str,
    value: &str,
    regular: &mut Option<String>,
) -> Result<(), String> {
    let first = value.split_whitespace().next().unwrap_or_default();
    match name {
        "font_family" => {
            *regular = family(value)?;
            match regular {
                Some(family) => draft.set_list(&["font", "family"], &[family]),
                None => draft.unset(&["font", "family"]),
            }
        }
        "bold_font" | "italic_font" | "bold_italic_font" => {
            let key = ["font", name.trim_end_matches("_font")];
            draft.unset(&key);
            if let Some(family) = family(value)?
                && Some(&family) != regular.as_ref()
            {
                draft.set_list(&key, &[family]);
            }
        }
        "font_size" => draft.set_number(&["font", "size"], number(value)?),
        "disable_ligatures" => draft.set(
            &["font", "ligatures"],
            match value {
                "never" => "always",
                "cursor" => "cursor",
                "always" => "never",
                _ => return Err(unknown(value)),
            },
        ),
        "font_features" => {
            for feature in value.split_whitespace().skip(1) {
                draft.append(&["font", "features"], feature);
            }
        }
        "symbol_map" => {
            let (codes, family) = value.split_once(' ').ok_or_else(|| unknown(value))?;
            draft.add(&["font", "symbol_map"], codes, family.trim());
        }
        "modify_font" => {
            let (what, amount) = value.split_once(' ').ok_or_else(|| unknown(value))?;
            modify_font(draft, what, amount.trim())?;
        }
        "adjust_line_height" => modify_font(draft, "cell_height", &in_pixels(value))?,
        "adjust_column_width" => modify_font(draft, "cell_width", &in_pixels(value))?,
        "cursor_shape" => draft.set(
            &["cursor", "shape"],
            match value {
                "block" => "block",
                "beam" => "bar",
                "underline" => "underline",
                _ => return Err(unknown(value)),
            },
        ),
        "cursor_blink_interval" => draft.set(&["cursor", "blink"], number(first)? != 0.0),
        "scrollback_lines" => {
            let lines = number(value)?;
            draft.set_number(
                &["scrollback", "lines"],
                if lines < 0.0 { 999_999_999.0 } else { lines },
            );
        }
        "scrollbar" => draft.set(
            &["scrollbar", "show"],
            match value {
                "always" => "always",
                "never" => "never",
                "scrolled" | "hovered" | "scrolled-and-hovered" => "auto",
                _ => return Err(unknown(value)),
            },
        ),
        "wheel_scroll_multiplier" => {
            let lines = number(value)?;
            if lines < 0.5 {
                return Err("the wheel scrolls at least one line, in its own direction".to_owned());
            }
            draft.set_number(&["mouse", "scroll_lines"], lines.round());
        }
        "mouse_hide_wait" => {
            let seconds = number(first)?;
            if seconds > 0.0 {
                return Err("Unterm hides the pointer while you type, not after a time".to_owned());
            }
            draft.set(&["mouse", "hide_while_typing"], seconds < 0.0);
        }
        "copy_on_select" => draft.set(
            &["mouse", "copy_on_select"],
            match switch(value) {
                Ok(true) => "clipboard",
                Ok(false) => "primary",
                Err(_) if value == "clipboard" => "clipboard",
                Err(_) => return Err("Unterm has no private clipboards".to_owned()),
            },
        ),
        "strip_trailing_spaces" => draft.set(&["mouse", "trim_copied"], value != "never"),
        "select_by_word_characters" => {
            return Err(
                "it lists characters of words; mouse.word_separators lists the others".to_owned()
            );
        }
        "focus_follows_mouse" => draft.set(&["mouse", "focus_follows_mouse"], switch(value)?),
        "paste_actions" => {
            let asks = value.split(',').any(|action| action == "confirm");
            draft.set(&["paste", "confirm"], if asks { "unsafe" } else { "never" });
        }
        "enable_audio_bell" => draft.set(&["bell", "audible"], switch(value)?),
        "visual_bell_duration" => draft.set(&["bell", "visual"], number(first)? > 0.0),
        "window_alert_on_bell" => draft.set(&["bell", "attention"], switch(value)?),
        "bell_on_tab" => {
            draft.set(&["bell", "mark"], !["", "none", "no", "n", "false"].contains(&value));
        }
        "command_on_bell" => match value {
            "none" | "" => draft.unset(&["bell", "command"]),
            command => draft.set_list(&["bell", "command"], &words(command)),
        },
        "bell_path" => return Err("set bell.command to a program that plays it".to_owned()),
        "remember_window_size" => draft.set(&["window", "restore"], switch(value)?),
        "initial_window_width" => draft.set_number(&["window", "columns"], cells(value)?),
        "initial_window_height" => draft.set_number(&["window", "rows"], cells(value)?),
        "window_padding_width" => {
            let sides = value.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
            let side = *sides.first().ok_or_else(|| unknown(value))?;
            draft.set_number(&["window", "padding"], (side * PIXELS_PER_POINT).round());
            if sides.iter().any(|other| *other != side) {
                draft.leave_out(reasons::ONE_PADDING);
            }
        }
        "inactive_text_alpha" => {
            let dim = 1.0 - number(value)?;
            draft.set_number(&["window", "dim_unfocused"], dim.clamp(0.0, 0.9));
        }
        "background_opacity" => draft.set_number(&["window", "opacity"], number(value)?),
        "background_blur" => draft.set(&["window", "blur"], number(value)? > 0.0),
        "confirm_os_window_close" => {
            let windows = number(first)?;
            draft.set(
                &["window", "confirm_close"],
                match windows {
                    0.0 => "never",
                    1.0 => "always",
                    _ => "programs",
                },
            );
        }
        "tab_bar_edge" => match value {
            "top" | "bottom" => draft.set(&["tab_bar", "position"], value),
            _ => return Err(reasons::TAB_BAR.to_owned()),
        },
        "tab_bar_style" if value == "hidden" => draft.set(&["tab_bar", "show"], "never"),
        "tab_bar_min_tabs" => {
            let several = number(value)? > 1.0;
            draft.set(&["tab_bar", "show"], if several { "several" } else { "always" });
        }
        "tab_title_max_length" => match number(value)? {
            0.0 => draft.unset(&["tab_bar", "max_title"]),
            most => draft.set_number(&["tab_bar", "max_title"], most),
        },
        "foreground" => draft.set_part(Part::Foreground, value, &[])?,
        "background" => draft.set_part(Part::Background, value, &[])?,
        "cursor" => draft.set_part(Part::Cursor, value, &["none"])?,
        "cursor_text_color" => draft.set_part(Part::CursorText, value, &["background"])?,
        "selection_background" => draft.set_part(Part::Selection, value, &["none"])?,
        "selection_foreground" => draft.set_part(Part::SelectionText, value, &["none"])?,
        "shell" => match value {
            "." => draft.unset(&["shell", "program"]),
            command => draft.set_shell(&words(command)),
        },
        "editor" => match value {
            "." => draft.unset(&["hints", "editor"]),
            command => draft.set(&["hints", "editor"], command),
        },
        "env" => {
            let (name, value) = value.split_once('=').ok_or("Unterm can't remove a variable")?;
            if value.contains('$') {
                return Err("Unterm does not replace variables in a value".to_owned());
            }
            draft.set(&["env", name.trim()], value.trim());
        }
        "shell_integration" => {
            let words: Vec<_> = value.split_whitespace().collect();
            let off = ["disabled", "no-rc"].iter().any(|word| words.contains(word));
            draft.set(&["shell", "integration"], !off);
            if !off && words != ["enabled"] {
                draft.leave_out("Unterm's shell integration is on or off as a whole");
            }
        }
        "notify_on_cmd_finish" => {
            let seconds = value.split_whitespace().nth(1).map_or(Ok(5.0), number)?;
            let seconds = if first == "never" { 0.0 } else { seconds.round() };
            draft.set_number(&["notifications", "long_commands"], seconds);
        }
        "term" => return Err(reasons::TERM.to_owned()),
        "mouse_map" => {
            return Err(reasons::MOUSE.to_owned());
        }
        "allow_remote_control" | "listen_on" | "remote_control_password" => {
            return Err("Unterm's control port is always on, for your user only".to_owned());
        }
        "enabled_layouts" => return Err("Unterm arranges panes in splits".to_owned()),
        "globinclude" => return Err("name each file with include".to_owned()),
        "geninclude" | "envinclude" => {
            return Err("the import runs no programs and reads no variables".to_owned());
        }
        "clear_all_shortcuts" => {
            return Err(reasons::NO_CLEARING.to_owned());
        }
        "action_alias" | "kitten_alias" => {
            return Err("Unterm has no aliases of actions".to_owned());
        }
        _ => match name.strip_prefix("color").and_then(|index| index.parse().ok()) {
            Some(index) => draft.set_ansi(index, value)?,
            None => return Err(reasons::NO_SETTING.to_owned()),
        },
    }
    Ok(())
}

/// The family of a font. Files name it alone, with a style behind it, or as `family="…"`.
fn family(value: &str) -> Result<Option<String>, String> {
    if ["auto", "monospace", ""].contains(&value) {
        return Ok(None);
    }
    if value.contains('=') {
        let word = words(value).into_iter().find_map(|word| {
            let name = word.strip_prefix("family=")?;
            Some(name.to_owned())
        });
        return word.map(Some).ok_or_else(|| "Unterm chooses a font by its family".to_owned());
    }
    let mut name = value;
    while let Some((before, style)) = name.rsplit_once(' ')
        && ["regular", "bold", "italic", "oblique"].contains(&style.to_lowercase().as_str())
    {
        name = before;
    }
    Ok(Some(name.to_owned()))
}

/// A change of a measure: kitty writes the new share of a measure, Unterm the difference.
fn modify_font(draft: &mut Draft, what: &str, amount: &str) -> Result<(), String> {
    let key = match what {
        "cell_width" => "adjust_cell_width",
        "cell_height" => "adjust_cell_height",
        "underline_thickness" => "adjust_underline_thickness",
        _ => return Err(reasons::NO_SETTING.to_owned()),
    };
    let change = if let Some(share) = amount.strip_suffix('%') {
        format!("{}%", number(share)? - 100.0)
    } else if let Some(pixels) = amount.strip_suffix("px") {
        format!("{}px", number(pixels)?)
    } else {
        let points = number(amount.strip_suffix("pt").unwrap_or(amount))?;
        format!("{}px", (points * PIXELS_PER_POINT * 10.0).round() / 10.0)
    };
    draft.set(&["font", key], change);
    Ok(())
}

/// The older settings of a cell's size count in pixels.
fn in_pixels(value: &str) -> String {
    if value.ends_with('%') { value.to_owned() } else { format!("{value}px") }
}

/// A size in cells.
fn cells(value: &str) -> Result<f64, String> {
    let cells = value.strip_suffix('c');
    number(cells.ok_or("it is in pixels; Unterm's size is in columns and rows")?)
}

/// Binds the key of a `map`.
fn bind(draft: &mut Draft, text: &str, kitty_mod: &str) -> Result<(), String> {
    let (keys, action) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if keys.starts_with("--") {
        return Err(reasons::NO_MODES.to_owned());
    }
    // `>` joins keys that are pressed one after another; alone, it is a key.
    if keys.split('>').filter(|key| !key.is_empty()).count() > 1 && !keys.ends_with("+>") {
        return Err(reasons::NO_SEQUENCES.to_owned());
    }
    let expanded = keys.replace("kitty_mod", kitty_mod);
    let (modifiers, key) = match expanded.strip_suffix("++") {
        Some(modifiers) => (modifiers, "+"),
        None => expanded.rsplit_once('+').unwrap_or(("", &expanded)),
    };
    let chord = keys::chord(modifiers.split('+'), key)?;
    draft.bind(&chord, &action_of(action.trim())?)
}

/// Unterm's action for kitty's.
fn action_of(action: &str) -> Result<String, String> {
    let (name, argument) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
    let argument = argument.trim();
    let direction = |word: &str| {
        let word = match word {
            "top" => "up",
            "bottom" => "down",
            word => word,
        };
        ["left", "right", "up", "down"].contains(&word).then_some(word.to_owned())
    };
    let ours = match (name, argument) {
        ("", _) => "none".to_owned(),
        ("set_tab_title", title) if !title.is_empty() => {
            format!("set_tab_title:{}", title.replace('\\', "\\\\"))
        }
        ("launch", options) => launch(options)?,
        ("new_tab", "!neighbor") | ("new_tab_with_cwd", "!neighbor") => "new_tab".to_owned(),
        ("goto_tab", number) => match number.parse::<i32>() {
            Ok(number) if number > 0 => format!("activate_tab:{number}"),
            _ => return Err("Unterm does not go to tabs by when they were used".to_owned()),
        },
        ("neighboring_window", to) => {
            format!("focus_{}", direction(to).ok_or_else(|| unknown(to))?)
        }
        ("move_window", to) if direction(to).is_some() => {
            format!("swap_pane_{}", direction(to).unwrap_or_default())
        }
        ("resize_window", how) => match how.split(' ').next().unwrap_or_default() {
            "wider" => "resize_right",
            "narrower" => "resize_left",
            "taller" => "resize_down",
            "shorter" => "resize_up",
            "reset" => "equalize_panes",
            _ => return Err(unknown(how)),
        }
        .to_owned(),
        ("toggle_layout", "stack") => "zoom_pane".to_owned(),
        ("detach_window", "new-tab") => "pane_to_new_tab".to_owned(),
        ("scroll_line_up", _) => "scroll_lines:-1".to_owned(),
        ("scroll_line_down", _) => "scroll_lines:1".to_owned(),
        ("scroll_to_prompt", "-1") => "previous_prompt".to_owned(),
        ("scroll_to_prompt", "1") => "next_prompt".to_owned(),
        ("change_font_size", how) => match how.rsplit(' ').next().unwrap_or_default() {
            "0" => "reset_font",
            more if more.starts_with('+') => "larger_font",
            less if less.starts_with('-') => "smaller_font",
            _ => return Err("Unterm changes the size by steps".to_owned()),
        }
        .to_owned(),
        ("clear_terminal", "reset active") => "reset_terminal".to_owned(),
        ("clear_terminal", "scrollback active") => "clear_history".to_owned(),
        ("send_text", argument) => {
            let (modes, text) = argument.split_once(' ').ok_or_else(|| unknown(argument))?;
            if !["all", "normal,application", "application,normal"].contains(&modes) {
                return Err("Unterm types a text in every mode of the keyboard".to_owned());
            }
            typed(&unescape(text)?)
        }
        ("kitten", "hints") => "open_hint".to_owned(),
        ("kitten", "unicode_input") => "choose_emoji".to_owned(),
        ("kitten", "themes") => "choose_theme".to_owned(),
        ("load_config_file", _) => return Err(reasons::RELOADS.to_owned()),
        ("combine", _) => return Err(reasons::ONE_ACTION.to_owned()),
        ("discard_event", _) => return Err(reasons::NO_SWALLOWING.to_owned()),
        (name, argument) => match ACTIONS.iter().find(|(other, _)| *other == name) {
            Some((_, ours)) if argument.is_empty() => (*ours).to_owned(),
            Some(_) => return Err(reasons::NO_PROGRAMS.to_owned()),
            None => return Err(reasons::NO_ACTION.to_owned()),
        },
    };
    Ok(ours)
}

/// The action of `launch`, if it starts no program.
fn launch(options: &str) -> Result<String, String> {
    let (mut kind, mut location) = ("window".to_owned(), String::new());
    for word in words(options) {
        match word.split_once('=') {
            Some(("--type", value)) => value.clone_into(&mut kind),
            Some(("--location", value)) => value.clone_into(&mut location),
            Some(("--cwd", "current" | "last_reported" | "oldest")) => {}
            _ => return Err(reasons::NO_PROGRAMS.to_owned()),
        }
    }
    Ok(match (kind.as_str(), location.as_str()) {
        ("tab", _) => "new_tab",
        ("os-window", _) => "new_window",
        ("window", "hsplit") => "split_down",
        ("window", "" | "vsplit" | "split" | "after" | "neighbor" | "last") => "split_right",
        _ => return Err(reasons::NO_ACTION.to_owned()),
    }
    .to_owned())
}

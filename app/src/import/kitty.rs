//! Converts `kitty.conf`. Each line contains a name and a value. `include` reads another file, and a line that starts
//! with a backslash continues the previous line.

mod actions;
mod mouse;

use std::{path::Path, rc::Rc};

use super::{
    colors::ColorRole,
    converted::ConfigLine,
    draft::Draft,
    files::Files,
    forms::{self, Form, Row},
    reasons::{self, unknown},
    text::{number, switch},
    unsupported,
};
use crate::editor::words;

/// The number of pixels in a point, at a scale of 1.
const PIXELS_PER_POINT: f64 = 96.0 / 72.0;

/// Settings with the same meaning: the name in kitty, and the key and the form of the value.
#[rustfmt::skip]
const SETTINGS: &[Row] = &[
    ("background", "", Form::Color(ColorRole::Background, &[])),
    ("background_opacity", "window.opacity", Form::Number),
    ("cursor", "", Form::Color(ColorRole::Cursor, &["none"])),
    ("cursor_shape", "cursor.shape", Form::Words(&[("block", "block"), ("beam", "bar"), ("underline", "underline")])),
    ("cursor_text_color", "", Form::Color(ColorRole::CursorText, &["background"])),
    ("disable_ligatures", "font.ligatures", Form::Words(&[("never", "always"), ("cursor", "cursor"), ("always", "never")])),
    ("enable_audio_bell", "bell.audible", Form::Switch),
    ("focus_follows_mouse", "mouse.focus_follows_mouse", Form::Switch),
    ("font_size", "font.size", Form::Number),
    ("force_ltr", "text.bidi", Form::Opposite),
    ("foreground", "", Form::Color(ColorRole::Foreground, &[])),
    ("remember_window_size", "window.restore", Form::Switch),
    ("scrollbar", "scrollbar.show", Form::Words(&[
        ("always", "always"), ("never", "never"), ("scrolled", "auto"), ("hovered", "auto"), ("scrolled-and-hovered", "auto"),
    ])),
    ("selection_background", "", Form::Color(ColorRole::Selection, &["none"])),
    ("selection_foreground", "", Form::Color(ColorRole::SelectionText, &["none"])),
    ("window_alert_on_bell", "bell.attention", Form::Switch),
];

/// A `map` or a `mouse_map`. It is converted after the last `kitty_mod` and all aliases are known.
struct Map {
    place: ConfigLine,
    name: &'static str,
    text: String,
}

/// Converts keys and mouse buttons, with the names that the file defines for them.
struct Binder<'a> {
    draft: &'a mut Draft,
    /// The modifiers that the word `kitty_mod` stands for.
    kitty_mod: &'a str,
    /// The names of aliases, and the actions that they stand for.
    aliases: &'a [(String, String)],
}

struct Reader<'a> {
    files: &'a mut Files,
    draft: &'a mut Draft,
    modifiers: String,
    maps: Vec<Map>,
    /// The names of aliases, and the actions that they stand for.
    aliases: Vec<(String, String)>,
    family: Option<String>,
}

/// Reads a configuration, and adds its settings to the draft.
///
/// # Errors
/// Fails if the file can't be read.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let modifiers = "ctrl+shift".to_owned();
    let (maps, aliases) = (Vec::new(), Vec::new());
    let mut reader = Reader { files, draft, modifiers, maps, aliases, family: None };
    reader.file(file)?;
    // kitty applies the last value of `kitty_mod` to all keys, even to earlier ones.
    for Map { place, name, text } in std::mem::take(&mut reader.maps) {
        let (kitty_mod, aliases) = (&reader.modifiers, &reader.aliases);
        reader.draft.setting(&place, &format!("{name} {text}"), |draft| {
            let mut binder = Binder { draft, kitty_mod, aliases };
            match name {
                "map" => binder.bind(&text),
                _ => binder.bind_mouse(&text),
            }
        });
    }
    Ok(())
}

impl Reader<'_> {
    fn file(&mut self, file: &Path) -> Result<(), String> {
        let text = self.files.enter(file)?;
        let shared = Rc::new(file.to_owned());
        for (line, text) in joined(&text) {
            let place = ConfigLine { file: Rc::clone(&shared), line };
            let (name, value) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
            self.setting(&place, name, value.trim());
        }
        self.files.leave();
        Ok(())
    }

    fn setting(&mut self, place: &ConfigLine, name: &str, value: &str) {
        match name {
            "include" => {
                let path = self.files.named(value, &place.file);
                if let Err(why) = self.file(&path) {
                    self.draft.begin(place, &format!("include {value}"));
                    self.draft.leave_out(&why);
                }
            }
            "map" | "mouse_map" => {
                let name = if name == "map" { "map" } else { "mouse_map" };
                self.maps.push(Map { place: place.clone(), name, text: value.to_owned() });
            }
            // This setting removes the earlier `map` settings, and kitty's default keys.
            "clear_all_shortcuts" if switch(value).is_ok_and(|on| on) => {
                self.maps.retain(|map| map.name != "map");
                self.draft.setting(place, name, |draft| {
                    draft.clear_keys();
                    Ok(())
                });
            }
            "clear_all_mouse_actions" | "clear_all_shortcuts" => {}
            "action_alias" | "kitten_alias" => {
                let (alias, action) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
                let kitten = if name == "kitten_alias" { "kitten " } else { "" };
                let action = format!("{kitten}{}", action.trim());
                self.aliases.push((format!("{kitten}{alias}"), action));
            }
            "kitty_mod" => value.clone_into(&mut self.modifiers),
            _ => {
                let family = &mut self.family;
                self.draft.setting(place, name, |draft| convert(draft, name, value, family));
            }
        }
    }
}

/// Returns the settings of a file, each with its line number. Comments and blank lines are left out. Lines that start
/// with a backslash are appended to the previous line.
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

/// Converts a setting that is neither a key nor an include. `regular` is the family of the regular font, if it is
/// already known.
fn convert(
    draft: &mut Draft,
    name: &str,
    value: &str,
    regular: &mut Option<String>,
) -> Result<(), String> {
    if unsupported::KITTY.is_always(name, value) {
        return Ok(());
    }
    if let Some(converted) = forms::convert(draft, SETTINGS, name, value) {
        return converted;
    }
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
        "cursor_blink_interval" => draft.set(&["cursor", "blink"], number(first)? != 0.0),
        "scrollback_lines" => {
            let lines = number(value)?;
            draft.set_number(
                &["scrollback", "lines"],
                if lines < 0.0 { 999_999_999.0 } else { lines },
            );
        }
        "wheel_scroll_multiplier" => {
            let lines = number(value)?;
            if lines < 0.5 {
                return Err(reasons::NO_REVERSED_WHEEL.into());
            }
            draft.set_number(&["mouse", "scroll_lines"], lines.round());
        }
        "mouse_hide_wait" => {
            let seconds = number(first)?;
            if seconds > 0.0 {
                return Err(reasons::NO_HIDING_TIME.into());
            }
            draft.set(&["mouse", "hide_while_typing"], seconds < 0.0);
        }
        "copy_on_select" => draft.set(
            &["mouse", "copy_on_select"],
            match switch(value) {
                Ok(true) => "clipboard",
                Ok(false) => "primary",
                Err(_) if value == "clipboard" => "clipboard",
                Err(_) => return Err(reasons::NO_PRIVATE_CLIPBOARDS.into()),
            },
        ),
        "strip_trailing_spaces" => draft.set(&["mouse", "trim_copied"], value != "never"),
        // kitty lists the characters of words in addition to letters and digits. Unterm lists the other characters.
        "select_by_word_characters" => {
            let all = (' '..='~').chain(['│']).filter(|c| !c.is_alphanumeric() && *c != ' ');
            let others: String = all.filter(|c| !value.contains(*c)).collect();
            draft.set(&["mouse", "word_separators"], others);
        }
        "paste_actions" => {
            let asks = value.split(',').any(|action| action == "confirm");
            draft.set(&["paste", "confirm"], if asks { "unsafe" } else { "never" });
        }
        "visual_bell_duration" => draft.set(&["bell", "visual"], number(first)? > 0.0),
        "bell_on_tab" => {
            draft.set(&["bell", "mark"], !["", "none", "no", "n", "false"].contains(&value));
        }
        "command_on_bell" => match value {
            "none" | "" => draft.unset(&["bell", "command"]),
            command => draft.set_list(&["bell", "command"], &words(command)),
        },
        "initial_window_width" => draft.set_number(&["window", "columns"], cells(value)?),
        "initial_window_height" => draft.set_number(&["window", "rows"], cells(value)?),
        "window_padding_width" => {
            let sides = value.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
            let side = *sides.first().ok_or_else(|| unknown(value))?;
            draft.set_number(&["window", "padding"], (side * PIXELS_PER_POINT).round());
            if sides.iter().any(|other| *other != side) {
                draft.leave_out(reasons::ONE_PADDING.why);
            }
        }
        "inactive_text_alpha" => {
            let dim = 1.0 - number(value)?;
            draft.set_number(&["window", "dim_unfocused"], dim.clamp(0.0, 0.9));
        }
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
            "top" | "bottom" | "left" => draft.set(&["tab_bar", "position"], value),
            _ => return Err(reasons::TAB_BAR.into()),
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
        "shell" => match value {
            "." => draft.unset(&["shell", "program"]),
            command => draft.set_shell(&words(command)),
        },
        "editor" => match value {
            "." => draft.unset(&["hints", "editor"]),
            command => draft.set(&["hints", "editor"], command),
        },
        "env" => {
            let (name, value) = value.split_once('=').ok_or(reasons::NO_REMOVED_VARIABLES)?;
            if value.contains('$') {
                return Err(reasons::NO_VARIABLES.into());
            }
            draft.set(&["env", name.trim()], value.trim());
        }
        "shell_integration" => {
            let words: Vec<_> = value.split_whitespace().collect();
            let off = ["disabled", "no-rc"].iter().any(|word| words.contains(word));
            draft.set(&["shell", "integration"], !off);
            if !off && words != ["enabled"] {
                draft.leave_out(reasons::WHOLE_INTEGRATION.why);
            }
        }
        "notify_on_cmd_finish" => {
            let seconds = value.split_whitespace().nth(1).map_or(Ok(5.0), number)?;
            let seconds = if first == "never" { 0.0 } else { seconds.round() };
            draft.set_number(&["notifications", "long_commands"], seconds);
            if let Some(action) = value.split_whitespace().nth(2).filter(|name| *name != "notify") {
                let why = unsupported::KITTY.setting(&format!("notify_on_cmd_finish {action}"));
                draft.leave_out(&format!("without {action}: {why}"));
            }
        }
        "scrollback_pager" => {
            let pager = value.replace("INPUT_LINE_NUMBER", "{line}");
            draft.set(&["scrollback", "pager"], pager);
        }
        "url_prefixes" => {
            let schemes: Vec<_> = value.split_whitespace().collect();
            draft.set_list(&["links", "schemes"], &schemes);
        }
        "text_fg_override_threshold" => {
            let (threshold, unit) = value.split_once(' ').unwrap_or((value, "%"));
            match (number(threshold)?, unit.trim()) {
                (0.0, _) => draft.unset(&["text", "minimum_contrast"]),
                (ratio, "ratio") => draft.set_number(&["text", "minimum_contrast"], ratio),
                _ => {
                    return Err(
                        "it is a difference of lightness; text.minimum_contrast is a ratio"
                            .to_owned(),
                    );
                }
            }
        }
        "remember_window_position" => {
            if switch(value)? {
                draft.set(&["window", "restore"], true);
            }
        }
        "tab_title_template" if value.contains("index") => {
            draft.set(&["tab_bar", "numbers"], true);
            let plain = value.trim_matches(['"', '\'']).replace(' ', "");
            if plain != "{index}:{title}" && plain != "{index}{title}" {
                draft.leave_out("only its number is converted, to tab_bar.numbers");
            }
        }
        _ => match name.strip_prefix("color").and_then(|index| index.parse().ok()) {
            Some(index) => draft.set_ansi(index, value)?,
            None => return Err(unsupported::KITTY.setting(name)),
        },
    }
    Ok(())
}

/// The family of a font. In a file, the family may be written alone, with a style after it, or as `family="…"`.
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

/// Converts a change of a measure. In percent, kitty writes the new size (`110%`), while Unterm writes the difference
/// (`10%`).
fn modify_font(draft: &mut Draft, what: &str, amount: &str) -> Result<(), String> {
    let key = match what {
        "cell_width" => "adjust_cell_width",
        "cell_height" => "adjust_cell_height",
        "underline_thickness" => "adjust_underline_thickness",
        "underline_position" => "adjust_underline_position",
        "baseline" => "adjust_baseline",
        _ => return Err(unsupported::KITTY.setting(&format!("modify_font {what}"))),
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

/// Converts an older setting for the size of a cell, in which a plain number means pixels.
fn in_pixels(value: &str) -> String {
    if value.ends_with('%') { value.to_owned() } else { format!("{value}px") }
}

/// Parses a size that must be given in cells, such as `80c`.
fn cells(value: &str) -> Result<f64, String> {
    let cells = value.strip_suffix('c');
    number(cells.ok_or(reasons::SIZE_IN_CELLS)?)
}

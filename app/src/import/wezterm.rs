//! Converts those settings of `wezterm.lua` that are written as literals.

mod actions;
mod copy_mode;
mod fonts;

use std::{path::Path, rc::Rc};

use super::{
    colors::ColorRole,
    converted::ConfigLine,
    draft::{Draft, ThemeName},
    files::Files,
    forms::{self, Form, Row, SourceValue},
    lua::{self, Lua},
    reasons::{self, COMPUTED, unknown},
    text::{feature, number},
    unsupported,
};

/// The reason for a color scheme that is not used.
const OTHER_SCHEME: &str = "color_scheme does not choose it";

/// Settings with the same meaning: the name in WezTerm, and the key and the form of the value.
#[rustfmt::skip]
const SETTINGS: &[Row] = &[
    ("bidi_enabled", "text.bidi", Form::Switch),
    ("colors.background", "", Form::Color(ColorRole::Background, &[])),
    ("colors.cursor_bg", "", Form::Color(ColorRole::Cursor, &[])),
    ("colors.cursor_fg", "", Form::Color(ColorRole::CursorText, &[])),
    ("colors.foreground", "", Form::Color(ColorRole::Foreground, &[])),
    ("colors.selection_bg", "", Form::Color(ColorRole::Selection, &[])),
    ("colors.selection_fg", "", Form::Color(ColorRole::SelectionText, &["none"])),
    ("enable_scroll_bar", "scrollbar.show", Form::Either("always", "never")),
    ("enable_tab_bar", "tab_bar.show", Form::Either("always", "never")),
    ("font_size", "font.size", Form::Number),
    ("hide_mouse_cursor_when_typing", "mouse.hide_while_typing", Form::Switch),
    ("hide_tab_bar_if_only_one_tab", "tab_bar.show", Form::Either("several", "always")),
    ("initial_cols", "window.columns", Form::Number),
    ("initial_rows", "window.rows", Form::Number),
    ("kde_window_background_blur", "window.blur", Form::Switch),
    ("pane_focus_follows_mouse", "mouse.focus_follows_mouse", Form::Switch),
    ("scrollback_lines", "scrollback.lines", Form::Number),
    ("show_tab_index_in_tab_bar", "tab_bar.numbers", Form::Switch),
    ("tab_bar_at_bottom", "tab_bar.position", Form::Either("bottom", "top")),
    ("tab_max_width", "tab_bar.max_title", Form::Number),
    ("text_min_contrast_ratio", "text.minimum_contrast", Form::Number),
    ("treat_east_asian_ambiguous_width_as_wide", "text.ambiguous_width", Form::Either("wide", "narrow")),
    ("window_background_opacity", "window.opacity", Form::Number),
    ("window_close_confirmation", "window.confirm_close", Form::Words(&[("AlwaysPrompt", "programs"), ("NeverPrompt", "never")])),
];

/// Converts an entry of a list.
type Convert = fn(&mut Draft, &Lua) -> Result<(), String>;

/// Settings whose value is a list of settings, each with the function that converts an entry.
const LISTS: &[(&str, Convert)] = &[
    ("font_rules", fonts::rule),
    ("hyperlink_rules", hyperlink_rule),
    ("keys", actions::bind),
    ("launch_menu", launch_menu_item),
    ("mouse_bindings", actions::bind_mouse),
];

/// Reads a configuration, and adds its settings to the draft.
///
/// # Errors
/// Fails if the file can't be read.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let text = files.enter(file)?;
    files.leave();
    let read = lua::read(&text)?;
    let shared = Rc::new(file.to_owned());
    let place = |line| ConfigLine { file: Rc::clone(&shared), line };
    for (what, line) in read.skipped {
        draft.setting(&place(line), &what, |_| {
            Err("the import reads only literals, and runs no Lua".into())
        });
    }
    let scheme = own_scheme(&read.settings);
    for (path, value, line) in read.settings {
        let name = path.join(".");
        if value == Lua::Computed {
            draft.setting(&place(line), &name, |_| Err(COMPUTED.to_owned()));
            continue;
        }
        let list = LISTS.iter().find(|(list, _)| path == [*list]);
        if let (Some((_, convert)), Lua::Table(entries)) = (list, &value) {
            for entry in entries {
                draft.setting(&place(entry.line), &name, |draft| convert(draft, &entry.value));
            }
            continue;
        }
        match (path[0].as_str(), &value) {
            ("color_scheme", _) if scheme.is_some() => {
                // Colors in the table `colors` override those of the scheme, even if they are set before the scheme.
                let before = std::mem::take(&mut draft.colors);
                for entry in scheme.iter().flat_map(Lua::entries) {
                    let key = entry.key.clone().unwrap_or_default();
                    draft.setting(&place(entry.line), &format!("color_scheme.{key}"), |draft| {
                        convert(draft, &["colors", &key], &entry.value)
                    });
                }
                draft.colors.replace(before);
            }
            ("color_schemes", Lua::Table(schemes)) if path.len() == 1 => {
                for entry in schemes.iter().filter(|entry| Some(&entry.value) != scheme.as_ref()) {
                    let name = format!("{name}.{}", entry.key.clone().unwrap_or_default());
                    draft.setting(&place(entry.line), &name, |_| Err(OTHER_SCHEME.to_owned()));
                }
            }
            ("color_schemes", _) if Some(&value) == scheme.as_ref() => {}
            ("color_schemes", _) => {
                draft.setting(&place(line), &name, |_| Err(OTHER_SCHEME.to_owned()));
            }
            ("key_tables", Lua::Table(tables)) if path.len() == 1 => {
                for table in tables {
                    let mode = table.key.clone().unwrap_or_default();
                    for entry in table.value.entries() {
                        draft.setting(&place(entry.line), &format!("{name}.{mode}"), |draft| {
                            bind_in(draft, &mode, &entry.value)
                        });
                    }
                }
            }
            // The entries of these tables are converted as separate settings.
            (
                "colors" | "set_environment_variables" | "window_padding" | "inactive_pane_hsb",
                Lua::Table(entries),
            ) if path.len() == 1 => {
                for entry in entries {
                    let key = entry.key.clone().unwrap_or_default();
                    let name = format!("{name}.{key}");
                    draft.setting(&place(entry.line), &name, |draft| {
                        convert(draft, &[&path[0], &key], &entry.value)
                    });
                }
            }
            _ => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                draft.setting(&place(line), &name, |draft| convert(draft, &path, &value));
            }
        }
    }
    Ok(())
}

/// The color scheme that the file both chooses and defines.
fn own_scheme(settings: &[(Vec<String>, Lua, usize)]) -> Option<Lua> {
    let last = |wanted: &[&str]| {
        let found = settings.iter().rfind(|(path, ..)| *path == wanted);
        found.map(|(_, value, _)| value)
    };
    let name = last(&["color_scheme"])?.text()?;
    last(&["color_schemes", name]).or_else(|| last(&["color_schemes"])?.get(name)).cloned()
}

/// Converts a key of a key table.
fn bind_in(draft: &mut Draft, table: &str, binding: &Lua) -> Result<(), String> {
    match table {
        actions::COPY_MODE => copy_mode::bind(draft, binding),
        _ => actions::bind_in(draft, table, binding),
    }
}

fn convert(draft: &mut Draft, path: &[&str], value: &Lua) -> Result<(), String> {
    if *value == Lua::Computed {
        return Err(COMPUTED.to_owned());
    }
    let name = path.join(".");
    if unsupported::WEZTERM.is_always(&name, &plain(value)) {
        return Ok(());
    }
    if let Some(converted) = forms::convert(draft, SETTINGS, &name, value) {
        return converted;
    }
    let (text, number) = (|| value.source_text(), || value.source_number());
    let switch = || value.source_switch();
    match path {
        ["font"] => fonts::font(draft, value)?,
        ["harfbuzz_features"] => {
            draft.unset(&["font", "features"]);
            for text in value.items().filter_map(Lua::text) {
                draft.append(&["font", "features"], &feature(text));
            }
        }
        ["cell_width"] => share(draft, "adjust_cell_width", number()?),
        ["line_height"] => share(draft, "adjust_cell_height", number()?),
        ["color_scheme"] => draft.choose(ThemeName::One(text()?.to_owned())),
        ["colors", row @ ("ansi" | "brights")] => {
            let first = if *row == "brights" { 8 } else { 0 };
            for (index, color) in value.items().take(8).enumerate() {
                draft.set_ansi(first + index, color.source_text()?)?;
            }
        }
        ["default_prog"] => {
            let words = value.items().filter_map(Lua::text).map(str::to_owned);
            draft.set_shell(&words.collect::<Vec<_>>());
        }
        ["set_environment_variables", name] => draft.set(&["env", name], text()?),
        ["window_padding", side] => {
            let pixels = pixels(value)?;
            match *side {
                "left" => draft.set_number(&["window", "padding"], pixels),
                _ => draft.padding(pixels),
            }
        }
        ["macos_window_background_blur"] => draft.set(&["window", "blur"], number()? > 0.0),
        ["inactive_pane_hsb", "brightness"] => {
            draft.set_number(&["window", "dim_unfocused"], (1.0 - number()?).clamp(0.0, 0.9));
        }
        ["default_cursor_style"] => {
            let style = text()?;
            let shape = style.trim_start_matches("Steady").trim_start_matches("Blinking");
            let shape = match shape {
                "Block" => "block",
                "Bar" => "bar",
                "Underline" => "underline",
                _ => return Err(unknown(style)),
            };
            draft.set(&["cursor", "shape"], shape);
            draft.set(&["cursor", "blink"], style.starts_with("Blinking"));
        }
        ["cursor_blink_rate"] if number()? == 0.0 => draft.set(&["cursor", "blink"], false),
        ["selection_word_boundary"] => {
            let separators: String = text()?.chars().filter(|c| !c.is_whitespace()).collect();
            draft.set(&["mouse", "word_separators"], separators);
        }
        ["visual_bell"] => {
            let lasts = |key| matches!(value.get(key), Some(Lua::Number(time)) if *time > 0.0);
            draft.set(
                &["bell", "visual"],
                lasts("fade_in_duration_ms") || lasts("fade_out_duration_ms"),
            );
        }
        ["audible_bell"] => draft.set(&["bell", "audible"], text()? != "Disabled"),
        ["quick_select_alphabet"] => draft.alphabet(text()?),
        ["leader"] => {
            let key = value.get("key").and_then(Lua::text).ok_or(COMPUTED)?;
            let modifiers = value.get("mods").map_or(Some(""), Lua::text).ok_or(COMPUTED)?;
            draft.set(&["keys", "leader"], actions::chord(modifiers, key)?);
        }
        ["key_tables", mode, ..] => {
            for entry in value.entries() {
                bind_in(draft, mode, &entry.value)?;
            }
        }
        ["disable_default_key_bindings"] => {
            if switch()? {
                draft.set(&["keys", "preset"], "none");
            }
        }
        ["quick_select_patterns"] => {
            for pattern in value.items().filter_map(Lua::text) {
                draft.pattern(pattern, "copy");
            }
        }
        ["underline_thickness"] => measure(draft, "adjust_underline_thickness", value)?,
        ["underline_position"] => measure(draft, "adjust_underline_position", value)?,
        ["disable_default_mouse_bindings" | "disable_default_quick_select_patterns"] => {
            return match switch()? {
                true => Err(reasons::NO_SELECTING.into()),
                false => Ok(()),
            };
        }
        ["notification_handling"] => draft.set(
            &["notifications", "programs"],
            match text()? {
                "AlwaysShow" => true,
                "NeverShow" => false,
                _ => return Err(reasons::NO_NOTIFICATION_FOCUS.into()),
            },
        ),
        // Unterm finds URLs and addresses by itself.
        ["hyperlink_rules"] if is_call(value, "wezterm.default_hyperlink_rules") => {}
        ["exit_behavior"] if value.text() == Some("Hold") => return Err(reasons::HOLD.to_owned()),
        _ if value.is_computed() => return Err(COMPUTED.to_owned()),
        _ => return Err(unsupported::WEZTERM.setting(&name)),
    }
    Ok(())
}

impl SourceValue for Lua {
    fn source_text(&self) -> Result<&str, String> {
        self.text().ok_or_else(|| wrong(self))
    }

    fn source_number(&self) -> Result<f64, String> {
        match self {
            Self::Number(number) if number.is_finite() => Ok(*number),
            _ => Err(wrong(self)),
        }
    }

    fn source_switch(&self) -> Result<bool, String> {
        match self {
            Self::Bool(on) => Ok(*on),
            _ => Err(wrong(self)),
        }
    }
}

fn wrong(value: &Lua) -> String {
    match value.is_computed() {
        true => COMPUTED.to_owned(),
        false => "its value is of another type than WezTerm reads".to_owned(),
    }
}

/// Sets a measure, which WezTerm gives as a multiple of the font's own measure.
fn share(draft: &mut Draft, key: &str, share: f64) {
    match (share * 100.0).round() - 100.0 {
        0.0 => draft.unset(&["font", key]),
        change => draft.set(&["font", key], format!("{change}%")),
    }
}

/// Sets the change of a measure of the font's lines. WezTerm gives the new value in pixels, or as a share of the
/// font's own value.
fn measure(draft: &mut Draft, key: &str, value: &Lua) -> Result<(), String> {
    let change = match value.text() {
        Some(text) => match text.strip_suffix('%') {
            Some(percent) => format!("{}%", number(percent)? - 100.0),
            None => return Err("font.adjust_… is a change of the font's own measure".to_owned()),
        },
        None => return Err("font.adjust_… is a change of the font's own measure".to_owned()),
    };
    draft.set(&["font", key], change);
    Ok(())
}

fn pixels(value: &Lua) -> Result<f64, String> {
    match value {
        Lua::Number(pixels) => Ok(*pixels),
        Lua::Text(text) => {
            let pixels = text.strip_suffix("px").ok_or(reasons::PADDING_IN_PIXELS)?;
            number(pixels)
        }
        _ => Err(COMPUTED.to_owned()),
    }
}

/// The text of a switch or a string.
fn plain(value: &Lua) -> String {
    match value {
        Lua::Bool(on) => on.to_string(),
        value => value.text().unwrap_or_default().to_owned(),
    }
}

fn is_call(value: &Lua, function: &str) -> bool {
    matches!(value, Lua::Call(name, _) if name == function)
}

/// Converts a rule for links. Unterm has patterns for labels, which open their text.
fn hyperlink_rule(draft: &mut Draft, rule: &Lua) -> Result<(), String> {
    let regex = rule.get("regex").and_then(Lua::text).ok_or(COMPUTED)?;
    draft.rename(&format!("hyperlink_rules {regex}"));
    let format = rule.get("format").map_or(Some("$0"), Lua::text).ok_or(COMPUTED)?;
    match format {
        // Unterm finds URLs and addresses by itself.
        "$0" | "$1" if regex.contains("://") => {}
        "mailto:$0" => {}
        "$0" => draft.pattern(regex, "open"),
        _ => return Err(reasons::NO_LINK_FORMAT.into()),
    }
    Ok(())
}

/// Converts an entry of the launch menu, which becomes a profile and an entry of the command palette.
fn launch_menu_item(draft: &mut Draft, item: &Lua) -> Result<(), String> {
    let program = actions::program(item)?;
    let action = draft.start(&program);
    match item.get("label").and_then(Lua::text) {
        Some(label) => draft.palette(label, &[action]),
        None => Ok(()),
    }
}

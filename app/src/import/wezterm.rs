//! Converts the settings that `wezterm.lua` writes as literals.

use std::{path::Path, rc::Rc};

use super::{
    colors::Part,
    converted::Place,
    draft::{Draft, ThemeName},
    files::Files,
    keys,
    lua::{self, Lua},
    reasons::{self, unknown},
    text::{number, typed},
};

/// Actions without arguments, and Unterm's.
const ACTIONS: &[(&str, &str)] = &[
    ("DisableDefaultAssignment", "none"),
    ("SpawnWindow", "new_window"),
    ("ToggleFullScreen", "fullscreen"),
    ("IncreaseFontSize", "larger_font"),
    ("DecreaseFontSize", "smaller_font"),
    ("ResetFontSize", "reset_font"),
    ("ScrollToTop", "scroll_to_top"),
    ("ScrollToBottom", "scroll_to_bottom"),
    ("ShowTabNavigator", "choose_tab"),
    ("QuitApplication", "close_window"),
    ("ShowLauncher", "launcher"),
    ("ActivateCopyMode", "copy_mode"),
    ("TogglePaneZoomState", "zoom_pane"),
    ("QuickSelect", "quick_select"),
    ("CharSelect", "choose_emoji"),
    ("ResetTerminal", "reset_terminal"),
    ("ActivateCommandPalette", "command_palette"),
    ("Search", "search"),
    ("CloseCurrentTab", "close_tab"),
    ("CloseCurrentPane", "close_pane"),
];

/// Actions that take a word, and Unterm's.
const ACTIONS_OF_A_WORD: &[(&str, &str, &str)] = &[
    ("SpawnTab", "CurrentPaneDomain", "new_tab"),
    ("SpawnTab", "DefaultDomain", "new_tab"),
    ("CopyTo", "Clipboard", "copy"),
    ("CopyTo", "ClipboardAndPrimarySelection", "copy"),
    ("PasteFrom", "Clipboard", "paste"),
    ("PasteFrom", "PrimarySelection", "paste_primary"),
    ("ClearScrollback", "ScrollbackOnly", "clear_history"),
    ("ActivatePaneDirection", "Left", "focus_left"),
    ("ActivatePaneDirection", "Right", "focus_right"),
    ("ActivatePaneDirection", "Up", "focus_up"),
    ("ActivatePaneDirection", "Down", "focus_down"),
    ("ActivatePaneDirection", "Next", "next_pane"),
    ("ActivatePaneDirection", "Prev", "previous_pane"),
    ("AdjustPaneSize", "Left", "resize_left"),
    ("AdjustPaneSize", "Right", "resize_right"),
    ("AdjustPaneSize", "Up", "resize_up"),
    ("AdjustPaneSize", "Down", "resize_down"),
    ("RotatePanes", "Clockwise", "rotate_panes"),
    ("RotatePanes", "CounterClockwise", "rotate_panes_back"),
    ("SplitPane", "Right", "split_right"),
    ("SplitPane", "Down", "split_down"),
];

/// The reason for what only Lua can compute.
const COMPUTED: &str = "Lua computes it; the import reads only literals";

/// Reads a configuration into the draft.
///
/// # Errors
/// If the file can't be read.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let text = files.enter(file)?;
    files.leave();
    let read = lua::read(&text)?;
    let shared = Rc::new(file.to_owned());
    let place = |line| Place { file: Rc::clone(&shared), line };
    for (what, line) in read.skipped {
        draft.setting(&place(line), &what, |_| {
            Err("the import reads only literals, and runs no Lua".into())
        });
    }
    for (path, value, line) in read.settings {
        let name = path.join(".");
        if value == Lua::Computed {
            draft.setting(&place(line), &name, |_| Err(COMPUTED.to_owned()));
            continue;
        }
        match (path[0].as_str(), &value) {
            ("keys", Lua::Table(entries)) => {
                for entry in entries {
                    draft.setting(&place(entry.line), "keys", |draft| bind(draft, &entry.value));
                }
            }
            // Tables whose entries are settings.
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

fn convert(draft: &mut Draft, path: &[&str], value: &Lua) -> Result<(), String> {
    if *value == Lua::Computed {
        return Err(COMPUTED.to_owned());
    }
    let wrong = || "its value is of another type than WezTerm reads".to_owned();
    let text = || value.text().ok_or_else(wrong);
    let number = || match value {
        Lua::Number(number) if number.is_finite() => Ok(*number),
        _ => Err(wrong()),
    };
    let switch = || match value {
        Lua::Bool(on) => Ok(*on),
        _ => Err(wrong()),
    };
    match path {
        ["font"] => font(draft, value)?,
        ["font_size"] => draft.set_number(&["font", "size"], number()?),
        ["harfbuzz_features"] => {
            draft.unset(&["font", "features"]);
            for feature in value.items().filter_map(Lua::text) {
                draft.append(&["font", "features"], &feature_of(feature));
            }
        }
        ["cell_width"] => share(draft, "adjust_cell_width", number()?),
        ["line_height"] => share(draft, "adjust_cell_height", number()?),
        ["color_scheme"] => draft.choose(ThemeName::One(text()?.to_owned())),
        ["colors", "foreground"] => draft.set_part(Part::Foreground, text()?, &[])?,
        ["colors", "background"] => draft.set_part(Part::Background, text()?, &[])?,
        ["colors", "cursor_bg"] => draft.set_part(Part::Cursor, text()?, &[])?,
        ["colors", "cursor_fg"] => draft.set_part(Part::CursorText, text()?, &[])?,
        ["colors", "selection_bg"] => draft.set_part(Part::Selection, text()?, &[])?,
        ["colors", "selection_fg"] => draft.set_part(Part::SelectionText, text()?, &["none"])?,
        ["colors", row @ ("ansi" | "brights")] => {
            let first = if *row == "brights" { 8 } else { 0 };
            for (index, color) in value.items().take(8).enumerate() {
                draft.set_ansi(first + index, color.text().ok_or_else(wrong)?)?;
            }
        }
        ["scrollback_lines"] => draft.set_number(&["scrollback", "lines"], number()?),
        ["default_prog"] => {
            let words = value.items().filter_map(Lua::text).map(str::to_owned);
            draft.set_shell(&words.collect::<Vec<_>>());
        }
        ["set_environment_variables", name] => draft.set(&["env", name], text()?),
        ["initial_cols"] => draft.set_number(&["window", "columns"], number()?),
        ["initial_rows"] => draft.set_number(&["window", "rows"], number()?),
        ["enable_tab_bar"] => {
            draft.set(&["tab_bar", "show"], if switch()? { "always" } else { "never" })
        }
        ["hide_tab_bar_if_only_one_tab"] => {
            draft.set(&["tab_bar", "show"], if switch()? { "several" } else { "always" });
        }
        ["tab_bar_at_bottom"] => {
            draft.set(&["tab_bar", "position"], if switch()? { "bottom" } else { "top" });
        }
        ["tab_max_width"] => draft.set_number(&["tab_bar", "max_title"], number()?),
        ["enable_scroll_bar"] => {
            draft.set(&["scrollbar", "show"], if switch()? { "always" } else { "never" });
        }
        ["window_padding", side] => {
            let pixels = pixels(value)?;
            match *side {
                "left" => draft.set_number(&["window", "padding"], pixels),
                _ => draft.padding(pixels),
            }
        }
        ["window_background_opacity"] => draft.set_number(&["window", "opacity"], number()?),
        ["kde_window_background_blur"] => draft.set(&["window", "blur"], switch()?),
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
        ["hide_mouse_cursor_when_typing"] => draft.set(&["mouse", "hide_while_typing"], switch()?),
        ["window_close_confirmation"] => draft.set(
            &["window", "confirm_close"],
            match text()? {
                "AlwaysPrompt" => "programs",
                "NeverPrompt" => "never",
                other => return Err(unknown(other)),
            },
        ),
        ["selection_word_boundary"] => {
            let separators: String = text()?.chars().filter(|c| !c.is_whitespace()).collect();
            draft.set(&["mouse", "word_separators"], separators);
        }
        ["pane_focus_follows_mouse"] => draft.set(&["mouse", "focus_follows_mouse"], switch()?),
        ["visual_bell"] => {
            let lasts = |key| matches!(value.get(key), Some(Lua::Number(time)) if *time > 0.0);
            draft.set(
                &["bell", "visual"],
                lasts("fade_in_duration_ms") || lasts("fade_out_duration_ms"),
            );
        }
        ["audible_bell"] => draft.set(&["bell", "audible"], text()? != "Disabled"),
        ["treat_east_asian_ambiguous_width_as_wide"] => {
            draft.set(&["text", "ambiguous_width"], if switch()? { "wide" } else { "narrow" });
        }
        ["quick_select_alphabet"] => draft.set(&["hints", "alphabet"], text()?),
        ["term"] => return Err(reasons::TERM.to_owned()),
        ["leader"] | ["key_tables", ..] => return Err(reasons::NO_SEQUENCES.to_owned()),
        ["automatically_reload_config"] => return Err(reasons::RELOADS.to_owned()),
        ["mouse_bindings", ..] => {
            return Err(reasons::MOUSE.to_owned());
        }
        ["disable_default_key_bindings"] => {
            return Err(reasons::NO_CLEARING.to_owned());
        }
        _ => return Err(reasons::NO_SETTING.to_owned()),
    }
    Ok(())
}

/// A measure as a share of the font's own.
fn share(draft: &mut Draft, key: &str, share: f64) {
    match (share * 100.0).round() - 100.0 {
        0.0 => draft.unset(&["font", key]),
        change => draft.set(&["font", key], format!("{change}%")),
    }
}

fn pixels(value: &Lua) -> Result<f64, String> {
    match value {
        Lua::Number(pixels) => Ok(*pixels),
        Lua::Text(text) => {
            let pixels = text.strip_suffix("px").ok_or("Unterm's padding is in pixels")?;
            number(pixels)
        }
        _ => Err(COMPUTED.to_owned()),
    }
}

/// A feature of a font. HarfBuzz turns it off with `calt=0`.
fn feature_of(feature: &str) -> String {
    match feature.split_once('=') {
        Some((name, "0")) => format!("-{name}"),
        Some((name, "1")) => name.to_owned(),
        _ => feature.to_owned(),
    }
}

/// Sets the families: `wezterm.font 'A'`, `wezterm.font { family = 'A' }` or `wezterm.font_with_fallback { … }`.
fn font(draft: &mut Draft, value: &Lua) -> Result<(), String> {
    let family = |value: &Lua| -> Option<String> {
        value.text().or_else(|| value.get("family")?.text()).map(str::to_owned)
    };
    let (families, more): (Vec<String>, _) = match value {
        Lua::Call(name, arguments) if name == "wezterm.font" => {
            (arguments.first().and_then(family).into_iter().collect(), arguments.len() > 1)
        }
        Lua::Call(name, arguments) if name == "wezterm.font_with_fallback" => {
            let items = arguments.first().into_iter().flat_map(Lua::items);
            (items.filter_map(family).collect(), arguments.len() > 1)
        }
        _ => return Err(COMPUTED.to_owned()),
    };
    if families.is_empty() {
        return Err(COMPUTED.to_owned());
    }
    draft.set_list(&["font", "family"], &families);
    if more {
        draft.leave_out("Unterm takes the family, and chooses weight and style itself");
    }
    Ok(())
}

/// Binds a key of the list `keys`.
fn bind(draft: &mut Draft, binding: &Lua) -> Result<(), String> {
    let key = binding.get("key").and_then(Lua::text).ok_or(COMPUTED)?;
    let modifiers = match binding.get("mods") {
        None => "",
        Some(mods) => mods.text().ok_or(COMPUTED)?,
    };
    let named = [modifiers, key].join(if modifiers.is_empty() { "" } else { "+" });
    draft.rename(&format!("key {}", named.replace('|', "+").replace(' ', "")));
    if modifiers.contains("LEADER") {
        return Err(reasons::NO_SEQUENCES.to_owned());
    }
    let key = key.strip_prefix("phys:").or_else(|| key.strip_prefix("mapped:")).unwrap_or(key);
    // A capital letter means Shift.
    let is_shifted = key.chars().count() == 1 && key.chars().all(char::is_uppercase);
    let held = modifiers.split('|').filter(|name| *name != "NONE");
    let chord = keys::chord(held.chain(is_shifted.then_some("shift")), key)?;
    let action = action_of(binding.get("action").ok_or(COMPUTED)?)?;
    draft.bind(&chord, &action)
}

/// Unterm's action for WezTerm's: `wezterm.action.Name`, a call of it, or `wezterm.action { Name = … }`.
fn action_of(action: &Lua) -> Result<String, String> {
    let nothing = [];
    let (name, arguments): (&str, &[Lua]) = match action {
        Lua::Name(name) => (name, &nothing),
        Lua::Text(name) => (name, &nothing),
        Lua::Call(name, arguments) if name == "wezterm.action" => match arguments.first() {
            Some(Lua::Table(entries)) if entries.len() == 1 => (
                entries[0].key.as_deref().unwrap_or_default(),
                std::slice::from_ref(&entries[0].value),
            ),
            _ => return Err(COMPUTED.to_owned()),
        },
        Lua::Call(name, arguments) => (name, arguments),
        _ => return Err(COMPUTED.to_owned()),
    };
    let name = name.strip_prefix("wezterm.action.").unwrap_or(name);
    if name.contains('.') {
        return Err(COMPUTED.to_owned());
    }
    let argument = arguments.first();
    let word = match argument {
        Some(Lua::Text(word)) => word,
        // AdjustPaneSize { 'Left', 5 }, SplitPane { direction = 'Right' }
        Some(table @ Lua::Table(_)) => {
            table.items().next().or(table.get("direction")).and_then(Lua::text).unwrap_or_default()
        }
        _ => "",
    };
    let of_a_word =
        ACTIONS_OF_A_WORD.iter().find(|(other, takes, _)| *other == name && *takes == word);
    if let Some((.., ours)) = of_a_word {
        return Ok((*ours).to_owned());
    }
    let whole = match argument {
        Some(Lua::Number(number)) if number.fract() == 0.0 => Some(*number as i64),
        _ => None,
    };
    Ok(match (name, whole) {
        ("ActivateTab", Some(-1)) => "activate_tab:999".to_owned(),
        ("ActivateTab", Some(index)) => format!("activate_tab:{}", index + 1),
        ("ActivateTabRelative" | "ActivateTabRelativeNoWrap", Some(1)) => "next_tab".to_owned(),
        ("ActivateTabRelative" | "ActivateTabRelativeNoWrap", Some(-1)) => {
            "previous_tab".to_owned()
        }
        ("MoveTabRelative", Some(1)) => "move_tab_right".to_owned(),
        ("MoveTabRelative", Some(-1)) => "move_tab_left".to_owned(),
        ("ScrollByPage", Some(1)) => "scroll_page_down".to_owned(),
        ("ScrollByPage", Some(-1)) => "scroll_page_up".to_owned(),
        ("ScrollByLine", Some(lines)) => format!("scroll_lines:{lines}"),
        ("ScrollToPrompt", Some(1)) => "next_prompt".to_owned(),
        ("ScrollToPrompt", Some(-1)) => "previous_prompt".to_owned(),
        ("SendString", None) => typed(argument.and_then(Lua::text).ok_or(COMPUTED)?),
        ("SplitHorizontal" | "SplitVertical", None) => {
            if argument.is_some_and(|split| split.get("args").is_some()) {
                return Err(reasons::NO_PROGRAMS.to_owned());
            }
            if name == "SplitHorizontal" { "split_right" } else { "split_down" }.to_owned()
        }
        ("Nop", _) => return Err(reasons::NO_SWALLOWING.to_owned()),
        ("ReloadConfiguration", _) => return Err(reasons::RELOADS.to_owned()),
        ("Multiple", _) => return Err(reasons::ONE_ACTION.to_owned()),
        _ => match ACTIONS.iter().find(|(other, _)| *other == name) {
            Some((_, ours)) => (*ours).to_owned(),
            None => return Err(reasons::NO_ACTION.to_owned()),
        },
    })
}

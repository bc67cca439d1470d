//! Converts the keys and mouse buttons of `wezterm.lua`, and the actions of WezTerm.

use super::super::{
    draft::Draft,
    keys, lacks,
    lua::Lua,
    pressed::{self, Program, SWALLOW},
    reasons::{self, COMPUTED, unknown},
    text::typed,
};

/// Actions without arguments: the name in WezTerm, and the name in Unterm.
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
    ("ShowLauncherArgs", "launcher"),
    ("ShowDebugOverlay", "debug_overlay"),
    ("ResetFontAndWindowSize", "reset_font"),
    ("PastePrimarySelection", "paste_primary"),
    ("Paste", "paste"),
    ("Copy", "copy"),
    ("SetPaneZoomState", "zoom_pane"),
    ("Nop", SWALLOW),
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

/// Actions whose argument is a word: the name and the argument in WezTerm, and the action in Unterm.
const ACTIONS_OF_A_WORD: &[(&str, &str, &str)] = &[
    ("SpawnTab", "CurrentPaneDomain", "new_tab"),
    ("SpawnTab", "DefaultDomain", "new_tab"),
    ("CopyTo", "Clipboard", "copy"),
    ("CopyTo", "ClipboardAndPrimarySelection", "copy"),
    ("PasteFrom", "Clipboard", "paste"),
    ("PasteFrom", "PrimarySelection", "paste_primary"),
    ("ClearScrollback", "ScrollbackOnly", "clear_history"),
    ("ClearScrollback", "ScrollbackAndViewport", "clear_screen"),
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

/// Commands of copy mode: the name in WezTerm, and the name in Unterm.
const COPY_MODE: &[(&str, &str)] = &[
    ("MoveLeft", "left"),
    ("MoveRight", "right"),
    ("MoveUp", "up"),
    ("MoveDown", "down"),
    ("MoveForwardWord", "word_start"),
    ("MoveForwardWordEnd", "word_end"),
    ("MoveBackwardWord", "word_back"),
    ("MoveToStartOfLine", "line_start"),
    ("MoveToStartOfLineContent", "line_text"),
    ("MoveToEndOfLineContent", "line_end"),
    ("MoveToScrollbackTop", "oldest"),
    ("MoveToScrollbackBottom", "newest"),
    ("MoveToViewportTop", "view_top"),
    ("MoveToViewportMiddle", "view_middle"),
    ("MoveToViewportBottom", "view_bottom"),
    ("MoveToSelectionOtherEnd", "swap_ends"),
    ("PageUp", "page_up"),
    ("PageDown", "page_down"),
    ("NextMatch", "next_match"),
    ("PriorMatch", "previous_match"),
    ("JumpAgain", "find_again"),
    ("JumpReverse", "find_again_back"),
    ("Close", "leave"),
];

/// Converts an entry of the list `keys`.
pub(super) fn bind(draft: &mut Draft, binding: &Lua) -> Result<(), String> {
    let (modifiers, key) = named(draft, "key", binding)?;
    let held: Vec<&str> = modifiers.split('|').map(str::trim).collect();
    let rest: Vec<&str> = held.iter().copied().filter(|name| *name != "LEADER").collect();
    let chord = chord(&rest.join("|"), &key)?;
    let keys = if rest.len() < held.len() { format!("leader>{chord}") } else { chord };
    let actions = actions_of(draft, binding.get("action").ok_or(COMPUTED)?)?;
    draft.bind(&keys, &actions)
}

/// Converts a key of a key table. Only the table for copy mode can be converted.
pub(super) fn bind_in(draft: &mut Draft, mode: &str, binding: &Lua) -> Result<(), String> {
    if mode != "copy_mode" {
        return Err(reasons::NO_MODES.into());
    }
    let (modifiers, key) = named(draft, "key_tables.copy_mode", binding)?;
    let chord = chord(&modifiers, &key)?;
    let Some(Lua::Call(name, arguments)) = binding.get("action") else {
        return Err(COMPUTED.to_owned());
    };
    let command = arguments.first().and_then(Lua::text).unwrap_or_default();
    let known = COPY_MODE.iter().find(|(other, _)| *other == command);
    match (name.as_str(), known) {
        ("wezterm.action.CopyMode", Some((_, ours))) => {
            draft.set(&["copy_mode_keys", &chord], *ours);
            Ok(())
        }
        ("wezterm.action.CopyMode", None) => Err(unknown(command)),
        _ => Err(COMPUTED.to_owned()),
    }
}

/// Returns the modifiers and the key of a binding, and uses them to name the current setting.
fn named(draft: &mut Draft, kind: &str, binding: &Lua) -> Result<(String, String), String> {
    let key = binding.get("key").and_then(Lua::text).ok_or(COMPUTED)?;
    let modifiers = binding.get("mods").map_or(Some(""), Lua::text).ok_or(COMPUTED)?;
    let named = [modifiers, key].join(if modifiers.is_empty() { "" } else { "+" });
    draft.rename(&format!("{kind} {}", named.replace('|', "+").replace(' ', "")));
    Ok((modifiers.to_owned(), key.to_owned()))
}

/// A key with its modifiers, as written in Unterm's configuration.
pub(super) fn chord(modifiers: &str, key: &str) -> Result<String, String> {
    // A position on a US keyboard, such as `phys:A` and `phys:K1`, has the same name with and without Shift.
    let (key, is_position) = match key.strip_prefix("phys:") {
        Some(key) => (key.strip_prefix('K').filter(|digit| digit.len() == 1).unwrap_or(key), true),
        None => (key.strip_prefix("mapped:").unwrap_or(key), false),
    };
    // A capital letter means that Shift is held.
    let is_capital = key.chars().count() == 1 && key.chars().all(char::is_uppercase);
    let held = modifiers.split('|').map(str::trim).filter(|name| *name != "NONE");
    keys::chord(held.chain((is_capital && !is_position).then_some("shift")), key)
}

/// Converts an entry of the list `mouse_bindings`.
pub(super) fn bind_mouse(draft: &mut Draft, binding: &Lua) -> Result<(), String> {
    let event = binding.get("event").ok_or(COMPUTED)?;
    let modifiers = binding.get("mods").map_or(Some(""), Lua::text).ok_or(COMPUTED)?;
    let [event] = event.entries() else { return Err(COMPUTED.to_owned()) };
    let kind = event.key.as_deref().unwrap_or_default();
    let button = match event.value.get("button").ok_or(COMPUTED)? {
        Lua::Text(name) => name.as_str(),
        // The table has the form `{ WheelUp = 1 }`.
        table => table.entries().first().and_then(|entry| entry.key.as_deref()).ok_or(COMPUTED)?,
    };
    let named = [modifiers, button].join(if modifiers.is_empty() { "" } else { "+" });
    draft.rename(&format!("mouse {}", named.replace('|', "+").replace(' ', "")));
    let name = match button {
        "Left" => "left",
        "Middle" => "middle",
        "Right" => "right",
        "WheelUp" => "wheel_up",
        "WheelDown" => "wheel_down",
        _ => return Err(unknown(button)),
    };
    if binding.get("mouse_reporting") == Some(&Lua::Bool(true)) {
        return Err(reasons::NO_GRABBED.into());
    }
    if kind == "Drag" {
        return Err(reasons::NO_SELECTING.into());
    }
    if event.value.get("streak").is_some_and(|streak| *streak != Lua::Number(1.0)) {
        return Err(reasons::NO_MULTIPLE_CLICKS.into());
    }
    let held = modifiers.split('|').map(str::trim).filter(|name| *name != "NONE");
    let chord = pressed::button(held, name)?;
    let action = binding.get("action").ok_or(COMPUTED)?;
    let (called, _) = call_of(action)?;
    match (name, called) {
        ("left", "CompleteSelection") if chord == "left" => {
            draft.set(&["links", "open_by"], "ctrl_click");
            Ok(())
        }
        ("left", "OpenLinkAtMouseCursor" | "CompleteSelectionOrOpenLinkAtMouseCursor") => {
            match chord.as_str() {
                "left" => draft.set(&["links", "open_by"], "click"),
                // Unterm always opens links with Ctrl and click.
                "ctrl+left" => {}
                _ => return Err(reasons::LINKS.to_owned()),
            }
            Ok(())
        }
        // This binding needs no conversion. It only prevents the program from receiving the press of a click that
        // opens a link.
        ("left", "Nop") => Ok(()),
        ("right", "ExtendSelectionToMouseCursor") if chord == "right" => {
            draft.set(&["mouse", "right_button"], "extend");
            Ok(())
        }
        (
            _,
            "SelectTextAtMouseCursor"
            | "ExtendSelectionToMouseCursor"
            | "CompleteSelection"
            | "StartWindowDrag",
        ) => Err(reasons::NO_SELECTING.into()),
        (_, "Nop" | "DisableDefaultAssignment") => draft.bind_mouse(&chord, &["none".to_owned()]),
        _ => {
            let actions = actions_of(draft, action)?;
            draft.bind_mouse(&chord, &actions)
        }
    }
}

/// Reads the program of a `SpawnCommand`.
pub(super) fn program(command: &Lua) -> Result<Program, String> {
    let text = |value: &Lua| value.text().map(str::to_owned).ok_or_else(|| COMPUTED.to_owned());
    let words = command.get("args").into_iter().flat_map(Lua::items).map(text);
    let env = command.get("set_environment_variables").map(Lua::entries).unwrap_or_default();
    let env =
        env.iter().map(|entry| Ok((entry.key.clone().unwrap_or_default(), text(&entry.value)?)));
    Ok(Program {
        words: words.collect::<Result<_, String>>()?,
        cwd: command.get("cwd").map(text).transpose()?.unwrap_or_default(),
        env: env.collect::<Result<_, String>>()?,
    })
}

/// Converts an action of WezTerm. `Multiple` results in several actions.
fn actions_of(draft: &mut Draft, action: &Lua) -> Result<Vec<String>, String> {
    match call_of(action)? {
        ("Multiple", [several]) => several.items().map(|action| action_of(draft, action)).collect(),
        _ => Ok(vec![action_of(draft, action)?]),
    }
}

/// The name and the arguments of an action. An action is written as `wezterm.action.Name`, as a call of such a name,
/// or as `wezterm.action { Name = … }`.
fn call_of(action: &Lua) -> Result<(&str, &[Lua]), String> {
    let (name, arguments): (&str, &[Lua]) = match action {
        Lua::Name(name) => (name, &[]),
        Lua::Text(name) => (name, &[]),
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
    if name.contains('.') || name.contains(':') {
        return Err(COMPUTED.to_owned());
    }
    Ok((name, arguments))
}

/// Converts a single action of WezTerm.
fn action_of(draft: &mut Draft, action: &Lua) -> Result<String, String> {
    let (name, arguments) = call_of(action)?;
    let argument = arguments.first();
    let word = match argument {
        Some(Lua::Text(word)) => word,
        // The argument is a table, such as in `AdjustPaneSize { 'Left', 5 }` and `SplitPane { direction = 'Right' }`.
        Some(table @ Lua::Table(_)) => {
            table.items().next().or(table.get("direction")).and_then(Lua::text).unwrap_or_default()
        }
        _ => "",
    };
    if name == "SplitPane" && argument.is_some_and(|split| split.get("command").is_some()) {
        return Err(reasons::NO_SPLIT_PROGRAM.into());
    }
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
                return Err(reasons::NO_SPLIT_PROGRAM.into());
            }
            if name == "SplitHorizontal" { "split_right" } else { "split_down" }.to_owned()
        }
        ("ReloadConfiguration", _) => return Err(reasons::RELOADS.to_owned()),
        ("SendKey", _) => {
            let key = argument.and_then(|key| key.get("key")).and_then(Lua::text);
            let mods = argument.and_then(|key| key.get("mods")).map_or(Some(""), Lua::text);
            pressed::key(&chord(mods.ok_or(COMPUTED)?, key.ok_or(COMPUTED)?)?)?
        }
        ("SpawnCommandInNewTab", _) => {
            let program = program(argument.ok_or(COMPUTED)?)?;
            draft.start(&program)
        }
        ("SpawnCommandInNewWindow", _) => return Err(reasons::NO_WINDOW_PROGRAM.into()),
        ("QuickSelectArgs", _) => {
            return Err("write the pattern in [hint_patterns], and bind quick_select".to_owned());
        }
        _ => match ACTIONS.iter().find(|(other, _)| *other == name) {
            Some((_, ours)) => (*ours).to_owned(),
            None => return Err(lacks::WEZTERM.action(name)),
        },
    })
}

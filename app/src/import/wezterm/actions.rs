//! Converts the keys and mouse buttons of `wezterm.lua`, and the actions of WezTerm.

use super::super::{
    action_lists::{kept, repeated},
    action_parts::{self, Program, SWALLOW},
    draft::Draft,
    keys,
    lua::Lua,
    reasons::{self, COMPUTED, unknown},
    text::typed,
    unsupported,
};

/// The name of the table with the keys of copy mode.
pub(super) const COPY_MODE: &str = "copy_mode";

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

/// Actions for a number of steps: the name in WezTerm, and the actions of Unterm for a step back and forward.
const STEPS: &[(&str, &str, &str)] = &[
    ("ActivateTabRelative", "previous_tab", "next_tab"),
    ("ActivateTabRelativeNoWrap", "previous_tab", "next_tab"),
    ("MoveTabRelative", "move_tab_left", "move_tab_right"),
    ("ScrollByPage", "scroll_page_up", "scroll_page_down"),
    ("ScrollToPrompt", "previous_prompt", "next_prompt"),
];

/// Selections that Unterm makes in the same way: the modifiers and the button, the number of clicks, the action and its
/// argument.
const SAME: &[(&str, f64, &str, &str)] = &[
    ("left", 1.0, "SelectTextAtMouseCursor", "Cell"),
    ("left", 2.0, "SelectTextAtMouseCursor", "Word"),
    ("left", 3.0, "SelectTextAtMouseCursor", "Line"),
    ("alt+left", 1.0, "SelectTextAtMouseCursor", "Block"),
    ("left", 1.0, "ExtendSelectionToMouseCursor", "Cell"),
    ("left", 2.0, "ExtendSelectionToMouseCursor", "Word"),
    ("left", 3.0, "ExtendSelectionToMouseCursor", "Line"),
    ("alt+left", 1.0, "ExtendSelectionToMouseCursor", "Block"),
    ("shift+left", 1.0, "ExtendSelectionToMouseCursor", "Cell"),
];

/// Converts an entry of the list `keys`.
pub(super) fn bind(draft: &mut Draft, binding: &Lua) -> Result<(), String> {
    let (modifiers, key) = named(draft, "key", binding)?;
    let held: Vec<&str> = modifiers.split('|').map(str::trim).collect();
    let rest: Vec<&str> = held.iter().copied().filter(|name| *name != "LEADER").collect();
    let chord = chord(&rest.join("|"), &key)?;
    let keys = if rest.len() < held.len() { format!("leader>{chord}") } else { chord };
    let action = binding.get("action").ok_or(COMPUTED)?;
    // By default, a key table ends after one key.
    if let ("ActivateKeyTable", [table]) = call_of(action)?
        && table.get("one_shot") != Some(&Lua::Bool(false))
        && let Some(name) = table.get("name").and_then(Lua::text)
        && name != COPY_MODE
    {
        draft.enter_mode(name, &keys);
        return Ok(());
    }
    let actions = actions_of(draft, action)?;
    draft.bind(&keys, &actions)
}

/// Converts a key of a key table, except those of copy mode.
pub(super) fn bind_in(draft: &mut Draft, table: &str, binding: &Lua) -> Result<(), String> {
    let (modifiers, key) = named(draft, &format!("key_tables.{table}"), binding)?;
    let chord = chord(&modifiers, &key)?;
    let action = binding.get("action").ok_or(COMPUTED)?;
    match call_of(action)?.0 {
        // A sequence ends by itself, so it needs no key that leaves the table.
        "PopKeyTable" | "ClearKeyTableStack" => {}
        _ => {
            let actions = actions_of(draft, action)?;
            draft.bind_in_mode(table, &chord, actions);
        }
    }
    Ok(())
}

/// Returns the modifiers and the key of a binding, and uses them to name the current setting.
pub(super) fn named(
    draft: &mut Draft,
    kind: &str,
    binding: &Lua,
) -> Result<(String, String), String> {
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
    let held = modifiers.split('|').map(str::trim).filter(|name| *name != "NONE");
    let chord = action_parts::button(held, name)?;
    let action = binding.get("action").ok_or(COMPUTED)?;
    let (called, arguments) = call_of(action)?;
    let streak = match event.value.get("streak") {
        Some(Lua::Number(streak)) => *streak,
        _ => 1.0,
    };
    let unit = arguments.first().and_then(Lua::text).unwrap_or_default();
    if kind != "Up" && SAME.contains(&(chord.as_str(), streak, called, unit)) {
        return Ok(());
    }
    if kind == "Drag" {
        return Err(reasons::NO_SELECTING.into());
    }
    if streak != 1.0 {
        return Err(reasons::NO_MULTIPLE_CLICKS.into());
    }
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

/// Converts an action of WezTerm. `Multiple` and actions for several steps result in several actions.
fn actions_of(draft: &mut Draft, action: &Lua) -> Result<Vec<String>, String> {
    let (name, arguments) = call_of(action)?;
    let steps = STEPS.iter().find(|(known, ..)| *known == name);
    match (steps, arguments) {
        (Some((_, back, forward)), [Lua::Number(steps)]) => {
            repeated(*steps, back, forward).ok_or_else(|| reasons::WHOLE_STEPS.into())
        }
        (None, [several]) if name == "Multiple" => {
            let mut parts = Vec::new();
            for action in several.items() {
                let name = call_of(action).map_or("a part", |(name, _)| name);
                parts.push((name.to_owned(), actions_of(draft, action)));
            }
            kept(draft, parts)
        }
        _ => Ok(vec![action_of(draft, action)?]),
    }
}

/// The name and the arguments of an action. An action is written as `wezterm.action.Name`, as a call of such a name,
/// as `wezterm.action { Name = … }`, or in `Multiple` as `{ Name = … }`.
pub(super) fn call_of(action: &Lua) -> Result<(&str, &[Lua]), String> {
    let (name, arguments): (&str, &[Lua]) = match action {
        Lua::Name(name) => (name, &[]),
        Lua::Text(name) => (name, &[]),
        Lua::Call(name, arguments) if name == "wezterm.action" => {
            arguments.first().and_then(of_table).ok_or(COMPUTED)?
        }
        Lua::Table(_) => of_table(action).ok_or(COMPUTED)?,
        Lua::Call(name, arguments) => (name, arguments),
        _ => return Err(COMPUTED.to_owned()),
    };
    let name = name.strip_prefix("wezterm.action.").unwrap_or(name);
    if name.contains('.') || name.contains(':') {
        return Err(COMPUTED.to_owned());
    }
    Ok((name, arguments))
}

/// The name and the argument of an action that is written as a table.
fn of_table(table: &Lua) -> Option<(&str, &[Lua])> {
    match table.entries() {
        [entry] => Some((entry.key.as_deref()?, std::slice::from_ref(&entry.value))),
        _ => None,
    }
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
        ("ScrollByLine", Some(lines)) => format!("scroll_lines:{lines}"),
        ("SendString", None) => typed(argument.and_then(Lua::text).ok_or(COMPUTED)?),
        ("SplitHorizontal" | "SplitVertical", None) => {
            if argument.is_some_and(|split| split.get("args").is_some()) {
                return Err(reasons::NO_SPLIT_PROGRAM.into());
            }
            if name == "SplitHorizontal" { "split_right" } else { "split_down" }.to_owned()
        }
        ("ReloadConfiguration", _) => return Err(reasons::RELOADS.to_owned()),
        ("AttachDomain", _) => return Err(reasons::ATTACH.to_owned()),
        ("DetachDomain", _) => "detach".to_owned(),
        ("SendKey", _) => {
            let key = argument.and_then(|key| key.get("key")).and_then(Lua::text);
            let mods = argument.and_then(|key| key.get("mods")).map_or(Some(""), Lua::text);
            action_parts::key(&chord(mods.ok_or(COMPUTED)?, key.ok_or(COMPUTED)?)?)?
        }
        ("SpawnCommandInNewTab", _) => {
            let program = program(argument.ok_or(COMPUTED)?)?;
            draft.start(&program)
        }
        ("SpawnCommandInNewWindow", _) => return Err(reasons::NO_WINDOW_PROGRAM.into()),
        ("QuickSelectArgs", _)
            if argument.is_some_and(|options| options.get("action").is_some()) =>
        {
            return Err(reasons::PATTERNS.to_owned());
        }
        ("QuickSelectArgs", _) => {
            let patterns = argument.and_then(|options| options.get("patterns"));
            for pattern in patterns.into_iter().flat_map(Lua::items).filter_map(Lua::text) {
                draft.pattern(pattern, "copy");
            }
            "quick_select".to_owned()
        }
        ("ShowLauncherArgs", _) => {
            let flags = argument.and_then(|options| options.get("flags")).and_then(Lua::text);
            let flags = flags.unwrap_or_default().split('|').map(str::trim);
            match flags.filter(|flag| *flag != "FUZZY").collect::<Vec<_>>()[..] {
                ["TABS"] => "choose_tab",
                ["COMMANDS" | "KEY_ASSIGNMENTS"] => "command_palette",
                ["WORKSPACES" | "DOMAINS"] => {
                    return Err(unsupported::WEZTERM.action("SwitchToWorkspace"));
                }
                _ => "launcher",
            }
            .to_owned()
        }
        ("ActivateKeyTable" | "PopKeyTable" | "ClearKeyTableStack", _) => {
            return Err(reasons::NO_MODES.into());
        }
        _ => match ACTIONS.iter().find(|(other, _)| *other == name) {
            Some((_, ours)) => (*ours).to_owned(),
            None => return Err(unsupported::WEZTERM.action(name)),
        },
    })
}

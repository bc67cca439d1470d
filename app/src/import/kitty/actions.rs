//! Converts the keys of `map`, and the actions of kitty.

use std::path::Path;

use super::{
    super::{
        action_lists::{font_steps, kept, repeated},
        action_parts::{self, Program, SWALLOW},
        draft::Draft,
        keys,
        reasons::{self, unknown},
        text::{number, typed, unescape},
        unsupported,
    },
    Binder,
};
use crate::editor::words;

/// Actions without arguments: the name in kitty, and the name in Unterm.
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
    ("close_other_tabs_in_os_window", "close_other_tabs"),
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
    ("reset_window_sizes", "equalize_panes"),
    ("debug_config", "about"),
    ("copy_to_clipboard", "copy"),
    ("copy_or_interrupt", "copy"),
    ("copy_or_noop", "copy"),
    ("copy_and_clear_or_interrupt", "copy"),
    ("copy_ansi_to_clipboard", "copy_as_ansi"),
    ("paste_selection", "paste_primary"),
    ("paste_selection_or_clipboard", "paste_primary"),
    ("mouse_select_command_output", "select_output"),
    ("mouse_show_command_output", "show_output"),
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
    ("show_scrollback", "show_history"),
    ("show_last_command_output", "show_output"),
    ("show_last_non_empty_command_output", "show_output"),
    ("show_last_visited_command_output", "show_output"),
    ("show_first_command_output_on_screen", "show_output"),
    ("increase_font_size", "larger_font"),
    ("decrease_font_size", "smaller_font"),
    ("restore_font_size", "reset_font"),
    ("toggle_fullscreen", "fullscreen"),
    ("edit_config_file", "open_config"),
    ("command_palette", "command_palette"),
    ("open_url_with_hints", "open_hint"),
    ("input_unicode_character", "choose_emoji"),
    ("no_op", "none"),
    ("discard_event", SWALLOW),
];

/// The maximum number of aliases that are replaced in turn. A limit is needed because aliases may refer to each other
/// in a circle.
const MOST_ALIASES: usize = 10;

impl Binder<'_> {
    /// Converts the keys of a `map`.
    pub(super) fn bind(&mut self, text: &str) -> Result<(), String> {
        let (mut mode, mut new_mode, mut ends) = ("", "", false);
        let mut rest = text;
        while let Some(option) = rest.strip_prefix("--") {
            let (option, after) = word(option);
            let (name, value, after) = match (option.split_once('='), word(after)) {
                (Some((name, value)), _) => (name, value, after),
                (None, (value, after)) => (option, value, after),
            };
            match name {
                // `--allow-fallback` only adds keys of other keyboard layouts for the same action.
                "allow-fallback" | "on-unknown" | "timeout" => {}
                "mode" => mode = value,
                "new-mode" => new_mode = value,
                "on-action" => ends = value == "end",
                _ => return Err(reasons::NO_MODES.into()),
            }
            rest = after;
        }
        let (keys, action) = word(rest);
        // `>` separates keys that are pressed one after the other. Alone, or at the end after a `+`, it is itself a key.
        let single = keys.ends_with("+>") || keys == ">";
        let parts: Vec<&str> = if single { vec![keys] } else { keys.split('>').collect() };
        let chords = parts.into_iter().map(|keys| chord(keys, self.kitty_mod));
        let keys = chords.collect::<Result<Vec<_>, _>>()?.join(">");
        match (mode, new_mode) {
            ("", "") => {
                let actions = self.actions_of(action)?;
                self.draft.bind(&keys, &actions)?;
            }
            ("", new_mode) if ends => self.draft.enter_mode(new_mode, &keys),
            // A sequence ends by itself, so it needs no key that leaves the mode.
            (_, "") if action == "pop_keyboard_mode" => {}
            (mode, "") => {
                let actions = self.actions_of(action)?;
                self.draft.bind_in_mode(mode, &keys, actions);
            }
            _ => return Err(reasons::NO_MODES.into()),
        }
        Ok(())
    }

    /// Replaces the aliases at the start of an action.
    fn expanded(&self, action: &str) -> String {
        let mut action = action.to_owned();
        for _ in 0..MOST_ALIASES {
            let found = self.aliases.iter().rev().find_map(|(alias, stands_for)| {
                let rest = action.strip_prefix(alias.as_str())?;
                let is_whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
                is_whole.then(|| format!("{stands_for}{rest}"))
            });
            // An alias may contain its own name, as in `kitten_alias hints hints --x`. Replace it only once.
            match found {
                Some(replaced) if !replaced.starts_with(&action) => action = replaced,
                Some(replaced) => return replaced,
                None => break,
            }
        }
        action
    }

    /// Converts an action of kitty. `combine` results in several actions.
    pub(super) fn actions_of(&mut self, action: &str) -> Result<Vec<String>, String> {
        let action = self.expanded(action);
        let Some(combined) = action.strip_prefix("combine") else {
            return self.action_of(&action);
        };
        // The first word after `combine` is the separator between the actions.
        let combined = combined.trim_start();
        let (separator, list) = combined.split_once(char::is_whitespace).unwrap_or((combined, ""));
        if separator.is_empty() {
            return Err(unknown(&action));
        }
        let actions = list.split(separator).map(str::trim).filter(|action| !action.is_empty());
        let mut parts = Vec::new();
        for action in actions {
            // An alias may stand for a combination that contains the alias.
            let part = self.expanded(action);
            let converted = match part.starts_with("combine") {
                true => Err(unknown(&part)),
                false => self.action_of(&part),
            };
            parts.push((word(action).0.to_owned(), converted));
        }
        kept(self.draft, parts)
    }

    /// Converts a single action of kitty.
    fn action_of(&mut self, action: &str) -> Result<Vec<String>, String> {
        let (name, argument) = word(action.trim_end());
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
            ("launch", options) => return launch(self.draft, options),
            ("new_tab", "!neighbor") | ("new_tab_with_cwd", "!neighbor") => "new_tab".to_owned(),
            ("new_tab" | "new_tab_with_cwd", program) if !program.is_empty() => {
                let words = words(program.trim_start_matches("!neighbor"));
                self.draft.start(&Program { words, ..Program::default() })
            }
            ("new_tab_with_wd", folder) if !folder.is_empty() => {
                format!("new_tab_in:{}", folder.replace('\\', "\\\\"))
            }
            ("new_window" | "new_window_with_cwd", program) if !program.is_empty() => {
                return Err(reasons::NO_SPLIT_PROGRAM.into());
            }
            ("new_os_window" | "new_os_window_with_cwd" | "new_os_window_with_wd", program)
                if !program.is_empty() =>
            {
                return Err(reasons::NO_WINDOW_PROGRAM.into());
            }
            ("goto_tab", _) => match argument.parse::<i32>() {
                Ok(number) if number > 0 => format!("activate_tab:{number}"),
                Ok(_) => return Err(reasons::NO_RECENT_TABS.into()),
                Err(_) => return Err(unknown(argument)),
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
            ("toggle_layout" | "goto_layout", "stack") => "zoom_pane".to_owned(),
            ("toggle_layout" | "goto_layout" | "next_layout" | "last_used_layout", _)
            | ("layout_action", _) => return Err(reasons::NO_TILING.into()),
            ("start_resizing_window", _) => {
                return Err("bind resize_left, resize_right, resize_up and resize_down".to_owned());
            }
            ("detach_window", "new-tab" | "new-tab-right") => "pane_to_new_tab".to_owned(),
            ("detach_window", "") => "pane_to_new_window".to_owned(),
            ("detach_window", "ask") => "pane_to_window".to_owned(),
            ("detach_tab", "") => "tab_to_new_window".to_owned(),
            ("detach_tab", "ask") => "tab_to_window".to_owned(),
            ("scroll_line_up", _) => "scroll_lines:-1".to_owned(),
            ("scroll_line_down", _) => "scroll_lines:1".to_owned(),
            ("scroll_to_prompt", "0") => return Err(unsupported::KITTY.action(name)),
            ("scroll_to_prompt", "") => "previous_prompt".to_owned(),
            ("scroll_to_prompt", how) => {
                let prompts = number(word(how).0)?;
                let steps = repeated(prompts, "previous_prompt", "next_prompt");
                return steps.ok_or_else(|| reasons::WHOLE_STEPS.into());
            }
            ("change_font_size", how) => match how.rsplit(' ').next().unwrap_or_default() {
                "0" => "reset_font".to_owned(),
                change if change.starts_with(['+', '-']) => return font_steps(number(change)?),
                _ => return Err(reasons::NO_FONT_SIZE.into()),
            },
            ("clear_terminal", "reset active") => "reset_terminal".to_owned(),
            ("clear_terminal", "scrollback active") => "clear_history".to_owned(),
            ("send_text", argument) => {
                let (modes, text) = argument.split_once(' ').ok_or_else(|| unknown(argument))?;
                let has = |wanted| modes.split(',').any(|mode| mode == wanted);
                let is_everywhere = has("all") || has("normal") && has("application");
                if !is_everywhere {
                    return Err(reasons::NO_KEYBOARD_MODES.into());
                }
                typed(&unescape(text)?)
            }
            ("send_key", keys) => {
                let chords = keys.split_whitespace().map(|keys| chord(keys, self.kitty_mod));
                let mut text = SWALLOW.to_owned();
                for sent in chords.map(|chord| action_parts::key(&chord?)) {
                    text.push_str(sent?.trim_start_matches(SWALLOW));
                }
                text
            }
            ("paste", text) => typed(&unescape(text)?),
            ("kitten", kitten) => kitten_of(self.draft, kitten)?,
            ("save_as_session", options) => {
                let file = options.split_whitespace().rfind(|option| !option.starts_with('-'));
                let name = file.and_then(|file| Path::new(file).file_stem()?.to_str());
                format!("save_layout:{}", name.ok_or(reasons::LAYOUT)?.replace('\\', "\\\\"))
            }
            ("goto_session", "") => "open_layout".to_owned(),
            ("goto_session", _) => {
                return Err("save the tabs with save_layout, and bind open_layout".to_owned());
            }
            ("push_keyboard_mode" | "pop_keyboard_mode", _) => return Err(reasons::NO_MODES.into()),
            ("load_config_file", _) => return Err(reasons::RELOADS.to_owned()),
            (name, argument) => match ACTIONS.iter().find(|(other, _)| *other == name) {
                Some((_, ours)) if argument.is_empty() => (*ours).to_owned(),
                Some(_) => return Err(unknown(argument)),
                None => return Err(unsupported::KITTY.action(name)),
            },
        };
        Ok(vec![ours])
    }
}

/// Splits a text after its first word.
fn word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim_start())
}

/// A key with its modifiers, as written in Unterm's configuration.
fn chord(text: &str, kitty_mod: &str) -> Result<String, String> {
    let expanded = text.replace("kitty_mod", kitty_mod);
    let (modifiers, key) = match expanded.strip_suffix("++") {
        Some(modifiers) => (modifiers, "+"),
        None => expanded.rsplit_once('+').unwrap_or(("", &expanded)),
    };
    keys::chord(modifiers.split('+'), key)
}

/// Converts the action of a kitten.
fn kitten_of(draft: &mut Draft, kitten: &str) -> Result<String, String> {
    let (name, options) = kitten.split_once(char::is_whitespace).unwrap_or((kitten, ""));
    Ok(match name {
        "unicode_input" => "choose_emoji".to_owned(),
        "themes" => "choose_theme".to_owned(),
        "broadcast" => "broadcast_tab".to_owned(),
        "quick-access-terminal" | "quick_access_terminal" => "toggle_quake".to_owned(),
        "ssh" => {
            let words = [vec!["ssh".to_owned()], words(options)].concat();
            draft.start(&Program { words, ..Program::default() })
        }
        "hints" => {
            let words = words(options);
            let value = |name: &str| {
                words.iter().enumerate().find_map(|(at, word)| {
                    let rest = word.strip_prefix(name)?;
                    match rest.strip_prefix('=') {
                        Some(value) => Some(value),
                        None => words.get(at + 1).filter(|_| rest.is_empty()).map(String::as_str),
                    }
                })
            };
            match (value("--type").unwrap_or("url"), value("--program")) {
                ("regex", target) => {
                    let regex = value("--regex").ok_or_else(|| unknown(options))?;
                    let (action, labels) = match target {
                        Some("-") => ("paste", "quick_select"),
                        Some("@" | "*") => ("copy", "quick_select"),
                        None | Some("default") => ("open", "open_hint"),
                        Some(_) => return Err(reasons::NO_HINT_PROGRAM.into()),
                    };
                    draft.pattern(regex, action);
                    labels
                }
                // In kitty, `-` pastes the target, and `@` and `*` copy it. `quick_select` does both: with an
                // upper-case label, it pastes.
                (
                    "url" | "hyperlink" | "path" | "linenum" | "hash" | "ip",
                    Some("-" | "@" | "*"),
                ) => "quick_select",
                ("hash" | "ip", None) => "quick_select",
                ("url" | "hyperlink" | "path" | "linenum", None | Some("default" | "self")) => {
                    "open_hint"
                }
                ("url" | "hyperlink" | "path" | "linenum" | "hash" | "ip", Some(_)) => {
                    return Err(reasons::NO_HINT_PROGRAM.into());
                }
                _ => {
                    return Err(reasons::PATTERNS.to_owned());
                }
            }
            .to_owned()
        }
        _ => return Err(unsupported::KITTY.action("kitten")),
    })
}

/// Options of `launch` that take no value.
const SWITCHES: &[&str] = &[
    "--allow-remote-control",
    "--copy-cmdline",
    "--copy-colors",
    "--copy-env",
    "--dont-take-focus",
    "--hold",
    "--hold-after-ssh",
    "--keep-focus",
    "--stdin-add-formatting",
    "--stdin-add-line-wrap-markers",
];

/// Options of `launch` that need no conversion: Unterm does the same without an option, or the option is only about
/// kitty's remote control.
const NEEDLESS: &[&str] = &[
    "--add-to-session",
    "--allow-remote-control",
    "--copy-colors",
    "--next-to",
    "--remote-control-password",
    "--source-window",
    "--stdin-add-formatting",
    "--stdin-add-line-wrap-markers",
    "--var",
];

/// The texts that `launch` passes to a program, and the actions of Unterm that show them.
const SHOWN: &[(&str, &str)] = &[
    ("@screen", "show_history"),
    ("@screen_scrollback", "show_history"),
    ("@first_cmd_output_on_screen", "show_output"),
    ("@last_cmd_output", "show_output"),
    ("@last_visited_cmd_output", "show_output"),
];

/// Converts `launch`, which opens a split, a tab, a window, or a program in a tab.
fn launch(draft: &mut Draft, options: &str) -> Result<Vec<String>, String> {
    let (mut kind, mut location) = ("window".to_owned(), String::new());
    let (mut title, mut text) = (None, None);
    let mut program = Program::default();
    let mut without = Vec::new();
    let mut words = words(options).into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.starts_with("--")) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None if SWITCHES.contains(&word.as_str()) => (word, String::new()),
            None => (word, words.next().unwrap_or_default()),
        };
        match (name.as_str(), value.as_str()) {
            ("--type", _) => kind = value,
            ("--location", _) => location = value,
            ("--tab-title", _) => title = Some(value),
            ("--stdin-source", "none") => {}
            ("--stdin-source", _) => text = Some(value),
            ("--cwd", "current" | "last_reported" | "oldest" | "root") => {}
            ("--cwd", _) => program.cwd = value,
            ("--env", _) => {
                let (name, value) = value.split_once('=').ok_or(reasons::NO_REMOVED_VARIABLES)?;
                program.env.push((name.to_owned(), value.to_owned()));
            }
            (option, _) if NEEDLESS.contains(&option) => {}
            _ => without.push(name),
        }
    }
    program.words = words.collect();
    let is_shell = program.words.is_empty();
    let ours = match (kind.as_str(), location.as_str()) {
        ("background", _) => return Err(reasons::NO_BACKGROUND.into()),
        ("clipboard", _) if text.as_deref() == Some("@last_cmd_output") => "copy_output".to_owned(),
        ("window" | "tab" | "overlay" | "overlay-main", _) if text.is_some() => {
            let shown = SHOWN.iter().find(|(source, _)| Some(*source) == text.as_deref());
            shown.ok_or(reasons::NO_PIPED_TEXT)?.1.to_owned()
        }
        // An overlay covers the window until its program ends. The nearest action of Unterm is a tab with the program.
        ("tab" | "overlay" | "overlay-main", _)
            if is_shell && program.cwd.is_empty() && program.env.is_empty() =>
        {
            "new_tab".to_owned()
        }
        ("tab" | "overlay" | "overlay-main", _) => draft.start(&program),
        ("window", _) if program != Program::default() => {
            return Err(reasons::NO_SPLIT_PROGRAM.into());
        }
        ("os-window", _) if program != Program::default() => {
            return Err(reasons::NO_WINDOW_PROGRAM.into());
        }
        ("os-window", _) => "new_window".to_owned(),
        ("window", "hsplit") => "split_down".to_owned(),
        ("window", "" | "default" | "vsplit" | "split" | "after" | "neighbor" | "last") => {
            "split_right".to_owned()
        }
        ("window", other) => {
            return Err(unsupported::KITTY.action(&format!("launch --location={other}")));
        }
        (other, _) => return Err(unsupported::KITTY.action(&format!("launch --type={other}"))),
    };
    for option in without {
        draft.leave_out(&format!("without {option}: {}", unsupported::KITTY.setting("launch --")));
    }
    let opens_tab = ours.starts_with("new_tab");
    let title = title.filter(|_| opens_tab);
    let title = title.map(|title| format!("set_tab_title:{}", title.replace('\\', "\\\\")));
    Ok([ours].into_iter().chain(title).collect())
}

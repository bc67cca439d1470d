//! Tests of the reasons for leaving out a setting. A feature that Unterm has must be converted, and no reason may deny
//! it.

use std::fs;

use clap::CommandFactory;

use super::{converted, home};
use crate::args::Args;
use crate::config::reference;
use crate::import::{reasons::LACKS, unsupported, *};

/// The text of the reference of options and actions, in lower case, and of the flags of `unterm`. Each action is followed
/// by a description of its argument.
fn reference_text() -> String {
    let page = reference::page();
    let (options, rest) = page.split_once("\n## Copy mode").unwrap();
    assert!(rest.contains("## Themes"));
    let mut text = options.to_lowercase();
    for flag in Args::command().get_arguments() {
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("\n--{} {help}", flag.get_long().unwrap_or_default());
    }
    for entry in crate::action::ACTIONS {
        text += &format!("\n{} {} {}", entry.name, entry.title, entry.synonyms.join(", "));
        if !entry.argument().is_empty() {
            text += &format!("\n{} takes {}", entry.name, entry.argument());
        }
    }
    text.to_lowercase()
}

/// The part of the reference about copy mode, in lower case.
fn copy_mode_text() -> String {
    let page = reference::page();
    let (_, rest) = page.split_once("\n## Copy mode").unwrap();
    rest.split_once("\n## Themes").unwrap().0.to_lowercase()
}

const ALL: [unsupported::Of; 4] =
    [unsupported::KITTY, unsupported::ALACRITTY, unsupported::GHOSTTY, unsupported::WEZTERM];

#[test]
fn no_reason_denies_what_the_reference_names() {
    let (reference, copy_mode) = (reference_text(), copy_mode_text());
    let mut wrong = Vec::new();
    let mut check = |what: &str, words: &[&str], reference: &str| {
        for word in words {
            assert_eq!(*word, word.to_lowercase(), "{what}");
            if reference.contains(word) {
                wrong.push(format!("{what}: the reference names {word:?}"));
            }
        }
    };
    for lack in LACKS {
        check(lack.why, lack.words, &reference);
    }
    for of in ALL {
        for (name, words) in of.settings.iter().chain(of.actions) {
            assert!(!words.is_empty(), "{} {name}", of.title);
            check(&format!("{} {name}", of.title), words, &reference);
        }
        for (name, words) in of.commands {
            assert!(!words.is_empty(), "{} {name}", of.title);
            check(&format!("{} {name}", of.title), words, &copy_mode);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A reason that sends the user to a flag, an option or an action must name one that exists.
#[test]
fn reasons_name_flags_options_and_actions_that_exist() {
    let reference = reference_text();
    let mut seen = 0;
    for (name, why) in ALL.iter().flat_map(|of| of.elsewhere) {
        if why.contains("unterm-cli") {
            continue;
        }
        let is_mark = |c: char| !c.is_alphanumeric() && !"_-.".contains(c);
        for word in why.split(is_mark).map(|word| word.trim_end_matches('.')) {
            let key = word.rsplit('.').next().unwrap_or_default();
            let exists = match word {
                _ if word.starts_with("--") => reference.contains(&format!("\n{word} ")),
                _ if word.contains(['.', '_']) => reference.contains(&format!("`{key}`")),
                _ => continue,
            };
            seen += 1;
            assert!(exists, "{name}: {why}: {word}");
        }
    }
    assert!(seen > 15, "{seen}");
}

/// A setting has one reason: the tables of a terminal don't overlap, apart from values that Unterm always has.
#[test]
fn a_setting_is_listed_once() {
    for of in ALL {
        let mut names: Vec<&str> = of.settings.iter().map(|(name, _)| *name).collect();
        names.extend(of.elsewhere.iter().map(|(name, _)| *name));
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{}: {twice:?}", of.title);
    }
}

/// Only a `Lack` may claim that Unterm lacks a feature, because only the words of a `Lack` are compared with the
/// reference.
#[test]
fn only_a_lack_says_that_unterm_lacks_something() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/import");
    let mut files = vec![folder];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["tests.rs", "counterparts.rs", "inputs.rs", "reasons.rs"].contains(&name.as_str()) {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for denial in ["Unterm has no ", "Unterm can't", "Unterm does not", "Unterm's keys"] {
                // Allow this message: it is about a key, modifier or theme of the other terminal for which Unterm has
                // no name.
                let is_a_name = line.contains("{key:?}") || line.contains("{name:?}");
                assert!(!line.contains(denial) || is_a_name, "{name}: {line}");
            }
        }
    }
    assert!(seen > 10);
}

/// Converts a single setting. Returns the lines of the result, and the first reason for leaving something out.
pub(super) fn parts(terminal: Terminal, text: &str) -> (String, Option<String>) {
    let name = match terminal {
        Terminal::Alacritty => "alacritty.toml",
        Terminal::Wezterm => "wezterm.lua",
        _ => "config",
    };
    let text = match terminal {
        Terminal::Wezterm => format!(
            "local wezterm = require 'wezterm'\nlocal act = wezterm.action\nlocal config = {{}}\n{text}\nreturn config\n"
        ),
        _ => text.to_owned(),
    };
    let home = home(&[(name, &text)]);
    let converted = converted(terminal, &home, name);
    let toml = converted.toml();
    let lines = toml.lines().filter(|line| !line.starts_with('[') && !line.is_empty());
    (lines.collect::<Vec<_>>().join("; "), converted.left_out.first().map(|left| left.why.clone()))
}

/// Converts a single setting. Returns the lines of the result, or the reason why the setting was left out.
fn one(terminal: Terminal, text: &str) -> Result<String, String> {
    let (lines, why) = parts(terminal, text);
    why.map_or(Ok(lines), Err)
}

#[track_caller]
pub(super) fn become_settings(terminal: Terminal, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(one(terminal, text).as_deref(), Ok(*expected), "{text}");
    }
}

#[test]
fn keys_of_kitty_have_counterparts() {
    become_settings(
        Terminal::Kitty,
        &[
            ("map ctrl+a>c new_tab", r#""ctrl+a>c" = "new_tab""#),
            ("map kitty_mod+f>2 set_tab_title", r#""ctrl+shift+f>2" = "rename_tab""#),
            ("map f1 combine : new_tab : scroll_home", r#"f1 = ["new_tab", "scroll_to_top"]"#),
            (
                "map f1 combine | copy_to_clipboard | send_text all a:b",
                r#"f1 = ["copy", "send_text:a:b"]"#,
            ),
            ("action_alias up scroll_line_up\nmap f1 up", r#"f1 = "scroll_lines:-1""#),
            ("action_alias a b\naction_alias b a\nmap f1 no_op", ""),
            (
                "kitten_alias hints hints --hints-offset=0\nmap f1 kitten hints",
                r#"f1 = "open_hint""#,
            ),
            ("map f1 kitten hints --type hash --program -", r#"f1 = "quick_select""#),
            ("map f1 kitten hints --type=path --program @", r#"f1 = "quick_select""#),
            ("map f1 show_scrollback", r#"f1 = "show_history""#),
            ("map f1 show_last_command_output", r#"f1 = "show_output""#),
            ("map f1 discard_event", r#"f1 = "send_text:""#),
            ("map ctrl+f1 send_key ctrl+a", r#""ctrl+f1" = 'send_text:\u{1}'"#),
            ("map f1 new_tab_with_wd /tmp", r#"f1 = "new_tab_in:/tmp""#),
            ("map --allow-fallback=ascii f1 new_tab", r#"f1 = "new_tab""#),
            ("map f1 launch --type=tab htop", r#"f1 = "new_tab:htop"; htop = { shell = "htop" }"#),
            (
                "map f1 launch --type tab --cwd=~/src --env A=1 nvim -R .",
                r#"f1 = "new_tab:nvim"; nvim = { shell = "nvim", args = ["-R", "."], cwd = "~/src", env = { A = "1" } }"#,
            ),
            (
                "map f1 new_tab top\nmap f2 new_tab top",
                r#"f1 = "new_tab:top"; f2 = "new_tab:top"; top = { shell = "top" }"#,
            ),
            ("map f1 close_other_tabs_in_os_window", r#"f1 = "close_other_tabs""#),
            ("map f1 set_tab_title work", r#"f1 = "set_tab_title:work""#),
        ],
    );
    let cleared =
        one(Terminal::Kitty, "map f1 new_tab\nclear_all_shortcuts yes\nmap ctrl+shift+t new_tab");
    assert_eq!(cleared.as_deref(), Ok("preset = \"none\"; \"ctrl+shift+t\" = \"new_tab\""));
}

#[test]
fn mouse_buttons_have_counterparts() {
    become_settings(
        Terminal::Kitty,
        &[
            ("mouse_map right press ungrabbed paste_from_clipboard", r#"right = "paste""#),
            (
                "mouse_map ctrl+middle release grabbed,ungrabbed new_tab",
                r#""ctrl+middle" = "new_tab""#,
            ),
            ("mouse_map left click ungrabbed no_op", r#"open_by = "ctrl_click""#),
            (
                "mouse_map left click ungrabbed mouse_handle_click selection prompt",
                r#"open_by = "ctrl_click""#,
            ),
            ("mouse_map ctrl+left release ungrabbed mouse_click_url", ""),
            ("mouse_map b8 press ungrabbed previous_tab", r#"back = "previous_tab""#),
            ("mouse_map middle release ungrabbed no_op", r#"middle = "none""#),
        ],
    );
    become_settings(
        Terminal::Alacritty,
        &[
            (
                "[mouse]\nbindings = [{ mouse = 'Right', action = 'Paste' }, { mouse = 'Middle', action = 'None' }]",
                r#"right = "paste"; middle = "none""#,
            ),
            (
                "[mouse]\nbindings = [{ mouse = 'Right', action = 'ExpandSelection' }]",
                r#"right_button = "extend""#,
            ),
            (
                "[mouse]\nbindings = [{ mouse = 'WheelUp', mods = 'Control', action = 'IncreaseFontSize' }]",
                r#""ctrl+wheel_up" = "larger_font""#,
            ),
        ],
    );
    become_settings(
        Terminal::Wezterm,
        &[
            (
                "config.mouse_bindings = { { event = { Down = { streak = 1, button = 'Right' } }, mods = 'NONE', action = act.PasteFrom 'Clipboard' } }",
                r#"right = "paste""#,
            ),
            (
                "config.mouse_bindings = { { event = { Up = { streak = 1, button = 'Left' } }, mods = 'CTRL', action = act.OpenLinkAtMouseCursor } }",
                "",
            ),
            (
                "config.mouse_bindings = { { event = { Up = { streak = 1, button = 'Left' } }, mods = 'NONE', action = act.CompleteSelection 'Clipboard' } }",
                r#"open_by = "ctrl_click""#,
            ),
            (
                "config.mouse_bindings = { { event = { Down = { streak = 1, button = { WheelUp = 1 } } }, mods = 'CTRL', action = act.IncreaseFontSize } }",
                r#""ctrl+wheel_up" = "larger_font""#,
            ),
        ],
    );
    become_settings(Terminal::Ghostty, &[("middle-click-action = ignore", r#"middle = "none""#)]);
}

#[test]
fn keys_of_ghostty_have_counterparts() {
    become_settings(
        Terminal::Ghostty,
        &[
            ("keybind = ctrl+a>n=new_tab", r#""ctrl+a>n" = "new_tab""#),
            ("keybind = ctrl+a>ctrl+b>x=new_window", r#""ctrl+a>ctrl+b>x" = "new_window""#),
            ("keybind = f1=ignore", r#"f1 = "send_text:""#),
            (
                "keybind = f1=new_tab\nkeybind = chain=scroll_to_top",
                r#"f1 = ["new_tab", "scroll_to_top"]"#,
            ),
            (
                "keybind = clear\nkeybind = ctrl+shift+t=new_tab",
                r#"preset = "none"; "ctrl+shift+t" = "new_tab""#,
            ),
            ("keybind = f1=inspector:toggle", r#"f1 = "debug_overlay""#),
            ("keybind = f1=clear_screen", r#"f1 = "clear_screen""#),
            ("keybind = f1=write_scrollback_file:open", r#"f1 = "show_history""#),
            ("keybind = f1=undo", r#"f1 = "undo_close""#),
            ("title = Work", r#"title_format = "Work""#),
            ("language = de_DE.UTF-8", r#"language = "de-DE""#),
            (
                "command-palette-entry = title:\"Reset, all\", description:x,action:reset",
                r#""Reset, all" = "reset_terminal""#,
            ),
        ],
    );
}

#[test]
fn keys_of_alacritty_have_counterparts() {
    become_settings(
        Terminal::Alacritty,
        &[
            ("[keyboard]\nbindings = [{ key = 'F1', action = 'None' }]", r#"f1 = "send_text:""#),
            (
                "[keyboard]\nbindings = [{ key = 'K', mode = 'Vi|~Search', action = 'SemanticLeft' }]",
                r#"k = "word_back""#,
            ),
            (
                "[keyboard]\nbindings = [{ key = 'Q', mode = 'Vi', action = 'ToggleViMode' }]",
                r#"q = "leave""#,
            ),
            ("[window]\ntitle = 'T'\ndynamic_title = false", r#"title_format = "T""#),
            (
                "[hints]\nenabled = [{ regex = 'ABC-[0-9]+', action = 'Copy', binding = { key = 'U', mods = 'Control|Shift' } }]",
                r#"pattern-1 = { regex = "ABC-[0-9]+", action = "copy" }; "ctrl+shift+u" = "quick_select""#,
            ),
        ],
    );
}

#[test]
fn keys_of_wezterm_have_counterparts() {
    become_settings(
        Terminal::Wezterm,
        &[
            (
                "config.leader = { key = 'a', mods = 'CTRL' }\nconfig.keys = { { key = 'c', mods = 'LEADER', action = act.SpawnTab 'CurrentPaneDomain' } }",
                r#"leader = "ctrl+a"; "leader>c" = "new_tab""#,
            ),
            (
                "config.leader = { key = 'a', mods = 'CTRL' }\nconfig.keys = { { key = 'a', mods = 'LEADER|CTRL', action = act.SendKey { key = 'a', mods = 'CTRL' } } }",
                r#"leader = "ctrl+a"; "leader>ctrl+a" = 'send_text:\u{1}'"#,
            ),
            (
                "config.keys = { { key = 'F1', action = act.Multiple { act.CopyTo 'Clipboard', act.ScrollToBottom } } }",
                r#"f1 = ["copy", "scroll_to_bottom"]"#,
            ),
            ("config.keys = { { key = 'F1', action = act.Nop } }", r#"f1 = "send_text:""#),
            (
                "config.keys = { { key = 'F1', action = act.ShowDebugOverlay } }",
                r#"f1 = "debug_overlay""#,
            ),
            (
                "config.keys = { { key = 'F1', action = act.ClearScrollback 'ScrollbackAndViewport' } }",
                r#"f1 = "clear_screen""#,
            ),
            (
                "config.keys = { { key = 'F1', action = act.SpawnCommandInNewTab { args = { 'top', '-d1' } } } }",
                r#"f1 = "new_tab:top"; top = { shell = "top", args = ["-d1"] }"#,
            ),
            ("config.disable_default_key_bindings = true", r#"preset = "none""#),
            (
                "config.quick_select_patterns = { 'AB[0-9]' }",
                r#"pattern-1 = { regex = "AB[0-9]", action = "copy" }"#,
            ),
            (
                "config.key_tables = { copy_mode = { { key = 'e', mods = 'NONE', action = act.CopyMode 'MoveForwardWordEnd' } } }",
                r#"e = "word_end""#,
            ),
            ("config.bidi_enabled = true", "bidi = true"),
            (
                "config.keys = { { key = 'F1', action = act.DetachDomain 'CurrentPaneDomain' } }",
                r#"f1 = "detach""#,
            ),
            (
                "config.keys = { { key = 'F1', action = act.DetachDomain { DomainName = 'unix' } } }",
                r#"f1 = "detach""#,
            ),
        ],
    );
}

#[test]
fn settings_have_counterparts() {
    become_settings(
        Terminal::Kitty,
        &[
            ("scrollback_pager less +INPUT_LINE_NUMBER -R", r#"pager = "less +{line} -R""#),
            ("url_prefixes http https gemini", r#"schemes = ["http", "https", "gemini"]"#),
            ("text_fg_override_threshold 4.5 ratio", "minimum_contrast = 4.5"),
            ("modify_font baseline 2px", r#"adjust_baseline = "2px""#),
            ("modify_font underline_position 1px", r#"adjust_underline_position = "1px""#),
            ("force_ltr yes", "bidi = false"),
            ("tab_title_template \"{index}: {title}\"", "numbers = true"),
            ("remember_window_position yes", "restore = true"),
        ],
    );
    become_settings(
        Terminal::Ghostty,
        &[
            ("clipboard-paste-bracketed-safe = false", r#"confirm = "always""#),
            ("keybind = f1=set_surface_title:a b", r#"f1 = "set_tab_title:a b""#),
        ],
    );
    become_settings(
        Terminal::Wezterm,
        &[("config.text_min_contrast_ratio = 4.5", "minimum_contrast = 4.5")],
    );
}

#[test]
fn an_unknown_name_is_not_called_missing() {
    let reason = |terminal, text: &str| one(terminal, text).unwrap_err();
    for (terminal, title, text) in [
        (Terminal::Kitty, "kitty", "font_sise 3"),
        (Terminal::Kitty, "kitty", "map f1 flyy"),
        (Terminal::Ghostty, "Ghostty", "font-sise = 3"),
        (Terminal::Ghostty, "Ghostty", "keybind = f1=flyy"),
        (Terminal::Alacritty, "Alacritty", "[font]\nsise = 3"),
        (Terminal::Wezterm, "WezTerm", "config.font_sise = 3"),
    ] {
        let expected = format!("the import does not know this name; is it one of {title}'s?");
        assert_eq!(reason(terminal, text), expected, "{text}");
    }
    let attach = "config.keys = { { key = 'F1', action = act.AttachDomain 'unix' } }";
    assert_eq!(reason(Terminal::Wezterm, attach), "start Unterm with --attach");
    assert_eq!(reason(Terminal::Kitty, "cursor_trail 3"), "Unterm has no such setting");
    assert_eq!(reason(Terminal::Kitty, "map f1 nth_window 3"), "Unterm has no such action");
}

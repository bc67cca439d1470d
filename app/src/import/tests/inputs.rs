//! Tests of settings and keys of each terminal: what they become, and why they are left out.

use super::{
    converted,
    counterparts::{become_settings, parts},
    home,
};
use crate::{
    config::parse::parse,
    import::{reasons::*, *},
};

/// Checks that each setting is left out as a whole, for a reason.
#[track_caller]
fn are_left_out(terminal: Terminal, rows: &[(&str, &str)]) {
    for (text, why) in rows {
        assert_eq!(parts(terminal, text), (String::new(), Some((*why).to_owned())), "{text}");
    }
}

/// Checks that each setting is converted in part: what it becomes, and the reason for the rest.
#[track_caller]
fn become_partly(terminal: Terminal, rows: &[(&str, &str, &str)]) {
    for (text, lines, why) in rows {
        let expected = ((*lines).to_owned(), Some((*why).to_owned()));
        assert_eq!(parts(terminal, text), expected, "{text}");
    }
}

/// A list of WezTerm with one key.
fn key(key: &str) -> String {
    format!("config.keys = {{ {{ {key} }} }}")
}

#[test]
fn keys_of_kitty_are_converted() {
    become_settings(
        Terminal::Kitty,
        &[
            ("map f1 scroll_to_prompt", r#"f1 = "previous_prompt""#),
            ("map f1 scroll_to_prompt -2", r#"f1 = ["previous_prompt", "previous_prompt"]"#),
            ("map f1 scroll_to_prompt 1 3", r#"f1 = "next_prompt""#),
            ("map f1 change_font_size all +2.0", r#"f1 = ["larger_font", "larger_font"]"#),
            ("map f1 change_font_size current -0.5", r#"f1 = "smaller_font""#),
            ("map f1 paste_selection", r#"f1 = "paste_primary""#),
            ("map f1 paste_selection_or_clipboard", r#"f1 = "paste_primary""#),
            (
                "map f1 launch --type=tab --tab-title=Logs --source-window=state:x tail -f log",
                r#"f1 = ["new_tab:tail", "set_tab_title:Logs"]; tail = { shell = "tail", args = ["-f", "log"] }"#,
            ),
            (
                "map f1 launch --stdin-source=@screen_scrollback --stdin-add-formatting --type=overlay less +G -R",
                r#"f1 = "show_history""#,
            ),
            (
                "map f1 launch --type=tab --stdin-source @last_cmd_output nvim -",
                r#"f1 = "show_output""#,
            ),
            (
                "map f1 launch --type=clipboard --stdin-source=@last_cmd_output",
                r#"f1 = "copy_output""#,
            ),
            ("map f1 launch --type=overlay", r#"f1 = "new_tab""#),
            ("map f1 launch --location=default", r#"f1 = "split_right""#),
            (
                "map f1 save_as_session --save-only ~/work.kitty-session",
                r#"f1 = "save_layout:work""#,
            ),
            ("map f1 goto_session", r#"f1 = "open_layout""#),
            ("map f1 detach_window new-tab-right", r#"f1 = "pane_to_new_tab""#),
            ("map f1 detach_window", r#"f1 = "pane_to_new_window""#),
            ("map f1 detach_window ask", r#"f1 = "pane_to_window""#),
            ("map f1 detach_tab", r#"f1 = "tab_to_new_window""#),
            ("map f1 detach_tab ask", r#"f1 = "tab_to_window""#),
            (
                "map f1 kitten hints --type regex --regex AB[0-9]+ --program @",
                r#"pattern-1 = { regex = "AB[0-9]+", action = "copy" }; f1 = "quick_select""#,
            ),
            (
                "map f1 kitten hints --type=regex --regex=tel:[0-9]+",
                r#"pattern-1 = { regex = "tel:[0-9]+", action = "open" }; f1 = "open_hint""#,
            ),
            (
                "map --new-mode mw --on-action end ctrl+w\nmap --mode mw h neighboring_window left\nmap --mode mw esc pop_keyboard_mode",
                r#""ctrl+w>h" = "focus_left""#,
            ),
            (
                "map --mode=mw l next_tab\nmap --new-mode=mw --on-unknown=end --on-action=end f1\nmap --new-mode mw --on-action end f2",
                r#""f1>l" = "next_tab"; "f2>l" = "next_tab""#,
            ),
            ("map ⌘+t new_tab", r#""super+t" = "new_tab""#),
            ("map f1 send_key f5", r#"f1 = 'send_text:\e[15~'"#),
            ("map f1 send_text normal,application,kitty x", r#"f1 = "send_text:x""#),
        ],
    );
    become_partly(
        Terminal::Kitty,
        &[
            (
                "map f1 combine : new_tab : next_layout : scroll_home",
                r#"f1 = ["new_tab", "scroll_to_top"]"#,
                "without next_layout: Unterm arranges panes in splits",
            ),
            (
                "map f1 launch --type=tab --hold --title x htop",
                r#"f1 = "new_tab:htop"; htop = { shell = "htop" }"#,
                "without --hold: Unterm has no such setting",
            ),
            (
                "notify_on_cmd_finish unfocused 10 command notify-send x",
                "long_commands = 10",
                "without command: Unterm has no such setting",
            ),
        ],
    );
    are_left_out(
        Terminal::Kitty,
        &[
            ("map f1 next_layout", NO_TILING.why),
            ("map f1 combine : no_op : next_layout", NO_TILING.why),
            (
                "action_alias a combine : a : a\nmap f1 a",
                r#"the import does not know the value "combine : a : a""#,
            ),
            ("map f1 scroll_to_prompt 0", NO_ACTION.why),
            ("map f1 scroll_to_prompt 20", WHOLE_STEPS.why),
            ("map f1 change_font_size all +20", NO_FONT_SIZE.why),
            ("map f1 goto_session ~/x", "save the tabs with save_layout, and bind open_layout"),
            ("map f1 launch --type=os-panel x", NO_ACTION.why),
            ("map f1 launch --location=before", NO_ACTION.why),
            ("map f1 launch --stdin-source=@selection --type=tab less", NO_PIPED_TEXT.why),
            ("map f1 launch --type=background --hold x", NO_BACKGROUND.why),
            ("map 0x61 new_tab", NO_SCAN_CODES.why),
            ("map f1 show_kitty_doc overview", NO_ACTION.why),
            ("map f1 close_shared_ssh_connections", NO_ACTION.why),
            ("map f1 copy_selection_or_last_command_output", NO_ACTION.why),
            ("map f1 kitten hints --type regex --regex x --program firefox", NO_HINT_PROGRAM.why),
            ("map --mode mw h new_tab", NO_MODES.why),
            ("map --new-mode mw f1", NO_MODES.why),
            ("map --new-mode mw --on-action end f1", NO_MODES.why),
            ("map --when-focus-on title:vim f1 new_tab", NO_MODES.why),
        ],
    );
}

#[test]
fn mouse_buttons_and_settings_of_kitty_are_converted() {
    become_settings(
        Terminal::Kitty,
        &[
            (
                "mouse_map ctrl+shift+right press ungrabbed mouse_select_command_output",
                r#""ctrl+shift+right" = "select_output""#,
            ),
            (
                "mouse_map alt+right press ungrabbed mouse_show_command_output",
                r#""alt+right" = "show_output""#,
            ),
            ("mouse_map middle release ungrabbed paste_selection", r#"middle = "paste_primary""#),
            ("mouse_map left press ungrabbed mouse_selection normal", ""),
            ("mouse_map left doublepress ungrabbed mouse_selection word", ""),
            ("mouse_map alt+ctrl+left press ungrabbed mouse_selection rectangle", ""),
            ("open_url_with default", ""),
            ("cursor_trail 0", ""),
            ("allow_hyperlinks y", ""),
            ("update_check_interval 0", ""),
        ],
    );
    are_left_out(
        Terminal::Kitty,
        &[
            ("mouse_map left doublepress ungrabbed mouse_selection line", NO_MULTIPLE_CLICKS.why),
            (
                "mouse_map ctrl+left press ungrabbed mouse_selection line_from_point",
                NO_SELECTING.why,
            ),
            ("auto_reload_config 0.1", RELOADS),
            ("bell_path /x.oga", BELL_COMMAND),
            ("allow_hyperlinks ask", NO_SETTING.why),
            ("map_timeout 1", NO_SETTING.why),
            ("remap_modifiers ctrl:super", NO_SETTING.why),
            ("tab_fade 1", NO_SETTING.why),
            ("custom_shaders x", NO_SETTING.why),
            ("window_drag_tolerance 3", NO_SETTING.why),
        ],
    );
    let home = home(&[("kitty.conf", "select_by_word_characters @-./_~?&=%+#\n")]);
    let converted = converted(Terminal::Kitty, &home, "kitty.conf");
    let config = parse(&converted.toml(), home.path()).unwrap();
    assert_eq!(config.mouse.word_separators, "!\"$'()*,:;<>[\\]^`{|}│");
}

#[test]
fn keys_and_settings_of_ghostty_are_converted() {
    become_settings(
        Terminal::Ghostty,
        &[
            ("keybind = f1=jump_to_prompt:2", r#"f1 = ["next_prompt", "next_prompt"]"#),
            ("keybind = f1=move_tab:-1", r#"f1 = "move_tab_left""#),
            ("keybind = f1=scroll_page_fractional:-1", r#"f1 = "scroll_page_up""#),
            ("keybind = f1=increase_font_size:2", r#"f1 = ["larger_font", "larger_font"]"#),
            ("keybind = f1=decrease_font_size:0.5", r#"f1 = "smaller_font""#),
            (
                "keybind = f1=copy_to_clipboard\nkeybind = chain=jump_to_prompt:-1",
                r#"f1 = ["copy", "previous_prompt"]"#,
            ),
            (
                "keybind = ctrl+x=activate_key_table_once:pane\nkeybind = pane/h=goto_split:left\nkeybind = pane/escape=deactivate_key_table",
                r#""ctrl+x>h" = "focus_left""#,
            ),
            ("keybind = ctrl+/=new_tab", r#""ctrl+/" = "new_tab""#),
            ("keybind = numpad_1=new_tab", r#"kp_1 = "new_tab""#),
            (
                "font-feature = calt off,cv02=3,ss01 on,-liga",
                r#"features = ["-calt", "cv02=3", "ss01", "-liga"]"#,
            ),
            (
                "command-palette-entry = title:Back,action:jump_to_prompt:-2",
                r#"Back = ["previous_prompt", "previous_prompt"]"#,
            ),
            ("mouse-scroll-multiplier = precision:1,discrete:3", "scroll_lines = 3"),
            ("clipboard-read = deny", ""),
            ("link-url = true", ""),
            ("wait-after-command = false", ""),
            ("working-directory = inherit", ""),
            ("title-report = false", ""),
            ("window-new-tab-position = current", ""),
            ("tab-inherit-working-directory = true", ""),
        ],
    );
    are_left_out(
        Terminal::Ghostty,
        &[
            ("title-report = true", TITLE_REPORTS),
            ("wait-after-command = true", HOLD),
            ("working-directory = /tmp", DIRECTORY),
            ("bell-audio-path = /x.oga", BELL_COMMAND),
            ("initial-window = false", "start Unterm with --headless"),
            ("clipboard-read = ask", NO_SETTING.why),
            ("key-remap = ctrl=super", NO_SETTING.why),
            ("palette-generate = true", NO_SETTING.why),
            ("scrollback-compression = true", NO_SETTING.why),
            ("keybind = global:f12=toggle_quick_terminal", DROP_DOWN_KEY),
            ("keybind = global:f12=new_window", NO_GLOBAL_KEYS.why),
            ("keybind = f1=scroll_page_fractional:0.5", WHOLE_STEPS.why),
            ("keybind = f1=jump_to_prompt:50", WHOLE_STEPS.why),
            ("keybind = f1=activate_key_table:pane", NO_MODES.why),
            ("keybind = pane/h=new_tab", NO_MODES.why),
            ("keybind = f1=set_window_title:x", NO_ACTION.why),
        ],
    );
}

#[test]
fn keys_and_settings_of_alacritty_are_converted() {
    become_settings(
        Terminal::Alacritty,
        &[
            (
                "[keyboard]\nbindings = [{ key = 'K', mods = 'Super', chars = '\u{2603}' }, { key = 'K', mods = 'Super', action = 'ClearHistory' }]",
                r#""super+k" = ["send_text:☃", "clear_history"]"#,
            ),
            (
                "[mouse]\nbindings = [{ mouse = 'Middle', action = 'ScrollToBottom' }, { mouse = 'Middle', action = 'PasteSelection' }]",
                r#"middle = ["scroll_to_bottom", "paste_primary"]"#,
            ),
            (
                "[keyboard]\nbindings = [{ key = 'F3', mode = '~Alt', action = 'ScrollPageUp' }]",
                r#"f3 = "scroll_page_up""#,
            ),
            (
                "[keyboard]\nbindings = [{ key = 'NumpadAdd', mods = 'Control', action = 'ScrollToTop' }]",
                r#""ctrl+kp_add" = "scroll_to_top""#,
            ),
            (
                "[hints]\nenabled = [{ regex = '(https://)\\S+', command = 'xdg-open', mouse = { enabled = true, mods = 'Control' }, binding = { key = 'O', mods = 'Control|Alt' } }]",
                r#""ctrl+alt+o" = "open_hint"; open_by = "ctrl_click""#,
            ),
            (
                "[hints]\nenabled = [{ hyperlinks = true, command = 'xdg-open', binding = { key = 'H', mods = 'Alt' } }]",
                r#""alt+h" = "open_hint""#,
            ),
            ("[terminal]\nosc52 = 'OnlyCopy'", ""),
            ("[window]\ndecorations = 'Full'\nresize_increments = false", ""),
            ("[colors]\ndraw_bold_text_with_bright_colors = false", ""),
        ],
    );
    become_partly(
        Terminal::Alacritty,
        &[("[hints]\nalphabet = 'jfk;da'", r#"alphabet = "jfkda""#, LETTERS)],
    );
    let vi = |action: &str| {
        format!("[keyboard]\nbindings = [{{ key = 'K', mode = 'Vi', action = '{action}' }}]")
    };
    are_left_out(
        Terminal::Alacritty,
        &[
            (&vi("Open"), NO_COMMAND.why),
            (&vi("CenterAroundViCursor"), NO_COMMAND.why),
            (&vi("Paste"), NO_COMMAND.why),
            ("[keyboard]\nbindings = [{ key = 'K', mode = 'Vi', chars = 'x' }]", NO_COMMAND.why),
            (
                "[keyboard]\nbindings = [{ key = 'K', mode = '~Alt', action = 'Copy' }]",
                NO_MODES.why,
            ),
            (
                "[keyboard]\nbindings = [{ key = 'K', mode = 'Search', action = 'SearchClear' }]",
                NO_MODES.why,
            ),
            ("[keyboard]\nbindings = [{ key = 'K', action = 'CopySelection' }]", NO_ACTION.why),
            ("[hints]\nenabled = [{ regex = 'x', action = 'Select' }]", NO_ACTION.why),
            ("[debug]\nrenderer = 'gles2'", PAINTER),
            ("[debug]\nlog_level = 'Warn'", NO_SETTING.why),
            ("[terminal]\nosc52 = 'CopyPaste'", NO_SETTING.why),
            ("[general]\nworking_directory = '/tmp'", DIRECTORY),
            ("[window]\nclass = { general = 'x' }", CLASS),
        ],
    );
}

#[test]
fn keys_of_wezterm_are_converted() {
    for (text, expected) in [
        (
            "key = 'phys:F', mods = 'CTRL', action = act.ToggleFullScreen",
            r#""ctrl+f" = "fullscreen""#,
        ),
        ("key = 'mapped:F', mods = 'CTRL', action = act.Copy", r#""ctrl+shift+f" = "copy""#),
        (
            "key = 'phys:K1', mods = 'ALT', action = act.ActivateTab(0)",
            r#""alt+1" = "activate_tab:1""#,
        ),
        (
            "key = 'phys:KeypadAdd', mods = 'CTRL', action = act.IncreaseFontSize",
            r#""ctrl+kp_add" = "larger_font""#,
        ),
        ("key = 'phys:Quote', action = act.Copy", r#""'" = "copy""#),
        ("key = 'F24', action = act.ToggleFullScreen", r#"f24 = "fullscreen""#),
        ("key = 'F1', action = act.ActivateTabRelative(2)", r#"f1 = ["next_tab", "next_tab"]"#),
        ("key = 'F1', action = act.MoveTabRelative(-1)", r#"f1 = "move_tab_left""#),
        (
            "key = 'F1', action = act.ScrollByPage(-2)",
            r#"f1 = ["scroll_page_up", "scroll_page_up"]"#,
        ),
        ("key = 'F1', action = act.ScrollToPrompt(1)", r#"f1 = "next_prompt""#),
        (
            "key = 'F1', action = act.ShowLauncherArgs { flags = 'FUZZY|TABS' }",
            r#"f1 = "choose_tab""#,
        ),
        (
            "key = 'F1', action = act.ShowLauncherArgs { flags = 'COMMANDS' }",
            r#"f1 = "command_palette""#,
        ),
        (
            "key = 'F1', action = act.ShowLauncherArgs { flags = 'TABS|COMMANDS' }",
            r#"f1 = "launcher""#,
        ),
        (
            "key = 'F1', action = act.QuickSelectArgs { patterns = { 'AB[0-9]' } }",
            r#"pattern-1 = { regex = "AB[0-9]", action = "copy" }; f1 = "quick_select""#,
        ),
        ("key = 'F1', action = act.SendKey { key = 'F5' }", r#"f1 = 'send_text:\e[15~'"#),
        ("key = 'F1', action = act.SendKey { key = '!' }", r#"f1 = "send_text:!""#),
        (
            "key = 'F1', action = act.Multiple { act.ScrollToTop, act.ScrollByPage(2) }",
            r#"f1 = ["scroll_to_top", "scroll_page_down", "scroll_page_down"]"#,
        ),
    ] {
        become_settings(Terminal::Wezterm, &[(&key(text), expected)]);
    }
    become_settings(
        Terminal::Wezterm,
        &[
            (
                "config.keys = { { key = 'w', mods = 'CTRL', action = act.ActivateKeyTable { name = 'pane' } } }\n\
                 config.key_tables = { pane = { { key = 'h', action = act.ActivatePaneDirection 'Left' }, { key = 'Escape', action = 'PopKeyTable' } } }",
                r#""ctrl+w>h" = "focus_left""#,
            ),
            (
                "config.mouse_bindings = { { event = { Down = { streak = 2, button = 'Left' } }, action = act.SelectTextAtMouseCursor 'Word' } }",
                "",
            ),
        ],
    );
    become_partly(
        Terminal::Wezterm,
        &[(
            &key("key = 'F1', action = act.Multiple { act.ScrollToTop, act.ActivateLastTab }"),
            r#"f1 = "scroll_to_top""#,
            "without ActivateLastTab: Unterm has no such action",
        )],
    );
    for (text, why) in [
        ("key = 'raw:123', action = act.Copy", NO_SCAN_CODES.why),
        ("key = 'F1', action = act.OpenUri 'https://x.org'", NO_ACTION.why),
        ("key = 'F1', action = act.ScrollByPage(0.5)", WHOLE_STEPS.why),
        ("key = 'F1', action = act.ActivateTabRelative(30)", WHOLE_STEPS.why),
        (
            "key = 'F1', action = act.ActivateKeyTable { name = 'x', one_shot = false }",
            NO_MODES.why,
        ),
        ("key = 'F1', action = act.ActivateKeyTable { name = 'x' }", NO_MODES.why),
        ("key = 'F1', action = act.ShowLauncherArgs { flags = 'FUZZY|WORKSPACES' }", NO_ACTION.why),
        ("key = 'F1', action = act.QuickSelectArgs { action = act.Copy }", PATTERNS),
    ] {
        are_left_out(Terminal::Wezterm, &[(&key(text), why)]);
    }
}

#[test]
fn copy_mode_of_wezterm_is_converted() {
    let key = |action: &str| {
        format!("config.key_tables = {{ copy_mode = {{ {{ key = 'x', action = {action} }} }} }}")
    };
    for (action, command) in [
        ("act.CopyMode { SetSelectionMode = 'Cell' }", "select"),
        ("act.CopyMode { SetSelectionMode = 'Block' }", "select_block"),
        ("act.CopyMode { MoveByPage = 0.5 }", "half_page_down"),
        ("act.CopyMode { MoveByPage = -0.5 }", "half_page_up"),
        ("act.CopyMode { JumpForward = { prev_char = false } }", "find"),
        ("act.CopyMode { JumpBackward = { prev_char = true } }", "till_back"),
        ("act.CopyMode { MoveForwardZoneOfType = 'Prompt' }", "prompt_forward"),
        ("act.CopyMode 'EditPattern'", "search_forward"),
        ("act.CopyTo 'Clipboard'", "yank"),
        (
            "act.Multiple { { CopyTo = 'ClipboardAndPrimarySelection' }, { CopyMode = 'Close' } }",
            "yank",
        ),
        ("act.Multiple { act.CopyTo 'Clipboard', act.CopyMode 'Close' }", "yank"),
        ("act.Multiple { 'ScrollToBottom', act.CopyMode 'Close' }", "leave"),
        ("act.Nop", "none"),
    ] {
        let expected = format!("x = \"{command}\"");
        become_settings(Terminal::Wezterm, &[(&key(action), &expected)]);
    }
    for action in [
        "act.CopyMode { SetSelectionMode = 'Word' }",
        "act.CopyMode { MoveForwardZoneOfType = 'Output' }",
        "act.CopyMode 'ClearPattern'",
        "act.CopyMode 'MoveToStartOfNextLine'",
        "act.SpawnWindow",
    ] {
        are_left_out(Terminal::Wezterm, &[(&key(action), NO_COMMAND.why)]);
    }
}

#[test]
fn settings_of_wezterm_are_converted() {
    become_settings(
        Terminal::Wezterm,
        &[
            (
                "config.font_rules = { { intensity = 'Bold', italic = false, font = wezterm.font('Fira Code') }, \
                 { italic = true, font = wezterm.font { family = 'Victor Mono', style = 'Italic' } } }",
                r#"bold = ["Fira Code"]; italic = ["Victor Mono"]; bold_italic = ["Victor Mono"]"#,
            ),
            (
                "config.font = wezterm.font { family = 'Iosevka', harfbuzz_features = { 'calt=0' } }",
                r#"family = ["Iosevka"]; features = ["-calt"]"#,
            ),
            ("config.hyperlink_rules = wezterm.default_hyperlink_rules()", ""),
            (
                "config.hyperlink_rules = wezterm.default_hyperlink_rules()\n\
                 table.insert(config.hyperlink_rules, { regex = 'tel:[0-9]+', format = '$0' })",
                r#"pattern-1 = { regex = "tel:[0-9]+", action = "open" }"#,
            ),
            (r"config.hyperlink_rules = { { regex = '\\b\\w+://\\S+', format = '$0' } }", ""),
            (r"config.hyperlink_rules = { { regex = '\\w+@\\w+', format = 'mailto:$0' } }", ""),
            (
                "config.launch_menu = { { label = 'Top', args = { 'top' } }, { args = { 'htop' } } }",
                r#"Top = "new_tab:top"; top = { shell = "top" }; htop = { shell = "htop" }"#,
            ),
            ("config.notification_handling = 'NeverShow'", "programs = false"),
            ("config.use_ime = true", ""),
            ("config.bold_brightens_ansi_colors = false", ""),
        ],
    );
    are_left_out(
        Terminal::Wezterm,
        &[
            ("config.keys = require('keys')", COMPUTED),
            ("config.color_scheme = scheme_for(appearance)", COMPUTED),
            ("config.colors = require('colors').dark", COMPUTED),
            ("config.front_end = 'Software'", PAINTER),
            ("config.webgpu_power_preference = 'LowPower'", PAINTER),
            ("config.default_cwd = '/tmp'", DIRECTORY),
            ("config.exit_behavior = 'Hold'", HOLD),
            ("config.exit_behavior = 'CloseOnCleanExit'", NO_SETTING.why),
            ("config.enable_title_reporting = true", TITLE_REPORTS),
            ("config.ssh_domains = { { name = 'x' } }", "open a host with `unterm-cli ssh HOST`"),
            ("config.notification_handling = 'SuppressFromFocusedTab'", NO_NOTIFICATION_FOCUS.why),
            (
                "config.hyperlink_rules = { { regex = 'T([0-9]+)', format = 'https://x.org/$1' } }",
                NO_LINK_FORMAT.why,
            ),
            (
                "config.font_rules = { { intensity = 'Half', font = wezterm.font 'X' } }",
                NO_FONT_RULES.why,
            ),
            (
                "config.font_rules = { { underline = 'Single', font = wezterm.font 'X' } }",
                NO_FONT_RULES.why,
            ),
            ("config.enq_answerback = 'x'", NO_SETTING.why),
            ("config.shape_cache_size = 10", NO_SETTING.why),
            ("config.use_ime = false", NO_SETTING.why),
        ],
    );
}

#[test]
fn a_color_scheme_that_the_file_defines_becomes_the_theme() {
    let text = "local c = {}\nc.colors = { background = '#010101' }\nc.color_scheme = 'Mine'\n\
                c.color_schemes = {\n  Mine = { background = '#020202', foreground = '#030303' },\n  Other = {},\n}\nreturn c\n";
    let home = home(&[("wezterm.lua", text)]);
    let converted = converted(Terminal::Wezterm, &home, "wezterm.lua");
    let Some(ImportedTheme::Own(theme)) = converted.theme else { panic!("{:?}", converted.theme) };
    assert_eq!(theme.palette.background, unterm_term::Rgb::hex(0x01_0101));
    assert_eq!(theme.palette.foreground, unterm_term::Rgb::hex(0x03_0303));
    let left: Vec<_> = converted.left_out.iter().map(|left| (left.line, &*left.setting)).collect();
    assert_eq!(left, [(6, "color_schemes.Other")]);
}

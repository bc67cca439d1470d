mod counterparts;
mod inputs;

use std::fs;

use expect_test::{Expect, expect};

use super::*;
use crate::config::parse::parse;

/// A home directory that contains these files.
fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = home.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    home
}

fn converted(terminal: Terminal, home: &tempfile::TempDir, file: &str) -> Converted {
    let homes = Homes { user: home.path(), unterm: home.path() };
    convert(terminal, &home.path().join(file), homes).unwrap()
}

/// Checks the result of a conversion: the settings, the theme, and the settings that were left out, as text.
#[track_caller]
fn check(terminal: Terminal, files: &[(&str, &str)], expected: Expect) {
    let home = home(files);
    let converted = converted(terminal, &home, files[0].0);
    let mut text = converted.toml();
    let config = parse(&text, home.path()).unwrap();
    assert!(config.shell_error().is_none());
    match &converted.theme {
        None => {}
        Some(ImportedTheme::Own(theme)) => {
            text.push_str(&format!("\n-- theme\n{}", theme.to_toml()))
        }
        Some(theme) => text.push_str(&format!("\n-- {theme:?}\n")),
    }
    text.push_str("\n-- left out\n");
    for left in &converted.left_out {
        let file = left.file.strip_prefix(home.path()).unwrap().display();
        text.push_str(&format!("{file}:{}: {}: {}\n", left.line, left.setting, left.why));
    }
    expected.assert_eq(&text);
}

#[test]
fn kitty() {
    let main = r#"# vim:ft=kitty
include themes/current-theme.conf
font_family      JetBrains Mono
bold_font        JetBrains Mono Bold
italic_font      Victor Mono Italic
font_size 13.0
disable_ligatures cursor
font_features JetBrainsMono-Regular +zero -calt
symbol_map U+E0A0-U+E0A3,U+E0C0-U+E0C7 Symbols Nerd Font Mono
modify_font cell_height 110%
modify_font baseline 3
cursor_shape beam
cursor_blink_interval 0
cursor_trail 3
scrollback_lines 20000
scrollback_pager less -R
mouse_hide_wait -1
copy_on_select yes
strip_trailing_spaces smart
enable_audio_bell no
visual_bell_duration 0.1
bell_on_tab ""
command_on_bell paplay "my bell.oga"
remember_window_size  no
initial_window_width  100c
initial_window_height 640
window_padding_width 6
inactive_text_alpha 0.8
background_opacity 0.92
background_blur 20
confirm_os_window_close 0
tab_bar_edge top
tab_bar_style powerline
tab_bar_min_tabs 1
shell /bin/sh -l
env EDITOR=nvim
env PATH=/opt/bin:$PATH
allow_remote_control socket-only
notify_on_cmd_finish unfocused 20
term xterm-kitty
map kitty_mod+t new_tab_with_cwd
map kitty_mod+enter launch --location=vsplit --cwd=current
map kitty_mod+minus launch --location=hsplit
map ctrl+left neighboring_window left
map ctrl+shift+[ previous_window
map ctrl+1 goto_tab 1
map kitty_mod+0 change_font_size all 0
map kitty_mod+plus change_font_size all +1.0
map f1 launch --type=tab htop
map ctrl+a>c new_tab
map --when-focus-on title:nvim ctrl+j send_key ctrl+j
map ctrl+alt+h send_text all Hello\x1b[A\r
map ctrl+shift+w no_op
map ctrl+shift+f5 load_config_file
map kitty_mod+f3 combine : new_tab : next_layout
map kitty_mod+e kitten hints
    \ --type word
mouse_map left click ungrabbed mouse_handle_click
"#;
    let theme = "background #002b36\nforeground #839496\nselection_foreground none\ncolor0 #073642\ncolor1 red\n\
                 color16 #111111\ncolor2 greenish\n";
    check(
        Terminal::Kitty,
        &[("kitty.conf", main), ("themes/current-theme.conf", theme)],
        expect![[r##"
            [bell]
            audible = false
            visual = true
            mark = true
            command = ["paplay", "my bell.oga"]

            [cursor]
            shape = "bar"
            blink = false

            [env]
            EDITOR = "nvim"

            [font]
            family = ["JetBrains Mono"]
            italic = ["Victor Mono"]
            size = 13
            ligatures = "cursor"
            features = ["+zero", "-calt"]
            symbol_map = { "U+E0A0-U+E0A3,U+E0C0-U+E0C7" = "Symbols Nerd Font Mono" }
            adjust_cell_height = "10%"
            adjust_baseline = "4px"

            [keys]
            "ctrl+shift+enter" = "split_right"
            "ctrl+shift+-" = "split_down"
            "ctrl+left" = "focus_left"
            "ctrl+shift+[" = "previous_pane"
            "ctrl+1" = "activate_tab:1"
            "ctrl+shift+0" = "reset_font"
            f1 = "new_tab:htop"
            "ctrl+a>c" = "new_tab"
            "ctrl+alt+h" = 'send_text:Hello\e[A\r'
            "ctrl+shift+w" = "none"
            "ctrl+shift+f3" = "new_tab"

            [links]
            open_by = "ctrl_click"

            [mouse]
            hide_while_typing = true
            copy_on_select = "clipboard"
            trim_copied = true

            [notifications]
            long_commands = 20

            [profile]
            htop = { shell = "htop" }

            [scrollback]
            lines = 20000
            pager = "less -R"

            [shell]
            program = "/bin/sh"
            args = ["-l"]

            [tab_bar]
            position = "top"
            show = "always"

            [window]
            restore = false
            columns = 100
            padding = 8
            dim_unfocused = 0.2
            opacity = 0.92
            blur = true
            confirm_close = "never"

            -- theme
            name = "kitty"
            foreground = "#839496"
            background = "#002b36"
            cursor = "#cccccc"
            cursor_text = "#111111"
            selection = "#fffacd"
            colors = [
                "#073642", "#ff0000", "#19cb00", "#cecb00", "#0d73cc", "#cb1ed1", "#0dcdcd", "#dddddd",
                "#767676", "#f2201f", "#23fd00", "#fffd00", "#1a8fff", "#fd28ff", "#14ffff", "#ffffff",
            ]

            -- left out
            themes/current-theme.conf:6: color16: a theme of Unterm has sixteen colors
            themes/current-theme.conf:7: color2: "greenish" is no color that Unterm reads
            kitty.conf:14: cursor_trail: Unterm has no such setting
            kitty.conf:26: initial_window_height: it is in pixels; Unterm's size is in columns and rows
            kitty.conf:33: tab_bar_style: Unterm has no such setting
            kitty.conf:37: env: Unterm does not replace variables in a value
            kitty.conf:38: allow_remote_control: Unterm's control port is always on, for your user only
            kitty.conf:40: term: Unterm's own names are xterm-256color and unterm; see shell.term
            kitty.conf:51: map --when-focus-on title:nvim ctrl+j send_key ctrl+j: Unterm's keys have no conditions and modes
            kitty.conf:54: map ctrl+shift+f5 load_config_file: Unterm applies changes as soon as the file is saved
            kitty.conf:55: map kitty_mod+f3 combine : new_tab : next_layout: without next_layout: Unterm arranges panes in splits
            kitty.conf:56: map kitty_mod+e kitten hints --type word: write the pattern in [hint_patterns], and bind quick_select
        "##]],
    );
}

#[test]
fn alacritty() {
    let main = r##"import = ["~/colors.toml", "missing.toml"]

[general]
live_config_reload = true

[env]
TERM = "xterm-256color"
LANG = "en_US.UTF-8"

[window]
dimensions = { columns = 140, lines = 40 }
padding = { x = 6, y = 8 }
opacity = 0.9
blur = true
decorations = "None"
startup_mode = "Maximized"

[scrolling]
history = 50000
multiplier = 5

[font]
normal = { family = "Iosevka", style = "Regular" }
bold = { family = "Iosevka Term", style = "Heavy" }
size = 11.25
offset = { x = 0, y = 1 }

[colors.primary]
background = "#010101"

[colors.cursor]
text = "CellBackground"
cursor = "#ff00ff"

[bell]
duration = 100
command = { program = "paplay", args = ["bell.oga"] }

[selection]
semantic_escape_chars = ",│`|:\"' ()[]{}<>\t"
save_to_clipboard = true

[cursor]
style = { shape = "Beam", blinking = "On" }
thickness = 0.2

[terminal]
shell = { program = "/bin/sh", args = ["-l"] }
osc52 = "CopyPaste"

[mouse]
hide_when_typing = true

[hints]
alphabet = "jfkdls;ahgurieowpq"

[keyboard]
bindings = [
  { key = "N", mods = "Control|Shift", action = "SpawnNewInstance" },
  { key = "Return", mods = "Super", action = "ToggleFullscreen" },
  { key = "Space", mods = "Shift|Control", mode = "~Search", action = "ToggleViMode" },
  { key = "Up", mods = "Control", mode = "Vi", action = "ScrollLineUp" },
  { key = "T", mods = "Control", chars = "\u0002c" },
  { key = "Q", mods = "Command", action = "Quit" },
  { key = "F2", command = { program = "firefox" } },
  { key = 24, mods = "Control", action = "Copy" },
  { key = "V", mods = "Control|Shift", action = "None" },
]
"##;
    let colors = "[colors.primary]\nforeground = '#c0ffee'\nbackground = '#202020'\n[colors.normal]\nred = '0xff0000'\n\
                  [colors.bright]\nwhite = '#ffffff'\n[colors.dim]\nred = '#770000'\n";
    check(
        Terminal::Alacritty,
        &[("alacritty.toml", main), ("colors.toml", colors)],
        expect![[r##"
            [bell]
            visual = true
            command = ["paplay", "bell.oga"]

            [copy_mode_keys]
            "ctrl+up" = "scroll_up"

            [cursor]
            shape = "bar"
            blink = true

            [env]
            LANG = "en_US.UTF-8"

            [font]
            family = ["Iosevka"]
            bold = ["Iosevka Term"]
            size = 11.25
            adjust_cell_height = "1px"

            [hints]
            alphabet = "jfkdlsahgurieowpq"

            [keys]
            "super+enter" = "fullscreen"
            "ctrl+shift+space" = "copy_mode"
            "ctrl+t" = 'send_text:\u{2}c'
            "super+q" = "close_window"
            "ctrl+shift+v" = "send_text:"

            [mouse]
            scroll_lines = 5
            word_separators = """,│`|:"'()[]{}<>"""
            copy_on_select = "clipboard"
            hide_while_typing = true

            [scrollback]
            lines = 50000

            [shell]
            program = "/bin/sh"
            args = ["-l"]

            [window]
            columns = 140
            rows = 40
            padding = 6
            opacity = 0.9
            blur = true
            start = "maximized"

            -- theme
            name = "alacritty"
            foreground = "#c0ffee"
            background = "#010101"
            cursor = "#ff00ff"
            colors = [
                "#181818", "#ff0000", "#90a959", "#f4bf75", "#6a9fb5", "#aa759f", "#75b5aa", "#d8d8d8",
                "#6b6b6b", "#c55555", "#aac474", "#feca88", "#82b8c8", "#c28cb8", "#93d3c3", "#ffffff",
            ]

            -- left out
            colors.toml:9: colors.dim.red: Unterm has no such setting
            alacritty.toml:1: import missing.toml: No such file or directory (os error 2)
            alacritty.toml:4: general.live_config_reload: Unterm applies changes as soon as the file is saved
            alacritty.toml:7: env.TERM: Unterm's own names are xterm-256color and unterm; see shell.term
            alacritty.toml:12: window.padding.y: Unterm has one padding for all sides; it uses the horizontal one
            alacritty.toml:15: window.decorations: Unterm has no such setting
            alacritty.toml:24: font.bold.style: Unterm chooses the weight and the slant itself
            alacritty.toml:45: cursor.thickness: Unterm has no such setting
            alacritty.toml:49: terminal.osc52: Unterm has no such setting
            alacritty.toml:55: hints.alphabet: only its lower-case letters are converted, each once
            alacritty.toml:65: key F2: Unterm has no action that starts a program outside a tab
            alacritty.toml:66: keyboard.bindings: it has no key by name; Unterm binds no scan codes
        "##]],
    );
}

#[test]
fn ghostty() {
    let main = r##"# Ghostty
config-file = ?local
config-file = "keys"
config-file = gone
font-family = ""
font-family = "Berkeley Mono"
font-family = Noto Color Emoji
font-size = 14
font-feature = -calt, -liga
font-codepoint-map = U+E0A0-U+E0D4=Symbols Nerd Font Mono
adjust-cell-height = 10%
adjust-underline-position = 1
theme = Mine
background = 1e1e2e
cursor-color = cell-foreground
palette = 1=#ff5555
palette = 200=#ffffff
cursor-style = bar
cursor-style-blink = false
mouse-hide-while-typing = true
mouse-scroll-multiplier = precision:1,discrete:3
background-opacity = 0.95
background-blur = true
unfocused-split-opacity = 0.6
command = /bin/sh -c "exec sh"
env = FOO=bar
notify-on-command-finish = unfocused
notify-on-command-finish-after = 1m 30s
scrollback-limit = 10000000
window-padding-x = 6,6
window-padding-y = 3
window-width = 120
window-height = 34
window-save-state = never
maximize = true
window-show-tab-bar = auto
gtk-tabs-location = bottom
gtk-titlebar = false
copy-on-select = clipboard
clipboard-paste-protection = false
right-click-action = paste
confirm-close-surface = false
quick-terminal-size = 40%
shell-integration = none
bell-features = audio,no-title,no-attention
custom-shader = crt.glsl
"##;
    let keys = "keybind = ctrl+h=goto_split:left\nkeybind = ctrl+shift+e=new_split:down\nkeybind = ctrl+a>n=new_tab\n\
                keybind = global:ctrl+grave_accent=toggle_quick_terminal\nkeybind = ctrl+plus=increase_font_size:2\n\
                keybind = ctrl+==increase_font_size:1\nkeybind = alt+digit_1=goto_tab:1\nkeybind = super+k=text:\\x0c\n\
                keybind = alt+left=esc:b\nkeybind = ctrl+shift+comma=reload_config\nkeybind = ctrl+shift+t=unbind\n\
                keybind = ctrl+q=crash:main\nconfig-file = config\n";
    let theme = "palette = 0=#000001\nbackground = #111111\nforeground = #eeeeee\nfont-size = 99\n";
    check(
        Terminal::Ghostty,
        &[("config", main), ("keys", keys), ("themes/Mine", theme)],
        expect![[r##"
            [bell]
            audible = true
            mark = false
            attention = false

            [cursor]
            shape = "bar"
            blink = false

            [env]
            FOO = "bar"

            [font]
            family = ["Berkeley Mono", "Noto Color Emoji"]
            size = 14
            features = ["-calt", "-liga"]
            symbol_map = { "U+E0A0-U+E0D4" = "Symbols Nerd Font Mono" }
            adjust_cell_height = "10%"
            adjust_underline_position = "1px"

            [keys]
            "ctrl+h" = "focus_left"
            "ctrl+shift+e" = "split_down"
            "ctrl+a>n" = "new_tab"
            "ctrl+plus" = ["larger_font", "larger_font"]
            "alt+1" = "activate_tab:1"
            "super+k" = 'send_text:\u{c}'
            "alt+left" = 'send_text:\eb'
            "ctrl+shift+t" = "none"

            [mouse]
            hide_while_typing = true
            scroll_lines = 3
            copy_on_select = "clipboard"
            right_button = "paste"

            [notifications]
            long_commands = 90

            [paste]
            confirm = "never"

            [shell]
            program = "/bin/sh"
            args = ["-c", "exec sh"]
            integration = false

            [tab_bar]
            show = "several"
            position = "bottom"

            [window]
            opacity = 0.95
            blur = true
            dim_unfocused = 0.4
            padding = 8
            columns = 120
            rows = 34
            restore = false
            start = "maximized"
            confirm_close = "never"
            quake_height = 0.4

            -- theme
            name = "ghostty"
            foreground = "#eeeeee"
            background = "#1e1e2e"
            colors = [
                "#000001", "#ff5555", "#b5bd68", "#f0c674", "#81a2be", "#b294bb", "#8abeb7", "#c5c8c6",
                "#666666", "#d54e53", "#b9ca4a", "#e7c547", "#7aa6da", "#c397d8", "#70c0b1", "#eaeaea",
            ]

            -- left out
            config:4: config-file gone: No such file or directory (os error 2)
            config:17: palette 200=#ffffff: a theme of Unterm has sixteen colors
            config:29: scrollback-limit: it is in bytes; set scrollback.lines
            config:31: window-padding-y: Unterm has one padding for all sides; it uses the horizontal one
            config:38: gtk-titlebar: Unterm has no such setting
            config:46: custom-shader: Unterm has no such setting
            keys:4: keybind global:ctrl+grave_accent=toggle_quick_terminal: bind `unterm --quake` to the key in the settings of the desktop
            keys:10: keybind ctrl+shift+comma=reload_config: Unterm applies changes as soon as the file is saved
            keys:12: keybind ctrl+q=crash:main: Unterm has no such action
        "##]],
    );
}

#[test]
fn wezterm() {
    let main = r##"local wezterm = require 'wezterm'
local act = wezterm.action
local config = wezterm.config_builder()

-- looks
config.color_scheme = 'Catppuccin Mocha'
config.font = wezterm.font_with_fallback { 'Fira Code', { family = 'Noto Sans Mono', weight = 'Bold' } }
config.font_size = 12.5
config.line_height = 1.1
config.harfbuzz_features = { 'calt=0', 'ss01=1', 'cv02=3' }
config.window_background_opacity = is_dark and 0.9 or 1.0
config.inactive_pane_hsb = { saturation = 0.9, brightness = 0.75 }
config.window_padding = { left = 4, right = 4, top = '4px', bottom = '1cell' }
config.hide_tab_bar_if_only_one_tab = true
config.tab_bar_at_bottom = true
config.use_fancy_tab_bar = false
config.default_cursor_style = 'BlinkingBar'
config.audible_bell = 'Disabled'
config.visual_bell = { fade_in_duration_ms = 75, fade_out_duration_ms = 75 }
config.scrollback_lines = 20000
config.enable_scroll_bar = true
config.initial_cols, config.initial_rows = 120, 40
config.initial_rows = 40
config.window_close_confirmation = 'NeverPrompt'
config.default_prog = { '/bin/sh', '-l' }
config.set_environment_variables = { FOO = 'bar', PATH = wezterm.home_dir .. '/bin' }

if wezterm.target_triple:find('windows') then
  config.default_prog = { 'pwsh.exe' }
end

config.leader = { key = 'a', mods = 'CTRL', timeout_milliseconds = 1000 }
config.keys = {
  { key = 'd', mods = 'ALT', action = act.SplitHorizontal { domain = 'CurrentPaneDomain' } },
  { key = 'D', mods = 'ALT', action = wezterm.action{SplitVertical={domain='CurrentPaneDomain'}} },
  { key = 't', mods = 'CTRL|SHIFT', action = act.SpawnTab 'CurrentPaneDomain' },
  { key = '1', mods = 'ALT', action = act.ActivateTab(0) },
  { key = 'LeftArrow', mods = 'ALT|SHIFT', action = act.AdjustPaneSize { 'Left', 5 } },
  { key = 'c', mods = 'LEADER', action = act.SpawnTab 'CurrentPaneDomain' },
  { key = 'k', mods = 'CMD', action = act.SendString '\x0c' },
  { key = 'r', mods = 'CTRL', action = wezterm.action_callback(function(win, pane) win:toast() end) },
  { key = 'F9', action = act.DisableDefaultAssignment },
  { key = 'Enter', mods = 'ALT', action = 'DisableDefaultAssignment' },
  { key = 'PageUp', mods = 'CTRL', action = act.ActivateTabRelative(-1) },
}
for i = 1, 8 do
  table.insert(config.keys, { key = tostring(i), mods = 'CTRL', action = act.ActivateTab(i - 1) })
end
table.insert(config.keys, { key = 'f', mods = 'ALT', action = act.Search { CaseSensitiveString = '' } })

wezterm.on('gui-startup', function(cmd) wezterm.mux.spawn_window(cmd or {}) end)
return config
"##;
    check(
        Terminal::Wezterm,
        &[("wezterm.lua", main)],
        expect![[r#"
            [bell]
            audible = false
            visual = true

            [cursor]
            shape = "bar"
            blink = true

            [env]
            FOO = "bar"

            [font]
            family = ["Fira Code", "Noto Sans Mono"]
            size = 12.5
            adjust_cell_height = "10%"
            features = ["-calt", "ss01", "cv02=3"]

            [keys]
            leader = "ctrl+a"
            "alt+d" = "split_right"
            "alt+shift+d" = "split_down"
            "alt+1" = "activate_tab:1"
            "alt+shift+left" = "resize_left"
            "leader>c" = "new_tab"
            "super+k" = 'send_text:\u{c}'
            "ctrl+page_up" = "previous_tab"
            "alt+f" = "search"

            [scrollback]
            lines = 20000

            [scrollbar]
            show = "always"

            [shell]
            program = "/bin/sh"
            args = ["-l"]

            [tab_bar]
            show = "several"
            position = "bottom"

            [window]
            dim_unfocused = 0.25
            padding = 4
            columns = 120
            rows = 40
            confirm_close = "never"

            -- Known("catppuccin-mocha")

            -- left out
            wezterm.lua:7: font: Unterm chooses the weight and the slant itself
            wezterm.lua:11: window_background_opacity: Lua computes it; the import reads only literals
            wezterm.lua:12: inactive_pane_hsb.saturation: Unterm has no such setting
            wezterm.lua:13: window_padding.bottom: Unterm's padding is in pixels
            wezterm.lua:16: use_fancy_tab_bar: Unterm has no such setting
            wezterm.lua:26: set_environment_variables.PATH: Lua computes it; the import reads only literals
            wezterm.lua:28: if …: the import reads only literals, and runs no Lua
            wezterm.lua:41: key CTRL+r: Lua computes it; the import reads only literals
            wezterm.lua:46: for …: the import reads only literals, and runs no Lua
            wezterm.lua:51: wezterm.on(…): the import reads only literals, and runs no Lua
        "#]],
    );
    let colors = "local w = require 'wezterm'\nlocal red = '#ff0000'\nreturn {\n  colors = {\n    foreground = 'silver',\n\
                  background = '#000',\n    ansi = { '#111111', red, 'lime' },\n    tab_bar = { background = '#222222' },\n  },\n\
                  font = w.font('Iosevka', { weight = 'Bold' }),\n}\n";
    check(
        Terminal::Wezterm,
        &[("colors.lua", colors)],
        expect![[r##"
            [font]
            family = ["Iosevka"]

            -- theme
            name = "wezterm"
            foreground = "#c0c0c0"
            background = "#000000"
            cursor = "#52ad70"
            cursor_text = "#000000"
            colors = [
                "#111111", "#ff0000", "#00ff00", "#cdcd55", "#5455cb", "#cc55cc", "#7acaca", "#cccccc",
                "#555555", "#ff5555", "#55ff55", "#ffff55", "#5555ff", "#ff55ff", "#55ffff", "#ffffff",
            ]

            -- left out
            colors.lua:8: colors.tab_bar: Unterm has no such setting
            colors.lua:10: font: Unterm chooses the weight and the slant itself
        "##]],
    );
}

#[test]
fn a_theme_that_unterm_has_is_chosen_by_its_name() {
    let nord = theme_text("nord");
    let pairs = [
        ("theme = Nord", Some(ImportedTheme::Known("nord".into()))),
        ("theme = TokyoNight Night", Some(ImportedTheme::Known("tokyo-night".into()))),
        (
            "theme = light:Rose Pine Dawn,dark:rose-pine",
            Some(ImportedTheme::Pair { light: "rose-pine-dawn".into(), dark: "rose-pine".into() }),
        ),
        ("theme = Nowhere", None),
        (nord.as_str(), Some(ImportedTheme::Known("nord".into()))),
        ("theme = nord\nbackground = #2e3440", Some(ImportedTheme::Known("nord".into()))),
    ];
    for (text, expected) in pairs {
        let home = home(&[("config", text)]);
        let converted = converted(Terminal::Ghostty, &home, "config");
        assert_eq!(converted.theme, expected, "{text}");
        assert_eq!(converted.left_out.is_empty(), expected.is_some(), "{text}");
    }
}

/// The colors of a theme of Unterm, written as a configuration of Ghostty.
fn theme_text(name: &str) -> String {
    let theme = crate::config::theme::find(name, Path::new("/nonexistent")).unwrap();
    let palette = &theme.palette;
    let part = |name: &str, color: Option<unterm_term::Rgb>| {
        format!(
            "{name} = {}\n",
            color.map_or_else(|| "cell-foreground".to_owned(), |c| c.to_string())
        )
    };
    let mut text = part("foreground", Some(palette.foreground))
        + &part("background", Some(palette.background))
        + &part("cursor-color", palette.cursor)
        + &part("cursor-text", palette.cursor_text)
        + &part("selection-background", palette.selection)
        + &part("selection-foreground", palette.selection_text);
    for (index, color) in palette.colors[..16].iter().enumerate() {
        text += &format!("palette = {index}={color}\n");
    }
    text
}

#[test]
fn a_value_that_unterm_does_not_take_is_left_out_with_its_line() {
    let text = "font_size 500\nscrollback_lines 10\nfont_features F stylish\nshell /nonexistent/shell\nbackground_opacity x\n\
                map ctrl+f1 goto_tab 5000\n";
    let home = home(&[("kitty.conf", text)]);
    let converted = converted(Terminal::Kitty, &home, "kitty.conf");
    assert_eq!(converted.toml(), "[scrollback]\nlines = 10\n");
    let mut lines: Vec<_> = converted.left_out.iter().map(|left| left.line).collect();
    lines.sort_unstable();
    assert_eq!(lines, [1, 3, 4, 5, 6]);
    let reason = |line| &converted.left_out.iter().find(|left| left.line == line).unwrap().why;
    assert_eq!(reason(1), "font.size must be between 4 and 96, not 500");
    assert!(reason(4).starts_with("cannot start shell.program"), "{}", reason(4));
}

#[test]
fn hostile_files_are_bounded() {
    let refused = |home: &tempfile::TempDir, name: &str| {
        let homes = Homes { user: home.path(), unterm: home.path() };
        convert(Terminal::Kitty, &home.path().join(name), homes).unwrap_err()
    };
    let home = home(&[
        (
            "loop.conf",
            "include loop.conf\ninclude fifo\ninclude .\ngeninclude run.sh\ncursor_shape beam\n",
        ),
        ("long.conf", &"#".repeat((1 << 20) + 1)),
        ("many.conf", &"env A=1\nfont_sise 1\n".repeat(20_000)),
        ("escapes.conf", "\u{1b}[31mred 1\nshell \u{1b}]0;x\u{7}\n"),
        ("run.sh", "#!/bin/sh\ntouch ran\n"),
    ]);
    let fifo = home.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();

    let looped = converted(Terminal::Kitty, &home, "loop.conf");
    assert_eq!(looped.toml(), "[cursor]\nshape = \"bar\"\n");
    let why: Vec<_> = looped.left_out.iter().map(|left| left.why.as_str()).collect();
    assert_eq!(
        why[..3],
        ["the file includes itself", "it is no regular file", "it is no regular file"]
    );
    assert!(!home.path().join("ran").exists());
    assert!(refused(&home, "long.conf").contains("longer than"));
    assert!(refused(&home, "fifo").contains("regular file"));
    assert!(refused(&home, "missing.conf").contains("No such file"));
    let many = converted(Terminal::Kitty, &home, "many.conf");
    assert!(many.left_out.len() <= 1000, "{}", many.left_out.len());
    assert!(many.left_out.last().unwrap().why.contains("more settings were left out"));
    let escapes = converted(Terminal::Kitty, &home, "escapes.conf");
    for left in &escapes.left_out {
        assert!(!(left.setting.clone() + &left.why).contains(char::is_control), "{left:?}");
    }
    assert_eq!(escapes.left_out.len(), 2);
}

#[test]
fn files_that_include_each_other_end() {
    let names: Vec<String> = (0..12).map(|n| format!("{n}.conf")).collect();
    let chain: Vec<String> =
        (1..=12).map(|n| format!("include {n}.conf\ninclude {n}.conf\n")).collect();
    let files: Vec<_> =
        names.iter().map(String::as_str).zip(chain.iter().map(String::as_str)).collect();
    let converted = converted(Terminal::Kitty, &home(&files), "0.conf");
    assert!(converted.left_out.iter().any(|left| left.why.contains("include each other")));
}

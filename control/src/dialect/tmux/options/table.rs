//! The table of options: the names, defaults and choices of tmux 3.3.

/// The kind of object that an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The server.
    Server,
    /// A session.
    Session,
    /// A window.
    Window,
    /// A window, or one of its panes.
    Pane,
}

/// The values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `on` or `off`.
    Flag,
    /// A whole number.
    Number,
    /// One of these words.
    Choice(&'static str),
    /// A style, such as `fg=red,bold`, or a format that expands to a style.
    Style,
    /// A color.
    Color,
    /// The name of a key.
    Key,
    /// Any text.
    Text,
}

/// An option.
#[derive(Debug)]
pub struct OptionRow {
    /// The name. An array has one row for each default.
    pub name: &'static str,
    /// The kind of object that the option belongs to.
    pub scope: Scope,
    /// The values that it can have.
    pub kind: ValueKind,
    /// The default.
    pub default: &'static str,
}

const fn row(
    name: &'static str,
    scope: Scope,
    kind: ValueKind,
    default: &'static str,
) -> OptionRow {
    OptionRow { name, scope, kind, default }
}

use Scope::{Pane, Server, Session, Window};
use ValueKind::{Choice, Color, Flag, Key, Number, Style, Text};

/// Every option.
#[rustfmt::skip]
pub static OPTIONS: &[OptionRow] = &[
    row("backspace", Server, Key, "C-?"),
    row("buffer-limit", Server, Number, "50"),
    row("command-alias[0]", Server, Text, "split-pane=split-window"),
    row("command-alias[1]", Server, Text, "splitp=split-window"),
    row("command-alias[2]", Server, Text, "server-info=show-messages -JT"),
    row("command-alias[3]", Server, Text, "info=show-messages -JT"),
    row("command-alias[4]", Server, Text, "choose-window=choose-tree -w"),
    row("command-alias[5]", Server, Text, "choose-session=choose-tree -s"),
    row("copy-command", Server, Text, ""),
    row("default-terminal", Server, Text, "tmux-256color"),
    row("editor", Server, Text, "vi"),
    row("escape-time", Server, Number, "500"),
    row("exit-empty", Server, Flag, "on"),
    row("exit-unattached", Server, Flag, "off"),
    row("extended-keys", Server, Choice("off on always"), "off"),
    row("focus-events", Server, Flag, "off"),
    row("history-file", Server, Text, ""),
    row("message-limit", Server, Number, "1000"),
    row("prompt-history-limit", Server, Number, "100"),
    row("set-clipboard", Server, Choice("off external on"), "external"),
    row("terminal-overrides", Server, Text, ""),
    row("terminal-features[0]", Server, Text, "xterm*:clipboard:ccolour:cstyle:focus:title"),
    row("terminal-features[1]", Server, Text, "screen*:title"),
    row("user-keys", Server, Text, ""),
    row("activity-action", Session, Choice("none any current other"), "other"),
    row("assume-paste-time", Session, Number, "1"),
    row("base-index", Session, Number, "0"),
    row("bell-action", Session, Choice("none any current other"), "any"),
    row("default-command", Session, Text, ""),
    row("default-shell", Session, Text, "/bin/sh"),
    row("default-size", Session, Text, "80x24"),
    row("destroy-unattached", Session, Flag, "off"),
    row("detach-on-destroy", Session, Choice("off on no-detached"), "on"),
    row("display-panes-active-colour", Session, Color, "red"),
    row("display-panes-colour", Session, Color, "blue"),
    row("display-panes-time", Session, Number, "1000"),
    row("display-time", Session, Number, "750"),
    row("history-limit", Session, Number, "2000"),
    row("key-table", Session, Text, "root"),
    row("lock-after-time", Session, Number, "0"),
    row("lock-command", Session, Text, "lock -np"),
    row("message-command-style", Session, Style, "bg=black,fg=yellow"),
    row("message-style", Session, Style, "bg=yellow,fg=black"),
    row("mouse", Session, Flag, "off"),
    row("prefix", Session, Key, "C-b"),
    row("prefix2", Session, Key, "None"),
    row("renumber-windows", Session, Flag, "off"),
    row("repeat-time", Session, Number, "500"),
    row("set-titles", Session, Flag, "off"),
    row("set-titles-string", Session, Text, "#S:#I:#W - \"#T\" #{session_alerts}"),
    row("silence-action", Session, Choice("none any current other"), "other"),
    row("status", Session, Choice("off on 2 3 4 5"), "on"),
    row("status-bg", Session, Color, "default"),
    row("status-fg", Session, Color, "default"),
    row("status-format[0]", Session, Text, "#[align=left range=left #{E:status-left-style}]#[push-default]#{T;=/#{status-left-length}:status-left}#[pop-default]#[norange default]#[list=on align=#{status-justify}]#[list=left-marker]<#[list=right-marker]>#[list=on]#{W:#[range=window|#{window_index} #{E:window-status-style}#{?#{&&:#{window_last_flag},#{!=:#{E:window-status-last-style},default}}, #{E:window-status-last-style},}#{?#{&&:#{window_bell_flag},#{!=:#{E:window-status-bell-style},default}}, #{E:window-status-bell-style},#{?#{&&:#{||:#{window_activity_flag},#{window_silence_flag}},#{!=:#{E:window-status-activity-style},default}}, #{E:window-status-activity-style},}}]#[push-default]#{T:window-status-format}#[pop-default]#[norange default]#{?window_end_flag,,#{window-status-separator}},#[range=window|#{window_index} list=focus #{?#{!=:#{E:window-status-current-style},default},#{E:window-status-current-style},#{E:window-status-style}}#{?#{&&:#{window_last_flag},#{!=:#{E:window-status-last-style},default}}, #{E:window-status-last-style},}#{?#{&&:#{window_bell_flag},#{!=:#{E:window-status-bell-style},default}}, #{E:window-status-bell-style},#{?#{&&:#{||:#{window_activity_flag},#{window_silence_flag}},#{!=:#{E:window-status-activity-style},default}}, #{E:window-status-activity-style},}}]#[push-default]#{T:window-status-current-format}#[pop-default]#[norange list=on default]#{?window_end_flag,,#{window-status-separator}}}#[nolist align=right range=right #{E:status-right-style}]#[push-default]#{T;=/#{status-right-length}:status-right}#[pop-default]#[norange default]"),
    row("status-format[1]", Session, Text, "#[align=centre]#{P:#{?pane_active,#[reverse],}#{pane_index}[#{pane_width}x#{pane_height}]#[default] }"),
    row("status-interval", Session, Number, "15"),
    row("status-justify", Session, Choice("left centre right absolute-centre"), "left"),
    row("status-keys", Session, Choice("emacs vi"), "emacs"),
    row("status-left", Session, Text, "[#{session_name}] "),
    row("status-left-length", Session, Number, "10"),
    row("status-left-style", Session, Style, "default"),
    row("status-position", Session, Choice("top bottom"), "bottom"),
    row("status-right", Session, Text, "#{?window_bigger,[#{window_offset_x}#,#{window_offset_y}] ,}\"#{=21:pane_title}\" %H:%M %d-%b-%y"),
    row("status-right-length", Session, Number, "40"),
    row("status-right-style", Session, Style, "default"),
    row("status-style", Session, Style, "bg=green,fg=black"),
    row("update-environment[0]", Session, Text, "DISPLAY"),
    row("update-environment[1]", Session, Text, "KRB5CCNAME"),
    row("update-environment[2]", Session, Text, "SSH_ASKPASS"),
    row("update-environment[3]", Session, Text, "SSH_AUTH_SOCK"),
    row("update-environment[4]", Session, Text, "SSH_AGENT_PID"),
    row("update-environment[5]", Session, Text, "SSH_CONNECTION"),
    row("update-environment[6]", Session, Text, "WINDOWID"),
    row("update-environment[7]", Session, Text, "XAUTHORITY"),
    row("visual-activity", Session, Choice("off on both"), "off"),
    row("visual-bell", Session, Choice("off on both"), "off"),
    row("visual-silence", Session, Choice("off on both"), "off"),
    row("word-separators", Session, Text, "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~"),
    row("cursor-colour", Pane, Color, "none"),
    row("cursor-style", Pane, Choice("default blinking-block block blinking-underline underline blinking-bar bar"), "default"),
    row("aggressive-resize", Window, Flag, "off"),
    row("allow-passthrough", Pane, Choice("off on all"), "off"),
    row("allow-rename", Pane, Flag, "off"),
    row("alternate-screen", Pane, Flag, "on"),
    row("automatic-rename", Window, Flag, "on"),
    row("automatic-rename-format", Window, Text, "#{?pane_in_mode,[tmux],#{pane_current_command}}#{?pane_dead,[dead],}"),
    row("clock-mode-colour", Window, Color, "blue"),
    row("clock-mode-style", Window, Text, "24"),
    row("copy-mode-match-style", Window, Style, "bg=cyan,fg=black"),
    row("copy-mode-current-match-style", Window, Style, "bg=magenta,fg=black"),
    row("copy-mode-mark-style", Window, Style, "bg=red,fg=black"),
    row("fill-character", Window, Text, ""),
    row("main-pane-height", Window, Number, "24"),
    row("main-pane-width", Window, Number, "80"),
    row("mode-keys", Window, Choice("emacs vi"), "emacs"),
    row("mode-style", Window, Style, "bg=yellow,fg=black"),
    row("monitor-activity", Window, Flag, "off"),
    row("monitor-bell", Window, Flag, "on"),
    row("monitor-silence", Window, Number, "0"),
    row("other-pane-height", Window, Number, "0"),
    row("other-pane-width", Window, Number, "0"),
    row("pane-active-border-style", Window, Style, "#{?pane_in_mode,fg=yellow,#{?synchronize-panes,fg=red,fg=green}}"),
    row("pane-base-index", Window, Number, "0"),
    row("pane-border-format", Window, Text, "#{?pane_active,#[reverse],}#{pane_index}#[default] \"#{pane_title}\""),
    row("pane-border-indicators", Window, Choice("off colour arrows both"), "colour"),
    row("pane-border-lines", Window, Choice("single double heavy simple number"), "single"),
    row("pane-border-status", Window, Choice("off top bottom"), "off"),
    row("pane-border-style", Window, Style, "default"),
    row("pane-colours", Pane, Color, ""),
    row("popup-style", Window, Style, "default"),
    row("popup-border-style", Window, Style, "default"),
    row("popup-border-lines", Window, Choice("single double heavy simple rounded padded none"), "single"),
    row("remain-on-exit", Pane, Choice("off on failed"), "off"),
    row("remain-on-exit-format", Pane, Text, "Pane is dead (#{?#{!=:#{pane_dead_status},},status #{pane_dead_status},}#{?#{!=:#{pane_dead_signal},},signal #{pane_dead_signal},}, #{t:pane_dead_time})"),
    row("scroll-on-clear", Pane, Flag, "on"),
    row("synchronize-panes", Pane, Flag, "off"),
    row("window-active-style", Pane, Style, "default"),
    row("window-size", Window, Choice("largest smallest manual latest"), "latest"),
    row("window-style", Pane, Style, "default"),
    row("window-status-activity-style", Window, Style, "reverse"),
    row("window-status-bell-style", Window, Style, "reverse"),
    row("window-status-current-format", Window, Text, "#I:#W#{?window_flags,#{window_flags}, }"),
    row("window-status-current-style", Window, Style, "default"),
    row("window-status-format", Window, Text, "#I:#W#{?window_flags,#{window_flags}, }"),
    row("window-status-last-style", Window, Style, "default"),
    row("window-status-separator", Window, Text, " "),
    row("window-status-style", Window, Style, "default"),
    row("wrap-search", Window, Flag, "on"),
    row("xterm-keys", Window, Flag, "on"),];

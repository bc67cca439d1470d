//! Other words for actions: what users of other terminals and of editors type into the palette.

use super::Entry;

/// Actions by name, each with the words that find it beside its title.
#[rustfmt::skip]
const SYNONYMS: &[(&str, &[&str])] = &[
    ("new_tab", &["open tab", "create tab"]),
    ("duplicate_tab", &["clone tab"]),
    ("set_tab_title", &["tab name"]),
    ("next_tab", &["tab right"]),
    ("previous_tab", &["tab left", "last tab"]),
    ("activate_tab", &["switch to tab", "tab number"]),
    ("split_down", &["horizontal split", "new pane below", "split horizontally"]),
    ("split_right", &["vertical split", "new pane right", "split vertically"]),
    ("close_pane", &["kill pane"]),
    ("close_window", &["quit", "exit"]),
    ("zoom_pane", &["maximize pane", "toggle zoom", "unzoom"]),
    ("equalize_panes", &["balance panes", "even out panes"]),
    ("pane_to_new_tab", &["detach pane", "break pane"]),
    ("pane_to_tab", &["join pane"]),
    ("broadcast_tab", &["synchronize panes", "type into all panes of the tab"]),
    ("broadcast_all", &["type into all panes"]),
    ("next_pane", &["cycle panes"]),
    ("resize_left", &["resize", "resize pane left"]),
    ("resize_right", &["resize pane right"]),
    ("resize_up", &["resize pane up"]),
    ("resize_down", &["resize pane down"]),
    ("paste_primary", &["paste primary"]),
    ("send_text", &["send text"]),
    ("larger_font", &["zoom in", "increase font size", "bigger font"]),
    ("smaller_font", &["zoom out", "decrease font size"]),
    ("reset_font", &["reset zoom", "actual size"]),
    ("clear_history", &["clear scrollback"]),
    ("reset_terminal", &["hard reset"]),
    ("search", &["find"]),
    ("search_selection", &["find selection"]),
    ("previous_prompt", &["jump to previous prompt"]),
    ("next_prompt", &["jump to next prompt"]),
    ("rerun_command", &["rerun", "repeat command"]),
    ("fold_output", &["collapse output"]),
    ("fold_all", &["collapse all"]),
    ("unfold_all", &["expand all"]),
    ("quick_select", &["hints", "labels"]),
    ("open_hint", &["open url", "open link", "open file"]),
    ("copy_mode", &["vi mode", "keyboard selection"]),
    ("choose_theme", &["color scheme", "colour scheme", "colors", "themes", "appearance"]),
    ("toggle_proxy", &["proxy"]),
    ("choose_tab", &["tab list", "tabs"]),
    ("choose_shell", &["profiles", "new tab with shell"]),
    ("change_directory", &["cd", "working directory"]),
    ("export_session", &["save output", "save text"]),
    ("toggle_recording", &["record"]),
    ("choose_emoji", &["unicode input", "character picker"]),
    ("capture_window", &["screenshot", "take screenshot", "window screenshot"]),
    ("capture_region_include", &["region screenshot"]),
    ("capture_screen", &["screen screenshot"]),
    ("pause_agents", &["stop agents"]),
    ("answer_agent", &["approve", "permissions"]),
    ("dismiss_messages", &["close notifications", "clear notifications"]),
    ("debug_overlay", &["frame rate", "fps", "inspector"]),
    ("toggle_quake", &["quake", "drop-down terminal", "quick terminal"]),
    ("settings", &["preferences", "options"]),
    ("open_config", &["reload", "reload configuration", "edit configuration", "config file"]),
    ("fullscreen", &["toggle full screen"]),
];

impl Entry {
    /// Other words that find it in the palette.
    pub fn synonyms(&self) -> &'static [&'static str] {
        let found = SYNONYMS.iter().find(|(name, _)| *name == self.name);
        found.map_or(&[], |(_, words)| words)
    }

    /// What it does, in one line: the first sentence of its description.
    pub fn summary(&self) -> &'static str {
        self.doc.find(". ").map_or(self.doc, |end| &self.doc[..=end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::ACTIONS;

    /// Characters that a line of the palette has room for.
    const LINE: usize = 77;

    #[test]
    fn synonyms_belong_to_actions_and_to_one_each() {
        let mut seen = std::collections::HashSet::new();
        for (name, words) in SYNONYMS {
            assert!(ACTIONS.iter().any(|entry| entry.name == *name), "{name}");
            for word in *words {
                assert!(seen.insert(word), "{word:?} stands for two actions");
                let taken = ACTIONS.iter().find(|entry| entry.title.eq_ignore_ascii_case(word));
                assert!(taken.is_none(), "{word:?} is an action's title");
            }
        }
    }

    #[test]
    fn each_action_is_described_in_one_line() {
        for entry in ACTIONS {
            let summary = entry.summary();
            assert!(summary.ends_with('.'), "{}: {summary}", entry.name);
            assert!(summary.chars().count() <= LINE, "{}: {summary}", entry.name);
        }
    }
}

//! The table of actions: everything a key can make the window do, its name, its default keys and what it takes.
//!
//! Keys, the check of the configuration and the reference page come from this table; what an action does is the
//! window's.

mod argument;
mod chord;
mod synonyms;

use std::ops::RangeInclusive;

use unterm_mux::{Axis, Direction};

pub use chord::Chord;

/// A form of copied text with its looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// HTML, with the text beside it for programs that take no HTML.
    Html,
    /// Text with the sequences that make it look as it does.
    Ansi,
}

/// Something the window does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Opens a tab in the focused pane's directory.
    NewTab,
    /// Opens a tab with what the focused pane was started with.
    DuplicateTab,
    /// Closes the tab in front.
    CloseTab,
    /// Asks for a title of the tab.
    RenameTab,
    /// Gives the tab a title; empty: that of its program again.
    SetTabTitle(String),
    /// Opens the tab's menu.
    TabMenu,
    /// Closes the focused pane.
    ClosePane,
    /// Closes the window.
    CloseWindow,
    /// Splits the focused pane.
    Split(Axis),
    /// Moves the keyboard to the pane in that direction; without one the key goes to the program.
    Focus(Direction),
    /// Moves the keyboard by this many panes of the tab.
    CyclePanes(isize),
    /// Moves the focused pane's divider.
    Resize(Direction),
    /// Lets the focused pane fill the tab, and back.
    Zoom,
    /// Exchanges the focused pane with the one in that direction.
    SwapPane(Direction),
    /// Moves each pane of the tab to the place of the next one, or back.
    RotatePanes(bool),
    /// Gives the tab's panes the same space.
    EqualizePanes,
    /// Makes the focused pane a tab of its own.
    PaneToNewTab,
    /// Moves the focused pane to the tab of this number, from 1.
    PaneToTab(usize),
    /// Types into all panes of the tab at once, and back.
    BroadcastTab,
    /// Types into all panes at once, and back.
    BroadcastAll,
    /// Brings the next tab to the front.
    NextTab,
    /// Brings the tab before to the front.
    PreviousTab,
    /// Brings the tab of this number, from 1, to the front.
    ActivateTab(usize),
    /// Moves the active tab by this many places.
    MoveTab(isize),
    /// Selects all of the focused pane.
    SelectAll,
    /// Copies the selection; without one the key goes to the program.
    Copy,
    /// Copies the selection with its looks.
    CopyAs(Form),
    /// Pastes the clipboard.
    Paste,
    /// Pastes the primary selection.
    PastePrimary,
    /// Types text.
    SendText(String),
    /// Changes the font's size by this many points.
    FontSize(f32),
    /// Returns to the font size of the configuration.
    ResetFontSize,
    /// Fills the screen, and back.
    Fullscreen,
    /// Opens the search in the focused pane.
    Search,
    /// Searches for what is selected.
    SearchSelection,
    /// Scrolls to the next prompt, or the one before.
    JumpToPrompt(bool),
    /// Selects a command's output.
    SelectOutput,
    /// Copies a command's output.
    CopyOutput,
    /// Copies a command's line.
    CopyCommand,
    /// Runs a command again.
    Rerun,
    /// Folds a command's output, or unfolds it.
    Fold,
    /// Folds every command's output, or unfolds all.
    FoldAll(bool),
    /// Labels what is in sight, to copy it.
    QuickSelect,
    /// Labels what is in sight, to open it.
    OpenHint,
    /// Forgets the history of the focused pane.
    ClearHistory,
    /// Brings the focused pane's terminal to its first state.
    ResetTerminal,
    /// Enters copy mode, or leaves it.
    CopyMode,
    /// Lists every action.
    CommandPalette,
    /// Lists the themes.
    ChooseTheme,
    /// Goes on to the next theme.
    NextTheme,
    /// Turns the proxy on or off.
    ToggleProxy,
    /// Lists the tabs.
    ChooseTab,
    /// Lists shells, tabs and commands.
    Launcher,
    /// Lists the shells to open a tab with.
    ChooseShell,
    /// Opens the window's menu.
    MainMenu,
    /// Asks for a directory and makes the shell change to it.
    ChangeDirectory,
    /// Makes the shell change to a directory.
    ChangeDirectoryTo(String),
    /// Asks for a directory and opens a tab there.
    OpenFolder,
    /// Opens a tab in a directory.
    NewTabIn(String),
    /// Writes the focused pane's text and history to a file.
    ExportSession,
    /// Begin or end a recording of the focused pane.
    ToggleRecording,
    /// Lists emoji to type.
    ChooseEmoji,
    /// Takes a picture.
    Screenshot(Shot),
    /// Shows or hides the debug overlay.
    ToggleDebug,
    /// Puts messages away.
    DismissMessages,
    /// Makes agents wait, or go on.
    PauseAgents,
    /// List what may be answered to an agent.
    AnswerAgent,
    /// Shows or hides the window that was started as a drop-down.
    ToggleQuake,
    /// Writes the tabs, splits and directories to a file of a name.
    SaveLayout(String),
    /// Opens the settings page in a browser.
    Settings,
    /// Opens the configuration in an editor.
    OpenConfig,
    /// Starts another instance with a window of its own.
    NewWindow,
    /// Scrolls by pages; on the alternate screen the key goes to the program.
    ScrollPages(i32),
    /// Scrolls by lines; on the alternate screen the key goes to the program.
    ScrollLines(i32),
    /// Shows the oldest line.
    ScrollToTop,
    /// Shows the live screen.
    ScrollToBottom,
}

/// What to take a picture of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shot {
    /// A part of the screen that a person drags out; the window may be hidden meanwhile.
    Region {
        /// Whether it is.
        hidden: bool,
    },
    /// This window.
    Window,
    /// The whole screen that it is on.
    Screen,
}

/// What an action is given, and how that makes it one.
pub enum Takes {
    /// Nothing.
    Nothing(Action),
    /// A whole number.
    Number {
        /// What it says.
        what: &'static str,
        /// The least and the greatest.
        range: RangeInclusive<i32>,
        /// The action of a number.
        make: fn(i32) -> Action,
    },
    /// Text, with the escapes `\n`, `\r`, `\t`, `\e`, `\\`, `\xHH` and `\u{H…}`.
    Text {
        /// What it says.
        what: &'static str,
        /// The action of a text.
        make: fn(String) -> Action,
    },
}

/// One row of the table.
pub struct Entry {
    /// Its name in the configuration.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// What it is given.
    pub takes: Takes,
    /// Default keys, as in `ctrl+shift+t` (the key is the one without Shift), each with its argument.
    pub keys: &'static [(&'static str, Option<&'static str>)],
}

impl Entry {
    /// What its argument is, for people; empty where it takes none.
    pub fn argument(&self) -> &'static str {
        match self.takes {
            Takes::Nothing(_) => "",
            Takes::Number { what, .. } | Takes::Text { what, .. } => what,
        }
    }
}

/// Rows of actions that take nothing.
macro_rules! plain {
    ($name:literal, $title:literal, $doc:literal, $action:expr, [$($keys:literal),*]) => {
        Entry {
            name: $name,
            title: $title,
            doc: $doc,
            takes: Takes::Nothing($action),
            keys: &[$(($keys, None)),*],
        }
    };
}

/// Every action with its default keys.
#[rustfmt::skip]
pub const ACTIONS: &[Entry] = &[
    plain!("new_tab", "New tab", "Opens a shell in a new tab, in the focused pane's directory.", Action::NewTab, ["ctrl+shift+t"]),
    plain!("duplicate_tab", "Duplicate tab", "Opens a tab that runs the focused pane's program in the same directory.", Action::DuplicateTab, []),
    plain!("rename_tab", "Rename tab", "Asks for the active tab's title. Programs in the tab don't change it.", Action::RenameTab, ["ctrl+alt+shift+t"]),
    Entry {
        name: "set_tab_title",
        title: "Set tab title",
        doc: "Sets the active tab's title. An empty title returns to the program's own.",
        takes: Takes::Text { what: "the title", make: Action::SetTabTitle },
        keys: &[],
    },
    plain!("tab_menu", "Tab menu", "Opens the active tab's menu, as a right click on the tab does.", Action::TabMenu, []),
    plain!("close_tab", "Close tab", "Closes the active tab and all its panes.", Action::CloseTab, ["ctrl+shift+w"]),
    plain!("next_tab", "Next tab", "Activates the next tab. After the last tab comes the first.", Action::NextTab, ["ctrl+tab"]),
    plain!("previous_tab", "Previous tab", "Activates the previous tab. Before the first tab comes the last.", Action::PreviousTab, ["ctrl+shift+tab"]),
    Entry {
        name: "activate_tab",
        title: "Go to tab",
        doc: "Activates the tab with this number. A number past the last tab means the last.",
        takes: Takes::Number { what: "the tab's number, from 1", range: 1..=999, make: |n| Action::ActivateTab(n as usize) },
        keys: &[
            ("ctrl+shift+1", Some("1")), ("ctrl+shift+2", Some("2")), ("ctrl+shift+3", Some("3")),
            ("ctrl+shift+4", Some("4")), ("ctrl+shift+5", Some("5")), ("ctrl+shift+6", Some("6")),
            ("ctrl+shift+7", Some("7")), ("ctrl+shift+8", Some("8")), ("ctrl+shift+9", Some("999")),
        ],
    },
    plain!("move_tab_left", "Move tab left", "Moves the active tab one place to the left.", Action::MoveTab(-1), ["ctrl+shift+page_up"]),
    plain!("move_tab_right", "Move tab right", "Moves the active tab one place to the right.", Action::MoveTab(1), ["ctrl+shift+page_down"]),
    plain!("split_down", "Split down", "Splits the focused pane and opens a shell below it.", Action::Split(Axis::Vertical), ["ctrl+shift+d"]),
    plain!("split_right", "Split right", "Splits the focused pane and opens a shell to its right.", Action::Split(Axis::Horizontal), ["ctrl+shift+e"]),
    plain!("close_pane", "Close pane", "Closes the focused pane and ends its program.", Action::ClosePane, ["ctrl+shift+x"]),
    plain!("close_window", "Close window", "Closes the window and all its tabs.", Action::CloseWindow, ["ctrl+shift+q"]),
    plain!("zoom_pane", "Zoom pane", "Lets the focused pane fill the tab, or restores the split.", Action::Zoom, ["ctrl+shift+z"]),
    plain!("swap_pane_left", "Swap pane left", "Exchanges the focused pane with its left neighbour.", Action::SwapPane(Direction::Left), []),
    plain!("swap_pane_right", "Swap pane right", "Exchanges the focused pane with its right neighbour.", Action::SwapPane(Direction::Right), []),
    plain!("swap_pane_up", "Swap pane up", "Exchanges the focused pane with its upper neighbour.", Action::SwapPane(Direction::Up), []),
    plain!("swap_pane_down", "Swap pane down", "Exchanges the focused pane with its lower neighbour.", Action::SwapPane(Direction::Down), []),
    plain!("rotate_panes", "Rotate panes", "Moves each pane of the tab to the next pane's place.", Action::RotatePanes(true), []),
    plain!("rotate_panes_back", "Rotate panes back", "Moves each pane of the tab to the previous pane's place.", Action::RotatePanes(false), []),
    plain!("equalize_panes", "Equalize panes", "Gives the panes of each row and of each column the same space.", Action::EqualizePanes, ["super+ctrl+shift+="]),
    plain!("pane_to_new_tab", "Move pane to a new tab", "Moves the focused pane to a new tab. Its program keeps running.", Action::PaneToNewTab, []),
    Entry {
        name: "pane_to_tab",
        title: "Move pane to tab",
        doc: "Moves the focused pane into the tab with this number. The pane lands right of that tab's focused pane; a number past the last tab means the last.",
        takes: Takes::Number { what: "the tab's number, from 1", range: 1..=999, make: |n| Action::PaneToTab(n as usize) },
        keys: &[],
    },
    plain!("broadcast_tab", "Broadcast input in the tab", "Sends what you type to every pane of the tab, or stops that.", Action::BroadcastTab, []),
    plain!("broadcast_all", "Broadcast input in all tabs", "Sends what you type to every pane of every tab, or stops that.", Action::BroadcastAll, []),
    plain!("focus_left", "Focus left", "Moves the focus to the left pane. Without a left pane, the program gets the key.", Action::Focus(Direction::Left), ["ctrl+alt+left"]),
    plain!("focus_right", "Focus right", "Moves the focus to the right pane. Without a right pane, the program gets the key.", Action::Focus(Direction::Right), ["ctrl+alt+right"]),
    plain!("focus_up", "Focus up", "Moves the focus to the pane above. Without a pane above, the program gets the key.", Action::Focus(Direction::Up), ["ctrl+alt+up"]),
    plain!("focus_down", "Focus down", "Moves the focus to the pane below. Without a pane below, the program gets the key.", Action::Focus(Direction::Down), ["ctrl+alt+down"]),
    plain!("next_pane", "Next pane", "Moves the focus to the tab's next pane. After the last pane comes the first.", Action::CyclePanes(1), []),
    plain!("previous_pane", "Previous pane", "Moves the focus to the tab's previous pane. Before the first pane comes the last.", Action::CyclePanes(-1), []),
    plain!("resize_left", "Move divider left", "Moves the focused pane's divider to the left.", Action::Resize(Direction::Left), ["ctrl+alt+shift+left"]),
    plain!("resize_right", "Move divider right", "Moves the focused pane's divider to the right.", Action::Resize(Direction::Right), ["ctrl+alt+shift+right"]),
    plain!("resize_up", "Move divider up", "Moves the focused pane's divider up.", Action::Resize(Direction::Up), ["ctrl+alt+shift+up"]),
    plain!("resize_down", "Move divider down", "Moves the focused pane's divider down.", Action::Resize(Direction::Down), ["ctrl+alt+shift+down"]),
    plain!("select_all", "Select all", "Selects all text of the focused pane, including its history.", Action::SelectAll, []),
    plain!("copy", "Copy", "Copies the selection to the clipboard. Without a selection, the program gets Ctrl+C and Ctrl+Insert.", Action::Copy, ["ctrl+shift+c", "ctrl+c", "ctrl+insert"]),
    plain!("copy_as_html", "Copy as HTML", "Copies the selection with its colours, as HTML and as text.", Action::CopyAs(Form::Html), []),
    plain!("copy_as_ansi", "Copy with escape sequences", "Copies the selection as text with the escape sequences of its colours.", Action::CopyAs(Form::Ansi), []),
    plain!("paste", "Paste", "Pastes the clipboard.", Action::Paste, ["ctrl+shift+v"]),
    plain!("paste_primary", "Paste selection", "Pastes the primary selection, which holds the text selected last.", Action::PastePrimary, ["shift+insert"]),
    Entry {
        name: "send_text",
        title: "Type text",
        doc: "Types text into the focused pane.",
        takes: Takes::Text { what: r"the text, with the escapes \n, \r, \t, \e, \\, \xHH and \u{H…}", make: Action::SendText },
        keys: &[],
    },
    plain!("larger_font", "Larger font", "Makes the font one point larger.", Action::FontSize(1.0), ["ctrl+=", "ctrl+shift+=", "ctrl++"]),
    plain!("smaller_font", "Smaller font", "Makes the font one point smaller.", Action::FontSize(-1.0), ["ctrl+-"]),
    plain!("reset_font", "Reset font size", "Returns to the configured font size.", Action::ResetFontSize, ["ctrl+0", "ctrl+shift+backspace"]),
    plain!("scroll_page_up", "Scroll up a page", "Scrolls up by a page. A full-screen program gets the key.", Action::ScrollPages(-1), ["shift+page_up"]),
    plain!("scroll_page_down", "Scroll down a page", "Scrolls down by a page. A full-screen program gets the key.", Action::ScrollPages(1), ["shift+page_down"]),
    Entry {
        name: "scroll_lines",
        title: "Scroll by lines",
        doc: "Scrolls by this many lines. A full-screen program gets the key.",
        takes: Takes::Number { what: "the number of lines; a negative number scrolls up", range: -10_000..=10_000, make: Action::ScrollLines },
        keys: &[("ctrl+shift+k", Some("-1")), ("ctrl+shift+j", Some("1"))],
    },
    plain!("scroll_to_top", "Scroll to the top", "Shows the oldest line. A full-screen program gets the key.", Action::ScrollToTop, ["shift+home", "ctrl+shift+home"]),
    plain!("scroll_to_bottom", "Scroll to the end", "Shows the newest line. A full-screen program gets the key.", Action::ScrollToBottom, ["shift+end", "ctrl+shift+end"]),
    plain!("clear_history", "Clear history", "Deletes the focused pane's lines above the screen.", Action::ClearHistory, []),
    plain!("reset_terminal", "Reset terminal", "Clears the focused pane's screen, history and modes. Use it where a program left the terminal in disorder; running programs stay.", Action::ResetTerminal, []),
    plain!("search", "Search", "Searches the focused pane's screen and history.", Action::Search, ["ctrl+shift+f"]),
    plain!("search_selection", "Search for the selection", "Searches the focused pane's screen and history for the selected text.", Action::SearchSelection, []),
    plain!("previous_prompt", "Previous prompt", "Scrolls up to a prompt or a line that a program marked. A full-screen program gets the key.", Action::JumpToPrompt(false), ["ctrl+shift+up"]),
    plain!("next_prompt", "Next prompt", "Scrolls down to a prompt or a marked line. After the last it shows the live screen; a full-screen program gets the key.", Action::JumpToPrompt(true), ["ctrl+shift+down"]),
    plain!("select_output", "Select a command's output", "Selects the output of the last command, or of the one you jumped to.", Action::SelectOutput, ["ctrl+shift+g"]),
    plain!("copy_output", "Copy a command's output", "Copies the output of the last command, or of the one you jumped to.", Action::CopyOutput, []),
    plain!("copy_command", "Copy a command", "Copies the last command's line, or that of the one you jumped to.", Action::CopyCommand, []),
    plain!("rerun_command", "Run a command again", "Types and runs the last command again, or the one you jumped to. A line that the shell did not report itself is only typed.", Action::Rerun, []),
    plain!("fold_output", "Fold a command's output", "Folds or unfolds the output of the last command, or of the one you jumped to.", Action::Fold, []),
    plain!("fold_all", "Fold all output", "Folds the output of every finished command in the focused pane.", Action::FoldAll(true), []),
    plain!("unfold_all", "Unfold all output", "Unfolds all output in the focused pane.", Action::FoldAll(false), []),
    plain!("quick_select", "Quick select", "Labels links, paths, hashes and numbers, to copy one by its letters. An upper-case last letter also pastes it.", Action::QuickSelect, ["ctrl+shift+space"]),
    plain!("open_hint", "Open by label", "Labels links and paths, to open one by its letters. A file opens in the editor at its line; other text is copied.", Action::OpenHint, ["ctrl+shift+o"]),
    plain!("copy_mode", "Copy mode", "Moves over screen and history with vi's keys, to select and copy. It starts at an open search's match and ends with the same action.", Action::CopyMode, ["ctrl+shift+m"]),
    plain!("command_palette", "Command palette", "Lists every action, to run one by its name.", Action::CommandPalette, ["ctrl+shift+p"]),
    plain!("choose_theme", "Choose theme", "Lists the themes, previews the marked one and sets the chosen one.", Action::ChooseTheme, []),
    plain!("next_theme", "Next theme", "Sets the next theme of the list. After the last theme comes the first.", Action::NextTheme, []),
    plain!("toggle_proxy", "Turn the proxy on or off", "Turns the proxy in proxy.json on or off, for programs started from now on.", Action::ToggleProxy, []),
    plain!("choose_tab", "Choose tab", "Lists the tabs by title, to activate one.", Action::ChooseTab, []),
    plain!("launcher", "Launcher", "Lists shells for a new tab, open tabs and every action.", Action::Launcher, []),
    plain!("choose_shell", "Choose shell", "Lists the installed shells, to open a tab with one.", Action::ChooseShell, []),
    plain!("main_menu", "Menu", "Opens the window's menu at the right of the tab bar.", Action::MainMenu, []),
    plain!("change_directory", "Change working directory", "Asks for a directory and types cd into the focused pane's shell.", Action::ChangeDirectory, []),
    Entry {
        name: "change_directory_to",
        title: "Change working directory to",
        doc: "Types cd and this directory into the focused pane's shell.",
        takes: Takes::Text { what: "the directory", make: Action::ChangeDirectoryTo },
        keys: &[],
    },
    plain!("open_folder", "Open folder in new tab", "Asks for a directory and opens a tab there.", Action::OpenFolder, []),
    Entry {
        name: "new_tab_in",
        title: "New tab in",
        doc: "Opens a shell in a new tab, in this directory.",
        takes: Takes::Text { what: "the directory", make: Action::NewTabIn },
        keys: &[],
    },
    plain!("export_session", "Export session", "Saves the focused pane's text in ~/.unterm/exports and copies the path.", Action::ExportSession, []),
    plain!("toggle_recording", "Start or stop recording", "Starts or stops a recording of the focused pane. The log is in ~/.unterm/sessions and the page in the project's .unterm/sessions; stopping copies the page's path.", Action::ToggleRecording, []),
    plain!("choose_emoji", "Emoji", "Lists emoji by name and keyword, to type one. A code point such as U+263A types any character.", Action::ChooseEmoji, ["ctrl+shift+u"]),
    plain!("capture_region_exclude", "Capture region without the window", "Hides the window and captures a region of the screen that you drag. Esc cancels.", Action::Screenshot(Shot::Region { hidden: true }), []),
    plain!("capture_region_include", "Capture region", "Captures a region of the screen that you drag. Esc cancels.", Action::Screenshot(Shot::Region { hidden: false }), []),
    plain!("capture_window", "Capture window", "Captures this window.", Action::Screenshot(Shot::Window), []),
    plain!("capture_screen", "Capture screen", "Captures the screen that shows the window.", Action::Screenshot(Shot::Screen), []),
    plain!("pause_agents", "Pause or resume agents", "Holds every call by which an agent would change something, until you resume.", Action::PauseAgents, ["ctrl+shift+a"]),
    plain!("answer_agent", "Answer an agent", "Lists the answers to the question of an agent.", Action::AnswerAgent, ["ctrl+shift+y"]),
    plain!("dismiss_messages", "Dismiss messages", "Dismisses the messages at the bottom right, including errors.", Action::DismissMessages, ["ctrl+shift+delete"]),
    plain!("debug_overlay", "Debug overlay", "Shows frame times, the painter and the cell under the mouse.", Action::ToggleDebug, ["ctrl+shift+l"]),
    plain!("toggle_quake", "Show or hide the drop-down", "Shows or hides a window that was started with --quake.", Action::ToggleQuake, []),
    Entry {
        name: "save_layout",
        title: "Save layout",
        doc: "Saves tabs, splits and directories in ~/.unterm/layouts, for startup.layout.",
        takes: Takes::Text { what: "the layout's name", make: Action::SaveLayout },
        keys: &[],
    },
    plain!("settings", "Settings", "Opens the settings page in the browser.", Action::Settings, []),
    plain!("open_config", "Open configuration", "Opens config.toml in an editor; saved changes apply at once. The editor is hints.editor, else $VISUAL, $EDITOR or vi. A missing file is created first, with every key in a comment.", Action::OpenConfig, ["ctrl+,", "ctrl+shift+f2"]),
    plain!("new_window", "New window", "Starts another Unterm with its own window.", Action::NewWindow, ["ctrl+shift+n"]),
    plain!("fullscreen", "Full screen", "Enters or leaves full screen.", Action::Fullscreen, ["f11"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_sentences_end() {
        for (index, entry) in ACTIONS.iter().enumerate() {
            assert!(
                ACTIONS[..index].iter().all(|other| other.name != entry.name),
                "{}",
                entry.name
            );
            assert!(entry.doc.ends_with('.') && !entry.title.ends_with('.'), "{}", entry.name);
        }
    }
}

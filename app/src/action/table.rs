//! The table of actions. Each entry describes one action. The window binds it to a function.

/// Calls the macro `then` with the entries of all actions. An entry consists of:
///
/// - the variant of `Action`, with a description of its argument, and with the limits if the argument is a number;
/// - the name in the configuration, the title for the user, the default keys with their arguments, and other words that
///   find the action in the palette;
/// - a description of what the action does. The palette shows its first sentence;
/// - after `else`, the message if the action had no effect. With `program`, the program then receives the key; with
///   `program_unless_shift`, the program receives it only if Shift is not held.
#[rustfmt::skip]
macro_rules! with_actions {
    ($then:ident) => {
        $then! {
            NewTab(optional: "the name of a profile") "new_tab" "New tab" ["ctrl+shift+t"] ["open tab", "create tab"]
                "Opens a shell in a new tab, in the focused pane's directory. With a profile, opens the profile's program.";
            DuplicateTab "duplicate_tab" "Duplicate tab" [] ["clone tab"]
                "Opens a tab that runs the focused pane's program in the same directory.";
            RenameTab "rename_tab" "Rename tab" ["ctrl+alt+shift+t"] []
                "Asks for a title for the active tab. Programs in the tab can't change it.";
            SetTabTitle(text: "the title") "set_tab_title" "Set tab title" [] ["tab name"]
                "Sets the active tab's title. An empty title returns to the program's own.";
            TabMenu "tab_menu" "Tab menu" [] []
                "Opens the active tab's menu, as a right click on the tab does.";
            CloseTab "close_tab" "Close tab" ["ctrl+shift+w"] []
                "Closes the active tab and all its panes. Their programs end 30 s later, unless undo_close brings them back.";
            CloseOtherTabs "close_other_tabs" "Close other tabs" [] []
                "Closes every tab but the active one."
                else "There is no other tab.";
            NextTab "next_tab" "Next tab" ["ctrl+tab"] ["tab right"]
                "Activates the next tab. After the last tab comes the first."
                else "There is no other tab.";
            PreviousTab "previous_tab" "Previous tab" ["ctrl+shift+tab"] ["tab left", "last tab"]
                "Activates the previous tab. Before the first tab comes the last."
                else "There is no other tab.";
            ActivateTab(number: "the tab's number, from 1", 1..=999) "activate_tab" "Go to tab" [
                "ctrl+shift+1" => "1", "ctrl+shift+2" => "2", "ctrl+shift+3" => "3",
                "ctrl+shift+4" => "4", "ctrl+shift+5" => "5", "ctrl+shift+6" => "6",
                "ctrl+shift+7" => "7", "ctrl+shift+8" => "8", "ctrl+shift+9" => "999"
            ] ["switch to tab", "tab number"]
                "Activates the tab with this number. A number past the last tab means the last.";
            MoveTabLeft "move_tab_left" "Move tab left" ["ctrl+shift+page_up"] []
                "Moves the active tab one place to the left."
                else "The tab is already the first.";
            MoveTabRight "move_tab_right" "Move tab right" ["ctrl+shift+page_down"] []
                "Moves the active tab one place to the right."
                else "The tab is already the last.";
            ToggleSidebar "toggle_sidebar" "Show or hide the sidebar" [] ["vertical tabs", "tabs at the left", "side panel"]
                "Shows the tabs in a sidebar at the left, or again in the bar at the top. Sets tab_bar.position.";
            FocusSidebar "focus_sidebar" "Go to the sidebar" ["ctrl+alt+shift+s"] ["focus tabs", "choose tab in the sidebar"]
                "Gives the keyboard to the sidebar. The arrow keys mark a tab, Enter activates it, and Esc returns to the pane. Without a sidebar, the program gets the key."
                else program "The sidebar is hidden: see tab_bar.position.";
            FoldSidebar "fold_sidebar" "Fold the sidebar" [] ["collapse sidebar", "sidebar icons"]
                "Folds the sidebar to icons, or unfolds it. Sets tab_bar.sidebar_folded."
                else "The sidebar is hidden: see tab_bar.position.";
            SplitDown "split_down" "Split down" ["ctrl+shift+d"] ["horizontal split", "new pane below", "split horizontally"]
                "Splits the focused pane and opens a shell below it.";
            SplitRight "split_right" "Split right" ["ctrl+shift+e"] ["vertical split", "new pane right", "split vertically"]
                "Splits the focused pane and opens a shell to its right.";
            ClosePane "close_pane" "Close pane" ["ctrl+shift+x"] ["kill pane"]
                "Closes the focused pane. Its program ends 30 s later, unless undo_close brings it back.";
            UndoClose "undo_close" "Undo close" [] ["reopen closed tab", "reopen closed pane", "restore tab"]
                "Brings back the pane or tab that was closed last. You have 30 s, during which its programs keep running."
                else "Nothing was closed in the last 30 s.";
            ReopenLastWindow "reopen_last_window" "Reopen last window" [] ["restore session", "restore tabs", "previous session", "last session"]
                "Opens the last window's tabs and splits in this window, with new shells. `unterm --attach` shows programs that continue without a window."
                else "There is no last window to reopen.";
            CloseWindow "close_window" "Close window" ["ctrl+shift+q"] ["quit", "exit"]
                "Closes the window and all its tabs.";
            Detach "detach" "Detach" [] ["keep running", "close window and keep programs", "leave session", "disconnect"]
                "Closes the window and lets its programs continue. `unterm --attach` shows them again. Needs `sessions.keep`, and Linux."
                else "No program can continue without the window: see sessions.keep.";
            Restart "restart" "Restart Unterm" [] ["upgrade", "reload program", "relaunch", "apply update"]
                "Runs the program that is installed now instead of this one. All programs continue. Needs `sessions.keep`, and Linux."
                else "No program can continue across a restart: see sessions.keep.";
            ZoomPane "zoom_pane" "Zoom pane" ["ctrl+shift+z"] ["maximize pane", "toggle zoom", "unzoom"]
                "Lets the focused pane fill the tab, or restores the split."
                else "The tab has only one pane.";
            SwapPaneLeft "swap_pane_left" "Swap pane left" [] []
                "Exchanges the focused pane with its left neighbor."
                else "There is no pane to the left.";
            SwapPaneRight "swap_pane_right" "Swap pane right" [] []
                "Exchanges the focused pane with its right neighbor."
                else "There is no pane to the right.";
            SwapPaneUp "swap_pane_up" "Swap pane up" [] []
                "Exchanges the focused pane with its upper neighbor."
                else "There is no pane above.";
            SwapPaneDown "swap_pane_down" "Swap pane down" [] []
                "Exchanges the focused pane with its lower neighbor."
                else "There is no pane below.";
            RotatePanes "rotate_panes" "Rotate panes" [] []
                "Moves each pane of the tab to the next pane's place."
                else "The tab has only one pane.";
            RotatePanesBack "rotate_panes_back" "Rotate panes back" [] []
                "Moves each pane of the tab to the previous pane's place."
                else "The tab has only one pane.";
            EqualizePanes "equalize_panes" "Equalize panes" ["super+ctrl+shift+="] ["balance panes", "even out panes"]
                "Makes panes of a row equally wide, and panes of a column equally high."
                else "The tab has only one pane.";
            PaneToNewTab "pane_to_new_tab" "Move pane to a new tab" [] ["detach pane", "break pane"]
                "Moves the focused pane to a new tab. Its program keeps running."
                else "The tab has only one pane.";
            PaneToTab(number: "the tab's number, from 1", 1..=999) "pane_to_tab" "Move pane to tab" [] ["join pane"]
                "Moves the focused pane into the tab with this number. The pane lands right of that tab's focused pane; a number past the last tab means the last."
                else "The pane is already in that tab.";
            TabToNewWindow "tab_to_new_window" "Move tab to a new window" [] ["tear off tab", "detach tab", "pop out tab"]
                "Opens another window with this tab. Its programs keep running. Needs `sessions.keep`, and Linux."
                else "The window has only one tab.";
            TabToWindow(optional: "the instance's name") "tab_to_window" "Move tab to another window" [] ["send tab to window", "merge windows"]
                "Moves this tab to the window of another instance. Without a name, lists the windows. Needs `sessions.keep` in both windows, and Linux.";
            PaneToNewWindow "pane_to_new_window" "Move pane to a new window" [] ["tear off pane", "pop out pane"]
                "Opens another window with the focused pane. Its program keeps running. Needs `sessions.keep`, and Linux."
                else "The window has only one pane.";
            PaneToWindow(optional: "the instance's name") "pane_to_window" "Move pane to another window" [] ["send pane to window"]
                "Moves the focused pane to the window of another instance. Without a name, lists the windows. Needs `sessions.keep` in both windows, and Linux.";
            GatherTabs "gather_tabs" "Gather tabs of all windows" [] ["merge all windows", "collect windows"]
                "Moves the tabs of all other windows to this one. The other windows close. Needs `sessions.keep` in all windows, and Linux.";
            BroadcastTab "broadcast_tab" "Broadcast input in the tab" [] ["synchronize panes", "type into all panes of the tab"]
                "Starts or stops sending what you type to every pane of the tab.";
            BroadcastAll "broadcast_all" "Broadcast input in all tabs" [] ["type into all panes"]
                "Starts or stops sending what you type to every pane of every tab.";
            FocusLeft "focus_left" "Focus left" ["ctrl+alt+left", "super+ctrl+left"] []
                "Moves the focus to the pane on the left. Without a pane there, the program gets the key."
                else program "There is no pane to the left.";
            FocusRight "focus_right" "Focus right" ["ctrl+alt+right", "super+ctrl+right"] []
                "Moves the focus to the pane on the right. Without a pane there, the program gets the key."
                else program "There is no pane to the right.";
            FocusUp "focus_up" "Focus up" ["ctrl+alt+up", "super+ctrl+up"] []
                "Moves the focus to the pane above. Without a pane above, the program gets the key."
                else program "There is no pane above.";
            FocusDown "focus_down" "Focus down" ["ctrl+alt+down", "super+ctrl+down"] []
                "Moves the focus to the pane below. Without a pane below, the program gets the key."
                else program "There is no pane below.";
            NextPane "next_pane" "Next pane" [] ["cycle panes"]
                "Moves the focus to the tab's next pane. After the last pane comes the first."
                else "The tab has only one pane.";
            PreviousPane "previous_pane" "Previous pane" [] []
                "Moves the focus to the tab's previous pane. Before the first pane comes the last."
                else "The tab has only one pane.";
            ResizeLeft "resize_left" "Move divider left" ["ctrl+alt+shift+left"] ["resize", "resize pane left"]
                "Moves the focused pane's divider to the left."
                else "No divider of this pane can move that way.";
            ResizeRight "resize_right" "Move divider right" ["ctrl+alt+shift+right"] ["resize pane right"]
                "Moves the focused pane's divider to the right."
                else "No divider of this pane can move that way.";
            ResizeUp "resize_up" "Move divider up" ["ctrl+alt+shift+up"] ["resize pane up"]
                "Moves the focused pane's divider up."
                else "No divider of this pane can move that way.";
            ResizeDown "resize_down" "Move divider down" ["ctrl+alt+shift+down"] ["resize pane down"]
                "Moves the focused pane's divider down."
                else "No divider of this pane can move that way.";
            SelectAll "select_all" "Select all" [] []
                "Selects all text of the focused pane, including its history.";
            Copy "copy" "Copy" ["ctrl+shift+c", "ctrl+c", "ctrl+insert"] []
                "Copies the selection to the clipboard. Without a selection, the program gets Ctrl+C and Ctrl+Insert."
                else program_unless_shift "Nothing is selected.";
            CopyAsHtml "copy_as_html" "Copy as HTML" [] []
                "Copies the selection with its colors, as HTML and as text."
                else "Nothing is selected.";
            CopyAsAnsi "copy_as_ansi" "Copy with escape sequences" [] []
                "Copies the selection as text with the escape sequences of its colors."
                else "Nothing is selected.";
            Paste "paste" "Paste" ["ctrl+shift+v"] []
                "Pastes the clipboard.";
            PastePrimary "paste_primary" "Paste selection" ["shift+insert"] ["paste primary"]
                "Pastes the primary selection, which holds the text selected last.";
            SendText(text: r"the text, with the escapes \n, \r, \t, \e, \\, \xHH and \u{H…}") "send_text" "Type text" [] ["send text"]
                "Types text into the focused pane.";
            LargerFont "larger_font" "Larger font" ["ctrl+=", "ctrl+shift+=", "ctrl++"] ["zoom in", "increase font size", "bigger font"]
                "Makes the font one point larger."
                else "The font can't be larger.";
            SmallerFont "smaller_font" "Smaller font" ["ctrl+-"] ["zoom out", "decrease font size"]
                "Makes the font one point smaller."
                else "The font can't be smaller.";
            ResetFont "reset_font" "Reset font size" ["ctrl+0", "ctrl+shift+backspace"] ["reset zoom", "actual size"]
                "Returns to the configured font size.";
            ScrollPageUp "scroll_page_up" "Scroll up a page" ["shift+page_up"] []
                "Scrolls up by a page. A full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            ScrollPageDown "scroll_page_down" "Scroll down a page" ["shift+page_down"] []
                "Scrolls down by a page. A full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            ScrollLines(number: "the number of lines; a negative number scrolls up", -10_000..=10_000) "scroll_lines" "Scroll by lines" ["ctrl+shift+k" => "-1", "ctrl+shift+j" => "1"] []
                "Scrolls by this many lines. A full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            ScrollToTop "scroll_to_top" "Scroll to the top" ["shift+home", "ctrl+shift+home"] []
                "Shows the oldest line. A full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            ScrollToBottom "scroll_to_bottom" "Scroll to the end" ["shift+end", "ctrl+shift+end"] []
                "Shows the newest line. A full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            ShowHistory "show_history" "Show history in a pager" [] ["scrollback pager", "less"]
                "Shows the focused pane's history in a new tab. scrollback.pager sets the program.";
            ShowOutput "show_output" "Show a command's output in a pager" [] []
                "Shows the output of the last command, or of the one you jumped to, in a tab. scrollback.pager sets the program.";
            ClearHistory "clear_history" "Clear history" [] ["clear scrollback", "delete history"]
                "Deletes the focused pane's lines above the screen.";
            ClearScreen "clear_screen" "Clear screen and history" [] ["clear", "clear buffer", "clear terminal", "cls"]
                "Deletes the focused pane's history, and its screen but for the prompt. Modes stay as they are.";
            ResetTerminal "reset_terminal" "Reset terminal" [] ["hard reset"]
                "Clears the focused pane's screen, history and modes. Use it if a program left the terminal garbled. Running programs keep running.";
            Search "search" "Search" ["ctrl+shift+f"] ["find"]
                "Searches the focused pane's screen and history.";
            SearchSelection "search_selection" "Search for the selection" [] ["find selection"]
                "Searches the focused pane's screen and history for the selected text.";
            PreviousPrompt "previous_prompt" "Previous prompt" ["ctrl+shift+up"] ["jump to previous prompt"]
                "Scrolls up to a prompt or a line that a program marked. A full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            NextPrompt "next_prompt" "Next prompt" ["ctrl+shift+down"] ["jump to next prompt"]
                "Scrolls down to a prompt or a marked line. After the last it shows the live screen; a full-screen program gets the key."
                else program "A full-screen program has no history to scroll.";
            SelectOutput "select_output" "Select a command's output" ["ctrl+shift+g"] []
                "Selects the output of the last command, or of the one you jumped to.";
            CopyOutput "copy_output" "Copy a command's output" [] []
                "Copies the output of the last command, or of the one you jumped to.";
            CopyCommand "copy_command" "Copy a command" [] []
                "Copies the command line of the last command, or of the one you jumped to.";
            RerunCommand "rerun_command" "Run a command again" [] ["rerun", "repeat command"]
                "Runs the last command again, or the one you jumped to. If a program may have forged the command, Unterm types it without Enter.";
            FoldOutput "fold_output" "Fold a command's output" [] ["collapse output"]
                "Folds or unfolds the output of the last command, or of the one you jumped to.";
            FoldAll "fold_all" "Fold all output" [] ["collapse all"]
                "Folds the output of every finished command in the focused pane.";
            UnfoldAll "unfold_all" "Unfold all output" [] ["expand all"]
                "Unfolds all output in the focused pane.";
            QuickSelect "quick_select" "Quick select" ["ctrl+shift+space"] ["hints", "labels"]
                "Labels links, paths, hashes and numbers: type a label to copy its text. If the last letter is upper case, Unterm pastes the text, too.";
            OpenHint "open_hint" "Open by label" ["ctrl+shift+o"] ["open url", "open link", "open file"]
                "Labels links and paths, to open one by its letters. A file opens in the editor at its line; other text is copied.";
            CopyMode "copy_mode" "Copy mode" ["ctrl+shift+m"] ["vi mode", "keyboard selection"]
                "Selects and copies text with vi keys, on the screen and in the history. It starts at the match of an open search. The same action ends it.";
            CommandPalette "command_palette" "Command palette" ["ctrl+shift+p"] []
                "Lists every action, to run one by its name.";
            ChooseTheme "choose_theme" "Choose theme" [] ["color scheme", "colour scheme", "colors", "themes", "appearance"]
                "Lists the themes, previews the marked one and sets the chosen one.";
            NextTheme "next_theme" "Next theme" [] []
                "Sets the next theme of the list. After the last theme comes the first.";
            ToggleProxy "toggle_proxy" "Turn the proxy on or off" [] ["proxy"]
                "Turns the proxy in proxy.json on or off, for programs started from now on.";
            ChooseTab "choose_tab" "Choose tab" [] ["tab list", "tabs"]
                "Lists the tabs by title, to activate one.";
            Launcher "launcher" "Launcher" [] []
                "Lists every action, the open tabs, and shells to open in a new tab.";
            ChooseShell "choose_shell" "Choose shell" [] ["profiles", "new tab with shell"]
                "Lists the installed shells, to open a tab with one.";
            MainMenu "main_menu" "Menu" [] []
                "Opens the window's menu at the right of the tab bar.";
            ChangeDirectory "change_directory" "Change working directory" [] ["cd", "working directory"]
                "Asks for a directory and types cd into the focused pane's shell.";
            ChangeDirectoryTo(text: "the directory") "change_directory_to" "Change working directory to" [] []
                "Types cd and this directory into the focused pane's shell.";
            OpenFolder "open_folder" "Open folder in new tab" [] []
                "Asks for a directory and opens a tab there.";
            NewTabIn(text: "the directory") "new_tab_in" "New tab in" [] []
                "Opens a shell in a new tab, in this directory.";
            ExportSession "export_session" "Export session" [] ["save output", "save text"]
                "Saves the focused pane's text in ~/.unterm/exports and copies the path.";
            ToggleRecording "toggle_recording" "Start or stop recording" [] ["record"]
                "Starts or stops a recording of the focused pane. The log is in ~/.unterm/sessions and the page in the project's .unterm/sessions; stopping copies the page's path.";
            ChooseEmoji "choose_emoji" "Emoji" ["ctrl+shift+u"] ["unicode input", "character picker"]
                "Lists emoji by name and keyword, to type one. A code point such as U+263A types any character.";
            CaptureRegionExclude "capture_region_exclude" "Capture region without the window" [] []
                "Hides the window and captures a region of the screen. Drag to select the region; Esc cancels.";
            CaptureRegionInclude "capture_region_include" "Capture region" [] ["region screenshot"]
                "Captures a region of the screen. Drag to select the region; Esc cancels.";
            CaptureWindow "capture_window" "Capture window" [] ["screenshot", "take screenshot", "window screenshot"]
                "Captures this window.";
            CaptureScreen "capture_screen" "Capture screen" [] ["screen screenshot"]
                "Captures the whole screen that the window is on.";
            PauseAgents "pause_agents" "Pause or resume agents" ["ctrl+shift+a"] ["stop agents"]
                "Holds every agent call that would change something, until you resume agents."
                else "The control server is not running, so no agent is connected.";
            AnswerAgent "answer_agent" "Answer an agent" ["ctrl+shift+y"] ["approve", "permissions"]
                "Lists the possible answers to an agent's question."
                else "No agent is waiting for an answer.";
            Inbox "inbox" "Inbox" ["ctrl+shift+i"] ["questions", "who needs me"]
                "Lists what needs you in all instances. You answer there, or go to the pane."
                else "The control server is not running, so there is no inbox.";
            NextAttention "next_attention" "Next pane that needs you" ["ctrl+alt+shift+i"] ["jump to question", "next question"]
                "Goes to the newest pane that needs you, then to the next, in any instance."
                else "The control server is not running, so there is no inbox.";
            DismissMessages "dismiss_messages" "Dismiss messages" ["ctrl+shift+delete"] ["close notifications", "clear notifications"]
                "Dismisses the messages at the bottom right, including errors.";
            DebugOverlay "debug_overlay" "Debug overlay" ["ctrl+shift+l"] ["frame rate", "fps", "inspector"]
                "Shows frame times, the painter and the cell under the mouse.";
            ToggleQuake "toggle_quake" "Show or hide the drop-down" [] ["quake", "drop-down terminal", "quick terminal"]
                "Shows or hides a window that was started with --quake."
                else "Only a window that was started with --quake can be hidden.";
            SaveLayout(text: "the layout's name") "save_layout" "Save layout" [] []
                "Saves tabs, splits and directories in ~/.unterm/layouts. open_layout and startup.layout open them.";
            OpenLayout(optional: "the layout's name") "open_layout" "Open layout" [] ["layouts"]
                "Opens a saved layout's tabs in this window. Without a name, lists the layouts."
                else "No layout is saved.";
            Settings "settings" "Settings" [] ["preferences", "options"]
                "Opens the settings page in the browser.";
            OpenConfig "open_config" "Open configuration" ["ctrl+,", "ctrl+shift+f2"] ["reload", "reload configuration", "edit configuration", "config file"]
                "Opens config.toml in an editor; saved changes apply at once. The editor is hints.editor, else $VISUAL, $EDITOR or vi. If the file is missing, Unterm creates it with every key commented out.";
            Tour "tour" "Tour" [] ["help", "tutorial"]
                "Shows in five steps what the window can do.";
            About "about" "About Unterm" [] ["version", "report an issue", "bug report"]
                "Shows the version, the painter and the system, to copy into a bug report.";
            NewWindow "new_window" "New window" ["ctrl+shift+n"] []
                "Starts another Unterm with its own window.";
            Fullscreen "fullscreen" "Full screen" ["f11"] ["toggle full screen"]
                "Enters or leaves full screen.";
        }
    };
}
pub(crate) use with_actions;

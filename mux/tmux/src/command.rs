//! The text of the commands that are sent to tmux.
//!
//! Commands contain numbers, fixed words, and text of the user. The user's text is quoted, and never expanded as a
//! format.

use std::fmt::Write as _;

use crate::{PaneId, WindowId};

/// The maximum number of input bytes in a command. Longer input is sent as several commands.
pub(crate) const INPUT_CAP: usize = 512;

/// The lines of history to restore.
pub(crate) const HISTORY: u32 = 100_000;

/// Separates the variables in a reply.
pub(crate) const FORMAT_SEPARATOR: char = '|';

/// The variables of a window, in the order in which [`windows`] requests them. The name is last, because it may contain
/// the separator.
const WINDOW: &str = "#{window_id}|#{window_active}|#{window_layout}|#{window_visible_layout}|#{window_flags}|\
    #{pane_id}|#{pane-border-status}|#{window_name}";

/// The variables of a pane, in the order in which [`crate::restore::State`] reads them. The title is last.
const PANE: &str = "#{pane_width}|#{pane_height}|#{cursor_x}|#{cursor_y}|#{history_size}|#{alternate_on}|\
    #{alternate_saved_x}|#{alternate_saved_y}|#{scroll_region_upper}|#{scroll_region_lower}|#{cursor_flag}|\
    #{insert_flag}|#{wrap_flag}|#{origin_flag}|#{keypad_cursor_flag}|#{keypad_flag}|#{mouse_standard_flag}|\
    #{mouse_button_flag}|#{mouse_all_flag}|#{mouse_utf8_flag}|#{mouse_sgr_flag}|#{bracket_paste_flag}|\
    #{pane_tabs}|#{pane_title}";

/// The side of a pane at which a new pane appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To the right.
    Right,
    /// Below.
    Below,
}

/// The program of a new pane. The default is tmux's default command, in tmux's default directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewProgram {
    /// A command line for the server's shell.
    pub command: Option<String>,
    /// Whether the program starts in the directory of the pane beside which it appears.
    pub in_same_folder: bool,
}

impl NewProgram {
    fn arguments(&self) -> String {
        let mut text = String::new();
        if self.in_same_folder {
            text.push_str(" -c '#{pane_current_path}'");
        }
        if let Some(command) = &self.command {
            let _ = write!(text, " -- {}", quoted(command));
        }
        text
    }
}

/// Sets how old output may become until tmux pauses its pane, in seconds.
pub(crate) fn pause_after(seconds: u32) -> String {
    format!("refresh-client -f pause-after={seconds}")
}

/// The name of the subscription to the names of programs.
pub(crate) const PROGRAMS: &str = "unterm-program";

/// Requests a notification whenever another program is in the foreground of a pane. Since tmux 3.2.
pub(crate) fn watch_programs() -> String {
    format!("refresh-client -B '{PROGRAMS}:%*:#{{pane_current_command}}'")
}

pub(crate) fn client_size(cols: u16, rows: u16) -> String {
    format!("refresh-client -C {cols}x{rows}")
}

pub(crate) fn window_size(window: WindowId, cols: u16, rows: u16) -> String {
    format!("refresh-client -C {window}:{cols}x{rows}")
}

pub(crate) fn windows() -> String {
    format!("list-windows -F '{WINDOW}'")
}

pub(crate) fn window(window: WindowId) -> String {
    format!("display-message -p -t {window} '{WINDOW}'")
}

/// Commands that return a pane's state, history, screen, and the screen that the alternate screen hides. tmux runs them
/// without processing output in between.
pub(crate) fn restore(pane: PaneId, with_history: bool) -> String {
    let history = match with_history {
        true => format!("capture-pane -peqJC -S -{HISTORY} -E -1 -t {pane} ; "),
        false => String::new(),
    };
    format!(
        "display-message -p -t {pane} '{PANE}' ; {history}capture-pane -peqJC -t {pane} ; \
         capture-pane -peqJCa -t {pane}"
    )
}

pub(crate) fn resume(pane: PaneId) -> String {
    format!("refresh-client -A '{pane}:continue'")
}

/// Types bytes. At most [`INPUT_CAP`] are used.
pub(crate) fn input(pane: PaneId, bytes: &[u8]) -> String {
    let mut text = format!("send-keys -t {pane} -H");
    for byte in &bytes[..bytes.len().min(INPUT_CAP)] {
        let _ = write!(text, " {byte:02x}");
    }
    text
}

pub(crate) fn split(pane: PaneId, side: Side, program: &NewProgram) -> String {
    let side = match side {
        Side::Right => "-h",
        Side::Below => "-v",
    };
    format!("split-window {side} -P -F '#{{pane_id}}' -t {pane}{}", program.arguments())
}

pub(crate) fn new_window(program: &NewProgram) -> String {
    format!("new-window -P -F '#{{window_id}}|#{{pane_id}}'{}", program.arguments())
}

pub(crate) fn kill_pane(pane: PaneId) -> String {
    format!("kill-pane -t {pane}")
}

pub(crate) fn select_pane(pane: PaneId) -> String {
    format!("select-pane -t {pane}")
}

pub(crate) fn select_window(window: WindowId) -> String {
    format!("select-window -t {window}")
}

pub(crate) fn toggle_zoom(pane: PaneId) -> String {
    format!("resize-pane -Z -t {pane}")
}

pub(crate) fn resize_pane(pane: PaneId, cols: u16, rows: u16) -> String {
    format!("resize-pane -t {pane} -x {cols} -y {rows}")
}

pub(crate) fn swap_panes(one: PaneId, other: PaneId) -> String {
    format!("swap-pane -d -s {one} -t {other}")
}

pub(crate) fn select_layout(window: WindowId, layout: &crate::Layout) -> String {
    format!("select-layout -t {window} '{layout}'")
}

pub(crate) fn rename_window(window: WindowId, name: &str) -> String {
    // tmux expands formats in the name. `#(…)` would run a program.
    format!("rename-window -t {window} -- {}", quoted(&name.replace('#', "##")))
}

pub(crate) fn detach() -> String {
    "detach-client".to_owned()
}

/// Quotes text for tmux's command language. Control characters are dropped, because a newline would end the command.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_sent_as_numbers_in_bounded_commands() {
        assert_eq!(input(PaneId(3), b"a;\n\xff"), "send-keys -t %3 -H 61 3b 0a ff");
        assert_eq!(input(PaneId(3), &[0; 2 * INPUT_CAP]).len(), 18 + 3 * INPUT_CAP);
    }

    #[test]
    fn text_of_the_user_is_never_run_or_expanded() {
        let renamed = |name| rename_window(WindowId(1), name);
        assert_eq!(renamed("a b"), "rename-window -t @1 -- 'a b'");
        assert_eq!(
            renamed("it's #(id)\nkill-server"),
            r"rename-window -t @1 -- 'it'\''s ##(id)kill-server'"
        );
        let program = NewProgram { command: Some("less 'a b'".into()), in_same_folder: true };
        assert_eq!(
            split(PaneId(0), Side::Below, &program),
            r"split-window -v -P -F '#{pane_id}' -t %0 -c '#{pane_current_path}' -- 'less '\''a b'\'''"
        );
    }
}

//! Whether a shell without integration is at its prompt.

use unterm_mux::Pane;

use super::{
    question_line::{ends_prompt, line_to_cursor},
    shell::Shell,
};

/// Whether the program in front is a shell that reads commands, and the line at the cursor looks like its prompt
/// ([`ends_prompt`]). A command of the shell that reads a line behind such a text looks the same.
pub fn stands(pane: &Pane) -> bool {
    // Right after input, the screen may still show the prompt before it. Must come before a look at the screen.
    pane.shows_input()
        && ends_prompt(&line_to_cursor(&pane.term()))
        && Shell::reading_commands(pane).is_some()
}

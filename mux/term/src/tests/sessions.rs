//! Recorded sessions: the output of real programs for a terminal of 80×24 cells, and the screen that it must produce.
//!
//! Each session was recorded with the replies of this engine, and its screen was checked by eye. To accept an intended
//! change, run `UPDATE_EXPECT=1 cargo test -p unterm-term sessions`.

use expect_test::{ExpectFile, expect_file};

use super::Fixture;

/// Plays a session as a whole and in unusual pieces. Both must produce the expected screen.
fn play(bytes: &[u8], expected: ExpectFile) {
    let mut whole = Fixture::new(80, 24);
    whole.feed(bytes);
    let mut pieces = Fixture::new(80, 24);
    for piece in bytes.chunks(7) {
        pieces.feed(piece);
    }
    assert_eq!(whole.term.dump(), pieces.term.dump());
    expected.assert_eq(&shown(&whole));
}

/// The screen, one row per line, followed by the cursor, the modes and the title.
fn shown(fixture: &Fixture) -> String {
    let mut screen = String::new();
    let term = &fixture.term;
    for row in 0..term.size().rows as u64 {
        term.row_text(crate::LineId(term.live_top().0 + row), &mut screen);
        screen.push('\n');
    }
    let cursor = fixture.cursor();
    screen.push_str(&format!("cursor {cursor:?} {:?}\n", term.cursor().shape));
    screen.push_str(&format!("{:?} mouse {:?}\n", term.modes(), term.mouse_tracking()));
    screen.push_str(&format!("title {:?}\n", term.title()));
    screen
}

#[test]
fn vim_edits_in_two_windows() {
    play(include_bytes!("sessions/vim.vt"), expect_file!["sessions/vim.txt"]);
}

#[test]
fn less_searches_and_scrolls_back() {
    play(include_bytes!("sessions/less.vt"), expect_file!["sessions/less.txt"]);
}

#[test]
fn mc_draws_its_panels() {
    play(include_bytes!("sessions/mc.vt"), expect_file!["sessions/mc.txt"]);
}

#[test]
fn tmux_splits_its_window() {
    play(include_bytes!("sessions/tmux.vt"), expect_file!["sessions/tmux.txt"]);
}

#[test]
fn vim_scrolls_coloured_source() {
    play(include_bytes!("sessions/vim-scroll.vt"), expect_file!["sessions/vim-scroll.txt"]);
}

#[test]
fn htop_refreshes_its_table() {
    play(include_bytes!("sessions/htop.vt"), expect_file!["sessions/htop.txt"]);
}

/// A chat that streams its answer as Markdown, written with Textual: true colors, synchronized output.
#[test]
fn an_agent_streams_an_answer() {
    play(include_bytes!("sessions/agent.vt"), expect_file!["sessions/agent.txt"]);
}

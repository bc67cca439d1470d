//! `unterm-cli tmux`, and programs that call `tmux` inside a pane.

use anyhow::Result;
use unterm_tests::{Start, binary};

#[test]
fn programs_in_a_pane_find_unterms_tmux_first() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    assert_eq!(unterm.prints(&["tmux", "-V"])?, "tmux 3.3a\n");
    assert_eq!(unterm.prints(&["tmux", "list-panes", "-a", "-F", "#{pane_id}"])?, "%0\n");
    assert_eq!(unterm.complains(&["tmux", "nope"])?, "unknown command: nope\n");
    let cli = binary("unterm-cli").display().to_string();
    let script = "echo ${TMUX:+inside} $TMUX_PANE; \
        tmux split-window -h -d -P -F \"#{pane_id}\" -- sh -c \"tmux wait-for -S up; exec cat\"; \
        tmux wait-for up; tmux display-message -p \"#{window_panes} #{pane_id}\"";
    let line = format!("{cli} tmux-shim -- sh -c '{script}'");
    let reply = unterm.prints(&["run", "--id", "0", &line])?;
    assert_eq!(reply, "inside %0\n%1\n2 %0\n");
    Ok(())
}

#[test]
fn tmux_files_and_shell_commands_use_the_clients_process() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let file = unterm.home().join("buffer").display().to_string();
    unterm.prints(&["tmux", "set-buffer", "-b", "own", "some text"])?;
    unterm.prints(&["tmux", "save-buffer", "-b", "own", &file])?;
    assert_eq!(std::fs::read_to_string(&file)?, "some text");
    assert_eq!(unterm.prints(&["tmux", "save-buffer", "-b", "own", "-"])?, "some text");
    unterm.prints(&["tmux", "load-buffer", "-b", "again", &file])?;
    assert_eq!(unterm.prints(&["tmux", "show-buffer", "-b", "again"])?, "some text");
    assert_eq!(unterm.prints(&["tmux", "run-shell", "echo #{pane_id}"])?, "%0\n");
    assert_eq!(unterm.cli(&["tmux", "run-shell", "exit 5"])?.status.code(), Some(5));
    Ok(())
}

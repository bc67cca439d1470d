//! `unterm-cli transfer`. The mux's tests copy files with a user who answers.

use anyhow::{Result, ensure};
use unterm_tests::{Start, binary};

#[test]
fn without_a_window_a_transfer_is_refused_with_its_reason() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let file = unterm.home().join("file");
    std::fs::write(&file, "text")?;
    let (cli, file) = (binary("unterm-cli").display().to_string(), file.display().to_string());
    for words in [format!("send {file}"), "receive file".to_owned()] {
        let line = format!("{cli} transfer {words}; echo status $?");
        let reply = unterm.prints(&["run", "--id", "0", &line])?;
        ensure!(reply.contains("No window can ask the user"), "{words}: {reply}");
        ensure!(reply.ends_with("status 1\n"), "{words}: {reply}");
        // No reply of the terminal reaches the shell.
        ensure!(!reply.contains("5113"), "{words}: {reply}");
    }
    let reply =
        unterm.prints(&["run", "--id", "0", &format!("{cli} transfer send /missing; true")])?;
    ensure!(reply.contains("/missing: No such file"), "{reply}");
    Ok(())
}

//! `ptywright run`: statuses, sizes, input and output without a terminal and on a terminal, signals, and closed pipes.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::symlink,
    process::{Child, Command, Output, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use unterm_tests::{binary, wait_for};

use crate::ptywright::{
    client::command,
    outer_terminal::{OuterTerminal, checked},
};

/// Runs a command with pipes, and with this input.
fn run(words: &[&str], input: &[u8]) -> Result<Output> {
    let home = tempfile::tempdir()?;
    let mut process = command(home.path()).arg("run").args(words).spawn()?;
    process.stdin.take().context("input")?.write_all(input)?;
    Ok(process.wait_with_output()?)
}

/// Runs a shell script, and returns its output and status.
fn script(options: &[&str], script: &str, input: &[u8]) -> Result<(String, Option<i32>)> {
    let words = [options, &["--", "sh", "-c", script]].concat();
    let output = run(&words, input)?;
    ensure!(output.stderr.is_empty(), "{output:?}");
    Ok((String::from_utf8(output.stdout)?, output.status.code()))
}

#[test]
fn status_and_output_are_passed_through() -> Result<()> {
    assert_eq!(script(&[], "printf 'a\\nb'; exit 7", b"")?, ("a\r\nb".to_owned(), Some(7)));
    assert_eq!(script(&[], "kill -TERM $$", b"")?, (String::new(), Some(143)));
    assert_eq!(script(&[], "kill -KILL $$", b"")?, (String::new(), Some(137)));
    let output = run(&["--", "printf", r"\377\001\033[m"], b"")?;
    assert_eq!(output.stdout, b"\xff\x01\x1b[m");
    assert_eq!(script(&[], "stty size; test -t 1", b"")?, ("24 80\r\n".to_owned(), Some(0)));
    assert_eq!(script(&["--rows", "9", "--cols=33"], "stty size", b"")?.0, "9 33\r\n");
    assert_eq!(script(&["--rows", "9"], "stty size", b"")?.0, "9 80\r\n");
    let refused = run(&["--rows", "0", "--", "true"], b"")?;
    ensure!(refused.status.code() == Some(1), "{refused:?}");
    Ok(())
}

#[test]
fn a_command_that_cannot_start_has_a_status_and_a_reason() -> Result<()> {
    for (program, status, reason) in [
        ("no-such-program", 127, "no such program in PATH"),
        ("/nowhere/program", 127, "does not exist"),
        ("/etc/passwd", 126, "not executable"),
    ] {
        let output = run(&["--", program, "-x"], b"")?;
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let said = String::from_utf8(output.stderr)?;
        ensure!(
            output.stdout.is_empty() && said.contains(program) && said.contains(reason),
            "{said}"
        );
    }
    Ok(())
}

#[test]
fn the_end_of_the_input_reaches_the_command() -> Result<()> {
    // The terminal echoes the input. If the script runs `stty -echo`, input may arrive before it and be echoed, or
    // after it.
    for input in ["line\n", "no line end", ""] {
        let (output, status) = script(&[], "cat; echo over", input.as_bytes())?;
        ensure!(status == Some(0) && output.ends_with("over\r\n"), "{output:?}");
        ensure!(output.contains(input.trim_end()), "{output:?}");
    }
    let home = tempfile::tempdir()?;
    let output = command(home.path())
        .args(["run", "--", "sh", "-c", "cat; echo over"])
        .stdin(Stdio::null())
        .output()?;
    ensure!(output.stdout.ends_with(b"over\r\n"), "{output:?}");
    Ok(())
}

/// Starts a script and waits for its line `ready`.
fn started(script: &str) -> Result<(Child, BufReader<std::process::ChildStdout>)> {
    let home = tempfile::tempdir()?;
    let mut process =
        command(home.path()).args(["run", "--", "sh", "-c", script]).current_dir("/").spawn()?;
    let mut output = BufReader::new(process.stdout.take().context("output")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    ensure!(line == "ready\r\n", "{line:?}");
    Ok((process, output))
}

#[test]
fn a_closed_pipe_ends_the_command() -> Result<()> {
    // The first script writes and ignores the hang-up. The second script writes nothing.
    for script in ["trap '' HUP; echo ready; exec yes", "echo ready; exec sleep 600"] {
        let (mut process, output) = started(script)?;
        drop(output);
        assert_eq!(process.wait()?.code(), Some(141), "{script}");
    }
    Ok(())
}

#[test]
fn signals_are_passed_on() -> Result<()> {
    let script = "trap 'exit 5' INT; trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    for (signal, status) in [("INT", 5), ("TERM", 9), ("HUP", 129)] {
        let (mut process, _output) = started(script)?;
        let pid = process.id().to_string();
        Command::new("kill").args(["-s", signal, &pid]).status()?;
        assert_eq!(process.wait()?.code(), Some(status), "{signal}");
    }
    Ok(())
}

#[test]
fn on_a_terminal_keys_and_sizes_pass_through() -> Result<()> {
    let inner = "trap 'echo now $(stty size)' WINCH; stty size; tty -s && echo tty; \
                 while :; do sleep 0.05; done";
    let mut outer = OuterTerminal::new(&checked(&format!(
        "$CLI run -- sh -c \"{}\"",
        inner.replace('$', "\\$")
    )))?;
    outer.wait("24 80")?;
    outer.wait("tty")?;
    outer.resize(30, 100)?;
    outer.wait("now 30 100")?;
    // Ctrl+C is sent to the command as a key, and does not affect the outer terminal's shell.
    outer.press("ctrl_c")?;
    outer.ends_with(130)?;

    let mut outer = OuterTerminal::new(&checked(
        "$CLI run --rows 9 --cols 33 -- sh -c 'stty size; read x; echo got-$x'",
    ))?;
    outer.wait("9 33")?;
    outer.type_text("text\r")?;
    outer.wait("got-text")?;
    outer.ends_with(0)?;

    let mut outer = OuterTerminal::new(&checked("$CLI run -- no-such-program"))?;
    outer.ends_with(127)?;
    Ok(())
}

#[test]
fn terminal_modes_are_restored_after_a_signal() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("pid");
    let script = format!(
        "sh -c 'echo $$ >{}; exec \"$@\"' - $CLI run -- sh -c \"trap '' TERM; echo ready; exec sleep 600\"",
        file.display()
    );
    let mut outer = OuterTerminal::new(&checked(&script))?;
    outer.wait("ready")?;
    let pid = fs::read_to_string(&file)?.trim().to_owned();
    // The command ignores the first signal. A second signal ends `run`.
    wait_for(
        "its end",
        || {
            let sent = Command::new("kill").arg(&pid).stderr(Stdio::null()).status()?;
            Ok((!sent.success()).then_some(()))
        },
        String::new,
    )?;
    outer.ends_with(143)?;
    Ok(())
}

#[test]
fn a_link_has_the_same_commands_and_its_own_completions() -> Result<()> {
    let home = tempfile::tempdir()?;
    let link = home.path().join("ptywright");
    symlink(binary("unterm-cli"), &link)?;
    let run = |words: &[&str]| -> Result<String> {
        let output = Command::new(&link).args(words).env("UNTERM_HOME", home.path()).output()?;
        ensure!(output.status.success(), "{words:?}: {output:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    assert_eq!(run(&["run", "--", "echo", "hi"])?, "hi\r\n");
    ensure!(run(&["--version"])?.starts_with("ptywright "));
    ensure!(run(&[])?.contains("Usage: ptywright"));
    ensure!(run(&["run", "--help"])?.contains("Usage: ptywright run"));
    ensure!(run(&["completions", "fish"])?.contains("complete -c ptywright"));
    let refused = Command::new(&link).args(["completions", "tcsh"]).output()?;
    ensure!(!refused.status.success() && String::from_utf8(refused.stderr)?.contains("tcsh"));
    // The completion script calls the link by its own name.
    let path = format!("{}:{}", home.path().display(), std::env::var("PATH")?);
    let complete = |line: &str| -> Result<String> {
        let count = line.split(' ').count() - 1;
        let script = format!(
            "source <(ptywright completions bash); COMP_WORDS=({line}); COMP_CWORD={count}; _ptywright; \
             echo ${{COMPREPLY[@]}}"
        );
        let output = Command::new("bash").args(["-c", &script]).env("PATH", &path).output()?;
        Ok(String::from_utf8(output.stdout)?)
    };
    assert_eq!(complete("ptywright re")?, "repl\n");
    assert_eq!(complete("ptywright serve --framing l")?, "lsp\n");
    assert_eq!(complete("ptywright completions z")?, "zsh\n");
    Ok(())
}

#[test]
fn a_flood_of_output_is_passed_on_completely() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut process = command(home.path())
        .args(["run", "--", "sh", "-c", "seq 200000"])
        .stdin(Stdio::null())
        .spawn()?;
    let mut output = String::new();
    process.stdout.take().context("output")?.read_to_string(&mut output)?;
    ensure!(process.wait()?.success());
    assert_eq!(output.lines().count(), 200_000);
    ensure!(output.ends_with("\r\n200000\r\n"));
    Ok(())
}

//! `ptywright repl` with a script as input: each line is a command, each line of output is a JSON value. Also covers
//! errors.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Output, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::ptywright::client::{Framing, PtywrightServer, command};

/// Runs the command with these arguments, and with these lines as input.
fn run(home: &Path, args: &[&str], lines: &str) -> Result<Output> {
    let mut process = command(home).arg("repl").args(args).spawn()?;
    // Ignore the error: a client that can't connect does not read its input.
    let _ = process.stdin.take().context("input")?.write_all(lines.as_bytes());
    Ok(process.wait_with_output()?)
}

fn values(output: &Output) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(&output.stdout)?;
    let is_shown = |char: char| char == '\n' || !char.is_control();
    ensure!(text.chars().all(is_shown), "control characters: {text:?}");
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_script_calls_methods_of_a_server_of_its_own() -> Result<()> {
    let home = tempfile::tempdir()?;
    for framing in Framing::ALL {
        let lines = r#"
            # A program that prints control characters.
            session.create program=sh args=["-c","printf '\\033]0;evil\\007ready\\177\\033[31m.'; exec cat"] rows=10
            session.wait session=s1 matcher.type=contains_text matcher.value="ready"
            session.transcript {"session": "s1"}
            server.set_notifications enabled=true
            session.kill session=s1
            session.wait session=s1 matcher.type=process_exited
            session.list
        "#;
        let output = run(home.path(), &["--stdio", "--framing", framing.name()], lines)?;
        ensure!(output.status.success(), "{output:?}");
        let all = values(&output)?;
        let (notes, results): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|value| value.get("method").is_some());
        assert_eq!(results.len(), 7, "{results:?}");
        assert_eq!(results[0], json!({"session": "s1"}));
        assert_eq!(results[1]["matched"], true);
        assert_eq!(results[2]["text"], "\u{1b}]0;evil\u{7}ready\u{7f}\u{1b}[31m.");
        assert_eq!(results[6], json!({"sessions": ["s1"]}));
        ensure!(notes.iter().any(|note| note["method"] == "session.exited"), "{notes:?}");
        assert_eq!(said(&output), "");
    }
    Ok(())
}

#[test]
fn a_failed_line_is_reported_and_later_lines_run() -> Result<()> {
    let home = tempfile::tempdir()?;
    let lines = "sesion.list\nsession.kill session=s9\nsession.create rows=1 rows=2\nhelp nope\nsession.list\n\
                 plugin.load manifest_path=/x\nquit\nsession.list\n";
    let output = run(home.path(), &["--stdio"], lines)?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(values(&output)?, [json!({"sessions": []})]);
    let said = said(&output);
    for reason in [
        "line 1: unknown method: sesion.list; did you mean session.list?\n",
        "line 2: session.kill: unknown session \"s9\"",
        "(wrong parameter, -32602)\n",
        "line 3: rows: given twice\n",
        "line 4: unknown method: nope; `help` lists all methods\n",
        "(not allowed, -32004)\n  {\"method\":\"plugin.load\",\"reason\":\"server_did_not_grant_plugin_load\"}\n",
    ] {
        ensure!(said.contains(reason), "{reason:?} is not in\n{said}");
    }
    Ok(())
}

#[test]
fn every_method_has_help() -> Result<()> {
    let home = tempfile::tempdir()?;
    let output = run(home.path(), &["--stdio"], "server.capabilities\n")?;
    let methods = values(&output)?[0]["methods"].as_array().context("methods")?.clone();
    let lines: String =
        methods.iter().filter_map(Value::as_str).map(|name| format!("help {name}\n")).collect();
    let output = run(home.path(), &["--stdio"], &lines)?;
    ensure!(output.status.success(), "{output:?}");
    Ok(())
}

#[test]
fn options_reach_the_server_and_its_errors_are_shown() -> Result<()> {
    let home = tempfile::tempdir()?;
    let output = run(home.path(), &["--stdio", "--allow-plugin-load"], "plugin.capabilities\n")?;
    assert_eq!(values(&output)?[0]["plugin_load"], true);
    let output = run(home.path(), &["--stdio", "--plugin", "/nowhere/manifest.toml"], "")?;
    ensure!(output.status.code() == Some(1) && said(&output).contains("/nowhere"), "{output:?}");
    let output = run(home.path(), &["--stdio", "--", "/nowhere/server"], "")?;
    ensure!(
        output.status.code() == Some(1) && said(&output).contains("/nowhere/server"),
        "{output:?}"
    );
    let output = run(home.path(), &["--socket", "/nowhere/socket"], "")?;
    ensure!(said(&output).contains("ptywright serve --socket /nowhere/socket"), "{output:?}");
    let output = run(home.path(), &[], "")?;
    ensure!(said(&output).contains("--socket") && !output.status.success(), "{output:?}");
    // A server that speaks another protocol.
    let output = run(home.path(), &["--stdio", "--", "printf", "hello\\n\\033[2J\\n"], "")?;
    let said = said(&output);
    ensure!(said.contains("no JSON but \"hello\"") && !said.contains('\u{1b}'), "{said}");
    Ok(())
}

#[test]
fn a_wrong_framing_is_reported() -> Result<()> {
    for (theirs, ours) in [(Framing::Lsp, "ndjson"), (Framing::Ndjson, "lsp")] {
        let served = PtywrightServer::socket(theirs)?;
        let path = served.path().display().to_string();
        let home = tempfile::tempdir()?;
        let output = run(home.path(), &["--socket", &path, "--framing", ours], "session.list\n")?;
        assert_eq!(output.status.code(), Some(1));
        ensure!(said(&output).contains("is --framing right?"), "{}", said(&output));
    }
    Ok(())
}

#[test]
fn a_server_that_is_killed_ends_the_script() -> Result<()> {
    let mut served = PtywrightServer::socket(Framing::Ndjson)?;
    let home = tempfile::tempdir()?;
    let path = served.path();
    let mut process = command(home.path()).args(["repl", "--socket"]).arg(&path).spawn()?;
    let mut input = process.stdin.take().context("input")?;
    let mut output = BufReader::new(process.stdout.take().context("output")?);
    input.write_all(b"session.list\n")?;
    let mut line = String::new();
    output.read_line(&mut line)?;
    assert_eq!(line, "{\"sessions\":[]}\n");
    served.process.kill()?;
    served.process.wait()?;
    input.write_all(b"session.list\n")?;
    let output = process.wait_with_output()?;
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr)?;
    ensure!(said.contains("line 2: ") && said.contains("connection"), "{said}");
    Ok(())
}

#[test]
fn sessions_outlive_a_prompt_on_a_socket() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let path = served.path().display().to_string();
    let home = tempfile::tempdir()?;
    run(home.path(), &["--socket", &path], "session.create program=cat\n")?;
    let output = run(home.path(), &["--socket", &path], "session.list\n")?;
    assert_eq!(values(&output)?, [json!({"sessions": ["s1"]})]);
    Ok(())
}

#[test]
fn a_closed_output_ends_the_script() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut process =
        command(home.path()).args(["repl", "--stdio"]).stderr(Stdio::null()).spawn()?;
    let mut input = process.stdin.take().context("input")?;
    drop(process.stdout.take());
    input.write_all(b"session.list\nsession.list\n")?;
    ensure!(process.wait()?.success());
    Ok(())
}

//! `ptywright logs` shows the servers' log: with a filter, following new lines, and only to its owner.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::binary;

use crate::ptywright::client::{Client, Framing, PtywrightServer};

/// `ptywright logs` with the home of a server.
fn logs(served: &PtywrightServer, args: &[&str]) -> Command {
    let mut command = Command::new(binary("unterm-cli"));
    command.args(["ptywright", "logs"]).args(args);
    command.env("UNTERM_HOME", served.home.path().join("registry")).stdin(Stdio::null());
    command
}

fn printed(served: &PtywrightServer, args: &[&str]) -> Result<String> {
    let output = logs(served, args).output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

fn fail(client: &mut Client, session: &str) -> Result<()> {
    client.fail("session.kill", json!({"session": session})).map(drop)
}

#[test]
fn log_records_are_private_and_can_be_filtered() -> Result<()> {
    let (served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    client.script("exec cat")?;
    fail(&mut client, "token=abcdefgh1234")?;
    fail(&mut client, "\u{1b}[2Jlast")?;
    let file = served.home.path().join("registry/ptywright.log");
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    let all = printed(&served, &["--no-follow"])?;
    ensure!(
        all.contains("a client has connected") && all.contains("a session has started"),
        "{all}"
    );
    ensure!(!all.contains("abcdefgh1234") && all.contains("[REDACTED]"), "{all}");
    ensure!(!all.contains('\u{1b}') && all.contains("[2Jlast"), "{all}");
    let pid = served.process.id().to_string();
    ensure!(all.lines().all(|line| line.starts_with(&pid)), "{all}");
    let last = printed(&served, &["--no-follow", "--lines", "1"])?;
    ensure!(last.lines().count() == 1 && last.contains("[2Jlast"), "{last}");
    let filtered =
        printed(&served, &["--no-follow", "--lines=1", "--filter", "session has started"])?;
    ensure!(filtered.lines().count() == 1 && filtered.contains("s1"), "{filtered}");
    assert_eq!(printed(&served, &["--no-follow", "--filter", "nothing of this kind"])?, "");
    Ok(())
}

#[test]
fn new_records_follow_also_after_a_rotation() -> Result<()> {
    let (served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    fail(&mut client, "before")?;
    let mut process =
        logs(&served, &["--filter", "request failed"]).stdout(Stdio::piped()).spawn()?;
    let mut output = BufReader::new(process.stdout.take().context("output")?);
    let mut next = || -> Result<String> {
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok(line)
    };
    ensure!(next()?.contains("before"));
    fail(&mut client, "after")?;
    ensure!(next()?.contains("after"));
    // Write enough for two log files.
    let long = "x".repeat(1500);
    for number in 0..1500 {
        fail(&mut client, &format!("{long}-{number}"))?;
        ensure!(next()?.contains(&format!("-{number}")), "{number}");
    }
    let folder = served.home.path().join("registry");
    for name in ["ptywright.log", "ptywright.log.1"] {
        ensure!(fs::metadata(folder.join(name))?.len() <= 1 << 20, "{name}");
    }
    drop(output);
    ensure!(process.wait()?.success());
    Ok(())
}

#[test]
fn without_a_log_the_reason_is_printed() -> Result<()> {
    let home = tempfile::tempdir()?;
    let output = Command::new(binary("unterm-cli"))
        .args(["ptywright", "logs"])
        .env("UNTERM_HOME", home.path())
        .output()?;
    assert_eq!(output.status.code(), Some(1));
    ensure!(String::from_utf8(output.stderr)?.contains("ptywright serve"));
    Ok(())
}

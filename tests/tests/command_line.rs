//! The command line on an instance without a window: every method, the friendly commands, completions and the manual.

use anyhow::{Result, ensure};
use serde_json::Value;
use unterm_tests::{Picture, Start};

#[test]
fn the_command_line_reaches_everything() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    // Every method, by its own name.
    let reply = unterm.prints(&[
        "method",
        "exec.run_wait",
        "--id=0",
        "--command",
        "echo hi",
        "--timeout-ms",
        "60000",
    ])?;
    assert_eq!(reply, "hi\n");
    let info: Value =
        serde_json::from_str(&unterm.prints(&["--json", "method", "server.info"])?)?;
    assert_eq!(info["protocol"], "json-rpc-2.0");
    let error = unterm.complains(&["method", "session.status", "--id", "77"])?;
    assert_eq!(error, "MCP session.status failed [-32603]: Session 77 not found\n");
    ensure!(unterm.complains(&["method", "exec.run"])?.contains("--command"));

    assert_eq!(unterm.prints(&["session", "set-env", "OWN", "it's"])?, "");
    assert_eq!(unterm.prints(&["session", "env", "OWN"])?, "it's\n");
    assert_eq!(unterm.prints(&["run", "echo $OWN"])?, "it's\n");
    assert_eq!(unterm.prints(&["proxy", "env"])?, "# proxy disabled\n");
    unterm.prints(&["proxy", "set", "http://127.0.0.1:9", "--no-proxy", "localhost"])?;
    ensure!(unterm.prints(&["proxy", "env"])?.contains("export HTTP_PROXY='http://127.0.0.1:9'\n"));
    unterm.prints(&["proxy", "disable"])?;
    unterm.prints(&["lang", "set", "de"])?;
    assert_eq!(unterm.prints(&["lang", "current"])?, "de-DE\n");
    ensure!(unterm.prints(&["lang", "list"])?.contains("* de-DE  Deutsch\n"));
    ensure!(unterm.complains(&["lang", "set", "tlh"])?.contains("de-DE, fr-FR"));
    unterm.prints(&["workspace", "save", "mine"])?;
    assert_eq!(unterm.prints(&["workspace", "list"])?, "mine\n");
    unterm.prints(&["policy", "set", "--block", "sudo "])?;
    unterm.complains(&["policy", "check", "sudo x"])?;
    ensure!(unterm.complains(&["exec", "sudo x"])?.contains("Command blocked by policy: sudo "));
    unterm.prints(&["policy", "off"])?;
    ensure!(unterm.prints(&["audit", "--limit", "5"])?.contains("policy.set"));
    let log = unterm.prints(&["record", "start"])?;
    ensure!(unterm.prints(&["session", "record", "status"])?.starts_with("recording since "));
    let page = unterm.prints(&["record", "stop"])?;
    ensure!(log.ends_with(".log\n") && page.ends_with(".md\n"), "{log}{page}");
    ensure!(unterm.prints(&["sessions", "list"])?.contains(page.trim_end()));
    ensure!(unterm.prints(&["selftest"])?.contains("ok      capture.window\n"));
    let events = unterm.prints(&["watch", "--event", "layout", "--count", "0"])?;
    assert_eq!(events, "");

    // Nobody's display: the picture is of the session, painted by Unterm itself.
    let file = unterm.home().join("shot.png");
    let name = file.to_string_lossy().into_owned();
    assert_eq!(unterm.prints(&["screenshot", "-o", &name])?, format!("{name}\n"));
    ensure!(Picture::of_png(&std::fs::read(&file)?)?.colors() > 2, "there is text in it");
    let own = unterm.prints(&["screenshot", "--id", "0"])?;
    let picture = Picture::of_png(&std::fs::read(own.trim_end())?)?;
    ensure!(picture.width > 500 && picture.colors() > 2);
    Ok(())
}

#[test]
fn completions_and_the_manual_need_no_instance() -> Result<()> {
    let unterm = Start::headless().now()?;
    for shell in ["bash", "zsh", "fish", "nushell", "powershell"] {
        let script = unterm.prints(&["shell-completion", "--shell", shell])?;
        ensure!(script.contains("screenshot"), "{shell}");
        let program = match shell {
            "bash" | "zsh" | "fish" => shell,
            _ => continue,
        };
        let file = unterm.home().join(shell);
        std::fs::write(&file, script)?;
        let output = std::process::Command::new(program).arg("-n").arg(&file).output()?;
        ensure!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    }
    ensure!(unterm.prints(&["man"])?.contains(".TH"));
    let folder = unterm.home().join("man");
    unterm.prints(&["man", "--out", &folder.to_string_lossy()])?;
    ensure!(
        folder.join("unterm-cli.1").is_file() && folder.join("unterm-cli-screenshot.1").is_file()
    );
    Ok(())
}

#[test]
fn without_a_display_a_window_says_what_to_do() -> Result<()> {
    let home = tempfile::tempdir()?;
    for display in [None, Some(":nowhere")] {
        let mut command = std::process::Command::new(unterm_tests::binary("unterm"));
        command.env_clear().env("HOME", home.path());
        command.envs(display.map(|display| ("DISPLAY", display)));
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(1), "{output:?}");
        ensure!(said.contains("cannot open a window: ") && said.contains("--headless"), "{said}");
        ensure!(!said.contains(".rs:"), "{said}");
    }
    Ok(())
}

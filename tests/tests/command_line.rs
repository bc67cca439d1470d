//! The command line on an instance without a window: every method, the friendly commands, completions and the manual.

use anyhow::{Result, ensure};
use serde_json::Value;
use unterm_tests::{Instance, Picture, Start};

/// What a command prints; it must end well.
fn prints(unterm: &Instance, args: &[&str]) -> Result<String> {
    let output = unterm.cli(args)?;
    ensure!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// What a command says that must fail with code 1.
fn complains(unterm: &Instance, args: &[&str]) -> Result<String> {
    let output = unterm.cli(args)?;
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    Ok(String::from_utf8(output.stderr)?)
}

#[test]
fn the_command_line_reaches_everything() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    // Every method, by its own name.
    let reply = prints(
        &unterm,
        &["method", "exec.run_wait", "--id=0", "--command", "echo hi", "--timeout-ms", "60000"],
    )?;
    assert_eq!(reply, "hi\n");
    let info: Value =
        serde_json::from_str(&prints(&unterm, &["--json", "method", "server.info"])?)?;
    assert_eq!(info["protocol"], "json-rpc-2.0");
    let error = complains(&unterm, &["method", "session.status", "--id", "77"])?;
    assert_eq!(error, "MCP session.status failed [-32603]: Session 77 not found\n");
    ensure!(complains(&unterm, &["method", "exec.run"])?.contains("--command"));

    assert_eq!(prints(&unterm, &["session", "set-env", "OWN", "it's"])?, "");
    assert_eq!(prints(&unterm, &["session", "env", "OWN"])?, "it's\n");
    assert_eq!(prints(&unterm, &["run", "echo $OWN"])?, "it's\n");
    assert_eq!(prints(&unterm, &["proxy", "env"])?, "# proxy disabled\n");
    prints(&unterm, &["proxy", "set", "http://127.0.0.1:9", "--no-proxy", "localhost"])?;
    ensure!(
        prints(&unterm, &["proxy", "env"])?.contains("export HTTP_PROXY='http://127.0.0.1:9'\n")
    );
    prints(&unterm, &["proxy", "disable"])?;
    prints(&unterm, &["lang", "set", "de"])?;
    assert_eq!(prints(&unterm, &["lang", "current"])?, "de-DE\n");
    ensure!(prints(&unterm, &["lang", "list"])?.contains("* de-DE  Deutsch\n"));
    ensure!(complains(&unterm, &["lang", "set", "tlh"])?.contains("de-DE, fr-FR"));
    prints(&unterm, &["workspace", "save", "mine"])?;
    assert_eq!(prints(&unterm, &["workspace", "list"])?, "mine\n");
    prints(&unterm, &["policy", "set", "--block", "sudo "])?;
    ensure!(unterm.cli(&["policy", "check", "sudo x"])?.status.code() == Some(1));
    ensure!(complains(&unterm, &["exec", "sudo x"])?.contains("Command blocked by policy: sudo "));
    prints(&unterm, &["policy", "off"])?;
    ensure!(prints(&unterm, &["audit", "--limit", "5"])?.contains("policy.set"));
    let log = prints(&unterm, &["record", "start"])?;
    ensure!(prints(&unterm, &["session", "record", "status"])?.starts_with("recording since "));
    let page = prints(&unterm, &["record", "stop"])?;
    ensure!(log.ends_with(".log\n") && page.ends_with(".md\n"), "{log}{page}");
    ensure!(prints(&unterm, &["sessions", "list"])?.contains(page.trim_end()));
    ensure!(prints(&unterm, &["selftest"])?.contains("ok      capture.window\n"));
    let events = prints(&unterm, &["watch", "--event", "layout", "--count", "0"])?;
    assert_eq!(events, "");

    // Nobody's display: the picture is of the session, painted by Unterm itself.
    let file = unterm.home().join("shot.png");
    let name = file.to_string_lossy().into_owned();
    assert_eq!(prints(&unterm, &["screenshot", "-o", &name])?, format!("{name}\n"));
    ensure!(Picture::of_png(&std::fs::read(&file)?)?.colors() > 2, "there is text in it");
    let own = prints(&unterm, &["screenshot", "--id", "0"])?;
    let picture = Picture::of_png(&std::fs::read(own.trim_end())?)?;
    ensure!(picture.width > 500 && picture.colors() > 2);
    Ok(())
}

#[test]
fn completions_and_the_manual_need_no_instance() -> Result<()> {
    let unterm = Start::headless().now()?;
    for shell in ["bash", "zsh", "fish", "nushell", "powershell"] {
        let script = prints(&unterm, &["shell-completion", "--shell", shell])?;
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
    ensure!(prints(&unterm, &["man"])?.contains(".TH"));
    let folder = unterm.home().join("man");
    prints(&unterm, &["man", "--out", &folder.to_string_lossy()])?;
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

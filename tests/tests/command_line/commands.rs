//! The command line for an instance without a window: every method, the convenience commands, completions and the
//! manual.

use std::{
    path::Path,
    process::{Command, Output},
};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Picture, Start, binary};

#[test]
fn the_command_line_calls_every_method() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    // Call a method by its own name.
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

    // Without a display, Unterm itself paints the picture of the session.
    let file = unterm.home().join("shot.png");
    let name = file.to_string_lossy().into_owned();
    assert_eq!(unterm.prints(&["screenshot", "-o", &name])?, format!("{name}\n"));
    ensure!(Picture::of_png(&std::fs::read(&file)?)?.colors() > 2, "there is text in it");
    let own = unterm.prints(&["screenshot", "--id", "0"])?;
    let picture = Picture::of_png(&std::fs::read(own.trim_end())?)?;
    ensure!(picture.width > 500 && picture.colors() > 2);
    Ok(())
}

/// Runs `unterm-cli` with a home but without an instance.
fn cli(home: &Path) -> Command {
    let mut command = Command::new(unterm_tests::binary("unterm-cli"));
    command.env_clear().env("HOME", home).env("UNTERM_HOME", home.join(".unterm"));
    command
}

fn out(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn without_an_instance_only_the_list_command_succeeds() -> Result<()> {
    let home = tempfile::tempdir()?;
    let output = cli(home.path()).args(["instance", "list"]).output()?;
    ensure!(output.status.success(), "{output:?}");
    assert_eq!(out(&output).0, "ID  PID  PORT  STARTED  TITLE\n");
    for words in
        [&["instance", "list"][..], &["method", "instance.list"], &["call", "instance.list"]]
    {
        let output = cli(home.path()).arg("--json").args(words).output()?;
        ensure!(output.status.success(), "{output:?}");
        let list: Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(list, json!({"instances": []}), "{words:?}");
    }
    for words in [&["session", "list"][..], &["info"], &["--instance", "alpha", "instance", "list"]]
    {
        let output = cli(home.path()).args(words).output()?;
        let (stdout, stderr) = out(&output);
        ensure!(output.status.code() == Some(1) && stdout.is_empty(), "{words:?}: {output:?}");
        ensure!(stderr.contains("no running"), "{words:?}: {stderr}");
    }
    Ok(())
}

#[test]
fn in_a_pane_its_own_session_is_the_default() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let first = unterm.first_pane()?;
    first.wait_for_prompt(&mut unterm)?;
    let second = unterm.open(json!({}))?;
    second.wait_for_prompt(&mut unterm)?;
    // There are two sessions, and the command runs outside a pane and names neither session.
    let error = unterm.complains(&["session", "status"])?;
    assert_eq!(error, "several panes are open; name one with --id: 0, 1\n");

    let program = unterm_tests::binary("unterm-cli").display().to_string();
    let ask = format!(
        "'{program}' --json session status | tr -d ' \\n' | grep -o '\"id\":[0-9]*,' | tr ':' '='\r"
    );
    for pane in [second, first] {
        pane.type_text(&mut unterm, &ask)?;
        pane.wait_for_text(&mut unterm, &format!("\"id\"={},", pane.id))?;
    }
    // The pane's shell waits for this command to end, so a command that waits for the shell would never end.
    second.type_text(&mut unterm, &format!("clear; '{program}' run 'echo hi'\r"))?;
    second.wait_for_text(&mut unterm, "pane 1 is the pane that this command runs in")?;
    // The number of a closed pane is not a session, so the command counts as running outside a pane.
    second.type_text(&mut unterm, &format!("clear; UNTERM_PANE=77 '{program}' session cwd\r"))?;
    second.wait_for_text(&mut unterm, "several panes are open")?;
    Ok(())
}

#[test]
fn commands_print_json_only_on_request() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let folder = unterm.home().join("man").display().to_string();
    // A theme file in kitty's format.
    let theme = unterm.home().join("mine.conf");
    let colors: String = (0..16).map(|n| format!("color{n} #00000{n:x}\n")).collect();
    std::fs::write(&theme, format!("foreground #ffffff\nbackground #000000\n{colors}"))?;
    let theme = theme.display().to_string();
    let commands: &[&[&str]] = &[
        &["info"],
        &["health"],
        &["capabilities"],
        &["system"],
        &["instance", "list"],
        &["instance", "info"],
        &["instance", "set-title", "mine"],
        &["session", "list"],
        &["session", "status"],
        &["session", "cwd"],
        &["session", "idle"],
        &["session", "history"],
        &["session", "resize", "80", "24"],
        &["session", "env", "HOME"],
        &["session", "set-env", "A", "b"],
        &["status"],
        &["screen", "read"],
        &["screen", "text"],
        &["screen", "cursor"],
        &["screen", "search", "ready"],
        &["screen", "scroll"],
        &["screen", "errors"],
        &["run", "true"],
        &["exec", "true"],
        &["send", "a"],
        &["cancel"],
        &["action", "list"],
        &["record", "start"],
        &["record", "trace", "mine"],
        &["record", "status"],
        &["record", "stop"],
        &["sessions", "list"],
        &["workspace", "save", "mine"],
        &["workspace", "list"],
        &["workspace", "restore", "mine"],
        &["proxy", "set", "http://127.0.0.1:9"],
        &["proxy", "status"],
        &["proxy", "nodes"],
        &["proxy", "env"],
        &["proxy", "auto"],
        &["proxy", "disable"],
        &["orchestrate", "broadcast", "--ids", "0", "true"],
        &["policy", "check", "true"],
        &["policy", "off"],
        &["token", "create", "mine"],
        &["token", "list"],
        &["audit"],
        &["selftest"],
        &["screenshot"],
        &["capture", "window"],
        &["settings", "open", "--print-only"],
        &["method", "tab.list"],
        &["method", "approvals.list"],
        &["call", "server.info"],
        &["config", "path"],
        &["config", "check"],
        &["theme", "list"],
        &["theme", "import", &theme],
        &["theme", "set", "nord"],
        &["lang", "list"],
        &["lang", "set", "de"],
        &["lang", "current"],
        &["shell-completion", "--shell", "bash"],
        &["man"],
        &["man", "--out", &folder],
    ];
    for words in commands {
        let printed = unterm.prints(words)?;
        let is_json = serde_json::from_str::<Value>(&printed).is_ok_and(|json| !json.is_number());
        ensure!(!is_json && !printed.starts_with('{'), "{words:?}: {printed}");
        if words[0] == "theme" && words[1] == "import" {
            std::fs::remove_file(unterm.registry().join("themes/mine.toml"))?;
        }
        // A recording can be started and stopped only once.
        if words[0] == "record" {
            continue;
        }
        let printed = unterm.prints(&[&["--json"], *words].concat())?;
        let json = serde_json::from_str::<Value>(&printed);
        ensure!(json.is_ok_and(|json| !json.is_null()), "{words:?}: {printed}");
    }
    let wrong = unterm.home().join("wrong.toml");
    std::fs::write(&wrong, "[font]\nsise = 1\n")?;
    let output = unterm.cli(&["--json", "config", "check", &wrong.to_string_lossy()])?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(report["problems"][0].as_str().is_some_and(|why| why.contains("sise")), "{report}");
    Ok(())
}

#[test]
fn failures_are_reported_only_on_stderr() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    unterm.prints(&["policy", "set", "--block", "sudo "])?;
    for (words, why) in [
        (&["token", "revoke", "77"][..], "no token has this number"),
        (&["method", "token.revoke", "--number", "77"], "no token has this number"),
        (&["method", "approvals.forget", "--client", "nobody"], "no client has this name"),
        (&["orchestrate", "wait", "--timeout", "0", "xyzzy"], "did not appear in time"),
        (&["session", "env", "NO_SUCH_VARIABLE"], "the variable is not set"),
        (&["session", "status", "77"], "MCP session.status failed [-32603]: Session 77 not found"),
        (&["policy", "check", "sudo x"], "sudo "),
        (&["run", "--timeout", "0.1", "sleep 60"], "the command is still running"),
        (&["config", "check", "/nonexistent/file"], "no such file"),
        (&["theme", "set", "nort"], "did you mean \"nord\"?"),
        (&["no-such-command"], "unrecognized subcommand"),
    ] {
        let output = unterm.cli(words)?;
        let (stdout, stderr) = out(&output);
        ensure!(output.status.code() == Some(1) && stdout.is_empty(), "{words:?}: {output:?}");
        ensure!(stderr.contains(why), "{words:?}: {stderr}");
    }
    Ok(())
}

/// Completes a line in a shell with the shell's completion script. Returns the offered words. Nothing else is loaded
/// before, so that the words can only come from the script.
fn completed(home: &Path, shell: &str, line: &str) -> Result<Vec<String>> {
    let script = home.join(format!("completions.{shell}")).display().to_string();
    let words = line.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let count = line.split(' ').count();
    let text = match shell {
        "bash" => format!(
            ". {script}; COMP_WORDS=({words}); COMP_CWORD={}; _unterm_cli; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            count - 1
        ),
        "zsh" => format!(
            "compdef() {{ : }}; _describe() {{ print -rl -- $candidates }}; . {script}; words=({words}); CURRENT={count}; _unterm_cli"
        ),
        _ => format!("source {script}; complete -C '{line}'"),
    };
    let folder =
        unterm_tests::binary("unterm-cli").parent().map(Path::to_owned).unwrap_or_default();
    let output = Command::new(shell)
        .args(match shell {
            "bash" => &["--norc", "--noprofile", "-c"][..],
            "zsh" => &["-f", "-c"],
            _ => &["--no-config", "-c"],
        })
        .arg(text)
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("HOME", home)
        .env("UNTERM_HOME", home.join(".unterm"))
        .output()?;
    let (stdout, stderr) = out(&output);
    ensure!(stderr.is_empty(), "{shell}: {line}: {stderr}");
    // In fish, a tab separates a word from its description, in zsh a colon.
    let end = if shell == "zsh" { ':' } else { '\t' };
    Ok(stdout.lines().map(|line| line.split(end).next().unwrap_or_default().to_owned()).collect())
}

#[test]
fn shells_complete_commands_options_methods_and_names() -> Result<()> {
    let home = tempfile::tempdir()?;
    for shell in ["bash", "zsh", "fish"] {
        let output = cli(home.path()).args(["shell-completion", "--shell", shell]).output()?;
        ensure!(output.stdout.len() < 50_000, "{shell}: {}", output.stdout.len());
        std::fs::write(home.path().join(format!("completions.{shell}")), &output.stdout)?;
        for (line, words) in [
            ("unterm-cli scr", &["screen", "screenshot"][..]),
            ("unterm-cli session record sta", &["start", "status"]),
            ("unterm-cli run --time", &["--timeout"]),
            ("unterm-cli method exec.run_w", &["exec.run_wait"]),
            ("unterm-cli theme set nord-", &["nord-light"]),
        ] {
            assert_eq!(completed(home.path(), shell, line)?, words, "{shell}: {line}");
        }
    }
    Ok(())
}

#[test]
fn a_links_name_selects_the_program() -> Result<()> {
    let home = tempfile::tempdir()?;
    let run = |name: &str, args: &[&str]| -> Result<(String, String)> {
        let link = home.path().join(name);
        std::os::unix::fs::symlink(binary("unterm"), &link)?;
        let output = Command::new(&link).args(args).env("HOME", home.path()).output()?;
        ensure!(output.status.success(), "{output:?}");
        std::fs::remove_file(link)?;
        Ok(out(&output))
    };
    assert!(run("unterm-cli", &["--version"])?.0.starts_with("unterm-cli "));
    assert!(run("ptywright", &["--version"])?.0.starts_with("ptywright "));
    assert!(run("terminal", &["--version"])?.0.starts_with("unterm "));
    // The configuration for agents contains the command line's own name, wherever the link is.
    let (entry, _) = run("unterm-cli", &["mcp", "config", "cursor"])?;
    let entry: Value = serde_json::from_str(&entry)?;
    let program = entry["mcpServers"]["unterm"]["command"].as_str().unwrap_or_default();
    assert_eq!(Path::new(program), binary("unterm-cli").canonicalize()?);
    Ok(())
}

#[test]
fn completions_and_the_manual_need_no_instance() -> Result<()> {
    let home = tempfile::tempdir()?;
    for shell in ["bash", "zsh", "fish", "nushell", "powershell"] {
        let output = cli(home.path()).args(["shell-completion", "--shell", shell]).output()?;
        ensure!(output.status.success() && out(&output).0.contains("unterm-cli"), "{shell}");
        let program = match shell {
            "bash" | "zsh" | "fish" => shell,
            _ => continue,
        };
        let file = home.path().join(shell);
        std::fs::write(&file, &output.stdout)?;
        let output = Command::new(program).arg("-n").arg(&file).output()?;
        ensure!(output.status.success(), "{shell}: {}", out(&output).1);
    }
    ensure!(out(&cli(home.path()).arg("man").output()?).0.contains(".TH"));
    let folder = home.path().join("man");
    cli(home.path()).arg("man").arg("--out").arg(&folder).output()?;
    ensure!(
        folder.join("unterm-cli.1").is_file() && folder.join("unterm-cli-screenshot.1").is_file()
    );
    Ok(())
}

#[test]
fn without_a_display_the_window_error_suggests_headless() -> Result<()> {
    let home = tempfile::tempdir()?;
    for display in [None, Some(":nowhere")] {
        let mut command = Command::new(unterm_tests::binary("unterm"));
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

#[test]
fn a_layout_file_is_listed_and_restored_like_a_workspace() -> Result<()> {
    let unterm = Start::headless().now()?;
    unterm.prints(&["workspace", "save", "mine"])?;
    let layouts = unterm.home().join(".unterm/layouts");
    std::fs::create_dir_all(&layouts)?;
    std::fs::write(layouts.join("watch.toml"), WATCH_LAYOUT)?;
    assert_eq!(unterm.prints(&["workspace", "list"])?, "mine\nwatch\n");
    let restored = unterm.prints(&["workspace", "restore", "watch"])?;
    ensure!(restored.ends_with("Nothing was opened. --recreate opens 2 panes.\n"), "{restored}");
    let restored = unterm.prints(&["workspace", "restore", "watch", "--recreate"])?;
    ensure!(restored.contains("Opened 2 panes.") && restored.contains("(htop)"), "{restored}");
    let error = unterm.complains(&["workspace", "restore", "wacth"])?;
    ensure!(error.ends_with("Workspace 'wacth' not found; did you mean \"watch\"?\n"), "{error}");
    let error = unterm.complains(&["workspace", "restore", "../layouts/watch"])?;
    ensure!(error.contains("Invalid workspace name"), "{error}");
    let error = unterm.complains(&["workspace", "save", "last"])?;
    ensure!(error.contains("the tabs of the last window"), "{error}");
    // The name refers to the workspace that was saved last.
    unterm.prints(&["workspace", "save", "watch"])?;
    let restored = unterm.prints(&["workspace", "restore", "watch"])?;
    ensure!(restored.ends_with("--recreate opens 3 panes.\n"), "{restored}");
    std::fs::write(layouts.join("watch.toml"), WATCH_LAYOUT)?;
    let restored = unterm.prints(&["workspace", "restore", "watch"])?;
    ensure!(restored.ends_with("--recreate opens 2 panes.\n"), "{restored}");
    std::fs::write(layouts.join("broken.toml"), "tabs = 1")?;
    let error = unterm.complains(&["workspace", "restore", "broken"])?;
    ensure!(error.contains("broken.toml:1"), "{error}");
    Ok(())
}

#[test]
fn a_start_without_a_window_opens_its_layout() -> Result<()> {
    let registry = tempfile::tempdir()?;
    let layouts = registry.path().join("layouts");
    std::fs::create_dir(&layouts)?;
    std::fs::write(layouts.join("watch.toml"), WATCH_LAYOUT)?;
    let start = || Start::headless().registry(registry.path()).arg("--layout");
    let mut unterm = start().arg("watch").now()?;
    assert_eq!(unterm.sessions()?.len(), 2);
    let mut failed = start().arg("wacth").alone()?;
    assert!(!failed.wait_for_exit()?.success());
    ensure!(failed.log().contains("did you mean \"watch\"?"), "{}", failed.log());
    Ok(())
}

#[test]
fn a_shell_finds_unterm_cli_and_a_missing_pane_has_no_picture() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let found = unterm.prints(&["run", "command -v unterm-cli"])?;
    assert_eq!(found.trim_end(), binary("unterm-cli").display().to_string());
    let error = unterm.complains(&["screenshot", "--id", "77"])?;
    ensure!(error.contains("Session 77 not found"), "{error}");
    Ok(())
}

/// A layout file with a program.
const WATCH_LAYOUT: &str = "[[tabs]]\ntitle = 'watch'\n[tabs.panes]\nsplit = 'right'\nfirst = {}\n\
    second = { program = 'htop' }\n";

//! Tests `unterm-cli ssh` with OpenSSH's own server. ssh starts the server for each login, and no network is used.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::json;
use tempfile::TempDir;
use unterm_tests::{Instance, Pane, Start, binary};

/// The prompt of every shell on the remote side.
const FAR_PROMPT: &str = "far> ";

/// The files of a remote machine: keys, the server's settings, and ssh's own settings.
struct RemoteMachine {
    folder: TempDir,
}

impl RemoteMachine {
    /// A remote machine whose users have this shell, with [`FAR_PROMPT`].
    fn new(shell: &str) -> Result<Self> {
        // If the server runs as root, it needs this folder. Its package creates the folder only when the system starts.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").context("/run/sshd")?;
        }
        let elsewhere = Self { folder: tempfile::Builder::new().prefix("unterm-ssh-").tempdir()? };
        let path = |name: &str| elsewhere.path(name);
        for key in ["host", "own"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)])
                .status()
                .context("starting ssh-keygen")?;
            ensure!(made.success(), "no key");
        }
        let mut server = String::new();
        writeln!(server, "HostKey {}\nAuthorizedKeysFile {}", path("host"), path("own.pub"))?;
        writeln!(server, "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none")?;
        writeln!(server, "PrintMotd no\nPrintLastLog no")?;
        let home = path("home");
        writeln!(
            server,
            "SetEnv SHELL={shell} HOME={home} FAR=away LANG=C.UTF-8 TMPDIR={} \"PS1={FAR_PROMPT}\"",
            path("")
        )?;
        fs::write(path("server"), server)?;
        let mut client = String::new();
        writeln!(client, "Host box\nHostName 127.0.0.1\nIdentityFile {}", path("own"))?;
        writeln!(
            client,
            "ProxyCommand /usr/sbin/sshd -i -e -f {} 2>>{}",
            path("server"),
            path("log")
        )?;
        writeln!(
            client,
            "IdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null"
        )?;
        writeln!(client, "LogLevel ERROR")?;
        fs::write(path("client"), client)?;
        fs::create_dir_all(path("home/.config/fish"))?;
        fs::write(path("home/.bash_profile"), format!("PS1='{FAR_PROMPT}'\nHISTFILE=\n"))?;
        fs::write(path("home/.zshrc"), format!("PROMPT='{FAR_PROMPT}'\nunsetopt PROMPT_SP\n"))?;
        let prompt = format!("function fish_prompt; echo -n '{FAR_PROMPT}'; end");
        let fish = format!("set -g fish_greeting\n{prompt}\nfunction fish_right_prompt; end\n");
        fs::write(path("home/.config/fish/config.fish"), fish)?;
        Ok(elsewhere)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The command that logs in to the remote machine. `behind` are the words after the host.
    fn line(&self, options: &str, behind: &str) -> String {
        let cli = binary("unterm-cli");
        format!("{} ssh -F {} {options} box {behind}", cli.display(), self.path("client"))
    }

    /// The server's log, for a test's message.
    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Files that the shell integration has left on the remote machine.
    fn leftovers(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(self.folder.path())?.flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|name| name.starts_with("unterm.")).collect())
    }
}

/// Logs in from a pane's prompt, and waits for the remote prompt. When the remote shell ends, its exit code is printed.
fn log_in(unterm: &mut Instance, pane: Pane, line: &str, there: &RemoteMachine) -> Result<()> {
    pane.type_text(unterm, &format!("{line}; echo \"code $?, far ${{FAR:-no}}\"\r"))?;
    // A shell of root may have another prompt.
    let is_prompt = |line: &String| line == FAR_PROMPT.trim_end() || line == "#" || line == "$";
    pane.wait(unterm, "the prompt there", |lines| lines.iter().any(is_prompt))
        .with_context(|| there.log())?;
    Ok(())
}

/// Checks that no process on this machine, which is also the remote machine, has a text in its arguments or
/// environment, not even in Base64.
fn ensure_hidden(text: &str) -> Result<()> {
    for entry in fs::read_dir("/proc")?.flatten() {
        for file in ["cmdline", "environ"] {
            let Ok(bytes) = fs::read(entry.path().join(file)) else { continue };
            let said = String::from_utf8_lossy(&bytes);
            ensure!(!said.contains(text), "{}: {said}", entry.path().display());
            for word in said.split(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c)) {
                let decoded = BASE64_STANDARD.decode(word).unwrap_or_default();
                let decoded = String::from_utf8_lossy(&decoded);
                ensure!(!decoded.contains(text), "{}: {decoded}", entry.path().display());
            }
        }
    }
    Ok(())
}

#[test]
fn a_remote_login_has_shell_integration() -> Result<()> {
    for shell in ["bash", "zsh", "fish"] {
        let path = which(shell)?;
        let mut unterm = Start::headless().now()?;
        let pane = unterm.first_pane()?;
        pane.wait_for_prompt(&mut unterm)?;
        let there = RemoteMachine::new(&path)?;
        log_in(&mut unterm, pane, &there.line("-o SendEnv=NONE -A", "-q"), &there)?;
        let run = |unterm: &mut Instance, command: &str| {
            unterm.call("exec.run_wait", json!({"id": pane.id, "command": command}))
        };
        // The remote shell's own marks delimit the output and the exit code, and contain the pane's number.
        let done = run(&mut unterm, "sh -c 'echo far $FAR, it is; exit 5'")?;
        ensure!(
            done["output"] == "far away, it is\n" || done["output"] == "far away, it is",
            "{shell}: {done}"
        );
        ensure!(done["exit_code"] == 5 && done["exit_source"] == "block", "{shell}: {done}");
        let done = run(&mut unterm, "tty")?;
        let said = done["output"].as_str().unwrap_or_default();
        ensure!(said.contains("/dev/pts/"), "{shell}: {done}");
        let name = if shell == "fish" { "$__unterm_nonce" } else { "$_unterm_nonce" };
        let nonce = run(&mut unterm, &format!("echo {name}"))?;
        let nonce = nonce["output"].as_str().unwrap_or_default().trim().to_owned();
        ensure!(nonce.len() == 32, "{shell}: {nonce}");
        ensure_hidden(&nonce).context(shell)?;
        ensure!(
            there.leftovers()?.len() == 1,
            "{shell}: the scripts are there: {:?}",
            there.leftovers()?
        );

        // When the remote shell ends, ssh ends with the same exit code, and the scripts are removed.
        pane.type_text(&mut unterm, "exit 7\r")?;
        pane.wait_for_text(&mut unterm, "code 7, far no").with_context(|| there.log())?;
        ensure!(there.leftovers()?.is_empty(), "{shell}: {:?}", there.leftovers()?);
    }
    Ok(())
}

#[test]
fn other_shells_and_remote_commands_use_plain_ssh() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let there = RemoteMachine::new("/bin/sh")?;
    let words = there.line("", "\"printf '%s|' 'two  words' \\\"it's\\\"; echo; exit 9\"");
    pane.type_text(&mut unterm, &format!("{words}; echo \"code $?\"\r"))?;
    pane.wait_for_text(&mut unterm, "two  words|it's|").with_context(|| there.log())?;
    pane.wait_for_text(&mut unterm, "code 9")?;

    log_in(&mut unterm, pane, &there.line("-t", ""), &there)?;
    let params = json!({"id": pane.id, "command": "echo it is $FAR; (exit 4)"});
    let done = unterm.call("exec.run_wait", params)?;
    ensure!(done["exit_code"] == 4 && done["exit_source"] == "marker", "{done}");
    pane.type_text(&mut unterm, "exit 3\r")?;
    pane.wait_for_text(&mut unterm, "code 3, far no")?;
    ensure!(there.leftovers()?.is_empty(), "{:?}", there.leftovers()?);
    Ok(())
}

/// The path of a program.
fn which(program: &str) -> Result<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| Path::is_file(file))
        .map(|file| file.display().to_string())
        .with_context(|| format!("no {program}"))
}

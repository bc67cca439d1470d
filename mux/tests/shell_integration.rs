//! Real shells with shell integration: the commands that the terminal records.

use std::{path::Path, sync::Arc};

use crate::common::{run, screen, wait};
use unterm_mux::{Defaults, Mux, MuxOptions, OnExit, Pane, ShellIntegration};
use unterm_term::{Command, Size};

/// A mux whose shells get shell integration, and `home` as their home directory.
pub fn integrated(home: &Path) -> Arc<Mux> {
    mux_of(home, true)
}

/// A mux whose shells have `home` as their home directory, with or without shell integration.
pub fn mux_of(home: &Path, is_integrated: bool) -> Arc<Mux> {
    let folder = home.join("scripts");
    ShellIntegration::install(&folder).unwrap();
    // Without this folder, fish reads all manual pages in the background, for minutes.
    std::fs::create_dir_all(home.join(".local/share/fish/generated_completions")).unwrap();
    let mux = Mux::new(MuxOptions { default_size: Size::cells(80, 24), ..MuxOptions::default() });
    let env = [("HOME", home.to_str().unwrap()), ("HISTFILE", ""), ("OWN", "kept")];
    mux.set_defaults(Defaults {
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        shell_integration: is_integrated.then_some(folder),
        ..Defaults::default()
    });
    mux
}

/// Writes a user's settings for each shell: prompts, and hooks that change the exit code.
fn write_settings(home: &Path) {
    let write = |name: &str, text: &str| {
        let file = home.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write(".bashrc", "PS1='own$ '\nPROMPT_COMMAND='HOOKED=1; true;'\nunset HISTFILE\n");
    write(".zshenv", "FROM_ENV=$OWN\n");
    write(".zshrc", "PROMPT='own$ '\nmine() { HOOKED=1; true }\nprecmd_functions+=(mine)\n");
    write(
        ".config/fish/config.fish",
        "set -g fish_greeting\nfunction fish_prompt; echo -n 'own$ '; set -g HOOKED 1; end\n",
    );
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

pub fn commands(pane: &Pane) -> Vec<Command> {
    pane.term().commands().cloned().collect()
}

/// Waits for a prompt, types a line, and waits for the next prompt.
pub fn type_line(pane: &Pane, line: &str) {
    let at_prompt = |pane: &Pane| commands(pane).last().is_some_and(Command::is_prompting);
    wait(pane, "a prompt", at_prompt);
    let before = commands(pane).last().map_or(0, |command| command.id);
    pane.write(format!("{line}\r").as_bytes()).unwrap();
    wait(pane, line, |pane| {
        at_prompt(pane) && commands(pane).last().is_some_and(|command| command.id > before)
    });
}

#[test]
fn shells_report_commands_and_a_forged_end_is_not_authentic() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(is_installed(shell), "{shell} is not installed");
        let home = tempfile::tempdir().unwrap();
        write_settings(home.path());
        let mux = integrated(home.path());
        let pane = mux.open_tab(run(shell, &[]), None, OnExit::Hold).unwrap();
        type_line(&pane, "echo one; false");
        type_line(&pane, "printf '\\033]133;D;0\\007'; sh -c 'exit 7'");
        type_line(&pane, "echo \"<$HOOKED$OWN>\"; cd /");
        let known: Vec<_> = commands(&pane)
            .into_iter()
            .filter(|command| command.end_seq != 0)
            .map(|command| (command.line.unwrap_or_default(), command.exit_code))
            .collect();
        let expected = [
            ("echo one; false", 1),
            ("printf '\\033]133;D;0\\007'; sh -c 'exit 7'", 7),
            ("echo \"<$HOOKED$OWN>\"; cd /", 0),
        ];
        let expected = expected.map(|(line, code)| (line.to_owned(), Some(code)));
        assert_eq!(known, expected, "{shell}: {:#?}", screen(&pane));
        assert!(screen(&pane).iter().any(|row| row == "<1kept>"), "{shell}: {:#?}", screen(&pane));
        assert_eq!(pane.cwd_path().as_deref(), Some(Path::new("/")), "{shell}");
        let shown = screen(&pane);
        assert!(shown.iter().any(|row| row.starts_with("own$ echo one")), "{shell}: {shown:#?}");
    }
}

#[test]
fn an_inner_shell_is_integrated_and_then_the_outer_again() {
    for (outer, inner) in [("bash", "zsh"), ("zsh", "fish"), ("fish", "bash"), ("bash", "bash")] {
        let home = tempfile::tempdir().unwrap();
        write_settings(home.path());
        let mux = integrated(home.path());
        let pane = mux.open_tab(run(outer, &[]), None, OnExit::Hold).unwrap();
        type_line(&pane, inner);
        type_line(&pane, "sh -c 'exit 5'");
        type_line(&pane, "exit");
        type_line(&pane, "true");
        let known: Vec<_> = commands(&pane)
            .into_iter()
            .filter(|command| command.is_authentic)
            .map(|command| (command.line.unwrap_or_default(), command.exit_code))
            .collect();
        let inside = ("sh -c 'exit 5'".to_owned(), Some(5));
        assert!(known.contains(&inside), "{outer} > {inner}: {known:?}");
        assert_eq!(known.last(), Some(&("true".to_owned(), Some(0))), "{outer} > {inner}");
    }
}

#[test]
fn tabs_of_a_line_are_reported_and_other_controls_removed() {
    for shell in ["bash", "zsh"] {
        let home = tempfile::tempdir().unwrap();
        write_settings(home.path());
        let mux = integrated(home.path());
        let pane = mux.open_tab(run(shell, &[]), None, OnExit::Hold).unwrap();
        // Ctrl+V (0x16) inserts the next key literally. Ctrl+X is the control character CAN, which would end the mark.
        type_line(&pane, "true 'a\x16\tb\x16\x18;\\n\x16\x07'");
        let known = commands(&pane).into_iter().find(|command| command.end_seq != 0).unwrap();
        assert_eq!(known.line.as_deref(), Some("true 'a\tb;\\n'"), "{shell}");
        assert!(known.line_reported && known.is_authentic, "{shell}");
    }
}

#[test]
fn bash_reports_only_lines_that_its_history_contains() {
    let home = tempfile::tempdir().unwrap();
    let settings = "PS1='own$ '\nunset HISTFILE\nHISTCONTROL=ignoreboth\nHISTTIMEFORMAT='%F '\n\
                    set -eu\n";
    std::fs::write(home.path().join(".bashrc"), settings).unwrap();
    let mux = integrated(home.path());
    let pane = mux.open_tab(run("bash", &[]), None, OnExit::Hold).unwrap();
    let lines = [
        ("true", true),
        ("true", false),
        (" echo hidden", false),
        ("set +o history", true),
        ("echo off", false),
        ("set -o history", false),
        ("for i in 1; do echo \\\\$i; done", true),
        ("echo one two", true),
        ("echo \"<$_>\"", true),
    ];
    for (line, _) in lines {
        type_line(&pane, line);
    }
    let known: Vec<_> = commands(&pane)
        .into_iter()
        .filter(|command| command.end_seq != 0)
        .map(|command| (command.line.unwrap_or_default().trim().to_owned(), command.line_reported))
        .collect();
    let expected = lines.map(|(line, is_reported)| (line.trim().to_owned(), is_reported));
    assert_eq!(known, expected, "{:#?}", screen(&pane));
    assert!(screen(&pane).iter().any(|row| row == "<two>"), "{:#?}", screen(&pane));
    // With `extdebug`, bash also runs the DEBUG trap for the functions that print its prompt.
    type_line(&pane, "shopt -s extdebug; trap 'echo traced' DEBUG");
    type_line(&pane, "echo on");
    let last = commands(&pane).into_iter().rfind(|command| command.end_seq != 0).unwrap();
    assert_eq!((last.line.as_deref(), last.line_reported), (Some("echo on"), true));
}

#[test]
fn bash_marks_its_commands_where_it_expands_nothing_in_prompts() {
    let home = tempfile::tempdir().unwrap();
    let settings = "PS1='own$ '\nunset HISTFILE\nshopt -u promptvars\n";
    std::fs::write(home.path().join(".bashrc"), settings).unwrap();
    let mux = integrated(home.path());
    let pane = mux.open_tab(run("bash", &[]), None, OnExit::Hold).unwrap();
    let lines = [
        ("sh -c 'exit 3'", 3, false),
        ("shopt -s promptvars", 0, false),
        ("echo told", 0, true),
        ("shopt -u promptvars", 0, true),
        ("sh -c 'exit 4'", 4, false),
    ];
    for (line, ..) in lines {
        type_line(&pane, line);
    }
    let known: Vec<_> = commands(&pane)
        .into_iter()
        .filter(|command| command.end_seq != 0 && command.is_authentic)
        .map(|command| (command.line.unwrap_or_default(), command.exit_code, command.line_reported))
        .collect();
    let expected =
        lines.map(|(line, code, is_reported)| (line.to_owned(), Some(code), is_reported));
    let shown = screen(&pane);
    assert_eq!(known, expected, "{shown:#?}");
    assert!(!shown.iter().any(|row| row.contains("_unterm")), "{shown:#?}");
}

#[test]
fn the_nonce_is_in_no_environment() {
    for (shell, inner) in [("bash", "zsh"), ("zsh", "fish"), ("fish", "bash")] {
        let home = tempfile::tempdir().unwrap();
        write_settings(home.path());
        // The user's settings may export the prompt variables, which contain the marks.
        let exported = "PS1='own$ '\nPS0=\nexport PS1 PS0\n";
        std::fs::write(home.path().join(".bashrc"), exported).unwrap();
        std::fs::write(
            home.path().join(".zshrc"),
            "PROMPT='own$ '\nexport PS1\nsetopt allexport\n",
        )
        .unwrap();
        let mux = integrated(home.path());
        let pane = mux.open_tab(run(shell, &[]), None, OnExit::Hold).unwrap();
        let nonce = pane.nonce().unwrap().to_string();
        let found = home.path().join("found");
        // Records what a program in the pane can see: its own environment, that of each ancestor, and the files with
        // nonces.
        let look = home.path().join("look");
        let script = format!(
            "#!/bin/sh\np=$$\nwhile [ \"$p\" -gt 1 ]; do\ncat /proc/$p/environ /proc/$p/cmdline\n\
             p=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$p/status)\ndone >'{0}' 2>/dev/null\n\
             env >>'{0}'\ncat '{1}'/scripts/nonces/* >>'{0}' 2>/dev/null\ntrue\n",
            found.display(),
            home.path().display()
        );
        std::fs::write(&look, script).unwrap();
        let mut permissions = std::fs::metadata(&look).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        std::fs::set_permissions(&look, permissions).unwrap();
        for line in [look.to_str().unwrap(), inner, look.to_str().unwrap(), "exit"] {
            type_line(&pane, line);
            if line == inner || line == "exit" {
                continue;
            }
            let seen = std::fs::read(&found).unwrap();
            let seen = String::from_utf8_lossy(&seen);
            assert!(seen.contains("UNTERM_SHELL_INTEGRATION"), "{shell}: it saw nothing");
            assert!(!seen.contains(&nonce), "{shell}: {seen}");
            std::fs::remove_file(&found).unwrap();
        }
        let authentic = commands(&pane).iter().filter(|command| command.is_authentic).count();
        assert!(authentic >= 4, "{shell}: {:#?}", commands(&pane));
        // The nonce file of the nested shell was deleted when that shell ended.
        let left: Vec<_> = std::fs::read_dir(home.path().join("scripts/nonces"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left.len(), 1, "{shell}: {left:?}");
    }
}

#[test]
fn traces_show_no_nonce_and_go_on() {
    for (shell, inner, settings, trace) in
        [("bash", "zsh", ".bashrc", "set -x\n"), ("zsh", "bash", ".zshenv", "setopt xtrace\n")]
    {
        let home = tempfile::tempdir().unwrap();
        write_settings(home.path());
        let file = home.path().join(settings);
        let own = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, own + trace).unwrap();
        let mux = integrated(home.path());
        let pane = mux.open_tab(run(shell, &[]), None, OnExit::Hold).unwrap();
        for line in ["echo one", inner, "exit", "echo two"] {
            type_line(&pane, line);
        }
        let mut lines = pane.term().lines();
        let mut all = String::new();
        for line in lines.oldest().0..lines.end().0 {
            lines.row_text(unterm_term::LineId(line), &mut all);
        }
        assert!(!all.contains(&**pane.nonce().unwrap()), "{shell}: {all}");
        for traced in ["> echo one", "> echo two"] {
            let traced = if shell == "bash" { traced.replace('>', "+") } else { traced.to_owned() };
            assert!(all.contains(&traced), "{shell}: {all}");
        }
        let ran = commands(&pane).iter().filter(|command| command.is_authentic).count();
        assert!(ran >= 4, "{shell}: {:#?}", commands(&pane));
    }
}

//! Real shells whose settings change while they run: commands keep their marks, exit codes and output.

use std::{path::Path, sync::Arc};

use crate::common::{run, screen, wait, wait_until_settled};
use crate::shell_integration::{commands, integrated, mux_of, type_line};
use unterm_mux::{Mux, OnExit, Pane};
use unterm_term::Command;

/// Starts a shell with integration, whose startup file contains these settings.
fn shell(program: &str, home: &Path, settings: &str) -> (Arc<Mux>, Arc<Pane>) {
    let mux = integrated(home);
    let pane = shell_in(&mux, program, home, settings);
    (mux, pane)
}

/// Starts a shell whose startup file contains these settings.
pub fn shell_in(mux: &Mux, program: &str, home: &Path, settings: &str) -> Arc<Pane> {
    let file = home.join(match program {
        "bash" => ".bashrc",
        "zsh" => ".zshrc",
        _ => ".config/fish/config.fish",
    });
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, settings).unwrap();
    mux.open_tab(run(program, &[]), None, OnExit::Hold).unwrap()
}

/// Whether the shell shows a prompt that it reported.
pub fn is_asking(pane: &Pane) -> bool {
    commands(pane).last().is_some_and(Command::is_prompting)
}

/// The line, exit code and output of the last command that ended.
pub fn last_ended(pane: &Pane) -> (String, Option<i32>, String) {
    let last = commands(pane).into_iter().rfind(|command| command.end_seq != 0).unwrap();
    let term = pane.term();
    let output = term.output_range(last.id).map(|range| term.text(range)).unwrap_or_default();
    (last.line.unwrap_or_default(), last.exit_code, output)
}

/// Changes the settings line by line in one shell, and checks a command after each change.
fn check(program: &str, settings: &str, changes: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".again"), "PS1='again '\nPROMPT_COMMAND='true; false'\n")
        .unwrap();
    let (_mux, pane) = shell(program, home.path(), settings);
    for (code, change) in (1..).zip(changes) {
        type_line(&pane, change);
        let line = format!("sh -c 'echo out{code}; exit {code}'");
        type_line(&pane, &line);
        let expected = (line, Some(code), format!("out{code}"));
        assert_eq!(last_ended(&pane), expected, "{program}, {change}: {:#?}", screen(&pane));
    }
    assert!(commands(&pane).iter().filter(|c| c.end_seq != 0).all(|c| c.is_authentic), "{program}");
}

#[test]
fn bash_reports_exit_codes_whatever_its_prompt_becomes() {
    let changes = [
        "PROMPT_COMMAND=\"history -a; $PROMPT_COMMAND\"",
        "PROMPT_COMMAND=\"history -a${PROMPT_COMMAND:+;$PROMPT_COMMAND}\"",
        "PROMPT_COMMAND=",
        "PROMPT_COMMAND=true",
        "PROMPT_COMMAND='echo mine; false'",
        "PROMPT_COMMAND=\"$PROMPT_COMMAND; true\"",
        "PROMPT_COMMAND=(true false)",
        "PROMPT_COMMAND=()",
        "PROMPT_COMMAND+=(true)",
        "PROMPT_COMMAND=(true \"${PROMPT_COMMAND[@]}\")",
        "PROMPT_COMMAND=\"${PROMPT_COMMAND[*]}\"",
        "unset PROMPT_COMMAND",
        "PROMPT_COMMAND=false",
        "IFS=';'; PROMPT_COMMAND=\"false;${PROMPT_COMMAND[*]}\"; unset IFS",
        "PROMPT_COMMAND=true; x=\"${PROMPT_COMMAND[*]}\"; unset PROMPT_COMMAND; PROMPT_COMMAND=\"false; $x\"",
        "PROMPT_COMMAND=true; old=$PROMPT_COMMAND; f() { false; eval \"$old\"; }; PROMPT_COMMAND=f",
        "PROMPT_COMMAND=${PROMPT_COMMAND//$'\\n'/;}",
        "declare -x PROMPT_COMMAND",
        "source ~/.again",
        "PS1='% '",
        "PS1=\"(venv) $PS1\"",
        "PS1=\"$PS1> \"",
        "PS1='% '; PROMPT_COMMAND=",
        "PS0='before the output '",
        "PS0=",
        "PROMPT_COMMAND='PS1=\"[$?] \"'",
        "unset PROMPT_COMMAND; HISTIGNORE=; HISTCONTROL=ignoreboth",
        "set -u",
        "set +u; set -o posix",
        "set +o posix; set -o vi",
        "shopt -u promptvars; set -o emacs",
        "PROMPT_COMMAND=\"false; $PROMPT_COMMAND\"",
        "shopt -s promptvars",
        "shopt -u expand_aliases",
        "unalias -a; shopt -s expand_aliases",
        "alias builtin='echo B' local='echo L' printf='echo P' unset='echo U'",
        "\\unalias builtin local printf unset; local() { echo mine; }; printf() { echo mine; }",
        "unset -f local printf",
        "trap true DEBUG",
        "trap - DEBUG; IFS=_abcdeu",
        "unset IFS; exec 3>&1",
        "readonly PROMPT_COMMAND PS1",
    ];
    for settings in [
        "PS1='$ '\nunset HISTFILE\n",
        "PS1='$ '\nunset HISTFILE\nPROMPT_COMMAND='true; false'\n",
        "PS1='$ '\nunset HISTFILE\nPROMPT_COMMAND=(true 'echo mine')\n",
    ] {
        check("bash", settings, &changes);
    }
}

/// Runs lines in a shell with integration and in a shell without it. Both must show the same text.
fn check_shown(program: &str, settings: &str, lines: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell(program, home.path(), settings);
    let plain_mux = mux_of(home.path(), false);
    let plain = shell_in(&plain_mux, program, home.path(), settings);
    wait(&pane, "a prompt", is_asking);
    wait(&plain, "the first prompt", |plain| screen(plain) == screen(&pane));
    for line in lines {
        type_line(&pane, line);
        plain.write(format!("{line}\r").as_bytes()).unwrap();
        wait(&plain, &format!("{line}: {:#?}", screen(&pane)), |plain| {
            screen(plain) == screen(&pane)
        });
    }
}

#[test]
fn traps_of_a_user_run_for_no_part_of_the_integration() {
    let lines = [
        "trap 'echo \"[$BASH_COMMAND]\"' DEBUG",
        "echo one",
        "PROMPT_COMMAND=true",
        "shopt -s extdebug",
        "echo two",
        "shopt -u extdebug; trap - DEBUG",
        "set -T; trap 'echo \"<$BASH_COMMAND>\"; true \"$_\"' DEBUG",
        "echo three",
        "trap - DEBUG; trap 'echo returned' RETURN",
        "true",
        "trap - RETURN; set +T; trap 'echo failed' ERR",
        "false",
        "true | false | true",
        "false | false",
        "set -E",
        "false",
    ];
    check_shown("bash", "PS1='$ '\nunset HISTFILE\n", &lines);
}

#[test]
fn words_of_a_user_do_not_change_the_integration() {
    let names = ["alias", "bind", "builtin", "command", "eval", "local", "printf", "read", "set"];
    let aliases = names.map(|name| format!("alias {name}='echo {name}'\n")).concat();
    let functions = names.map(|name| match name {
        "builtin" => String::new(),
        _ => format!("function {name} {{ echo {name}; }}\n"),
    });
    for words in [aliases, functions.concat()] {
        let settings = format!("PS1='$ '\nunset HISTFILE\n{words}");
        let lines = ["true", "PROMPT_COMMAND='PS1=\"% \"'", "echo one | cat", "PROMPT_COMMAND="];
        check_shown("bash", &settings, &lines);
    }
}

#[test]
fn a_line_break_that_ends_a_prompt_of_fish_is_left_out() {
    let lines = [
        "function fish_prompt; echo; echo 'two> '; end",
        "function fish_prompt; echo \"$status $pipestatus> \"; end",
        "false | true",
        "function fish_prompt; echo dir; echo; end",
    ];
    let settings = "set -g fish_greeting\nfunction fish_prompt; echo 'own> '; end\n";
    check_shown("fish", settings, &lines);
}

#[test]
fn bash_shows_its_prompt_if_its_hooks_are_read_only() {
    for (change, code) in [
        ("PROMPT_COMMAND=true; readonly PROMPT_COMMAND", 3),
        ("unset PROMPT_COMMAND; readonly PROMPT_COMMAND", 4),
        ("PROMPT_COMMAND=(true); declare -rx PROMPT_COMMAND", 5),
    ] {
        let home = tempfile::tempdir().unwrap();
        let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\n");
        type_line(&pane, change);
        for line in [format!("sh -c 'exit {code}'"), format!("unset PS2; sh -c 'exit {code}'")] {
            type_line(&pane, &line);
            assert_eq!(last_ended(&pane), (line, Some(code), String::new()), "{change}");
        }
        assert!(
            !screen(&pane).iter().any(|row| row.contains(": readonly")),
            "{:#?}",
            screen(&pane)
        );
    }
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\n");
    type_line(&pane, "PROMPT_COMMAND=true; readonly PROMPT_COMMAND PS0 PS2 HISTIGNORE");
    type_line(&pane, "PS1='% '");
    type_line(&pane, "sh -c 'exit 6'");
    assert_eq!(last_ended(&pane).1, Some(6), "{:#?}", screen(&pane));
}

#[test]
fn bash_that_ends_at_errors_outlives_its_prompts() {
    for hook in ["", "PROMPT_COMMAND='true | true'\n"] {
        let home = tempfile::tempdir().unwrap();
        let (_mux, pane) = shell("bash", home.path(), &format!("PS1='$ '\n{hook}set -eu\n"));
        for (line, code) in [("! true", 1), ("true", 0), ("! (exit 3) | true", 1), ("true", 0)] {
            type_line(&pane, line);
            assert_eq!(last_ended(&pane), (line.to_owned(), Some(code), String::new()));
        }
    }
}

#[test]
fn zsh_reports_exit_codes_whatever_its_hooks_become() {
    let changes = [
        "precmd_functions=()",
        "precmd_functions=() preexec_functions=()",
        "preexec_functions=() zshaddhistory_functions=()",
        "unset preexec_functions",
        "unset zshaddhistory_functions precmd_functions",
        "unset precmd_functions preexec_functions zshaddhistory_functions; setopt no_unset",
        "setopt unset",
        "unset preexec_functions; preexec_functions=mine; mine() { true }",
        "late() { PS1='% '; print mine; false }; precmd_functions+=(late)",
        "precmd() { print also mine; false }",
        "precmd() { PS1='%? '; true }",
        "precmd_functions=()",
        "unfunction precmd",
        "PS1=\"(venv) $PS1\"",
        "PS1=\"$PS1> \"",
        "PS2='more '",
        "preexec() { true }",
        "zshaddhistory() { return 0 }",
        // A hook that calls the previous hook.
        "functions[before]=$functions[zshaddhistory]; zshaddhistory() { before $1 }",
        "functions[first]=$functions[precmd]; precmd() { first; print later }",
        "bindkey -v",
        "bindkey -e; setopt ksh_arrays",
        "unsetopt ksh_arrays; setopt sh_word_split no_unset err_return",
        "unsetopt sh_word_split err_return; setopt unset extended_glob null_glob",
        "setopt prompt_subst no_prompt_sp",
        "zmodload -u zsh/sched",
        "disable sched",
        "enable sched",
        "TRAPDEBUG() { true }",
        "unfunction TRAPDEBUG; setopt posix_builtins posix_identifiers",
        "emulate ksh",
        "emulate sh",
    ];
    for settings in ["PS1='own> '\n", "PS1='own> '\nprecmd() { print mine; false }\n"] {
        check("zsh", settings, &changes);
    }
}

#[test]
fn zsh_marks_prompts_without_percent_and_of_scheduled_commands() {
    let changes = [
        "unsetopt prompt_percent",
        "PS1='100% '",
        "setopt prompt_percent",
        "zmodload zsh/sched; precmd() { sched +0 'print mine; PS1=\"later> \"' }",
        "precmd() { sched +0 'unsetopt promptpercent; PS1=\"%n> \"' }",
        "unfunction precmd; setopt promptpercent",
        "init() { INIT=$CONTEXT }; zle -N zle-line-init init; unsetopt promptpercent",
        "[[ $INIT == start ]] && setopt promptpercent",
        "zle -A zle-line-init first; later() { zle first }; zle -N zle-line-init later; unsetopt promptpercent",
        "zle -D zle-line-init; bindkey -v; unsetopt promptpercent",
    ];
    check("zsh", "PS1='own> '\n", &changes);
    // Marks are not shown as text.
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("zsh", home.path(), "PS1='own> '\n");
    type_line(&pane, "unsetopt prompt_percent");
    type_line(&pane, "true");
    let shown = screen(&pane);
    assert!(shown.iter().any(|row| row == "own> true"), "{shown:#?}");
}

#[test]
fn a_size_report_for_a_killed_program_types_nothing() {
    for (program, settings) in [
        ("bash", "PS1='own> '\n"),
        ("bash", "PS1='own> '\nset -o vi\n"),
        ("zsh", "PS1='own> '\n"),
        ("zsh", "PS1='own> '\nbindkey -v\n"),
        ("fish", "set -g fish_greeting\n"),
        ("fish", "set -g fish_greeting\nfish_vi_key_bindings\n"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let (_mux, pane) = shell(program, home.path(), settings);
        type_line(&pane, "true");
        pane.write(b"\x1b[48;24;80;384;640t").unwrap();
        type_line(&pane, "sh -c 'exit 5'");
        let expected = ("sh -c 'exit 5'".to_owned(), Some(5), String::new());
        assert_eq!(last_ended(&pane), expected, "{program}: {:#?}", screen(&pane));
    }
}

#[test]
fn fish_shows_the_mode_of_vi_in_its_prompt() {
    let home = tempfile::tempdir().unwrap();
    // Such as starship's prompt, which shows the mode instead of `fish_mode_prompt`.
    let settings = "set -g fish_greeting\nfish_vi_key_bindings\nfunction fish_mode_prompt; end\n\
        function fish_prompt; echo -n \"$fish_bind_mode> \"; end\n";
    let (_mux, pane) = shell("fish", home.path(), settings);
    wait(&pane, "a prompt", is_asking);
    for (key, shown) in [("\x1b", "default>"), ("i", "insert>"), ("\x1b", "default>")] {
        pane.write(key.as_bytes()).unwrap();
        wait(&pane, shown, |pane| screen(pane).iter().any(|row| row.starts_with(shown)));
    }
    assert_eq!(commands(&pane).len(), 1);
}

#[test]
fn fish_reports_exit_codes_whatever_its_prompt_becomes() {
    let changes = [
        "function fish_prompt; echo -n 'new> '; false; end",
        "functions -e fish_prompt",
        "functions -e fish_mode_prompt",
        "function fish_prompt; echo -n 'again> '; end",
        "function fish_mode_prompt; echo -n '[mode]'; end",
        // Prompt functions that call the previous prompt function, as Python's `activate.fish` defines them.
        "functions -c fish_prompt before; function fish_prompt; echo -n '(venv) '; before; end",
        "functions -c fish_prompt first; function fish_prompt; first; echo -n '> '; end",
        "functions -c fish_mode_prompt mode; function fish_mode_prompt; mode; echo -n '[again]'; end",
        "fish_vi_key_bindings",
        "fish_default_key_bindings",
        "function on_prompt --on-event fish_prompt; echo mine; false; end",
        "function on_end --on-event fish_postexec; false; end",
        "function fish_right_prompt; echo right; end",
        "function count; builtin echo mine; end; function contains; builtin echo mine; end",
        "functions -e count contains; function functions; builtin echo mine; end",
        "builtin functions -e functions; function commandline; builtin echo mine; end",
    ];
    check("fish", "set -g fish_greeting\nfunction fish_prompt; echo -n 'own> '; end\n", &changes);
}

#[test]
fn a_users_hook_prints_no_output_and_stays_before_the_prompt() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell(
        "bash",
        home.path(),
        "PS1='$ '\nunset HISTFILE\nPROMPT_COMMAND='printf \"[%s] \" \"$? ${PIPESTATUS[*]}\"'\n",
    );
    for (line, hook) in [
        ("printf abc; sh -c 'exit 4'", "[4 4] $"),
        ("printf abc | cat | (cat; exit 5)", "[5 0 0 5] $"),
        ("printf abc; (exit 3) | true", "[0 3 0] $"),
    ] {
        type_line(&pane, line);
        assert_eq!(last_ended(&pane).2, "abc");
        let shown = screen(&pane);
        assert_eq!(shown.iter().rfind(|row| !row.is_empty()).unwrap(), hook, "{shown:#?}");
    }
    // With `set -x`, traces of the user's hook are not part of the output either.
    type_line(&pane, "set -x");
    type_line(&pane, "echo traced");
    assert_eq!(last_ended(&pane).2, "+ echo traced\ntraced");

    let home = tempfile::tempdir().unwrap();
    let settings = "PS1='own> '\nmine() { print hook }\nprecmd_functions=(mine)\n";
    let (_mux, pane) = shell("zsh", home.path(), settings);
    type_line(&pane, "setopt xtrace");
    type_line(&pane, "echo traced");
    let (.., output) = last_ended(&pane);
    assert!(output.ends_with("\ntraced") && output.lines().count() == 2, "{output}");
}

#[test]
fn text_of_a_hook_set_at_the_prompt_shares_the_prompts_row() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\n");
    type_line(&pane, "PROMPT_COMMAND='printf \"[12:34] \"'");
    assert_eq!(screen(&pane)[1], "[12:34] $");
    type_line(&pane, "printf abc");
    assert_eq!(screen(&pane)[2..4], ["abc", "[12:34] $"]);
}

#[test]
fn readlines_mode_string_shares_the_row_of_its_prompt() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".inputrc"), "set show-mode-in-prompt on\n").unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='ready$ '\nset -o vi\n");
    type_line(&pane, "true");
    pane.write(b"echo one\x1b").unwrap();
    wait(&pane, "vi's command mode", |pane| screen(pane)[1].starts_with("(cmd)ready$ echo one"));
    pane.write(b"ccecho two\x1b").unwrap();
    wait(&pane, "the change", |pane| screen(pane)[1].starts_with("(cmd)ready$ echo two"));
    assert_eq!(screen(&pane)[0], "(ins)ready$ true");
    assert_eq!(screen(&pane)[2], "");
    pane.write(b"\r").unwrap();
    wait(&pane, "two", |pane| screen(pane)[3].starts_with("(ins)ready$"));
    let ids: Vec<_> = commands(&pane).iter().map(|command| command.id).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(last_ended(&pane), ("echo two".to_owned(), Some(0), "two".to_owned()));
}

#[test]
fn fish_marks_the_prompts_that_it_draws_by_itself() {
    let home = tempfile::tempdir().unwrap();
    let settings =
        "set -g fish_greeting\nfunction fish_prompt; echo -n \"own $pipestatus> \"; end\n";
    let (_mux, pane) = shell("fish", home.path(), settings);
    type_line(&pane, "false | true");
    type_line(&pane, "true");
    // Ctrl+L, syntax errors after which the line stays, and Ctrl+C in an unfinished line.
    for (keys, shown, more) in [
        ("\x0c", "own 0>", ""),
        ("echo )\r", "own 3> echo )", ""),
        ("builtin nope\r", "own 3> builtin nope", ""),
        ("echo (\r", "own 3> echo (", "\x03"),
    ] {
        let before = pane.term().seq();
        pane.write(keys.as_bytes()).unwrap();
        wait(&pane, shown, |pane| {
            pane.term().seq() > before && screen(pane).iter().any(|row| row.starts_with(shown))
        });
        if !more.is_empty() {
            // While fish handles Enter, it ignores Ctrl+C.
            wait(&pane, "the line after an unfinished one", |pane| {
                let row = screen(pane).iter().position(|row| row.starts_with(shown));
                row.is_some_and(|row| usize::from(pane.term().cursor().row) > row)
            });
            // fish can lose a Ctrl+C, for example while it draws. Type it again then, as a user would.
            let is_canceled = || screen(&pane).iter().any(|row| row.contains("^C"));
            for _ in 0..20 {
                wait_until_settled(&pane);
                if is_canceled() {
                    break;
                }
                pane.write(more.as_bytes()).unwrap();
            }
            wait(&pane, "^C", |_| is_canceled());
        }
        wait(&pane, "a prompt", is_asking);
        let typed = "sh -c 'echo out; exit 3'";
        wait(&pane, "the key that empties the line", |pane| {
            commands(pane).last().is_some_and(|last| last.has_reset_key)
        });
        pane.write(b"\x1e\x1f\x1e\x1f").unwrap();
        type_line(&pane, typed);
        let expected = (typed.to_owned(), Some(3), "out".to_owned());
        assert_eq!(last_ended(&pane), expected, "{keys:?}: {:#?}", screen(&pane));
    }
}

#[test]
fn bash_reports_again_after_one_line_removed_all_its_hooks() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\n");
    for change in ["PS1='% '; unset PROMPT_COMMAND", "PS1='+ ' PROMPT_COMMAND=(true)"] {
        wait(&pane, "a prompt", is_asking);
        pane.write(format!("{change}\r").as_bytes()).unwrap();
        let row = commands(&pane).last().unwrap().prompt.unwrap().line.0 + 1;
        wait(&pane, "the silent prompt", |pane| {
            let term = pane.term();
            let cursor = term.cursor();
            (term.live_top().0 + u64::from(cursor.row), cursor.col) == (row, 2)
        });
        assert!(!is_asking(&pane), "{:#?}", screen(&pane));
        pane.write(b"sh -c 'exit 3'\r").unwrap();
        wait(&pane, "the next prompt", is_asking);
        let known = commands(&pane);
        let of_change = known.iter().find(|command| command.line.as_deref() == Some(change));
        assert_eq!(of_change.unwrap().exit_code, None, "another command's exit code");
        assert_eq!(last_ended(&pane).1, Some(3), "{:#?}", screen(&pane));
        type_line(&pane, "sh -c 'exit 4'");
        assert_eq!(last_ended(&pane).1, Some(4), "{:#?}", screen(&pane));
    }
}

#[test]
fn bash_reports_commands_at_a_prompt_that_a_later_hook_replaced() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\n");
    for round in 1..=2 {
        let change = format!("PROMPT_COMMAND+=('PS1=\"{round} \"')");
        wait(&pane, "a prompt", is_asking);
        pane.write(format!("{change}\r").as_bytes()).unwrap();
        let row = commands(&pane).last().unwrap().prompt.unwrap().line.0 + 1;
        wait(&pane, "the replaced prompt", |pane| {
            let term = pane.term();
            let cursor = term.cursor();
            (term.live_top().0 + u64::from(cursor.row), cursor.col) == (row, 2)
        });
        pane.write(b"sh -c 'echo out; exit 3'\r").unwrap();
        wait(&pane, "the next prompt", is_asking);
        let expected = ("sh -c 'echo out; exit 3'".to_owned(), Some(3), "out".to_owned());
        assert_eq!(last_ended(&pane), expected, "{:#?}", screen(&pane));
        type_line(&pane, "sh -c 'exit 4'");
        assert_eq!(last_ended(&pane).1, Some(4), "{:#?}", screen(&pane));
    }
}

#[test]
fn the_reset_key_empties_the_line_in_the_modes_of_line_editors() {
    let emacs: &[&str] = &[
        "",
        "rm -x",
        "\x16",
        "\x12ab",
        "\x1b12",
        "\x18",
        "\x1d",
        // Replies of the terminal that no program has read: XTVERSION, XTGETTCAP, DECRQSS and DA3.
        "\x1bP>|Unterm 1.0\x1b\\",
        "\x1bP1+r544e=787465726d\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\x1bP!|00000000\x1b\\",
    ];
    let vi: &[&str] = &[
        "abc\x1bd",
        "abc\x1bc",
        "abc\x1by",
        "abc\x1bf",
        "abc\x1br",
        "abc\x1b12",
        "abc\x1b\"",
        "abc\x1bm",
    ];
    let fish: &[&str] = &["", "rm -x", "ls /\t\t", "ls /\t\t\x13us", "\x12", "\x12ec", "pri\x1b[A"];
    for (program, settings, modes) in [
        ("bash", "PS1='$ '\n", emacs),
        ("bash", "PS1='$ '\nset -o vi\n", vi),
        ("zsh", "PS1='> '\nbindkey -e\n", emacs),
        ("zsh", "PS1='> '\nbindkey -e\n", &["\x1bx", "\x1bxfoo", "\x1bxwhere-is\r", "a\x00bc"]),
        ("zsh", "PS1='> '\nbindkey -v\n", vi),
        ("zsh", "PS1='> '\nbindkey -v\n", &["abc\x1bv", "abc\x1bV", "abc\x1b:", "abc\x1bR"]),
        ("fish", "set -g fish_greeting\nfunction fish_prompt; echo -n '> '; end\n", fish),
    ] {
        let home = tempfile::tempdir().unwrap();
        let (_mux, pane) = shell(program, home.path(), settings);
        type_line(&pane, "echo abc");
        for mode in modes {
            wait(&pane, "a prompt", is_asking);
            let before = commands(&pane).last().unwrap().id;
            pane.write(format!("{mode}\x1e\x1f\x1e\x1fecho q42q\r").as_bytes()).unwrap();
            wait(&pane, mode, |pane| {
                is_asking(pane) && commands(pane).last().is_some_and(|last| last.id > before)
            });
            let (line, code, output) = last_ended(&pane);
            let ended = (line.trim(), code, output.as_str());
            assert_eq!(ended, ("echo q42q", Some(0), "q42q"), "{program}, {mode:?}");
        }
    }
}

#[test]
fn variables_reach_the_next_command_after_a_users_trap() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\n");
    type_line(&pane, "true");
    let set = |value: &str| {
        assert!(pane.set_variable("GIVEN", Some(value)).unwrap());
        pane.announce_variables();
    };
    set("1");
    type_line(&pane, "true");
    for (value, lines) in [
        ("2", &["trap 'echo mine' WINCH", "trap - WINCH"][..]),
        ("3", &["trap '' WINCH", "trap WINCH"]),
        ("4", &["set -x; trap true WINCH", "trap - WINCH"]),
    ] {
        for line in lines {
            type_line(&pane, line);
        }
        set(value);
        type_line(&pane, "echo \"<$GIVEN>\"");
        assert!(last_ended(&pane).2.ends_with(&format!("<{value}>")), "{:#?}", screen(&pane));
    }
}

#[test]
fn exported_prompts_are_silent_in_a_bash_without_integration() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), "PS1='$ '\nexport PS1 PS0\n");
    type_line(&pane, "true");
    pane.write(b"bash --norc -iu\r").unwrap();
    wait(&pane, "the inner shell", |pane| screen(pane)[2].starts_with('$'));
    pane.write(b"unset PROMPT_COMMAND; echo inside\r").unwrap();
    wait(&pane, "its command", |pane| screen(pane)[4].starts_with('$'));
    pane.write(b"exit 3\r").unwrap();
    wait(&pane, "the outer shell", |pane| is_asking(pane) && screen(pane)[6].starts_with('$'));
    let shown = screen(&pane).join("\n");
    assert!(!shown.contains("_unterm") && !shown.contains("unbound"), "{shown}");
    type_line(&pane, "sh -c 'exit 4'");
    assert_eq!(last_ended(&pane).1, Some(4));
}

/// Hooks like those of bash-preexec: a DEBUG trap runs a hook for the first command after the last prompt hook.
const PREEXEC: &str = r#"
before_prompt() { ready=1; }
before_command() {
    if [ -n "$ready" ] && [ "$BASH_COMMAND" != before_prompt ]; then
        ready=
        echo "<$BASH_COMMAND>"
    fi
}
PS1='$ '
ready=
PROMPT_COMMAND=before_prompt
trap 'before_command "$_"' DEBUG
"#;

#[test]
fn hooks_by_a_debug_trap_of_bash_run_for_the_command() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("bash", home.path(), PREEXEC);
    for text in ["one", "two"] {
        let line = format!("echo {text}; (exit 3)");
        type_line(&pane, &line);
        let expected = (line, Some(3), format!("<echo {text}>\n{text}"));
        assert_eq!(last_ended(&pane), expected, "{:#?}", screen(&pane));
    }
    // An empty line begins no command, so its prompt has no command's hook.
    type_line(&pane, "");
    type_line(&pane, "true");
    assert_eq!(last_ended(&pane).2, "<true>");
}

#[test]
fn replies_that_no_program_has_read_keep_vi_keys_of_zsh_usable() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = shell("zsh", home.path(), "PS1='% '\nbindkey -v\n");
    for query in ["P+q544e\\033\\\\", "P$qm\\033\\\\", "[>q", "]11;?\\007"] {
        type_line(&pane, &format!("printf '\\033{query}'"));
        type_line(&pane, "print typed");
        let expected = ("print typed".to_owned(), Some(0), "typed".to_owned());
        assert_eq!(last_ended(&pane), expected, "{query}: {:#?}", screen(&pane));
    }
}

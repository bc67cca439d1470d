//! Tests of the ways in which programs wait for a user: `run` reports each of them, and does not report programs that
//! only work.

use std::{collections::VecDeque, sync::Mutex, thread};

use serde_json::{Value, json};

use crate::support::{self, Fixture, client::Client};

/// A way to ask: its name, the program that it needs, and a bash command.
type Style = (&'static str, &'static str, &'static str);

const ASKS: &[Style] = &[
    ("read -p with a colon", "bash", "read -r -p 'Name: ' A"),
    ("read -p without a sign", "bash", "read -r -p 'Enter your name ' A"),
    ("read without a prompt", "bash", "read -r A"),
    ("read with a timeout", "bash", "read -r -t 600 A"),
    ("read, after seconds of work", "bash", "sleep 3; read -r A"),
    ("a line, then read", "bash", "echo 'Type your answer below'; read -r A"),
    ("a line, a blank line, then read", "bash", "printf 'Which one\\n\\n'; read -r A"),
    ("apt", "bash", "printf 'Do you want to continue? [Y/n] '; read -r A"),
    ("overwrite (y/N)", "bash", "read -r -p 'overwrite it (y/N)' A"),
    ("overwrite, y or n", "bash", "read -r -p 'overwrite it, y or n' A"),
    ("Choice:", "bash", "printf ' 1) one\\n 2) two\\nChoice:'; read -r A"),
    ("select", "bash", "select A in one two; do break; done"),
    ("select with a PS3 of its own", "bash", "PS3='pick one'; select A in one two; do break; done"),
    ("press any key", "bash", "read -rsn1 -p 'Press any key to continue' A"),
    ("press Enter", "bash", "read -r -p 'Press Enter to continue...' A"),
    ("an ellipsis", "bash", "read -r -p 'Waiting for you...' A"),
    ("another script", "bash", "read -r -p '名前を入力してください' A"),
    ("text behind the cursor", "bash", "printf 'Name      [none]\\033[11D'; read -r A"),
    ("a cursor above the last line", "bash", "printf 'Name \\n-- help --\\033[A\\r'; read -r A"),
    ("a very long question", "bash", "printf 'x%.0s' {1..700}; read -r A"),
    ("progress, then read", "bash", "for P in 10 50 99; do printf '\\r%s%%' $P; done; read -r A"),
    ("db=#", "bash", "printf 'db=# '; read -r A"),
    ("a sign without a blank", "bash", "printf 'calc>'; read -r A"),
    (
        "ssh's host key",
        "bash",
        "printf 'continue connecting (yes/no/[fingerprint])? '; read A </dev/tty",
    ),
    ("from /dev/tty, without a prompt", "sh", "sh -c 'read A </dev/tty' </dev/null"),
    ("a child reads", "sh", "sh -c 'sh -c \"read A\"; true'"),
    ("a child of a pipeline reads", "sh", "true | sh -c 'read A </dev/tty' | sort"),
    (
        "sudo's password",
        "sh",
        "sh -c 'printf \"[sudo] password for me: \"; stty -echo; read A; stty echo'",
    ),
    ("a password without a label", "bash", "read -rs A"),
    ("cat", "cat", "cat"),
    ("cat to a file", "cat", "cat >/dev/null"),
    ("wc", "wc", "wc -l"),
    ("raw bytes", "head", "stty raw -echo; head -c 1; stty sane"),
    ("xargs -p", "xargs", "echo word | xargs -p echo"),
    ("rm -i", "rm", "touch it; rm -i it"),
    ("ed", "ed", "ed -s"),
    ("bc", "bc", "bc -q"),
    ("perl", "perl", "perl -e '$| = 1; print \"Your name\"; <STDIN>'"),
    ("tclsh", "tclsh", "tclsh"),
    ("node", "node", "node -e 'process.stdin.once(\"data\", () => process.exit())'"),
    (
        "node's readline",
        "node",
        "node -e 'require(\"readline\").createInterface(process.stdin, process.stdout).question(\"Name\", () => 0)'",
    ),
    ("npm init", "npm", "npm init"),
    ("python's input", "python3", "python3 -c 'input(\"Your name\")'"),
    ("python's input without a prompt", "python3", "python3 -c 'input()'"),
    ("getpass", "python3", "python3 -c 'import getpass; getpass.getpass()'"),
    ("python", "python3", "python3 -q"),
    (
        "poll",
        "python3",
        "python3 -c 'import select as s; p = s.poll(); p.register(0, 1); p.poll()'",
    ),
    ("select(2)", "python3", "python3 -c 'import select as s; s.select([0], [], [])'"),
    (
        "epoll",
        "python3",
        "python3 -c 'import select as s; p = s.epoll(); p.register(0, 1); p.poll()'",
    ),
    (
        "a loop of short polls",
        "python3",
        "python3 -c 'import select as s\nwhile not s.select([0], [], [], 0.2)[0]: pass'",
    ),
    (
        "another thread reads",
        "python3",
        "python3 -c 'import threading as t; t.Thread(target=input).start(); t.Event().wait()'",
    ),
    ("gdb", "gdb", "gdb -q"),
    ("sqlite3", "sqlite3", "sqlite3"),
    ("git add -p", "git", "git init -q . && echo a >f && git add f && echo b >f && git add -p"),
    ("whiptail's input box", "whiptail", "whiptail --inputbox 'Your name' 10 40"),
    ("whiptail's yes and no", "whiptail", "whiptail --yesno 'Go on' 10 40"),
    ("dialog's menu", "dialog", "dialog --menu Choose 12 40 4 a one b two"),
    ("fzf", "fzf", "seq 5 | fzf"),
    ("fzf below the prompt", "fzf", "seq 5 | fzf --height 40%"),
    ("less", "less", "seq 500 | less"),
    ("vim", "vim", "vim -u NONE -i NONE -n"),
    ("nano", "nano", "nano"),
    ("within script", "script", "script -qc 'sleep 1; read A' /dev/null"),
    ("within expect", "expect", "expect -c 'log_user 1; spawn -noecho sh -c \"read A\"; interact'"),
    ("within sudo", "sudo", "sudo sh -c 'read A'"),
    ("zsh's read", "zsh", "zsh -fc 'read A'"),
    ("fish's read", "fish", "fish -Nc 'read A'"),
];

/// Programs that work, or wait for something other than their terminal.
const WORKS: &[Style] = &[
    ("sleep", "sleep", "sleep 600"),
    ("a question, then work", "sh", "sh -c 'printf \"Go on? [Y/n] \"; sleep 600'"),
    ("a busy loop", "sh", "sh -c 'while :; do :; done'"),
    ("a silent build", "make", "printf 'all:\\n\\t@sleep 600\\n' >silent; make -f silent"),
    ("a silent compiler", "cc", "mkfifo code 2>/dev/null; cc -xc code"),
    ("a server", "python3", "python3 -m http.server --bind 127.0.0.1 0"),
    (
        "a server that polls",
        "python3",
        "python3 -c 'import select as s, socket as k; l = k.create_server((\"127.0.0.1\", 0)); s.select([l], [], [])'",
    ),
    ("a read of a file", "cat", "mkfifo other 2>/dev/null; cat other"),
    ("script with work inside", "script", "script -qc 'sleep 600' /dev/null"),
    (
        "expect with work inside",
        "expect",
        "expect -c 'log_user 1; spawn -noecho sleep 600; interact'",
    ),
    ("sudo with work inside", "sudo", "sudo sleep 600"),
    ("two of them", "script", "script -qc 'script -qc \"sleep 600\" /dev/null' /dev/null"),
];

/// Runs each of these commands in a separate shell, several at the same time. Returns the replies of `run`.
fn run_all(fixture: &Fixture, styles: &[Style], timeout_ms: u64) -> Vec<(&'static str, Value)> {
    let is_there = |style: &&Style| support::is_installed(style.1);
    let todo: VecDeque<Style> = styles.iter().filter(is_there).copied().collect();
    let (todo, done) = (Mutex::new(todo), Mutex::new(Vec::new()));
    // This writes the files of the shell integration before several threads do so.
    fixture.integrate();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = Client::new(fixture);
                loop {
                    let Some((name, _, command)) = todo.lock().unwrap().pop_front() else { return };
                    let pane = client.shell(fixture);
                    let folder = fixture.home.path().join(format!("of-{pane}"));
                    std::fs::create_dir(&folder).unwrap();
                    let enter = format!("cd {}", folder.display());
                    client.call("run", json!({"pane": pane, "command": enter}));
                    let run = json!({"pane": pane, "command": command, "timeout_ms": timeout_ms});
                    let ran = client.call("run", run);
                    done.lock().unwrap().push((name, ran));
                    client.call("pane_close", json!({"pane": pane}));
                }
            });
        }
    });
    done.into_inner().unwrap()
}

/// The kind of waiting that a reply reports. `None` if the command does not wait.
fn kind(ran: &Value) -> Option<&'static str> {
    let is = |field: &str| ran[field] == true;
    match ran["ended"] == false {
        true if is("awaiting_secret") => Some("secret"),
        true if is("full_screen") => Some("keys"),
        true if is("awaiting_input") => Some("question"),
        true if is("reads_input") => Some("reads"),
        _ => None,
    }
}

#[test]
fn each_way_to_ask_ends_the_wait_of_run() {
    let fixture = Fixture::new();
    let ran = run_all(&fixture, ASKS, 50_000);
    let mut missed = Vec::new();
    for (name, ran) in &ran {
        eprintln!("{name:36} {}", kind(ran).unwrap_or("-"));
        if kind(ran).is_none() {
            missed.push((name, ran));
        }
    }
    eprintln!("recognized: {} of {}", ran.len() - missed.len(), ran.len());
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_program_that_works_is_not_said_to_read() {
    let fixture = Fixture::new();
    for (name, ran) in run_all(&fixture, WORKS, 4000) {
        eprintln!("{name:36} {}", kind(&ran).unwrap_or("-"));
        assert_eq!((&ran["ended"], kind(&ran)), (&json!(false), None), "{name}: {ran}");
    }
}

#[test]
fn a_program_that_prints_on_without_input_does_not_wait() {
    if !support::has("python3", &["--version"]) {
        return;
    }
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    let script = "import os, threading as t, time\nt.Thread(target=input).start()\ntime.sleep(3)\n\
                  print(\"more\", flush=True)\ntime.sleep(3)\nos._exit(3)";
    let ran = client.call("run", json!({"command": format!("python3 -c '{script}'")}));
    assert_eq!(ran["reads_input"], true, "{ran}");
    // The program printed more, and read input all the time.
    let ended = client.call("wait", json!({"handle": ran["handle"]}));
    assert_eq!(ended["run"]["exit_code"], 3, "{ended}");
}

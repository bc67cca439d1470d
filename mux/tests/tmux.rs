//! The windows of a real tmux server as tabs: `tmux -CC attach` in a pane.

use std::{
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use unterm_mux::{
    Axis, Mux, MuxError, MuxOptions, Node, OnExit, Pane, PaneId, PaneState, Signal, Spawn, Tab,
};
use unterm_term::{LineId, Modes, Options, Parser, ScreenKind, Size, Snapshot, Style, Term};

use crate::common::{self, Ear, LIMIT, open, screen, wait, wait_text};

/// A tmux server of its own, with one window that runs a shell.
struct Server {
    name: String,
    /// Contains the socket, and is removed with the server.
    folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).status();
    }
}

impl Server {
    /// Starts a server. `None` if tmux is neither installed nor required.
    fn start(setup: &[&[&str]]) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("unterm-test-{}-{number}", std::process::id());
        let server = Self { name, folder: tempfile::tempdir().unwrap() };
        if let Err(error) = server.command(&["-V"]).status() {
            let must_run = std::env::var_os("UNTERM_NEEDS_ALL").is_some();
            assert!(!must_run, "UNTERM_NEEDS_ALL is set, and tmux does not start: {error}");
            eprintln!("skipped: tmux does not start: {error}");
            return None;
        }
        // Options of the server apply to its first window only if they are set in the same command.
        let mut arguments = vec!["-f", "/dev/null"];
        for option in setup {
            arguments.extend_from_slice(option);
            arguments.push(";");
        }
        arguments.extend_from_slice(&[
            "set-option",
            "-g",
            "default-command",
            "env PS1='$ ' sh",
            ";",
        ]);
        arguments.extend_from_slice(&["new-session", "-d", "-s", "work", "-x", "80", "-y", "24"]);
        assert!(server.command(&arguments).status().unwrap().success());
        Some(server)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.name]).args(arguments);
        command.env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color");
        command.env("TMUX_TMPDIR", self.folder.path());
        command.env_remove("TMUX").env_remove("ENV");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs a command, and returns what it prints.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Waits until a command prints this text. tmux sends no event to other clients.
    fn wait(&self, arguments: &[&str], is_expected: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + LIMIT;
        let mut text = self.run(arguments);
        while !is_expected(&text) {
            assert!(Instant::now() < deadline, "{arguments:?} prints {text}");
            text = self.run(arguments);
        }
    }

    /// Types a line into a pane of tmux, from another client.
    fn types(&self, pane: &str, line: &str) {
        self.run(&["send-keys", "-t", pane, "-l", line]);
        self.run(&["send-keys", "-t", pane, "Enter"]);
    }

    /// The program that attaches in a pane of Unterm.
    fn attach(&self) -> Spawn {
        Spawn {
            program: Some("tmux".into()),
            args: ["-L", &self.name, "-CC", "attach"].map(str::to_owned).to_vec(),
            env: vec![
                ("TMUX".into(), String::new()),
                ("LC_ALL".into(), "C.UTF-8".into()),
                ("TMUX_TMPDIR".into(), self.folder.path().display().to_string()),
            ],
            ..Spawn::default()
        }
    }

    /// The cells of a pane's screen, as tmux stores them.
    fn cells(&self, pane: &str, size: Size) -> Vec<Vec<(String, Style)>> {
        let mut command = self.command(&["capture-pane", "-peN", "-t", pane]);
        let text = command.stdout(Stdio::piped()).output().unwrap().stdout;
        let mut term = Term::new(size, Options::default());
        let mut parser = Parser::new();
        for (row, line) in text.split(|byte| *byte == b'\n').take(size.rows.into()).enumerate() {
            parser.advance(&mut term, format!("\x1b[{};1H", row + 1).as_bytes());
            parser.advance(&mut term, line);
        }
        cells(&term)
    }
}

/// The text and the style of each cell of the live screen.
fn cells(term: &Term) -> Vec<Vec<(String, Style)>> {
    let mut snapshot = Snapshot::default();
    term.snapshot(&mut snapshot, None);
    let rows = snapshot.rows.iter().map(|row| {
        let mut cells = vec![(" ".to_owned(), Style::default()); term.size().cols.into()];
        term.row_cells(row.line, |col, text| text.clone_into(&mut cells[usize::from(col)].0));
        for run in &row.styles {
            let cells = &mut cells[usize::from(run.start)..usize::from(run.end)];
            cells.iter_mut().for_each(|cell| cell.1 = run.style);
        }
        cells
    });
    rows.collect()
}

/// A mux with a pane that is attached to a server, and the pane.
fn attach(server: &Server) -> (Arc<Mux>, Arc<Ear>, Arc<Pane>) {
    let term = Options { scrollback: 100_000, ..Options::default() };
    let options = MuxOptions { default_size: Size::cells(100, 30), term, ..MuxOptions::default() };
    let mux = Mux::new(options);
    let ear = Ear::new(&mux);
    let pane = mux.open_tab(server.attach(), None, OnExit::Hold).unwrap();
    (mux, ear, pane)
}

/// The tab of tmux with this title, once it has this number of panes.
fn wait_tab(mux: &Mux, ear: &Ear, title: &str, panes: usize) -> Tab {
    ear.wait_until(&format!("a tab {title} with {panes} panes"), || {
        let layout = mux.layout();
        let tab = layout.tabs.iter().find(|tab| tab.title.as_deref() == Some(title))?;
        (tab.panes().len() == panes).then(|| tab.clone())
    })
}

/// Waits until a pane's screen equals the screen of a pane of tmux, cell by cell.
fn wait_same(server: &Server, target: &str, pane: &Pane) {
    wait(pane, "tmux's screen", |pane| {
        let size = pane.term().size();
        let theirs = server.cells(target, size);
        cells(&pane.term()) == theirs
    });
}

fn pane(mux: &Mux, id: PaneId) -> Arc<Pane> {
    mux.pane(id).expect("the pane is open")
}

#[test]
fn windows_of_tmux_are_tabs_and_keys_reach_them() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "first"]);
    server.run(&["new-window", "-d", "-t", "work", "-n", "second"]);
    server.types("%0", "printf '\\033[1;41mred\\033[0m gr\\303\\274n \\346\\227\\245\\n'");
    let (mux, ear, own) = attach(&server);
    let first = wait_tab(&mux, &ear, "first", 1);
    let second = wait_tab(&mux, &ear, "second", 1);
    wait_text(&own, "Press Esc here to detach");
    let shown = pane(&mux, first.focused);
    assert!(shown.is_in_tmux() && shown.is_pinned() && !own.is_in_tmux());
    wait_text(&shown, "red grün 日");
    wait(&shown, "the size", |pane| pane.term().size() == Size::cells(100, 30));
    wait_same(&server, "%0", &shown);
    shown.write("echo \"<$((40 + 2)) äöü>\"\r".as_bytes()).unwrap();
    wait_text(&shown, "<42 äöü>");
    wait_same(&server, "%0", &shown);
    // Long input is sent in several commands.
    let other = pane(&mux, second.focused);
    other.write(b"cat > /dev/null <<E\r").unwrap();
    for _ in 0..200 {
        other.write(format!("{}\r", "x".repeat(90)).as_bytes()).unwrap();
    }
    other.write(b"E\recho fi'nished'\r").unwrap();
    wait_text(&other, "finished");
    wait_same(&server, "%1", &other);
}

#[test]
fn the_active_window_gets_the_focus_once() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "first"]);
    server.run(&["new-window", "-t", "work", "-n", "second"]);
    let (mux, ear, own) = attach(&server);
    let second = wait_tab(&mux, &ear, "second", 1);
    let is_active = |id| {
        let layout = mux.layout();
        (layout.active_tab().map(|tab| tab.id) == Some(id)).then_some(())
    };
    ear.wait_until("the current window in front", || is_active(second.id));
    let first = wait_tab(&mux, &ear, "first", 1);
    server.run(&["select-window", "-t", "first"]);
    ear.wait_until("the other window in front", || is_active(first.id));
    mux.activate_tab(second.id).unwrap();
    server.wait(&["display-message", "-p", "#{window_name}"], |text| text == "second");
    // The user looks at another tab, so tmux no longer takes the focus.
    mux.focus(own.id()).unwrap();
    server.run(&["select-window", "-t", "first"]);
    server.run(&["rename-window", "-t", "first", "renamed"]);
    wait_tab(&mux, &ear, "renamed", 1);
    assert!(is_active(first.id).is_none());
}

#[test]
fn splits_follow_in_both_directions() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    wait_text(&pane(&mux, tab.focused), "$");
    // tmux splits.
    server.run(&["split-window", "-h", "-t", "%0", "-l", "30"]);
    let tab = wait_tab(&mux, &ear, "w", 2);
    let ids = tab.panes();
    let sizes = || {
        let size = |id: &PaneId| mux.pane(*id).map(|pane| pane.term().size());
        ids.iter().map(size).collect::<Vec<_>>()
    };
    let expected = [Some(Size::cells(69, 30)), Some(Size::cells(30, 30))];
    ear.wait_until("tmux's sizes", || (sizes() == expected).then_some(()));
    assert!(matches!(tab.root, Node::Split { axis: Axis::Horizontal, .. }));
    // The user splits.
    let new = mux.split(ids[0], Axis::Vertical, Spawn::default(), OnExit::Close).unwrap();
    wait_text(&new, "$");
    server.wait(&["list-panes", "-t", "w", "-F", "#{pane_width}x#{pane_height}"], |text| {
        text == "69x15\n69x14\n30x30"
    });
    wait(&new, "its size", |pane| pane.term().size() == Size::cells(69, 14));
    new.write(b"echo ne''w\r").unwrap();
    wait_text(&new, "new");
    wait_same(&server, "%2", &new);
    // The user moves a divider, and zooms.
    mux.set_ratio(tab.id, &[], 0.505).unwrap();
    wait(&new, "the new width", |pane| pane.term().size() == Size::cells(50, 14));
    mux.focus(new.id()).unwrap();
    server.wait(&["display-message", "-p", "-t", "w", "#{pane_id}"], |text| text == "%2");
    mux.activate_tab(tab.id).unwrap();
    mux.toggle_zoom();
    wait(&new, "zoom", |pane| pane.term().size() == Size::cells(100, 30));
    server.run(&["resize-pane", "-Z", "-t", "%2"]);
    wait(&new, "the end of zoom", |pane| pane.term().size() == Size::cells(50, 14));
    // The user closes a pane, and tmux another one.
    mux.close_pane(new.id()).unwrap();
    server.wait(&["list-panes", "-t", "w", "-F", "#{pane_id}"], |text| text == "%0\n%1");
    server.run(&["kill-pane", "-t", "%1"]);
    let tab = wait_tab(&mux, &ear, "w", 1);
    assert_eq!(tab.root, Node::Pane(ids[0]));
    assert!(matches!(
        mux.respawn(ids[0], Spawn::default(), OnExit::Close),
        Err(MuxError::InTmux(id)) if id == ids[0]
    ));
}

#[test]
fn names_and_new_windows_follow_in_both_directions() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    mux.rename_tab(tab.id, "it's #(a) name").unwrap();
    server.wait(&["display-message", "-p", "-t", "@0", "#{window_name}"], |text| {
        text == "it's #(a) name"
    });
    server.run(&["rename-window", "-t", "@0", "other"]);
    wait_tab(&mux, &ear, "other", 1);
    let new = mux.open_window_in_tmux(tab.focused, &Spawn::default()).unwrap().unwrap();
    wait_text(&new, "$");
    assert_eq!(server.run(&["list-windows", "-F", "#{window_id}"]), "@0\n@1");
    let layout = mux.layout();
    assert_eq!(layout.active_tab().map(|tab| tab.focused), Some(new.id()));
    let tab = layout.active_tab().unwrap().id;
    mux.close_tab(tab).unwrap();
    server.wait(&["list-windows", "-F", "#{window_id}"], |text| text == "@0");
}

#[test]
fn renames_on_both_sides_at_once_end_with_one_name() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1).id;
    let title = || mux.layout().tabs.iter().find(|it| it.id == tab).unwrap().title.clone();
    for number in 0..50 {
        std::thread::scope(|scope| {
            scope.spawn(|| server.run(&["rename-window", "-t", "@0", &format!("tmux {number}")]));
            for part in 0..4 {
                mux.rename_tab(tab, &format!("user {number} {part}")).unwrap();
            }
        });
        server.wait(&["display-message", "-p", "-t", "@0", "#{window_name}"], |text| {
            Some(text) == title().as_deref()
        });
    }
}

#[test]
fn history_and_the_alternate_screen_are_restored() {
    let limit: &[&str] = &["set-option", "-g", "history-limit", "60000"];
    let Some(server) = Server::start(&[limit]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    server.types("%0", "seq 50000; printf 'last \\033[44mline\\033[m\\n'");
    server.run(&["new-window", "-d", "-n", "full", "-t", "work:"]);
    server.types("%1", "printf 'main\\n\\033[?1049h\\033[?1h\\033[2;5r\\033[Halternate'; cat");
    server.wait(&["capture-pane", "-p", "-t", "%0"], |text| text.contains("last line\n"));
    server.wait(&["capture-pane", "-p", "-t", "%1"], |text| text.contains("alternate"));
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    wait_text(&shown, "last line");
    wait_same(&server, "%0", &shown);
    {
        let term = shown.term();
        let mut text = String::new();
        // The first line is the command.
        assert!(term.row_text(LineId(term.oldest().0 + 1), &mut text));
        assert_eq!(text, "1");
        assert!(term.history_rows() > 49_970, "{}", term.history_rows());
    }
    let tab = wait_tab(&mux, &ear, "full", 1);
    let full = pane(&mux, tab.focused);
    wait_text(&full, "alternate");
    wait_same(&server, "%1", &full);
    assert_eq!(full.term().screen(), ScreenKind::Alternate);
    assert!(full.term().modes().contains(Modes::APP_CURSOR));
    server.run(&["send-keys", "-t", "%1", "C-c"]);
    server.types("%1", "printf '\\033[?1049l\\033[?1l\\033[r'");
    wait_text(&full, "main");
    wait_same(&server, "%1", &full);
}

#[test]
fn a_flood_and_resizes_end_with_the_same_screen() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    server.run(&["split-window", "-h", "-t", "%0"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 2);
    let shown = pane(&mux, tab.panes()[0]);
    shown.write(b"yes 'a long line of a flood' | head -40000; echo do''ne\r").unwrap();
    wait_text(&shown, "done");
    wait_same(&server, "%0", &shown);
    for step in 0..200u32 {
        let width = (20 + step * 7 % 60).to_string();
        server.run(&["resize-pane", "-t", "%0", "-x", &width]);
    }
    wait(&shown, "the last width", |pane| pane.term().size().cols == 20 + 199 * 7 % 60);
    shown.write(b"echo af''ter\r").unwrap();
    wait_text(&shown, "after");
    wait_same(&server, "%0", &shown);
}

#[test]
fn lines_of_a_paused_pane_are_added_to_the_history() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    shown.write(b"seq 100; echo be''fore\r").unwrap();
    wait_text(&shown, "before");
    let client = server.run(&["list-clients", "-F", "#{client_name}"]);
    let flow = |state: &str| server.run(&["refresh-client", "-t", &client, "-A", state]);
    // tmux drops the output, as for a client that reads too slowly.
    flow("%0:off");
    server.types("%0", "seq 101 500; echo af''ter");
    server.wait(&["capture-pane", "-p", "-t", "%0"], |text| text.contains("after"));
    flow("%0:pause");
    flow("%0:on");
    wait_text(&shown, "after");
    wait_same(&server, "%0", &shown);
    let term = shown.term();
    let first = term.oldest().0;
    let mut numbers = Vec::new();
    for line in first.. {
        let mut text = String::new();
        if !term.row_text(LineId(line), &mut text) {
            break;
        }
        numbers.extend(text.parse::<u32>());
    }
    assert_eq!(numbers, (1..=500).collect::<Vec<u32>>());
}

#[test]
fn the_program_in_the_foreground_is_that_of_tmux() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    let has_name = || (shown.program_name() != "tmux").then_some(());
    ear.wait_until("the shell's name", has_name);
    // The name arrives without any output of the program.
    shown.write(b"exec cat\r").unwrap();
    ear.wait_until("the name of cat", || (shown.program_name() == "cat").then_some(()));
}

#[test]
fn escape_detaches_and_the_session_goes_on() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    shown.write(b"echo still he''re\r").unwrap();
    wait_text(&shown, "still here");
    own.write(b"never a command\r").unwrap();
    own.write(b"\x1b").unwrap();
    wait(&own, "the end", |pane| pane.state() != PaneState::Running);
    wait_text(&own, "Detached from tmux.");
    let only = || {
        let layout = mux.layout();
        (layout.tabs.len() == 1).then(|| layout.tabs[0].focused)
    };
    assert_eq!(ear.wait_until("the end of the tabs", only), own.id());
    assert!(server.run(&["capture-pane", "-p", "-t", "%0"]).contains("still here"));
}

#[test]
fn the_session_outlives_the_mux_and_its_client_does_not() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    wait_tab(&mux, &ear, "w", 1);
    mux.shutdown();
    assert_eq!(server.run(&["list-windows", "-F", "#{window_name}"]), "w");
    let (mux, ear, own) = attach(&server);
    wait_tab(&mux, &ear, "w", 1);
    server.run(&["kill-server"]);
    wait(&own, "the end", |pane| pane.state() != PaneState::Running);
    ear.wait_until("the end of the tabs", || (mux.layout().tabs.len() == 1).then_some(()));
}

#[test]
fn a_program_that_prints_only_the_introducer_gets_no_input() {
    let mux = common::headless();
    let lines = "\\033P1000p%%begin 1 1 0\\n%%end 1 1 0\\n%%session-changed \\$0 evil\\n";
    let pane = open(&mux, &format!("printf \"{lines}\"; read line; echo \"<$line>\""));
    wait_text(&pane, "A program asks to show");
    assert!(pane.is_control_client());
    pane.write(b"\x1b").unwrap();
    assert!(!pane.is_control_client());
    pane.write(b"typed\r").unwrap();
    wait_text(&pane, "<typed>");
    assert_eq!(mux.layout().tabs.len(), 1);
    assert!(!screen(&pane).join("\n").contains("refresh-client"));
}

#[test]
fn panes_move_between_windows() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "first"]);
    server.run(&["new-window", "-d", "-t", "work", "-n", "second"]);
    server.types("%1", "echo mo''ved");
    let (mux, ear, _own) = attach(&server);
    wait_tab(&mux, &ear, "first", 1);
    wait_tab(&mux, &ear, "second", 1);
    server.run(&["join-pane", "-s", "%1", "-t", "%0"]);
    let tab = wait_tab(&mux, &ear, "first", 2);
    let joined = pane(&mux, tab.panes()[1]);
    wait_text(&joined, "moved");
    wait_same(&server, "%1", &joined);
    assert_eq!(mux.layout().tabs.len(), 2, "the other window has closed");
    server.run(&["break-pane", "-d", "-s", "%1", "-n", "alone"]);
    let tab = wait_tab(&mux, &ear, "alone", 1);
    let alone = pane(&mux, tab.focused);
    wait_text(&alone, "moved");
    wait_same(&server, "%1", &alone);
    wait_tab(&mux, &ear, "first", 1);
    // tmux's own commands move panes.
    assert!(matches!(
        mux.move_to_tab(alone.id(), mux.layout().tabs[0].id),
        Err(MuxError::InTmux(_))
    ));
}

#[test]
fn full_screen_programs_look_as_in_tmux() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, _own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    let has = |program: &str| {
        let is_there =
            Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
        assert!(is_there || std::env::var_os("UNTERM_NEEDS_ALL").is_none(), "{program} is missing");
        is_there
    };
    if has("vim") {
        shown.write(b"seq 300 | vim -u NONE -N -\r").unwrap();
        wait_text(&shown, "300L");
        for keys in
            ["G", "o\u{fc}ber\x1b", ":split\r", ":set number\r", "gg\x06", ":echo 'e''nd'\r"]
        {
            shown.write(keys.as_bytes()).unwrap();
        }
        wait_text(&shown, "e'nd");
        wait_same(&server, "%0", &shown);
        shown.write(b":qa!\r").unwrap();
        wait(&shown, "the main screen", |pane| pane.term().screen() == ScreenKind::Main);
    }
    if has("htop") {
        shown.write(b"htop -d 200\r").unwrap();
        wait_text(&shown, "F10");
        server.run(&["split-window", "-d", "-h", "-t", "%0"]);
        wait(&shown, "the half width", |pane| pane.term().size().cols == 50);
        wait_same(&server, "%0", &shown);
        shown.write(b"q").unwrap();
        wait(&shown, "the main screen", |pane| pane.term().screen() == ScreenKind::Main);
    }
    shown.write(b"echo en''d\r").unwrap();
    wait_text(&shown, "end");
    wait_same(&server, "%0", &shown);
}

#[test]
fn a_session_can_be_attached_again_after_a_lost_connection() {
    let Some(server) = Server::start(&[]) else { return };
    server.run(&["rename-window", "-t", "work", "w"]);
    let (mux, ear, own) = attach(&server);
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    shown.write(b"echo he''re\r").unwrap();
    wait_text(&shown, "here");
    own.signal(Signal::Kill).unwrap();
    wait(&own, "the end", |pane| pane.state() != PaneState::Running);
    ear.wait_until("the end of the tabs", || (mux.layout().tabs.len() == 1).then_some(()));
    let _again = mux.open_tab(server.attach(), None, OnExit::Hold).unwrap();
    let tab = wait_tab(&mux, &ear, "w", 1);
    let shown = pane(&mux, tab.focused);
    wait_text(&shown, "here");
    wait_same(&server, "%0", &shown);
}

#[test]
fn a_fake_tmux_opens_few_tabs_and_keeps_no_focus() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("tmux");
    std::fs::copy("/bin/sh", &program).unwrap();
    let mut lines = String::from("\x1bP1000p%begin 1 1 0\n%end 1 1 0\n%session-changed $0 evil\n");
    lines += "%begin 1 2 1\n%end 1 2 1\n%begin 1 3 1\n%end 1 3 1\n%begin 1 4 1\n%end 1 4 1\n";
    lines += "%begin 1 5 1\n";
    for at in 0..500 {
        let layout = layout_string(&format!("80x24,0,0,{at}"));
        lines += &format!("@{at}|1|{layout}|{layout}|*|%{at}|off|evil {at}\n");
    }
    lines += "%end 1 5 1\n";
    let file = folder.path().join("lines");
    std::fs::write(&file, lines).unwrap();
    let again = "%session-window-changed \\$0 @";
    let script = format!(
        "stty -echo; cat {}; \
         while read line; do case $line in kill-pane*) break;; esac; done; \
         for at in 5 6 7 8; do echo \"{again}$at\"; done; \
         echo '%window-renamed @3 the end'; cat > /dev/null",
        file.display()
    );
    let mux = common::headless();
    let ear = Ear::new(&mux);
    let own = mux
        .open_tab(common::run(&program.to_string_lossy(), &["-c", &script]), None, OnExit::Hold)
        .unwrap();
    wait_text(&own, "only 128 windows");
    assert_eq!(mux.layout().tabs.len(), 129);
    mux.focus(own.id()).unwrap();
    // The program gets the client's commands as its input, and continues after this client.
    mux.close_pane(wait_tab(&mux, &ear, "evil 9", 1).focused).unwrap();
    let tab = wait_tab(&mux, &ear, "the end", 1);
    assert_eq!(mux.layout().active_tab().map(|tab| tab.focused), Some(own.id()));
    assert_ne!(tab.focused, own.id());
    own.write(b"\x1b").unwrap();
    own.write(b"\x1b").unwrap();
    ear.wait_until("the end of the tabs", || (mux.layout().tabs.len() == 1).then_some(()));
}

/// A layout string with its checksum.
fn layout_string(tree: &str) -> String {
    let sum = tree.bytes().fold(0u16, |sum, byte| sum.rotate_right(1).wrapping_add(byte.into()));
    format!("{sum:04x},{tree}")
}

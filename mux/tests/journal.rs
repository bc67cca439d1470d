//! Terminals that the next owner of a program rebuilds from the program's journal.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_mux::{
    Defaults, ExitStatus, KeptSpawner, Mux, OnExit, Pane, PanePlacement, PaneState,
    ShellIntegration, SuccessorProgram,
};
use unterm_term::Size;

use crate::common::{
    LIMIT, headless,
    keeper::{Home, mux, program, spawner},
    open, run, screen, sh, wait, wait_end, wait_text,
};
use crate::shell_integration::type_line;

/// The folder of the keeper, for the process that is killed.
const FOLDER: &str = "UNTERM_TEST_KEEPER";
/// The process's way to end: it has a successor, or it has a successor and leaves its programs on purpose.
const SUCCESSOR: &str = "UNTERM_TEST_SUCCESSOR";

/// Ends an instance like a crash: its program continues without an owner.
fn crash(mux: &Mux, pane: Arc<Pane>) {
    mux.release(pane.id()).unwrap().leave();
}

/// Shows the programs that an instance left behind.
fn attach_all(mux: &Mux, spawner: &KeptSpawner) -> Vec<Arc<Pane>> {
    let left = spawner.left_programs().unwrap();
    let attached =
        left.iter().map(|left| mux.attach(spawner, left, PanePlacement::Tab, OnExit::Hold));
    attached.map(Result::unwrap).collect()
}

fn attach(mux: &Mux, spawner: &KeptSpawner) -> Arc<Pane> {
    attach_all(mux, spawner).pop().unwrap()
}

/// The whole state of a terminal.
fn dump(pane: &Pane) -> String {
    pane.term().dump()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < end, "{what} does not come");
        std::thread::yield_now();
    }
}

/// A script that waits until a file exists.
fn until(file: &Path) -> String {
    format!("while ! test -e {}; do sleep 0.01; done", file.display())
}

#[test]
fn a_terminal_is_the_same_after_a_crash() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    let script = "stty -echo; printf '\\033]2;title\\007\\033]7;file:///tmp\\007\\033[?2004h'; \
         i=0; while [ $i -lt 300 ]; do printf '\\033[3%dmline %d \\033]8;;https://example.org\\007link\\033]8;;\\007\\n' \
         $((i % 8)) $i; i=$((i+1)); done; \
         printf '\\033]133;A\\007$ \\033]133;B\\007false\\n\\033]133;C\\007out\\n\\033]133;D;1\\007'; \
         printf '\\033_Ga=T,f=24,s=1,v=1;AAAA\\033\\\\'; \
         printf '\\0337\\033[5;5H\\033[1;4mmarked\\033(0qqq\\033]2;un'; \
         echo ready > \"$READY\"; read line; printf 'ended\\007'; read line; exit 4";
    let ready = home.path().join("ready");
    let mut spawn = sh(script);
    spawn.env.push(("READY".into(), ready.to_str().unwrap().into()));
    let pane = first.open_tab(spawn, None, OnExit::Hold).unwrap();
    wait_for("the last output", || ready.exists());
    // The last output is an unfinished title.
    wait(&pane, "the marked text", |pane| screen(pane).iter().any(|row| row.contains("marked")));
    pane.resize(Size::cells(60, 20));
    pane.resize(Size::cells(80, 24));
    let (before, title) = (dump(&pane), pane.title());
    assert!(pane.term().history_rows() > 250);
    crash(&first, pane);
    drop(first);
    let (second, spawner) = home.mux("second");
    let pane = attach(&second, &spawner);
    assert_eq!(dump(&pane), before);
    assert_eq!((pane.title(), &*title), (title.clone(), "title"));
    // The unfinished title continues.
    pane.write(b"\r").unwrap();
    wait(&pane, "the title", |pane| pane.title() == "unended");
    pane.write(b"\r").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(4)));
}

#[test]
fn a_handover_is_verified_while_the_program_runs() {
    let home = Home::new();
    let (mux, _spawner) = home.mux("first");
    // A pane that is checked while output arrives, with checkpoints in between.
    let mut line = "x".repeat(200);
    line.push_str(r"\033[32m%d\n");
    let script = format!(
        "stty -echo; i=0; while [ $i -lt 3000 ]; do printf '{line}' $i; i=$((i+1)); done; \
         printf '\\033]2;the end\\007'; read line"
    );
    let pane = open(&mux, &script);
    let (mut checks, end) = (0, Instant::now() + LIMIT);
    while pane.title() != "the end" {
        assert!(Instant::now() < end, "the output does not end");
        let check = mux.verify_handover(pane.id()).unwrap();
        assert!(check.is_equal(), "after {} and {} bytes", check.checkpoint, check.output);
        checks += 1;
    }
    let check = mux.verify_handover(pane.id()).unwrap();
    assert!(check.is_equal() && checks > 0);
    // The program is silent, so the log is replaced by a checkpoint.
    wait_for("a checkpoint", || mux.verify_handover(pane.id()).unwrap().checkpoint > 0);
    assert!(mux.verify_handover(pane.id()).unwrap().is_equal());
    let own = headless();
    let pane = open(&own, "read line");
    let check = own.verify_handover(pane.id()).unwrap();
    assert_eq!(check.rebuilt, Err("the program has no journal: see sessions.keep".to_owned()));
    assert!(!check.is_equal());
}

#[test]
fn a_shell_with_marks_is_verified() {
    for shell in ["bash", "zsh", "fish"] {
        let home = Home::new();
        let folder = home.path().join("scripts");
        ShellIntegration::install(&folder).unwrap();
        let (mux, _spawner) = home.mux("first");
        let env = [("HOME", home.path().to_str().unwrap()), ("HISTFILE", "")];
        mux.set_defaults(Defaults {
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            shell_integration: Some(folder),
            ..Defaults::default()
        });
        let pane = mux.open_tab(run(shell, &[]), None, OnExit::Hold).unwrap();
        let verify = |step: &str| {
            let check = mux.verify_handover(pane.id()).unwrap();
            let rebuilt = check.rebuilt.unwrap();
            let differs = |(one, other): &(&str, &str)| one != other;
            let first = check.live.lines().zip(rebuilt.lines()).find(differs);
            assert_eq!((first, check.live == rebuilt), (None, true), "{shell}, after {step}");
        };
        type_line(&pane, "seq 1 200; false");
        type_line(&pane, "printf '\\033[44mblue\\033[m\\n'");
        verify("commands");
        // As a window does after its first pane was opened. The larger size shows history again.
        pane.resize(Size::cells(60, 20));
        pane.resize(Size { cols: 90, rows: 30, cell_width: 9, cell_height: 18 });
        verify("a resize");
        type_line(&pane, "seq 1 60000");
        wait_for("a checkpoint", || mux.verify_handover(pane.id()).unwrap().checkpoint > 0);
        verify("a checkpoint");
        type_line(&pane, "echo a");
        verify("a checkpoint and a command");
        pane.resize(Size::cells(60, 20));
        pane.clear_screen();
        verify("a checkpoint, a resize and a deletion of the output");
        pane.write(b"echo abc def\x1b[D\x1b[D\x7f").unwrap();
        let is_edited = |pane: &Pane| screen(pane).iter().any(|row| row.contains("echo abc ef"));
        wait(&pane, "the edited line", is_edited);
        verify("input that was edited");
    }
}

#[test]
fn accepted_input_reaches_the_program_after_moves() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    let (go, input) = (home.path().join("go"), home.path().join("input"));
    const LENGTH: usize = 300_000;
    let script = format!(
        "stty raw -echo; echo ready; {}; head -c {LENGTH} | cmp - {} && echo equal; read line",
        until(&go),
        input.display()
    );
    let pane = open(&first, &script);
    wait_text(&pane, "ready");
    // The program reads nothing of it before the moves, and the system stores only the beginning.
    let bytes: Vec<u8> = (0..LENGTH).map(|at| b'a' + (at % 23) as u8).collect();
    fs::write(&input, &bytes).unwrap();
    let (early, late) = bytes.split_at(LENGTH / 2);
    early.chunks(40_000).for_each(|part| pane.write(part).unwrap());
    crash(&first, pane);
    let (second, spawner) = home.mux("second");
    let pane = attach(&second, &spawner);
    pane.write(late).unwrap();
    crash(&second, pane);
    let (third, spawner) = home.mux("third");
    let pane = attach(&third, &spawner);
    fs::write(&go, "").unwrap();
    wait_text(&pane, "equal");
}

#[test]
fn programs_that_are_left_on_purpose_continue_and_others_end() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    let kept = open(&first, "stty -echo; echo ready; read line; echo \"<$line>\"; read line");
    wait_text(&kept, "ready");
    let ended = open(&first, "echo over");
    wait_end(&ended);
    assert_eq!(first.kept_panes().len(), 1);
    drop(kept);
    assert_eq!(first.leave(), 1);
    assert_eq!(first.leave(), 0);
    // The pane of the ended program is not left.
    assert_eq!(first.layout().tabs.len(), 1);
    let (second, spawner) = home.mux("second");
    let panes = attach_all(&second, &spawner);
    assert_eq!(panes.len(), 1);
    assert_eq!(screen(&panes[0])[0], "ready");
    panes[0].write(b"hello\r").unwrap();
    wait_text(&panes[0], "<hello>");
    // Programs without a keeper are never left.
    let own = headless();
    let pane = open(&own, "read line");
    assert_eq!((own.kept_panes().len(), own.leave()), (0, 0));
    assert_eq!(pane.state(), PaneState::Running);
}

#[test]
fn a_deleted_history_stays_deleted() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    let script = "stty -echo; seq 1 100; echo ready; read line; echo more; read line";
    let pane = open(&first, script);
    wait_text(&pane, "ready");
    pane.clear_history();
    pane.write(b"\r").unwrap();
    wait_text(&pane, "more");
    let before = dump(&pane);
    crash(&first, pane);
    let (second, spawner) = home.mux("second");
    let pane = attach(&second, &spawner);
    assert_eq!(dump(&pane), before);
    pane.clear_screen();
    let before = dump(&pane);
    crash(&second, pane);
    let (third, spawner) = home.mux("third");
    assert_eq!(dump(&attach(&third, &spawner)), before);
}

#[test]
fn a_program_continues_without_an_owner_and_loses_no_output() {
    let home = Home::new();
    let (go, gone) = (home.path().join("go"), home.path().join("gone"));
    let (first, _spawner) = home.mux("first");
    let script = format!(
        "stty -echo; echo ready; {}; seq 1 20000; echo done > {}; printf '\\033[6n'; \
         read -d R answer; echo \"got $answer\" | tr '\\033' E; exit 9",
        until(&go),
        gone.display()
    );
    let mut spawn = sh(&script);
    spawn.program = Some("bash".into());
    let pane = first.open_tab(spawn, None, OnExit::Hold).unwrap();
    wait_text(&pane, "ready");
    crash(&first, pane);
    fs::write(&go, "").unwrap();
    // The output is longer than the kernel's buffer, so the keeper has read it.
    wait_for("the end of the output", || gone.exists());
    let (second, spawner) = home.mux("second");
    let pane = attach(&second, &spawner);
    // The query gets its reply now.
    wait_text(&pane, "got E[24;1");
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(9)));
    let history = pane.term().history_rows();
    assert!(history > 5000, "{history}");
    assert!(screen(&pane).iter().any(|row| row == "20000"), "{:?}", screen(&pane));
}

/// The journals that the keeper holds, oldest first.
fn journals(home: &Home) -> Vec<PathBuf> {
    let folder = format!("/proc/{}/fd", home.keeper().as_raw_nonzero());
    let mut journals: Vec<(i32, PathBuf)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let target = fs::read_link(path).unwrap_or_default();
            target.to_string_lossy().starts_with("/memfd:unterm-journal")
        })
        .map(|path| (path.file_name().unwrap().to_str().unwrap().parse().unwrap(), path))
        .collect();
    journals.sort();
    journals.into_iter().map(|(_, path)| path).collect()
}

#[test]
fn a_damaged_journal_costs_the_text_of_its_own_pane_only() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    let script = "stty -echo; trap 'echo drawn again' WINCH; echo ready; \
         while ! read line; do :; done; echo \"<$line>\"; exit 5";
    let damaged = open(&first, script);
    wait_text(&damaged, "ready");
    let journal = journals(&home).pop().unwrap();
    let whole = open(&first, script);
    wait_text(&whole, "ready");
    crash(&first, whole);
    crash(&first, damaged);
    let file = fs::OpenOptions::new().write(true).open(journal).unwrap();
    // The version of the layout.
    file.write_all_at(&77u64.to_ne_bytes(), 8).unwrap();
    let (second, spawner) = home.mux("second");
    let panes = attach_all(&second, &spawner);
    assert_eq!(screen(&panes[1])[0], "ready");
    wait_text(&panes[0], "drawn again");
    let first_row = screen(&panes[0]).remove(0);
    assert!(first_row.ends_with(" continues. What it printed before is lost.]"), "{first_row}");
    // The keeper drops the journal if it finds the damage first.
    let fault = spawner.take_fault().unwrap();
    let start = "The text in panes does not outlive this window: no journal, ";
    let why = fault.strip_prefix(start).unwrap_or(&fault);
    let reasons =
        ["its layout has the version 77, not 1.", "the keeper has none for this program."];
    assert!(reasons.contains(&why), "{fault}");
    for pane in panes {
        pane.write(b"hello\r").unwrap();
        wait_text(&pane, "<hello>");
        assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(5)));
    }
}

/// Output with styles, wraps, wide characters, titles, modes and long strings.
fn stream(len: usize) -> Vec<u8> {
    let mut output = Vec::new();
    let mut random = 11u64;
    let mut number = 0;
    while output.len() < len {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
        let width = (random >> 40) as usize % 150;
        let piece = match (random >> 33) % 9 {
            0 => format!("\x1b[{};{}m日本語{number}\x1b[m\r\n", number % 10, 30 + number % 8),
            1 => format!("\x1b]2;title {number} {}\x1b\\", "t".repeat(width)),
            2 => format!("\x1b]8;;https://example.org/{number}\x07link\x1b]8;;\x07 e\u{301}\r\n"),
            3 => format!(
                "\x1b[?7{}\x1b[{};5Hplaced\x1b[?7h\r\n",
                ['l', 'h'][number % 2],
                number % 24
            ),
            _ => format!("line {number} {}\r\n", "x".repeat(width)),
        };
        output.extend_from_slice(piece.as_bytes());
        number += 1;
    }
    output
}

/// A program that prints a file as it is, in pieces and not too fast, and then waits.
fn printing(file: &Path) -> unterm_mux::Spawn {
    let pieces = fs::metadata(file).unwrap().len().div_ceil(32_768);
    sh(&format!(
        "stty raw -echo; i=0; while [ $i -lt {pieces} ]; do \
         dd if={} bs=32768 skip=$i count=1 status=none; i=$((i+1)); done; \
         printf '\\033]2;the end\\007'; read line",
        file.display()
    ))
}

/// Not a test: an instance that shows the programs without an owner, or starts one, until it is killed. Another test
/// starts it.
#[test]
fn instance() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let spawner = spawner(&folder, "instance");
    let mux = mux(&spawner);
    let panes = attach_all(&mux, &spawner);
    if panes.is_empty() {
        mux.open_tab(printing(&folder.join("output")), None, OnExit::Hold).unwrap();
    }
    let succession = std::env::var(SUCCESSOR).unwrap_or_default();
    if !succession.is_empty() {
        // The input is in the file at once or not at all.
        // Then it waits for the end of the test.
        let script =
            "cat > \"$0.new\" && mv \"$0.new\" \"$0\"; while test -e \"$0\"; do sleep 0.01; done";
        let file = folder.join("successor").into();
        spawner.set_successor(SuccessorProgram {
            file: "/bin/sh".into(),
            args: vec!["-c".into(), script.into(), file],
            input: "inherited".into(),
            takes: Vec::new(),
        });
    }
    if succession == "leaves" {
        assert_eq!(mux.leave(), 1);
    }
    let mut starter = std::io::stdout();
    writeln!(starter, "\ninstance runs").unwrap();
    starter.flush().unwrap();
    loop {
        std::thread::park();
    }
}

/// Runs an instance in a process of its own until it is killed. `succession`: the value of [`SUCCESSOR`]. Returns the
/// process id.
fn run_and_kill(home: &Home, succession: &str) -> u32 {
    fs::write(home.path().join("output"), "some output").unwrap();
    let mut instance = start_instance(home, succession);
    instance.kill().unwrap();
    instance.wait().unwrap();
    instance.id()
}

#[test]
fn a_successor_starts_after_a_crash_and_reads_what_is_left() {
    let home = Home::new();
    let pid = run_and_kill(&home, "has");
    let file = home.path().join("successor");
    wait_for("the successor", || file.exists());
    assert_eq!(fs::read_to_string(file).unwrap(), "inherited");
    // The program still continues without an owner.
    let [left] = &home.spawner("next").left_programs().unwrap()[..] else { panic!("no program") };
    assert_eq!(left.left_by, Some(pid));
    let command = fs::read_to_string(format!("/proc/{}/cmdline", left.left_to.unwrap())).unwrap();
    assert!(command.starts_with("/bin/sh\0-c\0cat > "), "{command}");
}

#[test]
fn no_successor_starts_for_programs_that_are_left_on_purpose() {
    let home = Home::new();
    run_and_kill(&home, "leaves");
    // The keeper notices the end of the process before it answers the second request.
    let mut client = home.client();
    assert_eq!((client.panes().unwrap().len(), client.panes().unwrap().len()), (1, 1));
    let log = fs::read_to_string(home.path().join("keeper.log")).unwrap();
    assert!(!log.contains("successor"), "{log}");
}

/// Starts [`instance`], and waits until it runs.
fn start_instance(home: &Home, succession: &str) -> Child {
    let mut instance = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::instance", "--nocapture"])
        .env(FOLDER, home.path())
        .env(SUCCESSOR, succession)
        .env("UNTERM_BIN_DIR", program().parent().unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(instance.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "instance runs"), "the instance ends");
    instance
}

/// Kills instances at random moments while a program prints `len` bytes, and compares the terminal of the last owner
/// with the terminal of a process that was never killed. Returns the number of instances.
fn kill_often(seed: u64, len: usize, most: u32) -> u32 {
    let home = Home::new();
    let output = home.path().join("output");
    fs::write(&output, stream(len)).unwrap();
    let (expected, _own) = home.mux("never killed");
    let pane = expected.open_tab(printing(&output), None, OnExit::Hold).unwrap();
    wait(&pane, "the end of the output", |pane| pane.title() == "the end");
    let expected_dump = dump(&pane);
    // The other instances must not see this program, so it ends first.
    expected.close_pane(pane.id()).unwrap();
    drop(pane);
    let mut random = seed;
    let mut kills = 0;
    while kills < most {
        let mut instance = start_instance(&home, "");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
        // The moment of the kill is the input of this test, not a wait for something.
        std::thread::sleep(Duration::from_micros((random >> 33) % 30_000));
        instance.kill().unwrap();
        instance.wait().unwrap();
        kills += 1;
    }
    let (last, spawner) = home.mux("last");
    let pane = attach(&last, &spawner);
    wait(&pane, "the end of the output", |pane| pane.title() == "the end");
    let found = dump(&pane);
    if found != expected_dump {
        let differs = |(a, b): &(&str, &str)| a != b;
        let pair = found.lines().zip(expected_dump.lines()).find(differs);
        panic!("after {kills} kills with seed {seed}: {pair:#?}");
    }
    kills
}

/// `UNTERM_KILLS=1000` makes at least so many kills, each time with another seed.
#[test]
fn kills_at_random_moments_lose_and_repeat_nothing() {
    let count = std::env::var("UNTERM_KILLS").ok().and_then(|count| count.parse().ok());
    let Some(count) = count else {
        kill_often(1, 5 << 20, 8);
        return;
    };
    let (mut kills, mut seed) = (0, u64::from(std::process::id()));
    while kills < count {
        kills += kill_often(seed, 12 << 20, 10);
        seed += 1;
    }
}

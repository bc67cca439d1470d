//! Programs whose parent is a keeper.

use std::{fs, time::Instant};

use rustix::process::{Signal, kill_process};
use unterm_mux::{
    Axis, ExitStatus, KeptSpawner, Mux, OnExit, Pane, PaneId, PanePlacement, PaneState,
};

use crate::common::{
    LIMIT, headless,
    keeper::{Home, mux},
    open, run, screen, sh, wait_end, wait_text,
};

/// A field of `/proc/PID/stat`, counted from the state.
fn stat(pid: i32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit(") ").next()?.split(' ').nth(field)?.to_owned())
}

fn runs(pid: i32) -> bool {
    stat(pid, 0).is_some_and(|state| state != "Z")
}

fn wait_gone(pid: i32) {
    let end = Instant::now() + LIMIT;
    while runs(pid) {
        assert!(Instant::now() < end, "{pid} does not end");
        std::thread::yield_now();
    }
}

/// Ends an instance like a crash: its programs continue without an owner.
fn crash(mux: &Mux, panes: &[PaneId]) {
    for pane in panes {
        mux.release(*pane).unwrap().leave();
    }
}

/// Shows all programs that an instance left behind.
fn attach_all(mux: &Mux, spawner: &KeptSpawner) -> Vec<std::sync::Arc<Pane>> {
    let left = spawner.left_programs().unwrap();
    mux.attach_all(spawner, &left, OnExit::Close).into_iter().map(Result::unwrap).collect()
}

/// Waits until a condition is true for all panes that the keeper stores.
fn wait_identities(home: &Home, what: &str, is_so: impl Fn(&[unterm_keeper::Identity]) -> bool) {
    let end = Instant::now() + LIMIT;
    let mut client = home.client();
    loop {
        let panes = client.panes().unwrap();
        let panes: Vec<_> = panes.into_iter().map(|pane| client.identify(pane).unwrap()).collect();
        if is_so(&panes) {
            return;
        }
        assert!(Instant::now() < end, "{what} does not come: {panes:#?}");
    }
}

#[test]
fn tabs_splits_and_titles_are_restored() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    first.store_placements(|_| {}).unwrap();
    let shell = |name: &str| sh(&format!("printf '\\033]2;{name}\\007'; read line"));
    let one = first.open_tab(shell("one"), None, OnExit::Hold).unwrap();
    let two = first.split(one.id(), Axis::Vertical, shell("two"), OnExit::Hold).unwrap();
    let three = first.split(one.id(), Axis::Horizontal, shell("three"), OnExit::Hold).unwrap();
    let other = first.open_tab(shell("other"), None, OnExit::Hold).unwrap();
    let tab = first.layout().tabs[0].id;
    first.set_ratio(tab, &[], 0.75).unwrap();
    let root = first.layout().tabs[0].root.clone();
    let has_all = |panes: &[unterm_keeper::Identity]| {
        let mut titles: Vec<&str> = panes.iter().map(|it| &*it.placement.title).collect();
        titles.sort_unstable();
        titles == ["one", "other", "three", "two"]
            && panes.iter().any(|pane| pane.placement.split == "v0.7500:0 h0.5000:1")
    };
    wait_identities(&home, "the places of all panes", has_all);
    let panes = [one, two, three, other];
    crash(&first, &panes.each_ref().map(|pane| pane.id()));
    drop((first, panes));
    let (second, spawner) = home.mux("second");
    assert_eq!(attach_all(&second, &spawner).len(), 4);
    let layout = second.layout();
    assert_eq!(layout.tabs.len(), 2);
    // The panes have the same numbers, because the second mux had not used them.
    assert_eq!(layout.tabs[0].root, root);
    let title = |pane| second.pane(pane).unwrap().title();
    let titles: Vec<String> = layout.tabs[0].panes().into_iter().map(title).collect();
    assert_eq!(titles, ["one", "three", "two"]);
}

#[test]
fn a_kept_program_works_like_an_own_one() {
    let home = Home::new();
    let (mux, spawner) = home.mux("first");
    let pane = open(&mux, "tty; read line; echo \"<$line>\"; exit 7");
    let pid = pane.process().pid().unwrap();
    let keeper = home.keeper().as_raw_nonzero().to_string();
    assert_eq!(stat(pid, 1), Some(keeper), "its parent");
    wait_text(&pane, pane.process().tty().unwrap().to_str().unwrap());
    assert!(pane.process().foreground().unwrap().is_root);
    pane.write(b"hello\r").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(7)));
    assert_eq!(screen(&pane)[2], "<hello>");
    let killed = open(&mux, "kill -TERM $$");
    assert_eq!(wait_end(&killed), PaneState::Exited(ExitStatus::Signal(15)));
    // The keeper has collected both, although their panes are still shown.
    wait_gone(pid);
    assert_eq!(spawner.take_fault(), None);
    let error = mux.open_tab(run("no-such-program", &[]), None, OnExit::Hold).unwrap_err();
    assert_eq!(error.to_string(), "cannot start no-such-program: no such program in PATH");
}

#[test]
fn a_kept_program_has_the_environment_and_limits_of_an_own_one() {
    let home = Home::new();
    let script = "env | grep -v -e ^_= -e ^SHLVL= -e ^OUT= | sort > \"$OUT\"; umask >> \"$OUT\"; ulimit -a >> \"$OUT\"";
    let about = |mux: &Mux, name: &str| {
        let file = home.path().join(name);
        let mut spawn = sh(script);
        spawn.env.push(("OUT".into(), file.to_str().unwrap().into()));
        spawn.env.push(("TERM".into(), "other".into()));
        let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
        assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(0)));
        fs::read_to_string(&file).unwrap()
    };
    let (kept, _spawner) = home.mux("first");
    assert_eq!(about(&kept, "kept"), about(&headless(), "own"));
}

#[test]
fn a_program_that_an_instance_left_is_shown_by_the_next_one() {
    let home = Home::new();
    let (first, _spawner) = home.mux("first");
    let script = "stty -echo; trap 'stty size' WINCH; echo ready; \
         while ! read line; do :; done; echo \"<$line>\"; exit 5";
    let pane = open(&first, script);
    wait_text(&pane, "ready");
    let (id, pid) = (pane.id(), pane.process().pid());
    crash(&first, &[id]);
    drop(pane);
    assert!(runs(pid.unwrap()));
    let (second, spawner) = home.mux("second");
    let left = spawner.left_programs().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].last_owner, "first");
    assert_eq!(left[0].origin.pane, Some(id));
    let args = vec!["-c".to_owned(), script.to_owned()];
    assert_eq!(left[0].origin.command, Some(("sh".to_owned(), args)));
    let pane = second.attach(&spawner, &left[0], PanePlacement::Tab, OnExit::Hold).unwrap();
    assert_eq!(pane.process().pid(), pid);
    // The terminal's size has not changed, so the program receives no signal of a changed size.
    assert_eq!(screen(&pane)[..2], ["ready", ""]);
    // Only one process can have it.
    let refused = second.attach(&spawner, &left[0], PanePlacement::Tab, OnExit::Hold).unwrap_err();
    assert!(refused.to_string().contains("\"second\" owns pane"), "{refused}");
    assert_eq!(spawner.left_programs().unwrap().len(), 0);
    pane.write(b"hello\r").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(5)));
    assert!(screen(&pane).contains(&"<hello>".to_owned()), "{:?}", screen(&pane));
    // After the pane is closed, nothing is left to take over.
    let id = pane.id();
    drop(pane);
    second.close_pane(id).unwrap();
    let end = Instant::now() + LIMIT;
    while !home.client().panes().unwrap().is_empty() {
        assert!(Instant::now() < end, "the keeper does not forget the pane");
    }
}

#[test]
fn an_end_that_one_owner_has_seen_is_shown_by_the_next() {
    let home = Home::new();
    let (first, spawner) = home.mux("first");
    let fifo = home.path().join("fifo");
    let script = format!("mkfifo {0}; echo ready; read x < {0}; echo last; exit 6", fifo.display());
    let pane = open(&first, &script);
    wait_text(&pane, "ready");
    crash(&first, &[pane.id()]);
    drop(pane);
    let second = mux(&spawner);
    let left = spawner.left_programs().unwrap();
    let pane = second.attach_all(&spawner, &left, OnExit::Hold).pop().unwrap().unwrap();
    fs::write(&fifo, "go\n").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(6)));
    let shown = screen(&pane);
    assert!(shown.contains(&"last".to_owned()), "{shown:?}");
    drop(pane);
    // As long as an owner shows it, no other one can.
    assert_eq!(spawner.left_programs().unwrap().len(), 0);
    assert_eq!((second.kept_numbers().len(), second.leave()), (1, 1));
    let third = mux(&spawner);
    let pane = attach_all(&third, &spawner).pop().unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(6)));
    assert_eq!(screen(&pane), shown);
    let id = pane.id();
    drop(pane);
    third.close_pane(id).unwrap();
    let end = Instant::now() + LIMIT;
    while !home.client().panes().unwrap().is_empty() {
        assert!(Instant::now() < end, "the keeper does not forget the pane");
    }
}

#[test]
fn a_program_that_ended_meanwhile_has_its_status() {
    let home = Home::new();
    let (first, spawner) = home.mux("first");
    let fifo = home.path().join("fifo");
    let script = format!("mkfifo {0}; echo ready; read x < {0}; echo last; exit 6", fifo.display());
    let pane = open(&first, &script);
    wait_text(&pane, "ready");
    let pid = pane.process().pid().unwrap();
    crash(&first, &[pane.id()]);
    drop(pane);
    fs::write(&fifo, "go\n").unwrap();
    wait_gone(pid);
    let second = mux(&spawner);
    let pane = attach_all(&second, &spawner).pop().unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(6)));
    assert!(screen(&pane).contains(&"last".to_owned()), "{:?}", screen(&pane));
}

#[test]
fn a_pane_that_cannot_be_created_leaves_its_program_in_place() {
    let home = Home::new();
    let (first, spawner) = home.mux("first");
    let pane = open(&first, "echo ready; read line");
    wait_text(&pane, "ready");
    let pid = pane.process().pid().unwrap();
    crash(&first, &[pane.id()]);
    drop(pane);
    first.shutdown();
    let left = spawner.left_programs().unwrap();
    let refused = first.attach(&spawner, &left[0], PanePlacement::Tab, OnExit::Hold).unwrap_err();
    assert!(refused.to_string().ends_with("Unterm is shutting down"), "{refused}");
    assert!(runs(pid));
    assert_eq!(attach_all(&mux(&spawner), &spawner).len(), 1);
}

#[test]
fn without_a_keeper_programs_start_and_one_reason_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("keeper.sock");
    let spawner = std::sync::Arc::new(KeptSpawner::new("/nowhere/unterm-keeper".into(), socket));
    let mux = mux(&spawner);
    for code in [3, 4] {
        let pane = open(&mux, &format!("exit {code}"));
        assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(code)));
    }
    let fault = spawner.take_fault().unwrap();
    assert!(fault.starts_with("Programs do not outlive this window: "), "{fault}");
    assert!(fault.contains("/nowhere/unterm-keeper: No such file"), "{fault}");
    assert_eq!(spawner.take_fault(), None);
    // A program that is this process's child cannot be left behind.
    let pane = open(&mux, "echo ready; exec sleep 300");
    wait_text(&pane, "ready");
    let pid = pane.process().pid().unwrap();
    crash(&mux, &[pane.id()]);
    drop(pane);
    assert!(!runs(pid));
}

#[test]
fn a_status_is_lost_with_the_keeper_and_nothing_else() {
    let home = Home::new();
    let (mux, spawner) = home.mux("first");
    let pane = open(&mux, "echo ready; read line; echo \"<$line>\"; read line; exit 0");
    let killed = open(&mux, "trap '' HUP; echo ready; exec sleep 300");
    wait_text(&pane, "ready");
    wait_text(&killed, "ready");
    kill_process(home.keeper(), Signal::KILL).unwrap();
    pane.write(b"hello\r").unwrap();
    wait_text(&pane, "<hello>");
    pane.write(b"\r").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Lost));
    killed.process().signal(unterm_mux::Signal::Kill).unwrap();
    assert_eq!(wait_end(&killed), PaneState::Exited(ExitStatus::Lost));
    // The next program gets another keeper.
    let next = open(&mux, "exit 3");
    assert_eq!(wait_end(&next), PaneState::Exited(ExitStatus::Code(3)));
    assert_eq!(spawner.take_fault(), None);
}

#[test]
fn closing_ends_kept_programs_and_then_the_keeper() {
    let home = Home::new();
    let (mux, spawner) = home.mux("first");
    let panes: Vec<_> = ["read line", "trap '' HUP; echo ready; while :; do sleep 300; done"]
        .iter()
        .map(|script| open(&mux, script))
        .collect();
    wait_text(&panes[1], "ready");
    let pids: Vec<i32> = panes.iter().map(|pane| pane.process().pid().unwrap()).collect();
    mux.close_pane(panes[0].id()).unwrap();
    wait_gone(pids[0]);
    mux.shutdown();
    assert!(pids.iter().all(|pid| !runs(*pid)));
    assert_eq!(panes[1].process().exit_status(), Some(ExitStatus::Signal(9)));
    drop((mux, panes, spawner));
    home.wait_end();
}

#[test]
fn a_kept_program_without_an_adopter_ends_with_its_handover() {
    let home = Home::new();
    let (mux, spawner) = home.mux("first");
    let pane = open(&mux, "trap '' HUP; echo ready; exec sleep 300");
    wait_text(&pane, "ready");
    let pid = pane.process().pid().unwrap();
    let handover = mux.release(pane.id()).unwrap();
    drop(pane);
    assert!(runs(pid));
    drop(handover);
    assert!(!runs(pid));
    assert_eq!(spawner.left_programs().unwrap().len(), 0);
}

#[test]
fn a_stopped_keeper_delays_no_output_and_ends_no_program() {
    let home = Home::new();
    let (mux, spawner) = home.mux("first");
    let pane = open(&mux, "echo ready; read line; echo \"<$line>\"; read line; exit 8");
    wait_text(&pane, "ready");
    // Later, no client can find the keeper's process id.
    let keeper = home.keeper();
    kill_process(keeper, Signal::STOP).unwrap();
    pane.write(b"hello\r").unwrap();
    wait_text(&pane, "<hello>");
    let other = open(&mux, "exit 2");
    assert_eq!(wait_end(&other), PaneState::Exited(ExitStatus::Code(2)));
    assert!(spawner.take_fault().unwrap().contains("does not answer"));
    kill_process(keeper, Signal::CONT).unwrap();
    pane.write(b"\r").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(8)));
}

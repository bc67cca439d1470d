//! Programs that a custom spawner starts, and programs that move to another mux while they run.

use std::sync::Arc;

use crate::common::remote::{Remote, Remotes};
use crate::common::{Ear, LIMIT, headless, open, run, screen, sh, wait, wait_end, wait_text};
use base64::Engine as _;
use unterm_mux::{
    Axis, ExitStatus, Handover, Mux, MuxError, MuxEvent, MuxOptions, OnExit, Pane, PaneId,
    PanePlacement, PaneState, TapItem, WriteError,
};
use unterm_term::{LineId, Size};

/// The text of all rows, history included.
fn all_rows(pane: &Pane) -> Vec<String> {
    let term = pane.term();
    let last = term.live_top().0 + u64::from(term.size().rows);
    let first = term.live_top().0 - term.history_rows() as u64;
    let row = |row| {
        let mut text = String::new();
        term.row_text(LineId(row), &mut text);
        text
    };
    (first..last).map(row).collect()
}

/// A terminal's dump without the character that REP would repeat, which no bytes can restore.
fn dump(pane: &Pane) -> String {
    let dump = pane.term().dump();
    let (before, after) = dump.split_once(" last '").expect("the last character");
    let (_, after) = after.split_once('\n').expect("more");
    format!("{before}\n{after}")
}

fn adopt(mux: &Mux, handover: Handover) -> Arc<Pane> {
    mux.adopt(handover, PanePlacement::Tab, OnExit::Hold).unwrap()
}

#[test]
fn programs_come_from_the_spawner_of_the_mux() {
    let remotes = Arc::new(Remotes::default());
    let options = MuxOptions { default_size: Size::cells(80, 24), ..MuxOptions::default() };
    let mux = Mux::with_spawner(options, remotes.clone());
    let pane = mux.open_tab(run("far", &["away"]), None, OnExit::Hold).unwrap();
    let (spawn, size, remote) = remotes.0.lock().pop().unwrap();
    assert_eq!((spawn.program.as_deref(), spawn.args), (Some("far"), vec!["away".to_owned()]));
    assert!(spawn.env.contains(&("UNTERM_PANE".to_owned(), "0".to_owned())));
    assert_eq!(size, Size::cells(80, 24));
    remote.print("hello");
    wait_text(&pane, "hello");
    pane.write(b"typed\r").unwrap();
    remote.wait_input("typed\r");
    remote.print("\x1b[6n");
    remote.wait_input("\x1b[1;6R");
    pane.resize(Size::cells(100, 40));
    assert_eq!(remote.size(), Some(Size::cells(100, 40)));
    assert_eq!((pane.title(), pane.cwd_uri()), ("remote".to_owned(), String::new()));
    // The program runs on another machine, so it can't name a file of this machine.
    let folder = tempfile::tempdir().unwrap();
    let pixel = folder.path().join("pixel");
    std::fs::write(&pixel, [1, 2, 3]).unwrap();
    let name = base64::engine::general_purpose::STANDARD.encode(pixel.to_str().unwrap());
    remote.print(&format!("\x1b_Ga=q,t=f,f=24,s=1,v=1,i=1;{name}\x1b\\"));
    remote.wait_input("\x1b_Gi=1;EPERM:not allowed to be read\x1b\\");
    remote.exit(3);
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(3)));
    let error = mux.open_tab(run("missing", &[]), None, OnExit::Hold).unwrap_err();
    assert_eq!(error.to_string(), "cannot start missing: no such program there");
}

#[test]
fn a_running_program_is_adopted_wherever_a_pane_can_be() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let remotes: Vec<_> = (0..4).map(|_| Arc::new(Remote::default())).collect();
    let handover = |number: usize| {
        let mut handover = Handover::new(remotes[number].clone(), Size::cells(30, 10));
        handover.screen = format!("\x1bcthe screen of {number}").into_bytes();
        handover.name = Some(format!("name {number}"));
        handover
    };
    let first = mux.adopt(handover(0), PanePlacement::Tab, OnExit::Hold).unwrap();
    let beside = PanePlacement::Beside(first.id(), Axis::Horizontal);
    let second = mux.adopt(handover(1), beside, OnExit::Hold).unwrap();
    let third = mux.adopt(handover(2), PanePlacement::BackgroundTab, OnExit::Close).unwrap();
    let hidden = mux.adopt(handover(3), PanePlacement::Hidden, OnExit::Hold).unwrap();
    let ids: Vec<u64> = [&first, &second, &third, &hidden].map(|pane| pane.id().0).to_vec();
    assert_eq!(ids, [0, 1, 2, 3]);
    let layout = mux.layout();
    let tabs: Vec<_> = layout.tabs.iter().map(|tab| tab.panes()).collect();
    assert_eq!(tabs, [vec![first.id(), second.id()], vec![third.id()]]);
    assert_eq!(layout.active, 0);
    let sizes: Vec<_> = remotes.iter().map(|remote| remote.size()).collect();
    let half = |cols| Some(Size::cells(cols, 24));
    assert_eq!(sizes, [half(40), half(39), half(80), None]);
    for (number, pane) in [&first, &second, &third, &hidden].into_iter().enumerate() {
        assert_eq!(screen(pane)[0], format!("the screen of {number}"));
        assert_eq!(pane.title(), format!("name {number}"));
        remotes[number].print(" goes on");
        wait_text(pane, "goes on");
        pane.write(b"x").unwrap();
        remotes[number].wait_input("x");
        assert!(ear.has(&MuxEvent::PaneOpened(pane.id())));
    }
    remotes[2].exit(0);
    ear.wait_for(&MuxEvent::PaneRemoved(third.id()));
}

#[test]
fn a_released_program_continues_and_another_mux_shows_it() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let script = "printf '\\033]2;named\\007\\033[?2004h'; i=0; \
         while [ $i -lt 40 ]; do echo \"line $i\"; i=$((i+1)); done; \
         printf 'left \\033[1;31mbold\\n'; read a; echo \"<$a>\"; read b; echo \"<$b>\"; exit 7";
    let pane = open(&mux, script);
    wait_text(&pane, "bold");
    // Type half a line. The pty's line discipline stores it until Enter.
    pane.write(b"hal").unwrap();
    wait_text(&pane, "hal");
    let before = dump(&pane);
    let (size, pid) = (pane.term().size(), pane.process().pid());
    let handover = mux.release(pane.id()).unwrap();
    assert_eq!((handover.size, handover.pane), (size, Some(pane.id())));
    assert_eq!(pane.state(), PaneState::Removed);
    assert_eq!(pane.write(b"x"), Err(WriteError::Ended));
    assert!(matches!(mux.release(pane.id()), Err(MuxError::NoPane(_))));
    assert!(mux.pane(pane.id()).is_none() && mux.layout().tabs.is_empty());
    for event in [MuxEvent::PaneRemoved(pane.id()), MuxEvent::Layout, MuxEvent::Empty] {
        assert!(ear.has(&event), "{event:?}");
    }
    assert!(!ear.has(&MuxEvent::PaneExited(pane.id())));
    mux.shutdown();
    drop((mux, pane));
    assert_eq!(handover.process.exit_status(), None);

    let other = headless();
    let pane = adopt(&other, handover);
    assert_eq!(dump(&pane), before);
    assert_eq!((pane.process().pid(), pane.title()), (pid, "named".to_owned()));
    assert_eq!(pane.typed(), "hal");
    pane.write(b"lo\r").unwrap();
    wait_text(&pane, "<hallo>");
    // The handover itself typed nothing: the program reads exactly this line next.
    pane.write(b"second\r").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(7)));
    assert!(screen(&pane).iter().any(|row| row == "<second>"), "{:?}", screen(&pane));
}

#[test]
fn no_output_is_lost_or_doubled_across_hand_overs() {
    let muxes = [headless(), headless()];
    let script = "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; read end";
    let mut pane = open(&muxes[0], script);
    let mut changes = 0;
    while !screen(&pane).iter().any(|row| row == "line 4999") {
        let handover = muxes[changes % 2].release(pane.id()).unwrap();
        changes += 1;
        pane = adopt(&muxes[changes % 2], handover);
    }
    let rows = all_rows(&pane);
    let rows: Vec<&str> = rows.iter().map(String::as_str).filter(|row| !row.is_empty()).collect();
    let expected: Vec<String> = (0..5000).map(|number| format!("line {number}")).collect();
    assert_eq!(rows, expected, "after {changes} changes");
}

#[test]
fn a_sequence_that_is_cut_by_the_change_goes_on() {
    let (mux, other) = (headless(), headless());
    let remote = Arc::new(Remote::default());
    let pane = adopt(&mux, Handover::new(remote.clone(), Size::cells(80, 24)));
    // The parser of the first mux holds the unfinished sequence after the first character.
    remote.print("a\x1b]2;na");
    wait_text(&pane, "a");
    let handover = mux.release(pane.id()).unwrap();
    remote.print("med\x07b");
    let pane = adopt(&other, handover);
    wait_text(&pane, "ab");
    assert_eq!(pane.title(), "named");
}

#[test]
fn unread_input_waits_in_the_programs_next_pane() {
    let (mux, other) = (headless(), headless());
    let remote = Arc::new(Remote::default());
    remote.set_deaf(true);
    let pane = adopt(&mux, Handover::new(remote.clone(), Size::cells(80, 24)));
    pane.write(b"first").unwrap();
    remote.wait_blocked();
    pane.write(b" second\rthird").unwrap();
    let handover = mux.release(pane.id()).unwrap();
    let pane = adopt(&other, handover);
    assert_eq!(pane.typed(), "third");
    pane.write(b" fourth").unwrap();
    remote.set_deaf(false);
    remote.wait_input("first second\rthird fourth");
}

#[test]
fn a_program_that_nobody_may_adopt_comes_back() {
    let (closed, mux) = (headless(), headless());
    closed.shutdown();
    let remote = Arc::new(Remote::default());
    let handover = Handover::new(remote.clone(), Size::cells(80, 24));
    let refused = closed.adopt(handover, PanePlacement::Tab, OnExit::Close).unwrap_err();
    assert!(refused.to_string().contains("shutting down"), "{refused}");
    let gone = PanePlacement::Beside(PaneId(9), Axis::Vertical);
    let refused = mux.adopt(refused.handover, gone, OnExit::Close).unwrap_err();
    assert!(matches!(refused.error, MuxError::NoPane(PaneId(9))), "{refused}");
    let pane = adopt(&mux, refused.handover);
    remote.print("still here");
    wait_text(&pane, "still here");
    pane.write(b"x").unwrap();
    remote.wait_input("x");
}

#[test]
fn a_program_that_ends_on_its_way_is_seen_to_its_end() {
    let (mux, other) = (headless(), headless());
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let name = fifo.display();
    let pane =
        open(&mux, &format!("mkfifo {name}; echo ready; read x < {name}; echo last; exit 5"));
    wait_text(&pane, "ready");
    let handover = mux.release(pane.id()).unwrap();
    std::fs::write(&fifo, "go\n").unwrap();
    let deadline = std::time::Instant::now() + LIMIT;
    while handover.process.exit_status().is_none() {
        assert!(std::time::Instant::now() < deadline, "it did not end");
        std::thread::yield_now();
    }
    let pane = adopt(&other, handover);
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(5)));
    assert_eq!(screen(&pane)[..2], ["ready", "last"]);
}

#[test]
fn a_program_that_nobody_adopts_ends_with_its_handover() {
    let mux = headless();
    let pane = open(&mux, "trap '' HUP; echo ready; exec sleep 300");
    wait_text(&pane, "ready");
    let process = format!("/proc/{}", pane.process().pid().unwrap());
    let handover = mux.release(pane.id()).unwrap();
    drop(pane);
    assert!(std::path::Path::new(&process).exists());
    drop(handover);
    assert!(!std::path::Path::new(&process).exists());
}

#[test]
fn a_tap_gets_all_that_came_before_the_change_and_its_end() {
    let mux = headless();
    let remote = Arc::new(Remote::default());
    let pane = adopt(&mux, Handover::new(remote.clone(), Size::cells(80, 24)));
    let mut tap = pane.tap();
    remote.print("before");
    wait_text(&pane, "before");
    mux.release(pane.id()).unwrap();
    remote.print("after");
    let mut bytes = Vec::new();
    loop {
        match tap.blocking_next().unwrap() {
            TapItem::Bytes { bytes: piece, .. } => bytes.extend_from_slice(&piece),
            TapItem::End => break,
            gap @ TapItem::Gap { .. } => panic!("{gap:?}"),
        }
    }
    assert_eq!(bytes, b"before");
}

#[test]
fn a_pane_keeps_its_number_in_a_mux_that_has_not_reached_it() {
    let mux = headless();
    let panes: Vec<_> = (0..3).map(|_| open(&mux, "read line")).collect();
    let release = |number: usize| mux.release(panes[number].id()).unwrap();
    let (first, last) = (release(0), release(2));
    let other = headless();
    assert_eq!(adopt(&other, last).id(), PaneId(2));
    assert_eq!(open(&other, "read line").id(), PaneId(3));
    // The program's old number is not reused, because another pane of this mux may have had it.
    assert_eq!(adopt(&other, first).id(), PaneId(4));
}

#[test]
fn a_pinned_size_stays_pinned() {
    let (mux, other) = (headless(), headless());
    let size = Size::cells(50, 11);
    let pane = mux.open_tab(sh("read line"), Some(size), OnExit::Hold).unwrap();
    let pane = adopt(&other, mux.release(pane.id()).unwrap());
    assert!(pane.is_pinned());
    assert_eq!(pane.term().size(), size);
    let free = open(&mux, "stty size; read line; stty size; read line");
    wait_text(&free, "24 80");
    let area = Mux::new(MuxOptions { default_size: size, ..MuxOptions::default() });
    let free = adopt(&area, mux.release(free.id()).unwrap());
    assert_eq!((free.is_pinned(), free.term().size()), (false, size));
    free.write(b"\r").unwrap();
    wait(&free, "the size", |pane| screen(pane).iter().any(|row| row == "11 50"));
}

#[test]
fn visibility_reaches_the_program_and_its_next_pane() {
    let (mux, other) = (headless(), headless());
    let remote = Arc::new(Remote::default());
    let pane = adopt(&mux, Handover::new(remote.clone(), Size::cells(80, 24)));
    pane.set_shown(false);
    remote.print("\x1b[?2033h");
    remote.wait_input("\x1b[?999;2n");
    for visible in [false, true, true, false] {
        pane.set_shown(visible);
    }
    remote.wait_input("\x1b[?999;1n\x1b[?999;2n");
    // The next pane has no window, but a live view.
    let pane = adopt(&other, mux.release(pane.id()).unwrap());
    remote.wait_input("\x1b[?999;2n");
    let (view, another) = (pane.begin_view(), pane.begin_view());
    remote.wait_input("\x1b[?999;1n");
    drop(view);
    drop(another);
    remote.wait_input("\x1b[?999;2n");
    remote.print("\x1b[?2033l\x1b[?2033$p");
    remote.wait_input("\x1b[?2033;2$y");
    pane.set_shown(true);
    remote.print("\x1b[?998n");
    remote.wait_input("\x1b[?999;1n");
}

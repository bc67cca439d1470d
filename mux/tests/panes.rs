//! Panes with real programs: processes, input, output, titles, directories and their ends.

use std::sync::Arc;

use crate::common::{self, Ear, headless, open, screen, sh, wait, wait_end, wait_text};
use unterm_mux::{
    ExitStatus, Mux, MuxError, MuxEvent, MuxOptions, OnExit, PaneState, Signal, Spawn,
    TapDirection, TapItem, WRITE_CAPACITY, WriteError,
};
use unterm_term::{ClipboardTarget, Event, Modes, Size};

#[test]
fn output_is_on_the_screen_and_input_reaches_the_program() {
    let mux = headless();
    let pane = open(&mux, "echo ready; read line; echo \"<$line>\"; exit 3");
    wait_text(&pane, "ready");
    pane.write("grüße\r".as_bytes()).unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Code(3)));
    assert_eq!(screen(&pane)[..3], ["ready", "grüße", "<grüße>"]);
    assert_eq!(pane.write(b"x"), Err(WriteError::Ended));
}

#[test]
fn a_pane_closes_or_stays_after_its_program_as_set() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let held = open(&mux, "exit 1");
    let closed = mux.open_tab(sh("exit 2"), None, OnExit::Close).unwrap();
    ear.wait_for(&MuxEvent::PaneExited(held.id()));
    ear.wait_for(&MuxEvent::PaneRemoved(closed.id()));
    assert_eq!(held.state(), PaneState::Exited(ExitStatus::Code(1)));
    assert!(mux.pane(held.id()).is_some());
    assert!(mux.pane(closed.id()).is_none());
    // A reference to the removed pane still returns the exit status.
    assert_eq!(closed.process().exit_status(), Some(ExitStatus::Code(2)));
    assert!(!ear.has(&MuxEvent::Empty));
    mux.close_pane(held.id()).unwrap();
    assert_eq!(held.state(), PaneState::Removed);
    assert!(ear.has(&MuxEvent::Empty));
    assert!(matches!(mux.close_pane(held.id()), Err(MuxError::NoPane(_))));
}

#[test]
fn events_come_in_order() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let pane = mux.open_tab(sh("true"), None, OnExit::Close).unwrap();
    ear.wait_for(&MuxEvent::Empty);
    assert_eq!(
        ear.all(),
        [
            MuxEvent::PaneOpened(pane.id()),
            MuxEvent::Layout,
            MuxEvent::PaneExited(pane.id()),
            MuxEvent::PaneRemoved(pane.id()),
            MuxEvent::Layout,
            MuxEvent::Empty,
        ]
    );
}

#[test]
fn replies_reach_the_program_in_their_place_among_the_input() {
    let mux = headless();
    // The program reads "a", then the cursor report that it requests, then "b".
    let pane = open(
        &mux,
        "stty raw -echo; echo ready; head -c1; printf '\\033[3;7H\\033[6n'; head -c6 | od -An -c; head -c1",
    );
    wait_text(&pane, "ready");
    pane.write(b"a").unwrap();
    wait_text(&pane, "033   [   3   ;   7   R");
    pane.write(b"b").unwrap();
    wait_end(&pane);
    assert!(screen(&pane).iter().any(|row| row.ends_with('b')), "{:?}", screen(&pane));
}

#[test]
fn input_is_shown_locally_where_the_program_asks_for_it() {
    let mux = headless();
    let pane = open(
        &mux,
        "stty raw -echo; printf '\\033[12lhere:'; head -c5 >/dev/null; \
         stty cooked -echo; printf '\\r\\nsecret:'; head -n1 >/dev/null; \
         stty raw -echo; printf '\\r\\n\\033[12hnone:'; head -c3 >/dev/null; printf over",
    );
    wait_text(&pane, "here:");
    // Input is shown before `write` returns. Escape sequences in it are recognized, even if split, but have no effect.
    pane.write(b"a\x1b[").unwrap();
    pane.write(b"cb").unwrap();
    assert_eq!(screen(&pane)[0], "here:ab");
    wait_text(&pane, "secret:");
    pane.write(b"password\n").unwrap();
    wait_text(&pane, "none:");
    pane.write(b"xyz").unwrap();
    wait_end(&pane);
    assert_eq!(screen(&pane)[..3], ["here:ab", "secret:", "none:over"]);
}

#[test]
fn observers_receive_the_terminals_events() {
    let mux = headless();
    let ear = Ear::new(&mux);
    // The shell's marks, a notification, progress, and a clipboard query that nothing answers.
    let pane = open(
        &mux,
        "printf '\\033]133;A\\007$ \\033]133;B\\007x\\n\\033]133;C\\007\\033]133;D;3\\007'; \
         printf '\\033]9;Hello\\007\\033]9;4;1;50\\007\\033]52;c;?\\007'",
    );
    wait_end(&pane);
    ear.wait_for(&MuxEvent::PaneExited(pane.id()));
    let events: Vec<_> = ear
        .all()
        .into_iter()
        .filter_map(|event| match event {
            MuxEvent::Told { event, .. } => Some(event),
            _ => None,
        })
        .collect();
    let target = ClipboardTarget::Clipboard;
    assert_eq!(
        events[..4],
        [
            Event::PromptStart,
            Event::InputStart,
            Event::CommandStart { command: 1 },
            Event::CommandEnd { command: 1, exit_code: Some(3), is_authentic: false },
        ]
    );
    assert!(matches!(&events[4], Event::Notification(n) if n.title == "Hello"), "{events:?}");
    assert_eq!(events[5..], [Event::Progress, Event::ClipboardQuery { target }]);
}

#[test]
fn a_program_that_does_not_read_stops_only_its_own_input() {
    let mux = headless();
    let deaf = open(&mux, "stty raw -echo; echo ready; exec sleep 300");
    let other = open(&mux, "read line; echo \"<$line>\"");
    wait_text(&deaf, "ready");
    let piece = vec![b'x'; 64 * 1024];
    let queued = loop {
        match deaf.write(&piece) {
            Ok(()) => {}
            Err(WriteError::Full { queued }) => break queued,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(queued > WRITE_CAPACITY - piece.len() && queued <= WRITE_CAPACITY, "{queued}");
    other.write(b"alive\r").unwrap();
    wait_text(&other, "<alive>");
    mux.close_pane(deaf.id()).unwrap();
    assert_eq!(deaf.write(b"x"), Err(WriteError::Ended));
}

#[test]
fn a_resize_reaches_the_terminal_and_the_program() {
    let mux = headless();
    let pane = open(&mux, "trap 'stty size' WINCH; stty size; while :; do sleep 0.01; done");
    wait_text(&pane, "24 80");
    let mut seq = pane.watch();
    seq.mark_unchanged();
    pane.resize(Size::cells(100, 40));
    assert!(seq.has_changed().unwrap());
    assert_eq!(pane.term().size(), Size::cells(100, 40));
    wait_text(&pane, "40 100");
    seq.mark_unchanged();
    let same = pane.term().size();
    pane.resize(same);
    assert_eq!(pane.term().size(), same);
}

#[test]
fn a_picture_held_back_too_long_is_shown() {
    let mux = headless();
    let pane = open(&mux, "printf 'held\\033[?2026hback'; read line");
    let is_held = |pane: &unterm_mux::Pane| pane.term().modes().contains(Modes::SYNCHRONIZED);
    wait(&pane, "mode 2026", |pane| is_held(pane) || screen(pane)[0] == "heldback");
    // The program sends nothing more. The pane ends mode 2026 after a time limit, and advances its `seq`.
    wait(&pane, "the end of mode 2026", |pane| !is_held(pane));
}

#[test]
fn title_and_directory_fall_back_to_the_system() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let folder = tempfile::Builder::new().prefix("with space ").tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    // The program reports its directory by a symbolic link, while the system reports the link's target.
    let link = folder.with_extension("link");
    std::os::unix::fs::symlink("/usr", &link).unwrap();
    let report = format!("\\033]2;named\\007\\033]7;{}\\007", unterm_mux::file_uri(&link));
    let report = report.replace('%', "%%");
    let spawn = Spawn {
        cwd: Some(folder.clone()),
        ..sh(&format!("read line; cd /usr; printf '{report}'; echo done; read line"))
    };
    let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
    let shell = pane.foreground().unwrap();
    assert!(shell.is_root && shell.name.starts_with('/'), "{shell:?}");
    assert_eq!(Some(pane.title().as_str()), shell.name.rsplit('/').next());
    assert!(pane.cwd_uri().starts_with("file:///"), "{}", pane.cwd_uri());
    assert!(pane.cwd_uri().contains("/with%20space%20"), "{}", pane.cwd_uri());
    assert_eq!(pane.cwd_path(), Some(folder));
    pane.write(b"\r").unwrap();
    wait_text(&pane, "done");
    ear.wait_for(&MuxEvent::Title(pane.id()));
    ear.wait_for(&MuxEvent::Cwd(pane.id()));
    assert_eq!(pane.title(), "named");
    assert_eq!(pane.cwd_uri(), unterm_mux::file_uri(&link));
    assert_eq!(pane.cwd_path(), Some(link.clone()));
    std::fs::remove_file(link).unwrap();
}

#[test]
fn the_system_locates_a_program_started_after_the_last_report() {
    let mux = headless();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    // With job control, the program has its own process group, as under an interactive shell.
    let script = format!(
        "set -m; cd /usr; printf '\\033]7;file:///usr\\007'; read line; \
         sh -c 'cd {}; echo moved; exec cat'; cd /; echo back; read line",
        folder.display()
    );
    let ear = Ear::new(&mux);
    let pane = open(&mux, &script);
    ear.wait_for(&MuxEvent::Cwd(pane.id()));
    pane.write(b"\r").unwrap();
    wait_text(&pane, "moved");
    assert_eq!(pane.cwd_path(), Some(folder));
    pane.write(b"\x04").unwrap();
    wait_text(&pane, "back");
    assert_eq!(pane.cwd_path(), Some("/".into()), "the shell itself, which did not report since");
    mux.shutdown();
}

#[test]
fn bells_and_clipboard_writes_are_events() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let pane = open(&mux, "read line; printf '\\007\\033]52;c;aGVsbG8=\\007'");
    pane.write(b"\r").unwrap();
    wait_end(&pane);
    ear.wait_for(&MuxEvent::Bell(pane.id()));
    ear.wait_for(&MuxEvent::Clipboard {
        pane: pane.id(),
        target: unterm_term::ClipboardTarget::Clipboard,
        text: "hello".into(),
    });
}

#[test]
fn without_a_window_there_is_no_clipboard() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let pane = open(
        &mux,
        r"stty -echo -icanon
        printf '\033]5522;type=read:id=1;Lg==\033\\\033]5522;type=write:id=2\033\\\033[?5522$p'
        head -c 86 | tr '\033' '\n'",
    );
    wait_text(&pane, "]5522;type=read:status=ENOSYS:id=1");
    wait_text(&pane, "]5522;type=write:status=ENOSYS:id=2");
    wait_text(&pane, "[?5522;4$y");
    assert!(!ear.all().iter().any(|event| matches!(event, MuxEvent::Told { .. })));
    mux.shutdown();
}

#[test]
fn data_of_a_clipboard_reaches_its_program_whole() {
    const LENGTH: usize = 3 << 20;
    let options = MuxOptions { sized_by_window: true, ..MuxOptions::default() };
    let mux = Mux::new(options);
    let ear = Ear::new(&mux);
    // The answer is longer than the pty and the queue for typed input hold.
    let pane = open(
        &mux,
        r"stty -echo -icanon
        printf '\033]5522;type=read;dGV4dC9wbGFpbg==\033\\'
        stdbuf -o0 tr -dc D | head -c 769 | wc -c",
    );
    let read = ear.wait_for_one("its request", |event| match event {
        MuxEvent::Told { event: Event::ClipboardRead(read), .. } => Some(read.handle),
        _ => None,
    });
    let text = Arc::new(vec![0; LENGTH]);
    let data = vec![("text/plain".to_owned(), text)];
    mux.answer_clipboard_read(pane.id(), read, Ok(&data));
    // A `D` in the status of each packet: one in each of 768 packets with data, and one in the last packet.
    wait_text(&pane, "769");
    mux.shutdown();
}

#[test]
fn a_tap_gets_the_bytes_of_both_directions_with_rising_seq() {
    let mux = headless();
    let pane = open(&mux, "stty -echo; printf ready; read line; echo \"<$line>\"");
    wait_text(&pane, "ready");
    let mut tap = pane.tap();
    pane.write(b"typed\r").unwrap();
    let (mut output, mut input, mut last) = (Vec::new(), Vec::new(), 0);
    loop {
        match tap.blocking_next().unwrap() {
            TapItem::Bytes { seq, direction, bytes, .. } => {
                match direction {
                    TapDirection::Output => output.extend_from_slice(&bytes),
                    TapDirection::Input => input.extend_from_slice(&bytes),
                }
                assert!(seq >= last);
                last = seq;
            }
            TapItem::Gap { bytes } => panic!("{bytes} bytes are missing"),
            TapItem::End => break,
        }
    }
    assert_eq!(input, b"typed\r");
    assert_eq!(String::from_utf8_lossy(&output), "<typed>\r\n");
    assert_eq!(last, pane.term().seq());
}

#[test]
fn a_shell_that_ends_before_anybody_typed_can_be_read() {
    let mux = headless();
    let open = |script| mux.open_tab(sh(script), None, OnExit::CloseAfterInput).unwrap();
    let failed = open("echo no such thing; exit 1");
    let used = open("read line; exit 1");
    wait(&failed, "its end", |pane| pane.state() == PaneState::Exited(ExitStatus::Code(1)));
    wait_text(&failed, "no such thing");
    used.write(b"exit\r").unwrap();
    wait(&used, "its end", |pane| pane.state() == PaneState::Removed);
    assert!(mux.pane(failed.id()).is_some());
}

#[test]
fn signals_go_to_what_runs_in_the_foreground() {
    let mux = headless();
    let pane = mux.open_tab(common::run("sh", &["-i"]), None, OnExit::Hold).unwrap();
    pane.write(b"PS1=; echo begin; sleep 300; echo end $?\r").unwrap();
    wait_text(&pane, "begin");
    let is_sleeping = || pane.foreground().is_some_and(|found| found.name.ends_with("/sleep"));
    while !is_sleeping() {
        std::thread::yield_now();
    }
    assert_eq!(pane.title(), "sleep");
    pane.signal(Signal::Terminate).unwrap();
    wait_text(&pane, "end 143");
    assert_eq!(pane.state(), PaneState::Running);
}

#[test]
fn a_title_that_a_program_left_behind_gives_way() {
    let mux = headless();
    let pane = mux.open_tab(common::run("sh", &["-i"]), None, OnExit::Hold).unwrap();
    let called = |title: &str| wait(&pane, title, |pane| pane.title() == title);
    // The quotes keep the word out of the echo. So the screen shows the word only after the shell has run the whole
    // line.
    pane.write(b"PS1=; printf '\\033]2;mine\\007'; echo be''gin\r").unwrap();
    wait_text(&pane, "begin");
    called("mine");
    let program = b"sh -c 'printf \"\\033]2;left behind\\007\"; exec cat'\r";
    pane.write(program).unwrap();
    called("left behind");
    // Suspend the program. Below, return it to the foreground, then end it.
    pane.write(b"\x1a").unwrap();
    wait_text(&pane, "Stopped");
    assert_eq!(pane.title(), "mine");
    // A program without its own title runs in the meantime, so the shell's title stays.
    pane.write(b"sh -c \"echo oth''er; exec cat\"\r").unwrap();
    wait_text(&pane, "other");
    assert_eq!(pane.title(), "mine");
    pane.write(b"\x04").unwrap();
    pane.write(b"fg\r").unwrap();
    pane.write(b"from cat\r").unwrap();
    wait(&pane, "cat's answer", |pane| {
        common::screen(pane).iter().filter(|row| row.contains("from cat")).count() > 1
    });
    assert_eq!(pane.title(), "left behind");
    pane.write(b"\x04").unwrap();
    pane.write(b"echo ov''er\r").unwrap();
    wait_text(&pane, "over");
    assert_eq!(pane.title(), "mine");
    // Setting the former title again is a change, because the shell's title had replaced it.
    let ear = Ear::new(&mux);
    pane.write(program).unwrap();
    ear.wait_for(&MuxEvent::Title(pane.id()));
    assert_eq!(pane.title(), "left behind");
}

#[test]
fn every_pane_knows_its_number_and_the_first_is_0() {
    let mux = headless();
    for number in 0..3 {
        let spawn = Spawn {
            env: vec![("UNTERM_PANE".into(), "forged".into())],
            ..sh("echo pane $UNTERM_PANE.")
        };
        let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
        assert_eq!(pane.id().0, number);
        wait_text(&pane, &format!("pane {number}."));
    }
}

#[test]
fn the_terminal_is_free_while_output_floods() {
    let mux = headless();
    let pane = open(&mux, "exec yes");
    wait_text(&pane, "y");
    // Each request for the terminal's lock succeeds, and between requests the output advances.
    let mut last = 0;
    let mut moved = 0;
    while moved < 100 {
        let seq = pane.term().seq();
        assert!(seq >= last);
        moved += u32::from(seq > last);
        last = seq;
    }
    pane.write(b"\x03").unwrap();
    assert_eq!(wait_end(&pane), PaneState::Exited(ExitStatus::Signal(2)));
}

#[test]
fn waiting_from_many_tasks_costs_no_thread_and_misses_nothing() {
    let mux = headless();
    let pane = open(&mux, "for i in 1 2 3 4 5; do echo line $i; read line; done");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let waits = (0..20).map(|_| {
            let pane = pane.clone();
            let mut seq = pane.watch();
            tokio::spawn(async move {
                while !screen(&pane).iter().any(|row| row == "line 5") {
                    seq.changed().await.unwrap();
                }
            })
        });
        let waits: Vec<_> = waits.collect();
        for _ in 0..4 {
            pane.write(b"\r").unwrap();
        }
        for wait in waits {
            tokio::time::timeout(common::LIMIT, wait).await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_missing_program_is_an_error_and_leaves_nothing() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let error = mux.open_tab(common::run("no-such-program", &[]), None, OnExit::Close);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "cannot start no-such-program: no such program in PATH");
    let spawn = Spawn { cwd: Some("/nowhere".into()), ..Spawn::default() };
    let error = mux.open_tab(spawn, None, OnExit::Close).unwrap_err();
    assert_eq!(error.to_string(), "working directory \"/nowhere\" is not a directory");
    assert!(ear.all().is_empty());
    assert!(mux.panes().is_empty() && mux.layout().tabs.is_empty());
}

#[test]
fn shutting_down_ends_stubborn_programs_too() {
    let mux = headless();
    let stubborn = open(&mux, "trap '' HUP TERM INT; echo ready; while :; do sleep 300; done");
    let hidden = mux.open_hidden(sh("echo ready; exec sleep 300"), Size::cells(10, 5)).unwrap();
    wait_text(&stubborn, "ready");
    wait_text(&hidden, "ready");
    mux.shutdown();
    assert_eq!(stubborn.process().exit_status(), Some(ExitStatus::Signal(9)));
    assert_eq!(hidden.process().exit_status(), Some(ExitStatus::Signal(1)));
    assert!(mux.pane(stubborn.id()).is_none());
    let error = mux.open_tab(sh("true"), None, OnExit::Close).unwrap_err();
    assert!(error.to_string().contains("shutting down"), "{error}");
}

#[test]
fn a_dropped_mux_ends_its_programs() {
    let mux = headless();
    let pane = open(&mux, "exec sleep 300");
    assert_eq!(Arc::strong_count(&mux), 1);
    drop(mux);
    assert_eq!(pane.state(), PaneState::Removed);
    wait(&pane, "its end", |pane| pane.process().exit_status().is_some());
}

#[test]
fn no_file_is_read_for_what_may_run_on_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pixel, ask, ssh) = (at("pixel"), at("ask"), at("ssh"));
    std::fs::write(&pixel, [1, 2, 3]).unwrap();
    // The program claims to run on this machine, and requests a file. It does not read the reply, so the pty echoes the
    // reply to the screen.
    let script = format!(
        "printf '\\033]7;file://localhost/\\007\\033_Ga=q,t=f,f=24,s=1,v=1,i=1;%s\\033\\\\' \
         $(printf %s {pixel} | base64 | tr -d '\\n'); read line"
    );
    std::fs::write(&ask, script).unwrap();
    std::os::unix::fs::symlink("/bin/sh", &ssh).unwrap();
    let mux = headless();
    for (command, answer) in [
        (format!("sh {ask}; true"), "_Gi=1;OK"),
        (format!("exec {ssh} {ask}"), "_Gi=1;EPERM"),
        // ssh as the child of a shell, and in its own session, as under `sudo`.
        (format!("{ssh} {ask}; true"), "_Gi=1;EPERM"),
        (format!("setsid -w {ssh} {ask}; true"), "_Gi=1;EPERM"),
    ] {
        let pane = open(&mux, &command);
        // The end of the reply: ST, as the pty echoes it.
        wait_text(&pane, "^[\\");
        assert!(screen(&pane).concat().contains(answer), "{command}: {:?}", screen(&pane));
    }
}

//! Programs: their terminals, statuses, owners and identities.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_getfd};
use unterm_keeper::{Error, Exit, PaneState, Placement, Refusal};

use crate::common::{
    Home, descriptors, os, pid, read_until, runs, sh, state, status_line, wait, wait_end, write,
};

#[test]
fn a_program_reads_writes_and_ends_with_its_status() {
    let home = Home::new();
    let held = home.connect().start(sh("read line; echo got $line; exit 7")).unwrap();
    assert_eq!(held.exit.read(), Exit::Running);
    write(&held, "hello\r");
    assert!(read_until(&held, "got hello\r\n").starts_with("hello\r\n"));
    assert_eq!(wait_end(&held).how, Ok(7));
    let killed = home.connect().start(sh("kill -TERM $$")).unwrap();
    assert_eq!(wait_end(&killed).how, Err(15));
}

#[test]
fn a_process_id_is_not_reused_until_its_owner_knows_the_end() {
    let home = Home::new();
    let mut client = home.connect();
    let held = client.start(sh("exit 3")).unwrap();
    assert_eq!(wait_end(&held).how, Ok(3));
    // The process is a zombie. The keeper has handled its end, and a request after that.
    client.panes().unwrap();
    assert_eq!(state(pid(&held)), Some(b'Z'));
    let number = pid(&held);
    drop(held);
    wait("the end of the zombie", || state(number).is_none());
}

#[test]
fn a_program_gets_a_clean_process_and_its_own_environment() {
    let home = Home::new();
    let mut start = sh("ls /proc/self/fd | xargs; umask; ulimit -n; echo $TERM; \
         grep -E 'SigBlk|SigIgn' /proc/self/status; tty; stty size; stty -a; echo over");
    start.program.umask = Some(0o27);
    start.program.open_files = Some((Some(123), Some(456)));
    let held = home.connect().start(start).unwrap();
    let output = read_until(&held, "over\r\n");
    // Descriptor 3 is the folder that `ls` lists.
    assert!(output.starts_with("0 1 2 3\r\n0027\r\n123\r\nxterm-256color\r\n"), "{output}");
    assert!(output.contains("SigBlk:\t0000000000000000"), "{output}");
    let ignored = output.split("SigIgn:\t").nth(1).unwrap().split_whitespace().next().unwrap();
    let ignored = u64::from_str_radix(ignored, 16).unwrap();
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE, libc::SIGCHLD] {
        assert_eq!(ignored >> (signal - 1) & 1, 0, "{signal}");
    }
    assert!(output.contains(held.tty.to_str().unwrap()), "{output}");
    assert!(output.contains("24 80") && output.contains(" iutf8"), "{output}");
}

#[test]
fn a_failed_start_is_an_error_and_the_connection_continues() {
    let home = Home::new();
    let mut client = home.connect();
    let mut missing = sh("");
    missing.program.file = "/nowhere/sh".into();
    let mut folder = sh("");
    folder.program.cwd = "/nowhere".into();
    for start in [missing, folder] {
        match client.start(start) {
            Err(Error::Refused(Refusal::CannotStart, text)) => {
                assert!(text.contains("No such file"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
    let mut long = sh("");
    long.program.args.push("x".repeat(unterm_keeper::MAX_BODY).into());
    assert!(matches!(client.start(long), Err(Error::Broken(_))));
    assert_eq!(wait_end(&client.start(sh("exit 1")).unwrap()).how, Ok(1));
}

#[test]
fn a_program_outlives_its_owner_and_the_next_one_continues() {
    let home = Home::new();
    let mut client = home.connect();
    let script = "stty -echo; echo ready; read line; echo got $line; exit 5";
    let held = client.start(sh(script)).unwrap();
    read_until(&held, "ready");
    let (key, process) = (held.key, pid(&held));
    let placement = Placement { title: "Bau".into(), tab: Some(2), split: "left".into() };
    client.describe(key, placement.clone()).unwrap();
    // An owner that is killed closes everything.
    drop((client, held));
    let mut client = home.launcher.connect("next").unwrap();
    assert_eq!(client.panes().unwrap(), [key.number]);
    home.wait_log("\"test\" left pane");
    let identity = client.identify(key.number).unwrap();
    assert_eq!((identity.owner, identity.last_owner), (None, os("test").into_string().unwrap()));
    assert_eq!((identity.pid, identity.state), (process, PaneState::Running));
    assert_eq!(identity.argv, ["/bin/sh", "sh", "-c", script].map(os));
    assert_eq!(identity.cwd.to_str(), Some("/"));
    assert_eq!(identity.variables, [(os("TERM"), os("xterm-256color"))]);
    assert_eq!(identity.size, [80, 24, 0, 0]);
    assert_eq!(identity.origin, sh("").origin);
    assert_eq!(identity.placement, placement);
    let held = client.take(key.number).unwrap();
    assert_eq!(pid(&held), process);
    write(&held, "hello\r");
    assert_eq!(read_until(&held, "\r\n"), "got hello\r\n");
    assert_eq!(wait_end(&held).how, Ok(5));
    assert_eq!(client.identify(key.number).unwrap().owner.as_deref(), Some("next"));
}

#[test]
fn a_program_that_ends_without_an_owner_keeps_its_status() {
    let home = Home::new();
    let mut client = home.connect();
    let held = client.start(sh("echo ready; read line; exit 6")).unwrap();
    read_until(&held, "ready");
    let (number, process) = (held.key.number, pid(&held));
    let master = held.master.try_clone().unwrap();
    drop(held);
    home.wait_log("left pane");
    assert_eq!(rustix::io::write(&master, b"\r"), Ok(1));
    wait("the end", || state(process).is_none());
    let is_ended = |client: &mut unterm_keeper::Client| {
        matches!(client.identify(number).unwrap().state, PaneState::Ended(_))
    };
    assert!(is_ended(&mut client));
    // If an owner is killed before it reads the status, the next owner receives the status.
    drop(client.take(number).unwrap());
    home.wait_log("\"test\" took pane");
    let held = client.take(number).unwrap();
    assert_eq!(wait_end(&held).how, Ok(6));
    drop(held);
    wait("the end of the pane", || home.connect().panes().unwrap().is_empty());
}

#[test]
fn a_pane_has_one_owner() {
    let home = Home::new();
    let (mut first, mut second) = (home.connect(), home.launcher.connect("second").unwrap());
    let held = first.start(sh("read line")).unwrap();
    let number = held.key.number;
    match second.take(number) {
        Err(Error::Refused(Refusal::InUse, text)) => {
            assert_eq!(text, format!("\"test\" owns pane {number}"));
        }
        other => panic!("{other:?}"),
    }
    match second.take(99_999) {
        Err(Error::Refused(Refusal::NoPane, text)) => assert_eq!(text, "there is no pane 99999"),
        other => panic!("{other:?}"),
    }
    // The previous owner's key is useless after another owner took the pane.
    let old = held.key;
    drop(held);
    let taken = second.take(number).unwrap();
    first.describe(old, Placement { title: "forged".into(), ..Placement::default() }).unwrap();
    first.close(old).unwrap();
    assert_eq!(first.panes().unwrap(), [number]);
    assert_eq!(first.identify(number).unwrap().placement.title, "");
    home.wait_log("\"test\" does not own a pane");
    assert_eq!(taken.exit.read(), Exit::Running);
}

#[test]
fn closing_a_pane_hangs_up_its_terminal() {
    let home = Home::new();
    let mut client = home.connect();
    let held = client.start(sh("echo ready; while :; do sleep 100; done")).unwrap();
    read_until(&held, "ready");
    client.close(held.key).unwrap();
    assert_eq!(client.panes().unwrap(), []);
    assert!(runs(pid(&held)), "its owner still has the terminal open");
    let (process, exit) = (pid(&held), held.exit);
    drop(held.master);
    wait("the end", || !runs(process));
    let ending = loop {
        if let Exit::Ended(ending) = exit.read() {
            break ending;
        }
    };
    assert_eq!(ending.how, Err(libc::SIGHUP));
}

#[test]
fn a_size_that_the_owner_changes_is_known() {
    let home = Home::new();
    let mut client = home.connect();
    let held = client.start(sh("read line")).unwrap();
    let size = rustix::termios::Winsize { ws_col: 132, ws_row: 43, ws_xpixel: 5, ws_ypixel: 6 };
    rustix::termios::tcsetwinsize(&held.master, size).unwrap();
    assert_eq!(client.identify(held.key.number).unwrap().size, [132, 43, 5, 6]);
}

#[test]
fn concurrently_started_programs_inherit_no_pane_descriptors() {
    let home = Home::new();
    let mut client = home.connect();
    let is_over = AtomicBool::new(false);
    let look = || {
        while !is_over.load(Ordering::Acquire) {
            let mut find = std::process::Command::new("find");
            let find = find.args(["/proc/self/fd", "-printf", "%l\n"]);
            let find = find.stdin(std::process::Stdio::null());
            let held = String::from_utf8(find.output().unwrap().stdout).unwrap();
            assert!(!held.contains("/ptmx") && !held.contains("/pts/"), "{held}");
            assert!(!held.contains("pidfd"), "{held}");
        }
    };
    std::thread::scope(|scope| {
        let looks = [(); 2].map(|()| scope.spawn(look));
        for _ in 0..100 {
            let held = client.start(sh("exit")).unwrap();
            for fd in [&held.master, &held.process] {
                assert_eq!(fcntl_getfd(fd), Ok(FdFlags::CLOEXEC));
            }
            assert_eq!(fcntl_getfd(&held.exit), Ok(FdFlags::CLOEXEC));
            client.close(held.key).unwrap();
        }
        is_over.store(true, Ordering::Release);
        looks.map(|look| look.join().unwrap())
    });
}

#[test]
fn panes_that_were_closed_leave_nothing_in_the_keeper() {
    let home = Home::new();
    let mut client = home.connect();
    let keeper = client.keeper().pid;
    let resident = || {
        let line = status_line(keeper, "VmRSS");
        line.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let before = descriptors(keeper).len();
    let open = |client: &mut unterm_keeper::Client| {
        let held: Vec<_> = (0..200).map(|_| client.start(sh("read line; exit")).unwrap()).collect();
        eprintln!(
            "200 panes: {} KiB resident, {} descriptors",
            resident(),
            descriptors(keeper).len()
        );
        for held in held {
            client.close(held.key).unwrap();
        }
        assert_eq!(client.panes().unwrap(), []);
        wait("the end of all panes", || descriptors(keeper).len() <= before);
    };
    eprintln!("no pane: {} KiB resident", resident());
    open(&mut client);
    let once = resident();
    for _ in 0..2 {
        open(&mut client);
    }
    let growth = resident().saturating_sub(once);
    assert!(growth < 256, "{growth} KiB more after each 200 panes");
    assert!(once < 3 * 1024, "{once} KiB");
}

//! The life of a keeper: its start, its process, and its end.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use unterm_keeper::{Client, Error, Exit};

use crate::common::{
    Home, descriptors, kill, pid, read_until, runs, sh, state, status_line, wait, wait_readable,
    write,
};

#[test]
fn one_keeper_serves_all_that_start_it_at_once() {
    let home = Home::new();
    let clients: Vec<Client> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| home.connect())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let pids: Vec<u32> = clients.iter().map(|client| client.keeper().pid).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert_eq!(clients[0].keeper().name, "keeper");
}

#[test]
fn the_keeper_has_no_relation_to_its_starter() {
    let home = Home::new();
    let client = home.connect();
    let pid = client.keeper().pid;
    let own = std::process::id().to_string();
    let [parent, session, terminal] = relations(&pid.to_string());
    // In a container, this process can be in a session that has no number there: 0.
    let [_, own_session, _] = relations(&own);
    assert_ne!(parent, own);
    assert!(session != own_session && session != pid.to_string(), "{session}");
    assert_eq!(terminal, "0");
    let open = descriptors(pid);
    let is_of =
        |start: &str| open.iter().filter(|it| it.to_str().unwrap().starts_with(start)).count();
    // The listener, the connection, the log, and the process of this client.
    assert_eq!((is_of("/dev/null"), is_of("socket:"), open.len()), (3, 2, 7), "{open:?}");
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap().to_str(), Some("/"));
    assert_eq!(std::fs::read(format!("/proc/{pid}/environ")).unwrap(), b"");
    for name in ["keeper.sock", "keeper.log", "keeper.lock"] {
        let mode = home.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    eprintln!("{}", status_line(pid, "VmRSS"));
}

/// The parent, the session and the terminal of a process, as proc_pid_stat(5) describes them.
fn relations(pid: &str) -> [String; 3] {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    [fields[1], fields[3], fields[4]].map(str::to_owned)
}

#[test]
fn the_keeper_ends_with_its_last_pane_and_connection() {
    let home = Home::new();
    let mut client = home.connect();
    let pid = client.keeper().pid as i32;
    let held = client.start(sh("echo ready; read line")).unwrap();
    read_until(&held, "ready");
    let master = held.master.try_clone().unwrap();
    drop((client, held));
    home.wait_log("left pane");
    assert!(runs(pid), "a program runs");
    assert_eq!(rustix::io::write(&master, b"\r"), Ok(1));
    wait("the keeper's end", || !runs(pid));
    wait("the socket's end", || !home.socket().exists());
    let client = home.connect();
    assert_ne!(client.keeper().pid as i32, pid);
    drop(client);
    wait("the socket's end", || !home.socket().exists());
}

#[test]
fn a_killed_keeper_loses_statuses_but_no_program() {
    let home = Home::new();
    let mut client = home.connect();
    let held = client.start(sh("echo ready; read line; echo got $line; read line")).unwrap();
    read_until(&held, "ready");
    kill(client.keeper().pid, Signal::KILL);
    wait_readable(&held.exit);
    assert_eq!(held.exit.read(), Exit::Lost);
    assert!(matches!(client.panes(), Err(Error::Ended)));
    assert!(!client.is_usable());
    write(&held, "hello\r");
    read_until(&held, "got hello");
    write(&held, "\r");
    wait_readable(&held.process);
    assert!(!runs(pid(&held)));
    // The socket of the killed keeper does not prevent the next keeper from starting.
    assert!(home.socket().exists());
    assert_eq!(home.connect().panes().unwrap(), []);
}

#[test]
fn a_status_is_kept_if_owner_and_program_end_at_the_same_time() {
    let home = Home::new();
    let mut client = home.connect();
    let keeper = client.keeper().pid;
    let held = client.start(sh("echo ready; read line; exit 6")).unwrap();
    read_until(&held, "ready");
    let (number, process) = (held.key.number, pid(&held));
    // The keeper notices both ends at once.
    kill(keeper, Signal::STOP);
    write(&held, "\r");
    wait("the end", || !runs(process));
    drop(held);
    kill(keeper, Signal::CONT);
    wait("the end of the zombie", || state(process).is_none());
    let held = client.take(number).unwrap();
    wait_readable(&held.exit);
    assert!(matches!(held.exit.read(), Exit::Ended(ending) if ending.how == Ok(6)));
}

#[test]
fn a_program_that_was_started_too_late_is_ended() {
    let home = Home::new();
    let mut client = home.connect();
    let keeper = client.keeper().pid;
    let other = client.start(sh("echo ready; read line; exit 4")).unwrap();
    let mark = home.path().join("mark");
    kill(keeper, Signal::STOP);
    let script = format!("echo $$ > {}; exec sleep 1000", mark.display());
    assert!(matches!(client.start(sh(&script)), Err(Error::TimedOut)));
    assert!(matches!(client.start(sh(&script)), Err(Error::Ended)), "the connection is useless");
    drop(client);
    // Other panes do not need the keeper.
    read_until(&other, "ready");
    kill(keeper, Signal::CONT);
    let mut client = home.connect();
    wait("the end of the late program", || {
        let pid = std::fs::read_to_string(&mark).ok().and_then(|pid| pid.trim().parse().ok());
        pid.is_none_or(|pid: i32| !runs(pid))
    });
    assert_eq!(client.panes().unwrap(), [other.key.number]);
    write(&other, "\r");
    wait_readable(&other.exit);
    assert!(matches!(other.exit.read(), Exit::Ended(ending) if ending.how == Ok(4)));
}

#[test]
fn a_folder_that_others_can_change_is_refused() {
    let home = Home::new();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = home.launcher.connect("test").unwrap_err().to_string();
    assert!(error.ends_with("other users can change it (mode 777)"), "{error}");
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut long = home.launcher.clone();
    long.socket = home.path().join("x".repeat(200));
    let error = long.connect("test").unwrap_err().to_string();
    assert!(error.contains("is no path for a socket"), "{error}");
    let mut missing = home.launcher.clone();
    missing.program = "/nowhere/unterm-keeper".into();
    let error = missing.connect("test").unwrap_err().to_string();
    assert!(error.contains("/nowhere/unterm-keeper: No such file"), "{error}");
}

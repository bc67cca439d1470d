//! Tests of clients that violate the protocol. Each violation is refused and logged, and affects no other pane.

use std::{
    io::{IoSlice, Write as _},
    os::{
        fd::{AsFd as _, BorrowedFd},
        unix::{fs::PermissionsExt as _, net::UnixStream},
    },
    sync::mpsc,
    thread,
};

use rustix::{
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
    process::Signal,
};
use unterm_keeper::{Client, Held, MAX_CONNECTIONS};

use crate::common::{
    Home, descriptors, kill, raw, read_until, runs, sh, state, wait, wait_end, write,
};

/// A pane that the violations must not affect.
struct Witness {
    client: Client,
    held: Held,
}

impl Witness {
    fn new(home: &Home) -> Self {
        let mut client = home.connect();
        let script = "stty -echo; echo ready; while read line; do echo got $line; done; exit 9";
        let held = client.start(sh(script)).unwrap();
        read_until(&held, "ready\r\n");
        Self { client, held }
    }

    /// Checks that the pane and the connection still work.
    fn check(&mut self, number: usize) {
        write(&self.held, &format!("{number}\r"));
        read_until(&self.held, &format!("got {number}\r\n"));
        assert!(self.client.panes().unwrap().contains(&self.held.key.number));
    }

    fn end(self) {
        write(&self.held, "\x04");
        assert_eq!(wait_end(&self.held).how, Ok(9));
    }
}

#[test]
fn invalid_messages_end_only_their_connection() {
    let home = Home::new();
    let mut witness = Witness::new(&home);
    let start = raw::start("exit");
    let long = u32::MAX.to_le_bytes();
    let greeting = raw::hello(1, 1);
    let then = |rest: &[u8]| [greeting.clone(), rest.to_vec()].concat();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (greeting[..5].to_vec(), "it ended inside a message, after 5 bytes"),
        (then(&start[..start.len() / 2]), "it ended inside a message"),
        (then(&[long.to_vec(), vec![2, 0, 0, 0]].concat()), "is longer than 4194304"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "is longer than 4194304"),
        (raw::frame(raw::LIST, b""), "the first message is no greeting"),
        (raw::frame(999, b""), "the first message is no greeting"),
        (then(&greeting), "a second greeting"),
        (then(&raw::frame(raw::START, b"\x01")), "the last 1 bytes are no whole field"),
        (then(&raw::frame(raw::START, b"")), "is no absolute path"),
        (then(&raw::frame(raw::TAKE, &raw::field(1, b"x"))), "field 1 has 1 bytes, not 8"),
    ];
    for (number, (bytes, logged)) in cases.into_iter().enumerate() {
        let before = home.log().matches(logged).count();
        let mut stream = raw::connect(home.socket());
        // The keeper may close the connection before it has read everything.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        wait(logged, || home.log().matches(logged).count() > before);
        witness.check(number);
    }
    assert_eq!(witness.client.panes().unwrap().len(), 1);
    witness.end();
}

#[test]
fn an_unknown_request_is_refused_and_the_next_one_is_served() {
    let home = Home::new();
    let _first = home.connect();
    let mut stream = raw::greeted(home.socket());
    stream.write_all(&raw::frame(0x1234, b"whatever")).unwrap();
    assert_eq!(raw::read_refusal(&mut stream), "the request 0x1234 is unknown");
    home.wait_log("\"raw\": the request 0x1234 is unknown");
    stream.write_all(&raw::frame(raw::LIST, b"")).unwrap();
    assert_eq!(raw::read(&mut stream).0, raw::REPLY_PANES);
}

#[test]
fn a_flood_of_descriptors_uses_up_none_of_the_keepers() {
    let home = Home::new();
    let mut witness = Witness::new(&home);
    let keeper = witness.client.keeper().pid;
    let before = descriptors(keeper).len();
    let (end, _other) = std::io::pipe().unwrap();
    let flood: Vec<BorrowedFd<'_>> = vec![end.as_fd(); 253];
    for number in 0..20 {
        let stream = raw::greeted(home.socket());
        let mut space = vec![std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(253))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&flood)));
        let bytes = raw::frame(raw::LIST, b"");
        sendmsg(&stream, &[IoSlice::new(&bytes)], &mut control, SendFlags::empty()).unwrap();
        raw::wait_closed(&mut { stream });
        assert!(descriptors(keeper).len() <= before + 1);
        witness.check(number);
    }
    home.wait_log("it sent descriptors, which no request has");
    witness.end();
}

#[test]
fn silent_clients_keep_no_place_from_others() {
    let home = Home::new();
    let mut witness = Witness::new(&home);
    let silent: Vec<UnixStream> = (0..3 * MAX_CONNECTIONS)
        .map(|number| {
            let mut stream = raw::connect(home.socket());
            // Send half a header.
            stream.write_all(&[1, 0]).unwrap();
            if number % 16 == 0 {
                witness.check(number);
            }
            stream
        })
        .collect();
    assert_eq!(home.connect().panes().unwrap(), [witness.held.key.number]);
    home.wait_log("closed a connection whose client does not greet");
    let keeper = witness.client.keeper().pid;
    assert!(descriptors(keeper).len() < MAX_CONNECTIONS + 16);
    drop(silent);
    witness.end();
}

#[test]
fn a_client_waits_while_too_many_others_wait_for_the_keeper() {
    let home = Home::new();
    let witness = Witness::new(&home);
    let keeper = witness.client.keeper().pid;
    kill(keeper, Signal::STOP);
    let mut waiting = Vec::new();
    while let Some(stream) = raw::connect_at_once(home.socket()) {
        waiting.push(stream);
    }
    let client = thread::scope(|scope| {
        let (thread_id, started) = mpsc::channel();
        let socket = home.socket();
        let client = scope.spawn(move || {
            thread_id.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            Client::connect(socket, "late")
        });
        let task = started.recv().unwrap();
        let task = task.file_name().unwrap().to_str().unwrap().parse().unwrap();
        wait("the wait", || client.is_finished() || state(task) == Some(b'S'));
        kill(keeper, Signal::CONT);
        client.join().unwrap()
    });
    assert_eq!(client.unwrap().panes().unwrap(), [witness.held.key.number]);
    witness.end();
}

#[test]
fn unfinished_messages_use_a_bounded_amount_of_memory() {
    let home = Home::new();
    let mut witness = Witness::new(&home);
    let most = unterm_keeper::MAX_BODY as u32;
    let piece = vec![0; 1 << 20];
    let mut streams = Vec::new();
    for _ in 0..12 {
        let mut stream = raw::greeted(home.socket());
        let header = [most.to_le_bytes().to_vec(), vec![2, 0, 0, 0]].concat();
        let result = stream.write_all(&header).and_then(|()| {
            // Send everything but the last MiB, so that the message stays unfinished.
            (0..3).try_for_each(|_| stream.write_all(&piece))
        });
        streams.push((stream, result));
    }
    home.wait_log("too many messages are unfinished");
    witness.check(1);
    drop(streams);
    witness.end();
}

#[test]
fn a_client_that_does_not_read_delays_no_other() {
    let home = Home::new();
    let mut witness = Witness::new(&home);
    let mut stream = raw::greeted(home.socket());
    stream.set_nonblocking(true).unwrap();
    // Send requests until neither side accepts more.
    let request = raw::frame(raw::LIST, b"");
    while stream.write(&request).is_ok() {}
    witness.check(1);
    drop(stream);
    witness.check(2);
    witness.end();
}

#[test]
fn a_program_whose_owner_never_confirmed_it_is_ended() {
    let home = Home::new();
    let mut witness = Witness::new(&home);
    let mark = home.path().join("mark");
    let mut stream = raw::greeted(home.socket());
    let script = format!("trap '' HUP; echo $$ > {}; sleep 1000; :", mark.display());
    stream.write_all(&raw::start(&script)).unwrap();
    // Reading without space for descriptors closes them.
    assert_eq!(raw::read(&mut stream).0, raw::REPLY_HELD);
    let pid = || std::fs::read_to_string(&mark).ok().and_then(|pid| pid.trim().parse().ok());
    wait("the end of the program", || {
        witness.client.keeper();
        pid().is_none_or(|pid: i32| !runs(pid))
    });
    wait("the end of its pane", || {
        let mut client = home.connect();
        client.panes().unwrap() == [witness.held.key.number]
    });
    witness.check(1);
    witness.end();
}

#[test]
fn another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = Home::new();
    let mut witness = Witness::new(&home);
    const NOBODY: libc::c_long = 65_534;
    let as_nobody = |connect: &(dyn Fn() -> std::io::Result<UnixStream> + Sync)| {
        std::thread::scope(|scope| {
            let connect = scope.spawn(move || {
                // The system call, unlike the C library's function, changes only this thread.
                // SAFETY: it has no memory arguments.
                let result = unsafe { libc::syscall(libc::SYS_setresuid, -1, NOBODY, -1) };
                assert_eq!(result, 0);
                connect()
            });
            connect.join().unwrap()
        })
    };
    let connect = || UnixStream::connect(home.socket());
    // The folder and the socket already keep other users out.
    assert_eq!(as_nobody(&connect).unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
    let open_to_all = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    };
    open_to_all(home.path());
    open_to_all(home.socket());
    let mut stream = as_nobody(&connect).unwrap();
    let _ = stream.write_all(&raw::hello(1, 1));
    raw::wait_closed(&mut stream);
    home.wait_log("belongs to user 65534, not to user 0");
    witness.check(1);
    witness.end();
}

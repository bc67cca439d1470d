use std::{
    io::{Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::*;

/// The kinds of the messages that these tests need, as the keeper's README describes them.
const HELLO: u16 = 1;
const LIST: u16 = 4;
const SUCCEED: u16 = 9;
const REPLY_HELLO: u16 = 0x8001;
const REPLY_PANES: u16 = 0x8003;
const REPLY_DONE: u16 = 0x8005;
const REPLY_REFUSED: u16 = 0x80ff;

/// The code of a request that a keeper does not know.
const UNKNOWN: u64 = 3;
/// A code that no version knows.
const OTHER: u64 = 0xffff;

/// How a keeper answers a request for a successor.
#[derive(Clone, Copy)]
enum Answer {
    Done,
    Refused(u64),
    /// It closes the connection.
    Close,
}

/// A keeper of these tests, which has no panes.
struct TestKeeper {
    folder: tempfile::TempDir,
    answers: Sender<Answer>,
    /// The contents of the requests for a successor, in their order.
    successors: Receiver<Vec<u8>>,
}

impl TestKeeper {
    /// A keeper that answers the requests for a successor one after the other.
    fn new(answers: &[Answer]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("keeper.sock")).unwrap();
        let (to_keeper, next) = channel();
        let (sender, successors) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &next, &sender);
            }
        });
        answers.iter().for_each(|answer| to_keeper.send(*answer).unwrap());
        Self { folder, answers: to_keeper, successors }
    }

    fn client(&self) -> Keeper {
        Keeper::new("/nowhere/unterm-keeper".into(), self.folder.path().join("keeper.sock"))
    }

    /// The number of requests for a successor since the last call.
    fn requests(&self) -> usize {
        self.successors.try_iter().count()
    }
}

/// Serves one connection at a time, until its end.
fn serve(mut stream: UnixStream, answers: &Receiver<Answer>, successors: &Sender<Vec<u8>>) {
    let mut header = [0; 8];
    while stream.read_exact(&mut header).is_ok() {
        let [a, b, c, d, e, f, ..] = header;
        let mut body = vec![0; u32::from_le_bytes([a, b, c, d]) as usize];
        stream.read_exact(&mut body).unwrap();
        let reply = match u16::from_le_bytes([e, f]) {
            HELLO => frame(REPLY_HELLO, &[number(1, 1), number(2, 1)].concat()),
            LIST => frame(REPLY_PANES, &[]),
            SUCCEED => {
                // Record the request before the reply, so that the test finds it after the call.
                successors.send(body).unwrap();
                match answers.recv().unwrap() {
                    Answer::Done => frame(REPLY_DONE, &[]),
                    Answer::Refused(code) => frame(REPLY_REFUSED, &number(1, code)),
                    Answer::Close => return,
                }
            }
            kind => panic!("a request of the kind {kind}"),
        };
        stream.write_all(&reply).unwrap();
    }
}

fn frame(kind: u16, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..], &kind.to_le_bytes(), &[0, 0], body].concat()
}

fn number(tag: u16, number: u64) -> Vec<u8> {
    [&tag.to_le_bytes()[..], &8u32.to_le_bytes(), &number.to_le_bytes()].concat()
}

fn successor(input: &str) -> Successor {
    let program = unterm_keeper::Program {
        file: "/bin/sh".into(),
        cwd: "/".into(),
        ..unterm_keeper::Program::default()
    };
    Successor { program, input: input.into(), takes: Vec::new() }
}

#[test]
fn a_withdrawal_reaches_a_keeper_without_a_connection() {
    let keeper = TestKeeper::new(&[Answer::Done, Answer::Done]);
    let client = keeper.client();
    client.set_successor(successor("a"));
    assert_eq!(keeper.requests(), 0, "the next connection begins with it");
    client.withdraw_successor();
    assert_eq!(keeper.successors.try_iter().collect::<Vec<_>>(), [b""]);
    client.set_successor(successor("b"));
    client.withdraw_successor();
    assert_eq!(keeper.requests(), 0, "it does not change any more");
}

#[test]
fn a_new_connection_repeats_the_withdrawal() {
    let keeper = TestKeeper::new(&[Answer::Done, Answer::Done]);
    let client = keeper.client();
    client.withdraw_successor();
    assert_eq!(keeper.requests(), 1);
    client.state.lock().client = None;
    assert!(client.left().unwrap().is_empty());
    assert_eq!(keeper.successors.try_iter().collect::<Vec<_>>(), [b""]);
}

#[test]
fn a_withdrawal_reaches_the_keeper_that_runs_now() {
    // The first keeper ends while the request is on its way.
    let keeper = TestKeeper::new(&[Answer::Done, Answer::Close, Answer::Done]);
    let client = keeper.client();
    client.set_successor(successor("a"));
    client.left().unwrap();
    assert_eq!(keeper.requests(), 1);
    client.withdraw_successor();
    assert_eq!(keeper.successors.try_iter().collect::<Vec<_>>(), [b"", b""]);
    assert!(client.state.lock().is_successor_known);
}

#[test]
fn a_withdrawal_without_a_keeper_delays_no_later_start() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = Keeper::new("/nowhere/keeper".into(), folder.path().join("keeper.sock"));
    keeper.withdraw_successor();
    assert!(keeper.state.lock().retry_at.is_none());
}

#[test]
fn a_successor_that_failed_is_sent_again() {
    let keeper = TestKeeper::new(&[Answer::Refused(OTHER), Answer::Done]);
    let client = keeper.client();
    client.left().unwrap();
    client.set_successor(successor("a"));
    client.set_successor(successor("a"));
    assert_eq!(keeper.requests(), 2);
    client.set_successor(successor("a"));
    assert_eq!(keeper.requests(), 0, "the keeper knows it");
    keeper.answers.send(Answer::Done).unwrap();
    client.set_successor(successor("b"));
    assert_eq!(keeper.requests(), 1);
}

#[test]
fn an_old_keeper_is_asked_once_a_connection() {
    let keeper = TestKeeper::new(&[Answer::Refused(UNKNOWN), Answer::Done]);
    let client = keeper.client();
    client.left().unwrap();
    for input in ["a", "b", "c"] {
        client.set_successor(successor(input));
    }
    assert_eq!(keeper.requests(), 1);
    assert!(client.state.lock().has_warned_of_successor);
    // Another keeper may be newer, so send the successor again.
    client.state.lock().client = None;
    client.left().unwrap();
    assert_eq!(keeper.requests(), 1);
    assert!(client.state.lock().is_successor_known);
}

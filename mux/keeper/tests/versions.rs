//! Keepers and clients of different versions.

use std::{io::Write as _, os::unix::net::UnixListener};

use unterm_keeper::{Client, Error, NEWEST, OLDEST, Refusal};

use crate::common::{Home, raw};

#[test]
fn the_keeper_accepts_newer_clients_with_its_version() {
    let home = Home::new();
    let _first = home.connect();
    for (oldest, newest) in [(1, 1), (0, 1), (1, 900)] {
        let mut stream = raw::connect(home.socket());
        stream.write_all(&raw::hello(oldest, newest)).unwrap();
        assert_eq!(raw::read(&mut stream).0, raw::REPLY_HELLO, "{oldest} to {newest}");
        stream.write_all(&raw::frame(raw::LIST, b"")).unwrap();
        assert_eq!(raw::read(&mut stream).0, raw::REPLY_PANES);
    }
    for (oldest, newest) in [(2, 900), (0, 0), (9, 1)] {
        let mut stream = raw::connect(home.socket());
        stream.write_all(&raw::hello(oldest, newest)).unwrap();
        let text = raw::read_refusal(&mut stream);
        let expected = format!(
            "the keeper speaks the versions {OLDEST} to {NEWEST} of the protocol, and \"raw\" speaks {oldest} to {newest}"
        );
        assert_eq!(text, expected);
        raw::wait_closed(&mut stream);
    }
}

/// A keeper that answers every greeting with a message.
fn answer(reply: Vec<u8>) -> Result<(), Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            assert_eq!(raw::read(&mut stream).0, raw::HELLO);
            stream.write_all(&reply).unwrap();
        });
        Client::connect(&path, "test").map(|_| ())
    })
}

fn greeting(oldest: u64, newest: u64) -> Vec<u8> {
    let body = [raw::number(1, oldest), raw::number(2, newest), raw::field(77, b"new")];
    raw::frame(raw::REPLY_HELLO, &body.concat())
}

#[test]
fn a_client_refuses_keepers_without_a_common_version() {
    answer(greeting(1, 1)).unwrap();
    answer(greeting(0, 900)).unwrap();
    for (oldest, newest) in [(2, 900), (0, 0)] {
        let error = answer(greeting(oldest, newest)).unwrap_err().to_string();
        let expected = format!(
            "the keeper speaks the versions {oldest} to {newest} of its protocol, not {OLDEST} to {NEWEST}"
        );
        assert_eq!(error, expected);
    }
    let refusal = [raw::number(1, 1), raw::field(2, b"too new")].concat();
    match answer(raw::frame(raw::REPLY_REFUSED, &refusal)) {
        Err(Error::Refused(Refusal::Version, text)) => assert_eq!(text, "too new"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_keeper_without_successors_only_refuses_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let refusal = [raw::number(1, 3), raw::field(2, b"unknown")].concat();
            for (kind, reply) in [
                (raw::HELLO, greeting(1, 1)),
                (raw::SUCCEED, raw::frame(raw::REPLY_REFUSED, &refusal)),
                (raw::LIST, raw::frame(raw::REPLY_PANES, &raw::field(5, b""))),
            ] {
                assert_eq!(raw::read(&mut stream).0, kind);
                stream.write_all(&reply).unwrap();
            }
        });
        let mut client = Client::connect(&path, "test").unwrap();
        match client.set_successor(None) {
            Err(Error::Refused(Refusal::UnknownRequest, text)) => assert_eq!(text, "unknown"),
            other => panic!("{other:?}"),
        }
        assert!(client.is_usable());
        assert_eq!(client.panes().unwrap(), []);
    });
}

#[test]
fn a_client_refuses_answers_that_are_not_valid() {
    let broken = |reply| match answer(reply) {
        Err(Error::Broken(broken)) => broken.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(broken(raw::frame(0x9999, b"")), "a reply of the unknown kind 0x9999");
    let other = raw::frame(raw::REPLY_PANES, b"");
    assert_eq!(broken(other), "a reply of the kind 0x8003 to another request");
    let mut long = vec![0xff; 4];
    long.extend_from_slice(&[1, 0, 0, 0]);
    assert_eq!(broken(long), "a message of 4294967295 bytes is longer than 4194304");
    let mut with_descriptors = greeting(1, 1);
    with_descriptors[6] = 2;
    assert_eq!(broken(with_descriptors), "0 descriptors came with a message, not 2");
    assert!(matches!(answer(Vec::new()), Err(Error::Ended)));
    assert!(matches!(answer(greeting(1, 1)[..10].to_vec()), Err(Error::Ended)));
}

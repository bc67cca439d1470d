use std::{io, sync::Arc, sync::mpsc, thread};

use super::*;

#[test]
fn pieces_keep_their_order_and_partial_writes_lose_nothing() {
    let queue = Arc::new(WriteQueue::default());
    let mut expected = Vec::new();
    for number in 0..1000 {
        let piece = format!("{number},").into_bytes();
        queue.push(&piece).unwrap();
        expected.extend(piece);
    }
    let mut got = Vec::new();
    let total = expected.len();
    queue.run(
        |_| {},
        |bytes| {
            if got.len() == total {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let count = bytes.len().min(7);
            got.extend_from_slice(&bytes[..count]);
            if got.len() == total {
                queue.close();
            }
            Ok(count)
        },
    );
    assert_eq!(got, expected);
}

#[test]
fn a_full_queue_refuses_whole_pieces_until_the_program_reads() {
    let queue = Arc::new(WriteQueue::default());
    queue.push(&vec![b'a'; WRITE_CAPACITY - 1]).unwrap();
    assert_eq!(queue.push(b"bc"), Err(WriteError::Full { queued: WRITE_CAPACITY - 1 }));
    queue.push(b"b").unwrap();
    assert_eq!(queue.push(b"c"), Err(WriteError::Full { queued: WRITE_CAPACITY }));
    // Bytes that the writer is writing count as queued until the program has received them.
    let (said, heard) = mpsc::channel();
    let (allow, allowed) = mpsc::channel::<()>();
    let writer = queue.clone();
    let thread = thread::spawn(move || {
        writer.run(
            |_| {},
            |bytes| {
                said.send(bytes.len()).unwrap();
                allowed.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
                Ok(bytes.len())
            },
        );
    });
    assert_eq!(heard.recv(), Ok(WRITE_CAPACITY));
    assert_eq!(queue.push(b"c"), Err(WriteError::Full { queued: WRITE_CAPACITY }));
    allow.send(()).unwrap();
    while queue.push(b"c").is_err() {
        thread::yield_now();
    }
    assert_eq!(heard.recv(), Ok(1));
    queue.close();
    allow.send(()).unwrap();
    thread.join().unwrap();
    assert_eq!(queue.push(b"d"), Err(WriteError::Ended));
}

#[test]
fn a_piece_longer_than_the_queue_is_taken_when_nothing_waits() {
    let queue = WriteQueue::default();
    queue.push(&vec![0; 3 * WRITE_CAPACITY]).unwrap();
    assert!(queue.push(b"x").is_err());
}

#[test]
fn output_written_at_once_is_reported_once_in_order() {
    let queue = WriteQueue::default();
    let (told, taken) = (std::cell::RefCell::new(Vec::new()), std::cell::RefCell::new(vec![]));
    let tell = |bytes: &[u8]| told.borrow_mut().extend_from_slice(bytes);
    let take = |bytes: &[u8], count: usize| {
        taken.borrow_mut().extend_from_slice(&bytes[..count]);
        count
    };
    queue.push_input(b"ab", None, true, false, tell, |bytes| take(bytes, 2)).unwrap();
    assert_eq!(*taken.borrow(), b"ab");
    // Another input is queued while `write` handles a part of this one.
    let during = |bytes: &[u8]| {
        queue.push(b"ef").unwrap();
        take(bytes, 1)
    };
    queue.push_input(b"cd", None, true, false, tell, during).unwrap();
    // Bytes are waiting now, so a new input is queued after them instead of being written at once.
    queue.push_input(b"gh", None, true, false, tell, |_| panic!("not its turn")).unwrap();
    queue.run(tell, |bytes| {
        let count = take(bytes, bytes.len().min(2));
        if taken.borrow().len() == 8 {
            queue.close();
        }
        Ok(count)
    });
    assert_eq!(*taken.borrow(), b"abcdefgh");
    assert_eq!(*told.borrow(), b"abcdefgh");
}

#[test]
fn input_that_must_come_first_is_refused_after_other_input() {
    let queue = WriteQueue::default();
    let behind = |so_far| {
        let never = |_: &[u8]| panic!("not at once");
        queue.push_input(b"x", Some(so_far), false, false, |_| {}, never).unwrap()
    };
    let (before, typed) = queue.so_far();
    assert_eq!(typed, None);
    assert!(behind(before));
    assert!(!behind(before));
    let (before, typed) = queue.so_far();
    assert_eq!(typed.as_deref(), Some("x"));
    let admit = |_: &Composed| Ok::<_, ()>(());
    queue.push_admitted(b"y", false, admit).unwrap().unwrap();
    assert!(!behind(before));
    // Replies of the terminal do not count as input.
    let (before, _) = queue.so_far();
    queue.push(b"\x1b[0n").unwrap();
    assert!(behind(before));
}

#[test]
fn the_program_gets_echoed_input_once_it_is_shown() {
    let queue = Arc::new(WriteQueue::default());
    let (written, got) = mpsc::channel();
    let writer = queue.clone();
    let thread = thread::spawn(move || {
        writer.run(
            |_| {},
            |bytes| {
                written.send(bytes.to_vec()).unwrap();
                Ok(bytes.len())
            },
        );
    });
    let admit = |_: &Composed| Ok::<_, ()>(());
    queue.push_admitted(b"ab", true, admit).unwrap().unwrap();
    queue.push_admitted(b"cd", true, admit).unwrap().unwrap();
    queue.push(b"ef").unwrap();
    let shown = std::cell::RefCell::new(Vec::new());
    let show = |_: &mut Parser, bytes: &[u8]| {
        assert!(got.try_recv().is_err(), "the writer waits for this");
        // `show` runs without a lock, so input that is queued meanwhile is shown as well.
        if shown.borrow().is_empty() {
            queue.push_admitted(b"gh", true, admit).unwrap().unwrap();
        }
        shown.borrow_mut().extend_from_slice(bytes);
    };
    queue.echo(show, |()| {});
    assert_eq!(*shown.borrow(), b"abcdgh");
    let mut all = Vec::new();
    while all.len() < 8 {
        all.extend(got.recv().unwrap());
    }
    assert_eq!(all, b"abcdefgh");
    queue.close();
    thread.join().unwrap();
}

#[test]
fn queued_echoed_input_waits_until_another_thread_shows_it() {
    let queue = WriteQueue::default();
    let admit = |_: &Composed| Ok::<_, ()>(());
    queue.push_admitted(b"a", true, admit).unwrap().unwrap();
    let (began, begun) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let is_shown = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let (queue, is_shown) = (&queue, &is_shown);
        scope.spawn(move || {
            let show = |_: &mut Parser, _: &[u8]| {
                began.send(()).unwrap();
                goes.recv().unwrap();
                is_shown.store(true, Ordering::Release);
            };
            queue.echo(show, |()| {});
        });
        begun.recv().unwrap();
        let waits = scope.spawn(move || {
            queue.echo(|_, _| panic!("it is being shown"), |()| {});
            assert!(is_shown.load(Ordering::Acquire));
        });
        go.send(()).unwrap();
        waits.join().unwrap();
    });
}

#[test]
fn a_released_queue_keeps_unread_input() {
    let queue = Arc::new(WriteQueue::default());
    let (began, begun) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let writer = queue.clone();
    let thread = thread::spawn(move || {
        let mut has_written = false;
        writer.run(
            |_| {},
            |_| {
                if std::mem::replace(&mut has_written, true) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                began.send(()).unwrap();
                goes.recv().unwrap();
                Ok(2)
            },
        );
    });
    let admit = |_: &Composed| Ok::<_, ()>(());
    queue.push_admitted(b"abcd\rls", false, admit).unwrap().unwrap();
    begun.recv().unwrap();
    queue.release();
    assert_eq!(queue.push_admitted(b"x", false, admit), Ok(Err(WriteError::Ended)));
    // The terminal replies to output that the reader is still applying.
    queue.push(b"\x1b[0n").unwrap();
    go.send(()).unwrap();
    thread.join().unwrap();
    let (before, _) = queue.so_far();
    let next = WriteQueue::resumed(queue.take_unsent());
    assert_eq!(next.so_far(), (before, Some("ls".to_owned())));
    let mut taken = Vec::new();
    next.run(
        |_| {},
        |bytes| {
            taken.extend_from_slice(bytes);
            next.close();
            Ok(bytes.len())
        },
    );
    assert_eq!(taken, b"cd\rls\x1b[0n");
}

#[test]
fn closing_ends_an_idle_writer() {
    let queue = Arc::new(WriteQueue::default());
    let writer = queue.clone();
    let thread = thread::spawn(move || writer.run(|_| {}, |bytes| Ok(bytes.len())));
    queue.close();
    thread.join().unwrap();
}

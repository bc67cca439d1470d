use std::{fs::File, io::Write as _, os::fd::FromRawFd as _};

use rustix::io::pwrite;

use super::{layout::HEADER, *};

/// A journal and the keeper's duplicate of it.
fn new() -> (Journal, OwnedFd) {
    let keeper = create().unwrap();
    let (journal, recovered) = Journal::open(keeper.try_clone().unwrap()).unwrap();
    assert_eq!(recovered, Recovered::default());
    (journal, keeper)
}

/// The contents of the journal, as the next owner reads them.
fn reopened(keeper: &OwnedFd) -> Recovered {
    Journal::open(keeper.try_clone().unwrap()).unwrap().1
}

/// Reads `output` into the journal.
fn read(journal: &Journal, output: &[u8]) {
    let (from, mut to) = io::pipe().unwrap();
    for piece in output.chunks(4096) {
        to.write_all(piece).unwrap();
        let mut buffer = [1; PIECE];
        assert_eq!(journal.read(&from, &mut buffer), Ok(piece.len()));
        assert_eq!(&buffer[..piece.len()], piece);
    }
}

fn apply(journal: &Journal, output: &[u8]) {
    read(journal, output);
    journal.applied(output.len());
    journal.answered();
}

fn header(keeper: &OwnedFd) -> layout::Header {
    let mut bytes = [0; HEADER];
    rustix::io::pread(keeper, &mut bytes, 0).unwrap();
    layout::Header::from_bytes(&bytes).unwrap()
}

/// Writes output like a read that the system has finished and whose process was killed before it noticed.
fn interrupt(keeper: &OwnedFd, output: &[u8]) {
    let header = header(keeper);
    let at = layout::log(header.slot()) + header.log_len();
    assert_eq!(pwrite(keeper, output, at as u64), Ok(output.len()));
}

#[test]
fn the_next_owner_gets_the_state_of_the_previous_owner() {
    let (journal, keeper) = new();
    journal.mark(1, 80);
    apply(&journal, b"one");
    journal.mark(2, 5);
    read(&journal, b"two");
    journal.applied(2);
    journal.mark(2, 6);
    let recovered = Recovered {
        screen: Vec::new(),
        output: b"onetwo".to_vec(),
        marks: [(0, 1, 80), (3, 2, 5), (5, 2, 6)]
            .map(|(position, kind, value)| Mark { position, kind, value })
            .to_vec(),
        answered: 3,
        applied: 5,
        input: Vec::new(),
    };
    assert_eq!(reopened(&keeper), recovered);
    // Opening changes nothing.
    assert_eq!(reopened(&keeper), recovered);
}

#[test]
fn a_checkpoint_replaces_what_came_before() {
    let (journal, keeper) = new();
    for round in 0..5u8 {
        apply(&journal, &[b'a' + round; 20_000]);
        read(&journal, b"x");
        // Output that was not applied is not part of the terminal.
        assert!(!journal.checkpoint(b"screen", &[]));
        journal.applied(1);
        let screen = vec![b'A' + round; 5000 + usize::from(round)];
        assert!(journal.checkpoint(&screen, &[(1, u64::from(round))]));
        if round % 2 == 0 {
            journal.free();
        }
        assert_eq!(reopened(&keeper).output, b"");
        read(&journal, b"since");
        let recovered = reopened(&keeper);
        assert_eq!((&recovered.screen, &*recovered.output), (&screen, &b"since"[..]));
        let mark = Mark { position: 0, kind: 1, value: round.into() };
        assert_eq!((recovered.marks, recovered.applied), (vec![mark], 0));
        journal.applied(5);
    }
}

#[test]
fn the_output_of_an_interrupted_read_is_found() {
    let (journal, keeper) = new();
    apply(&journal, b"before ");
    interrupt(&keeper, b"read");
    assert_eq!(reopened(&keeper).output, b"before read");
    // The next owner continues after the output of the interrupted read. Without a new read, there is nothing more to
    // find.
    let (next, recovered) = Journal::open(keeper.try_clone().unwrap()).unwrap();
    assert_eq!((recovered.answered, recovered.applied), (7, 7));
    next.applied(4);
    apply(&next, b" after");
    assert_eq!(reopened(&keeper).output, b"before read after");
    interrupt(&keeper, &[b'x'; PIECE]);
    assert_eq!(reopened(&keeper).output.len(), 17 + PIECE);
}

#[test]
fn old_output_is_never_taken_for_an_interrupted_read() {
    let (journal, keeper) = new();
    let mut random = 1u64;
    // The logs of both slots are used again and again, with lengths that differ.
    for round in 0..200 {
        let mut expected = Vec::new();
        let pieces = random % 7;
        for _ in 0..pieces {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            let piece = vec![b'a' + (random >> 40) as u8 % 26; 1 + (random >> 33) as usize % PIECE];
            apply(&journal, &piece);
            expected.extend_from_slice(&piece);
            assert_eq!(header(&keeper).log_len(), expected.len());
            let at = layout::log(header(&keeper).slot()) + expected.len();
            let mut after = vec![1; PIECE];
            rustix::io::pread(&keeper, &mut after, at as u64).unwrap();
            assert!(after.iter().all(|byte| *byte == 0), "round {round}");
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        assert_eq!(reopened(&keeper).output, expected);
        assert!(journal.checkpoint(&[b'S'; 100], &[]));
    }
}

#[test]
fn checkpoints_become_due_with_output_marks_and_other_changes() {
    let (journal, _keeper) = new();
    assert_eq!((journal.due(false), journal.due(true)), (Due::No, Due::No));
    apply(&journal, &[b'x'; 300 << 10]);
    assert_eq!((journal.due(false), journal.due(true)), (Due::No, Due::Soon));
    apply(&journal, &[b'x'; 4 << 20]);
    assert_eq!(journal.due(false), Due::Soon);
    // The log must be a multiple of the checkpoint.
    assert!(journal.checkpoint(&vec![b's'; 1 << 20], &[]));
    apply(&journal, &[b'x'; 5 << 20]);
    assert_eq!((journal.due(false), journal.due(true)), (Due::No, Due::Soon));
    journal.set_stale();
    assert_eq!(journal.due(false), Due::Soon);
    assert!(journal.checkpoint(b"", &[]));
    assert_eq!(journal.due(false), Due::No);
    for value in 0..2 * MAX_MARKS as u64 {
        journal.mark(1, value);
    }
    assert_eq!(journal.due(false), Due::Soon);
    assert!(!journal.checkpoint(&vec![0; MAX_CHECKPOINT + 1], &[]));
}

#[test]
fn an_owner_can_inspect_what_the_next_one_would_find() {
    let (journal, keeper) = new();
    apply(&journal, b"before");
    assert!(journal.checkpoint(b"screen", &[(1, 2)]));
    read(&journal, b"after");
    let found = journal.inspect().unwrap();
    assert_eq!((&*found.screen, &*found.output, found.applied), (&b"screen"[..], &b"after"[..], 0));
    assert_eq!(reopened(&keeper), found);
    pwrite(&keeper, b"X", layout::checkpoint(1) as u64).unwrap();
    assert!(journal.inspect().is_err());
}

#[test]
fn memory_is_given_back_after_a_checkpoint() {
    let (journal, keeper) = new();
    let kib = || rustix::fs::fstat(&keeper).unwrap().st_blocks / 2;
    for _ in 0..3 {
        apply(&journal, &[b'x'; 4 << 20]);
        assert!(kib() > 4000, "{}", kib());
        assert!(journal.checkpoint(&[b's'; 100 << 10], &[]));
        journal.free();
        assert!(kib() < 400, "{}", kib());
        read(&journal, b"since");
        assert_eq!(reopened(&keeper).output, b"since");
        journal.applied(5);
    }
}

#[test]
fn input_waits_for_the_next_owner_once() {
    let (journal, keeper) = new();
    // Also in a journal that contains nothing else.
    assert!(journal.leave_input(b"first"));
    let (journal, recovered) = Journal::open(keeper.try_clone().unwrap()).unwrap();
    assert_eq!((&*recovered.input, &*recovered.output), (&b"first"[..], &b""[..]));
    assert_eq!(reopened(&keeper).input, b"");
    apply(&journal, b"one");
    assert!(journal.checkpoint(b"screen", &[]));
    apply(&journal, b"two");
    let long = vec![b'i'; 2 << 20];
    assert!(journal.leave_input(&long));
    // Output that the keeper reads afterward does not change it.
    interrupt(&keeper, b"three");
    Drain::new(&keeper).unwrap();
    let recovered = reopened(&keeper);
    assert_eq!((&*recovered.screen, &*recovered.output), (&b"screen"[..], &b"twothree"[..]));
    assert!(recovered.input == long);
}

#[test]
fn input_of_an_owner_that_continued_is_not_sent() {
    // An owner that does not know such input has continued the journal.
    for continues in [
        |it: &Journal| apply(it, b"more"),
        |it: &Journal| {
            assert!(it.checkpoint(b"screen", &[]));
        },
    ] {
        let (journal, keeper) = new();
        apply(&journal, b"output");
        assert!(journal.leave_input(b"input"));
        continues(&journal);
        assert_eq!(reopened(&keeper).input, b"");
    }
    let (journal, keeper) = new();
    assert!(journal.leave_input(b"input"));
    pwrite(&keeper, b"X", layout::checkpoint(1) as u64).unwrap();
    assert_eq!(reopened(&keeper).input, b"", "the checksum is wrong");
}

#[test]
fn a_full_journal_is_given_up_and_output_is_still_read() {
    let (journal, keeper) = new();
    let piece = [b'x'; 64 << 10];
    for _ in 0..MAX_LOG / piece.len() {
        apply(&journal, &piece);
    }
    assert_eq!(journal.due(false), Due::Now);
    assert_eq!(reopened_error(&keeper), None);
    read(&journal, b"more");
    let text = reopened_error(&keeper).unwrap();
    assert_eq!(text, "its layout has the version 0, not 1");
}

fn reopened_error(keeper: &OwnedFd) -> Option<String> {
    let opened = Journal::open(keeper.try_clone().unwrap());
    opened.err().map(|error| error.to_string())
}

#[test]
fn a_damaged_journal_is_refused_and_stays_refused() {
    let number = |value: u64| value.to_ne_bytes().to_vec();
    let slot = layout::at::slot(1);
    let damages: [(usize, Vec<u8>, &str); 10] = [
        (layout::at::MAGIC, number(0), "it is no journal"),
        (layout::at::VERSION, number(2), "its layout has the version 2, not 1"),
        (layout::at::GENERATION, number(2), "it has no checkpoint"),
        (layout::at::COMMITTED, number(u64::MAX), "its positions contradict each other"),
        (layout::at::COMMITTED, number(1), "its positions contradict each other"),
        (layout::at::APPLIED, number(99), "its positions contradict each other"),
        (slot + layout::at::LENGTH, number(u64::MAX), "it has a checkpoint of"),
        (slot + layout::at::MARKS, number(4097), "it has a checkpoint of 6 bytes and 4097 marks"),
        (layout::checkpoint(1) + 3, b"X".to_vec(), "the checksum of its checkpoint is wrong"),
        (layout::marks(1), number(99), "its mark 0 has a wrong position"),
    ];
    for (at, bytes, expected) in damages {
        let (journal, keeper) = new();
        apply(&journal, b"before");
        assert!(journal.checkpoint(b"screen", &[(1, 1)]));
        apply(&journal, b"after");
        pwrite(&keeper, &bytes, at as u64).unwrap();
        let text = reopened_error(&keeper).unwrap();
        assert!(text.starts_with(expected), "{text}");
        // The next owner reads output that the journal misses.
        assert!(reopened_error(&keeper).is_some());
        if at < HEADER {
            assert!(Drain::new(&keeper).is_err());
        }
    }
}

#[test]
fn random_damage_is_refused_or_read_and_never_more() {
    let mut random = 7u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
        (random >> 33) % below
    };
    let mut refused = 0;
    for _ in 0..300 {
        let (journal, keeper) = new();
        apply(&journal, b"before");
        journal.checkpoint(b"screen", &[(1, 1)]);
        apply(&journal, b"after");
        journal.mark(1, 2);
        let at = [8 * next(6), 128 + 8 * next(32), layout::marks(1) as u64 + 8 * next(6)];
        let value = [0, 1, next(1 << 20), u64::MAX - next(9), 1 << next(64)][next(5) as usize];
        pwrite(&keeper, &value.to_ne_bytes(), at[next(3) as usize]).unwrap();
        let drained = Drain::new(&keeper).is_ok();
        match Journal::open(keeper.try_clone().unwrap()) {
            Ok((next, recovered)) => {
                assert!(drained && recovered.output.len() <= MAX_LOG);
                apply(&next, b"more");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn memory_that_another_process_could_shorten_is_refused() {
    let refused = |fd: OwnedFd, expected: &str| {
        let text = Journal::open(fd.try_clone().unwrap()).unwrap_err().to_string();
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(Drain::new(&fd).unwrap_err().to_string(), text);
    };
    let memory = |flags| {
        let fd = memfd_create("test", flags).unwrap();
        ftruncate(&fd, layout::SIZE as u64).unwrap();
        pwrite(&fd, &layout::Header::new().to_bytes(), 0).unwrap();
        fd
    };
    let sealable = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    refused(memory(MemfdFlags::CLOEXEC), "its size is not sealed");
    refused(memory(sealable), "its size is not sealed");
    let grows = memory(sealable);
    fcntl_add_seals(&grows, SealFlags::SHRINK).unwrap();
    refused(grows, "its size is not sealed");
    let short = memfd_create("test", sealable).unwrap();
    fcntl_add_seals(&short, SEALS).unwrap();
    refused(short, "it has 0 bytes, not ");
    let file = tempfile::tempfile().unwrap();
    file.set_len(layout::SIZE as u64).unwrap();
    assert!(Journal::open(file.into()).is_err());
    let (end, _other) = io::pipe().unwrap();
    assert!(Journal::open(end.into()).is_err());
    // Without a right to write, a journal cannot be continued.
    let read_only = memory(sealable);
    fcntl_add_seals(&read_only, SEALS | SealFlags::WRITE).unwrap();
    assert!(Journal::open(read_only).is_err());
    // Nobody can change the size of a journal of the keeper.
    let journal = create().unwrap();
    assert!(ftruncate(&journal, 0).is_err());
    assert!(ftruncate(&journal, 2 * layout::SIZE as u64).is_err());
    assert!(fcntl_add_seals(&journal, SealFlags::WRITE).is_err());
}

#[test]
fn the_next_owner_continues_the_output_that_the_keeper_kept() {
    let (journal, keeper) = new();
    apply(&journal, b"owner ");
    interrupt(&keeper, b"cut ");
    let mut drain = Drain::new(&keeper).unwrap();
    let (from, mut to) = io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&from, true).unwrap();
    drain.step(&from, &keeper).unwrap();
    to.write_all(b"keeper ").unwrap();
    drain.step(&from, &keeper).unwrap();
    assert!(drain.has_room());
    let (next, recovered) = Journal::open(keeper.try_clone().unwrap()).unwrap();
    assert_eq!(recovered.output, b"owner cut keeper ");
    assert_eq!((recovered.answered, recovered.applied), (6, 6));
    next.applied(11);
    apply(&next, b"next");
    assert_eq!(reopened(&keeper).output, b"owner cut keeper next");
    // After the last writer, no more output can come.
    let mut drain = Drain::new(&keeper).unwrap();
    drop(to);
    drain.step(&from, &keeper).unwrap();
    assert!(!drain.has_room());
}

#[test]
fn the_keeper_reads_a_bounded_amount_of_output() {
    let (journal, keeper) = new();
    apply(&journal, b"owner");
    let mut drain = Drain::new(&keeper).unwrap();
    // SAFETY: the descriptor is new, and belongs to nothing else.
    let zero = unsafe { File::from_raw_fd(libc::open(c"/dev/zero".as_ptr(), libc::O_RDONLY)) };
    let mut steps = 0;
    while drain.has_room() {
        drain.step(&zero, &keeper).unwrap();
        steps += 1;
    }
    assert_eq!(steps, (16 << 20) / PIECE);
    assert_eq!(reopened(&keeper).output.len(), 5 + (16 << 20));
}

#[test]
fn without_memory_output_is_read_and_the_journal_is_refused() {
    let (journal, keeper) = new();
    apply(&journal, b"before");
    journal.exhaust_memory();
    // `read` compares the output.
    for _ in 0..200 {
        read(&journal, &[b'x'; 4096]);
    }
    let refused = Journal::open(keeper.try_clone().unwrap()).map(drop);
    assert!(refused.is_err(), "output is missing");
    assert_eq!(journal.due(true), Due::No);
}

#[test]
fn without_memory_a_checkpoint_and_a_mark_are_refused() {
    let (journal, keeper) = new();
    apply(&journal, b"before");
    journal.exhaust_memory();
    assert!(!journal.checkpoint(b"screen", &[(1, 80)]));
    assert!(Journal::open(keeper.try_clone().unwrap()).is_err(), "a checkpoint is half written");
    let (journal, keeper) = new();
    journal.exhaust_memory();
    journal.mark(1, 80);
    assert!(Journal::open(keeper.try_clone().unwrap()).is_err(), "a mark is missing");
}

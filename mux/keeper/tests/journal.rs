//! Journals: output that the keeper reads while a pane has no owner, and journals that a broken owner leaves behind.

use std::{
    io::Write as _,
    os::fd::{AsFd as _, OwnedFd},
};

use unterm_keeper::{Client, Held, Journal, Start};

use crate::common::{Home, pid, raw, runs, sh, wait, wait_end, wait_readable, write};

fn journaled(script: &str) -> Start {
    Start { has_journal: true, ..sh(script) }
}

/// Reads output into the journal until it contains `text`.
fn read_until(held: &Held, journal: &Journal, text: &str) {
    let (mut buffer, mut output) = ([0; 4096], String::new());
    while !output.contains(text) {
        wait_readable(&held.master);
        let count = journal.read(&held.master, &mut buffer).unwrap();
        output.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

fn open(held: &mut Held) -> Journal {
    Journal::open(held.journal.take().unwrap()).unwrap().0
}

fn output(client: &mut Client, number: u64) -> (Held, String) {
    let mut held = client.take(number).unwrap();
    let (_journal, recovered) = Journal::open(held.journal.take().unwrap()).unwrap();
    (held, String::from_utf8(recovered.output).unwrap())
}

#[test]
fn the_keeper_reads_output_while_a_pane_has_no_owner() {
    let home = Home::new();
    let mark = home.path().join("mark");
    let mut client = home.connect();
    // The output is longer than the kernel's buffer.
    let script = format!(
        "stty -echo; echo first; read line; seq 1 30000; echo done > {}; read line; exit 5",
        mark.display()
    );
    let mut held = client.start(journaled(&script)).unwrap();
    let journal = open(&mut held);
    read_until(&held, &journal, "first");
    let number = held.key.number;
    write(&held, "\r");
    drop((journal, held));
    wait("the end of the output", || mark.exists());
    let (held, found) = output(&mut client, number);
    let lines: Vec<&str> = found.split("\r\n").collect();
    assert_eq!(lines[0], "first");
    let last = lines.iter().rposition(|line| !line.is_empty()).unwrap();
    // The journal contains everything that the program has printed, except what the kernel's buffer still contains.
    assert!(last > 10_000, "{last}");
    assert!(lines[1..last].iter().enumerate().all(|(at, line)| *line == (at + 1).to_string()));
    write(&held, "\r");
    assert_eq!(wait_end(&held).how, Ok(5));
}

#[test]
fn a_client_gets_a_journal_only_if_it_asks() {
    let home = Home::new();
    let mut client = home.connect();
    let held = client.start(sh("read line")).unwrap();
    assert!(held.journal.is_none());
    let held = client.start(journaled("echo ready; read line")).unwrap();
    assert!(held.journal.is_some());
    let number = held.key.number;
    drop(held);
    home.wait_log(&format!("left pane {number}"));
    // A client that does not know journals takes the pane, and reads output that the journal then misses.
    let mut stream = raw::greeted(home.socket());
    stream.write_all(&raw::frame(raw::TAKE, &raw::number(1, number))).unwrap();
    assert_eq!(raw::read(&mut stream).0, raw::REPLY_HELD);
    home.wait_log(&format!("\"raw\" took pane {number}"));
    drop(stream);
    wait("the pane", || home.connect().take(number).is_ok_and(|held| held.journal.is_none()));
}

#[test]
fn a_damaged_journal_is_logged_and_harms_no_other_pane() {
    let home = Home::new();
    let mut client = home.connect();
    let mut witness = client.start(journaled("stty -echo; echo ready; read line; exit 3")).unwrap();
    let journal = open(&mut witness);
    read_until(&witness, &journal, "ready");
    for (number, (at, value)) in [(8, 99u64), (24, u64::MAX), (0, 0)].into_iter().enumerate() {
        let held = client.start(journaled("stty -echo; echo ready; read line; exit 4")).unwrap();
        let memory: &OwnedFd = held.journal.as_ref().unwrap();
        assert_eq!(rustix::io::pwrite(memory.as_fd(), &value.to_ne_bytes(), at), Ok(8));
        let (pane, process) = (held.key.number, pid(&held));
        drop(held);
        home.wait_log(&format!("pane {pane}: the journal cannot be used: "));
        assert!(runs(process), "{number}");
        let held = client.take(pane).unwrap();
        assert!(held.journal.is_none());
        write(&held, "\r");
        assert_eq!(wait_end(&held).how, Ok(4));
    }
    let number = witness.key.number;
    drop((journal, witness));
    let (witness, found) = output(&mut client, number);
    assert_eq!(found, "ready\r\n");
    write(&witness, "\r");
    assert_eq!(wait_end(&witness).how, Ok(3));
}

#[test]
fn a_program_that_prints_too_much_waits_for_its_next_owner() {
    let home = Home::new();
    let mut client = home.connect();
    let script = "stty -echo -opost; echo ready; read line; exec yes 0123456789abcde";
    let mut held = client.start(journaled(script)).unwrap();
    let memory = held.journal.as_ref().unwrap().try_clone().unwrap();
    let journal = open(&mut held);
    read_until(&held, &journal, "ready");
    let (number, process) = (held.key.number, pid(&held));
    write(&held, "\r");
    drop((journal, held));
    // The position up to which the keeper has read.
    let committed = || {
        let mut bytes = [0; 8];
        rustix::io::pread(&memory, &mut bytes, 24).unwrap();
        u64::from_ne_bytes(bytes) as usize
    };
    wait("16 MiB of output", || committed() >= 16 << 20);
    wait("the program to wait", || crate::common::state(process) == Some(b'S'));
    assert!(committed() <= (16 << 20) + 100, "{}", committed());
    let (held, found) = output(&mut client, number);
    assert_eq!(found.len(), committed());
    assert!(found.starts_with("ready\n0123456789abcde\n"));
    drop(held);
    // A new owner starts a new allowance, and the end of the pane ends the program.
    let held = client.take(number).unwrap();
    client.close(held.key).unwrap();
    drop(held);
    wait("the end of the program", || !runs(process));
}

//! Checks that closed panes leave no thread, file descriptor or process. This test has its own file, and so its own
//! process, because it counts the threads and descriptors of the process.

mod common;

use std::{fs, time::Instant};

use common::{headless, wait_text};
use unterm_mux::{Axis, MuxOptions, OnExit};
use unterm_term::Size;

fn entries(folder: &str) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Waits until the number of threads has fallen to `expected`, and returns it. The system lists a thread for a moment
/// after its last action.
fn settled_threads(expected: usize) -> usize {
    let deadline = Instant::now() + common::LIMIT;
    loop {
        let threads = entries("/proc/self/task");
        if threads <= expected || Instant::now() >= deadline {
            return threads;
        }
        std::thread::yield_now();
    }
}

/// The child processes of this process, including zombies.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| {
            let rest = stat.rsplit(')').next().unwrap_or_default();
            rest.split_ascii_whitespace().nth(1) == Some(own.as_str())
        })
        .collect()
}

#[test]
fn fifty_panes_leave_nothing_behind() {
    // Before counting, create everything that is created once per process.
    let warm = headless();
    common::wait_end(&common::open(&warm, "true"));
    warm.shutdown();
    drop(warm);
    // The thread of the test harness, and this thread.
    let before = (settled_threads(2), entries("/proc/self/fd"));
    assert_eq!(before.0, 2, "this test has its process to itself");

    for round in 0..2 {
        let mux = unterm_mux::Mux::new(MuxOptions {
            default_size: Size::cells(120, 30),
            ..MuxOptions::default()
        });
        let first = common::open(&mux, "echo ready; exec cat");
        let mut panes = vec![first];
        for number in 1..50 {
            // Some programs wait for input, some have ended, some never read, and some ignore SIGHUP.
            let script = match number % 4 {
                0 => "echo ready; exec cat",
                1 => "echo ready; exit 1",
                2 => "echo ready; exec sleep 300",
                _ => "trap '' HUP; echo ready; read line",
            };
            let spawn = common::sh(script);
            let hold = OnExit::Hold;
            let pane = match number % 3 {
                0 => mux.open_tab(spawn, None, hold),
                1 => mux.open_hidden(spawn, Size::cells(80, 24)),
                _ => mux
                    .split(panes[0].id(), Axis::Horizontal, spawn, hold)
                    .or_else(|_| mux.open_tab(common::sh(script), None, hold)),
            };
            panes.push(pane.unwrap());
        }
        let taps: Vec<_> = panes.iter().map(|pane| pane.tap()).collect();
        for (number, pane) in panes.iter().enumerate() {
            common::wait(pane, "ready", |pane| {
                common::screen(pane).iter().any(|row| row.starts_with('r'))
            });
            let _ = pane.write(format!("typed {number}\r").as_bytes());
            pane.resize(Size::cells(60, 20));
        }
        wait_text(&panes[0], "typed 0");
        // A pane has two threads while its program runs, and no thread after that.
        let running = panes.iter().filter(|pane| pane.foreground().is_some()).count();
        assert!(running >= 25);
        assert!(entries("/proc/self/task") <= before.0 + 2 * panes.len());
        for pane in &panes[..20] {
            mux.close_pane(pane.id()).unwrap();
        }
        mux.shutdown();
        drop((panes, taps, mux));
        assert_eq!(children(), Vec::<String>::new(), "round {round}");
        let after = (settled_threads(before.0), entries("/proc/self/fd"));
        assert_eq!(after, before, "round {round}");
    }
}

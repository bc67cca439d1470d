//! Panes leave nothing behind: 200 panes are opened, used and closed over the control port, repeatedly.

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Instance, PROMPT, Resources, Start, wait_for, wait_until};

const PANES: usize = 200;
/// The number of rounds after the first. If memory leaks, usage grows with each round. Otherwise it varies by up to a
/// tenth, because of memory that the allocator keeps for later. So a single round that uses no more than the first is
/// enough.
const MORE_ROUNDS: usize = 12;

#[test]
fn two_hundred_panes_leave_no_resources_behind() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    let before = settled(&unterm, None)?;

    round(&mut unterm, PANES)?;
    let first = settled(&unterm, Some(before))?;
    eprintln!("before {before:?}\nafter the first round {first:?}");
    for _ in 0..MORE_ROUNDS {
        round(&mut unterm, PANES)?;
        let later = settled(&unterm, Some(before))?;
        eprintln!("after another {later:?}");
        if later.resident_kb * 100 <= first.resident_kb * 110 {
            return Ok(());
        }
    }
    panic!("more memory than after the first round in each of {MORE_ROUNDS} later ones");
}

/// Opens panes, runs a command in each, reads the output, and closes the panes.
fn round(unterm: &mut Instance, count: usize) -> Result<()> {
    let mut panes = Vec::new();
    for _ in 0..count {
        panes.push(unterm.open(json!({"cols": 80, "rows": 24}))?);
    }
    for (number, pane) in panes.iter().enumerate() {
        pane.wait_for_prompt(unterm)?;
        // Print more than a screen, so that there is also history to free.
        pane.type_text(unterm, &format!("seq 200; echo pane $(({number} + 1000))\r"))?;
    }
    for (number, pane) in panes.iter().enumerate() {
        let answer = format!("pane {}", number + 1000);
        pane.wait(unterm, &answer, |lines| lines.contains(&answer))?;
    }
    for pane in &panes {
        pane.close(unterm)?;
    }
    wait_until("the panes' end", || unterm.sessions(), |all| all.len() == 1)?;
    // The remaining pane still works.
    let pane = unterm.first_pane()?;
    pane.type_text(unterm, "clear\r")?;
    pane.wait(unterm, "its prompt", |lines| lines[0] == PROMPT.trim_end())?;
    Ok(())
}

/// Waits until the server's pool is idle (two workers remain), and there are no more threads, descriptors and children
/// than `before`.
fn settled(unterm: &Instance, before: Option<Resources>) -> Result<Resources> {
    let last = std::cell::Cell::new(before);
    wait_for(
        "an idle process",
        || {
            let now = unterm.resources()?;
            last.set(Some(now));
            let is_settled = before.is_none_or(|before| {
                now.threads <= before.threads
                    && now.descriptors <= before.descriptors
                    && now.children <= before.children
            });
            Ok((is_settled && server_threads(unterm.pid())? <= 2).then_some(now))
        },
        || format!("before {before:?}\nnow    {:?}", last.get()),
    )
}

/// The number of threads of the control server: two workers, and the threads of the blocking pool. Those end ten
/// seconds after their last use.
fn server_threads(pid: u32) -> Result<usize> {
    let mut count = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between the listing and the read.
        let name = std::fs::read_to_string(task?.path().join("comm")).unwrap_or_default();
        count += usize::from(name.trim_end() == "unterm-control");
    }
    Ok(count)
}

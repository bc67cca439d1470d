//! The resources that a process uses, read from /proc.

use std::fs;

use anyhow::{Context as _, Result};

/// The resources at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Threads.
    pub threads: usize,
    /// Open descriptors.
    pub descriptors: usize,
    /// Child processes, including zombies that were not waited for.
    pub children: usize,
    /// Resident memory in kilobytes.
    pub resident_kb: u64,
}

impl Resources {
    /// Reads the resources that process `pid` uses now.
    ///
    /// # Errors
    ///
    /// If there is no such process, or no `/proc`.
    pub fn of(pid: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))
            .with_context(|| format!("process {pid}"))?;
        let field = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number =
                line.and_then(|rest| rest.split_whitespace().next()).context("a number")?;
            Ok(number.parse()?)
        };
        let mut children = 0;
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            // A thread may end between the listing and the read.
            let list = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            children += list.split_whitespace().count();
        }
        Ok(Self {
            threads: field("Threads:")? as usize,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd"))?.count(),
            children,
            resident_kb: field("VmRSS:")?,
        })
    }
}

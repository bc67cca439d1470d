//! The report about a team: what each member is doing, what it changed, and how its last test ended.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::SystemTime,
};

use anyhow::Result;
use serde::Serialize;
use unterm_control::{
    client::Client,
    methods::{
        blocks::{Block, List, ListParams},
        explain::Explain,
        params::SessionOnly,
    },
};

use super::{
    record::{Member, Team},
    worktree,
};
use crate::cli::fields;

/// The maximum number of a member's commands that are searched for a test.
const COMMANDS: u64 = 200;
/// Words that name a test in a command.
const TESTS: [&str; 10] =
    ["test", "tests", "pytest", "jest", "vitest", "nextest", "ctest", "check", "tox", "rspec"];

/// A report.
#[derive(Debug, Serialize)]
pub struct Report {
    members: Vec<MemberReport>,
    /// The files that several members changed, and the numbers of these members.
    overlaps: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug, Default, Serialize)]
struct MemberReport {
    member: usize,
    pane: u64,
    /// What the pane's program is doing. Absent: the pane is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The present commit of the worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// The changed files. Empty without a worktree.
    changed: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Test>,
}

/// The last test of a member, as its shell reported it. Output of programs can't forge the exit code.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Test {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Whether a changed file was written after the test.
    is_outdated: bool,
}

/// The report about a team.
///
/// # Errors
/// The instance has ended.
pub fn of(client: &Client, team: &Team) -> Result<Report> {
    let members: Vec<_> = team.members.iter().map(|it| of_member(client, team, it)).collect();
    let mut changed_by: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for report in &members {
        for file in &report.changed {
            changed_by.entry(file.clone()).or_default().push(report.member);
        }
    }
    changed_by.retain(|_, members| members.len() > 1);
    Ok(Report { members, overlaps: changed_by })
}

fn of_member(client: &Client, team: &Team, member: &Member) -> MemberReport {
    // In another instance, the number may be that of another pane.
    let state = client.call::<Explain>(SessionOnly::of(member.pane)).ok();
    let blocks = ListParams { limit: COMMANDS.into(), ..ListParams::of(member.pane) };
    let blocks = client.call::<List>(blocks).map_or_else(|_| Vec::new(), |reply| reply.blocks);
    let git_dir = member.tree().map(|(_, git_dir)| git_dir);
    let changed = team
        .base
        .as_ref()
        .zip(git_dir)
        .and_then(|(base, git_dir)| worktree::changes(&member.folder, git_dir, base).ok());
    let changed = changed.unwrap_or_default();
    let newest = newest_change(&member.folder, &changed);
    MemberReport {
        member: member.number,
        pane: member.pane,
        state: state.map(|reply| reply.state.name()),
        branch: member.branch.clone(),
        commit: git_dir.and_then(|git_dir| worktree::head(&member.folder, git_dir).ok()),
        test: last_test(&blocks, newest),
        changed,
    }
}

/// The latest time at which one of some files was written, in the format of times in blocks.
fn newest_change(folder: &Path, files: &BTreeSet<String>) -> Option<SystemTime> {
    let written =
        |file: &String| std::fs::symlink_metadata(folder.join(file)).ok()?.modified().ok();
    files.iter().filter_map(written).max()
}

/// The last test that has ended. `newest`: when the newest changed file was written.
fn last_test(blocks: &[Block], newest: Option<SystemTime>) -> Option<Test> {
    let is_test = |block: &&Block| {
        block.authentic && block.end.is_some() && block.command.as_deref().is_some_and(names_test)
    };
    let block = blocks.iter().rev().find(is_test)?;
    let newest = newest.map(|time| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    });
    let ended = block.ended_at.as_deref().and_then(milliseconds);
    Some(Test {
        command: block.command.clone().unwrap_or_default(),
        exit_code: block.exit_code,
        is_outdated: newest.zip(ended).is_some_and(|(newest, ended)| newest > ended),
    })
}

/// A time such as `2026-11-29T10:00:01.000Z`, in milliseconds since 1970.
fn milliseconds(text: &str) -> Option<u64> {
    Some(unterm_control::milliseconds_of(text)).filter(|time| *time != 0)
}

/// Whether a command runs tests, by its words.
fn names_test(command: &str) -> bool {
    let words = command.split(|char: char| !char.is_alphanumeric());
    words.into_iter().any(|word| TESTS.contains(&word))
}

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let head = ["MEMBER", "PANE", "STATE", "BRANCH", "COMMIT", "CHANGED", "TEST"];
        let word = |word: Option<String>| word.unwrap_or_else(|| "-".to_owned());
        let rows = self.members.iter().map(|report| {
            vec![
                report.member.to_string(),
                report.pane.to_string(),
                report.state.unwrap_or("closed").to_owned(),
                word(report.branch.clone()),
                word(report.commit.clone()),
                report.changed.len().to_string(),
                word(report.test.as_ref().map(Test::text)),
            ]
        });
        let mut text = fields::table(&head.map(str::to_owned), rows);
        if !self.overlaps.is_empty() {
            text.push_str("\nChanged by several members:\n");
            for (file, members) in &self.overlaps {
                let members: Vec<_> = members.iter().map(usize::to_string).collect();
                text.push_str(&format!(
                    "  {} ({})\n",
                    unterm_control::escaped(file),
                    members.join(", ")
                ));
            }
        }
        text
    }
}

impl Test {
    fn text(&self) -> String {
        let code = self.exit_code.map_or_else(|| "?".to_owned(), |code| code.to_string());
        let outdated = if self.is_outdated { ", files changed since" } else { "" };
        format!("exit {code}: {}{outdated}", unterm_control::escaped(&self.command))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn block(command: &str, code: i32, is_authentic: bool) -> Block {
        serde_json::from_value(json!({
            "block": 1, "command": command, "state": "done", "exit_code": code,
            "authentic": is_authentic, "prompt_seq": 1, "start": 2, "end": 3,
            "ended_at": "1970-01-01T00:00:10.000Z",
        }))
        .unwrap()
    }

    #[test]
    fn the_last_test_counts_if_the_shell_reported_it() {
        let blocks = [
            block("cargo test --workspace", 0, true),
            block("npm run test:unit", 1, true),
            block("printf 'cargo test'", 0, false),
            block("cat latest.txt", 0, true),
        ];
        let test = last_test(&blocks, None).unwrap();
        assert_eq!((&*test.command, test.exit_code), ("npm run test:unit", Some(1)));
        assert!(!test.is_outdated);
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert!(!last_test(&blocks, at(9)).unwrap().is_outdated);
        assert!(last_test(&blocks, at(11)).unwrap().is_outdated);
        assert_eq!(last_test(&blocks[2..], None), None);
    }

    #[test]
    fn overlapping_edits_are_listed() {
        let report = Report {
            members: vec![MemberReport {
                member: 1,
                pane: 4,
                branch: Some("team/t-1".to_owned()),
                changed: ["a".to_owned(), "b".to_owned()].into(),
                test: Some(Test {
                    command: "make test".to_owned(),
                    exit_code: Some(2),
                    is_outdated: true,
                }),
                ..MemberReport::default()
            }],
            overlaps: [("a".to_owned(), vec![1, 2])].into(),
        };
        assert_eq!(
            report.text(),
            "MEMBER  PANE  STATE   BRANCH    COMMIT  CHANGED  TEST\n\
             1       4     closed  team/t-1  -       2        exit 2: make test, files changed since\n\n\
             Changed by several members:\n  a (1, 2)\n"
        );
    }
}

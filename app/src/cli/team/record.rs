//! The files of teams, `teams/NAME.json` in Unterm's home: which panes, worktrees and ports belong to a team.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    ops::Range,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use unterm_control::client;
use unterm_mux::private;

use super::worktree::Tree;
use crate::cli::fields;

/// The folder of the files in Unterm's home.
const FOLDER: &str = "teams";
/// The maximum size of a file, in bytes.
const LONGEST: u64 = 64 << 10;
/// The maximum number of characters of a name.
const LONGEST_NAME: usize = 32;

/// A team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Team {
    /// The name of the team.
    pub name: String,
    /// The id of the instance that contains the team's panes.
    pub instance: String,
    /// The commit from which the team's worktrees began. Absent: the team has no worktrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The members of the team.
    pub members: Vec<Member>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Member {
    /// The member's number in the team, from 1.
    pub number: usize,
    /// The member's pane.
    pub pane: u64,
    /// The folder in which the member works: its worktree, or the folder in which the team was started.
    pub folder: PathBuf,
    /// The branch of the member's worktree. Absent: the member has no worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The folder in the repository in which git stores its data about the member's worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_dir: Option<PathBuf>,
    /// The member's first port, and the number of the member's ports.
    pub first_port: u16,
    pub port_count: u16,
}

impl Member {
    /// A member without a pane and a worktree.
    pub fn new(number: usize, port_count: u16, folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { number, pane: 0, folder, branch: None, git_dir: None, first_port: 0, port_count }
    }

    /// The member, working in this worktree if there is one.
    pub fn with_tree(self, tree: Option<Tree>) -> Self {
        match tree {
            Some(Tree { folder, branch, git_dir }) => {
                Self { folder, branch: Some(branch), git_dir: Some(git_dir), ..self }
            }
            None => self,
        }
    }

    /// The branch of the member's worktree, and the folder with git's data about it. `None` if the member has no
    /// worktree.
    pub fn tree(&self) -> Option<(&str, &Path)> {
        Some((self.branch.as_deref()?, self.git_dir.as_deref()?))
    }

    /// The member's ports.
    pub fn ports(&self) -> Range<u16> {
        self.first_port..self.first_port.saturating_add(self.port_count)
    }

    /// The variables of its programs.
    pub fn environment(&self, team: &str) -> Value {
        let mut variables = BTreeMap::from([
            ("UNTERM_TEAM", team.to_owned()),
            ("UNTERM_TEAM_MEMBER", self.number.to_string()),
        ]);
        let ports = self.ports();
        if !ports.is_empty() {
            variables.insert("PORT", ports.start.to_string());
            variables.insert("UNTERM_PORTS", format!("{}-{}", ports.start, ports.end - 1));
        }
        json!(variables)
    }
}

/// Checks the name of a team. It is part of the names of files and branches.
pub fn name(text: &str) -> Result<String, String> {
    let is_allowed = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    let is_name = (1..=LONGEST_NAME).contains(&text.len())
        && text.chars().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-');
    match is_name {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a team's name must have 1 to {LONGEST_NAME} lower-case letters, digits and dashes, with no dash at its ends"
        )),
    }
}

/// A name that no team has.
pub fn free_name(teams: &[Team]) -> String {
    let is_free = |name: &String| teams.iter().all(|team| team.name != *name);
    (1..).map(|number| format!("team-{number}")).find(is_free).unwrap_or_default()
}

/// All teams, sorted by name. A file that can't be read is left out.
pub fn all(home: &Path) -> Result<Vec<Team>> {
    let entries = match std::fs::read_dir(home.join(FOLDER)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.context("the folder of teams can't be read")?,
    };
    let read = |path: PathBuf| -> Option<Team> {
        let bytes = private::read(&path, LONGEST).ok()?;
        let team: Team = serde_json::from_slice(&bytes).ok()?;
        // The name becomes part of paths.
        let is_own = path.file_stem().is_some_and(|stem| stem == team.name.as_str());
        (is_own && name(&team.name).is_ok()).then_some(team)
    };
    let mut teams: Vec<_> = entries.filter_map(|entry| read(entry.ok()?.path())).collect();
    teams.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(teams)
}

fn file(home: &Path, name: &str) -> PathBuf {
    home.join(FOLDER).join(format!("{name}.json"))
}

/// Stores a team.
pub fn write(home: &Path, team: &Team) -> Result<()> {
    private::create_folder(&home.join(FOLDER))?;
    let path = file(home, &team.name);
    private::write(&path, &serde_json::to_vec_pretty(team)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Removes a team's file.
pub fn remove(home: &Path, name: &str) -> Result<()> {
    std::fs::remove_file(file(home, name)).with_context(|| format!("cannot forget the team {name}"))
}

/// Whether the instance of a team is running.
pub fn is_live(home: &Path, team: &Team) -> bool {
    client::live(home).iter().any(|record| record.id == team.instance)
}

/// The teams as a table.
pub fn table(teams: &[Team]) -> String {
    let head = ["TEAM", "INSTANCE", "MEMBERS", "BASE"].map(str::to_owned);
    let rows = teams.iter().map(|team| {
        vec![
            team.name.clone(),
            team.instance.clone(),
            team.members.len().to_string(),
            team.base.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    });
    fields::table(&head, rows)
}

/// The members of a team as a table.
pub fn members_table(team: &Team) -> String {
    let head = ["TEAM", "MEMBER", "PANE", "PORTS", "BRANCH", "FOLDER"].map(str::to_owned);
    let rows = team.members.iter().map(|member| {
        let ports = member.ports();
        let ports = match ports.is_empty() {
            true => "-".to_owned(),
            false => format!("{}-{}", ports.start, ports.end - 1),
        };
        vec![
            team.name.clone(),
            member.number.to_string(),
            member.pane.to_string(),
            ports,
            member.branch.clone().unwrap_or_else(|| "-".to_owned()),
            member.folder.display().to_string(),
        ]
    });
    fields::table(&head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(name: &str) -> Team {
        let member = Member { first_port: 20_000, ..Member::new(1, 10, Path::new("/srv")) };
        Team {
            name: name.to_owned(),
            instance: "alpha".to_owned(),
            base: None,
            members: vec![member],
        }
    }

    #[test]
    fn a_team_is_stored_and_forgotten() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(all(home.path()).unwrap(), []);
        write(home.path(), &team("two")).unwrap();
        write(home.path(), &team("one")).unwrap();
        // If a file's name differs from its team's name, the team's name could point to another file.
        let other = serde_json::to_vec(&team("../one")).unwrap();
        private::write(&home.path().join(FOLDER).join("three.json"), &other).unwrap();
        let names =
            || all(home.path()).unwrap().into_iter().map(|team| team.name).collect::<Vec<_>>();
        assert_eq!(names(), ["one", "two"]);
        remove(home.path(), "one").unwrap();
        assert_eq!(names(), ["two"]);
        assert!(remove(home.path(), "one").is_err());
    }

    #[test]
    fn names_are_plain_and_free() {
        assert!(name("a-1").is_ok());
        for wrong in ["", "-a", "a-", "A", "a/b", "..", "a b", &"a".repeat(33)] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
        assert_eq!(free_name(&[team("team-1"), team("team-3")]), "team-2");
    }

    #[test]
    fn programs_learn_their_ports() {
        let environment = team("t").members[0].environment("t");
        assert_eq!(
            environment,
            json!({"UNTERM_TEAM": "t", "UNTERM_TEAM_MEMBER": "1", "PORT": "20000",
                "UNTERM_PORTS": "20000-20009"})
        );
        let without = Member::new(2, 0, Path::new("/")).environment("t");
        assert_eq!(without.get("PORT"), None);
    }
}

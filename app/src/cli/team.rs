//! `unterm-cli team`: several panes in one tiled tab that run the same command, such as agents on the same task, each in
//! its own git worktree if that is asked for, and with ports of its own.
//!
//! Owns the order in which a team is started and ended. A team is stored in a file (`record`), so that it can be reported
//! and closed later.

mod ports;
mod record;
mod report;
mod tiles;
mod worktree;

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use unterm_control::{
    client::Client,
    methods::{
        Method,
        exec::{Run, RunParams},
        instance::Info,
        layout::{Split, TabCreate, TabRename},
        params::{NoParams, SessionOnly},
        session::Destroy,
    },
};
use unterm_mux::quote;

use self::{
    record::{Member, Team},
    worktree::Repository,
};
use crate::cli::report::{complain, write_out};

/// The maximum number of members.
const MOST: u8 = 16;

/// The options of a new team, or a command about one.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct TeamArgs {
    /// Number of members: 1 to 16.
    #[arg(required = true, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST)))]
    members: Option<u8>,
    /// Name of the team: lower-case letters, digits and dashes [default: team-1, team-2, …].
    #[arg(long, value_parser = record::name)]
    name: Option<String>,
    /// Give each member its own git worktree and branch, beside this repository.
    #[arg(long)]
    worktrees: bool,
    /// Number of ports for each member.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=100))]
    ports: u16,
    /// Command of each member. With several words, they are passed on as they are; a single word is a line of the shell.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    words: Vec<String>,
    #[command(subcommand)]
    command: Option<TeamCommand>,
}

/// Commands about teams.
#[derive(Subcommand)]
pub enum TeamCommand {
    /// List the teams.
    List,
    /// Show each member's state, branch, changed files and last test, and the files that several members changed.
    Report {
        /// Team.
        #[arg(value_parser = record::name)]
        name: String,
    },
    /// Close the panes of a team, and remove its worktrees. Asks about worktrees with changes.
    Close {
        /// Team.
        #[arg(value_parser = record::name)]
        name: String,
        /// Keep all worktrees, without asking.
        #[arg(long)]
        keep: bool,
    },
}

/// Teams in one instance.
pub struct Teams<'a> {
    /// Unterm's home directory.
    pub home: &'a Path,
    /// The instance.
    pub client: &'a Client,
    /// Whether to print JSON.
    pub json: bool,
}

impl Teams<'_> {
    /// Runs a command.
    pub fn run(&self, args: &TeamArgs) -> Result<ExitCode> {
        match &args.command {
            None => self.start(args),
            Some(TeamCommand::List) => {
                let teams = record::all(self.home)?;
                self.print(&serde_json::to_value(&teams)?, &record::table(&teams))?;
                Ok(ExitCode::SUCCESS)
            }
            Some(TeamCommand::Report { name }) => {
                let report = report::of(self.client, &self.own(name)?)?;
                self.print(&serde_json::to_value(&report)?, &report.text())?;
                Ok(ExitCode::SUCCESS)
            }
            Some(TeamCommand::Close { name, keep }) => self.close(&self.own(name)?, *keep),
        }
    }

    fn start(&self, args: &TeamArgs) -> Result<ExitCode> {
        let count = usize::from(args.members.context("how many members?")?);
        let teams = record::all(self.home)?;
        let name = args.name.clone().unwrap_or_else(|| record::free_name(&teams));
        if teams.iter().any(|team| team.name == name) {
            bail!("there is a team {name} already; close it with `unterm-cli team close {name}`");
        }
        let cwd = std::env::current_dir().context("the working directory is gone")?;
        let ports = ports::free(count, args.ports, &teams)?;
        let repository = if args.worktrees { Some(Repository::around(&cwd)?) } else { None };
        let mut members = Vec::new();
        for (index, first_port) in ports.into_iter().enumerate() {
            let member = Member { first_port, ..Member::new(index + 1, args.ports, &cwd) };
            let tree = repository.as_ref().map(|it| it.add(&format!("{name}-{}", index + 1)));
            match tree.transpose() {
                Ok(tree) => members.push(member.with_tree(tree)),
                Err(error) => {
                    remove_trees(&members);
                    return Err(error);
                }
            }
        }
        let base = repository.map(|repository| repository.base);
        let instance = self.client.call::<Info>(NoParams {})?.instance.id;
        let mut team = Team { name, instance, base, members };
        if let Err(error) = self.open(&mut team, &args.words) {
            remove_trees(&team.members);
            return Err(error);
        }
        record::write(self.home, &team)?;
        self.print(&serde_json::to_value(&team)?, &record::members_table(&team))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Opens the panes of a team in a new tab, and enters the command in each.
    fn open(&self, team: &mut Team, words: &[String]) -> Result<()> {
        let opened = self.create(TabCreate::NAME, Value::Null, team, 0)?;
        let tab = opened["tab_id"].clone();
        for tiles::TileSplit { beside, index, direction } in tiles::places(team.members.len()) {
            let place = json!({"id": team.members[beside].pane, "direction": direction});
            self.create(Split::NAME, place, team, index)?;
        }
        self.client.call_by_name(TabRename::NAME, json!({"tab_id": tab, "title": team.name}))?;
        let line = match words {
            [line] => line.clone(),
            words => words.iter().map(|word| quote::posix(word)).collect::<Vec<_>>().join(" "),
        };
        for member in &team.members {
            let params = RunParams { command: line.clone().into(), ..RunParams::of(member.pane) };
            self.client.call::<Run>(params)?;
        }
        Ok(())
    }

    /// Opens the pane of a member.
    fn create(&self, method: &str, place: Value, team: &mut Team, index: usize) -> Result<Value> {
        let member = &team.members[index];
        let mut params = match place {
            Value::Null => json!({}),
            place => place,
        };
        params["cwd"] = json!(member.folder);
        params["name"] = json!(format!("{} {}", team.name, member.number));
        params["env"] = member.environment(&team.name);
        let opened = self.client.call_by_name(method, params)?;
        let pane = opened["id"].as_u64().context("the instance opened no pane")?;
        team.members[index].pane = pane;
        Ok(opened)
    }

    /// The team of this name in this instance.
    fn own(&self, name: &str) -> Result<Team> {
        let Some(team) = record::all(self.home)?.into_iter().find(|team| team.name == name) else {
            bail!("there is no team {name}; `unterm-cli team list` lists the teams");
        };
        let instance = self.client.call::<Info>(NoParams {})?.instance.id;
        if team.instance != instance && record::is_live(self.home, &team) {
            bail!("the team {name} belongs to the instance {0}: add --instance {0}", team.instance);
        }
        Ok(team)
    }

    fn close(&self, team: &Team, keep: bool) -> Result<ExitCode> {
        // First end the programs, so that no program changes a worktree after it was checked.
        if record::is_live(self.home, team) {
            for member in &team.members {
                // The user may have closed the pane.
                if let Err(error) = self.client.call::<Destroy>(SessionOnly::of(member.pane)) {
                    tracing::debug!(%error, pane = member.pane, "a pane of the team is gone");
                }
            }
        }
        let mut kept = Vec::new();
        for member in &team.members {
            let (Some((branch, git_dir)), Some(base)) = (member.tree(), &team.base) else {
                continue;
            };
            let is_removed = match (keep, worktree::changes(&member.folder, git_dir, base)) {
                (false, Ok(changes)) => {
                    changes.is_empty() || discards(member, branch, changes.len())?
                }
                _ => false,
            };
            match is_removed {
                true => worktree::remove(&member.folder, git_dir, branch)?,
                false => kept.push(member),
            }
        }
        record::remove(self.home, &team.name)?;
        let kept: Vec<_> = kept.iter().map(|member| member.folder.display().to_string()).collect();
        let lines = kept.iter().map(|folder| format!("kept {folder}\n")).collect::<String>();
        self.print(&json!({ "kept": kept }), &lines)?;
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, reply: &Value, text: &str) -> Result<()> {
        match self.json {
            true => write_out(&(serde_json::to_string_pretty(reply)? + "\n")),
            false => write_out(text),
        }
    }
}

/// Removes the worktrees of a team that could not be started. They contain no changes.
fn remove_trees(members: &[Member]) {
    for member in members {
        if let Some((branch, git_dir)) = member.tree()
            && let Err(error) = worktree::remove(&member.folder, git_dir, branch)
        {
            complain(&format!("{}: {error:#}", member.folder.display()));
        }
    }
}

/// Asks whether a worktree with changes is removed. Without a terminal, it is kept.
fn discards(member: &Member, branch: &str, count: usize) -> Result<bool> {
    let folder: PathBuf = member.folder.clone();
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    let mut out = std::io::stdout().lock();
    write!(
        out,
        "{} has {count} changed files on {branch}. Remove it, with its branch? [y/N] ",
        folder.display()
    )?;
    out.flush()?;
    drop(out);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(["y", "yes"].contains(&&*line.trim().to_lowercase()))
}

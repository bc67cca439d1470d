//! The calls that Claude Code makes for its teams of agents: a pane for each teammate, beside the pane of the leader.

use super::{Program, open};
use crate::support::Fixture;
use unterm_control::Approval;

#[test]
fn a_leader_opens_names_and_starts_teammates() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let leader = open(&fixture, &mut wire, "cat", &[]);
    fixture.server().set_approval(Approval::Ask);
    let team = Program { fixture: &fixture, pane: Some(leader.id) };
    let own = format!("%{}", leader.id);
    assert_eq!(team.prints(&["display-message", "-t", &own, "-p", "#{pane_id}"]), own);
    assert_eq!(team.prints(&["display-message", "-p", "#{window_panes}"]), "1");

    let split = [
        "split-window",
        "-d",
        "-t",
        &own,
        "-h",
        "-l",
        "70%",
        "-P",
        "-F",
        "#{pane_id}",
        "--",
        "cat",
    ];
    let mate = team.prints(&split);
    assert_eq!(mate, format!("%{}", leader.id + 1));
    let sizes = ["list-panes", "-t", &own, "-F", "#{pane_id} #{pane_width} #{pane_active}"];
    assert_eq!(team.prints(&sizes), format!("{own} 35 1\n{mate} 84 0"));

    assert_eq!(team.prints(&["select-pane", "-t", &mate, "-T", "researcher"]), "");
    let style = ["set-option", "-p", "-t", &mate, "pane-border-style", "fg=blue"];
    assert_eq!(team.prints(&style), "");
    assert_eq!(team.prints(&["select-layout", "-t", &own, "main-vertical"]), "");
    let remain = ["set-option", "-p", "-t", &mate, "remain-on-exit", "failed"];
    assert_eq!(team.prints(&remain), "");
    assert_eq!(team.prints(&["show-options", "-p", "-v", "-t", &mate, "remain-on-exit"]), "failed");
    assert_eq!(team.prints(&["display", "-p", "-t", &mate, "#{pane_title}"]), "researcher");

    // The program of the new pane fails, so the pane stays.
    let script = "echo \"mate $MATE in $TMUX_PANE\"; exit 7";
    let script = format!("cd / && env MATE=one sh -c '{script}'");
    assert_eq!(team.prints(&["respawn-pane", "-k", "-t", &mate, "--", &script]), "");
    team.until(&["display", "-p", "-t", &mate, "#{pane_dead} #{pane_dead_status}"], "1 7");
    let text = team.prints(&["capture-pane", "-p", "-t", &mate]);
    assert_eq!(text.lines().next(), Some(format!("mate one in {mate}").as_str()));
    assert_eq!(team.prints(&["display", "-p", "-t", &mate, "#{pane_title}"]), "researcher");

    // Another program succeeds, so the pane closes.
    assert_eq!(team.prints(&["respawn-pane", "-k", "-t", &mate, "--", "true"]), "");
    team.until(&["list-panes", "-t", &own, "-F", "#{pane_id}"], &own);
    assert_eq!(team.fails(&["kill-pane", "-t", &mate]), format!("can't find pane: {mate}"));
}

#[test]
fn a_leader_outside_of_panes_has_a_server_of_its_own() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let users = open(&fixture, &mut wire, "cat", &[]);
    fixture.server().set_approval(Approval::Ask);
    let leader = Program { fixture: &fixture, pane: None };
    fn swarm<'a>(args: &[&'a str]) -> Vec<&'a str> {
        [&["-L", "claude-swarm-1"], args].concat()
    }
    let why = leader.fails(&swarm(&["has-session", "-t", "claude-swarm"]));
    assert!(why.starts_with("no server running on "), "{why}");
    let new =
        ["new-session", "-d", "-s", "claude-swarm", "-n", "swarm-view", "-P", "-F", "#{pane_id}"];
    let first = leader.prints(&swarm(&[&new[..], &["cat"]].concat()));
    leader.prints(&swarm(&["has-session", "-t", "claude-swarm"]));
    let list = ["list-windows", "-t", "claude-swarm", "-F", "#{window_name}"];
    assert_eq!(leader.prints(&swarm(&list)), "swarm-view");
    let split = ["split-window", "-t", "claude-swarm:swarm-view", "-P", "-F", "#{pane_id}", "cat"];
    let second = leader.prints(&swarm(&split));
    let panes = ["list-panes", "-t", "claude-swarm:swarm-view", "-F", "#{pane_id}"];
    assert_eq!(leader.prints(&swarm(&panes)), format!("{first}\n{second}"));
    leader.prints(&swarm(&["select-layout", "-t", "claude-swarm:swarm-view", "tiled"]));
    // The user's own tab belongs to the default server only.
    assert_eq!(leader.prints(&["list-panes", "-a", "-F", "#{pane_id}"]), format!("%{}", users.id));
    leader.prints(&swarm(&["kill-server"]));
    assert!(leader.fails(&swarm(&["list-sessions"])).starts_with("no server running on "));
    assert!(fixture.mux.pane(users.pane.id()).is_some());
}

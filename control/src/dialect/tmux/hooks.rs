//! Hooks: commands that run after other commands, and at events.
//!
//! A hook runs only for the program that set it, because another program would run it with other rights.

use super::options::{Owner, Scope};
use crate::caller::Opener;

/// The maximum number of commands of hooks.
const MOST: usize = 1000;
/// The maximum number of commands that one program sets, so that one program can't use up the commands of all programs.
const MOST_OF_PROGRAM: usize = 200;
/// The maximum length of a command, in bytes. The limit of tmux for a command line.
const LONGEST: usize = 16 << 10;

/// The hooks of sessions, except the hooks that are named after a command, sorted.
pub const SESSION_HOOKS: [&str; 16] = [
    "alert-activity",
    "alert-bell",
    "alert-silence",
    "client-active",
    "client-attached",
    "client-detached",
    "client-focus-in",
    "client-focus-out",
    "client-resized",
    "client-session-changed",
    "session-closed",
    "session-created",
    "session-renamed",
    "session-window-changed",
    "window-linked",
    "window-unlinked",
];

/// The hooks of windows and panes, sorted.
pub const WINDOW_HOOKS: [&str; 11] = [
    "pane-died",
    "pane-exited",
    "pane-focus-in",
    "pane-focus-out",
    "pane-mode-changed",
    "pane-set-clipboard",
    "pane-title-changed",
    "window-layout-changed",
    "window-pane-changed",
    "window-renamed",
    "window-resized",
];

/// The hooks of panes that tmux 3.8 adds, sorted.
const NEW_HOOKS: [&str; 3] = ["pane-command-finished", "pane-command-started", "pane-shell-prompt"];

/// Whether a hook runs at an event, and not after a command.
pub fn is_event(name: &str) -> bool {
    !name.starts_with("after-")
}

/// Commands of tmux that this dialect lacks, although their hooks are known.
const ABSENT: [&str; 3] = ["copy-mode", "display-panes", "queue"];

/// The name of a hook, and the index after it, as in `pane-died[2]`.
///
/// # Errors
/// The index is no number. tmux's message.
pub fn parse(name: &str) -> Result<(&str, Option<u32>), String> {
    let Some((base, rest)) = name.split_once('[') else { return Ok((name, None)) };
    let index = rest.strip_suffix(']').and_then(|index| index.parse().ok());
    index.map(|index| (base, Some(index))).ok_or_else(|| format!("invalid option: {name}"))
}

/// The owner of a hook. `None` if no hook has this name. `is_command`: whether a command has a name.
pub fn scope(name: &str, is_command: impl Fn(&str) -> bool) -> Option<Scope> {
    if WINDOW_HOOKS.contains(&name) || NEW_HOOKS.contains(&name) {
        return Some(Scope::Pane);
    }
    // A hook with a name of the user's choice, which a monitor runs.
    if name.starts_with('@') {
        return Some(Scope::Session);
    }
    let is_after =
        || name.strip_prefix("after-").is_some_and(|it| ABSENT.contains(&it) || is_command(it));
    (SESSION_HOOKS.contains(&name) || is_after()).then_some(Scope::Session)
}

/// A command of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hook {
    /// The program that set the command.
    by: Opener,
    owner: Owner,
    name: String,
    index: u32,
    command: String,
}

/// The commands of hooks.
#[derive(Default)]
pub struct Hooks(Vec<Hook>);

impl Hooks {
    /// Sets the command with an index. Without an index, replaces all commands, or with `append` adds a command.
    ///
    /// # Errors
    /// There are too many commands, or the name or the command is too long.
    pub fn set(
        &mut self,
        by: &Opener,
        (owner, name): (Owner, &str),
        index: Option<u32>,
        append: bool,
        command: String,
    ) -> Result<(), String> {
        if name.len() > LONGEST || command.len() > LONGEST {
            return Err("command too long".to_owned());
        }
        let index = match (index, append) {
            (None, false) => {
                self.unset(by, (owner, name), None);
                0
            }
            (None, true) => {
                let used: Vec<u32> = self.of(by, owner, name).map(|(index, _)| index).collect();
                (0..).find(|index| !used.contains(index)).unwrap_or_default()
            }
            (Some(index), _) => {
                self.unset(by, (owner, name), Some(index));
                index
            }
        };
        let own = self.0.iter().filter(|hook| hook.by == *by).count();
        if self.0.len() >= MOST || own >= MOST_OF_PROGRAM {
            return Err(format!("too many hooks: {name}"));
        }
        let (by, name) = (by.clone(), name.to_owned());
        self.0.push(Hook { by, owner, name, index, command });
        self.0.sort_by_key(|hook| hook.index);
        Ok(())
    }

    /// Removes a command, or without an index all commands of a hook.
    pub fn unset(&mut self, by: &Opener, (owner, name): (Owner, &str), index: Option<u32>) {
        self.0.retain(|hook| {
            let is_hook = hook.by == *by && hook.owner == owner && hook.name == name;
            !is_hook || index.is_some_and(|index| index != hook.index)
        });
    }

    /// The commands of an owner's hook with their indices, in order.
    pub fn of(&self, by: &Opener, owner: Owner, name: &str) -> impl Iterator<Item = (u32, &str)> {
        let own = self
            .0
            .iter()
            .filter(move |hook| hook.by == *by && hook.owner == owner && hook.name == name);
        own.map(|hook| (hook.index, hook.command.as_str()))
    }

    /// The names of an owner's hooks, sorted.
    pub fn names(&self, by: &Opener, owner: Owner) -> Vec<&str> {
        let own = self.0.iter().filter(|hook| hook.by == *by && hook.owner == owner);
        let mut names: Vec<&str> = own.map(|hook| hook.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether a program has set a hook at an event.
    pub fn has_events(&self, by: &Opener) -> bool {
        self.0.iter().any(|hook| hook.by == *by && is_event(&hook.name))
    }

    /// Whether a program has set a hook for any owner.
    pub fn has(&self, by: &Opener, name: &str) -> bool {
        self.0.iter().any(|hook| hook.by == *by && hook.name == name)
    }

    /// The commands to run: the commands of the first owner that has any.
    pub fn commands(&self, by: &Opener, owners: &[Owner], name: &str) -> Vec<String> {
        let mut all = owners.iter().map(|owner| {
            self.of(by, *owner, name).map(|(_, command)| command.to_owned()).collect::<Vec<_>>()
        });
        all.find(|commands| !commands.is_empty()).unwrap_or_default()
    }

    /// Removes the hooks of owners and of programs that no longer exist.
    pub fn forget(&mut self, is_gone: impl Fn(Owner) -> bool, has_ended: impl Fn(&Opener) -> bool) {
        self.0.retain(|hook| !is_gone(hook.owner) && !has_ended(&hook.by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_have_a_scope() {
        let is_command = |name: &str| name == "split-window";
        assert_eq!(scope("pane-died", is_command), Some(Scope::Pane));
        assert_eq!(scope("session-renamed", is_command), Some(Scope::Session));
        assert_eq!(scope("after-split-window", is_command), Some(Scope::Session));
        assert_eq!(scope("after-nothing", is_command), None);
        assert_eq!(scope("pane-shell-prompt", is_command), Some(Scope::Pane));
        assert_eq!(scope("@own", is_command), Some(Scope::Session));
        assert!(is_event("pane-died") && !is_event("after-split-window"));
        assert_eq!(parse("pane-died[12]"), Ok(("pane-died", Some(12))));
        assert_eq!(parse("pane-died").unwrap().1, None);
        assert!(parse("pane-died[x]").is_err());
    }

    #[test]
    fn commands_are_set_added_and_removed_by_index() {
        let (own, other) = (Opener::Pane(1), Opener::Pane(2));
        let mut hooks = Hooks::default();
        let place = (Owner::Sessions, "session-renamed");
        let shown = |hooks: &Hooks| {
            let all = hooks.of(&own, Owner::Sessions, "session-renamed");
            all.map(|(index, command)| format!("{index}{command}")).collect::<Vec<_>>().join(" ")
        };
        hooks.set(&own, place, None, false, "a".to_owned()).unwrap();
        hooks.set(&own, place, Some(5), false, "c".to_owned()).unwrap();
        hooks.set(&own, place, None, true, "b".to_owned()).unwrap();
        assert_eq!(shown(&hooks), "0a 1b 5c");
        hooks.unset(&other, place, None);
        hooks.unset(&own, place, Some(0));
        assert_eq!(shown(&hooks), "1b 5c");
        assert_eq!(hooks.names(&own, Owner::Sessions), ["session-renamed"]);
        assert!(hooks.has(&own, "session-renamed") && !hooks.has(&other, "session-renamed"));
        let owners = [Owner::Session(3), Owner::Sessions];
        assert_eq!(hooks.commands(&own, &owners, "session-renamed"), ["b", "c"]);
        hooks.set(&own, (Owner::Session(3), "session-renamed"), None, false, "x".into()).unwrap();
        assert_eq!(hooks.commands(&own, &owners, "session-renamed"), ["x"]);
        hooks.forget(|owner| owner == Owner::Session(3), |_| false);
        hooks.set(&own, place, None, false, "new".to_owned()).unwrap();
        assert_eq!(shown(&hooks), "0new");
    }

    #[test]
    fn one_program_can_not_use_up_the_hooks_of_others() {
        let (own, other) = (Opener::Pane(1), Opener::Pane(2));
        let mut hooks = Hooks::default();
        let place = (Owner::Sessions, "session-renamed");
        let mut add =
            |by: &Opener, command: &str| hooks.set(by, place, None, true, command.to_owned());
        for _ in 0..MOST_OF_PROGRAM {
            add(&own, "a").unwrap();
        }
        assert_eq!(add(&own, "a").unwrap_err(), "too many hooks: session-renamed");
        add(&other, &"a".repeat(LONGEST)).unwrap();
        assert_eq!(add(&other, &"a".repeat(LONGEST + 1)).unwrap_err(), "command too long");
        // A command with a used index replaces the old command.
        hooks.set(&own, place, Some(7), false, "b".to_owned()).unwrap();
        // The hooks of a program end with the program.
        hooks.forget(|_| false, |by| *by == own);
        assert!(!hooks.has(&own, place.1) && hooks.has(&other, place.1));
        hooks.set(&own, place, None, true, "a".to_owned()).unwrap();
    }
}

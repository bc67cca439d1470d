//! Monitors (`set-hook -B`): formats whose changed values run a hook, as in tmux 3.8.

use super::{options::Owner, subscriptions::Subscription};
use crate::caller::Opener;

/// The maximum number of monitors.
const MOST: usize = 200;
/// The maximum number of monitors of one program, so that one program can't use up the monitors of all programs.
const MOST_OF_PROGRAM: usize = 50;

/// A monitor.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// The program that set the monitor. Its hook runs for this program.
    pub by: Opener,
    /// The owner of the monitor's hook.
    pub owner: Owner,
    /// The name of the hook, the subject and the format.
    pub what: Subscription,
    /// The text between the name and the format, as the program wrote it.
    pub subject: String,
    /// Whether the monitor has its first values. The first values run no hook.
    pub is_ready: bool,
    /// How often the hook ran, and when it last ran, in seconds since 1970.
    pub fired: (u64, i64),
}

/// The monitors.
#[derive(Default)]
pub struct Monitors(Vec<Monitor>);

impl Monitors {
    /// Adds a monitor. `text`: `@name:subject:format`. It replaces a monitor with the same owner and name.
    ///
    /// # Errors
    /// The text is no monitor, or there are too many monitors.
    pub fn set(&mut self, by: Opener, owner: Owner, text: &str) -> Result<String, String> {
        let invalid = || format!("invalid monitor: {text}");
        let what = Subscription::parse(text).ok_or_else(invalid)?;
        if !what.name.starts_with('@') || what.name.len() < 2 {
            return Err(format!("invalid hook name: {}", what.name));
        }
        let subject = text.split(':').nth(1).unwrap_or_default().to_owned();
        let name = what.name.clone();
        self.unset(&by, owner, &name);
        let own = self.0.iter().filter(|monitor| monitor.by == by).count();
        if self.0.len() >= MOST || own >= MOST_OF_PROGRAM {
            return Err(format!("too many monitors: {name}"));
        }
        self.0.push(Monitor { by, owner, what, subject, is_ready: false, fired: (0, 0) });
        Ok(name)
    }

    /// Removes a monitor.
    pub fn unset(&mut self, by: &Opener, owner: Owner, name: &str) {
        self.0.retain(|it| it.by != *by || it.owner != owner || it.what.name != name);
    }

    /// The monitors that a program has set for an owner, in their order.
    pub fn of(&self, by: &Opener, owner: Owner) -> impl Iterator<Item = &Monitor> {
        self.0.iter().filter(move |monitor| monitor.by == *by && monitor.owner == owner)
    }

    /// Whether a program has set a monitor.
    pub fn has(&self, by: &Opener) -> bool {
        self.0.iter().any(|monitor| monitor.by == *by)
    }

    /// The monitors of a program, to update their values.
    pub fn of_mut(&mut self, by: &Opener) -> impl Iterator<Item = &mut Monitor> {
        self.0.iter_mut().filter(move |monitor| monitor.by == *by)
    }

    /// Removes the monitors of owners and of programs that no longer exist.
    pub fn forget(&mut self, is_gone: impl Fn(Owner) -> bool, has_ended: impl Fn(&Opener) -> bool) {
        self.0.retain(|monitor| !is_gone(monitor.owner) && !has_ended(&monitor.by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monitor_has_a_name_of_the_user_and_replaces_the_same_one() {
        let mut monitors = Monitors::default();
        let by = Opener::Pane(1);
        let mut set = |text: &str| monitors.set(by.clone(), Owner::Sessions, text);
        assert_eq!(set("@a::#{x:y}").unwrap(), "@a");
        assert_eq!(set("@a:%*:#D").unwrap(), "@a");
        assert_eq!(set("a::#D").unwrap_err(), "invalid hook name: a");
        assert_eq!(set("@a:b").unwrap_err(), "invalid monitor: @a:b");
        let all: Vec<_> = monitors.of(&by, Owner::Sessions).collect();
        assert_eq!(
            (all.len(), all[0].subject.as_str(), all[0].what.format.as_str()),
            (1, "%*", "#D")
        );
        monitors.unset(&Opener::Pane(2), Owner::Sessions, "@a");
        assert!(monitors.has(&by));
        monitors.forget(|owner| owner == Owner::Sessions, |_| false);
        assert!(!monitors.has(&by));
    }

    #[test]
    fn one_program_can_not_use_up_the_monitors_of_others() {
        let mut monitors = Monitors::default();
        let mut set = |by, name: usize| {
            monitors.set(Opener::Pane(by), Owner::Sessions, &format!("@{name}::#D"))
        };
        for name in 0..MOST_OF_PROGRAM {
            set(1, name).unwrap();
        }
        assert_eq!(set(1, MOST_OF_PROGRAM).unwrap_err(), "too many monitors: @50");
        set(1, 0).unwrap();
        set(2, 0).unwrap();
        monitors.forget(|_| false, |by| *by == Opener::Pane(1));
        assert!(!monitors.has(&Opener::Pane(1)) && monitors.has(&Opener::Pane(2)));
    }
}

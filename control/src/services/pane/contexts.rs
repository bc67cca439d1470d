//! The context of the program in a terminal, as systemd's tools and other programs report it (OSC 3008, UAPI.15): user,
//! host, container and virtual machine, and how the last context ended.
//!
//! All of it comes from programs and proves nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_term::{Context, ContextExit, ContextKind, EndedContext, Term};

/// Where a program runs, according to the open contexts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ProgramContext {
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub user: Option<String>,
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub host: Option<String>,
    /// The container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub container: Option<String>,
    /// The virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub vm: Option<String>,
}

impl ProgramContext {
    /// The context of a terminal's program. `None` if nothing reports one.
    pub fn of_term(term: &Term) -> Option<Self> {
        Self::of(term.contexts())
    }

    /// The context that results from open contexts, the outermost first.
    fn of(contexts: &[Context]) -> Option<Self> {
        let mut found = Self::default();
        for context in contexts {
            let Context { user, target_user, hostname, target_host, container, vm, .. } = context;
            if context.kind == Some(ContextKind::Remote) {
                // The remote host is not inside the container or machine from which it was reached.
                found = Self::default();
            }
            let newest = |new: &Option<String>, old: &mut Option<String>| {
                if new.is_some() {
                    old.clone_from(new);
                }
            };
            newest(user, &mut found.user);
            newest(target_user, &mut found.user);
            newest(hostname, &mut found.host);
            newest(target_host, &mut found.host);
            if vm.is_some() {
                found.container = None;
            }
            newest(vm, &mut found.vm);
            newest(container, &mut found.container);
        }
        (found != Self::default()).then_some(found)
    }

    /// The context as a short text, such as `root@zeta, container build`.
    pub fn text(&self) -> String {
        let place = match (&self.user, &self.host) {
            (Some(user), Some(host)) => Some(format!("{user}@{host}")),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        };
        let vm = self.vm.as_ref().map(|name| format!("machine {name}"));
        let container = self.container.as_ref().map(|name| format!("container {name}"));
        [place, vm, container].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// How a context ended, such as `crash by SIGKILL` or `failure with status 3`. `None` if its end reported nothing.
pub fn end_text(ended: &EndedContext) -> Option<String> {
    let exit = match ended.exit {
        Some(ContextExit::Success) => Some("success"),
        Some(ContextExit::Failure) => Some("failure"),
        Some(ContextExit::Crash) => Some("crash"),
        Some(ContextExit::Interrupt) => Some("interrupt"),
        None => None,
    };
    let how = match (&ended.signal, ended.status) {
        (Some(signal), _) => Some(format!("by {signal}")),
        (None, Some(status)) => Some(format!("with status {status}")),
        (None, None) => None,
    };
    let words: Vec<_> = [exit.map(str::to_owned), how].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Describes a context that ended: its command, program, container or machine, or else its id.
pub fn name_of(context: &Context) -> &str {
    let Context { command_line, comm, container, vm, id, .. } = context;
    let names = [command_line, container, vm, comm];
    names.into_iter().flatten().next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    fn after(sequences: &[&str]) -> Term {
        let mut term = Term::new(Size::cells(40, 5), Options::default());
        for sequence in sequences {
            Parser::new().advance(&mut term, format!("\x1b]3008;{sequence}\x1b\\").as_bytes());
        }
        term
    }

    fn text(sequences: &[&str]) -> Option<String> {
        ProgramContext::of_term(&after(sequences)).map(|context| context.text())
    }

    #[test]
    fn inner_contexts_add_to_outer_ones() {
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["start=a;type=shell"]), None);
        let shell = "start=a;type=shell;user=ada;hostname=zeta";
        assert_eq!(text(&[shell]).as_deref(), Some("ada@zeta"));
        let root = "start=b;type=elevate;user=ada;targetuser=root";
        assert_eq!(text(&[shell, root]).as_deref(), Some("root@zeta"));
        let container = "start=c;type=container;container=build";
        assert_eq!(text(&[shell, root, container]).as_deref(), Some("root@zeta, container build"));
        assert_eq!(text(&[shell, container, "end=c"]).as_deref(), Some("ada@zeta"));
        let remote = "start=d;type=remote;targethost=far;targetuser=eve";
        assert_eq!(text(&[shell, container, remote]).as_deref(), Some("eve@far"));
        let vm = "start=e;type=vm;vm=win";
        assert_eq!(text(&[vm]).as_deref(), Some("machine win"));
    }

    #[test]
    fn an_end_says_how() {
        let end = |fields: &str| {
            let term = after(&["start=a;type=command;cmdline=make all;comm=make", fields]);
            let ended = term.ended_context().unwrap();
            (name_of(&ended.context).to_owned(), end_text(ended))
        };
        let of = |text: &str| ("make all".to_owned(), Some(text.to_owned()));
        assert_eq!(end("end=a;exit=crash;signal=SIGKILL"), of("crash by SIGKILL"));
        assert_eq!(end("end=a;exit=failure;status=3"), of("failure with status 3"));
        assert_eq!(end("end=a;exit=success"), of("success"));
        assert_eq!(end("end=a").1, None);
    }
}

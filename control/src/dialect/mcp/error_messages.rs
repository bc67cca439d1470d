//! Error messages for models: the field or pane, the reason, and what to do next.
//!
//! These are the texts of the toolset `unterm`. The other toolsets call a pane a session, and use the errors of their
//! protocols.

use serde_json::Value;

use crate::{
    caller::{Access, Scopes},
    error::{self, Denial, Error},
};

/// The words that errors use for a tool and its subject.
#[derive(Clone, Copy)]
pub struct Speaker {
    /// The tool's name.
    pub tool: &'static str,
    /// The toolset's word for a pane.
    pub noun: &'static str,
    /// The tools that the errors may recommend.
    pub advises: Advises,
}

/// The tools that a toolset's errors may recommend, in addition to those of the toolset `small`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advises {
    /// All tools of the toolset `unterm`.
    All,
    /// No further tools, because the toolset lacks them.
    Few,
}

/// The word for a pane in the toolset `unterm`.
pub const PANE: &str = "pane";

impl Speaker {
    /// A problem, followed by advice. The advice is left out if the toolset may lack the tools in it.
    pub fn advised(self, why: &str, advice: &str) -> String {
        match self.advises {
            Advises::All => format!("{why}; {advice}"),
            Advises::Few => why.to_owned(),
        }
    }

    /// The part of a message that describes how to ask the user.
    fn by_request(self) -> &'static str {
        match self.advises {
            Advises::All => " by request_human",
            Advises::Few => "",
        }
    }

    /// The message for an error.
    pub fn message(self, error: &Error) -> String {
        if let Error::Denied(denial) = error {
            return self.denied(denial);
        }
        if self.noun != PANE {
            return error.to_string();
        }
        match error {
            Error::NoSession(id) => {
                self.advised(&format!("There is no pane {id}"), "pane_list lists those there are")
            }
            Error::Invalid { name, expected, got } => {
                format!("`{}` must be {expected}, not {}", self.list(name), short(got))
            }
            Error::Condition { list, index, key, expected, got } => {
                let at = format!("{}[{index}]{}", self.list(list), error::path(key));
                format!("`{at}` must be {expected}, not {}", short(got))
            }
            Error::Missing(name) | Error::MissingParameter(name) => {
                format!("`{}` needs `{name}`", self.tool)
            }
            Error::TooLarge { cols, rows, max } => format!(
                "`cols` {cols} by `rows` {rows} make more than {max} cells; give smaller ones"
            ),
            Error::BadCwd(path) => format!(
                "`cwd` must be the absolute path of a directory that is there, not {}",
                Value::from(path.display().to_string())
            ),
            Error::Policy(_) => format!(
                "{error}. It is a rule of the user: do it another way, or ask them{}",
                self.by_request()
            ),
            Error::Leased { id, holder } => format!(
                "Nothing was typed: pane {id} is leased by {holder}. Wait until they give it back, or use another pane"
            ),
            Error::Secret(_) => {
                let ask = self.by_request();
                format!("{}: tell them{ask}, then wait", renamed(&error.to_string()))
            }
            Error::Ended { .. } | Error::Over { .. } => self.advised(
                &format!(
                    "{}. What it showed stays readable by screen",
                    renamed(&error.to_string())
                ),
                "pane_open opens another",
            ),
            Error::NoBlock { block: Some(_), .. } => {
                format!(
                    "{}; without `block` the last that has ended is read",
                    renamed(&error.to_string())
                )
            }
            Error::NoBlock { block: None, .. } => {
                let why = format!(
                    "{}: none has, or its output was longer than the history",
                    renamed(&error.to_string())
                );
                self.advised(&why, "`transcript` reads what is left")
            }
            Error::NoRoom { .. } => self
                .advised(&renamed(&error.to_string()), "pane_open opens one in a tab of its own"),
            Error::Write { id, error } => {
                format!("Nothing was typed: in pane {id} {error}. Look at it by screen")
            }
            error => renamed(&error.to_string()),
        }
    }

    /// The name that the tool has for a method's parameter.
    fn list(self, name: &'static str) -> &'static str {
        match (self.tool, name) {
            ("input", "any") => "wait_any",
            ("input", "all") => "wait_all",
            (_, name) => name,
        }
    }

    fn denied(self, denial: &Denial) -> String {
        let Self { tool, noun, .. } = self;
        let why = match denial {
            Denial::Scope { needs, has, .. } => {
                let needs = match needs {
                    Access::Read => "read",
                    Access::Act => "act",
                    Access::Admin => "admin",
                };
                let has = named_scopes(*has).join(" and ");
                format!(
                    "{tool} needs the scope {needs}, and your token gives {has}. Ask the user for another token"
                )
            }
            Denial::Sessions { session, reached, .. } => {
                let reached: Vec<_> = reached.iter().map(u64::to_string).collect();
                let reached = match reached.as_slice() {
                    [one] => format!("{noun} {one}"),
                    several => format!("{noun}s {}", several.join(", ")),
                };
                match session {
                    Some(id) => format!("your token does not reach {noun} {id}, only {reached}"),
                    None => format!("your token reaches {reached} only, and {tool} is about more"),
                }
            }
            Denial::Approval(_) => {
                format!("{tool} needs the user's approval: ask them, then call it again")
            }
            Denial::Agents(_) => format!("{tool} is for the user, and for no token of an agent"),
            Denial::Ended => {
                "your token has ended, or was taken back. Ask the user for another one".to_owned()
            }
            Denial::Other(why) => why.clone(),
        };
        format!("Not allowed: {why}")
    }
}

/// A given value as an error quotes it. A phrase replaces a value that is too long.
fn short(got: &str) -> &str {
    if got.len() > 200 { "what was given" } else { got }
}

/// The names of scopes.
pub fn named_scopes(scopes: Scopes) -> Vec<&'static str> {
    let all = [(Scopes::READ, "read"), (Scopes::ACT, "act"), (Scopes::ADMIN, "admin")];
    all.iter().filter(|(scope, _)| scopes.contains(*scope)).map(|(_, name)| *name).collect()
}

/// Replaces “session” by “pane”, except in quotes from a screen (“…”).
fn renamed(text: &str) -> String {
    let mut renamed = String::with_capacity(text.len());
    for (index, part) in text.split_inclusive(['“', '”']).enumerate() {
        match index % 2 {
            0 => renamed += &part.replace("Session", "Pane").replace("session", "pane"),
            _ => renamed += part,
        }
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::shell::policy::Refusal;

    const RUN: Speaker = Speaker { tool: "run", noun: PANE, advises: Advises::All };

    #[test]
    fn panes_are_called_so_and_quotes_stay() {
        let busy = Error::busy(3, "tmux new-session");
        let message = RUN.message(&busy);
        assert!(message.contains("pane 3 runs “tmux new-session”"), "{message}");
        let there = Speaker { noun: "session", ..RUN }.message(&busy);
        assert!(there.contains("session 3 runs"), "{there}");
    }

    #[test]
    fn advice_names_only_tools_that_the_toolset_has() {
        let few = Speaker { advises: Advises::Few, ..RUN };
        for error in [
            Error::NoSession(3),
            Error::Policy(Refusal::NotAllowed),
            Error::NoBlock { id: 3, block: None },
        ] {
            let lacks = ["pane_", "request_human", "transcript"];
            assert!(lacks.iter().any(|tool| RUN.message(&error).contains(tool)), "{error}");
            let message = few.message(&error);
            assert!(!lacks.iter().any(|tool| message.contains(tool)), "{message}");
        }
    }

    #[test]
    fn a_refusal_names_the_pane_and_the_tool_and_no_method() {
        let denied = |denial| RUN.message(&Error::Denied(denial));
        let what = || "exec.run_wait".to_owned();
        let sessions = |session| Denial::Sessions { what: what(), session, reached: [1, 2].into() };
        assert_eq!(
            denied(sessions(Some(7))),
            "Not allowed: your token does not reach pane 7, only panes 1, 2"
        );
        assert_eq!(
            denied(sessions(None)),
            "Not allowed: your token reaches panes 1, 2 only, and run is about more"
        );
        let scope = Denial::Scope { what: what(), needs: Access::Act, has: Scopes::READ };
        assert_eq!(
            denied(scope),
            "Not allowed: run needs the scope act, and your token gives read. Ask the user for another token"
        );
        for denial in [Denial::Approval(what()), Denial::Agents(what()), Denial::Ended] {
            let message = denied(denial);
            assert!(!message.contains("exec."), "{message}");
        }
    }
}

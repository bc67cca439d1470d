//! Who reads the line that is entered in a pane, and what that line is. Rules on lines need this if keys have edited
//! the line, so that it differs from what was typed.
//!
//! If a shell marks where its input begins (OSC 133 B), the line is read from the screen. For other shells, it is
//! unknown. A program that is not a shell runs no commands, so the rules check what was typed.

use unterm_mux::{Composed, Edited, Line, Pane, PaneId, ShownLine, is_carrier};
use unterm_term::Modes;

use super::{
    policy::{Policy, Refusal},
    shell::Shell,
};

/// The program that reads a pane's input.
pub struct Reading {
    /// Whether the program is a shell.
    is_shell: bool,
    /// The kind of shell, if the system reports it.
    shell: Option<Shell>,
    /// Whether a shell will read the input that the program leaves unread.
    is_before_shell: bool,
    /// The line that the shell shows, if it marks its input.
    shown: Option<ShownLine>,
    /// Whether the program understands bracketed paste.
    knows_pastes: bool,
}

impl Reading {
    /// The current reader of a pane's input.
    pub fn of(pane: &Pane) -> Self {
        let (line, knows_pastes) = {
            let term = pane.term();
            (ShownLine::of(&term), term.modes().contains(Modes::BRACKETED_PASTE))
        };
        let foreground = pane.foreground().map(|it| it.name).unwrap_or_default();
        let shell = Shell::of_process(&foreground);
        let is_shell = line.is_some() || shell.is_some();
        let shown = line.filter(|line| !line.is_cut);
        // A program that does not read what is echoed, such as `sleep`, or one that connects to a shell on another
        // machine.
        let is_before_shell = pane.process().echo() == Some(true) || is_carrier(&foreground);
        Self { is_shell, shell, is_before_shell, shown, knows_pastes }
    }

    /// Whether the program is a shell.
    pub fn is_shell(&self) -> bool {
        self.is_shell
    }

    /// Whether the rules allow the line that results from some input.
    pub fn check(&self, policy: &Policy, pane: PaneId, composed: &Composed) -> Result<(), Refusal> {
        if !policy.binds(pane) {
            return Ok(());
        }
        let Read { lines, texts, is_unknown } = self.read(composed);
        for text in &texts {
            policy.check_typed::<&str>(Some(pane), &[], text)?;
        }
        policy.check_typed(Some(pane), &lines, "")?;
        if self.is_shell || self.is_before_shell {
            policy.check_typed_at_prompt(Some(pane), self.shell, &lines)?;
        }
        if is_unknown { Err(Refusal::Unknown) } else { Ok(()) }
    }

    /// The lines that some input enters, separated by line ends, or else the unfinished line that it leaves. `None` if the program
    /// may read something else, or more.
    pub fn line(&self, composed: &Composed) -> Option<String> {
        let Read { mut lines, texts, is_unknown } = self.read(composed);
        let Composed { entered, unfinished, .. } = composed;
        let is_edited = |line: &Line| line.edited != Edited::No;
        // A shell's edited line is on the screen. That of another program, such as ssh, is unknown.
        let is_unknown =
            is_unknown || is_edited(unfinished) || !self.is_shell && entered.iter().any(is_edited);
        if lines.is_empty() {
            lines.push(unfinished.text.clone());
        } else if !unfinished.text.is_empty() {
            return None;
        }
        // The text of an edited line, before it was edited, is among the texts.
        let is_part = |text: &String| {
            text.is_empty() || lines.contains(text) || entered.iter().any(|line| line.text == *text)
        };
        (!is_unknown && texts.iter().all(is_part)).then(|| lines.join("\n"))
    }

    /// What the program reads of some input.
    fn read(&self, composed: &Composed) -> Read {
        let Composed { entered, unfinished, pastes, is_shown } = composed;
        let shown = self.shown.as_ref().filter(|_| *is_shown);
        let (mut lines, mut texts) = (Vec::new(), vec![unfinished.text.clone()]);
        let mut is_unknown = self.is_shell && *pastes && !self.knows_pastes;
        // A shell may have inserted text by itself, in front of the cursor. Text behind the cursor is only a
        // suggestion. A key that adds no text, such as Ctrl+C, may remove the inserted text, so it is not checked.
        let next = entered.first().unwrap_or(unfinished);
        let typed = next.text.strip_suffix(next.added.as_str()).unwrap_or_default();
        if let Some(ShownLine { before_cursor, .. }) = shown
            && next.edited == Edited::No
            && !(entered.is_empty() && next.added.is_empty())
            && (typed.is_empty() || !before_cursor.starts_with(typed))
        {
            texts.push(format!("{before_cursor}{}", next.added));
        }
        for line in entered {
            if !self.is_shell || line.edited == Edited::No {
                lines.push(line.text.clone());
                continue;
            }
            texts.push(line.text.clone());
            match shown.filter(|_| line.edited == Edited::Before) {
                Some(shown) => lines.push(shown.with(&line.added)),
                None => is_unknown = true,
            }
        }
        if let Line { edited: Edited::Before, added, .. } = unfinished
            && let Some(shown) = shown
        {
            texts.push(shown.with(added));
        }
        Read { lines, texts, is_unknown }
    }
}

/// What a program reads of some input.
struct Read {
    /// Entered lines, as a whole.
    lines: Vec<String>,
    /// Other texts that must not contain what is blocked.
    texts: Vec<String>,
    /// Whether an unknown line would be entered.
    is_unknown: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_edited_line_what_is_shown_counts() {
        let policy = Policy::default();
        let rules = serde_json::json!({
            "enabled": true, "blocked_patterns": ["forbidden"], "allowed_patterns": ["echo"],
            "enforce_allowed": true,
        });
        policy.set(serde_json::from_value(rules).unwrap()).unwrap();
        let shell = |before: &str, behind: &str| Reading {
            is_shell: true,
            shell: Some(Shell::Bash),
            is_before_shell: false,
            shown: Some(ShownLine {
                before_cursor: before.to_owned(),
                behind_cursor: behind.to_owned(),
                ..ShownLine::default()
            }),
            knows_pastes: true,
        };
        let unseen = |is_shell| Reading {
            is_shell,
            shell: None,
            is_before_shell: false,
            shown: None,
            knows_pastes: false,
        };
        let (hidden, program) = (|| unseen(true), unseen(false));
        let enter = |edited, added: &str| {
            let line = Line { text: "typed".to_owned(), edited, added: added.to_owned() };
            Composed { entered: vec![line], is_shown: true, ..Composed::default() }
        };
        let check = |reading: &Reading, composed| reading.check(&policy, PaneId(0), &composed);
        let blocked = Err(Refusal::Blocked("forbidden".to_owned()));
        let before = |added| enter(Edited::Before, added);
        assert_eq!(check(&shell("echo forb", "dden"), before("i")), blocked);
        assert_eq!(check(&shell("echo for", ""), before("give")), Ok(()));
        assert_eq!(check(&shell("id", ""), before("")), Err(Refusal::NotAllowed));
        let text = |text: &str, added: &str| {
            let (text, added) = (text.to_owned(), added.to_owned());
            let line = Line { text, added, ..Line::default() };
            Composed { entered: vec![line], is_shown: true, ..Composed::default() }
        };
        let suggests = shell("echo for", "bidden");
        assert_eq!(check(&suggests, text("echo forgive", "give")), Ok(()));
        let puts = shell("echo forbid", "");
        assert_eq!(check(&puts, text("den", "den")), blocked, "nobody typed the rest");
        // A change that is not on the screen yet, and one that never will be.
        let late = Composed { is_shown: false, ..before("") };
        assert_eq!(check(&shell("echo", ""), late), Err(Refusal::Unknown));
        assert_eq!(check(&shell("echo", ""), enter(Edited::Now, "")), Err(Refusal::Unknown));
        assert_eq!(check(&hidden(), before("")), Err(Refusal::Unknown));
        // A paste that its reader splits into lines.
        let paste = Composed { pastes: true, ..Composed::default() };
        assert_eq!(check(&hidden(), paste.clone()), Err(Refusal::Unknown));
        assert_eq!(check(&program, paste), Ok(()));
        // Not the line of a command, so the typed text is checked.
        assert_eq!(check(&program, before("")), Err(Refusal::NotAllowed));
        let none = serde_json::json!({
            "enabled": true, "blocked_patterns": [], "allowed_patterns": [],
        });
        policy.set(serde_json::from_value(none).unwrap()).unwrap();
        assert_eq!(check(&hidden(), before("")), Ok(()), "rules that forbid nothing");
    }
}

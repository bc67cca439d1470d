//! Determines which program reads the line that is entered in a pane, and the text of that line. The rules on lines
//! need this if keys have edited the line, so that it differs from the typed text.
//!
//! If a shell marks where its input begins (OSC 133 B), the line is read from the screen, unless the screen may show a
//! different line. For other shells, an edited line is unknown. A program that is not a shell runs no commands, so the
//! rules check the typed text.
//!
//! The user releases a refused line only as it was typed ([`Reading::line`]), never as the screen shows it.

use unterm_mux::{Composed, Distortion, Edited, Line, Pane, PaneId, ShownLine, is_carrier};
use unterm_term::Modes;

use super::{
    kind::Shell,
    policy::{Policy, Refusal, Unknown},
};

/// The program that reads a pane's input.
pub struct Reading {
    /// Whether the program is a shell.
    is_shell: bool,
    /// The kind of shell, if the system reports it.
    shell: Option<Shell>,
    /// Whether a shell will read the input if the program does not.
    is_before_shell: bool,
    /// The line that the shell shows, if it marks its input.
    shown: Option<ShownLine>,
    /// The number of inputs whose effect `shown` includes. `None` if that number is uncertain.
    shown_inputs: Option<u64>,
    /// Whether the program understands bracketed paste.
    knows_pastes: bool,
}

impl Reading {
    /// The program that reads a pane's input now.
    pub fn of(pane: &Pane) -> Self {
        // The number of inputs must be read before the screen is, so that the screen includes their effect.
        let inputs = pane.inputs();
        let is_reported = pane.process().awaits_input().is_some();
        let shown_inputs = (is_reported && pane.is_settled()).then_some(inputs);
        let (mut line, knows_pastes, size) = {
            let term = pane.term();
            let knows_pastes = term.modes().contains(Modes::BRACKETED_PASTE);
            (ShownLine::of(&term), knows_pastes, term.size())
        };
        let reported = pane.process().reported_size();
        if let Some(line) = &mut line
            && reported.is_some_and(|reported| reported != (size.cols, size.rows))
        {
            line.distortion.get_or_insert(Distortion::Size);
        }
        let foreground = pane.foreground().map(|it| it.name).unwrap_or_default();
        let shell = Shell::of_process(&foreground);
        let is_shell = line.is_some() || shell.is_some();
        let shown = line.filter(|line| !line.is_cut);
        // A program that lets the terminal echo input may never read it, as `sleep` does. Or the program connects to a
        // shell on another machine, as `ssh` does.
        let is_before_shell = pane.process().echo() == Some(true) || is_carrier(&foreground);
        Self { is_shell, shell, is_before_shell, shown, shown_inputs, knows_pastes }
    }

    /// Whether the program is a shell.
    pub fn is_shell(&self) -> bool {
        self.is_shell
    }

    /// Whether the rules allow the line that results from this input.
    pub fn check(&self, policy: &Policy, pane: PaneId, composed: &Composed) -> Result<(), Refusal> {
        if !policy.binds(pane) {
            return Ok(());
        }
        let Read { lines, texts, unknown } = self.read(composed);
        for text in &texts {
            policy.check_typed::<&str>(Some(pane), &[], text)?;
        }
        policy.check_typed(Some(pane), &lines, "")?;
        if self.is_shell || self.is_before_shell {
            policy.check_typed_at_prompt(Some(pane), self.shell, &lines)?;
        }
        unknown.map_or(Ok(()), |why| Err(Refusal::Unknown(why)))
    }

    /// The lines that this input enters, as they were typed and separated by line ends. If it enters none, the
    /// unfinished line. `None` if the program may read a different line, or more lines.
    pub fn line(&self, composed: &Composed) -> Option<String> {
        let Read { mut lines, texts, unknown } = self.read(composed);
        let Composed { entered, unfinished, .. } = composed;
        let mut all = entered.iter().chain([unfinished]);
        let is_unknown = unknown.is_some() || !all.all(|line| self.is_typed(line, composed));
        if lines.is_empty() {
            lines.push(unfinished.text.clone());
        } else if !unfinished.text.is_empty() {
            return None;
        }
        let is_part = |text: &String| text.is_empty() || lines.contains(text);
        (!is_unknown && texts.iter().all(is_part)).then(|| lines.join("\n"))
    }

    /// Whether a line certainly equals its typed text. If the screen shows other text before this input, it does not.
    /// Keys such as Backspace and Ctrl+C may have an unusual effect. So if any were typed, the screen must show exactly
    /// the typed text.
    fn is_typed(&self, line: &Line, composed: &Composed) -> bool {
        if line.edited != Edited::No || line.keys == Edited::Now {
            return false;
        }
        let earlier = line.text.strip_suffix(line.added.as_str()).unwrap_or_default();
        let shown = self.shown.as_ref().filter(|_| self.shows(composed));
        match (line.keys, shown) {
            (Edited::No, None) => true,
            // Shells show the lines of a paste in different ways, so a paste is not compared with the screen.
            (Edited::No, Some(shown)) => {
                earlier.is_empty() || earlier.contains('\n') || shown.before_cursor == earlier
            }
            (_, shown) => shown.is_some_and(|shown| {
                shown.distortion.is_none()
                    && shown.before_cursor == earlier
                    && shown.behind_cursor.is_empty()
            }),
        }
    }

    /// Whether the screen shows the effect of all earlier input.
    fn shows(&self, composed: &Composed) -> bool {
        composed.is_shown || self.shown_inputs == Some(composed.inputs)
    }

    /// The lines that the program reads from this input.
    fn read(&self, composed: &Composed) -> Read {
        let Composed { entered, unfinished, pastes, .. } = composed;
        let is_shown = self.shows(composed);
        let shown = self.shown.as_ref().filter(|_| is_shown);
        let (mut lines, mut texts) = (Vec::new(), vec![unfinished.text.clone()]);
        let mut unknown =
            (self.is_shell && *pastes && !self.knows_pastes).then_some(Unknown::Paste);
        // A shell may have inserted text before the cursor. The rules must check that text as well. Text after the
        // cursor is only a suggestion. If a key adds no text, such as Ctrl+C, the inserted text is not checked, because
        // the key may remove it.
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
            match self.edited(line, is_shown) {
                Ok(line) => lines.push(line),
                Err(why) => unknown = unknown.or(Some(why)),
            }
        }
        if let Line { edited: Edited::Before, added, .. } = unfinished
            && let Some(shown) = shown
        {
            texts.push(shown.with(added));
        }
        Read { lines, texts, unknown }
    }

    /// The line that a shell has after keys edited it. `is_shown`: whether the screen shows the effect of all earlier
    /// input.
    fn edited(&self, line: &Line, is_shown: bool) -> Result<String, Unknown> {
        let shown = self.shown.as_ref().ok_or(Unknown::Unmarked)?;
        if line.edited == Edited::Now || !is_shown {
            return Err(Unknown::NotYetShown);
        }
        match shown.doubt(&line.earlier) {
            Some(why) => Err(Unknown::Distorted(why)),
            None => Ok(shown.with(&line.added)),
        }
    }
}

/// The lines that a program reads from an input.
struct Read {
    /// The entered lines, each as a whole.
    lines: Vec<String>,
    /// Further texts, which must not contain blocked text.
    texts: Vec<String>,
    /// The reason, if an entered line is unknown.
    unknown: Option<Unknown>,
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
            shown_inputs: None,
            knows_pastes: true,
        };
        let unseen = |is_shell| Reading {
            is_shell,
            shell: None,
            is_before_shell: false,
            shown: None,
            shown_inputs: None,
            knows_pastes: false,
        };
        let (hidden, program) = (|| unseen(true), unseen(false));
        let enter = |edited, added: &str| {
            let (text, added) = ("typed".to_owned(), added.to_owned());
            let line = Line { text, edited, added, keys: edited, ..Line::default() };
            Composed { entered: vec![line], is_shown: true, ..Composed::default() }
        };
        let check = |reading: &Reading, composed| reading.check(&policy, PaneId(0), &composed);
        let blocked = Err(Refusal::Blocked("forbidden".to_owned()));
        let before = |added| enter(Edited::Before, added);
        let unknown = |why| Err(Refusal::Unknown(why));
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
        // The screen does not show the first change yet, and will never show the second change.
        let late = Composed { is_shown: false, ..before("") };
        assert_eq!(check(&shell("echo", ""), late), unknown(Unknown::NotYetShown));
        let now = enter(Edited::Now, "");
        assert_eq!(check(&shell("echo", ""), now), unknown(Unknown::NotYetShown));
        assert_eq!(check(&hidden(), before("")), unknown(Unknown::Unmarked));
        // The shell without bracketed paste splits a paste into lines.
        let paste = Composed { pastes: true, ..Composed::default() };
        assert_eq!(check(&hidden(), paste.clone()), unknown(Unknown::Paste));
        assert_eq!(check(&program, paste), Ok(()));
        // The program is not a shell, so the typed text is checked.
        assert_eq!(check(&program, before("")), Err(Refusal::NotAllowed));
        let none = serde_json::json!({
            "enabled": true, "blocked_patterns": [], "allowed_patterns": [],
        });
        policy.set(serde_json::from_value(none).unwrap()).unwrap();
        assert_eq!(check(&hidden(), before("")), Ok(()), "rules that forbid nothing");
    }

    #[test]
    fn a_user_releases_a_line_only_as_it_was_typed() {
        let reading = |shown: Option<ShownLine>| Reading {
            is_shell: true,
            shell: Some(Shell::Bash),
            is_before_shell: false,
            shown,
            shown_inputs: None,
            knows_pastes: true,
        };
        let shown = |before: &str, behind: &str, distortion| {
            let (before_cursor, behind_cursor) = (before.to_owned(), behind.to_owned());
            Some(ShownLine { before_cursor, behind_cursor, distortion, ..ShownLine::default() })
        };
        let enter = |text: &str, edited, keys| {
            let line = Line { text: text.to_owned(), edited, keys, ..Line::default() };
            Composed { entered: vec![line], is_shown: true, ..Composed::default() }
        };
        let line = |shown, composed| reading(shown).line(&composed);
        let typed = |text: &str| enter(text, Edited::No, Edited::No);
        let corrected = |text: &str| enter(text, Edited::No, Edited::Before);
        let known = Some(": rm x".to_owned());
        assert_eq!(line(shown(": rm x", "", None), typed(": rm x")), known);
        // The shell inserts more text than the key that was typed.
        assert_eq!(line(shown(": rm x; id; ", "", None), typed(": rm x")), None);
        assert_eq!(line(None, typed(": rm x")), known, "a shell without marks");
        assert_eq!(line(shown(": rm x", "", None), corrected(": rm x")), known, "Backspace, say");
        // The line is unknown if the screen shows more text, may be distorted, or does not show the input yet.
        assert_eq!(line(shown("id; : rm x", "", None), typed(": rm x")), None);
        assert_eq!(line(shown("id; : rm x", "", None), corrected(": rm x")), None);
        assert_eq!(line(shown(": rm x", "; id", None), corrected(": rm x")), None);
        let scrolled = Some(Distortion::Scrolled);
        assert_eq!(line(shown(": rm x", "", scrolled), corrected(": rm x")), None);
        let late = Composed { is_shown: false, ..corrected(": rm x") };
        assert_eq!(line(shown(": rm x", "", None), late), None);
        assert_eq!(line(None, corrected(": rm x")), None);
        // Keys edited the line, so it may differ from the typed text.
        let edited = enter(": rm x", Edited::Before, Edited::Before);
        assert_eq!(line(shown(": rm x", "", None), edited), None);
        // The screen can't show the effect of a key in the input that is being checked.
        let now = enter(": rm x", Edited::No, Edited::Now);
        assert_eq!(line(shown(": rm x", "", None), now), None);
    }
}

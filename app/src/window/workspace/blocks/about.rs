//! The text of the panel beside a prompt about its command, and the actions that are possible on the command.

use std::path::Path;

use unterm_term::{Command, ScreenKind, Term};

use crate::local_time;
use crate::window::workspace::{blocks::action::BlockAction, folds};

/// The maximum length of the command line in the panel, in characters.
const LINE: usize = 60;

/// Describes a command: its status, duration, start time, directory and line. Empty if the command has not run. The line
/// is last, because it stands in the row beside the panel, and a narrow panel cuts the end of the text.
pub(crate) fn about(command: &Command) -> String {
    if command.output_seq == 0 {
        return String::new();
    }
    let line =
        command.shown().and_then(|line| line.lines().next()).map(str::trim).map(|line| match line
            .char_indices()
            .nth(LINE)
        {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        });
    let status = match command.exit_code {
        Some(code) => format!("exit code {code}"),
        None if command.is_running() => "running".to_owned(),
        None => "ended".to_owned(),
    };
    let began = local_time::of_day(command.output_time).filter(|_| command.output_time != 0);
    let directory = command.cwd.as_deref().and_then(unterm_mux::local_path);
    let directory = directory.map(|path| short_path(&path, std::env::home_dir().as_deref()));
    let cut = command.is_erased.then(|| "beginning erased".to_owned());
    let parts = [Some(status), command.duration().map(span), began, cut, directory, line];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Formats a duration in milliseconds for the user.
pub(crate) fn span(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{milliseconds} ms"),
        (0, 0, seconds) => format!("{seconds}.{} s", milliseconds / 100 % 10),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn short_path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// The actions that are possible on a command now.
pub(crate) fn possible(term: &Term, command: &Command) -> Vec<BlockAction> {
    let has_line = command.line.as_deref().is_some_and(|line| !line.is_empty());
    let prompts = term.commands().next_back().is_some_and(Command::is_prompting);
    let mut parts = Vec::new();
    if command.output_seq == 0 || term.screen() != ScreenKind::Main {
        return parts;
    }
    if term.output_range(command.id).is_some() {
        parts.push(BlockAction::CopyOutput);
    }
    if has_line {
        parts.push(BlockAction::CopyCommand);
    }
    if has_line && prompts {
        parts.push(BlockAction::Rerun);
    }
    if folds::can_fold(term, command.id) {
        parts.push(BlockAction::Fold);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{Options, Parser, Size};

    #[test]
    fn durations_are_short() {
        let spans = [0, 999, 1000, 1250, 59_999, 83_000, 7_385_000].map(span);
        assert_eq!(
            spans,
            ["0 ms", "999 ms", "1.0 s", "1.2 s", "59.9 s", "1 min 23 s", "2 h 3 min"]
        );
    }

    #[test]
    fn a_panel_names_what_is_known_and_offers_what_can_be_done() {
        let mut term = Term::new(Size::cells(40, 10), Options::default());
        let mut parser = Parser::new();
        let mut print = |term: &mut Term, text: &str, time: u64| {
            term.set_time(time);
            parser.advance(term, text.as_bytes());
        };
        let of = |term: &Term, id: u64| {
            let command = term.command(id).expect("a command");
            (about(command), possible(term, command))
        };
        use BlockAction::{CopyCommand, CopyOutput, Fold, Rerun};
        print(&mut term, "\x1b]7;file:///tmp\x07\x1b]133;A\x07$ \x1b]133;B\x07", 1000);
        assert_eq!(of(&term, 1), (String::new(), vec![]), "at a prompt");
        print(&mut term, "make\r\n\x1b]133;C\x07", 2000);
        let (text, parts) = of(&term, 1);
        assert_eq!(text, "running · 1970-01-01 00:00:02 · /tmp · make");
        assert!(!parts.contains(&Rerun) && !parts.contains(&Fold), "{parts:?}");
        print(&mut term, "all\r\n\x1b]133;D;2\x07\x1b]133;A\x07$ \x1b]133;B\x07", 3250);
        let (text, parts) = of(&term, 1);
        assert_eq!(text, "exit code 2 · 1.2 s · 1970-01-01 00:00:02 · /tmp · make");
        assert_eq!(parts, [CopyOutput, CopyCommand, Rerun, Fold]);
        // A command without output has no output to copy or fold, but its line can be copied and run again.
        print(&mut term, "true\r\n\x1b]133;C\x07\x1b]133;D;0\x07", 4000);
        print(&mut term, "\x1b]133;A\x07$ \x1b]133;B\x07", 4000);
        let (text, parts) = of(&term, 2);
        assert_eq!(text, "exit code 0 · 0 ms · 1970-01-01 00:00:04 · /tmp · true");
        assert_eq!(parts, [CopyCommand, Rerun]);
        // What a command prints after it cleared the screen can be copied and folded.
        print(&mut term, "clear\r\n\x1b]133;C\x07old\r\n\x1b[H\x1b[2J\x1b[3J", 5000);
        print(&mut term, "a\r\nb\r\n\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07", 5000);
        let (text, parts) = of(&term, 3);
        assert_eq!(
            text,
            "exit code 0 · 0 ms · 1970-01-01 00:00:05 · beginning erased · /tmp · clear"
        );
        assert_eq!(parts, [CopyOutput, CopyCommand, Rerun, Fold]);
    }
}

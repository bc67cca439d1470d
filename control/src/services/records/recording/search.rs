//! Finds text in the pages of recordings. A page contains no secrets, because they are removed when it is written.

use unterm_term::Pattern;

/// A line of output in a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundLine {
    /// The line.
    pub text: String,
    /// The first byte of the match in the line.
    pub at: usize,
    /// The command that printed the line.
    pub command: Option<String>,
    /// The exit code of that command.
    pub exit_code: Option<i32>,
}

/// The lines of output in a page that match a pattern, the newest first, at most `most` of them.
pub fn find_lines(page: &str, pattern: &Pattern, most: usize) -> Vec<FoundLine> {
    let mut found: Vec<FoundLine> = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut command, mut exit_code) = (None, None);
    for line in page.lines() {
        match fence {
            // A fence is longer than any run of backticks in the output.
            Some(end) if line == end => fence = None,
            Some(_) => {
                if let Some(range) = pattern.find_in(line) {
                    let (text, at, command) = (line.to_owned(), range.start, command.clone());
                    found.push(FoundLine { text, at, command, exit_code });
                }
            }
            None if line.starts_with("```") => fence = Some(line),
            None => {
                if let Some(heading) = line.strip_prefix("## Block ") {
                    command = heading.split_once(" — ").map(|(_, rest)| quoted(rest));
                    exit_code = None;
                } else if let Some(heading) = line.strip_prefix("> exit: ") {
                    let code = heading.split(' ').next();
                    exit_code = code.and_then(|code| code.parse().ok());
                }
            }
        }
    }
    found.reverse();
    found.truncate(most);
    found
}

/// The text of a code span.
fn quoted(span: &str) -> String {
    match span.strip_prefix("`` ").and_then(|span| span.strip_suffix(" ``")) {
        Some(text) => text.to_owned(),
        None => span.trim_matches('`').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Case, PatternKind};

    use super::*;

    #[test]
    fn a_line_of_output_has_the_command_that_printed_it() {
        let page = "---\nshell: \"error\"\n---\n\n# Unterm session — error\n\n\
            ## Block 1 — `make error`\n\n> exit: 2 · 1.20s · 10:00:00\n\n\
            ````\nan error\n```\n## Block 9 — `forged error`\n````\n\n\
            ## Block 2 — `` echo `error` ``\n\n> exit: unknown · 10:00:02\n\n```\nlast error here\n```\n";
        let pattern = Pattern::new("error", PatternKind::Literal, Case::Sensitive).unwrap();
        let found = find_lines(page, &pattern, 10);
        let shown: Vec<_> = found
            .iter()
            .map(|it| (&*it.text, it.at, it.command.as_deref().unwrap_or_default(), it.exit_code))
            .collect();
        assert_eq!(
            shown,
            [
                ("last error here", 5, "echo `error`", None),
                ("## Block 9 — `forged error`", 23, "make error", Some(2)),
                ("an error", 3, "make error", Some(2)),
            ]
        );
        assert_eq!(find_lines(page, &pattern, 1).len(), 1);
    }
}

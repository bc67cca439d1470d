//! The parts of a screen to which rules apply, as herdr defines them.

use unterm_plugin::Region;

/// A part of a screen. The regions `title` and `progress` are not on the screen, so they are empty here.
pub fn part(screen: &str, region: Region) -> &str {
    let lines: Vec<&str> = screen.lines().collect();
    let from = |line: usize| &screen[start_of(screen, &lines, line)..];
    let until = |line: usize| &screen[..start_of(screen, &lines, line)];
    match region {
        Region::OscTitle | Region::OscProgress => "",
        Region::WholeRecent => screen,
        Region::AfterLastPromptMarker => match lines.iter().rposition(|line| is_prompt(line)) {
            Some(prompt) => from(prompt + 1),
            None => screen,
        },
        Region::BeforeCurrentPromptMarker => current_prompt(&lines).map_or(screen, until),
        Region::WholeRecentWithoutCurrentPromptMarker => match current_prompt(&lines) {
            Some(_) => "",
            None => screen,
        },
        Region::CurrentPromptBlockMarker => match message(&lines) {
            Some(line) => lines[line],
            None => "",
        },
        Region::AfterCurrentPromptBlockMarker => message(&lines).map_or("", from),
        Region::PromptBoxBody => match box_top(&lines) {
            Some(top) => {
                let below = lines[top + 1..].iter().position(|line| is_rule(line));
                let end = below.map_or(lines.len(), |count| top + 1 + count);
                let start = start_of(screen, &lines, top + 1);
                &screen[start..start_of(screen, &lines, end).max(start)]
            }
            None => "",
        },
        Region::AbovePromptBox => box_top(&lines).map_or(screen, until),
        Region::LastNonEmptyAbovePromptBox => {
            let above = box_top(&lines).map_or(&lines[..], |top| &lines[..top]);
            above.iter().rev().find(|line| !line.trim().is_empty()).copied().unwrap_or_default()
        }
        Region::AfterLastHorizontalRule => match lines.iter().rposition(|line| is_rule(line)) {
            Some(rule) => from(rule + 1),
            None => screen,
        },
        Region::BottomLines(count) => from(lines.len().saturating_sub(count)),
        Region::BottomNonEmptyLines(count) => {
            let filled = (0..lines.len()).rev().filter(|at| !lines[*at].trim().is_empty());
            filled.take(count).last().map_or("", from)
        }
    }
}

/// The byte at which a line begins. For a line after the last line: the end of the screen.
fn start_of(screen: &str, lines: &[&str], line: usize) -> usize {
    match lines.get(line) {
        // The lines are parts of the screen.
        Some(line) => line.as_ptr() as usize - screen.as_ptr() as usize,
        None => screen.len(),
    }
}

/// Whether a line begins with Codex's prompt.
fn is_prompt(line: &str) -> bool {
    line == "›" || line.starts_with("› ")
}

/// Whether a line begins a message of Codex.
fn is_message(line: &str) -> bool {
    line.starts_with(['•', '■', '✗', '✓'])
}

/// The last prompt, unless a message follows it.
fn current_prompt(lines: &[&str]) -> Option<usize> {
    let prompt = lines.iter().rposition(|line| is_prompt(line))?;
    (!lines[prompt + 1..].iter().any(|line| is_message(line))).then_some(prompt)
}

/// The line with which the last message before the current prompt begins.
fn message(lines: &[&str]) -> Option<usize> {
    lines[..current_prompt(lines)?].iter().rposition(|line| is_message(line))
}

/// The second-to-last horizontal rule, which is the top of Claude Code's prompt.
fn box_top(lines: &[&str]) -> Option<usize> {
    (0..lines.len()).rev().filter(|at| is_rule(lines[*at])).nth(1)
}

/// Whether a line is a horizontal rule: `─` only, or at least three of them before another text.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches('─');
    let count = line.chars().count() - rest.chars().count();
    count > 0 && (rest.trim_start().is_empty() || count >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_the_parts_between_marks() {
        let claude = "text\n● done\n\n────────\n❯ next\n────────\n  hints\n";
        for (region, expected) in [
            (Region::WholeRecent, claude),
            (Region::PromptBoxBody, "❯ next\n"),
            (Region::AbovePromptBox, "text\n● done\n\n"),
            (Region::LastNonEmptyAbovePromptBox, "● done"),
            (Region::AfterLastHorizontalRule, "  hints\n"),
            (Region::BottomLines(2), "────────\n  hints\n"),
            (Region::BottomNonEmptyLines(1), "  hints\n"),
            (Region::BottomNonEmptyLines(9), claude),
            (Region::AfterLastPromptMarker, claude),
            (Region::CurrentPromptBlockMarker, ""),
        ] {
            assert_eq!(part(claude, region), expected, "{region:?}");
        }
        let codex = "• one\n  more\n› typed\n";
        for (region, expected) in [
            (Region::AfterLastPromptMarker, ""),
            (Region::BeforeCurrentPromptMarker, "• one\n  more\n"),
            (Region::WholeRecentWithoutCurrentPromptMarker, ""),
            (Region::CurrentPromptBlockMarker, "• one"),
            (Region::AfterCurrentPromptBlockMarker, codex),
        ] {
            assert_eq!(part(codex, region), expected, "{region:?}");
        }
        let answered = "› typed\n• two\n";
        for (region, expected) in [
            (Region::AfterLastPromptMarker, "• two\n"),
            (Region::BeforeCurrentPromptMarker, answered),
            (Region::WholeRecentWithoutCurrentPromptMarker, answered),
            (Region::AfterCurrentPromptBlockMarker, ""),
        ] {
            assert_eq!(part(answered, region), expected, "{region:?}");
        }
    }

    #[test]
    fn a_screen_without_marks_is_whole_or_empty() {
        for screen in ["", "\n\n", "plain"] {
            assert_eq!(part(screen, Region::AfterLastHorizontalRule), screen);
            assert_eq!(part(screen, Region::AbovePromptBox), screen);
            assert_eq!(part(screen, Region::PromptBoxBody), "");
            assert_eq!(part(screen, Region::OscTitle), "");
        }
        assert_eq!(part("\n\n", Region::BottomNonEmptyLines(3)), "");
        assert!(
            is_rule("─") && is_rule("  ───── title") && !is_rule("── title") && !is_rule("- -")
        );
    }
}

//! Prompts that the shell redraws after a resize, and output of background jobs at such a prompt.

use proptest::prelude::*;

use super::Fixture;
use super::reflow::logical;
use crate::{Options, Parser, Point, Size, Term, TextRange};

/// A prompt as bash's integration marks it: after a resize, bash redraws only the last line.
const BASH: &str = "\x1b]133;P;k=i;redraw=last\x07$ \x1b]133;B\x07";
/// A prompt that its shell redraws as a whole.
const ZSH: &str = "\x1b]133;P;k=i\x07one\r\n$ \x1b]133;B\x07";

fn line(name: char, len: usize) -> String {
    format!("{name}{}", "-0123456789".repeat(20).chars().take(len - 1).collect::<String>())
}

/// Simulates a shell that redraws its prompt: it moves up by `up` rows from the cursor, clears everything below, and
/// draws the prompt.
fn draw(fixture: &mut Fixture, up: usize, prompt: &str) {
    let up = if up > 0 { format!("\x1b[{up}A") } else { String::new() };
    fixture.feed(format!("\r{up}\x1b[J{prompt}"));
}

#[test]
fn a_jobs_output_at_the_prompt_survives_any_resizes() {
    for (prompt, up) in [(BASH, 0), (ZSH, 1)] {
        for lens in [&[66, 66, 66][..], &[100, 20], &[1, 79, 80, 81, 200, 3]] {
            for sizes in
                [&[40, 80][..], &[79, 60, 40, 20, 120], &[120, 80], &[200, 30, 80], &[1, 80]]
            {
                for rows in [4, 12, 30] {
                    let mut fixture = Fixture::new(80, rows);
                    fixture.feed("before\r\n").feed(prompt);
                    let lines: Vec<_> =
                        ('a'..).zip(lens).map(|(name, len)| line(name, *len)).collect();
                    // The second half of the prompt is drawn where the cursor is, with what is above it.
                    fixture.feed(format!("{}\r\n", lines.join("\r\n")));
                    for &cols in sizes {
                        fixture.term.resize(Size::cells(cols, rows));
                        fixture.term.debug_check();
                        draw(&mut fixture, up, prompt);
                    }
                    let text = logical(&fixture);
                    // The shell draws over the rows by which it moves up, so their text is lost.
                    let lost = if up > 0 { lines.len() - 1 } else { lines.len() };
                    for line in &lines[..lost] {
                        let case = format!("{sizes:?} of {rows} rows, {lens:?}");
                        assert_eq!(text.matches(line.as_str()).count(), 1, "{case}: {text}");
                    }
                    fixture.feed("x");
                    let cursor = fixture.cursor().0 as usize;
                    assert!(fixture.screen().split('/').nth(cursor).unwrap().ends_with('x'));
                }
            }
        }
    }
}

#[test]
fn several_resizes_before_the_shell_draws_lose_nothing() {
    let output = format!("{}\r\n{}\r\n", line('a', 70), line('b', 100));
    for sizes in [&[70, 60, 40][..], &[40, 60], &[40, 80], &[100, 50], &[30, 79]] {
        let mut fixture = Fixture::new(80, 10);
        fixture.feed(BASH).feed(&output);
        for &cols in sizes {
            fixture.term.resize(Size::cells(cols, 10));
            fixture.term.debug_check();
        }
        draw(&mut fixture, 0, BASH);
        let expected = format!("$ {}$ ", output.replace('\r', ""));
        assert_eq!(logical(&fixture), expected.trim_end(), "{sizes:?}");
    }
    // If the old width returns before the shell has drawn, everything is restored.
    let mut fixture = Fixture::new(80, 10);
    fixture.feed(BASH).feed(&output);
    let before = fixture.everything();
    for cols in [40, 60, 20, 80] {
        fixture.term.resize(Size::cells(cols, 10));
    }
    assert_eq!(fixture.everything(), before);
    assert_eq!(logical(&fixture), format!("$ {}", output.replace('\r', "")).trim_end());
}

#[test]
fn the_cursor_returns_with_the_width_before_a_redraw() {
    for prompt in [BASH, ZSH] {
        for len in [1, 40, 78, 79, 100] {
            for sizes in [&[40, 80][..], &[12, 30, 80], &[60, 12, 100, 11, 80], &[100, 80]] {
                let mut fixture = Fixture::new(80, 10);
                fixture.feed(format!("before\r\n{prompt}{}", line('t', len)));
                let before = (fixture.everything(), fixture.cursor());
                for &cols in sizes {
                    fixture.term.resize(Size::cells(cols, 10));
                    fixture.term.debug_check();
                }
                assert_eq!((fixture.everything(), fixture.cursor()), before, "{len}, {sizes:?}");
                let mut other = Fixture::new(80, 10);
                other.feed(format!("before\r\n{prompt}{}x", line('t', len)));
                assert_eq!(fixture.feed("x").screen(), other.screen(), "{len}, {sizes:?}");
            }
        }
    }
}

#[test]
fn what_a_job_writes_between_a_resize_and_the_redraw_stays() {
    let mut fixture = Fixture::new(80, 10);
    fixture.feed(BASH).feed(format!("{}\r\n", line('a', 70)));
    fixture.term.resize(Size::cells(40, 10));
    fixture.feed(format!("{}\r\n{}\r\n", line('b', 30), line('c', 60)));
    fixture.term.resize(Size::cells(30, 10));
    for name in ['d', 'e', 'f', 'g'] {
        fixture.feed(format!("{}\r\n", line(name, 50)));
    }
    draw(&mut fixture, 0, BASH);
    let text = logical(&fixture);
    for (name, len) in [('a', 70), ('b', 30), ('c', 60), ('d', 50), ('e', 50), ('f', 50), ('g', 50)]
    {
        assert_eq!(text.matches(&line(name, len)).count(), 1, "{name}: {text}");
    }
}

#[test]
fn without_a_redraw_the_rows_return_at_the_next_mark() {
    let mut fixture = Fixture::new(80, 10);
    fixture.feed(BASH).feed(format!("{}\r\n", line('a', 70)));
    fixture.term.resize(Size::cells(40, 10));
    fixture.feed("ls\r\n\x1b]133;C\x07out\r\n");
    assert_eq!(logical(&fixture), format!("$ {}\nls\nout", line('a', 70)));
}

#[test]
fn images_of_a_job_and_typed_text_stay_in_their_places() {
    let mut fixture = Fixture::new(20, 8);
    fixture.feed(BASH).feed("\x1b[31mred\x1b[m and more text\r\n日本語の長い一行です\r\n");
    fixture.term.resize(Size::cells(9, 8));
    fixture.feed("\r\x1b[J").feed(BASH).feed("typed");
    assert_eq!(logical(&fixture), "$ red and more text\n日本語の長い一行です\n$ typed");
    assert_eq!(fixture.screen().split('/').nth(fixture.cursor().0 as usize), Some("$ typed"));
    let command = fixture.term.commands().last().unwrap();
    assert_eq!(
        command.prompt.unwrap().line,
        crate::LineId(fixture.term.live_top().0 + fixture.cursor().0 as u64)
    );
}

/// What a slow shell draws: it moves up by `up` rows, as many as its text took in the width it knows, clears everything
/// below, and draws a prompt and the typed text.
fn draw_typed(fixture: &mut Fixture, up: usize, prompt: &str, typed: &str) {
    draw(fixture, up, prompt);
    fixture.feed(typed);
}

/// The logical lines without empty ones at the end.
fn lines(fixture: &Fixture) -> String {
    logical(fixture).trim_end().to_owned()
}

#[test]
fn a_shell_slower_than_the_resizes_leaves_no_old_prompt() {
    let typed = line('t', 70);
    for (prompt, shown, up) in [
        (BASH, "$ ", 0),
        (ZSH, "one\n$ ", 1),
        ("\x1b]133;P;k=i\x07名前> \x1b]133;B\x07", "名前> ", 0),
    ] {
        for sizes in [&[40, 80][..], &[40, 30, 20, 90], &[60, 25, 24, 23], &[79, 78, 20], &[11]] {
            for rows in [5, 12, 40] {
                let mut fixture = Fixture::new(80, rows);
                fixture.feed("before\r\n");
                draw_typed(&mut fixture, 0, prompt, &typed);
                for &cols in sizes {
                    fixture.term.resize(Size::cells(cols, rows));
                    // The shell does not know yet that its text takes more rows, so it moves up too little.
                    draw_typed(&mut fixture, up, prompt, &typed);
                    fixture.term.debug_check();
                }
                let expected = format!("before\n{shown}{typed}");
                assert_eq!(lines(&fixture), expected, "{sizes:?} of {rows} rows");
                let command = fixture.term.commands().last().unwrap();
                assert!(command.is_prompting());
                let text = fixture.term.text(TextRange {
                    start: command.prompt.unwrap(),
                    end: Point { line: crate::LineId(u64::MAX), col: u16::MAX },
                    block: false,
                });
                assert_eq!(text.trim_end(), format!("{shown}{typed}"));
                assert_eq!(fixture.term.commands().count(), 1);
            }
        }
    }
}

/// What readline draws after a resize: it erases the rows that its last line took, the first row last, and draws the
/// line. `up`: the number of rows above the last one. Versions before 8.2 erase only the last row.
fn draw_last_line(fixture: &mut Fixture, up: usize, is_old: bool, line: &str) {
    let up = match is_old {
        true if up > 0 => format!("\x1b[{up}A"),
        true => String::new(),
        false => "\r\x1b[A\x1b[K".repeat(up),
    };
    fixture.feed(format!("\r\x1b[K{up}\r{line}"));
}

#[test]
fn a_slow_readline_leaves_no_old_line() {
    let typed = line('t', 70);
    // The mark of the prompt's beginning is in a line that readline does not draw again, or after its mode string.
    for (first, last, shown) in [
        ("\x1b]133;P;k=i;redraw=last\x07one\r\n", "two$ \x1b]133;B\x07", "one\ntwo$ "),
        ("", "(ins)\x1b]133;P;k=i;redraw=last\x07$ \x1b]133;B\x07", "(ins)$ "),
        ("\x1b]133;P;k=i;redraw=last\x07one\r\n", "(cmd)\x1b]133;B\x07", "one\n(cmd)"),
        ("", "\x1b]133;P;k=i;redraw=last\x07$ \x1b]133;B\x07", "$ "),
    ] {
        for sizes in [&[40, 80][..], &[40, 30, 20, 90], &[60, 25, 24, 23], &[79, 78, 20], &[11]] {
            for (rows, is_old) in [(5, false), (12, false), (40, false), (12, true)] {
                let case = format!("{shown:?}, {sizes:?} of {rows} rows, {is_old}");
                let options = Options { nonce: Some("secret".into()), ..Options::default() };
                let term = Term::new(Size::cells(80, rows), options);
                let mut fixture = Fixture { term, parser: Parser::new() };
                fixture.feed("before\r\n\x1b]133;P;k=i;redraw=last;nonce=secret\x07");
                fixture.feed(format!("{first}{last}{typed}"));
                for &cols in sizes {
                    fixture.term.resize(Size::cells(cols, rows));
                    // readline does not know yet that its text takes more rows.
                    draw_last_line(&mut fixture, 0, is_old, &format!("{last}{typed}"));
                    fixture.term.debug_check();
                }
                assert_eq!(lines(&fixture), format!("before\n{shown}{typed}"), "{case}");
                let command = fixture.term.commands().last().unwrap();
                assert!(command.is_prompting(), "{case}");
                let end = Point { line: crate::LineId(u64::MAX), col: u16::MAX };
                let text = |start: Option<Point>| {
                    let range = TextRange { start: start.unwrap(), end, block: false };
                    fixture.term.text(range).trim_end().to_owned()
                };
                assert_eq!(text(command.prompt), format!("{shown}{typed}"), "{case}");
                assert_eq!(text(command.input), typed, "{case}");
                assert_eq!(fixture.term.commands().count(), 1, "{case}");
            }
        }
    }
}

#[test]
fn a_jobs_output_between_drawings_of_the_last_line_stays() {
    let first = "\x1b]133;P;k=i;redraw=last\x07one\r\n";
    let last = "two$ \x1b]133;B\x07typed";
    for output in ["x\r\n", "two$ x\r\n", "\r\ntyped\r\n", "two$\r\n"] {
        let mut fixture = Fixture::new(80, 12);
        fixture.feed(format!("before\r\n{first}{last}"));
        fixture.feed(output);
        fixture.term.resize(Size::cells(40, 12));
        draw_last_line(&mut fixture, 0, false, last);
        let output = output.replace('\r', "");
        assert_eq!(lines(&fixture), format!("before\none\ntwo$ typed{output}two$ typed"));
    }
}

#[test]
fn a_prompt_with_marks_of_its_own_leaves_no_old_prompt() {
    // Powerlevel10k marks its prompt itself, and Unterm's integration has announced the prompt. The integration also puts
    // its mark before that of Powerlevel10k, or Powerlevel10k sets its prompt later.
    let marks = "\x1b]133;A\x07\x1b]133;P;k=i\x07";
    let [after, before] = [marks, "\x1b]133;P;k=i\x07\x1b]133;A\x07"]
        .map(|marks| format!("{marks}dir\r\n> \x1b]133;B\x07"));
    for own in [after, before] {
        let options = Options { nonce: Some("secret".into()), ..Options::default() };
        let size = Size { cell_width: 8, cell_height: 16, ..Size::cells(80, 10) };
        let mut fixture = Fixture { term: Term::new(size, options), parser: Parser::new() };
        let typed = line('t', 70);
        fixture.feed("before\r\n\x1b]133;A;nonce=secret\x07");
        draw_typed(&mut fixture, 0, &own, &typed);
        for cols in [40, 30, 60, 20, 80] {
            // A resize interrupts the shell after it has drawn its prompt.
            fixture.term.resize(Size::cells(cols + 3, 10));
            draw(&mut fixture, 1, &own);
            fixture.term.resize(Size::cells(cols, 10));
            draw_typed(&mut fixture, 1, &own, &typed);
        }
        assert_eq!(lines(&fixture), format!("before\ndir\n> {typed}"));
        assert_eq!(fixture.term.commands().count(), 1);
        // The prompt of the next command is another one.
        fixture.feed("\r\n\x1b]133;A;nonce=secret\x07");
        draw_typed(&mut fixture, 0, &own, &typed);
        assert_eq!(lines(&fixture), format!("before\ndir\n> {typed}\ndir\n> {typed}"));
    }
}

#[test]
fn a_prompt_whose_empty_first_row_is_cleared_keeps_its_command() {
    // fish clears the rows below its mark before it draws a prompt that begins with an empty row.
    let mut fixture = Fixture::new(80, 10);
    fixture.feed("\x1b]133;A\x07\r\x1b[J\x1b[K\r\ndir\x1b[K\r\n> \x1b]133;B\x07");
    let command = fixture.term.commands().next_back().expect("the prompt");
    assert!(command.is_prompting());
    assert_eq!(command.prompt.map(|at| (at.line.0, at.col)), Some((0, 0)));
    // A prompt that is drawn above its first mark, on a cleared screen, begins where it is drawn.
    let mut fixture = Fixture::new(80, 10);
    fixture.feed("text\r\n\x1b]133;A\x07\x1b[H\x1b[2J\x1b]133;P;k=i\x07> \x1b]133;B\x07");
    let command = fixture.term.commands().next_back().expect("the prompt");
    let live = fixture.term.live_top().0;
    assert_eq!(command.prompt.map(|at| at.line.0 - live), Some(0));
}

#[test]
fn an_old_prompt_with_another_time_is_removed() {
    let prompt = |time: &str| format!("\x1b]133;P;k=i\x07dir {time}\r\n> \x1b]133;B\x07");
    for (before, after, is_removed) in [
        ("12:34:56", "12:34:59", true),
        ("23:59", "00:00", true),
        ("at 12:34", "at 12:35", true),
        ("12", "13", false),
        ("v1.2 12:34", "v1.3 12:34", false),
        ("12:34", "12:345", false),
    ] {
        let mut fixture = Fixture::new(80, 10);
        let typed = line('t', 60);
        draw_typed(&mut fixture, 0, &prompt(before), &typed);
        fixture.term.resize(Size::cells(40, 10));
        // The shell counts too few rows, so the beginning of the old drawing stays above.
        draw_typed(&mut fixture, 0, &prompt(after), &typed);
        let is_shown = lines(&fixture).contains(&format!("dir {before}"));
        assert_eq!(is_shown, !is_removed, "{before}, {after}: {}", lines(&fixture));
    }
}

#[test]
fn an_old_prompt_with_a_line_across_the_width_is_removed() {
    let prompt = |cols: u16| {
        // fish shortens a line that is longer than the width that it knows.
        let line = match cols {
            60 => format!("…{}", "─".repeat(59)),
            cols => "─".repeat(cols.into()),
        };
        format!("\x1b]133;P;k=i\x07{line}\r\ndir> \x1b]133;B\x07")
    };
    let mut fixture = Fixture::new(80, 12);
    fixture.feed("before\r\n");
    draw_typed(&mut fixture, 0, &prompt(80), "typed");
    for (known, cols) in [(80, 60), (60, 30), (30, 25), (25, 70), (70, 80), (80, 80)] {
        fixture.term.resize(Size::cells(cols, 12));
        // The shell draws for the width before the last resize, and counts two rows.
        draw_typed(&mut fixture, 1, &prompt(known), "typed");
    }
    assert_eq!(lines(&fixture), format!("before\n{}\ndir> typed", "─".repeat(80)));
    // A job that prints another line keeps it.
    fixture.feed("\r\n----\r\n\r\n");
    fixture.term.resize(Size::cells(60, 12));
    draw_typed(&mut fixture, 1, &prompt(60), "typed");
    assert!(lines(&fixture).contains("typed\n----\n"), "{}", lines(&fixture));
}

#[test]
fn a_shell_that_counts_too_many_rows_erases_no_output() {
    let typed = line('t', 70);
    for (prompt, shown, up) in [(BASH, "$ ", 0), (ZSH, "one\n$ ", 1)] {
        for rows in [6, 12] {
            let mut fixture = Fixture::new(80, rows);
            fixture.feed("first\r\nbefore\r\n");
            draw_typed(&mut fixture, 0, prompt, &typed);
            fixture.term.resize(Size::cells(20, rows));
            draw_typed(&mut fixture, up, prompt, &typed);
            fixture.term.resize(Size::cells(90, rows));
            // The text takes one row now, and the shell counts four.
            draw_typed(&mut fixture, up + 3, prompt, &typed);
            draw_typed(&mut fixture, up + 3, prompt, &typed);
            assert_eq!(lines(&fixture), format!("first\nbefore\n{shown}{typed}"), "{rows} rows");
            // The next command may move freely.
            fixture.feed("\r\n\x1b]133;C\x07\x1b[9A\rx");
            assert_eq!(fixture.screen().chars().next(), Some('x'));
        }
    }
}

#[test]
fn a_prompt_on_the_right_that_wrapped_leaves_nothing() {
    // fish draws the prompt on the right at the column that it has in the width that fish knows.
    let draw = |fixture: &mut Fixture, col: usize| {
        fixture.feed("\r\x1b]133;P;k=i\x07left> \x1b]133;B\x07");
        fixture.feed(format!("ls\x1b[J\r\x1b[{col}CRIGHT-12:34\r\x1b[{col}C\r\x1b[8C"));
    };
    let mut fixture = Fixture::new(80, 10);
    fixture.feed("before\r\n");
    draw(&mut fixture, 69);
    for cols in [60, 40, 39, 25] {
        fixture.term.resize(Size::cells(cols, 10));
        draw(&mut fixture, 69);
    }
    draw(&mut fixture, 14);
    assert_eq!(lines(&fixture), "before\nleft> ls      RIGHT-12:34");
}

#[test]
fn a_prompt_on_the_right_over_the_text_leaves_nothing() {
    // In a screen that is narrower than fish knows, the prompt on the right is drawn over the text that wrapped.
    let typed = line('t', 50);
    let draw = |fixture: &mut Fixture, known: usize| {
        let col = known - "RIGHT".len();
        fixture.feed(format!("\r\x1b]133;P;k=i\x07left> \x1b]133;B\x07{typed}\x1b[J"));
        fixture.feed(format!("\r\x1b[{col}CRIGHT\r\x1b[{}C", 6 + typed.len()));
    };
    for sizes in [&[80, 40, 80][..], &[80, 30, 62, 80], &[80, 59, 58, 33, 80]] {
        let mut fixture = Fixture::new(80, 10);
        fixture.feed("before\r\n");
        let mut known = 80;
        for &cols in sizes {
            fixture.term.resize(Size::cells(cols, 10));
            draw(&mut fixture, known);
            known = cols.max(62) as usize;
        }
        draw(&mut fixture, 80);
        let expected = format!("before\nleft> {typed}{}RIGHT", " ".repeat(80 - 6 - 50 - 5));
        assert_eq!(lines(&fixture), expected, "{sizes:?}");
    }
}

#[test]
fn text_that_the_new_prompt_does_not_show_stays() {
    for output in ["x", "$ ", "", "\r\n", "$ ls", "t", "ts"] {
        let mut fixture = Fixture::new(80, 10);
        fixture.feed(BASH).feed(format!("t{output}\r\n"));
        fixture.term.resize(Size::cells(40, 10));
        draw_typed(&mut fixture, 0, BASH, "text of the user");
        let expected =
            format!("$ t{}\n$ text of the user", output.replace('\r', "").trim_end_matches(' '));
        assert_eq!(lines(&fixture), expected, "{output:?}");
    }
    // Without a resize, a prompt below another one is no drawing of it.
    let mut fixture = Fixture::new(80, 10);
    fixture.feed(BASH).feed("\r\n");
    draw_typed(&mut fixture, 0, BASH, "text");
    assert_eq!(lines(&fixture), "$\n$ text");
}

proptest! {
    #![proptest_config(super::cases(200))]

    #[test]
    fn jobs_lose_no_line_to_a_slow_shell(
        steps in proptest::collection::vec((10u16..90, 0usize..4, 0usize..130), 1..12),
        typed in 0usize..60,
        rows in 3u16..20,
    ) {
        let typed = line('t', typed + 1);
        let mut fixture = Fixture::new(80, rows);
        fixture.feed("before\r\n");
        draw_typed(&mut fixture, 0, BASH, &typed);
        let mut printed = Vec::new();
        for (name, (cols, count, len)) in ('A'..).zip(steps) {
            fixture.term.resize(Size::cells(cols, rows));
            for i in 0..count {
                let output = format!("<{}{i}>", line(name, len + 1));
                fixture.feed(format!("{output}\r\n"));
                printed.push(output);
            }
            draw_typed(&mut fixture, 0, BASH, &typed);
            fixture.term.debug_check();
        }
        let text = logical(&fixture);
        for output in &printed {
            prop_assert_eq!(text.matches(output.as_str()).count(), 1, "{}: {}", output, text);
        }
        let shown = format!("$ {typed}");
        prop_assert!(text.trim_end().ends_with(&shown), "{}", text);
    }

    #[test]
    fn a_slow_zsh_that_draws_twice_keeps_the_output_above(
        steps in proptest::collection::vec(
            (12u16..112, any::<bool>(), 24u16..38, proptest::option::of(12u16..112)),
            1..20,
        ),
        typed in 0usize..60,
    ) {
        let typed = line('t', typed + 1);
        let options = Options { nonce: Some("secret".into()), ..Options::default() };
        let term = Term::new(Size::cells(80, 24), options);
        let mut fixture = Fixture { term, parser: Parser::new() };
        let output = "before\nthe output\n";
        fixture.feed(output.replace('\n', "\r\n"));
        fixture.feed("\x1b]133;A;nonce=secret\x07");
        let prompt = |len: usize| {
            let across = "-".repeat(len);
            format!("\x1b]133;P;k=i\x07{across}\r\nown> \x1b]133;B\x07{typed}")
        };
        // The rows of this prompt, and the row of the cursor in the last line, as zsh counts them.
        let up = |len: usize, known: usize| len.div_ceil(known) + (5 + typed.len()) / known;
        let (mut len, mut known) = (79, 80);
        fixture.feed(prompt(len));
        let last = [30, 80, 81, 80].map(|cols| (cols, true, 24, None));
        for (cols, draws, rows, meanwhile) in steps.into_iter().chain(last) {
            fixture.term.resize(Size::cells(cols, rows));
            if draws {
                // zsh draws the prompt that it knows, then TRAPWINCH sets another one.
                draw(&mut fixture, up(len, known), &prompt(len));
                known = cols as usize;
                let before = up(len, known);
                if let Some(cols) = meanwhile {
                    fixture.term.resize(Size::cells(cols, rows));
                }
                len = known - 1;
                draw(&mut fixture, before, &prompt(len));
            }
            fixture.term.debug_check();
        }
        let expected = format!("{output}{}\nown> {typed}", "-".repeat(79));
        prop_assert_eq!(lines(&fixture), expected);
        let command = fixture.term.commands().last().unwrap();
        prop_assert!(command.is_prompting());
        let end = Point { line: crate::LineId(u64::MAX), col: u16::MAX };
        let start = command.input.unwrap();
        let text = fixture.term.text(TextRange { start, end, block: false });
        prop_assert_eq!(text.trim_end(), typed);
    }

    #[test]
    fn an_old_prompt_goes_wherever_the_output_is_split(cut in 0usize..90, cols in 8u16..79) {
        let typed = line('t', 60);
        let feed = |parts: &[&str]| {
            let mut fixture = Fixture::new(80, 10);
            fixture.feed("before\r\n");
            draw_typed(&mut fixture, 0, BASH, &typed);
            fixture.term.resize(Size::cells(cols, 10));
            draw_typed(&mut fixture, 0, BASH, &typed);
            for part in parts {
                fixture.feed(part);
            }
            fixture.term.dump()
        };
        let again = format!("\r\x1b[J{BASH}{typed}");
        let cut = cut.min(again.len());
        prop_assert_eq!(feed(&[&again]), feed(&[&again[..cut], &again[cut..]]));
    }
}

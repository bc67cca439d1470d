//! Commands marked by OSC 133 and 633: finding them by line, selecting their output, clicking at their prompt.

use super::Fixture;
use crate::{Command, LineId, Options, Parser, Point, Size, Term};

/// The output of a command: a prompt `$ `, an input, the command's output, and its exit code.
fn run(input: &str, output: &str, code: i32) -> String {
    format!("\x1b]133;A\x07$ \x1b]133;B\x07{input}\r\n\x1b]133;C\x07{output}\x1b]133;D;{code}\x07")
}

fn after(bytes: impl AsRef<[u8]>) -> Fixture {
    let mut fixture = Fixture::new(20, 6);
    fixture.feed(bytes);
    fixture
}

fn output(term: &Term, id: u64) -> Option<String> {
    term.output_range(id).map(|range| term.text(range))
}

fn lines(term: &Term) -> Vec<(u64, Option<String>, Option<i32>)> {
    term.commands().map(|c| (c.id, c.line.clone(), c.exit_code)).collect()
}

#[test]
fn commands_know_their_line_output_and_exit_code() {
    let bytes =
        run("ls -l", "a\r\nb\r\n", 0) + &run("false", "", 1) + &run("cat x", "no newline", 2);
    let fixture = after(bytes + "\x1b]133;A\x07$ \x1b]133;B\x07");
    let some = |line: &str| Some(line.to_owned());
    let expected = [
        (1, some("ls -l"), Some(0)),
        (2, some("false"), Some(1)),
        (3, some("cat x"), Some(2)),
        (4, None, None),
    ];
    assert_eq!(lines(&fixture.term), expected);
    let outputs: Vec<_> = (1..=5).map(|id| output(&fixture.term, id)).collect();
    assert_eq!(outputs, [some("a\nb"), None, some("no newline"), None, None]);
    // If output ends without a line break, the prompt begins on the next line.
    assert_eq!(fixture.everything(), "$ ls -l/a/b/$ false/$ cat x/no newline/$");
}

#[test]
fn a_command_shows_as_it_was_given_where_that_is_what_ran() {
    const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
    let shown = |ran: &str, reported: bool| {
        let mut fixture = after(PROMPT);
        fixture.term.give_command(1, " eval 'a; b'", " a\n\x1bb ");
        assert_eq!(fixture.term.command(1).unwrap().shown(), None, "it has not run");
        // Some shells redraw their prompt when a line is entered.
        fixture.feed(format!("\r{PROMPT}{ran}"));
        let reported = if reported { format!("\x1b]633;E;{ran}\x07") } else { String::new() };
        fixture.feed(format!("{reported}\r\n\x1b]133;C\x07"));
        fixture.term.command(1).unwrap().shown().map(str::to_owned)
    };
    let given = Some("a\nb".to_owned());
    assert_eq!(shown("eval 'a\\x3b b'", true), given);
    assert_eq!(shown(" eval 'a; b'", false), given);
    assert_eq!(shown("'a; b'", false), given, "its beginning has left the screen");
    assert_eq!(shown("rm x", true), Some("rm x".to_owned()), "another line was entered");
    assert_eq!(shown("rm x", false), Some("rm x".to_owned()));
    let mut fixture = after(PROMPT);
    fixture.term.give_command(1, "x", &"é".repeat(3000));
    fixture.feed("\r\n\x1b]133;C\x07");
    let command = fixture.term.command(1).unwrap();
    assert!(command.shown().unwrap().len() < 4200 && command.shown().unwrap().ends_with("é…"));
}

#[test]
fn a_screen_cleared_at_a_prompt_is_kept_in_the_history() {
    let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07";
    let mut fixture = after(run("ls", "a\r\nb\r\n", 0) + prompt + "ec");
    // Ctrl+L in a shell clears the screen, and the shell draws the prompt and the input again.
    fixture.feed(format!("\x1b[H\x1b[2J{prompt}ec"));
    assert_eq!(fixture.everything(), "$ ls/a/b/$ ec");
    assert_eq!(fixture.term.live_top(), LineId(3));
    assert_eq!(output(&fixture.term, 1).as_deref(), Some("a\nb"));
    // Press Ctrl+L again. Now there is nothing above the prompt.
    fixture.feed(format!("\x1b[H\x1b[2J{prompt}ec"));
    assert_eq!(fixture.term.live_top(), LineId(3));
    // If a running program clears the screen, its text is lost, and so it is for a program without prompt marks.
    fixture.feed("\r\n\x1b]133;C\x07old\x1b[H\x1b[2Jnew");
    assert_eq!(fixture.everything(), "$ ls/a/b/new");
    assert_eq!(after("old\x1b[H\x1b[2Jnew").everything(), "new");
}

#[test]
fn commands_are_found_by_line() {
    let bytes = run("one", "1\r\n2\r\n", 0) + &run("two", "3\r\n", 0);
    let fixture = after(bytes);
    let term = &fixture.term;
    let at = |line| term.command_at(LineId(line)).map(|command| command.id);
    assert_eq!([0, 1, 2, 3, 4, 5].map(at), [Some(1), Some(1), Some(1), Some(2), Some(2), Some(2)]);
    assert_eq!(term.prompt_before(LineId(3)), Some(LineId(0)));
    assert_eq!(term.prompt_before(LineId(0)), None);
    assert_eq!(term.prompt_after(LineId(0)), Some(LineId(3)));
    assert_eq!(term.prompt_after(LineId(3)), None);
}

#[test]
fn marks_stay_with_their_text_and_prompts_are_marks() {
    let mark = "\x1b]1337;SetMark\x07";
    let mut fixture = after(run("one", &format!("1\r\n{mark}2{mark}\r\n3\r\n"), 0));
    // Set a mark above an older one, and a mark on the alternate screen.
    fixture.feed(format!("\x1b7\x1b[2H{mark}\x1b8\x1b[?1049h{mark}\x1b[?1049l"));
    fixture.feed(run("two", "4\r\n", 0) + mark);
    // Count from the oldest line, because a resize renumbers all lines.
    let marks = |fixture: &Fixture| {
        let oldest = fixture.term.oldest().0;
        fixture.term.marks().map(|line| line.0 - oldest).collect::<Vec<_>>()
    };
    assert_eq!(marks(&fixture), [1, 2, 6]);
    let term = &fixture.term;
    let stops = |next: &dyn Fn(LineId) -> Option<LineId>, from| {
        std::iter::successors(next(LineId(from)), |line| next(*line))
            .map(|line| line.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(stops(&|line| term.mark_before(line), 7), [6, 4, 2, 1, 0]);
    assert_eq!(stops(&|line| term.mark_after(line), 0), [1, 2, 4, 6]);
    // A narrower screen splits "$ one" into two rows.
    let size = fixture.term.size();
    fixture.term.resize(Size { cols: 3, ..size });
    assert_eq!(marks(&fixture), [2, 3, 8]);
    fixture.term.resize(size);
    assert_eq!(marks(&fixture), [1, 2, 6]);
    fixture.feed("\x1b[3;1H\x1b[2K");
    assert_eq!(marks(&fixture), [1, 2, 6], "erasing text leaves the line");
    fixture.feed("\x1b[H\x1b[2J\x1b[3J\x1bc");
    assert_eq!(marks(&fixture), [0; 0]);
    // The list of marks is bounded.
    fixture.feed(format!("{mark}\r\n").repeat(5000));
    assert_eq!(marks(&fixture).len(), 4096);
}

#[test]
fn a_command_that_runs_has_output_so_far() {
    let mut fixture = after("\x1b]133;A\x07$ \x1b]133;B\x07make\r\n\x1b]133;C\x07one\r\ntw");
    assert!(fixture.term.command(1).is_some_and(Command::is_running));
    assert_eq!(output(&fixture.term, 1).as_deref(), Some("one\ntw"));
    let shown = fixture.term.output_range(1);
    fixture.feed("\x1b[?1049hfull\r\nscreen");
    assert_eq!(fixture.term.output_range(1), shown, "the main screen's");
}

#[test]
fn what_the_shell_says_of_the_line_goes_before_the_screen() {
    let command = |bytes: &str| {
        let bytes =
            format!("\x1b]7;file://h/tmp\x07\x1b]133;A;aid=x1\x07$ \x1b]133;B\x07seen\r\n{bytes}");
        after(bytes).term.command(1).unwrap().clone()
    };
    let reported = command("\x1b]133;C;cmdline_url=echo%20%3b%09x%1b[31m\x07");
    assert_eq!((reported.line.as_deref(), reported.line_reported), (Some("echo ;\tx[31m"), true));
    assert_eq!(reported.cwd.as_deref(), Some("file://h/tmp"));
    assert_eq!(reported.options.aid.as_deref(), Some("x1"));
    let reported = command("\x1b]133;C;cmdline=echo\\ $'a\\nb\\'c\\x\\101'\\;\x07");
    assert_eq!(reported.line.as_deref(), Some("echo a\nb'cxA\\"), "the sequence's own ; ends it");
    let reported = command("\x1b]633;E;a\\x3bb\\\\c\\x0ad;nonce-1\x07\x1b]633;C\x07");
    assert_eq!(reported.line.as_deref(), Some("a;b\\c\nd"));
    assert_eq!(reported.nonce.as_deref(), Some("nonce-1"));
    let seen = command("\x1b]133;C\x07");
    assert_eq!((seen.line.as_deref(), seen.line_reported), (Some("seen"), false));
}

#[test]
fn the_nonce_is_lent_once_to_the_program_with_the_ticket() {
    let mut fixture = with_nonce("");
    let ask = |fixture: &mut Fixture, ticket: &str| {
        fixture.feed(format!("\x1b]1337;UntermNonce={ticket}\x07"));
        String::from_utf8(fixture.term.take_replies()).unwrap()
    };
    assert_eq!(ask(&mut fixture, ""), "");
    fixture.term.lend_nonce("t0".to_owned());
    fixture.term.lend_nonce("t1".to_owned());
    for wrong in ["", "t", "t0", "n1"] {
        assert_eq!(ask(&mut fixture, wrong), "", "{wrong}");
    }
    fixture.feed("\x1bc");
    assert_eq!(ask(&mut fixture, "t1"), "unterm-nonce:n1\r");
    assert_eq!(ask(&mut fixture, "t1"), "");
    // The ticket expires with the command it was lent to.
    fixture.feed("\x1b]133;A\x07$ \x1b]133;B\x07ssh\r\n\x1b]133;C;nonce=n1\x07");
    fixture.term.lend_nonce("t2".to_owned());
    fixture.feed("\x1b]133;D;0;nonce=n1\x07");
    assert_eq!(ask(&mut fixture, "t2"), "");
    // The ticket expires even if another program's prompt replaced the command on the screen.
    fixture.feed("\x1b]133;A\x07$ \x1b]133;B\x07ssh\r\n\x1b]133;C;nonce=n1\x07");
    fixture.term.lend_nonce("t3".to_owned());
    fixture.feed("\x1b[H\x1b]133;A\x07\x1b]133;D;0;nonce=n1\x07");
    assert_eq!(ask(&mut fixture, "t3"), "");
}

#[test]
fn a_line_that_was_announced_without_the_nonce_is_not_authentic() {
    for line in
        ["\x1b]633;E;rm -rf /\x07", "\x1b]633;E;rm -rf /;n2\x07", "\x1b]633;E;rm -rf /;\x07"]
    {
        let fixture =
            with_nonce(&format!("\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n{line}\x1b]133;C\x07"));
        assert!(!fixture.term.command(1).unwrap().is_authentic, "{line:?}");
        // If only the line was reported without the nonce, the command is authentic, but the line is read from the
        // screen.
        let fixture = with_nonce(&format!(
            "\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n{line}\x1b]133;C;nonce=n1\x07"
        ));
        let ran = fixture.term.command(1).unwrap();
        assert_eq!((ran.line.as_deref(), ran.line_reported), (Some("ls"), false), "{line:?}");
        assert!(ran.is_authentic);
    }
}

/// A terminal whose own shells have the nonce `n1`.
fn with_nonce(bytes: &str) -> Fixture {
    let options = crate::Options { nonce: Some("n1".into()), ..crate::Options::default() };
    let mut fixture =
        Fixture { term: Term::new(Size::cells(20, 6), options), ..Fixture::new(20, 6) };
    fixture.feed(bytes);
    fixture
}

#[test]
fn only_the_shell_itself_reports_a_reset_key() {
    for (marks, is_reported) in [
        ("\x1b]133;A;nonce=n1\x07", false),
        ("\x1b]133;A;reset_key=1;nonce=n2\x07", false),
        ("\x1b]133;A;reset_key=1\x07", false),
        ("\x1b]133;A;reset_key=1;nonce=n1\x07", true),
        // The same prompt is drawn again.
        ("\x1b]133;A;reset_key=1;nonce=n1\x07\x1b]133;A\x07", true),
        // A new prompt begins.
        (
            "\x1b]133;A;reset_key=1;nonce=n1\x07\x1b]133;B\x07ls\r\n\x1b]133;C\x07\x1b]133;A\x07",
            false,
        ),
    ] {
        let fixture = with_nonce(marks);
        let last = fixture.term.commands().next_back().unwrap();
        assert_eq!(last.has_reset_key, is_reported, "{marks:?}");
    }
}

#[test]
fn only_the_shell_itself_reports_an_editor_that_reads_ascii() {
    for (marks, is_reported) in [
        ("\x1b]133;A;nonce=n1\x07", false),
        ("\x1b]133;A;charset=ascii\x07", false),
        ("\x1b]133;A;charset=ascii;nonce=n2\x07", false),
        ("\x1b]133;A;charset=utf8;nonce=n1\x07", false),
        ("\x1b]133;A;charset=ascii;nonce=n1\x07", true),
        // The same prompt is drawn again.
        ("\x1b]133;A;charset=ascii;nonce=n1\x07\x1b]133;P;k=i\x07", true),
        // The next prompt begins.
        ("\x1b]133;A;charset=ascii;nonce=n1\x07\r\n\x1b]133;A;nonce=n1\x07", false),
    ] {
        let fixture = with_nonce(marks);
        let last = fixture.term.commands().next_back().unwrap();
        assert_eq!(last.is_ascii_only, is_reported, "{marks:?}");
    }
}

#[test]
fn output_cannot_end_a_command_of_the_panes_own_shell() {
    let begin = "\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07make\r\n\x1b]633;E;make;n1\x07\x1b]133;C;nonce=n1\x07";
    let mut fixture = with_nonce(begin);
    fixture.feed("\x1b]133;D;0\x07\x1b]633;D;0\x07\x1b]133;D;0;nonce=n2\x07out\r\n");
    let command = |fixture: &Fixture| fixture.term.command(1).unwrap().clone();
    assert!(command(&fixture).is_running() && command(&fixture).is_authentic);
    fixture.feed("\x1b]133;D;2;nonce=n1\x07");
    assert_eq!((command(&fixture).is_running(), command(&fixture).exit_code), (false, Some(2)));

    // RIS drops commands but keeps the nonce.
    let mut fixture = with_nonce("\x1bc");
    fixture.feed(begin);
    fixture.feed("\x1b]133;D;0\x07out\r\n\x1b]133;D;2;nonce=n1\x07");
    assert!(command(&fixture).is_authentic);
    assert_eq!(command(&fixture).exit_code, Some(2));

    // A complete command inside the output, for example from a shell on another machine.
    let mut fixture = with_nonce(begin);
    fixture.feed(run("forged", "text\r\n", 0));
    fixture.feed("\x1b]133;A\x07$ \x1b]133;B\x07");
    assert!(command(&fixture).is_running());
    assert!(fixture.term.command(2).is_some_and(|command| !command.is_authentic));
    fixture.feed("\x1b]133;D;7;nonce=n1\x07\x1b]133;A;nonce=n1\x07");
    assert_eq!(command(&fixture).exit_code, Some(7));
}

#[test]
fn own_marks_and_integration_marks_make_one_command() {
    // The sequence of marks from fish 4 and Nushell.
    let fixture = with_nonce(
        "\x1b]133;A;nonce=n1\x07\x1b]133;A;click_events=1\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07\
         \x1b]633;E;ls;n1\x07\x1b]133;C;nonce=n1\x07a\r\n\x1b]133;D;0\x07\x1b]133;D;3;nonce=n1\x07\x1b]133;D;0\x07",
    );
    assert_eq!(fixture.term.commands().count(), 1);
    let command = fixture.term.command(1).unwrap();
    assert!(command.is_authentic);
    assert_eq!((command.line.as_deref(), command.exit_code), (Some("ls"), Some(3)));
}

#[test]
fn a_new_prompt_of_an_application_ends_what_runs_in_it() {
    let run =
        |aid: &str| format!("\x1b]133;A;aid={aid}\x07$ \x1b]133;B\x07x\r\n\x1b]133;C\x07{aid}\r\n");
    let nested = run("a") + &run("b");
    let are_running =
        |bytes: String| after(bytes).term.commands().map(Command::is_running).collect::<Vec<_>>();
    assert_eq!(are_running(nested.clone() + "\x1b]133;A;aid=a\x07"), [true, true, false]);
    assert_eq!(are_running(nested.clone() + "\x1b]133;N;aid=b\x07"), [true, false, false]);
    assert_eq!(are_running(nested.clone() + "\x1b]133;N;aid=a\x07"), [false, false, false]);
    assert_eq!(are_running(nested.clone() + "\x1b]133;N;aid=c\x07"), [true, true, false]);
    assert_eq!(are_running(nested + "\x1b]133;N\x07"), [true, true, false]);
    // The command ends at the cursor, and the prompt begins on a new line.
    let unnamed = "\x1b]133;A\x07$ \x1b]133;B\x07x\r\n\x1b]133;C\x07a\r\ntail\x1b]133;N\x07$ ";
    let fixture = after(unnamed);
    assert_eq!(fixture.screen(), "$ x/a/tail/$");
    assert_eq!(output(&fixture.term, 1).as_deref(), Some("a\ntail"));
    assert!(fixture.term.command(1).is_some_and(|command| !command.is_running()));
    // A command of the pane's own shell is ended only by an authentic mark.
    let own = "\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07x\r\n\x1b]133;C;nonce=n1\x07\x1b]133;N\x07";
    assert!(with_nonce(own).term.command(1).is_some_and(Command::is_running));
    let fixture = with_nonce(&own.replace(";N", ";N;nonce=n1"));
    assert!(fixture.term.command(1).is_some_and(|command| !command.is_running()));
}

#[test]
fn a_fresh_line_is_one_that_has_nothing_before_the_cursor() {
    assert_eq!(after("ab\x1b]133;L\x07c").screen(), "ab/c");
    assert_eq!(after("\x1b]133;L\x07c").screen(), "c");
    assert_eq!(after("ab\r\n\x1b]133;L\x07c").screen(), "ab/c");
    // The mark (OSC 133 L) is not a prompt, and has no effect on the alternate screen.
    assert_eq!(after("ab\x1b]133;L\x07c").term.commands().count(), 0);
    assert_eq!(after("\x1b[?1049hab\x1b]133;L\x07c").screen(), "abc");
}

#[test]
fn prompts_of_continuations_and_on_the_right_are_no_input() {
    // VS Code's integration marks continuation prompts: from F to G, and from H to I.
    let prompt = "\x1b]633;A\x07$ \x1b]633;B\x07";
    let continued = "echo \\\r\n\x1b]633;F\x07> \x1b]633;G\x07b\r\n\x1b]633;C\x07";
    let fixture = after(format!("{prompt}{continued}"));
    assert_eq!(lines(&fixture.term), [(1, Some("echo \\\nb".to_owned()), None)]);
    let right = "\x1b7\x1b[15G\x1b]633;H\x0712:00\x1b]633;I\x07\x1b8";
    let fixture = after(format!("{prompt}{right}ls\r\n\x1b]633;C\x07"));
    assert_eq!(lines(&fixture.term), [(1, Some("ls".to_owned()), None)]);
    assert_eq!(fixture.screen(), "$ ls          12:00");
}

#[test]
fn conemus_mark_follows_a_prompt() {
    let prompt = "$ \x1b]9;12\x07";
    let mut fixture = after(format!("{prompt}ls\r\na\r\n{prompt}"));
    assert_eq!(fixture.screen(), "$ ls/a/$", "the cursor stays");
    let points = |fixture: &Fixture| {
        let point = |at: Option<Point>| at.map(|at| (at.line.0, at.col));
        fixture.term.commands().map(|c| (point(c.prompt), point(c.input))).collect::<Vec<_>>()
    };
    let first = (Some((0, 0)), Some((0, 2)));
    assert_eq!(points(&fixture), [first, (Some((2, 0)), Some((2, 2)))]);
    // Redrawing the prompt, or drawing it on the alternate screen, adds no prompt.
    fixture.feed(format!("\r{prompt}\x1b[?1049h{prompt}\x1b[?1049l"));
    assert_eq!(points(&fixture).len(), 2);
    // With other marks before or around the prompt, there is still only one prompt.
    for reported in
        ["\x1b]133;A;aid=x\x07$ \x1b]9;12\x07", "\x1b]133;A;aid=x\x07$ \x1b]133;B\x07\x1b]9;12\x07"]
    {
        let fixture = after(reported);
        assert_eq!(points(&fixture), [first]);
        let command = fixture.term.command(1).unwrap();
        assert_eq!(command.options.aid.as_deref(), Some("x"));
    }
}

#[test]
fn input_is_read_off_the_screen_across_rows_without_its_prompts() {
    let fixture = after(
        "\x1b]133;A\x07$ \x1b]133;B\x07for i in 1 2 3 4 5 6 7; do\r\n\x1b]133;A;k=s\x07> \x1b]133;B\x07echo\r\n\x1b]133;C\x07",
    );
    assert_eq!(
        fixture.term.command(1).unwrap().line.as_deref(),
        Some("for i in 1 2 3 4 5 6 7; do\necho")
    );
    assert_eq!(fixture.term.commands().count(), 1, "a continuation is no new command");
}

#[test]
fn commands_follow_their_text_through_a_reflow() {
    let bytes = run("first", "0123456789abcdefghij012345\r\n", 0)
        + &run("second", "xyz\r\n", 3)
        + &"line\r\n".repeat(3);
    let mut fixture = after(bytes + "\x1b]133;A\x07$ \x1b]133;B\x07");
    for (cols, rows) in [(7, 6), (33, 3), (5, 12), (20, 6)] {
        fixture.term.resize(Size::cells(cols, rows));
        let term = &fixture.term;
        assert_eq!(output(term, 1).as_deref(), Some("0123456789abcdefghij012345"), "{cols}");
        assert_eq!(output(term, 2).as_deref(), Some("xyz"), "{cols}");
        let mut text = String::new();
        term.row_text(term.command(2).unwrap().prompt.unwrap().line, &mut text);
        assert!("$ second".starts_with(&text) && !text.is_empty(), "{cols}: {text}");
        assert!(term.command(3).is_some_and(Command::is_prompting), "{cols}");
    }
}

#[test]
fn commands_go_with_their_lines() {
    let one = run("one", "1\r\n", 0);
    let ids = |fixture: &Fixture| fixture.term.commands().map(|c| c.id).collect::<Vec<_>>();
    assert_eq!(ids(&after(one.clone() + "\x1bc")), []);
    assert_eq!(ids(&after(one.clone() + "\x1b[2J")), []);
    // After the `clear` command, the next prompt is a new one, although the screen is empty.
    let cleared =
        run("one", "1\r\n", 0) + &run("clear", "\x1b[H\x1b[2J\x1b[3J", 0) + &run("two", "2\r\n", 0);
    assert_eq!(ids(&after(cleared)), [3]);
    let scrolled = one.clone() + &"x\r\n".repeat(30) + "\x1b[3J" + &run("two", "", 0);
    assert_eq!(ids(&after(scrolled)), [2]);
    // The list of commands is bounded.
    let fixture = after(one.repeat(20_000));
    assert_eq!(fixture.term.commands().next_back().map(|c| c.id), Some(20_000));
    assert!(fixture.term.commands().count() <= 10_000);
}

#[test]
fn a_prompt_drawn_again_is_the_same_command() {
    let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07";
    let fixture = after(format!("{prompt}abc\r{prompt}abc\r\n\x1b]133;C\x07"));
    assert_eq!(lines(&fixture.term), [(1, Some("abc".to_owned()), None)]);
    // Enter on an empty line begins a new command.
    assert_eq!(after(format!("{prompt}\r\n{prompt}")).term.commands().count(), 2);
}

#[test]
fn keys_echoed_before_a_prompt_is_drawn_begin_no_command() {
    let announced = "\x1b]133;A;reset_key=1;nonce=n1\x07";
    let drawn = "\x1b]133;A\x07$ \x1b]133;B\x07";
    // If keys are echoed before the prompt is drawn, they push it to the next line.
    let fixture = with_nonce(&format!("{announced}^[{drawn}"));
    let prompts: Vec<_> =
        fixture.term.commands().map(|c| (c.id, c.has_reset_key, c.prompt)).collect();
    assert_eq!(prompts, [(1, true, Some(Point { line: LineId(1), col: 0 }))]);
    // Enter on an empty line begins a new command. So does the next prompt of a shell that never draws its prompt.
    let fixture = with_nonce(&format!("{announced}{drawn}\r\n{announced}{drawn}"));
    assert_eq!(fixture.term.commands().count(), 2);
    let fixture = with_nonce(&format!("{announced}\r\n{announced}"));
    assert_eq!(fixture.term.commands().count(), 2);
    // A prompt that another program prints does not have the reset key of the shell's integration.
    let fixture = with_nonce(&format!("{announced}{drawn}\r\n{drawn}"));
    let keys: Vec<_> = fixture.term.commands().map(|c| c.has_reset_key).collect();
    assert_eq!(keys, [false]);
}

#[test]
fn marks_on_the_alternate_screen_are_no_commands() {
    assert_eq!(after("\x1b[?1049h".to_owned() + &run("x", "y\r\n", 0)).term.commands().count(), 0);
}

/// The input that a click at (row, column) of the screen sends, with Esc written as `^`.
fn click(bytes: &str, row: u64, col: u16) -> Option<String> {
    let fixture = after(bytes);
    let line = LineId(fixture.term.live_top().0 + row);
    let sent = fixture.term.prompt_click(Point { line, col })?;
    Some(String::from_utf8(sent).unwrap().replace('\x1b', "^"))
}

#[test]
fn clicks_at_a_prompt_are_arrow_keys() {
    let keys = |key: &str, count: usize| Some(format!("^[{key}").repeat(count));
    let at = "\x1b]133;A\x07$ \x1b]133;B\x07";
    assert_eq!(click(&format!("{at}echo hi"), 0, 2), keys("D", 7));
    assert_eq!(click(&format!("{at}echo hi"), 0, 7), keys("D", 2));
    assert_eq!(click(&format!("{at}echo hi\x1b[7D"), 0, 5), keys("C", 3));
    assert_eq!(
        click(&format!("{at}echo hi\x1b[7D"), 0, 19),
        keys("C", 7),
        "behind the text is its end"
    );
    assert_eq!(click(&format!("{at}echo hi"), 0, 0), keys("D", 7), "on the prompt is the start");
    assert_eq!(click(&format!("{at}echo hi"), 0, 9), None, "there already");
    // One key passes a whole wide character.
    assert_eq!(click(&format!("{at}界界x"), 0, 4), keys("D", 2));
    // A wrapped line counts as one line.
    assert_eq!(click(&format!("{at}{}", "x".repeat(30)), 0, 18), keys("D", 14));
    assert_eq!(click(&format!("{at}abc\x1b[?1h"), 0, 3), Some("^OD^OD".to_owned()));
    // Nothing is sent without a prompt, during a command, and on the other screen.
    assert_eq!(click("echo hi", 0, 2), None);
    assert_eq!(click(&format!("{at}echo hi\x1b]133;C\x07"), 0, 2), None);
    assert_eq!(click(&format!("{at}echo hi\x1b[?1049h"), 0, 2), None);
}

#[test]
fn a_prompt_at_the_right_is_not_typed() {
    let at = "\x1b]133;A\x07$ \x1b]133;B\x07";
    let typed = format!("{at}abc\x1b[5Cright\x1b[10D");
    assert_eq!(click(&typed, 0, 12), None, "the cursor is at the end");
    assert_eq!(click(&typed, 0, 3).as_deref(), Some("^[D^[D"));
    assert_eq!(click(&format!("{at}\x1b[8Cright\x1b[13D"), 0, 12), None, "nothing is typed");
}

#[test]
fn a_click_takes_over_nothing_that_the_shell_suggests() {
    let keys = |key: &str, count: usize| Some(format!("^[{key}").repeat(count));
    let at = "\x1b]133;A\x07$ \x1b]133;B\x07";
    for look in ["90", "2", "38;2;85;85;85", "38;5;240"] {
        let suggests = format!("{at}echo a\x1b[{look}mb cd\x1b[m\x1b[4D");
        assert_eq!(click(&suggests, 0, 10), None, "{look}");
        assert_eq!(click(&suggests, 0, 19), None, "{look}");
        assert_eq!(click(&suggests, 0, 3), keys("D", 5), "{look}");
    }
    // Gray text that is input, and input after the cursor.
    let grey = format!("{at}\x1b[90mecho ab\x1b[m\x1b[2D");
    assert_eq!(click(&grey, 0, 19), keys("C", 2));
    let coloured = format!("{at}echo \x1b[36mab\x1b[m\x1b[2D");
    assert_eq!(click(&coloured, 0, 19), keys("C", 2));
}

#[test]
fn clicks_go_to_other_lines_as_the_shell_says() {
    let text = |cl: &str| {
        format!(
            "\x1b]133;A;cl={cl}\x07$ \x1b]133;B\x07echo\r\n\x1b]133;P;k=c\x07> \x1b]133;B\x07more"
        )
    };
    let sent = |cl: &str, row, col| click(&text(cl), row, col).map(|sent| sent.replace("^[", ""));
    assert_eq!(sent("line", 0, 3), None);
    assert_eq!(sent("m", 0, 3).as_deref(), Some("DDDDDDDD"), "four, the break, three");
    assert_eq!(sent("v", 0, 3).as_deref(), Some("DDDDAC"));
    assert_eq!(sent("w", 0, 3).as_deref(), Some("ADDD"));
    assert_eq!(sent("w", 0, 19).as_deref(), Some("A"));
    assert_eq!(sent("m", 3, 3), None, "no such line of it");
    // If a shell shows a secondary prompt, it has already read the lines before it.
    let secondary = text("m").replace("P;k=c", "A;k=s");
    assert_eq!(click(&secondary, 0, 3), None);
    assert_eq!(click(&secondary, 1, 3).as_deref(), Some("^[D^[D^[D"));
    // A line break inside pasted text, without a prompt.
    let pasted = "\x1b]133;A;cl=m\x07$ \x1b]133;B\x07one\x1b[4Cright\r\n two";
    assert_eq!(click(pasted, 0, 3).as_deref(), Some(&*"^[D".repeat(7)));
}

#[test]
fn a_shell_that_wants_clicks_gets_them() {
    let prompt = |n: u8| format!("one\r\n\x1b]133;A;click_events={n}\x07$ \x1b]133;B\x07abc");
    assert_eq!(click(&prompt(1), 1, 3).as_deref(), Some("^[<0;4;2M"));
    assert_eq!(click(&prompt(2), 1, 3).as_deref(), Some("^[<0;4;1M"));
    assert_eq!(click(&prompt(1), 0, 3), None, "above the prompt");
}

#[test]
fn a_typed_position_follows_its_row_until_it_is_cleared() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("$ ");
    let first = fixture.term.mark_typed().unwrap();
    fixture.feed("some words\r\n> ");
    let second = fixture.term.mark_typed().unwrap();
    let at = |fixture: &Fixture, id| {
        let (oldest, at) = (fixture.term.oldest().0, fixture.term.typed_at(id)?);
        Some((at.line.0 - oldest, at.col))
    };
    assert_eq!((at(&fixture, first), at(&fixture, second)), (Some((0, 2)), Some((2, 2))));
    let size = fixture.term.size();
    fixture.term.resize(Size { cols: 20, ..size });
    assert_eq!((at(&fixture, first), at(&fixture, second)), (Some((0, 2)), Some((1, 2))));
    fixture.feed("\r\n".repeat(9));
    assert_eq!(at(&fixture, second), Some((1, 2)), "in the history");
    let third = fixture.term.mark_typed().unwrap();
    fixture.feed("\x1b[H\x1b[2J");
    assert_eq!(at(&fixture, third), None, "cleared");
    let fourth = fixture.term.mark_typed().unwrap();
    fixture.feed("\x1b[?1049h");
    assert_eq!(fixture.term.mark_typed(), None, "the alternate screen");
    fixture.feed("\x1b[?1049l");
    assert!(at(&fixture, fourth).is_some());
    fixture.feed("\x1bc");
    assert_eq!(at(&fixture, fourth), None, "reset");
    let ids: Vec<_> = (0..600).map(|_| fixture.term.mark_typed().unwrap()).collect();
    let kept = ids.iter().filter(|id| at(&fixture, **id).is_some()).count();
    assert_eq!(kept, 512);
}

#[test]
fn what_a_line_editor_draws_is_marked() {
    let mut fixture = Fixture::new(20, 4);
    fixture.feed("out \x1b[?2004h$ ls\x1b7\x1b[m\x1b8\x1b[!p!\r\n\x1b[?2004lout\r\n");
    fixture.feed("\x1b[?2004h\x1b]133;A\x07$ \x1b]133;B\x07ls\x1b]133;C\x07?\x1bc");
    fixture.feed("a\x1b[?2004hb");
    let mut lines = fixture.term.lines();
    let mut edited = String::new();
    let oldest = lines.oldest();
    assert!(lines.row_cells(oldest, |_, cell, text| {
        edited.push_str(if cell.is_edited() { text } else { "-" });
    }));
    assert_eq!(edited, "-b", "after a reset");
}

#[test]
fn a_prompt_without_a_fresh_line_begins_where_the_cursor_is() {
    // Readline prints its mode before the prompt, and prints both again with each key.
    let drawn = "(ins)\x1b]133;P;k=i\x07ready$ \x1b]133;B\x07";
    let fixture = with_nonce(&format!("\x1b]133;P;k=i;nonce=n1\x07{drawn}ls\r{drawn}ls"));
    assert_eq!(fixture.screen(), "(ins)ready$ ls");
    let prompts = |fixture: &Fixture| {
        let at = |at: Option<Point>| at.map(|at| (at.line.0, at.col));
        fixture.term.commands().map(|c| (c.id, at(c.prompt), at(c.input))).collect::<Vec<_>>()
    };
    assert_eq!(prompts(&fixture), [(1, Some((0, 0)), Some((0, 12)))]);
    // A hook of the user has printed text before the prompt.
    let own = "\x1b]133;P;k=i;reset_key=1;nonce=n1\x07\x1b]133;P;k=i\x07$ \x1b]133;B\x07";
    let mut fixture = with_nonce(&format!("[12:34] {own}"));
    assert_eq!(
        (fixture.screen(), prompts(&fixture)),
        ("[12:34] $".to_owned(), vec![(1, Some((0, 8)), Some((0, 10)))])
    );
    // The line editor clears the screen and draws the prompt again.
    fixture.feed("\x1b[H\x1b[2J\x1b]133;P;k=i;cl=m\x07$ \x1b]133;B\x07ls");
    assert_eq!(prompts(&fixture), [(1, Some((0, 0)), Some((0, 2)))]);
    assert!(fixture.term.command(1).is_some_and(|command| command.has_reset_key));
    // The prompt ends the command before it. A prompt that no mark announces is the same one on a later line: bash has
    // listed completions.
    fixture.feed(format!("\r\n\x1b]133;C;nonce=n1\x07out\r\n{own}"));
    assert!(fixture.term.command(1).is_some_and(|command| !command.is_running()));
    fixture.feed("ls \r\nbin etc\r\n\x1b]133;P;k=i\x07$ \x1b]133;B\x07ls ".repeat(2));
    assert_eq!(fixture.term.commands().map(|c| c.id).collect::<Vec<_>>(), [1, 2]);
    // The next announced prompt is another command.
    fixture.feed(format!("\r\n{own}"));
    assert_eq!(fixture.term.commands().map(|c| c.id).collect::<Vec<_>>(), [1, 2, 3]);
    // Resizes overtook the shell, which draws its prompt again on a later line, once for each resize that it noticed.
    let mut fixture = with_nonce(own);
    fixture.term.resize(Size::cells(10, 4));
    fixture.feed("\r\n\x1b]133;P;k=i\x07$ \x1b]133;B\x07".repeat(3));
    assert_eq!(fixture.term.commands().map(|c| c.id).collect::<Vec<_>>(), [1]);
    // Only the shell's own mark ends a command that the shell runs.
    let running =
        "\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07x\r\n\x1b]133;C;nonce=n1\x07\x1b]133;P;k=i\x07";
    assert!(with_nonce(running).term.command(1).is_some_and(Command::is_running));
}

#[test]
fn a_line_entered_at_a_prompt_without_marks_is_a_command() {
    let first = "\x1b]133;P;k=i;nonce=n1\x07$ \x1b]133;B\x07x\r\n\x1b]133;C;nonce=n1\x07out\r\n";
    let began = "\x1b]133;C;nonce=n1\x07";
    // bash reports the end of the first command late if its hooks were removed, or in time if a later hook replaced the
    // prompt.
    let reported = ("\x1b]133;D;0;nonce=n1\x07", "", Some(0));
    for (in_time, late, code) in [("", "\x1b]133;D;;nonce=n1\x07", None), reported] {
        let mut fixture = with_nonce(&format!("{first}{in_time}"));
        fixture.feed("\x1b[?2004hme\r\n> y\x1b[?2004l\r\n").feed(format!("{late}{began}"));
        fixture.feed("two\r\n\x1b]133;D;7;nonce=n1\x07");
        let term = &fixture.term;
        let commands: Vec<_> =
            term.commands().map(|c| (c.prompt.map(|at| at.line.0), c.exit_code)).collect();
        assert_eq!(commands, [(Some(0), code), (Some(2), Some(7))]);
        assert_eq!(output(term, 1).as_deref(), Some("out"), "{late:?}");
        assert_eq!(output(term, 2).as_deref(), Some("two"), "{late:?}");
    }
    // Any program may send such a mark without the nonce.
    let fixture = with_nonce(&format!("{first}\x1b]133;D;0;nonce=n1\x07> y\r\n\x1b]133;C\x07two"));
    assert_eq!(fixture.term.commands().count(), 1);
}

#[test]
fn output_longer_than_the_history_keeps_its_rest() {
    let options = Options { scrollback: 100, ..Options::default() };
    let (mut term, mut parser) = (Term::new(Size::cells(20, 4), options), Parser::new());
    let long: String = (1..=3000).map(|line| format!("line {line}\r\n")).collect();
    let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07";
    let running = format!("{prompt}seq\r\n\x1b]133;C\x07{long}");
    parser.advance(&mut term, running.as_bytes());
    for (end, exit_code) in [("", None), ("\x1b]133;D;3\x07", Some(3)), (prompt, Some(3))] {
        parser.advance(&mut term, end.as_bytes());
        let rest = term.command(1).expect("its output is not gone");
        assert!(term.is_cut(rest) && term.prompt_line(rest).is_none());
        assert_eq!((rest.exit_code, rest.line.as_deref()), (exit_code, Some("seq")));
        let text = output(&term, 1).expect("output");
        assert!(text.starts_with("line ") && text.ends_with("line 3000"), "{text}");
        assert!((100..=104).contains(&text.lines().count()), "{}", text.lines().count());
    }
    // The command survives when its lines rewrap.
    for cols in [8, 40] {
        term.resize(Size::cells(cols, 4));
        assert!(output(&term, 1).is_some_and(|text| text.ends_with("line 3000")), "{cols}");
    }
    let all: Vec<_> = term.commands().map(|command| command.id).collect();
    assert_eq!(all, [1, 2]);
    // The command is gone once all of its output has left the history.
    parser.advance(&mut term, format!("next\r\n\x1b]133;C\x07{long}").as_bytes());
    assert!(term.command(1).is_none() && output(&term, 1).is_none());
}

#[test]
fn a_cleared_screen_keeps_no_rest() {
    let shown = run("a", "1\r\n2\r\n", 0) + "\x1b]133;A\x07$ \x1b]133;B\x07clear\r\n\x1b]133;C\x07";
    let fixture =
        after(shown + "\x1b[H\x1b[2J\x1b[3J\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07");
    let kept: Vec<_> = fixture.term.commands().map(|command| command.id).collect();
    assert_eq!(kept, [3]);
}

/// The id of each command, its output, and whether the beginning of the output is gone.
fn outputs(fixture: &Fixture) -> Vec<(u64, Option<String>, bool)> {
    let term = &fixture.term;
    term.commands().map(|c| (c.id, output(term, c.id), term.is_cut(c))).collect()
}

/// What each of these sequences erases ends above "rest", which the command prints at the top of the screen.
const CLEARED: [&str; 7] = [
    "\x1b[H\x1b[2J\x1b[3J",
    "\x1b[H\x1b[2J",
    "\x1b[H\x1b[J\x1b[3J",
    "\x1b[1J\x1b[H\x1b[3J",
    "\x1bc",
    "\x1b#8\x1b[2J\x1b[H",
    "\x1b[?40h\x1b[?3h\x1b[?3l",
];

#[test]
fn a_command_that_clears_the_screen_keeps_what_it_prints_next() {
    let (prompt, rest) = ("\x1b]133;A\x07$ \x1b]133;B\x07", Some("rest".to_owned()));
    for cleared in CLEARED {
        let older = run("older", "1\r\n", 0);
        let begun = format!("{prompt}seq 2; clear\r\n\x1b]133;C\x071\r\n2\r\n");
        let mut fixture = after(format!("{older}{begun}{cleared}"));
        assert_eq!(outputs(&fixture), [(2, None, true)], "{cleared:?}");
        fixture.feed("rest\r\n");
        assert_eq!(outputs(&fixture), [(2, rest.clone(), true)], "{cleared:?}");
        let command = fixture.term.command(2).unwrap().clone();
        assert!(command.is_running() && command.is_erased, "{cleared:?}");
        assert_eq!((command.prompt, command.input), (None, None), "{cleared:?}");
        assert_eq!(command.line.as_deref(), Some("seq 2; clear"));
        fixture.feed(format!("\x1b]133;D;4\x07{prompt}"));
        assert_eq!(outputs(&fixture), [(2, rest.clone(), true), (3, None, false)], "{cleared:?}");
        let term = &fixture.term;
        assert_eq!(term.command(2).unwrap().exit_code, Some(4), "{cleared:?}");
        let (top, next) = (term.live_top(), LineId(term.live_top().0 + 1));
        let at = |line| term.command_at(line).map(|command| command.id);
        assert_eq!([top, next].map(at), [Some(2), Some(3)], "{cleared:?}");
        assert_eq!(term.prompt_before(LineId(99)), Some(next), "{cleared:?}");
        assert_eq!(term.prompt_before(next), None, "{cleared:?}");
        assert_eq!(term.prompt_after(top), Some(next), "{cleared:?}");
        assert_eq!(term.first_line(term.command(2).unwrap()), Some(top), "{cleared:?}");
        assert_eq!(term.command_after(top), Some(next), "{cleared:?}");
        // Its lines are found again after they rewrap, and the next command clears them for good.
        for cols in [3, 40, 20] {
            fixture.term.resize(Size::cells(cols, 6));
            assert_eq!(output(&fixture.term, 2), rest, "{cleared:?} {cols}");
        }
        fixture.feed(format!("clear\r\n\x1b]133;C\x07{cleared}\x1b]133;D;0\x07{prompt}"));
        assert_eq!(outputs(&fixture), [(4, None, false)], "{cleared:?}");
    }
}

#[test]
fn a_command_that_clears_the_screen_first_is_complete() {
    let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07";
    for cleared in CLEARED.into_iter().filter(|it| !it.contains("#8") && !it.contains("1J")) {
        let begun = format!("{prompt}clear; ls\r\n\x1b]133;C\x07{cleared}all\r\n");
        let mut fixture = after(run("older", "1\r\n", 0) + &begun);
        fixture.feed(format!("\x1b]133;D;0\x07{prompt}"));
        let expected = [(2, Some("all".to_owned()), false), (3, None, false)];
        assert_eq!(outputs(&fixture), expected, "{cleared:?}");
        let command = fixture.term.command(2).unwrap();
        assert_eq!((command.prompt, command.is_erased), (None, false), "{cleared:?}");
    }
}

#[test]
fn a_command_is_kept_if_its_prompt_was_erased_before_it_ran() {
    // A job in the background clears the screen while the shell waits at its prompt.
    let fixture = after("\x1b]133;A\x07$ \x1b]133;B\x07ls\x1b[1J\r\n\x1b]133;C\x07a\r\n");
    assert!(fixture.term.command(1).is_some(), "the row of the prompt is only blank");
    let fixture = after("\r\n\x1b]133;A\x07$ \x1b]133;B\x07ls\x1b[H\x1b[J\x1b]133;C\x07a\r\n");
    assert_eq!(outputs(&fixture), [(1, Some("a".to_owned()), false)]);
}

#[test]
fn text_that_is_not_erased_is_not_cut() {
    let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07";
    let begun = format!("{prompt}x\r\n\x1b]133;C\x07");
    let long: String = (1..=20).map(|n| format!("{n}\r\n")).collect();
    for (bytes, expected) in [
        // The output begins in the history, which ED 2 keeps, and ED 22 moves the screen there.
        (format!("{long}\x1b[H\x1b[2Jrest"), None),
        ("1\r\n\x1b[22Jrest".to_owned(), None),
        (format!("{long}\x1b[22J\x1b[Hrest"), Some(format!("{}rest", long.replace('\r', "")))),
        // A program that draws its output again, as a menu or progress does.
        ("1\r\n2\r\n\x1b[2A\x1b[Jrest".to_owned(), Some("rest".to_owned())),
        ("1\r\n2\r\n\x1b[1A\x1b[2Krest".to_owned(), Some("1\nrest".to_owned())),
        // Protected rows, and the alternate screen.
        ("\x1bV1\x1bW\r\n\x1b[H\x1b[2J\x1b[3Hrest".to_owned(), None),
        (
            "1\r\n\x1b[?1049h\x1b[H\x1b[2J\x1b[3J\x1b[?1049lrest".to_owned(),
            Some("1\nrest".to_owned()),
        ),
    ] {
        let fixture = after(format!("{begun}{bytes}"));
        let command = fixture.term.command(1).unwrap();
        assert!(!command.is_erased && command.prompt.is_some(), "{bytes:?}");
        if let Some(expected) = expected {
            assert_eq!(output(&fixture.term, 1), Some(expected), "{bytes:?}");
        }
    }
    // Text that is erased at a prompt belongs to no running command.
    let fixture = after(run("ls", "a\r\n", 0) + prompt + "\x1b[H\x1b[J");
    assert!(fixture.term.commands().all(|command| !command.is_erased));
}

#[test]
fn only_the_output_may_be_erased() {
    let begun = "\x1b]133;A\x07$ \x1b]133;B\x07x\r\n\x1b]133;C\x071\r\n2\r\n";
    // The prompt keeps its text before the cursor, and the history keeps the prompt.
    let fixture = after(format!("{begun}\x1b[1;3H\x1b[J\r\nrest"));
    assert_eq!(outputs(&fixture), [(1, Some("rest".to_owned()), true)]);
    let command = fixture.term.command(1).unwrap();
    assert_eq!(command.prompt, Some(Point { line: LineId(0), col: 0 }));
    assert_eq!(command.output, Some(Point { line: LineId(1), col: 0 }));
    let fixture = after(format!("{begun}3\r\n4\r\n5\r\n\x1b[H\x1b[2Jrest"));
    assert_eq!(fixture.everything(), "$ x/rest");
    assert_eq!(outputs(&fixture), [(1, Some("rest".to_owned()), true)]);
    assert!(fixture.term.command(1).unwrap().prompt.is_some());
    // An erase from the top left corner clears the screen, even if the output begins there.
    let fixture = after(format!("{begun}3\r\n4\r\n5\r\n\x1b[H\x1b[Jrest"));
    assert_eq!(outputs(&fixture), [(1, Some("rest".to_owned()), true)]);
    // The history is erased, and the screen still shows what is left.
    let long: String = (1..=20).map(|n| format!("{n}\r\n")).collect();
    let fixture = after(format!("{begun}{long}\x1b[3J"));
    assert_eq!(outputs(&fixture), [(1, Some("16\n17\n18\n19\n20".to_owned()), true)]);
}

#[test]
fn a_shell_inside_a_command_keeps_its_prompt() {
    let prompt = "\x1b]133;A\x07> \x1b]133;B\x07";
    let mut fixture =
        with_nonce(&format!("{prompt}sh\r\n\x1b]133;C;nonce=n1\x07hi\r\n{prompt}\r\n{prompt}ec"));
    fixture.term.give_command(3, "eval echo", "echo");
    fixture.feed(format!("\x1b[H\x1b[J{prompt}ec"));
    assert_eq!(outputs(&fixture), [(1, Some("> ec".to_owned()), true), (3, None, false)]);
    let last = fixture.term.command(3).unwrap();
    assert!(last.is_prompting() && last.given.is_some());
    assert_eq!(last.prompt, Some(Point { line: LineId(0), col: 0 }));
    // The shell's command stays in the list while it runs, and its inner commands leave the list with their lines.
    let options = Options { scrollback: 10, nonce: Some("n1".into()), ..Options::default() };
    fixture.term = Term::new(Size::cells(20, 4), options);
    fixture.feed(format!("{prompt}sh\r\n\x1b]133;C;nonce=n1\x07"));
    fixture.feed(run("x", "1\r\n2\r\n", 0).repeat(100)).feed(prompt);
    assert!(fixture.term.command(1).is_some_and(Command::is_running));
    assert!(fixture.term.commands.len() < 12, "{}", fixture.term.commands.len());
    fixture.feed("\x1b]133;D;7;nonce=n1\x07");
    assert_eq!(fixture.term.command(1).unwrap().exit_code, Some(7));
}

#[test]
fn clearing_again_and_again_keeps_one_command() {
    let begun = "\x1b]133;A\x07$ \x1b]133;B\x07watch\r\n\x1b]133;C\x07";
    let mut fixture = after(begun);
    for n in 0..50 {
        fixture.feed(format!("\x1b[H\x1b[2J{n}\r\nmore"));
        assert_eq!(outputs(&fixture), [(1, Some(format!("{n}\nmore")), n > 0)]);
    }
}

#[test]
fn a_cleared_screen_cuts_every_command_that_runs() {
    let own = |line: &str| {
        format!("\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07{line}\r\n\x1b]133;C;nonce=n1\x07")
    };
    let mut fixture = with_nonce(&format!("{}hi\r\n", own("sh -c")));
    fixture.feed("\x1b]133;A;aid=1\x07> \x1b]133;B\x07seq\r\n\x1b]133;C\x071\r\n2\r\n");
    fixture.feed("\x1b[H\x1b[2J\x1b[3Jrest\r\n");
    let rest = || Some("rest".to_owned());
    assert_eq!(outputs(&fixture), [(1, rest(), true), (2, rest(), true)]);
    assert!(fixture.term.commands().all(Command::is_running));
    fixture.feed("\x1b]133;D;7;nonce=n1\x07\x1b]133;A;nonce=n1\x07$ ");
    assert_eq!(outputs(&fixture), [(1, rest(), true), (2, rest(), true), (3, None, false)]);
    assert_eq!(fixture.term.command(1).unwrap().exit_code, Some(7));
}

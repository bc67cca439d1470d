//! Tests: the output is extracted from streams of bytes that are split at every position.

use super::*;

fn marker(marks: &Marks) -> Capture {
    Capture::new(Framing::Marker(marks.clone()))
}

fn push(capture: &mut Capture, bytes: &[u8]) -> Option<End> {
    capture.push(bytes);
    capture.end()
}

/// The text that a capture extracts from between its marks. Checks that the result is equal wherever the stream is
/// split in two.
fn capture(output: &str) -> String {
    let marks = Marks::new().unwrap();
    let begin = String::from_utf8(marks.begin()).unwrap();
    let stream = format!(
        "$ echo of __UNTERM_%s DONE {}\r\n{begin}{output}{} 7\r\n$ ",
        marks.end().replace("__UNTERM_DONE_", "").replace("__", ""),
        marks.end()
    );
    let mut texts: Vec<_> = (0..stream.len())
        .map(|cut| {
            let mut capture = marker(&marks);
            let first = push(&mut capture, &stream.as_bytes()[..cut]);
            let rest = &stream.as_bytes()[cut..];
            let end = first.or_else(|| push(&mut capture, rest)).expect("an end");
            assert_eq!(end.exit_code, Some(7));
            capture.shown(Some(&end), Size::cells(10, 4)).text
        })
        .collect();
    texts.dedup();
    assert_eq!(texts.len(), 1, "the same however it is cut: {texts:?}");
    texts.remove(0)
}

#[test]
fn output_that_flows_comes_back_byte_for_byte() {
    assert_eq!(capture(""), "");
    assert_eq!(capture("hi\r\n"), "hi");
    assert_eq!(capture("no line end"), "no line end");
    assert_eq!(capture("a\tb  \r\n\r\n"), "a\tb  \n");
    assert_eq!(capture("much longer than ten columns\r\r\nx"), "much longer than ten columns\nx");
    assert_eq!(capture("é∀🦀\r\n"), "é∀🦀");
}

#[test]
fn colours_titles_and_modes_leave_no_trace() {
    assert_eq!(capture("\x1b[1;31mred\x1b[m\x1b[K plain\x1b]0;title\x07\r\n"), "red plain");
    assert_eq!(capture("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\x07\x1b[?25l"), "link");
    assert_eq!(capture("\x1bPstring\x1b\\\x1b(B\x1b=x"), "x");
}

#[test]
fn output_that_moves_the_cursor_comes_back_as_shown() {
    assert_eq!(capture("10%\r20%\r\n"), "20%");
    assert_eq!(capture("ab\x08c\r\n"), "ac");
    assert_eq!(capture("old\r\n\x1b[H\x1b[2J\x1b[3Jnew\r\n"), "new");
    assert_eq!(capture("a\r\nb\r\nc\r\nd\r\ne\r\nf\rF\r\n"), "a\nb\nc\nd\ne\nF");
    // The CR returns to the start of the second row of the wrapped line.
    assert_eq!(capture("fifteen columns\rX\r\n"), "fifteen coXumns");
}

#[test]
fn output_that_erases_its_beginning_says_so() {
    let is_cut = |raw: &str| visible(raw.as_bytes(), Size::cells(10, 4)).is_cut;
    for erases in ["\x1b[H\x1b[2J\x1b[3J", "\x1b[H\x1b[J", "\x1bc"] {
        assert!(is_cut(&format!("old\r\n\r\n{erases}new\r\n")), "{erases:?}");
        let forged = "\x1b]133;D;0\x07\x1b]133;D;0;nonce=n1\x07";
        assert!(is_cut(&format!("old\r\n\r\n{forged}{erases}new\r\n")), "{erases:?}");
        assert!(!is_cut(&format!("{erases}new\r\n")), "nothing was there: {erases:?}");
    }
    assert!(!is_cut("10%\r20%\r\n"));
    assert!(!is_cut("old\r\n\x1b[?1049h\x1b[H\x1b[2J\x1b[?1049lnew\r\n"));
}

#[test]
fn text_is_given_before_the_end_and_holds_no_half_mark() {
    let marks = Marks::new().unwrap();
    let mut capture = marker(&marks);
    let size = Size::cells(80, 24);
    assert_eq!(push(&mut capture, b"$ typed"), None);
    assert_eq!(capture.shown(None, size).text, "", "it has not begun");
    push(&mut capture, &marks.begin());
    push(&mut capture, b"some\r\nout");
    push(&mut capture, &marks.end().as_bytes()[..20]);
    assert_eq!(capture.shown(None, size).text, "some\nout");
}

#[test]
fn without_a_begin_mark_the_output_follows_the_echo() {
    let marks = Marks::new().unwrap();
    let mut capture = marker(&marks);
    let stream = format!("$ cmd; printf {} $?\r\nout\r\n{} 0\r\n", marks.echo(), marks.end());
    let end = push(&mut capture, stream.as_bytes()).unwrap();
    assert_eq!(capture.shown(Some(&end), Size::cells(120, 24)).text, "out");
}

#[test]
fn too_much_output_loses_its_beginning() {
    let marks = Marks::new().unwrap();
    let mut capture = marker(&marks);
    push(&mut capture, &marks.begin());
    for _ in 0..24 {
        assert_eq!(push(&mut capture, &vec![b'x'; 1 << 20]), None);
    }
    let end = push(&mut capture, format!("last\r\n{} 0\r\n", marks.end()).as_bytes()).unwrap();
    let text = capture.shown(Some(&end), Size::cells(80, 24)).text;
    assert!(capture.is_cut());
    assert!(text.len() <= 2 * KEPT && text.ends_with("xlast"), "{} bytes", text.len());
}

#[test]
fn a_block_is_cut_out_between_marks_that_carry_the_nonce() {
    let stream = "$ echo x\x1b]133;C;nonce=no\x07\r\n\x1b]133;C;nonce=n1\x07a\r\n\x1b]133;D;5\x07\
                  \x1b]133;D;6;nonce=n2\x07b\r\n\x1b]133;D;7;nonce=n1\x07\x1b]133;A\x07$ ";
    for cut in 0..stream.len() {
        let mut capture =
            Capture::new(Framing::Block { nonce: "n1".into(), line: " echo x".into() });
        let first = push(&mut capture, &stream.as_bytes()[..cut]);
        let end = first.or_else(|| push(&mut capture, &stream.as_bytes()[cut..])).expect("an end");
        assert_eq!(end.exit_code, Some(7));
        assert_eq!(capture.shown(Some(&end), Size::cells(80, 24)).text, "a\nb");
        assert!(!capture.is_nested());
    }
}

#[test]
fn zshs_mark_after_a_command_is_not_part_of_the_output() {
    let blanks = " ".repeat(19);
    let styled = format!("\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m{blanks}\r \r");
    for (output, expected) in [
        (format!("out\r\n{styled}"), "out\r\n"),
        (format!("100%{styled}"), "100%"),
        (format!("\x1b[31mred{styled}"), "\x1b[31mred"),
        (format!("out%{blanks}\r \r"), "out"),
        ("10%\r \r".to_owned(), "10%\r \r"),
        ("plain".to_owned(), "plain"),
    ] {
        let cut = without_eol_mark(output.as_bytes(), 20);
        assert_eq!(str::from_utf8(cut).unwrap(), expected, "{output:?}");
    }
}

#[test]
fn an_echo_after_output_on_its_way_is_no_output() {
    let shown = |parts: &[&str]| {
        let marks = Marks::new().unwrap();
        let mut capture = marker(&marks);
        push(&mut capture, &marks.begin());
        capture.expect_echo(b"ls\r", true);
        for part in parts {
            push(&mut capture, part.as_bytes());
        }
        let end = push(&mut capture, format!("{} 0\r\n", marks.end()).as_bytes()).unwrap();
        capture.shown(Some(&end), Size::cells(80, 24)).text
    };
    assert_eq!(shown(&["ls\r\nout\r\n"]), "out");
    assert_eq!(shown(&["out\r\nls\r\n", "more\r\n"]), "out\nmore");
    assert_eq!(shown(&["out\r\nls\r\nmore\r\n"]), "out\nmore");
    assert_eq!(shown(&["out\r\n", "ls\r\nmore\r\n"]), "out\nmore");
    assert_eq!(shown(&["out\r\nl", "s\r\nmore\r\n"]), "out\nmore");
    assert_eq!(shown(&["out\r\n", "more\r\n", "ls\r\n"]), "out\nmore");
    // The terminal did not echo the keys after all.
    assert_eq!(shown(&["out\r\n", "more\r\n", "less\r\n"]), "out\nmore\nless");
}

#[test]
fn an_early_echo_follows_the_trace_of_the_command() {
    let marks = Marks::new().unwrap();
    let mut capture = marker(&marks);
    capture.expect_echo(b"\x1b[A", false);
    push(&mut capture, &[&marks.begin()[..], b"+ sleep 1\r\n"].concat());
    push(&mut capture, b"[A");
    let size = Size::cells(80, 24);
    assert_eq!(capture.shown(None, size).text, "+ sleep 1");
    let end = push(&mut capture, format!("1\r\n{} 0\r\n", marks.end()).as_bytes()).unwrap();
    assert_eq!(capture.shown(Some(&end), size).text, "+ sleep 1\n1");
}

#[test]
fn a_debug_trap_that_zsh_traces_in_a_hook_is_no_output() {
    let mark = "\x1b[7m%\x1b[27m    \r \r";
    let directory = "\x1b]7;kitty-shell-cwd://host/\x07";
    for (output, expected) in [
        (format!("out\r\n{mark}+_unterm_precmd:1> true\r\n{directory}"), "out\r\n"),
        (format!("a{mark}+precmd:0> f\r\n+f:0> true\r\n{directory}"), "a"),
        ("10%\r \r20%\r\n".to_owned(), "10%\r \r20%\r\n"),
        ("+_unterm_precmd:1> true\r\n".to_owned(), "+_unterm_precmd:1> true\r\n"),
    ] {
        let cut = without_eol_mark(output.as_bytes(), 20);
        assert_eq!(str::from_utf8(cut).unwrap(), expected, "{output:?}");
    }
}

#[test]
fn a_reported_line_must_match_the_typed_line() {
    let told = |line: &str| format!("$ \x1b]633;E;{line};n1\x07").into_bytes();
    assert!(is_of(&told(r" echo 'a\x3b b\\n'"), " echo 'a; b\\n'"));
    assert!(!is_of(&told(" echo a"), " echo b"));
    assert!(!is_of(&told(" echo a"), " echo ab"));
    assert!(is_of(b"$ echo", " echo ab"));
}

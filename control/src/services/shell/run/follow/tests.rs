use super::*;

const BEGIN: &str = "\x1b]133;C;nonce=n\x07";

fn end(code: i32) -> String {
    format!("\x1b]133;D;{code};nonce=n\x07")
}

/// A command of a shell with shell integration.
fn block() -> Follow {
    Follow::new(Reported::Block { nonce: "n".into(), line: "make".to_owned() })
}

/// A command of a shell without shell integration, and the marks that were typed with it.
fn marked(is_around: bool) -> (Follow, Marks) {
    let marks = Marks::new().unwrap();
    let nonce = Some("n".into());
    (Follow::new(Reported::Marker { marks: marks.clone(), is_around, nonce }), marks)
}

fn output(follow: &mut Follow, text: &str) -> Effect {
    follow.step(Event::Output { seq: 1, bytes: text.as_bytes() })
}

/// The ending, the exit code and its source.
fn finished(follow: Follow) -> (Ending, Option<i32>, Option<ExitSource>) {
    let finish = follow.into_finish();
    (finish.ending, finish.exit_code, finish.exit_source)
}

#[test]
fn a_command_ends_at_its_mark_at_every_split_of_the_bytes() {
    let all = format!("prompt{BEGIN}hello\r\n{}", end(3));
    for split in 0..=all.len() {
        let mut follow = block();
        let first = output(&mut follow, &all[..split]);
        let effect = if first == Effect::Poll { output(&mut follow, &all[split..]) } else { first };
        assert_eq!(effect, Effect::Finish, "split at {split}");
        let finish = follow.into_finish();
        let text = finish.capture.shown(finish.end.as_ref(), unterm_term::Size::cells(80, 24)).text;
        let told = (finish.ending, finish.exit_code, finish.exit_source, text.as_str());
        let expected = (Ending::Completed, Some(3), Some(ExitSource::Block), "hello");
        assert_eq!(told, expected, "split at {split}");
    }
}

#[test]
fn the_end_of_a_command_in_a_shell_inside_is_not_the_end() {
    let mut follow = block();
    assert_eq!(output(&mut follow, &format!("{BEGIN}$ {BEGIN}")), Effect::Poll);
    assert_eq!(output(&mut follow, &end(1)), Effect::Look(Look::Leader));
    assert_eq!(follow.step(Event::Seen(Sight::Leader(false))), Effect::Poll);
    assert_eq!(output(&mut follow, &end(2)), Effect::Look(Look::Leader));
    assert_eq!(follow.step(Event::Seen(Sight::Leader(true))), Effect::Finish);
    assert_eq!(finished(follow), (Ending::Completed, Some(2), Some(ExitSource::Block)));
}

#[test]
fn an_end_that_was_missed_is_asked_of_the_terminal() {
    for (length, is_missed) in [(TAP_CAPACITY / 2 + 1, true), (10, false)] {
        let mut follow = block();
        output(&mut follow, BEGIN);
        output(&mut follow, &"x".repeat(length));
        // The driver was too slow: it did not wait before these bytes arrived.
        assert_eq!(follow.step(Event::Empty), Effect::Wait { for_quiet: true });
        assert_eq!(follow.step(Event::Advanced(9)), Effect::Poll);
        if is_missed {
            assert_eq!(follow.step(Event::Empty), Effect::Look(Look::Kept));
            assert_eq!(follow.step(Event::Seen(Sight::Kept(Some(Some(0))))), Effect::Finish);
            let finish = follow.into_finish();
            assert!(finish.capture.is_cut());
            assert_eq!(finish.exit_source, Some(ExitSource::Block));
        } else {
            assert_eq!(follow.step(Event::Empty), Effect::Wait { for_quiet: true });
        }
    }
}

#[test]
fn a_line_that_was_given_up_is_interrupted() {
    let mut follow = block();
    // Ctrl+C was typed before the line, at a prompt that is then drawn again.
    follow.step(Event::Input { bytes: b"\x03", is_echoed: false });
    assert_eq!(output(&mut follow, "\x1b]133;A;\x07$ "), Effect::Poll);
    follow.step(Event::Input { bytes: b"make\r", is_echoed: false });
    assert_eq!(follow.step(Event::Input { bytes: b"\x03", is_echoed: false }), Effect::Poll);
    assert_eq!(output(&mut follow, "^C\r\n"), Effect::Poll);
    assert_eq!(output(&mut follow, "\x1b]133;A;\x07$ "), Effect::Finish);
    assert_eq!(finished(follow), (Ending::Interrupted, None, None));

    let (mut follow, marks) = marked(false);
    output(&mut follow, &marks_begin(&marks));
    follow.step(Event::Input { bytes: b"\x03", is_echoed: false });
    assert_eq!(output(&mut follow, "^C\r\n"), Effect::Look(Look::Prompt));
    assert_eq!(follow.step(Event::Seen(Sight::Prompt(false))), Effect::Poll);
    assert_eq!(output(&mut follow, "$ "), Effect::Look(Look::Prompt));
    assert_eq!(follow.step(Event::Seen(Sight::Prompt(true))), Effect::Finish);
    assert_eq!(finished(follow), (Ending::Interrupted, None, None));
}

#[test]
fn a_command_that_ctrl_c_ended_says_so() {
    for (keys, code, is_interrupted) in [("\x03", 130, true), ("\x03", 0, false), ("q", 130, false)]
    {
        let mut follow = block();
        output(&mut follow, BEGIN);
        follow.step(Event::Input { bytes: keys.as_bytes(), is_echoed: false });
        assert_eq!(output(&mut follow, &end(code)), Effect::Finish);
        assert_eq!(follow.into_finish().is_interrupted, is_interrupted, "{keys:?} {code}");
    }
}

#[test]
fn without_an_end_mark_the_shells_state_decides() {
    let prompt = Silence { has_prompt: true, ..Silence::default() };
    let replaced = Silence { has_editor: true, is_replaced: true, ..Silence::default() };
    let reads_for_it = Silence { has_editor: true, ..Silence::default() };
    let lost = |lost| Some((Ending::Lost(lost), None));
    for (has_begun, silence, expected) in [
        (true, None, None),
        (true, Some(prompt), lost(Lost::NotTold)),
        (true, Some(Silence { exit_code: Some(5), ..prompt }), Some((Ending::Completed, Some(5)))),
        (true, Some(replaced), lost(Lost::NotTold)),
        (true, Some(reads_for_it), None),
        (false, Some(prompt), lost(Lost::NotTold)),
        (false, Some(Silence { has_run: true, ..prompt }), lost(Lost::OtherLine)),
        (false, Some(Silence { has_run: true, ..replaced }), None),
        (false, Some(reads_for_it), lost(Lost::NotTold)),
        (false, Some(Silence::default()), None),
    ] {
        let mut follow = block();
        output(&mut follow, if has_begun { BEGIN } else { "$ make\r\n" });
        assert_eq!(follow.step(Event::Empty), Effect::Wait { for_quiet: true });
        assert_eq!(follow.step(Event::Quiet), Effect::Look(Look::Silence));
        let effect = follow.step(Event::Seen(Sight::Silence(silence)));
        match expected {
            Some((ending, exit_code)) => {
                assert_eq!(effect, Effect::Finish, "{silence:?}");
                let finish = follow.into_finish();
                assert_eq!((finish.ending, finish.exit_code), (ending, exit_code), "{silence:?}");
            }
            None => {
                assert_eq!(effect, Effect::Poll, "{silence:?}");
                let again = follow.step(Event::Empty);
                assert_eq!(again, Effect::Wait { for_quiet: false }, "one look for each silence");
            }
        }
    }
}

#[test]
fn the_end_of_the_program_ends_its_running_command() {
    let code = || Event::Exited(Some(ExitStatus::Code(7)));
    let mut follow = block();
    assert_eq!(follow.step(code()), Effect::Fail);
    let mut follow = block();
    output(&mut follow, BEGIN);
    assert_eq!(follow.step(Event::Exited(Some(ExitStatus::Signal(9)))), Effect::Fail);
    let mut follow = block();
    output(&mut follow, BEGIN);
    assert_eq!(follow.step(code()), Effect::Finish);
    assert_eq!(finished(follow), (Ending::Completed, Some(7), Some(ExitSource::Process)));
}

#[test]
fn a_command_inside_another_ends_with_that() {
    for is_around in [true, false] {
        let (mut follow, marks) = marked(is_around);
        output(&mut follow, &marks_begin(&marks));
        follow.step(Event::Empty);
        follow.step(Event::Advanced(2));
        if !is_around {
            assert_eq!(follow.step(Event::Empty), Effect::Wait { for_quiet: true });
            continue;
        }
        assert_eq!(follow.step(Event::Empty), Effect::Look(Look::Around));
        assert_eq!(follow.step(Event::Seen(Sight::Around(None))), Effect::Wait { for_quiet: true });
        follow.step(Event::Advanced(3));
        assert_eq!(follow.step(Event::Empty), Effect::Look(Look::Around));
        assert_eq!(follow.step(Event::Seen(Sight::Around(Some(Some(4))))), Effect::Finish);
        assert_eq!(finished(follow), (Ending::Completed, Some(4), Some(ExitSource::Block)));
    }
}

#[test]
fn a_shell_that_marks_the_line_again_is_inside_no_command() {
    // The shell lost its marks, so the command before seems to run. It reports the end of that command late.
    let (mut follow, marks) = marked(true);
    let late = "\x1b]133;D;;nonce=n\x07";
    output(&mut follow, &format!("{late}{BEGIN}{}", marks_begin(&marks)));
    follow.step(Event::Empty);
    follow.step(Event::Advanced(2));
    assert_eq!(follow.step(Event::Empty), Effect::Wait { for_quiet: true });
    assert_eq!(output(&mut follow, &format!("out\r\n{}7\r\n", marks.end())), Effect::Finish);
    assert_eq!(finished(follow), (Ending::Completed, Some(7), Some(ExitSource::Marker)));
}

#[test]
fn a_new_shell_at_its_prompt_ends_the_wait() {
    let mut follow = block();
    output(&mut follow, &format!("{BEGIN}\x1b]133;P;k=i;nonce=n\x07$ "));
    follow.step(Event::Advanced(2));
    assert_eq!(follow.step(Event::Empty), Effect::Look(Look::NewShell));
    assert_eq!(follow.step(Event::Seen(Sight::NewShell(false))), Effect::Wait { for_quiet: true });
    // The silence reveals a shell without marks.
    assert_eq!(follow.step(Event::Quiet), Effect::Look(Look::Silence));
    let silence = Silence { is_new_shell: true, ..Silence::default() };
    assert_eq!(follow.step(Event::Seen(Sight::Silence(Some(silence)))), Effect::Finish);
    assert_eq!(finished(follow), (Ending::NewShell, None, None));
}

#[test]
fn the_terminals_echo_of_input_is_no_output() {
    for (keys, echoed, expected) in [
        (&["word\r"][..], "word\r\n", "name: got word"),
        (&["w", "ord", "\r"], "word\r\n", "name: got word"),
        (&["\x1b[A", "\x01\r"], "^[[A^A\r\n", "name: got word"),
        // The text that the terminal shows for keys that edit the line is unknown.
        (&["\x15\r"], "\r\n", "name: \ngot word"),
    ] {
        for split in 0..=echoed.len() {
            let mut follow = block();
            output(&mut follow, &format!("{BEGIN}name: "));
            for key in keys {
                follow.step(Event::Input { bytes: key.as_bytes(), is_echoed: true });
            }
            output(&mut follow, &echoed[..split]);
            output(&mut follow, &echoed[split..]);
            assert_eq!(output(&mut follow, &format!("got word\r\n{}", end(0))), Effect::Finish);
            let finish = follow.into_finish();
            let text =
                finish.capture.shown(finish.end.as_ref(), unterm_term::Size::cells(80, 24)).text;
            assert_eq!(text, expected, "{keys:?}, split at {split}");
        }
    }
}

#[test]
fn an_echo_can_follow_lines_that_were_on_their_way() {
    // Within a line of output, an echo cannot be told apart from text of the program, so it is kept.
    for (echoed, expected) in [("one\r\nword\r\n", "one"), ("...word\r\n", "...word")] {
        for split in 0..=echoed.len() {
            let mut follow = block();
            output(&mut follow, BEGIN);
            follow.step(Event::Input { bytes: b"word\r", is_echoed: true });
            output(&mut follow, &echoed[..split]);
            output(&mut follow, &echoed[split..]);
            assert_eq!(output(&mut follow, &end(0)), Effect::Finish);
            let finish = follow.into_finish();
            let size = unterm_term::Size::cells(80, 24);
            let text = finish.capture.shown(finish.end.as_ref(), size).text;
            assert_eq!(text, expected, "{echoed:?}, split at {split}");
        }
    }
}

#[test]
fn keys_that_the_shell_may_not_echo_are_no_output_if_it_did() {
    for (before, shown_before, shown) in [
        (&["w", "or"][..], "", ""),
        (&["w", "or"], "", "wor"),
        (&["w", "or"], "", "r"),
        (&["\x1b[A"], "", "[A"),
        (&["x", "ls", "\r"], "", "s\r\n"),
        // The terminal has echoed the second key, so it also echoes the later ones, perhaps before the command begins.
        (&["w", "!or"], "or", ""),
        (&["w", "!or"], "o", "r"),
        (&["w", "!or"], "hook\r\n", "or"),
    ] {
        for split in 0..=shown.len() {
            let mut follow = block();
            follow.step(Event::Input { bytes: b"make\r", is_echoed: false });
            for key in before {
                let bytes = key.trim_start_matches('!').as_bytes();
                follow.step(Event::Input { bytes, is_echoed: bytes.len() < key.len() });
            }
            output(&mut follow, &format!("make\r\n{shown_before}{BEGIN}"));
            output(&mut follow, &shown[..split]);
            // The shell has turned the echo on.
            follow.step(Event::Input { bytes: b"later", is_echoed: true });
            output(&mut follow, &format!("{}later", &shown[split..]));
            assert_eq!(output(&mut follow, &format!("done\r\n{}", end(0))), Effect::Finish);
            let finish = follow.into_finish();
            let text =
                finish.capture.shown(finish.end.as_ref(), unterm_term::Size::cells(80, 24)).text;
            assert_eq!(text, "done", "{before:?} {shown_before:?} {shown:?}, split at {split}");
        }
    }
}

#[test]
fn at_the_deadline_it_is_left_running() {
    let mut follow = block();
    output(&mut follow, &format!("{BEGIN}half"));
    assert_eq!(follow.step(Event::Deadline), Effect::Finish);
    assert_eq!(finished(follow), (Ending::TimedOut, None, None));
}

/// The text that the shell prints before the output of a command that was typed with these marks.
fn marks_begin(marks: &Marks) -> String {
    String::from_utf8(marks.begin()).unwrap()
}

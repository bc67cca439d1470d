//! Replies to operating system commands, and the events they send to the terminal's owner.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Fixture, check_reply};
use crate::{
    BlockedOn, ClipboardTarget, Context, ContextExit, ContextKind, Event, Notification, Occasion,
    ProgramState, Progress, Rgb, Term, Urgency,
};

fn after(bytes: impl AsRef<[u8]>) -> Fixture {
    let mut fixture = Fixture::new(20, 6);
    fixture.feed(bytes);
    fixture
}

/// The events that `bytes` cause.
fn events(bytes: impl AsRef<[u8]>) -> Vec<Event> {
    after(bytes).term.take_events()
}

#[test]
fn colours_are_set_asked_for_and_reset() {
    check_reply(
        "\x1b]4;1;red;2;#0f0\x07\x1b]4;1;?;2;?\x07",
        "\x1b]4;1;rgb:ffff/0000/0000\x07\x1b]4;2;rgb:0000/f0f0/0000\x07",
    );
    check_reply("\x1b]4;1;red\x07\x1b]104;1\x07\x1b]4;1;?\x07", "\x1b]4;1;rgb:f3f3/8b8b/a8a8\x07");
    check_reply(
        "\x1b]4;1;red;7;blue\x07\x1b]104\x07\x1b]4;7;?\x07",
        "\x1b]4;7;rgb:a6a6/adad/c8c8\x07",
    );
    // Special colors, in both forms. A special color that is not set is reported as the color of ordinary text.
    check_reply(
        "\x1b]5;0;red;4;blue\x07\x1b]4;256;?;260;?\x07",
        "\x1b]4;256;rgb:ffff/0000/0000\x07\x1b]4;260;rgb:0000/0000/ffff\x07",
    );
    check_reply("\x1b]5;0;red\x07\x1b]105;0\x07\x1b]5;0;?\x07", "\x1b]5;0;rgb:cdcd/d6d6/f4f4\x07");
    check_reply("\x1b]5;5;?\x07\x1b]4;261;?\x07\x1b]4;65535;?\x07\x1b]4;99999;?\x07", "");
    // Several dynamic colors in one OSC.
    check_reply(
        "\x1b]10;#111111;#222222;#333333\x07\x1b]10;?;?;?\x07",
        "\x1b]10;rgb:1111/1111/1111\x07\x1b]11;rgb:2222/2222/2222\x07\x1b]12;rgb:3333/3333/3333\x07",
    );
    for number in 10..=19 {
        check_reply(
            format!("\x1b]{number};#123456\x1b\\\x1b]{number};?\x1b\\"),
            &format!("\x1b]{number};rgb:1212/3434/5656\x1b\\"),
        );
        let reset = format!("\x1b]{number};#123456\x07\x1b]1{number}\x07");
        assert_eq!(after(reset).term.palette(), &after("").term.palette().clone(), "{number}");
    }
    // Text that a program has written is never sent back.
    check_reply("\x1b]10;rm -rf\x07\x1b]4;1;rm -rf;x;?\x07", "");
}

#[test]
fn kitty_colour_control() {
    check_reply(
        "\x1b]21;foreground=red;foreground=?;cursor=;cursor=?\x1b\\",
        "\x1b]21;foreground=rgb:ff/00/00;cursor=\x1b\\",
    );
    check_reply("\x1b]21;5=#010203;5=?;5;5=?\x07", "\x1b]21;5=rgb:01/02/03;5=rgb:f5/c2/e7\x07");
    check_reply(
        "\x1b]21;selection_background=blue@0.5;selection_background=?\x07",
        "\x1b]21;selection_background=rgb:00/00/ff\x07",
    );
    check_reply("\x1b]21;no_such_key=?\x07", "\x1b]21;no_such_key=?\x07");
    // A key that is not a word is invalid, and is not echoed.
    check_reply("\x1b]21;rm -rf /=?;+5=?;256=?\x07", "\x1b]21;256=?\x07");
    check_reply(
        "\x1b]21;foreground=\x07\x1b]21;foreground=?\x07",
        "\x1b]21;foreground=rgb:cd/d6/f4\x07",
    );
}

#[test]
fn colours_are_put_aside_and_taken_back() {
    let red = "\x1b]4;1;red\x07";
    let ask = "\x1b]4;1;?\x07";
    let (is_red, is_blue) = ("\x1b]4;1;rgb:ffff/0000/0000\x07", "\x1b]4;1;rgb:0000/0000/ffff\x07");
    let blue = "\x1b]4;1;blue\x07";
    check_reply(format!("{red}\x1b[#P{blue}{ask}\x1b[#Q{ask}"), &format!("{is_blue}{is_red}"));
    check_reply(format!("{red}\x1b]30001\x1b\\{blue}\x1b]30101\x1b\\{ask}"), is_red);
    check_reply(format!("{red}\x1b[3#P{blue}\x1b[1#P\x1b[3#Q{ask}"), is_red);
    check_reply("\x1b[#R\x1b[#P\x1b[#P\x1b[#Q\x1b[#R", "\x1b[?0;0#Q\x1b[?1;2#Q");
    // Push and pop more positions than exist, and pop an empty stack.
    check_reply("\x1b[#Q\x1b[7#Q\x1b[99#P\x1b[#R", "\x1b[?0;0#Q");
    check_reply("\x1b[#P".repeat(100) + "\x1b[#R", "\x1b[?10;10#Q");
}

#[test]
fn a_theme_changes_what_the_program_has_not() {
    let mut fixture = after("\x1b]10;red\x07\x1b]5;0;blue\x07");
    let base = crate::Palette::new([Rgb::hex(0x101010); 16], Rgb::hex(0), Rgb::hex(0xffffff));
    fixture.term.set_base_palette(std::sync::Arc::new(base));
    fixture.feed("\x1b]10;?;?\x07\x1b]5;0;?\x07\x1b]4;3;?\x07");
    assert_eq!(
        fixture.replies(),
        "\x1b]10;rgb:ffff/0000/0000\x07\x1b]11;rgb:ffff/ffff/ffff\x07\
        \x1b]5;0;rgb:0000/0000/ffff\x07\x1b]4;3;rgb:1010/1010/1010\x07"
    );
}

#[test]
fn pointer_shapes_are_a_stack_for_each_screen() {
    let shape = |bytes: &str| after(bytes).term.pointer_shape();
    assert_eq!(shape(""), None);
    assert_eq!(shape("\x1b]22;pointer\x07"), Some("pointer"));
    assert_eq!(shape("\x1b]22;pointer\x07\x1b]22;\x07"), None);
    assert_eq!(shape("\x1b]22;=wait\x07\x1b]22;>help,move\x07\x1b]22;<\x07"), Some("help"));
    assert_eq!(shape("\x1b]22;hand2\x07"), Some("pointer"), "xterm's name");
    assert_eq!(shape("\x1b]22;wait\x07\x1b[?1049h"), None);
    assert_eq!(shape("\x1b]22;wait\x07\x1bc"), None);
    assert_eq!(shape("\x1b]22;wait\x07\x1b]22;no such\x07"), Some("wait"));
    check_reply("\x1b]22;?pointer,crosshair,no-such-name,wait\x1b\\", "\x1b]22;1,1,0,1\x1b\\");
    check_reply(
        "\x1b]22;?__current__\x07\x1b]22;grab\x07\x1b]22;?__current__,__default__\x07",
        "\x1b]22;0\x07\x1b]22;grab,text\x07",
    );
    assert_eq!(events("\x1b]22;wait\x07\x1b]22;wait\x07"), [Event::PointerShape]);
}

fn note(title: &str, body: &str) -> Notification {
    let (title, body) = (title.to_owned(), body.to_owned());
    Notification { handle: 1, title, body, focus: true, ..Default::default() }
}

#[test]
fn simple_notifications() {
    let shown = |n: Notification| vec![Event::Notification(Box::new(n))];
    assert_eq!(events("\x1b]9;Hello\x07"), shown(note("Hello", "")));
    assert_eq!(events("\x1b]9;4 o'clock\x07"), shown(note("4 o'clock", "")));
    assert_eq!(
        events("\x1b]777;notify;Title;Body; more\x1b\\"),
        shown(note("Title", "Body; more"))
    );
    assert_eq!(events("\x1b]777;notify;Title\x07"), shown(note("Title", "")));
    assert_eq!(events("\x1b]9;a\u{202e}b\u{9b}c\x07"), shown(note("abc", "")));
    assert_eq!(events("\x1b]9;\x07\x1b]777;other;x\x07\x1b]9;6;macro\x07\x1b]9;1;500\x07"), []);
    // A notification that is too long is dropped whole.
    assert_eq!(events(format!("\x1b]9;{}\x07", "x".repeat(100_000))), []);
}

#[test]
fn progress() {
    let progress = |bytes: &str| after(bytes).term.progress();
    assert_eq!(progress("\x1b]9;4;1;42\x07"), Progress::Percent(42));
    assert_eq!(progress("\x1b]9;4;1;999\x07"), Progress::Percent(100));
    assert_eq!(progress("\x1b]9;4;1\x07"), Progress::Percent(0));
    assert_eq!(progress("\x1b]9;4;1;42\x07\x1b]9;4;2\x07"), Progress::Error(Some(42)));
    assert_eq!(progress("\x1b]9;4;3\x07"), Progress::Indeterminate);
    assert_eq!(progress("\x1b]9;4;4;10\x07"), Progress::Paused(Some(10)));
    assert_eq!(progress("\x1b]9;4;1;42\x07\x1b]9;4;0;0\x07"), Progress::None);
    assert_eq!(progress("\x1b]9;4;1;42\x07\x1b]9;4;7\x07"), Progress::Percent(42));
    assert_eq!(progress("\x1b]9;4;1;42\x07\x1bc"), Progress::None);
    assert_eq!(events("\x1b]9;4;1;5\x07\x1b]9;4;1;5\x07"), [Event::Progress]);
}

#[test]
fn kitty_notifications_come_in_pieces() {
    let reported = events(
        "\x1b]99;i=1:d=0;Hel\x1b\\\x1b]99;i=1:d=0;lo\x1b\\\x1b]99;i=1:p=body:e=1;V29ybGQ=\x1b\\",
    );
    assert_eq!(reported, [Event::Notification(Box::new(note("Hello", "World")))]);
    let all = events(
        "\x1b]99;i=x:d=0:u=2:o=unfocused:a=-focus,report:f=YXBw:t=a2luZA==:n=aWNvbg==:s=c2lsZW50:w=500;T\x07\
        \x1b]99;i=x:p=buttons;Yes\u{2028}No\x07",
    );
    let words = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    assert_eq!(
        all,
        [Event::Notification(Box::new(Notification {
            urgency: Urgency::Critical,
            occasion: Occasion::Unfocused,
            focus: false,
            app: Some("app".into()),
            kinds: words(&["kind"]),
            icons: words(&["icon"]),
            sound: Some("silent".into()),
            expires: Some(500),
            buttons: words(&["Yes", "No"]),
            ..note("T", "")
        }))]
    );
    // Without a title, the body becomes the title; without both, there is no notification.
    assert_eq!(events("\x1b]99;p=body;B\x07"), [Event::Notification(Box::new(note("B", "")))]);
    assert_eq!(events("\x1b]99;;\x07\x1b]99;no\x07\x1b]99;i=a b;x\x07\x1b]99;e=1;***\x07"), []);
}

#[test]
fn kitty_notifications_are_cut_anywhere() {
    let text = "Größe € 😀!";
    let title = |chunks: &[String], encoded: u8| {
        let mut bytes = Vec::new();
        for (at, chunk) in chunks.iter().enumerate() {
            let more = (at + 1 < chunks.len()) as u8;
            bytes.extend(format!("\x1b]99;i=1:e={encoded}:d={};{chunk}\x07", 1 - more).bytes());
        }
        match &events(bytes)[..] {
            [Event::Notification(reported)] => reported.title.clone(),
            other => format!("{other:?}"),
        }
    };
    let base64 = |bytes: &[u8]| STANDARD.encode(bytes);
    for length in 1..=text.len() {
        // The title is encoded and then split, with and without padding.
        let whole = base64(text.as_bytes());
        for whole in [whole.as_str(), whole.trim_end_matches('=')] {
            let cut: Vec<_> = whole.as_bytes().chunks(length).collect();
            let cut: Vec<_> =
                cut.iter().map(|cut| String::from_utf8(cut.to_vec()).expect("ASCII")).collect();
            assert_eq!(title(&cut, 1), text, "encoded, then cut at {length}");
        }
        // The title is split, even within characters, and then encoded.
        let cut: Vec<_> = text.as_bytes().chunks(length).map(base64).collect();
        assert_eq!(title(&cut, 1), text, "cut at {length}, then encoded");
    }
    // The title is sent as raw bytes, split within a character.
    let mut fixture = after("");
    for (at, byte) in text.bytes().enumerate() {
        let last = (at + 1 == text.len()) as u8;
        fixture.feed([format!("\x1b]99;i=1:d={last};").as_bytes(), &[byte], b"\x07"].concat());
    }
    assert_eq!(fixture.term.take_events().len(), 1);
    // A plain chunk follows an encoded chunk. Each is decoded by itself.
    let reported =
        events("\x1b]99;i=1:d=0:e=1;SGVs\x1b\\\x1b]99;i=1:d=0;lo \x1b\\\x1b]99;i=1:e=1;eA\x1b\\");
    assert_eq!(reported, [Event::Notification(Box::new(note("Hello x", "")))]);
}

#[test]
fn kitty_notifications_have_icons() {
    let icons = |bytes: String| {
        let reported = events(bytes).into_iter();
        let icon = |event| match event {
            Event::Notification(reported) => {
                (reported.title, reported.icon_data.map(|file| file.to_vec()))
            }
            other => panic!("{other:?}"),
        };
        reported.map(icon).collect::<Vec<_>>()
    };
    let title = |title: &str| title.to_owned();
    // An icon is sent in chunks of arbitrary bytes, before or after the text.
    let file: Vec<u8> = (0..=255).collect();
    let (first, second) = file.split_at(100);
    let send = |keys: &str, file: &[u8]| {
        format!("\x1b]99;{keys}:p=icon:e=1;{}\x07", STANDARD.encode(file))
    };
    let sent = send("i=1:d=0", first) + &send("i=1:d=0", second) + "\x1b]99;i=1;T\x07";
    assert_eq!(icons(sent), [(title("T"), Some(file.clone()))]);
    assert_eq!(
        icons("\x1b]99;i=1:d=0;T\x07".to_owned() + &send("i=1", &file)),
        [(title("T"), Some(file.clone()))]
    );
    // An icon with an identifier can be reused, until another icon replaces it.
    let kept = "\x1b]99;i=1:d=0;T\x07".to_owned() + &send("i=1:g=x", &file);
    let used = "\x1b]99;i=2:g=x;U\x07\x1b]99;i=3:g=y;V\x07";
    assert_eq!(
        icons(kept.clone() + used),
        [(title("T"), Some(file.clone())), (title("U"), Some(file.clone())), (title("V"), None)]
    );
    let again = "\x1b]99;i=4:d=0;W\x07".to_owned() + &send("i=4:g=x", b"new");
    assert_eq!(icons(kept.clone() + &again + used)[2], (title("U"), Some(b"new".to_vec())));
    assert_eq!(icons(kept.clone() + "\x1bc" + used)[1], (title("U"), None));
    let many: String = (0..16).map(|i| send(&format!("i=5:g=n{i}"), b"other")).collect();
    assert_eq!(icons(kept + &many + used)[1], (title("U"), None), "the oldest goes");
    // An icon that is too long or not base64 is dropped. The rest of the notification is not affected.
    let long = send("i=1:d=0", &[0; 200 << 10]).repeat(2) + "\x1b]99;i=1;T\x07";
    assert_eq!(icons(long), [(title("T"), None)]);
    let broken = "\x1b]99;i=1:d=0:p=icon:e=1;***\x07\x1b]99;i=1;T\x07";
    assert_eq!(icons(broken.to_owned()), [(title("T"), None)]);
}

#[test]
fn kitty_notifications_answer() {
    let mut fixture = after("\x1b]99;i=a:a=report:c=1;T\x07\x1b]99;i=b;U\x07");
    fixture.term.activate_notification(1, None);
    fixture.term.activate_notification(1, Some(2));
    fixture.term.activate_notification(2, None);
    assert_eq!(fixture.replies(), "\x1b]99;i=a;\x1b\\\x1b]99;i=a;2\x1b\\");
    fixture.feed("\x1b]99;i=q:p=alive;\x07");
    assert_eq!(fixture.replies(), "\x1b]99;i=q:p=alive;a,b\x07");
    fixture.term.close_notification(1);
    fixture.term.close_notification(2);
    fixture.term.close_notification(9);
    assert_eq!(fixture.replies(), "\x1b]99;i=a:p=close;\x1b\\");
    fixture.term.take_events();
    // An update has the same handle. The program can withdraw the notification.
    fixture.feed("\x1b]99;i=c;1\x07\x1b]99;i=c;2\x07\x1b]99;i=c:p=close;\x07");
    let handles: Vec<_> = fixture
        .term
        .take_events()
        .into_iter()
        .map(|event| match event {
            Event::Notification(n) => n.handle,
            Event::NotificationClosed { handle } => handle + 100,
            _ => 0,
        })
        .collect();
    assert_eq!(handles, [3, 3, 103]);
    fixture.feed("\x1b]99;i=q:p=?;\x1b\\");
    assert!(fixture.replies().starts_with("\x1b]99;i=q:p=?;a=focus,report:c=1:o=always,"));
    // blessed sends the query without a payload.
    fixture.feed("\x1b]99;i=blessed:p=?\x1b\\");
    assert!(fixture.replies().starts_with("\x1b]99;i=blessed:p=?;a=focus,"));
    fixture.feed("\x1b]99;hello\x1b\\");
    assert_eq!(fixture.term.take_events(), []);
    // An identifier that could do harm in a shell is not echoed.
    fixture.feed("\x1b]99;i=rm -rf:p=?;\x1b\\\x1b]99;i=$(x):p=alive;\x1b\\");
    assert_eq!(fixture.replies(), "");
}

#[test]
fn clipboards_are_written_and_asked_for() {
    let text = |target, text: &str| Event::Clipboard { target, text: text.into() };
    let (clipboard, primary) = (ClipboardTarget::Clipboard, ClipboardTarget::Primary);
    assert_eq!(events("\x1b]52;c;aGk=\x07"), [text(clipboard, "hi")]);
    assert_eq!(events("\x1b]52;pc;aGk\x07"), [text(clipboard, "hi"), text(primary, "hi")]);
    assert_eq!(events("\x1b]52;;aGk=\x07"), [text(clipboard, "hi")]);
    assert_eq!(events("\x1b]52;c;!\x07"), [text(clipboard, "")], "no base64 clears");
    assert_eq!(events("\x1b]52;c;/w==\x07"), [], "no UTF-8");

    let mut fixture = after("\x1b]52;c;?\x07");
    assert_eq!(fixture.replies(), "", "nobody answers by itself");
    assert_eq!(fixture.term.take_events(), [Event::ClipboardQuery { target: clipboard }]);
    fixture.term.answer_clipboard(primary, Some("no"));
    assert_eq!(fixture.replies(), "");
    fixture.term.answer_clipboard(clipboard, Some("secret"));
    assert_eq!(fixture.replies(), "\x1b]52;c;c2VjcmV0\x07");
    fixture.term.answer_clipboard(clipboard, Some("again"));
    assert_eq!(fixture.replies(), "", "one answer a question");
    fixture.feed("\x1b]52;p;?\x1b\\");
    fixture.term.answer_clipboard(primary, None);
    fixture.term.answer_clipboard(primary, Some("late"));
    assert_eq!(fixture.replies(), "");
    fixture.feed("\x1b]52;x;?\x1b\\\x1b]52;c;?\x1b\\".repeat(1000));
    fixture.term.answer_clipboard(clipboard, Some(""));
    assert_eq!(fixture.replies(), "\x1b]52;c;\x1b\\".repeat(8));
}

#[test]
fn working_directories_in_every_form() {
    let cwd = |bytes: &str| after(bytes).term.cwd().map(str::to_owned);
    assert_eq!(cwd("\x1b]7;file://host/tmp\x07").as_deref(), Some("file://host/tmp"));
    assert_eq!(cwd("\x1b]7;kitty-shell-cwd://host/a b\x07").as_deref(), Some("file://host/a%20b"));
    assert_eq!(cwd("\x1b]9;9;\"/a b\"\x07").as_deref(), Some("file:///a%20b"));
    assert_eq!(cwd("\x1b]9;9;C:\\Users\x07").as_deref(), Some("file:///C:/Users"));
    assert_eq!(cwd("\x1b]1337;CurrentDir=/ü\x07").as_deref(), Some("file:///%C3%BC"));
    assert_eq!(cwd("\x1b]633;P;Cwd=/a\\x3bb\x07").as_deref(), Some("file:///a%3Bb"));
    assert_eq!(cwd("\x1b]1337;CurrentDir=relative\x07\x1b]7;http://x\x07"), None);
}

#[test]
fn the_host_is_the_last_that_a_program_reported() {
    let far = "\x1b]7;file://far/tmp\x07";
    let host = |bytes: &str| after(far.to_owned() + bytes).term.host().map(str::to_owned);
    assert_eq!(after("").term.host(), None);
    assert_eq!(host("").as_deref(), Some("far"));
    assert_eq!(host("\x1b]7;kitty-shell-cwd://near/a\x07").as_deref(), Some("near"));
    assert_eq!(host("\x1b]1337;RemoteHost=me@there\x07").as_deref(), Some("there"));
    assert_eq!(host("\x1b]7;file:///\x07"), None);
    assert_eq!(host("\x1b]1337;RemoteHost=\x07"), None);
    for silent in [
        "\x1b]1337;CurrentDir=/a\x07",
        "\x1b]9;9;/a\x07",
        "\x1b]7;\x07",
        "\x1b]7;http://near/\x07",
        "\x1bc",
        "\x1b[!p",
    ] {
        assert_eq!(host(silent).as_deref(), Some("far"), "{silent:?}");
    }
}

#[test]
fn iterm2s_commands() {
    let fixture = after(
        "\x1b]1337;SetUserVar=a=aGk=\x07\x1b]1337;SetUserVar=b=eA==\x07\x1b]1337;SetUserVar=a=eW8=\x07",
    );
    assert_eq!(fixture.term.user_vars().collect::<Vec<_>>(), [("a", "yo"), ("b", "x")]);
    let mut many = after("");
    for i in 0..1000 {
        many.feed(format!("\x1b]1337;SetUserVar=v{i}=eA==\x07"));
    }
    assert_eq!(many.term.user_vars().count(), 64);
    assert_eq!(after("\x1b]1337;RemoteHost=me@there\x07").term.remote_host(), Some("me@there"));
    check_reply("\x1b]1337;ReportCellSize\x07", "\x1b]1337;ReportCellSize=16.0;8.0;1.0\x07");
    assert_eq!(events("\n\x1b]1337;SetMark\x07"), [Event::Mark { line: crate::LineId(1) }]);
    let copied = Event::Clipboard { target: ClipboardTarget::Clipboard, text: "hi".into() };
    for name in ["", "rule", "find", "font"] {
        assert_eq!(
            events(format!("\x1b]1337;Copy={name}:aGk=\x07")),
            std::slice::from_ref(&copied),
            "{name}"
        );
    }
    assert_eq!(events("\x1b]1337;Copy=aGk=\x07\x1b]1337;Copy=:*\x07\x1b]1337;Copy=:/w==\x07"), []);
    let red = events("\x1b]6;1;bg;red;brightness;255\x07\x1b]6;1;bg;blue;brightness;16\x07");
    assert_eq!(red, [Event::TabColor]);
    let color = |bytes: &str| after(bytes).term.tab_color();
    assert_eq!(
        color("\x1b]6;1;bg;red;brightness;255\x07\x1b]6;1;bg;blue;brightness;16\x07"),
        Some(Rgb::hex(0xff0010))
    );
    assert_eq!(color("\x1b]6;1;bg;red;brightness;255\x07\x1b]6;1;bg;*;default\x07"), None);
    assert_eq!(color("\x1b]6;1;bg;red;brightness;256\x07\x1b]6;1;fg;red;brightness;1\x07"), None);
}

#[test]
fn iterm2_clears_the_history_and_not_the_screen() {
    let mut fixture = after("a\r\n".repeat(9) + "b");
    assert_eq!(fixture.term.history_rows(), 4);
    fixture.feed("\x1b]1337;ClearScrollback\x07c");
    assert_eq!(fixture.term.history_rows(), 0);
    assert_eq!(fixture.everything(), "a/a/a/a/a/bc");
    // Only the history of the visible screen is cleared: the alternate screen has none.
    fixture.feed("\r\n\n\n\x1b[?1049h\x1b]1337;ClearScrollback\x07\x1b[?1049l");
    assert_eq!(fixture.term.history_rows(), 3);
}

#[test]
fn program_status() {
    let mut fixture = after("\x1b]7501;state=working:app=cargo:progress=40\x1b\\");
    let status = fixture.term.program_statuses()[0].clone();
    assert_eq!(
        (status.id.as_str(), status.state, status.progress),
        ("", ProgramState::Working, Some(40))
    );
    fixture.feed("\x1b]7501;state=blocked:id=a/b:kind=permission:msg=Q29udGludWU/\x1b\\");
    let status = &fixture.term.program_statuses()[1];
    assert_eq!(status.state, ProgramState::Blocked(Some(BlockedOn::Permission)));
    assert_eq!(status.message.as_deref(), Some("Continue?"));
    assert_eq!(fixture.term.status_app("a/b"), Some("cargo"), "from the root");
    // A report replaces the whole record with the same id.
    fixture.feed("\x1b]7501;state=done:id=a/b\x1b\\");
    assert_eq!(fixture.term.program_statuses()[1].message, None);
    // A new prompt ends records of programs that were working. Finished records stay.
    fixture.feed("\x1b]133;A\x07");
    let states: Vec<_> = fixture.term.program_statuses().iter().map(|s| s.state).collect();
    assert_eq!(states, [ProgramState::Done]);
    check_reply("\x1b]7501;?\x07\x1b]7501;?\x1b\\", "\x1b]7501;?\x07\x1b]7501;?\x1b\\");
}

#[test]
fn a_reported_state_keeps_the_time_at_which_it_began() {
    let mut fixture = after("");
    let mut feed = |time: u64, bytes: &str| {
        fixture.term.set_time(time);
        fixture.feed(bytes);
        let since = fixture.term.program_statuses().last().map(|status| status.since);
        (since, fixture.term.progress_time())
    };
    assert_eq!(feed(5, "\x1b]7501;state=working\x07\x1b]9;4;1;10\x07"), (Some(5), 5));
    assert_eq!(feed(6, "\x1b]7501;state=working:progress=9\x07\x1b]9;4;1;20\x07"), (Some(5), 5));
    assert_eq!(feed(7, "\x1b]7501;state=done\x07\x1b]9;4;2\x07"), (Some(7), 7));
    // Another record does not keep the time of the first one.
    assert_eq!(feed(8, "\x1b]7501;state=done:id=a\x07"), (Some(8), 7));
}

#[test]
fn program_status_records() {
    let ids = |bytes: &str| {
        let bytes: String = bytes.split(' ').map(|body| format!("\x1b]7501;{body}\x07")).collect();
        let fixture = after(bytes);
        fixture.term.program_statuses().iter().map(|s| s.id.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids("state=idle:id=a state=idle:id=b state=done:id=a"), "b a");
    assert_eq!(ids("state=idle:id=a state=idle:id=a/b state=idle:id=ab state=clear:id=a"), "ab");
    assert_eq!(ids("state=idle:id=a state=clear"), "");
    // An invalid id must not count as the root.
    assert_eq!(ids("state=idle:id=a state=clear:id=bad! state=clear:id= state=clear:id=a//b"), "a");
    for bad in [
        "state=nope",
        "app=x",
        "",
        "state=idle:id=a/b/c/d/e/f/g/h/i",
        "state=idle:msg=a:id=x",
        "state=idle:title=AAA=:id=x",
        "state=done:id=x:msg=Cg==",
        "state=done:id=x:abcdefghijklmnopq=1",
    ] {
        assert_eq!(ids(bad), "", "{bad}");
    }
    let many: String = (0..1000).map(|i| format!("\x1b]7501;state=idle:id=r{i}\x07")).collect();
    let fixture = after(many);
    assert_eq!(fixture.term.program_statuses().len(), 256);
    assert_eq!(fixture.term.program_statuses()[0].id, "r744");
}

#[test]
fn a_cell_has_one_size_where_none_is_known() {
    // Reports of the cell size: CSI 14 t, CSI 16 t, mode 2048, XTSMGRAPHICS, iTerm2's report. The layout of images also
    // uses it.
    let reported = "\x1b[14t\x1b[16t\x1b[?2048h\x1b[?2;1S\x1b]1337;ReportCellSize\x07";
    for (width, height) in [(0, 0), (0, 16), (8, 0)] {
        let mut fixture = after("");
        fixture.term.resize(crate::Size {
            cell_width: width,
            cell_height: height,
            ..crate::Size::cells(80, 24)
        });
        assert_eq!(
            fixture.feed(reported).replies(),
            "\x1b[4;480;800t\x1b[6;20;10t\x1b[48;24;80;480;800t\x1b[?2;0;800;480S\
             \x1b]1337;ReportCellSize=20.0;10.0;1.0\x07"
        );
        fixture.feed("\x1bPq\"1;1;20;40\x1b\\");
        let images = &fixture.term.graphics.shown.tiles;
        assert_eq!(
            images.iter().map(|tiled| (tiled.cols, tiled.rows)).collect::<Vec<_>>(),
            [(2, 2)]
        );
    }
}

#[test]
fn size_and_color_scheme_are_reported() {
    let mut fixture = after("\x1b[?2048h");
    assert_eq!(fixture.replies(), "\x1b[48;6;20;96;160t");
    fixture.term.resize(crate::Size {
        cell_width: 8,
        cell_height: 16,
        ..crate::Size::cells(10, 5)
    });
    assert_eq!(fixture.replies(), "\x1b[48;5;10;80;80t");
    fixture.feed("\x1b[?2048l");
    fixture.term.resize(crate::Size::cells(11, 5));
    assert_eq!(fixture.replies(), "");

    check_reply("\x1b[?996n", "\x1b[?997;1n");
    check_reply("\x1b]11;white\x07\x1b]10;black\x07\x1b[?996n", "\x1b[?997;2n");
    let light = std::sync::Arc::new(crate::Palette::new(
        [Rgb::hex(0); 16],
        Rgb::hex(0),
        Rgb::hex(0xffffff),
    ));
    let mut fixture = after("\x1b[?2031h");
    fixture.term.set_base_palette(light.clone());
    assert_eq!(fixture.replies(), "\x1b[?997;2n");
    let mut unasked = after("");
    unasked.term.set_base_palette(light);
    assert_eq!(unasked.replies(), "");
}

/// The ids of the open contexts.
fn contexts(term: &Term) -> Vec<&str> {
    term.contexts().iter().map(|context| context.id.as_str()).collect()
}

#[test]
fn contexts_are_a_hierarchy() {
    let mut fixture = Fixture::new(10, 4);
    // UAPI.15, "Examples".
    let id = "bed86fab93af4328bbed0a1224af6d40";
    fixture.feed(format!(
        "\x1b]3008;start={id};type=container;user=lennart;hostname=zeta;\
         machineid=3deb5353d3ba43d08201c136a47ead7b;bootid=d4a3d0fdf2e24fdea6d971ce73f4fbf2;\
         pid=1062862;pidfdid=1063162;comm=systemd-nspawn;container=foobar\x1b\\"
    ));
    let [context] = fixture.term.contexts() else { panic!("one context") };
    assert_eq!(context.kind, Some(ContextKind::Container));
    assert_eq!(context.user.as_deref(), Some("lennart"));
    assert_eq!(context.hostname.as_deref(), Some("zeta"));
    assert_eq!(context.container.as_deref(), Some("foobar"));
    assert_eq!((context.pid, context.pidfd_id), (Some(1062862), Some(1063162)));
    assert_eq!(fixture.term.take_events(), [Event::Context]);
    // Contexts nest. To start one again updates it and ends those inside it.
    fixture.feed("\x1b]3008;start=b;type=shell;user=root\x07\x1b]3008;start=c;type=command\x07");
    assert_eq!(contexts(&fixture.term), [id, "b", "c"]);
    fixture.feed("\x1b]3008;start=b;cwd=/a\\x3bb\\x5cx3b\x07");
    assert_eq!(contexts(&fixture.term), [id, "b"]);
    let shell = &fixture.term.contexts()[1];
    assert_eq!((shell.kind, &shell.user), (None, &None));
    assert_eq!(shell.cwd.as_deref(), Some("/a;b\\x3b"));
    // An end ends those inside it as well.
    fixture.feed("\x1b]3008;start=d\x07\x1b]3008;end=b;exit=failure;status=3;signal=SIGTERM\x07");
    assert_eq!(contexts(&fixture.term), [id]);
    let ended = fixture.term.ended_context().unwrap();
    assert_eq!((ended.context.id.as_str(), ended.exit), ("b", Some(ContextExit::Failure)));
    assert_eq!((ended.status, ended.signal.as_deref()), (Some(3), Some("SIGTERM")));
    fixture.feed("\x1b]3008;end=b\x07");
    assert_eq!(fixture.term.ended_context().unwrap().exit, Some(ContextExit::Failure));
}

#[test]
fn contexts_outlive_resets_and_screens_but_not_the_program() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("\x1b]3008;start=a\x07\x1b[?1049h\x1b[!p\x1bc");
    assert_eq!(contexts(&fixture.term), ["a"]);
    fixture.term.take_events();
    fixture.term.program_ended();
    assert_eq!(
        (contexts(&fixture.term).len(), fixture.term.take_events()),
        (0, vec![Event::Context])
    );
}

#[test]
fn contexts_are_bounded_and_read_leniently() {
    let mut fixture = Fixture::new(10, 4);
    // The outer contexts stay.
    for depth in 0..1000 {
        fixture.feed(format!("\x1b]3008;start=id{depth}\x07"));
    }
    assert_eq!(contexts(&fixture.term).len(), 64);
    assert_eq!(contexts(&fixture.term)[63], "id63");
    fixture.feed("\x1b]3008;end=id0\x07");
    for bad in ["", "start", "start=", "start=é", "end=x", "stop=x", "user=a;start=b"] {
        fixture.feed(format!("\x1b]3008;{bad}\x07"));
    }
    fixture.feed(format!("\x1b]3008;start={}\x07", "i".repeat(65)));
    assert_eq!(contexts(&fixture.term).len(), 0);
    // Invalid and unknown fields are ignored, and the others are used.
    let long = "u".repeat(256);
    fixture.feed(format!(
        "\x1b]3008;start=a;type=castle;user={long};pid=-1;status=1;;x;=;hostname=h\u{85};cwd=/\u{202e}d;vm=v\x07"
    ));
    let context = &fixture.term.contexts()[0];
    let expected = Context {
        id: "a".into(),
        cwd: Some("/d".into()),
        vm: Some("v".into()),
        ..Context::default()
    };
    assert_eq!(*context, expected);
    fixture.feed("\x1b]3008;end=a;exit=odd;status=256;signal=kill\x07");
    let ended = fixture.term.ended_context().unwrap();
    assert_eq!((ended.exit, ended.status, &ended.signal), (None, None, &None));
}

//! OSC 5522, from the text of kitty's "Copying all data types to the clipboard".

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Fixture, check_reply};
use crate::{
    ClipboardData, ClipboardError, ClipboardRead, ClipboardRequester, ClipboardTarget,
    ClipboardWrite, Event, Modes, Options, Term,
};

fn encoded(text: impl AsRef<[u8]>) -> String {
    STANDARD.encode(text)
}

/// A packet with this metadata and without a payload.
fn packet(metadata: &str) -> String {
    format!("\x1b]5522;{metadata}\x1b\\")
}

/// A packet whose payload is this text in base64.
fn packet_of(metadata: &str, payload: impl AsRef<[u8]>) -> String {
    format!("\x1b]5522;{metadata};{}\x1b\\", encoded(payload))
}

/// A packet with data of a type.
fn data_of(mime: &str, data: impl AsRef<[u8]>) -> String {
    packet_of(&format!("type=wdata:mime={}", encoded(mime)), data)
}

fn data(types: &[(&str, &[u8])]) -> ClipboardData {
    types.iter().map(|(name, bytes)| ((*name).to_owned(), Arc::new(bytes.to_vec()))).collect()
}

fn fixture() -> Fixture {
    Fixture::new(20, 6)
}

/// The only read among the events of a terminal.
fn read(fixture: &mut Fixture) -> ClipboardRead {
    let events = fixture.term.take_events();
    let [Event::ClipboardRead(read)] = &events[..] else { panic!("{events:?}") };
    (**read).clone()
}

/// The only write among the events of a terminal.
fn write(fixture: &mut Fixture) -> ClipboardWrite {
    let events = fixture.term.take_events();
    let [Event::ClipboardWrite(write)] = &events[..] else { panic!("{events:?}") };
    (**write).clone()
}

/// The reply to a read.
fn answer(
    fixture: &mut Fixture,
    handle: u64,
    data: Result<&ClipboardData, ClipboardError>,
) -> String {
    let reader = fixture.term.take_clipboard_read(handle).expect("a pending read");
    String::from_utf8(reader.reply(data.map(|data| data.as_slice()))).expect("ASCII")
}

#[test]
fn a_read_returns_the_data_of_each_type() {
    let mut fixture = fixture();
    fixture.feed(packet_of("type=read", "text/plain image/png  text/plain\n"));
    assert_eq!(fixture.replies(), "", "only the owner answers");
    let asked = read(&mut fixture);
    assert_eq!((asked.target, asked.requester.clone()), (ClipboardTarget::Clipboard, None));
    assert_eq!(asked.types, ["text/plain", "image/png"]);
    assert!(!asked.is_list());
    let found = data(&[("text/plain", b"hi"), ("image/png", b"\x89PNG")]);
    assert_eq!(
        answer(&mut fixture, asked.handle, Ok(&found)),
        "\x1b]5522;type=read:status=OK\x1b\\\
         \x1b]5522;type=read:status=DATA:mime=dGV4dC9wbGFpbg==;aGk=\x1b\\\
         \x1b]5522;type=read:status=DATA:mime=aW1hZ2UvcG5n;iVBORw==\x1b\\\
         \x1b]5522;type=read:status=DONE\x1b\\"
    );
    assert!(fixture.term.take_clipboard_read(asked.handle).is_none(), "one answer a read");
}

#[test]
fn a_period_asks_for_the_list_of_types() {
    let mut fixture = fixture();
    fixture.feed("\x1b]5522;type=read:loc=primary:id=a_b-c+d.9;Lg==\x07");
    let asked = read(&mut fixture);
    assert_eq!(asked.target, ClipboardTarget::Primary);
    assert!(asked.is_list());
    let list = data(&[(".", b"text/plain text/html")]);
    assert_eq!(
        answer(&mut fixture, asked.handle, Ok(&list)),
        "\x1b]5522;type=read:status=OK:id=a_b-c+d.9:loc=primary\x07\
         \x1b]5522;type=read:status=DATA:id=a_b-c+d.9:mime=Lg==;dGV4dC9wbGFpbiB0ZXh0L2h0bWw=\x07\
         \x1b]5522;type=read:status=DONE:id=a_b-c+d.9\x07"
    );
}

#[test]
fn a_reply_has_chunks_of_at_most_4096_bytes() {
    let mut fixture = fixture();
    fixture.feed(packet_of("type=read", "text/plain"));
    let handle = read(&mut fixture).handle;
    let sent: Vec<u8> = (0..10_000u32).map(|number| number as u8).collect();
    let reply = answer(&mut fixture, handle, Ok(&data(&[("text/plain", &sent)])));
    let mut found = Vec::new();
    let start = "\x1b]5522;type=read:status=DATA:mime=dGV4dC9wbGFpbg==;";
    for piece in reply.split("\x1b\\").filter_map(|packet| packet.strip_prefix(start)) {
        assert_eq!(piece.len() % 4, 0, "each chunk is padded by itself");
        let chunk = STANDARD.decode(piece).expect("base64");
        assert!(chunk.len() <= 4096);
        found.extend(chunk);
    }
    assert!(found == sent);
    // A type without data has one packet. A type that is not available has none.
    fixture.feed(packet_of("type=read", "text/plain text/html"));
    let handle = read(&mut fixture).handle;
    let reply = answer(&mut fixture, handle, Ok(&data(&[("text/html", b"")])));
    assert_eq!(reply.matches("DATA").count(), 1);
}

#[test]
fn a_read_fails_with_the_codes_of_reads() {
    for (error, code) in [
        (ClipboardError::Unavailable, "ENOSYS"),
        (ClipboardError::Denied, "EPERM"),
        (ClipboardError::Busy, "EBUSY"),
        (ClipboardError::Io, "EBUSY"),
        (ClipboardError::Invalid, "EBUSY"),
    ] {
        let mut fixture = fixture();
        fixture.feed(packet_of("type=read:id=7", "text/plain"));
        let handle = read(&mut fixture).handle;
        let expected = format!("\x1b]5522;type=read:status={code}:id=7\x1b\\");
        assert_eq!(answer(&mut fixture, handle, Err(error)), expected);
    }
}

#[test]
fn invalid_reads_have_no_effect() {
    for bytes in [
        packet("type=read;!"),
        packet_of("type=read", "text/pl\u{e4}in"),
        packet_of("type=read", "x".repeat(257)),
        packet_of("type=read", (0..33).map(|i| format!("a/{i} ")).collect::<String>()),
        packet_of("type=read:loc", "text/plain"),
        packet_of(&format!("type=read:id={}", "x".repeat(129)), "text/plain"),
        packet_of("type=read:name=!", "text/plain"),
        packet_of(&format!("type=read:pw={}", encoded("x".repeat(257))), "text/plain"),
        packet_of("type=other", "text/plain"),
        packet_of("", "text/plain"),
        packet(""),
    ] {
        let mut fixture = fixture();
        fixture.feed(&bytes);
        assert_eq!((fixture.replies(), fixture.term.take_events()), (String::new(), vec![]));
    }
    // A request for no types is answered at once, without the window.
    check_reply(
        packet("type=read"),
        "\x1b]5522;type=read:status=OK\x1b\\\x1b]5522;type=read:status=DONE\x1b\\",
    );
}

#[test]
fn an_identifier_is_returned_without_other_characters() {
    let mut fixture = fixture();
    fixture.feed(packet_of("type=read:id=$(rm -rf /);x", ""));
    fixture.feed("\x1b]5522;type=read:id=$(rm -rf /)\u{e4}A9;Lg==\x1b\\");
    let events = fixture.term.take_events();
    let Some(Event::ClipboardRead(asked)) = events.last() else { panic!("{events:?}") };
    let handle = asked.handle;
    fixture.replies();
    let reply = answer(&mut fixture, handle, Err(ClipboardError::Denied));
    assert_eq!(reply, "\x1b]5522;type=read:status=EPERM:id=rm-rfA9\x1b\\");
}

#[test]
fn a_password_counts_only_with_a_name() {
    let requester = |keys: &str| {
        let mut fixture = fixture();
        fixture.feed(packet_of(&format!("type=read:{keys}"), "text/plain"));
        read(&mut fixture).requester
    };
    let (name, password) = (encoded("My \x1b[1meditor\u{202e}"), encoded("s3cret"));
    assert_eq!(
        requester(&format!("name={name}:pw={password}")),
        Some(ClipboardRequester { name: "My [1meditor".into(), password: "s3cret".into() })
    );
    assert_eq!(requester(&format!("pw={password}")), None);
    assert_eq!(requester(&format!("pw={password}:name=")), None);
    assert_eq!(requester(&format!("name={name}")), None);
}

#[test]
fn a_write_has_types_chunks_and_aliases() {
    let mut fixture = fixture();
    fixture.feed(packet("type=write:id=1"));
    // Chunks are padded each by itself, or split anywhere.
    fixture.feed(data_of("text/plain", "a")).feed(data_of("text/plain", "bcd"));
    fixture.feed(packet_of(
        &format!("type=walias:mime={}", encoded("text/plain")),
        "UTF8_STRING text/plain;charset=utf-8 text/html",
    ));
    let html = encoded("text/html");
    for piece in ["P", "GI+", "", "aGk", "8L2I+"] {
        fixture.feed(packet(&format!("type=wdata:mime={html};{piece}")));
    }
    assert_eq!(fixture.term.take_events(), [], "it has not ended");
    assert_eq!(fixture.term.unfinished_bytes(), 4 + 9);
    assert_eq!(fixture.term.image_bytes(), 4 + 9);
    fixture.feed(packet("type=wdata"));
    let written = write(&mut fixture);
    assert_eq!(written.target, ClipboardTarget::Clipboard);
    assert_eq!(
        written.data,
        data(&[
            ("text/plain", b"abcd"),
            ("text/html", b"<b>hi</b>"),
            ("UTF8_STRING", b"abcd"),
            ("text/plain;charset=utf-8", b"abcd"),
        ])
    );
    assert_eq!(fixture.term.unfinished_bytes(), 0);
    assert_eq!(fixture.replies(), "", "the owner answers");
    fixture.term.answer_clipboard_write(written.handle, Ok(()));
    fixture.term.answer_clipboard_write(written.handle, Ok(()));
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=DONE:id=1\x1b\\");
    fixture.feed(packet("type=wdata"));
    assert_eq!(fixture.term.take_events(), [], "it has ended");
}

#[test]
fn a_write_without_types_clears_the_clipboard() {
    let mut fixture = fixture();
    fixture.feed("\x1b]5522;type=write:loc=primary\x07\x1b]5522;type=wdata;\x07");
    let written = write(&mut fixture);
    assert_eq!((written.target, written.data), (ClipboardTarget::Primary, vec![]));
    fixture.term.answer_clipboard_write(written.handle, Err(ClipboardError::Unavailable));
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=ENOSYS\x07");
}

#[test]
fn both_forms_of_an_alias_work() {
    for form in ["type=walias:mime", "type=walias;mime"] {
        let mut fixture = fixture();
        fixture.feed(packet("type=write")).feed(data_of("a/b", "x"));
        fixture.feed(packet_of(&format!("{form}={}", encoded("a/b")), "c/d a/b e/f"));
        // An alias of a type without data has no effect.
        fixture.feed(packet_of(&format!("{form}={}", encoded("g/h")), "i/j"));
        fixture.feed(packet("type=wdata"));
        let expected = data(&[("a/b", b"x"), ("c/d", b"x"), ("e/f", b"x")]);
        assert_eq!(write(&mut fixture).data, expected, "{form}");
    }
}

#[test]
fn a_write_fails_with_the_codes_of_writes() {
    for (error, code) in [
        (ClipboardError::Io, "EIO"),
        (ClipboardError::Invalid, "EINVAL"),
        (ClipboardError::Unavailable, "ENOSYS"),
        (ClipboardError::Denied, "EPERM"),
        (ClipboardError::Busy, "EBUSY"),
    ] {
        let mut fixture = fixture();
        fixture.feed(packet("type=write:id=x")).feed(packet("type=wdata"));
        let handle = write(&mut fixture).handle;
        fixture.term.answer_clipboard_write(handle, Err(error));
        let expected = format!("\x1b]5522;type=write:status={code}:id=x\x1b\\");
        assert_eq!(fixture.replies(), expected);
    }
}

#[test]
fn an_invalid_packet_ends_the_write() {
    let text = encoded("text/plain");
    for (invalid, at) in [
        (packet(&format!("type=wdata:mime={text};!")), "no base64"),
        (packet(&format!("type=wdata:mime={text};YR==")), "bits beyond the data"),
        (packet(&format!("type=wdata:mime={text};Y=")), "a character alone"),
        (packet(&format!("type=wdata:mime={text};Y")) + &data_of("a/b", "x"), "cut by a type"),
        (packet(&format!("type=wdata:mime={text};Y")) + &packet("type=wdata"), "cut by the end"),
        (data_of("a/b", "x") + &data_of("c/d", "y") + &data_of("a/b", "z"), "chunks apart"),
        (packet("type=wdata:mime=!;YQ=="), "a type that is no base64"),
        (data_of("text plain", "x"), "a type with a blank"),
        (data_of(&"x".repeat(257), "x"), "a long type"),
        (packet_of("type=wdata", "x"), "data without a type"),
        (packet_of("type=walias", "x/y"), "an alias without a type"),
        (packet(&format!("type=walias:mime={text};!")), "an alias that is no base64"),
    ] {
        let mut fixture = fixture();
        fixture.feed(packet("type=write:id=1")).feed(invalid);
        let expected = "\x1b]5522;type=write:status=EINVAL:id=1\x1b\\";
        assert_eq!(fixture.replies(), expected, "{at}");
        // After an error, the packets of this write are ignored until another write starts.
        fixture.feed(data_of("text/plain", "x")).feed(packet("type=wdata;!"));
        fixture.feed(packet_of(&format!("type=walias:mime={text}"), "a/b"));
        fixture.feed(packet("type=wdata"));
        assert_eq!(
            (fixture.replies(), fixture.term.take_events()),
            (String::new(), vec![]),
            "{at}"
        );
        fixture.feed(packet("type=write")).feed(data_of("text/plain", "x"));
        fixture.feed(packet("type=wdata"));
        assert_eq!(write(&mut fixture).data, data(&[("text/plain", b"x")]), "{at}");
    }
}

#[test]
fn a_new_write_replaces_an_unfinished_one() {
    let mut fixture = fixture();
    fixture.feed(packet("type=write")).feed(data_of("text/plain", "old"));
    fixture.feed(packet("type=write")).feed(data_of("text/html", "new"));
    fixture.feed(packet("type=wdata"));
    assert_eq!(write(&mut fixture).data, data(&[("text/html", b"new")]));
    assert_eq!(fixture.replies(), "");
}

#[test]
fn requests_are_bounded() {
    let mut fixture = fixture();
    let busy = "\x1b]5522;type=read:status=EBUSY\x1b\\";
    fixture.feed(packet_of("type=read", "text/plain").repeat(10));
    assert_eq!(fixture.replies(), busy.repeat(2));
    assert_eq!(fixture.term.take_events().len(), 8);
    let whole = packet("type=write") + &data_of("a/b", "x") + &packet("type=wdata");
    fixture.feed(whole.repeat(10));
    assert_eq!(fixture.replies(), busy.replace("read", "write").repeat(2));
    assert_eq!(fixture.term.take_events().len(), 8);

    let mut fixture = self::fixture();
    fixture.feed(packet("type=write"));
    for number in 0..32 {
        fixture.feed(data_of(&format!("a/{number}"), "x"));
    }
    assert_eq!(fixture.replies(), "");
    fixture.feed(data_of("a/32", "x"));
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=EIO\x1b\\");
    fixture.feed(packet("type=write")).feed(data_of("a/b", "x"));
    let aliases: String = (0..32).map(|number| format!("c/{number} ")).collect();
    fixture.feed(packet_of(&format!("type=walias:mime={}", encoded("a/b")), aliases));
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=EIO\x1b\\");
}

#[test]
fn the_data_of_a_terminal_is_bounded() {
    const CAP: usize = 64 << 20;
    let mut fixture = fixture();
    let piece = data_of("a/b", vec![0; 600_000]);
    let fill = |fixture: &mut Fixture, count: usize| {
        fixture.feed(packet("type=write"));
        for _ in 0..count {
            fixture.parser.advance(&mut fixture.term, piece.as_bytes());
        }
        fixture.term.unfinished_bytes()
    };
    assert_eq!(fill(&mut fixture, CAP / 600_000), CAP / 600_000 * 600_000);
    assert_eq!(fixture.replies(), "");
    fixture.feed(&piece);
    assert_eq!(fixture.term.unfinished_bytes(), 0);
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=EIO\x1b\\");
    // Data that waits for an answer counts too.
    fill(&mut fixture, 60);
    fixture.feed(packet("type=wdata"));
    let handle = write(&mut fixture).handle;
    fill(&mut fixture, 52);
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=EIO\x1b\\");
    fixture.term.answer_clipboard_write(handle, Ok(()));
    fixture.replies();
    fill(&mut fixture, 52);
    assert_eq!(fixture.replies(), "");
    // For the sake of other terminals, it is dropped.
    fixture.term.shed_unfinished();
    assert_eq!(fixture.term.unfinished_bytes(), 0);
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=EBUSY\x1b\\");
    fill(&mut fixture, 10);
    fixture.term.shed_images(0);
    assert_eq!(fixture.term.image_bytes(), 0);
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=EBUSY\x1b\\");
}

#[test]
fn without_a_clipboard_every_request_fails() {
    let mut fixture = fixture();
    let options = Options { has_clipboard: false, ..Options::default() };
    fixture.term = Term::new(fixture.term.size(), options);
    fixture.feed(packet_of("type=read:id=1", "text/plain"));
    assert_eq!(fixture.replies(), "\x1b]5522;type=read:status=ENOSYS:id=1\x1b\\");
    fixture.feed(packet("type=write:id=2")).feed(data_of("a/b", "x")).feed(packet("type=wdata"));
    assert_eq!(fixture.replies(), "\x1b]5522;type=write:status=ENOSYS:id=2\x1b\\");
    assert_eq!(fixture.term.take_events(), []);
    // Mode 5522 is not supported then.
    fixture.feed("\x1b[?5522h\x1b[?5522$p");
    assert_eq!(fixture.replies(), "\x1b[?5522;4$y");
}

#[test]
fn a_paste_event_lists_the_types_and_has_a_password() {
    let mut fixture = fixture();
    let pw = encoded("once");
    fixture.feed("\x1b[?5522h\x1b[?5522$p");
    assert_eq!(fixture.replies(), "\x1b[?5522;1$y");
    assert!(fixture.term.modes().contains(Modes::PASTE_EVENTS));
    let event = |fixture: &Fixture, target| {
        fixture.term.paste_event(target, &["text/plain", "image/png"], "once")
    };
    assert_eq!(
        String::from_utf8(event(&fixture, ClipboardTarget::Clipboard)).expect("ASCII"),
        format!(
            "\x1b]5522;type=read:status=OK:pw={pw}\x1b\\\
             \x1b]5522;type=read:status=DATA:mime=Lg==:pw={pw};{}\x1b\\\
             \x1b]5522;type=read:status=DONE:pw={pw}\x1b\\",
            encoded("text/plain image/png")
        )
    );
    let primary = String::from_utf8(event(&fixture, ClipboardTarget::Primary)).expect("ASCII");
    assert!(primary.starts_with(&format!("\x1b]5522;type=read:status=OK:loc=primary:pw={pw}")));
    fixture.feed("\x1b G");
    let wide = event(&fixture, ClipboardTarget::Clipboard);
    assert!(wide.starts_with(b"\x9d5522;") && wide.ends_with(b"\x9c") && !wide.contains(&0x1b));
}

#[test]
fn mode_5522_ends_with_a_reset_and_not_with_the_screen() {
    check_reply("\x1b[?5522$p", "\x1b[?5522;2$y");
    check_reply("\x1b[?5522h\x1b[?1049h\x1b[!p\x1b[?5522$p", "\x1b[?5522;1$y");
    check_reply("\x1b[?5522h\x1b[?5522l\x1b[?5522$p", "\x1b[?5522;2$y");
    check_reply("\x1b[?5522h\x1bc\x1b[?5522$p", "\x1b[?5522;2$y");
    check_reply("\x1b[?5522h\x1b[?5522s\x1b[?5522l\x1b[?5522r\x1b[?5522$p", "\x1b[?5522;1$y");
}

#[test]
fn a_reset_forgets_requests() {
    let mut fixture = fixture();
    fixture.feed(packet_of("type=read", "text/plain"));
    let read_first = read(&mut fixture).handle;
    fixture.feed(packet("type=write")).feed(packet("type=wdata"));
    let written_first = write(&mut fixture).handle;
    fixture.feed(packet("type=write")).feed(data_of("a/b", "x"));
    fixture.feed("\x1bc");
    assert_eq!(fixture.term.unfinished_bytes(), 0);
    fixture.feed(packet("type=wdata"));
    assert_eq!(fixture.term.take_events(), []);
    assert!(fixture.term.take_clipboard_read(read_first).is_none());
    fixture.term.answer_clipboard_write(written_first, Ok(()));
    assert_eq!(fixture.replies(), "");
    // A late answer must not reach a later request.
    fixture.feed(packet_of("type=read", "text/plain"));
    assert!(![read_first, written_first].contains(&read(&mut fixture).handle));
}

#[test]
fn requests_end_with_their_program() {
    let mut fixture = fixture();
    let options = Options { nonce: Some("n1".into()), ..Options::default() };
    fixture.term = Term::new(fixture.term.size(), options);
    fixture.feed("\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07\x1b]133;C;nonce=n1\x07");
    fixture.term.take_events();
    fixture.feed(packet_of("type=read", "text/plain"));
    let handle = read(&mut fixture).handle;
    fixture.feed(packet("type=write")).feed(data_of("a/b", "x"));
    fixture.feed("\x1b]133;D;0;nonce=n1\x07");
    assert_eq!(fixture.term.unfinished_bytes(), 0);
    assert!(fixture.term.take_clipboard_read(handle).is_none(), "the shell would receive it");
}

#[test]
fn requests_can_be_split_anywhere() {
    let requests = packet_of("type=read:id=1", "text/plain")
        + "\x1b]5522;type=read;Lg==\x07"
        + &packet("type=write:id=2")
        + &data_of("text/plain", "some text")
        + &packet_of(&format!("type=walias:mime={}", encoded("text/plain")), "a/b c/d")
        + &packet("type=wdata")
        + &packet("type=write:id=3")
        + &packet("type=wdata;!!!");
    let mut whole = fixture();
    whole.feed(&requests);
    let (events, replies) = (whole.term.take_events(), whole.replies());
    assert_eq!(events.len(), 3);
    assert_eq!(replies, "\x1b]5522;type=write:status=EINVAL:id=3\x1b\\");
    for at in 0..=requests.len() {
        let mut split = fixture();
        split.feed(&requests[..at]).feed(&requests[at..]);
        assert_eq!(split.term.take_events(), events, "split at {at}");
        assert_eq!(split.replies(), replies, "split at {at}");
        assert_eq!(split.screen(), "");
    }
    let mut bytewise = fixture();
    for byte in requests.bytes() {
        bytewise.feed([byte]);
    }
    assert_eq!(bytewise.term.take_events(), events);
}

#[test]
fn unfinished_data_is_not_rebuilt() {
    let mut fixture = fixture();
    fixture.feed("\x1b[?5522h").feed(packet("type=write")).feed(data_of("a/b", "x"));
    let mut copy = self::fixture();
    copy.feed(fixture.term.to_vt());
    assert!(copy.term.modes().contains(Modes::PASTE_EVENTS));
    assert_eq!(copy.term.unfinished_bytes(), 0);
}

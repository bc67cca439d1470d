//! Tests of the commands of OSC 5113, after the text of its specification.

use super::Fixture;
use crate::{
    Event, TransferAction, TransferAnswer, TransferAnswerAction, TransferCommand, TransferKind,
    TransferReply,
};

/// The commands in `bytes`.
fn commands(bytes: &str) -> Vec<TransferCommand> {
    let mut fixture = Fixture::new(10, 4);
    let events = fixture.feed(bytes).term.take_events().into_iter();
    let commands = events.filter_map(|event| match event {
        Event::Transfer(command) => Some(*command),
        _ => None,
    });
    commands.collect()
}

fn command(text: &str) -> Option<TransferCommand> {
    commands(&format!("\x1b]5113;{text}\x1b\\")).pop()
}

#[test]
fn keys_are_read_as_specified() {
    // The example of the specification.
    let example = command("ac=send;id=test;n=c29tZWZpbGU=;sz=3;d=AQID").expect("a command");
    assert_eq!((example.action, example.id.as_str()), (TransferAction::Send, "test"));
    assert_eq!(example.name.as_deref(), Some("somefile"));
    assert_eq!((example.size, example.data.as_deref()), (3, Some(&[1, 2, 3][..])));
    let file =
        command("ac=file;id=a:b;fid=f/1@2;ft=directory;prm=4095;mod=-5;zip=zlib;tt=rsync;x=1");
    let file = file.expect("a command");
    assert_eq!((file.file_id.as_str(), file.kind), ("f/1@2", TransferKind::Directory));
    assert_eq!((file.permissions, file.mtime), (Some(0o777), Some(-5)));
    assert!(file.is_compressed && file.is_delta);
    let plain = command("ac=receive;id=1;q=9").expect("a command");
    assert_eq!((plain.permissions, plain.mtime, plain.quiet), (None, None, 2));
    assert!(!plain.is_compressed && !plain.is_delta && plain.kind == TransferKind::Regular);
    for (name, action) in [
        ("data", TransferAction::Data),
        ("end_data", TransferAction::EndData),
        ("cancel", TransferAction::Cancel),
        ("finish", TransferAction::Finish),
        ("finished", TransferAction::Finish),
    ] {
        assert_eq!(command(&format!("ac={name};id=1")).expect(name).action, action);
    }
}

#[test]
fn invalid_commands_are_dropped_and_invalid_values_are_marked() {
    let long = "a".repeat(129);
    for invalid in [
        "",
        "ac=send",
        "id=1",
        "ac=send;id=",
        "ac=later;id=1",
        "ac=send;id=a b",
        "ac=send;id=a$(b)",
        &format!("ac=send;id={long}"),
        "ac=file;id=1;fid=é",
        "ac=file;id=1;ft=pipe",
        "ac=file;id=1;prm=x",
        "ac=file;id=1;mod=1.5",
    ] {
        assert_eq!(command(invalid), None, "{invalid}");
    }
    let name = |encoded: &str| command(&format!("ac=file;id=1;n={encoded}")).expect("it").name;
    assert_eq!(name("%"), None);
    assert_eq!(name("/w=="), None, "no UTF-8");
    assert_eq!(name("AA=="), None, "a zero");
    let encode = |text: &str| base64::Engine::encode(&base64::prelude::BASE64_STANDARD, text);
    assert_eq!(name(&encode(&"a".repeat(255))).expect("a name").len(), 255);
    assert_eq!(name(&encode(&"a".repeat(256))), None);
    assert_eq!(name(&encode(&"a/".repeat(2048))).expect("a path").len(), 4096);
    assert_eq!(name(&encode(&"a/".repeat(2049))), None);
    let data = |encoded: &str| command(&format!("ac=data;id=1;d={encoded}")).expect("it").data;
    assert_eq!(data("%"), None);
    assert_eq!(data(&encode(&"a".repeat(16 << 10))).expect("data").len(), 16 << 10);
    assert_eq!(data(&encode(&"a".repeat((16 << 10) + 1))), None);
}

#[test]
fn equal_commands_are_kept_apart() {
    let two = commands(&"\x1b]5113;ac=data;id=1;fid=2;d=AAAA\x1b\\".repeat(3));
    assert_eq!(two.iter().map(|command| command.number).collect::<Vec<_>>(), [0, 1, 2]);
    let reset = commands("\x1b]5113;ac=data;id=1\x07\x1bc\x1b]5113;ac=data;id=1\x07");
    assert_eq!(reset.iter().map(|command| command.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn replies_have_the_form_of_the_specification() {
    let status = TransferReply {
        action: "status",
        id: "test",
        file_id: "f1",
        status: "OK",
        size: Some(3),
        ..TransferReply::default()
    };
    assert_eq!(status.encode(), "\x1b]5113;ac=status;id=test;fid=f1;st=T0s=;sz=3\x1b\\");
    let file = TransferReply {
        action: "file",
        id: "i",
        name: "somefile",
        permissions: Some(0o644),
        mtime: Some(7),
        kind: TransferKind::Directory,
        parent: "2",
        data: &[1, 2, 3],
        ..TransferReply::default()
    };
    let expected =
        "\x1b]5113;ac=file;id=i;n=c29tZWZpbGU=;prm=420;mod=7;pr=2;ft=directory;d=AQID\x1b\\";
    assert_eq!(file.encode(), expected);
}

#[test]
fn the_programs_side_reads_what_the_terminal_writes() {
    let reply = TransferReply {
        action: "file",
        id: "i",
        file_id: "f",
        status: "7",
        name: "/a é",
        size: Some(0),
        permissions: Some(0o640),
        mtime: Some(-5),
        kind: TransferKind::Symlink,
        parent: "2",
        data: &[0, 255],
    };
    let encoded = reply.encode();
    let osc = encoded.strip_prefix("\x1b]").and_then(|rest| rest.strip_suffix("\x1b\\"));
    let answer = TransferAnswer::parse(osc.expect("an OSC").as_bytes()).expect("a reply");
    let expected = TransferAnswer {
        action: TransferAnswerAction::File,
        id: "i".into(),
        file_id: "f".into(),
        status: "7".into(),
        name: Some("/a é".into()),
        size: Some(0),
        permissions: Some(0o640),
        mtime: Some(-5),
        kind: TransferKind::Symlink,
        parent: "2".into(),
        data: vec![0, 255],
    };
    assert_eq!(answer, expected);
    for invalid in [
        "",
        "5113",
        "52;c;",
        "5113;id=1",
        "5113;ac=send;id=1",
        "5113;ac=data;d=%",
        "5113;ac=status;st=/w==",
    ] {
        assert_eq!(TransferAnswer::parse(invalid.as_bytes()), None, "{invalid}");
    }
}

proptest::proptest! {
    #[test]
    fn commands_are_read_as_they_were_encoded(
        action in 0usize..7,
        ids in ("[a-zA-Z0-9_:./@-]{1,20}", "[a-z0-9]{0,8}"),
        name in "[^\0/]{0,40}(/[^\0/]{0,40}){0,3}",
        data in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        numbers in (proptest::num::u64::ANY, proptest::option::of(0u32..0o1000), proptest::option::of(proptest::num::i64::ANY)),
        flags in (proptest::bool::ANY, proptest::bool::ANY, 0u8..3, 0usize..4),
    ) {
        let actions = [
            TransferAction::Send, TransferAction::Receive, TransferAction::File, TransferAction::Data,
            TransferAction::EndData, TransferAction::Cancel, TransferAction::Finish,
        ];
        let kinds = [
            TransferKind::Regular, TransferKind::Directory, TransferKind::Symlink, TransferKind::Link,
        ];
        let sent = TransferCommand {
            file_id: ids.1,
            name: Some(name),
            data: Some(data),
            size: numbers.0,
            permissions: numbers.1,
            mtime: numbers.2,
            is_compressed: flags.0,
            is_delta: flags.1,
            quiet: flags.2,
            kind: kinds[flags.3],
            ..TransferCommand::new(actions[action], &ids.0)
        };
        proptest::prop_assert_eq!(commands(&sent.encode()), vec![sent]);
    }
}

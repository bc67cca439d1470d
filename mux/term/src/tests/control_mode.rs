//! tmux's control mode: its lines are never drawn, and everything around them is.

use super::{Fixture, check};

#[test]
fn lines_of_the_control_mode_are_not_drawn() {
    check("a\x1bP1000p%begin 1 2 0\r\n%end 1 2 0\r\n%exit\r\n\x1b\\b", "ab");
    check("a\x1bP1000p%output %0 x\r\n\x1b[Cb", "a b");
    check("a\x1bP1000p%output %0 x\r\n\x18b", "ab");
    // Other parameters begin an ordinary string.
    check("a\x1bP1001p%x\x1b\\b", "ab");
    check("a\x1bP1000qx\x1b\\b", "ab");
    check("a\x1bP1000\x1b\\b", "ab");
}

#[test]
fn the_control_mode_begins_at_every_split() {
    let bytes = b"a\x1bP1000p%output %0 x\r\n\x1b\\b";
    for at in 0..bytes.len() {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(&bytes[..at]).feed(&bytes[at..]);
        assert_eq!(fixture.screen(), "ab", "{at}");
    }
}

#[test]
fn a_client_gets_every_byte_of_the_control_mode() {
    let Fixture { mut term, mut parser } = Fixture::new(10, 4);
    let bytes = b"a\x1bP1000p%exit\r\n\x1b\\b";
    let (taken, _) = parser.advance_to_image(&mut term, bytes);
    assert!(parser.is_in_control_mode());
    let rest = &bytes[taken..];
    let len = crate::Parser::control_mode_len(rest);
    assert_eq!(&rest[..len], b"%exit\r\n");
    parser.advance(&mut term, &rest[len..]);
    assert!(!parser.is_in_control_mode());
    parser.advance(&mut term, b"\x1bP1000p");
    parser.leave_control_mode();
    parser.advance(&mut term, b"c");
    assert_eq!(Fixture { term, parser }.screen(), "abc");
}

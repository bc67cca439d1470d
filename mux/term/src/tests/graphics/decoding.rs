//! Images that are decoded without the terminal's lock have the same result as images that are decoded at once.

use std::sync::{Arc, Mutex};

use super::{Fixture, fixture};
use crate::{Media, MediaError, MediaRequest, Options, Parser, Size, Term};

/// Text, queries, an image of each kind, and commands that depend on an earlier image.
const STREAM: &str = "a\x1bPq#1;2;100;0;0#1~~~~~~~~~\x1b\\b\x1b[6n\
    \x1b_Ga=T,f=24,s=1,v=1,i=5,c=2,r=1;AAAA\x1b\\\x1b[6n\
    \x1b_Ga=f,f=24,s=1,v=1,i=5,z=50;////\x1b\\\x1b_Ga=c,i=5,r=2,c=1\x1b\\\x1b_Ga=p,i=5,p=3\x1b\\\
    \x1b_Ga=T,f=24,s=9,v=9,i=6;AAAA\x1b\\\
    \x1b]1337;File=inline=1:iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\x07c\x1b[6n";

#[test]
fn nothing_is_applied_before_an_image_that_came_first() {
    let mut at_once = fixture();
    at_once.feed(STREAM);
    for split in [1, 7, 100, STREAM.len()] {
        let mut term = fixture().term;
        let mut parser = Parser::new();
        let mut images = 0;
        for mut piece in STREAM.as_bytes().chunks(split) {
            while !piece.is_empty() {
                let (taken, image) = parser.advance_to_image(&mut term, piece);
                piece = &piece[taken..];
                if let Some(mut image) = image {
                    images += 1;
                    let before = term.seq();
                    image.run();
                    term.decoded(image);
                    assert!(term.seq() > before, "viewers hear of it");
                }
            }
        }
        assert_eq!(images, 6);
        assert_eq!(term.dump(), at_once.term.dump());
        let mut apart = Fixture { term, parser };
        assert_eq!(super::shown(&apart), super::shown(&at_once));
        let replies = apart.replies();
        assert_eq!(
            replies,
            "\x1b[1;3R\x1b_Gi=5;OK\x1b\\\x1b[1;5R\x1b_Gi=5,r=2;OK\x1b\\\x1b_Gi=5;OK\x1b\\\
                 \x1b_Gi=5,p=3;OK\x1b\\\x1b_Gi=6;ENODATA:less data than the size says\x1b\\\x1b[1;8R"
        );
    }
}

/// Counts the requests for media, and records the host of the last one.
#[derive(Debug, Default)]
struct Asked(Mutex<usize>, Mutex<Option<String>>);

impl Media for Asked {
    fn read(&self, request: &MediaRequest<'_>) -> Result<Vec<u8>, MediaError> {
        *self.1.lock().expect("no panic") = request.host.map(str::to_owned);
        *self.0.lock().expect("no panic") += 1;
        Ok(vec![1, 2, 3])
    }
}

#[test]
fn files_are_read_apart_from_the_terminal() {
    let asked = Arc::new(Asked::default());
    let options = Options { media: Some(asked.clone()), ..Options::default() };
    let mut term = Term::new(Size::cells(10, 4), options);
    let command = b"\x1b_Ga=T,t=f,f=24,s=1,v=1,i=1;L2E=\x1b\\";
    let (_, image) = Parser::new().advance_to_image(&mut term, command);
    assert_eq!(*asked.0.lock().expect("no panic"), 0);
    let mut image = image.expect("an image to decode");
    image.run();
    assert_eq!(*asked.0.lock().expect("no panic"), 1);
    assert!(term.take_replies().is_empty());
    term.decoded(image);
    assert_eq!(term.take_replies(), b"\x1b_Gi=1;OK\x1b\\");
    assert_eq!(*asked.1.lock().expect("no panic"), None);
    // The request contains the host on which the program was when it named the file.
    let mut fixture = Fixture { term, parser: Parser::new() };
    fixture.feed("\x1b]7;file://far/\x07").feed(command).feed("\x1b]7;file:///\x07");
    assert_eq!(asked.1.lock().expect("no panic").as_deref(), Some("far"));
}

#[test]
fn nothing_is_read_for_a_command_that_can_come_to_no_image() {
    let asked = Arc::new(Asked::default());
    let options = Options { media: Some(asked.clone()), ..Options::default() };
    let term = Term::new(Size::cells(10, 4), options);
    let mut fixture = Fixture { term, parser: Parser::new() };
    for (keys, answer) in [
        ("f=7,s=1,v=1", "EINVAL"),
        ("f=24", "EINVAL"),
        ("f=24,s=1,v=10001", "EINVAL"),
        ("f=32,s=10000,v=10000", "EFBIG"),
        ("f=24,s=1,v=1,o=x", "EINVAL"),
    ] {
        for medium in ["f", "t", "s"] {
            fixture.feed(format!("\x1b_Ga=t,i=1,t={medium},{keys};L2E=\x1b\\"));
            let replies = fixture.replies();
            assert!(replies.starts_with(&format!("\x1b_Gi=1;{answer}:")), "{keys}: {replies:?}");
        }
    }
    assert_eq!(*asked.0.lock().expect("no panic"), 0);
}

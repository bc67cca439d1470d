//! Kitty's animations: frames, gaps, composition. The test provides the time.

use std::time::Duration;

use super::super::Fixture;
use super::{fixture, pixels};

const RED: &str = "/wAA/w==";
const GREEN: &str = "AP8A/w==";

/// A visible image of one red pixel, with a second, green frame.
fn two_frames() -> Fixture {
    let mut fixture = fixture();
    fixture.feed(format!("\x1b_Ga=T,i=1,s=1,v=1,q=2;{RED}\x1b\\"));
    fixture.feed(format!("\x1b_Ga=f,i=1,s=1,v=1,z=100;{GREEN}\x1b\\"));
    assert_eq!(fixture.replies(), "\x1b_Gi=1,r=2;OK\x1b\\");
    fixture
}

fn at(fixture: &mut Fixture, ms: u64) -> (String, Option<u128>) {
    fixture.term.advance_animations(Duration::from_millis(ms));
    let next = fixture.snapshot().images[0].next_frame;
    (pixels(fixture, 0), next.map(|next| next.as_millis()))
}

#[test]
fn frames_follow_their_gaps() {
    let mut fixture = two_frames();
    let (red, green) = ("ff0000ff".to_owned(), "00ff00ff".to_owned());
    assert_eq!(at(&mut fixture, 0), (red.clone(), None), "stopped until told");
    fixture.feed("\x1b_Ga=a,i=1,r=1,z=50,s=3\x1b\\");
    assert_eq!(at(&mut fixture, 1000), (red.clone(), Some(1050)));
    assert_eq!(at(&mut fixture, 1049), (red.clone(), Some(1050)));
    assert_eq!(at(&mut fixture, 1050), (green.clone(), Some(1150)));
    assert_eq!(at(&mut fixture, 1160), (red.clone(), Some(1200)));
    // Stop the animation and select a frame.
    fixture.feed("\x1b_Ga=a,i=1,s=1,c=2\x1b\\");
    assert_eq!(at(&mut fixture, 5000), (green.clone(), None));
    // Play exactly two loops (`v` is one more than the number of loops). While the animation is still loading, it waits
    // at the last frame.
    fixture.feed("\x1b_Ga=a,i=1,c=1,s=3,v=3\x1b\\");
    at(&mut fixture, 6000);
    assert_eq!(at(&mut fixture, 6400), (green.clone(), None));
    fixture.feed("\x1b_Ga=a,i=1,c=1,s=2,v=1\x1b\\");
    at(&mut fixture, 7000);
    assert_eq!(at(&mut fixture, 7060), (green.clone(), Some(7150)));
    assert_eq!(at(&mut fixture, 9000), (green, None));
    // A frame without a gap is skipped.
    fixture.feed("\x1b_Ga=a,i=1,r=1,z=-1,s=3\x1b\\");
    assert_eq!(at(&mut fixture, 10_000).0, "00ff00ff");
}

#[test]
fn a_snapshot_follows_frames_though_no_row_changed() {
    let mut fixture = two_frames();
    let mut snapshot = fixture.snapshot();
    let seq = snapshot.seq;
    fixture.feed("\x1b_Ga=a,i=1,r=1,z=50,s=3\x1b\\");
    fixture.term.advance_animations(Duration::ZERO);
    fixture.term.snapshot(&mut snapshot, None);
    let before = snapshot.images[0].pixels.id();
    fixture.term.advance_animations(Duration::from_millis(60));
    fixture.term.snapshot(&mut snapshot, None);
    assert_ne!(snapshot.images[0].pixels.id(), before);
    assert_eq!(snapshot.seq, seq + 1, "time is no output");
}

#[test]
fn nothing_is_due_of_what_is_out_of_sight_or_erased() {
    let mut fixture = two_frames();
    fixture.feed("\x1b_Ga=a,i=1,r=1,z=50,s=3\x1b\\");
    assert!(at(&mut fixture, 0).1.is_some());
    let due = |fixture: &mut Fixture| {
        fixture.term.advance_animations(Duration::from_millis(60));
        fixture.snapshot().images.iter().find_map(|image| image.next_frame)
    };
    fixture.feed("\n".repeat(60));
    assert_eq!(due(&mut fixture), None, "in the history");
    let mut fixture = two_frames();
    fixture.feed("\x1b_Ga=a,i=1,r=1,z=50,s=3\x1b\\\x1b[2J");
    assert_eq!(due(&mut fixture), None, "erased");
}

#[test]
fn frames_are_composed() {
    let mut fixture = fixture();
    // Two red pixels, and a frame based on them with half-transparent green over the second.
    fixture.feed("\x1b_Ga=T,i=1,f=24,s=2,v=1,q=2;/wAA/wAA\x1b\\");
    fixture.feed("\x1b_Ga=f,i=1,c=1,x=1,s=1,v=1,q=2;AP8AgA==\x1b\\\x1b_Ga=a,i=1,c=2\x1b\\");
    assert_eq!(pixels(&fixture, 0), "ff0000ff 7f8000ff");
    // Replace pixels instead of blending them, on a canvas of one color.
    fixture.feed("\x1b_Ga=f,i=1,Y=65535,X=1,s=1,v=1,q=2;AP8AgA==\x1b\\\x1b_Ga=a,i=1,c=3\x1b\\");
    assert_eq!(pixels(&fixture, 0), "00ff0080 0000ffff");
    // Edit an existing frame.
    fixture.feed("\x1b_Ga=f,i=1,r=3,x=1,s=1,v=1,q=2;/wAA/w==\x1b\\");
    assert_eq!(pixels(&fixture, 0), "00ff0080 ff0000ff");
    // Copy a rectangle of the first frame to another position in the third frame.
    fixture.feed("\x1b_Ga=c,i=1,r=1,c=3,w=1,h=1,X=1,x=0,C=1\x1b\\");
    assert_eq!(pixels(&fixture, 0), "ff0000ff ff0000ff");
    assert_eq!(fixture.replies(), "\x1b_Gi=1;OK\x1b\\");
    for (command, code) in [
        ("a=c,i=1,r=9,c=1", "ENOENT"),
        ("a=c,i=1,r=1,c=2,x=1", "EINVAL"),
        ("a=c,i=1,r=1,c=1", "EINVAL"),
        ("a=f,i=1,c=9,s=1,v=1", "EINVAL"),
        ("a=f,i=1,s=3,v=1", "EINVAL"),
        ("a=f,i=8,s=1,v=1", "ENOENT"),
        ("a=a,i=8", "ENOENT"),
    ] {
        fixture.feed(format!("\x1b_G{command};{}\x1b\\", "AAAA".repeat(4)));
        let replies = fixture.replies();
        assert!(replies.contains(code), "{command}: {replies:?}");
    }
    // Deleting a frame moves the following frames up.
    fixture.feed("\x1b_Ga=d,d=f,i=1,r=1\x1b\\\x1b_Ga=a,i=1,c=1\x1b\\");
    assert_eq!(pixels(&fixture, 0), "ff0000ff 7f8000ff");
    fixture.feed("\x1b_Ga=d,d=f,i=1\x1b\\\x1b_Ga=d,d=f,i=1\x1b\\");
    assert_eq!(fixture.snapshot().images.len(), 1);
    fixture.feed("\x1b_Ga=d,d=F,i=1\x1b\\");
    assert_eq!(fixture.snapshot().images.len(), 0);
}

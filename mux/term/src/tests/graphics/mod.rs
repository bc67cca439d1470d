//! Images as a viewer sees them. The tests feed bytes and compare a list of visible images and their positions.

mod animation;
mod decoding;
mod hostile;
mod iterm;
mod kitty;
mod sixel;

use super::Fixture;
use crate::Snapshot;

/// A terminal of 10×4 cells with 8×16 pixels each.
fn fixture() -> Fixture {
    Fixture::new(10, 4)
}

/// The visible images, one per line: the columns and rows that each covers (with its left and top), the part of the
/// image, and its z-index.
fn shown(fixture: &Fixture) -> String {
    describe(&fixture.snapshot())
}

fn describe(snapshot: &Snapshot) -> String {
    let images = snapshot.images.iter().map(|image| {
        let (a, s) = (image.area, image.source);
        let mut line = format!("{}×{} at {},{}", a.width, a.height, a.left, a.top);
        let whole = (image.pixels.width() as f32, image.pixels.height() as f32);
        if (s.x, s.y, s.width, s.height) != (0.0, 0.0, whole.0, whole.1) {
            line += &format!(" of {}×{} at {},{}", s.width, s.height, s.x, s.y);
        }
        if image.z != 0 {
            line += &format!(" z {}", image.z);
        }
        line
    });
    images.collect::<Vec<_>>().join("\n")
}

/// Checks which images are visible after `bytes`.
#[track_caller]
fn check_images(bytes: impl AsRef<[u8]>, expected: &str) {
    let mut fixture = fixture();
    fixture.feed(bytes);
    assert_eq!(shown(&fixture), expected);
}

/// Every pixel of an image as `rrggbbaa`. Rows are joined by `/`.
fn pixels(fixture: &Fixture, image: usize) -> String {
    let snapshot = fixture.snapshot();
    let pixels = &snapshot.images[image].pixels;
    let rows = pixels.rgba().chunks_exact(pixels.width() as usize * 4).map(|row| {
        let texts = row.chunks_exact(4).map(|p| p.iter().map(|b| format!("{b:02x}")).collect());
        texts.collect::<Vec<String>>().join(" ")
    });
    rows.collect::<Vec<_>>().join("/")
}

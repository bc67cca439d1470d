//! iTerm2's inline images.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::Fixture;
use super::{check_images, fixture, pixels, shown};

/// An image file with this number of pixels.
fn file(width: u32, height: u32, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = image::RgbImage::from_pixel(width, height, image::Rgb([10, 200, 30]));
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn inline(arguments: &str, file: &[u8]) -> String {
    format!("\x1b]1337;File=inline=1;{arguments}:{}\x07", STANDARD.encode(file))
}

#[test]
fn formats() {
    use image::ImageFormat::{Bmp, Gif, Jpeg, Png, Tiff, WebP};
    for format in [Png, Jpeg, Gif, WebP, Bmp, Tiff] {
        let mut fixture = fixture();
        fixture.feed("ab").feed(inline("", &file(16, 32, format)));
        assert_eq!(shown(&fixture), "2×2 at 2,0 z -1", "{format:?}");
        let first = pixels(&fixture, 0);
        let near = (0..3).all(|i| {
            let channel = u8::from_str_radix(&first[i * 2..i * 2 + 2], 16).unwrap();
            channel.abs_diff([10, 200, 30][i]) < 12
        });
        assert!(near, "{format:?}: {}", &first[..8]);
        // The cursor is after the image, in the image's last row.
        assert_eq!(fixture.cursor(), (1, 4));
    }
}

#[test]
fn sizes() {
    let png = file(16, 32, image::ImageFormat::Png);
    for (arguments, expected) in [
        ("width=4", "4×4 at 0,0 z -1"),
        ("width=4;height=2", "2×2 at 0,0 z -1"),
        ("width=4;height=2;preserveAspectRatio=0", "4×2 at 0,0 z -1"),
        ("height=1", "1×1 at 0,0 z -1"),
        ("width=12px;height=auto", "1.5×1.5 at 0,0 z -1"),
        ("width=50%;height=50%;preserveAspectRatio=0", "5×2 at 0,0 z -1"),
        ("width=nonsense;size=9999", "2×2 at 0,0 z -1"),
        // A file that is longer than stated, and a file that is not for display.
        ("size=10", ""),
        ("inline=0", ""),
    ] {
        check_images(inline(arguments, &png), expected);
    }
    // An image that is too wide is scaled down to fit.
    check_images(inline("", &file(160, 32, image::ImageFormat::Png)), "10×1 at 0,0 z -1");
    let mut fixture = fixture();
    fixture.feed("\x1b[2;3H").feed(inline("doNotMoveCursor=1", &png));
    assert_eq!(fixture.cursor(), (1, 2));
    assert_eq!(shown(&fixture), "2×2 at 2,1 z -1");
}

#[test]
fn a_file_may_come_in_parts() {
    let png = STANDARD.encode(file(8, 16, image::ImageFormat::Png));
    // The base64 may be split at any position, with or without padding. The stated size may equal the file's size.
    let size = file(8, 16, image::ImageFormat::Png).len();
    for (length, arguments) in
        [(40, String::new()), (1, format!(";size={size}")), (37, String::new())]
    {
        for png in [png.as_str(), png.trim_end_matches('=')] {
            let mut bytes = format!("\x1b]1337;MultipartFile=inline=1;name=eA=={arguments}\x07");
            for part in png.as_bytes().chunks(length) {
                bytes +=
                    &format!("\x1b]1337;FilePart={}\x1b\\", std::str::from_utf8(part).unwrap());
            }
            check_images(&bytes, "");
            check_images(bytes.clone() + "\x1b]1337;FileEnd\x07", "1×1 at 0,0 z -1");
            check_images(bytes + "\x1b]1337;FilePart=!\x07\x1b]1337;FileEnd\x07", "");
        }
    }
    // The parts contain more bytes than stated.
    let start = "\x1b]1337;MultipartFile=inline=1;size=5\x07\x1b]1337;FilePart=";
    check_images(start.to_owned() + &png + "\x07\x1b]1337;FileEnd\x07", "");
}

#[test]
fn an_animated_gif_runs() {
    let mut gif = Vec::new();
    {
        let mut encoder = image::codecs::gif::GifEncoder::new(&mut gif);
        for shade in [0, 255] {
            let buffer = image::RgbaImage::from_pixel(8, 16, image::Rgba([shade, 0, 0, 255]));
            let delay = image::Delay::from_numer_denom_ms(200, 1);
            encoder.encode_frame(image::Frame::from_parts(buffer, 0, 0, delay)).unwrap();
        }
    }
    let mut fixture = fixture();
    fixture.feed(inline("", &gif));
    let ms = std::time::Duration::from_millis;
    let advance = |fixture: &mut Fixture, now| {
        fixture.term.advance_animations(ms(now));
        fixture.snapshot().images[0].next_frame
    };
    assert_eq!(advance(&mut fixture, 1000), Some(ms(1200)));
    assert!(pixels(&fixture, 0).starts_with("000000ff"));
    assert_eq!(advance(&mut fixture, 1200), Some(ms(1400)));
    assert!(pixels(&fixture, 0).starts_with("ff0000ff"));
    // After a pause, the animation catches up and loops.
    assert_eq!(advance(&mut fixture, 1450), Some(ms(1600)));
    assert!(pixels(&fixture, 0).starts_with("000000ff"));
}

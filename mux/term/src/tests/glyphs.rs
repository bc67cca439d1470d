//! Tests of the Glyph Protocol, after the text of its specification.

use std::sync::Arc;

use base64::Engine as _;
use proptest::prelude::*;

use super::{Fixture, cases, check, check_reply};
use crate::{
    ColorExtend, ColorPicture, CompositeMode, FontCoverage, GlyphAlign, GlyphColor, GlyphFill,
    GlyphPaint, GlyphPicture, GlyphScale, Options, Parser, Rgb, Size, Term,
};

/// A `glyf` record with these contours, whose points are x, y and whether they are on the curve.
fn glyf(contours: &[&[(i16, i16, bool)]]) -> Vec<u8> {
    let points: Vec<_> = contours.concat();
    let mut out = (contours.len() as i16).to_be_bytes().to_vec();
    out.extend([0; 8]);
    let mut end = 0;
    for contour in contours {
        end += contour.len() as u16;
        out.extend((end - 1).to_be_bytes());
    }
    out.extend([0; 2]);
    out.extend(points.iter().map(|(.., on_curve)| u8::from(*on_curve)));
    let mut last = (0, 0);
    let deltas: Vec<_> = points
        .iter()
        .map(|(x, y, _)| {
            let delta = (x - last.0, y - last.1);
            last = (*x, *y);
            delta
        })
        .collect();
    out.extend(deltas.iter().flat_map(|(x, _)| x.to_be_bytes()));
    out.extend(deltas.iter().flat_map(|(_, y)| y.to_be_bytes()));
    out
}

/// A square with sides of 1000 units.
fn square() -> Vec<u8> {
    glyf(&[&[(0, 0, true), (0, 1000, true), (1000, 1000, true), (1000, 0, true)]])
}

/// A record with `count` points in one contour, with as few bytes as possible.
fn many_points(count: u16) -> Vec<u8> {
    let mut out = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend((count - 1).to_be_bytes());
    out.extend([0; 2]);
    // On the curve, repeated, and both coordinates the same as before.
    for left in (1..=count).rev().step_by(256) {
        out.extend([0x39, (left.min(256) - 1) as u8]);
    }
    out
}

/// The sequence that registers a payload, with parameters such as `;fmt=glyf`.
fn register(code: u32, parameters: &str, payload: &[u8]) -> String {
    let payload = base64::engine::general_purpose::STANDARD.encode(payload);
    format!("\x1b_25a1;r;cp={code:x}{parameters};{payload}\x1b\\")
}

/// The reason for which a registration is rejected; "" if it is not.
fn reason(parameters: &str, payload: &[u8]) -> String {
    let mut fixture = Fixture::new(10, 4);
    let reply = fixture.feed(register(0xe0a0, parameters, payload)).replies();
    let reply = reply.strip_prefix("\x1b_25a1;r;cp=e0a0;status=").expect("a reply");
    let reply = reply.strip_suffix("\x1b\\").expect("an end");
    match reply {
        "0" => String::new(),
        reply => reply.strip_prefix("1;reason=").expect("a reason").to_owned(),
    }
}

/// What a registered payload draws.
fn picture(format: &str, payload: &[u8]) -> GlyphPicture {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(register(0xe000, &format!(";fmt={format}"), payload));
    fixture.snapshot().glyphs.get('\u{e000}').expect("a registered glyph").picture()
}

fn color_picture(format: &str, payload: &[u8]) -> ColorPicture {
    match picture(format, payload) {
        GlyphPicture::Color(picture) => picture,
        GlyphPicture::Outline(_) => panic!("no color"),
    }
}

/// The state of a code point, as a query reports it.
fn status(fixture: &mut Fixture, code: &str) -> String {
    fixture.replies();
    let reply = fixture.feed(format!("\x1b_25a1;q;cp={code}\x1b\\")).replies();
    let start = format!("\x1b_25a1;q;cp={code};status=");
    reply
        .strip_prefix(&start)
        .and_then(|rest| rest.strip_suffix("\x1b\\"))
        .expect(&reply)
        .to_owned()
}

#[test]
fn support_lists_the_formats() {
    let reply = "\x1b_25a1;s;fmt=glyf,colrv0,colrv1\x1b\\";
    check_reply("\x1b_25a1;s\x1b\\", reply);
    check_reply("\x1b_25a1;s;fmt=later\x1b\\", reply);
    for other in ["25a1", "25a1s", "25a1;", "25a1;x", "25a2;s", "25a1;ss", "25A1;s"] {
        check_reply(format!("\x1b_{other}\x1b\\"), "");
    }
}

#[test]
fn registrations_are_answered_as_asked() {
    let ok = "\x1b_25a1;r;cp=e0a0;status=0\x1b\\";
    let bad = "\x1b_25a1;r;cp=e0a0;status=1;reason=malformed_payload\x1b\\";
    for (reply, good, failed) in [
        ("", ok, bad),
        (";reply=1", ok, bad),
        (";reply=2", "", bad),
        (";reply=0", "", ""),
        (";reply=9", ok, bad),
    ] {
        check_reply(register(0xe0a0, reply, &square()), good);
        check_reply(register(0xe0a0, reply, b"x"), failed);
    }
    // Upper case, spaces, unknown parameters, no padding, and the last of several values.
    let payload = base64::engine::general_purpose::STANDARD_NO_PAD.encode(square());
    check_reply(format!("\x1b_25a1; r ; cp=1 ; cp=E0A0 ; later=1 ; {payload} \x1b\\"), ok);
    // Without a code point, there is nothing to answer.
    check_reply(format!("\x1b_25a1;r;{payload}\x1b\\"), "");
    check_reply(format!("\x1b_25a1;r;cp=zz;{payload}\x1b\\"), "");
    check_reply("\x1b_25a1;r\x1b\\", "");
}

#[test]
fn only_private_use_areas_take_glyphs() {
    for code in [0xe000, 0xf8ff, 0xf_0000, 0xf_fffd, 0x10_0000, 0x10_fffd] {
        check_reply(
            register(code, "", &square()),
            &format!("\x1b_25a1;r;cp={code:x};status=0\x1b\\"),
        );
        check_reply(format!("\x1b_25a1;c;cp={code:x}\x1b\\"), "\x1b_25a1;c;status=0\x1b\\");
    }
    for code in [0, 0x41, 0xd800, 0xdfff, 0xf900, 0xe_ffff, 0xf_fffe, 0x10_fffe, 0x11_0000] {
        let rejected = "status=1;reason=out_of_namespace\x1b\\";
        let reply = format!("\x1b_25a1;r;cp={code:x};{rejected}");
        check_reply(register(code, "", &square()), &reply);
        check_reply(register(code, "", b"x"), &reply);
        check_reply(format!("\x1b_25a1;c;cp={code:x}\x1b\\"), &format!("\x1b_25a1;c;{rejected}"));
    }
    check_reply("\x1b_25a1;c;cp=zz\x1b\\", "\x1b_25a1;c;status=1;reason=out_of_namespace\x1b\\");
}

#[test]
fn text_is_what_the_program_printed() {
    check(format!("{}a\u{e0a0}b", register(0xe0a0, ";width=2", &square())), "a\u{e0a0}b");
}

#[derive(Debug)]
struct OnlyLetters;

impl FontCoverage for OnlyLetters {
    fn covers(&self, c: char) -> bool {
        c.is_alphabetic() || c == '\u{e001}'
    }
}

#[test]
fn queries_report_fonts_and_glyphs_in_order() {
    let mut fixture = Fixture::new(10, 4);
    assert_eq!(status(&mut fixture, "e000"), "");
    assert_eq!(status(&mut fixture, "41"), "");
    fixture.feed(register(0xe000, "", &square()));
    assert_eq!(status(&mut fixture, "e000"), "glossary");
    for invalid in ["", "cp=", "cp=d800", "cp=110000", "cp=-1", "cp=e000,e001"] {
        check_reply(format!("\x1b_25a1;q;{invalid}\x1b\\"), "");
    }

    let options = Options { fonts: Some(Arc::new(OnlyLetters)), ..Options::default() };
    let (mut term, mut parser) = (Term::new(Size::cells(10, 4), options), Parser::new());
    let bytes = [
        "\x1b_25a1;q;cp=41\x1b\\\x1b_25a1;q;cp=e000\x1b\\\x1b[5n",
        &register(0xe000, ";reply=0", &square()),
        &register(0xe001, ";reply=0", &square()),
        "\x1b_25a1;q;cp=e000\x1b\\\x1b_25a1;q;cp=e001\x1b\\",
    ];
    parser.advance(&mut term, bytes.concat().as_bytes());
    let expected = "\x1b_25a1;q;cp=41;status=system\x1b\\\x1b_25a1;q;cp=e000;status=\x1b\\\x1b[0n\
        \x1b_25a1;q;cp=e000;status=glossary\x1b\\\x1b_25a1;q;cp=e001;status=system,glossary\x1b\\";
    assert_eq!(String::from_utf8_lossy(&term.take_replies()), expected);
}

#[test]
fn clearing_removes_one_glyph_or_all() {
    let mut fixture = Fixture::new(10, 4);
    for code in [0xe000, 0xe001, 0xe002] {
        fixture.feed(register(code, "", &square()));
    }
    fixture.replies();
    let done = "\x1b_25a1;c;status=0\x1b\\";
    assert_eq!(fixture.feed("\x1b_25a1;c;cp=e001\x1b\\").replies(), done);
    assert_eq!(fixture.feed("\x1b_25a1;c;cp=e001\x1b\\").replies(), done);
    fixture.feed("\x1b_25a1;c;cp=41\x1b\\\x1b_25a1;c;cp=\x1b\\");
    let states = ["e000", "e001", "e002"].map(|code| status(&mut fixture, code));
    assert_eq!(states, ["glossary", "", "glossary"]);
    assert_eq!(fixture.feed("\x1b_25a1;c\x1b\\").replies(), done);
    assert!(fixture.snapshot().glyphs.is_empty());
}

#[test]
fn the_oldest_glyph_makes_room() {
    let mut fixture = Fixture::new(10, 4);
    for i in 0..1024 {
        fixture.feed(register(0xe000 + i, ";reply=0", &square()));
    }
    // A second registration replaces the first and counts as new.
    fixture.feed(register(0xe000, ";reply=0", &square()));
    assert_eq!(status(&mut fixture, "e001"), "glossary");
    fixture.feed(register(0xf_0000, ";reply=0", &square()));
    let states = ["e000", "e001", "e002", "f0000"].map(|code| status(&mut fixture, code));
    assert_eq!(states, ["glossary", "", "glossary", "glossary"]);
    // Large glyphs make room earlier.
    let mut fixture = Fixture::new(10, 4);
    for i in 0..400 {
        fixture.feed(register(0xe000 + i, ";reply=0", &many_points(5461)));
    }
    let states = ["e000", "e0c8", "e18f"].map(|code| status(&mut fixture, code));
    assert_eq!(states, ["", "glossary", "glossary"]);
}

#[test]
fn glyphs_stay_until_a_hard_reset() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(register(0xe000, "", &square()));
    for keeps in ["\x1b[!p", "\x1b[?1049h", "\x1b[?1049l", "\x1b[2J\x1b[3J", "\x1b[22J"] {
        fixture.feed(keeps);
        assert_eq!(status(&mut fixture, "e000"), "glossary", "{keeps:?}");
    }
    fixture.feed("\x1bc");
    assert_eq!(status(&mut fixture, "e000"), "");
}

#[test]
fn viewers_see_each_change() {
    let mut fixture = Fixture::new(10, 4);
    let mut snapshot = fixture.snapshot();
    assert_eq!(snapshot.glyphs.revision(), 0);
    fixture.feed(register(0xe000, "", &square()));
    fixture.term.snapshot(&mut snapshot, None);
    let first = snapshot.glyphs.clone();
    fixture.feed(register(0xe000, "", &square()));
    fixture.term.snapshot(&mut snapshot, None);
    let (old, new) = (first.get('\u{e000}').unwrap(), snapshot.glyphs.get('\u{e000}').unwrap());
    assert_ne!(old.id(), new.id());
    assert_ne!(first.revision(), snapshot.glyphs.revision());
    // What changes nothing leaves the snapshot as it is.
    let last = snapshot.glyphs.clone();
    fixture.feed("x\x1b_25a1;c;cp=e001\x1b\\");
    fixture.term.snapshot(&mut snapshot, None);
    assert!(Arc::ptr_eq(&last, &snapshot.glyphs));
}

#[test]
fn a_rebuilt_terminal_has_the_glyphs() {
    let mut fixture = Fixture::new(10, 4);
    let all =
        ";upm=2048;aw=1024;lh=1536;width=2;size=stretch;align=end,baseline;pad=0.1,0.25,0.3,0";
    fixture.feed(register(0xe001, all, &square()));
    fixture.feed(register(0xe000, "", &square()));
    fixture.feed(register(0x10_0000, ";fmt=colrv0", &container_v0(&[(0, 0)])));
    let mut copy = Fixture::new(10, 4);
    copy.feed(fixture.term.to_vt()).feed("\x18");
    assert_eq!(copy.replies().matches("25a1").count(), 0);
    assert_eq!(copy.term.dump(), fixture.feed("\x18").term.dump());
    let (old, new) = (fixture.snapshot().glyphs, copy.snapshot().glyphs);
    for c in ['\u{e000}', '\u{e001}', '\u{100000}'] {
        let (old, new) = (old.get(c).unwrap(), new.get(c).unwrap());
        assert_eq!((old.placement(), old.picture()), (new.placement(), new.picture()));
    }
}

#[test]
fn sizes_and_places_are_read() {
    let placement = |parameters: &str| {
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(register(0xe000, parameters, &square()));
        *fixture.snapshot().glyphs.get('\u{e000}').expect(parameters).placement()
    };
    let default = placement("");
    assert_eq!((default.units, default.advance, default.line_height), (1000, 1000, 1000));
    assert_eq!((default.cells, default.scale), (1, GlyphScale::Height));
    assert_eq!(default.horizontal, GlyphAlign::Center);
    assert_eq!(default.vertical, Some(GlyphAlign::Center));
    assert_eq!(default.padding, [0.0; 4]);
    let larger = placement(";upm=2048");
    assert_eq!((larger.units, larger.advance, larger.line_height), (2048, 2048, 2048));
    let own =
        placement(";aw=1200;lh=1500;width=2;size=cover;align=start,baseline;pad=0,0.5,1e-1,0.25");
    assert_eq!((own.advance, own.line_height, own.cells), (1200, 1500, 2));
    assert_eq!(
        (own.scale, own.horizontal, own.vertical),
        (GlyphScale::Cover, GlyphAlign::Start, None)
    );
    assert_eq!(own.padding, [0.0, 0.5, 0.1, 0.25]);
    // Padding that leaves nothing counts as none.
    assert_eq!(placement(";pad=0.5,0,0.5,0").padding, [0.0; 4]);
    assert_eq!(placement(";pad=0,1,0,0").padding, [0.0; 4]);
    for invalid in [
        "upm=0",
        "upm=",
        "upm=-1",
        "upm=99999999999",
        "aw=0",
        "lh=x",
        "width=0",
        "width=3",
        "size=big",
        "align=center",
        "align=baseline,center",
        "align=start,middle",
        "pad=0,0,0",
        "pad=0,0,0,0,0",
        "pad=0,0,0,1.5",
        "pad=0,0,0,-0.1",
        "pad=0,0,0,NaN",
        "pad=inf,0,0,0",
        "fmt=svg",
        "fmt=",
    ] {
        assert_eq!(reason(&format!(";{invalid}"), &square()), "malformed_payload", "{invalid}");
    }
}

#[test]
fn outlines_are_decoded() {
    let contours = |payload: &[u8]| match picture("glyf", payload) {
        GlyphPicture::Outline(outline) => {
            let contours = outline.contours();
            let points = |contour: &[crate::OutlinePoint]| {
                contour.iter().map(|point| (point.x, point.y, point.on_curve)).collect::<Vec<_>>()
            };
            contours.map(points).collect::<Vec<_>>()
        }
        GlyphPicture::Color(_) => panic!("a color"),
    };
    let two: [&[_]; 2] = [
        &[(0, 0, true), (500, 900, false), (1000, 0, true)],
        &[(-100, -200, false), (32_000, 7, false)],
    ];
    assert_eq!(contours(&glyf(&two)), two);
    // Short coordinates of both signs, coordinates as before, and repeated flags.
    let mut short = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0];
    short.extend([0x37, 0x07 | 0x08, 1, 0x31, 0x01]);
    short.extend([10, 3, 4, 0xff, 0x00]);
    short.extend([20, 5, 6, 0x01, 0x00]);
    let expected =
        [(10, 20, true), (7, 15, true), (3, 9, true), (3, 9, true), (3 - 256, 9 + 256, true)];
    assert_eq!(contours(&short), [expected]);
    // A glyph without contours is blank. Bytes after the points are padding.
    assert_eq!(contours(&[0; 10]), Vec::<Vec<_>>::new());
    assert_eq!(contours(&[&square()[..], &[0; 3]].concat()).len(), 1);
    assert_eq!(contours(&many_points(5461))[0].len(), 5461);
}

#[test]
fn invalid_outlines_are_rejected_by_name() {
    assert_eq!(reason("", &square()), "");
    for len in 0..square().len() {
        assert_eq!(reason("", &square()[..len]), "malformed_payload", "{len} bytes");
    }
    let with = |at: usize, byte: u8| {
        let mut glyph = square();
        glyph[at] = byte;
        reason("", &glyph)
    };
    assert_eq!(with(0, 0xff), "composite_unsupported");
    assert_eq!(with(0, 0x80), "composite_unsupported");
    assert_eq!(with(13, 4), "hinting_unsupported");
    assert_eq!(with(1, 2), "malformed_payload", "the end of the second contour");
    // The flags repeat beyond the last point, and a coordinate leaves its range.
    let mut many = many_points(4);
    *many.last_mut().unwrap() = 4;
    assert_eq!(reason("", &many), "malformed_payload");
    let far = glyf(&[&[(20_000, 0, true), (-12_000, 0, true)]]);
    let mut too_far = far.clone();
    let at = far.len() - 6;
    too_far[at..at + 2].copy_from_slice(&20_000i16.to_be_bytes());
    assert_eq!(
        (reason("", &far), reason("", &too_far)),
        (String::new(), "malformed_payload".into())
    );
    // 12 bytes a point, 64 KiB in all.
    assert_eq!(reason("", &many_points(5461)), "");
    assert_eq!(reason("", &many_points(5462)), "outline_too_large");
    assert_eq!(reason("", &many_points(u16::MAX)), "outline_too_large");
    let padded = |len: usize| [square(), vec![0; len - square().len()]].concat();
    assert_eq!(reason("", &padded(64 << 10)), "");
    assert_eq!(reason("", &padded((64 << 10) + 1)), "payload_too_large");
    check_reply(
        "\x1b_25a1;r;cp=e000;%%%\x1b\\",
        "\x1b_25a1;r;cp=e000;status=1;reason=malformed_payload\x1b\\",
    );
}

// --- color

/// Big-endian numbers, joined.
fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The protocol's container.
fn container(outlines: &[Vec<u8>], colr: &[u8], cpal: &[u8]) -> Vec<u8> {
    let mut out = words(&[outlines.len() as u16]);
    for part in outlines.iter().map(Vec::as_slice).chain([colr, cpal]) {
        out.extend((part.len() as u16).to_be_bytes());
        out.extend(part);
    }
    out
}

/// A CPAL table with one palette of red, and green with half the opacity.
fn cpal() -> Vec<u8> {
    let mut out = words(&[0, 2, 1, 2, 0, 14, 0]);
    out.extend([0, 0, 255, 255, 0, 255, 0, 128]);
    out
}

/// A COLR table of version 0 in which glyph 0 has these layers of glyph and color.
fn colr_v0(layers: &[(u16, u16)]) -> Vec<u8> {
    let mut out = words(&[0, 1, 0, 14, 0, 20, layers.len() as u16, 0, 0, layers.len() as u16]);
    layers.iter().for_each(|(glyph, color)| out.extend(words(&[*glyph, *color])));
    out
}

fn container_v0(layers: &[(u16, u16)]) -> Vec<u8> {
    container(&[square(), glyf(&[])], &colr_v0(layers), &cpal())
}

/// A COLR table of version 1 with these paints for glyphs 0, 1, …; each begins at the position in the table that `at`
/// returns for its index. The list of layers contains all of them.
fn colr_v1(paints: &[Vec<u8>], clip: bool) -> Vec<u8> {
    let base = 34;
    let count = paints.len();
    let layers = base + 4 + 6 * count;
    let first = layers + 4 + 4 * count;
    let end = first + paints.iter().map(Vec::len).sum::<usize>();
    let long = |value: usize| (value as u32).to_be_bytes();
    let mut out = words(&[1, 0, 0, 0, 0, 0, 0]);
    out.extend([base, layers, if clip { end } else { 0 }, 0, 0].map(long).concat());
    out.extend(long(count));
    let mut at = first;
    for (glyph, paint) in paints.iter().enumerate() {
        out.extend((glyph as u16).to_be_bytes());
        out.extend(long(at - base));
        at += paint.len();
    }
    out.extend(long(count));
    at = first;
    for paint in paints {
        out.extend(long(at - layers));
        at += paint.len();
    }
    paints.iter().for_each(|paint| out.extend(paint));
    if clip {
        // The box of glyphs 0 to 3, right after the list.
        out.extend([1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 12]);
        out.push(1);
        out.extend([-5i16, -6, 700, 800].map(i16::to_be_bytes).concat());
    }
    out
}

/// What the first of these paints draws, with a square as outline 0.
fn paint_of(paints: &[Vec<u8>]) -> GlyphPaint {
    color_picture("colrv1", &container(&[square()], &colr_v1(paints, false), &cpal())).paint
}

fn reason_v1(paints: &[Vec<u8>]) -> String {
    reason(";fmt=colrv1", &container(&[square()], &colr_v1(paints, false), &cpal()))
}

/// A solid paint with half the opacity.
fn solid(color: u16) -> Vec<u8> {
    [vec![2], words(&[color, 0x2000])].concat()
}

/// A paint of a format whose first field is the paint right after it.
fn around(format: u8, fields: &[u8], child: &[u8]) -> Vec<u8> {
    let len = (4 + fields.len()) as u8;
    [&[format, 0, 0, len][..], fields, child].concat()
}

const RED: Rgb = Rgb { r: 255, g: 0, b: 0 };
const GREEN: Rgb = Rgb { r: 0, g: 255, b: 0 };

#[test]
fn version_0_is_layers_of_flat_colors() {
    let picture = color_picture("colrv0", &container_v0(&[(0, 0), (1, 1), (0, 0xffff)]));
    let layer = |outline, color, alpha| GlyphPaint::Outline {
        outline,
        paint: Box::new(GlyphPaint::Fill(GlyphFill::Solid(GlyphColor { color, alpha }))),
    };
    let expected =
        [layer(0, Some(RED), 1.0), layer(1, Some(GREEN), 128.0 / 255.0), layer(0, None, 1.0)];
    assert_eq!(picture.paint, GlyphPaint::Layers(expected.to_vec()));
    assert!(picture.uses_foreground);
    assert!(!color_picture("colrv0", &container_v0(&[(0, 0)])).uses_foreground);
    // Without a record, glyph 0 is a plain outline.
    let colr = words(&[0, 0, 0, 0, 0, 0, 0]);
    let plain = color_picture("colrv0", &container(&[square()], &colr, &[]));
    assert_eq!((plain.paint, plain.uses_foreground), (layer(0, None, 1.0), true));
}

#[test]
fn invalid_containers_are_rejected() {
    let zero = |payload: &[u8]| reason(";fmt=colrv0", payload);
    let whole = container_v0(&[(0, 0), (1, 0xffff)]);
    assert_eq!(zero(&whole), "");
    for len in 0..whole.len() {
        assert_eq!(zero(&whole[..len]), "malformed_payload", "{len} bytes");
    }
    assert_eq!(zero(&container_v0(&[(2, 0)])), "malformed_payload", "no such outline");
    assert_eq!(zero(&container_v0(&[(0, 2)])), "malformed_payload", "no such color");
    let without = container(&[square()], &colr_v0(&[(0, 0)]), &[]);
    assert_eq!(zero(&without), "malformed_payload", "no palette");
    assert_eq!(zero(&container(&[square()], &[], &cpal())), "malformed_payload", "no COLR");
    assert_eq!(zero(&container(&[], &colr_v0(&[]), &cpal())), "malformed_payload", "no outline");
    let one = container(&[square()], &colr_v1(&[solid(0)], false), &cpal());
    assert_eq!(zero(&one), "malformed_payload", "the other version");
    assert_eq!(reason(";fmt=colrv1", &whole), "malformed_payload", "the other version");
    let hinted = {
        let mut glyph = square();
        glyph[13] = 1;
        glyph
    };
    assert_eq!(zero(&container(&[hinted], &colr_v0(&[]), &[])), "hinting_unsupported");
    let composite = [vec![0xff; 2], vec![0; 20]].concat();
    assert_eq!(zero(&container(&[composite], &colr_v0(&[]), &[])), "composite_unsupported");
    // The points of all outlines count together.
    let large = [many_points(5000), many_points(461)];
    assert_eq!(zero(&container(&large, &colr_v0(&[]), &[])), "");
    let too_large = [many_points(5000), many_points(462)];
    assert_eq!(zero(&container(&too_large, &colr_v0(&[]), &[])), "outline_too_large");
    let many = vec![Vec::new(); 1025];
    assert_eq!(zero(&container(&many[..1024], &colr_v0(&[]), &[])), "");
    assert_eq!(zero(&container(&many, &colr_v0(&[]), &[])), "malformed_payload");
}

#[test]
fn fills_of_version_1_are_decoded() {
    let half = |color| GlyphColor { color: Some(color), alpha: 0.5 };
    assert_eq!(paint_of(&[solid(0)]), GlyphPaint::Fill(GlyphFill::Solid(half(RED))));
    // Stops out of order, with the last beyond the end.
    let line =
        |extend: u8| [vec![extend], words(&[2, 0x6000, 0xffff, 0x4000, 0, 0, 0x4000])].concat();
    let points = [0u16, 1, 2, 3, 4, 0xffff];
    let linear = paint_of(&[around(4, &words(&points), &line(2))]);
    let GlyphPaint::Fill(GlyphFill::Linear { colors, points }) = linear else {
        panic!("{linear:?}")
    };
    assert_eq!(points, [(0.0, 1.0), (2.0, 3.0), (4.0, -1.0)]);
    assert_eq!(colors.extend, ColorExtend::Reflect);
    let stops: Vec<_> = colors.stops.iter().map(|stop| (stop.offset, stop.color.color)).collect();
    assert_eq!(stops, [(0.0, Some(RED)), (1.5, None)]);
    let radial = paint_of(&[around(6, &words(&[1, 2, 3, 4, 5, 6]), &line(1))]);
    let GlyphPaint::Fill(GlyphFill::Radial { colors, centers, radii }) = radial else {
        panic!("{radial:?}")
    };
    assert_eq!((centers, radii), ([(1.0, 2.0), (4.0, 5.0)], [3.0, 6.0]));
    assert_eq!(colors.extend, ColorExtend::Repeat);
    let sweep = paint_of(&[around(8, &words(&[1, 2, 0xc000, 0x4000]), &line(0))]);
    let GlyphPaint::Fill(GlyphFill::Sweep { colors, center, angles }) = sweep else {
        panic!("{sweep:?}")
    };
    assert_eq!((center, angles, colors.extend), ((1.0, 2.0), [0.0, 360.0], ColorExtend::Pad));
    // A gradient without stops.
    assert_eq!(reason_v1(&[around(4, &words(&[0; 6]), &[0, 0, 0])]), "malformed_payload");
}

#[test]
fn transforms_of_version_1_are_decoded() {
    let matrix = |format: u8, fields: &[u16]| {
        let paint = paint_of(&[around(format, &words(fields), &solid(0))]);
        let GlyphPaint::Transform { matrix, .. } = paint else { panic!("{paint:?}") };
        matrix.map(|value| (value * 100.0).round() as i32)
    };
    assert_eq!(matrix(14, &[7, 0xffff]), [100, 0, 0, 100, 700, -100]);
    assert_eq!(matrix(16, &[0x2000, 0x4000]), [50, 0, 0, 100, 0, 0]);
    assert_eq!(matrix(18, &[0x2000, 0x4000, 10, 20]), [50, 0, 0, 100, 500, 0]);
    assert_eq!(matrix(20, &[0x2000]), [50, 0, 0, 50, 0, 0]);
    assert_eq!(matrix(22, &[0x2000, 10, 20]), [50, 0, 0, 50, 500, 1000]);
    // Formats 24 and 26: a quarter turn to the left around the origin, and around (10, 20).
    assert_eq!(matrix(24, &[0x2000]), [0, 100, -100, 0, 0, 0]);
    assert_eq!(matrix(26, &[0x2000, 10, 20]), [0, 100, -100, 0, 3000, 1000]);
    assert_eq!(matrix(28, &[0x1000, 0]), [100, 0, -100, 100, 0, 0]);
    assert_eq!(matrix(30, &[0, 0x1000, 10, 20]), [100, 100, 0, 100, 0, -1000]);
    // The matrix of format 12 lies after a second offset.
    let numbers =
        [[0, 1, 0, 0], [0, 2, 0, 0], [0, 3, 0, 0], [0, 4, 0, 0], [0, 5, 0x80, 0], [0xff; 4]];
    let mut paint = vec![12, 0, 0, 31, 0, 0, 7];
    paint.extend(numbers.concat());
    paint.extend(solid(0));
    let paint = paint_of(&[paint]);
    let GlyphPaint::Transform { matrix, .. } = paint else { panic!("{paint:?}") };
    assert_eq!(matrix.map(f32::round), [1.0, 2.0, 3.0, 4.0, 6.0, -0.0]);
}

#[test]
fn graphs_of_version_1_are_decoded() {
    // All layers but the first, an outline, another glyph, and two pictures combined.
    let layers = [vec![1, 4], 1u32.to_be_bytes().to_vec()].concat();
    let outline = around(10, &words(&[0]), &solid(0));
    let glyph = vec![11, 0, 1];
    let composite = [vec![32, 0, 0, 8, 23, 0, 0, 13], solid(0), solid(1)].concat();
    let paints = [layers, solid(1), outline, glyph, composite];
    let payload = container(&[square()], &colr_v1(&paints, true), &cpal());
    let GlyphPaint::Clip { bounds, paint } = color_picture("colrv1", &payload).paint else {
        panic!("no box")
    };
    assert_eq!(bounds, [-5, -6, 700, 800]);
    let GlyphPaint::Layers(layers) = *paint else { panic!("{paint:?}") };
    assert!(matches!(layers[0], GlyphPaint::Fill(_)));
    assert!(matches!(&layers[1], GlyphPaint::Outline { outline: 0, .. }));
    assert!(matches!(&layers[2], GlyphPaint::Clip { .. }));
    let GlyphPaint::Composite { mode, source, backdrop } = &layers[3] else { panic!("{layers:?}") };
    assert_eq!(*mode, CompositeMode::Multiply);
    assert_ne!(source, backdrop);
    let unknown_mode = [vec![32, 0, 0, 8, 28, 0, 0, 13], solid(0), solid(1)].concat();
    for invalid in [vec![0], vec![33], vec![255], vec![11, 0, 9], unknown_mode, Vec::new()] {
        assert_eq!(reason_v1(std::slice::from_ref(&invalid)), "malformed_payload", "{invalid:?}");
    }
    let beyond = around(10, &words(&[1]), &solid(0));
    assert_eq!(reason_v1(&[beyond]), "malformed_payload", "no such outline");
}

#[test]
fn endless_and_huge_graphs_are_rejected() {
    // A glyph that contains itself, and a node that is its own child.
    assert_eq!(reason_v1(&[vec![11, 0, 0]]), "malformed_payload");
    assert_eq!(reason_v1(&[vec![14, 0, 0, 0, 0, 0, 0, 0]]), "malformed_payload");
    // Each level has two nodes of the next.
    let level = |next: u8| vec![32, 0, 0, 8, 3, 0, 0, 8, 11, 0, next];
    let deep: Vec<_> = (1..20).map(level).chain([solid(0)]).collect();
    assert_eq!(reason_v1(&deep), "malformed_payload");
    let few: Vec<_> = (1..6).map(level).chain([solid(0)]).collect();
    assert_eq!(reason_v1(&few), "");
    // All layers again and again.
    let all = vec![[vec![1, 3], 0u32.to_be_bytes().to_vec()].concat(), solid(0), solid(1)];
    assert_eq!(reason_v1(&all), "malformed_payload");
    // As many layers as a container has outlines at most, and one more.
    let layers = |count| reason(";fmt=colrv0", &container_v0(&vec![(0, 0); count]));
    assert_eq!(layers(1024), "");
    assert_eq!(layers(1025), "malformed_payload");
    // One large outline, drawn many times.
    let layers: Vec<_> = vec![(0, 0); 9];
    let often = |layers| container(&[many_points(5461)], &colr_v0(layers), &cpal());
    assert_eq!(reason(";fmt=colrv0", &often(&layers[..8])), "");
    assert_eq!(reason(";fmt=colrv0", &often(&layers)), "malformed_payload");
}

proptest! {
    #![proptest_config(cases(200))]

    /// Whatever a payload is, a registration ends, and a glyph that was accepted can be drawn.
    #[test]
    fn any_payload_is_accepted_or_rejected(
        seed in any::<u64>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        which in 0..3usize,
    ) {
        let paints = [around(10, &words(&[0]), &around(14, &words(&[3, 4]), &solid(0))), vec![11, 0, 0],
            [vec![1, 2], 0u32.to_be_bytes().to_vec()].concat()];
        let first = seed as usize % 3;
        let paints: Vec<_> = paints.iter().cycle().skip(first).take(3).cloned().collect();
        let (format, mut payload) = match which {
            0 => ("glyf", square()),
            1 => ("colrv0", container_v0(&[(0, 0), (1, 1)])),
            _ => ("colrv1", container(&[square()], &colr_v1(&paints, true), &cpal())),
        };
        for (at, byte) in changes {
            let at = at.index(payload.len());
            payload[at] = byte;
        }
        let mut fixture = Fixture::new(10, 4);
        fixture.feed(register(0xe000, &format!(";fmt={format}"), &payload));
        if let Some(glyph) = fixture.snapshot().glyphs.get('\u{e000}') {
            glyph.picture();
        }
        prop_assert!(fixture.replies().starts_with("\x1b_25a1;r;cp=e000;status="));
    }
}

//! Hostile images.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::kitty::image;
use super::{fixture, shown};
use crate::term::graphics::QUOTA;
use crate::tests::check_reply;
use crate::work;

#[test]
fn sizes_are_checked_before_memory_is_taken() {
    let reply = |keys: &str| {
        let mut fixture = fixture();
        fixture.feed(format!("\x1b_Gi=1,{keys};AAAA\x1b\\"));
        fixture.replies().split([';', ':']).nth(1).unwrap_or_default().to_owned()
    };
    for keys in ["s=0,v=1", "s=10001,v=1", "s=1,v=4294967295", "s=4294967295,v=4294967295,o=z"] {
        assert_eq!(reply(keys), "EINVAL", "{keys}");
    }
    assert_eq!(reply("s=10000,v=10000"), "EFBIG");
    assert_eq!(reply("s=1,v=1,f=7"), "EINVAL");
    assert_eq!(reply("s=1,v=1,o=x"), "EINVAL");
    assert_eq!(reply("s=1,v=1,t=x"), "EINVAL");
    assert_eq!(reply("s=1,v=1,o=z"), "EINVAL");
    assert_eq!(reply("f=100"), "EBADPNG");
    // A command with invalid numbers, or with keys without values, is ignored.
    for keys in ["s=99999999999", "s=-1", "s=", "=1", "a=tt", "s"] {
        assert_eq!(reply(keys), "", "{keys}");
    }
    check_reply(
        "\x1b_G\x1b\\\x1b_G;\x1b\\\x1b_G,,,;\x1b\\\x1b_Ga=p\x1b\\\x1b_Ga=f\x1b\\\x1b_Ga=c\x1b\\",
        "",
    );
}

#[test]
fn a_bomb_is_no_larger_than_it_says() {
    let zeros = vec![0u8; 64 << 20];
    let mut bomb = Vec::new();
    std::io::Read::read_to_end(
        &mut flate2::read::ZlibEncoder::new(&zeros[..], flate2::Compression::fast()),
        &mut bomb,
    )
    .unwrap();
    check_reply(
        format!("\x1b_Gi=1,s=1,v=1,o=z;{}\x1b\\", STANDARD.encode(&bomb)),
        "\x1b_Gi=1;EFBIG:too much data\x1b\\",
    );
    // A PNG whose header claims a huge size.
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbaImage::new(1, 1).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let mut png = png.into_inner();
    png[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    for at in [24, 40, png.len()] {
        let mut fixture = fixture();
        fixture.feed(format!("\x1b_Gi=1,f=100,a=T;{}\x1b\\", STANDARD.encode(&png[..at])));
        fixture.feed(format!("\x1b]1337;File=inline=1:{}\x07", STANDARD.encode(&png[..at])));
        assert!(fixture.replies().contains('E'));
        assert_eq!(shown(&fixture), "");
    }
}

#[test]
fn chunks_without_end_stop_at_the_size() {
    let mut fixture = fixture();
    fixture.feed("\x1b_Gi=1,s=10,v=10,m=1;AAAA\x1b\\");
    let chunk = format!("\x1b_Gm=1;{}\x1b\\", "A".repeat(4096));
    for _ in 0..4000 {
        fixture.parser.advance(&mut fixture.term, chunk.as_bytes());
    }
    fixture.feed("\x1b_Gm=0;\x1b\\");
    assert_eq!(fixture.replies(), "\x1b_Gi=1;EFBIG:too much data\x1b\\");
    // A transmission is abandoned halfway, because of another image and because of a deletion.
    fixture.feed("\x1b_Gi=1,s=1,v=1,m=1;AAAA\x1b\\\x1b_Gi=2,s=1,v=1,f=24;AAAA\x1b\\");
    assert_eq!(fixture.replies(), "\x1b_Gi=2;OK\x1b\\");
    fixture.feed("\x1b_Gi=1,s=1,v=1,m=1;AAAA\x1b\\\x1b_Ga=d\x1b\\\x1b_Gm=0;AAAA\x1b\\");
    assert_eq!(fixture.replies(), "");
}

#[test]
fn memory_stays_within_the_quota() {
    let mut fixture = fixture();
    // Each image has 4 MB, in a few bytes of sixel or in slightly more bytes of zlib.
    for _ in 0..120 {
        fixture.feed("\x1b[H\x1bPq\"1;1;80;10000\x1b\\");
        let layer = &fixture.term.graphics.shown;
        assert!(layer.store.bytes() <= QUOTA);
    }
    let pixels = vec![0u8; 1000 * 2000 * 4];
    let mut packed = Vec::new();
    std::io::Read::read_to_end(
        &mut flate2::read::ZlibEncoder::new(&pixels[..], flate2::Compression::fast()),
        &mut packed,
    )
    .unwrap();
    let packed = STANDARD.encode(&packed);
    for id in 1..60 {
        fixture.feed(format!("\x1b_Gi={id},s=1000,v=2000,o=z,q=2;{packed}\x1b\\"));
        assert!(fixture.term.graphics.shown.store.bytes() <= QUOTA);
    }
    // The newest image is stored, and the oldest is not.
    fixture.feed("\x1b_Ga=p,i=59,C=1\x1b\\\x1b_Ga=p,i=1\x1b\\");
    let replies = fixture.replies();
    assert!(replies.starts_with("\x1b_Gi=59;OK") && replies.contains("ENOENT"), "{replies:?}");
    // Frames count toward the limit like images.
    for _ in 0..60 {
        fixture.feed(format!("\x1b_Ga=f,i=59,s=1000,v=2000,o=z,q=2;{packed}\x1b\\"));
        assert!(fixture.term.graphics.shown.store.bytes() <= QUOTA);
    }
    assert_eq!(shown(&fixture), "125×125 at 0,3");
}

#[test]
fn small_images_and_placements_are_counted() {
    let mut fixture = fixture();
    for id in 1..20_000 {
        let command =
            format!("\x1b_Gi={id},s=1,v=1,f=24,q=2;AAAA\x1b\\\x1b_Ga=p,i={id},q=2,C=1\x1b\\");
        fixture.parser.advance(&mut fixture.term, command.as_bytes());
    }
    let layer = &fixture.term.graphics.shown;
    assert!(layer.store.iter().count() <= 16_384);
    assert!(layer.placement_count() <= 4096);
}

#[test]
fn four_times_the_images_are_four_times_the_work() {
    let transmit = |keys: &str| format!("\x1b_Ga=T,s=1,v=1,f=24,q=2{keys};AAAA\x1b\\");
    for command in [
        transmit(""),
        transmit(",C=1"),
        transmit(",I=7"),
        transmit(",i=5,p=3"),
        transmit(",C=1") + "\r\n",
        // Sequences that create many placements of one image.
        "\x1b_Ga=p,i=9,q=2\x1b\\".to_owned(),
        "\x1b_Ga=p,i=9,p=1,q=2\x1b\\\x1b_Ga=p,i=9,P=9,Q=1,q=2\x1b\\".to_owned(),
    ] {
        let work_of = |count: usize| {
            let mut fixture = fixture();
            fixture.feed(image(9, 8, 16));
            work::take();
            fixture.parser.advance(&mut fixture.term, command.repeat(count).as_bytes());
            let work = work::take();
            fixture.term.debug_check();
            assert!(fixture.term.graphics.shown.placement_count() <= 4096);
            work
        };
        let (some, all) = (work_of(1500), work_of(6000));
        assert!(all <= 5 * some + 10_000, "{some} then {all}: {command:?}");
    }
}

#[test]
fn the_placement_that_came_first_makes_room() {
    let mut fixture = fixture();
    fixture.feed(image(1, 8, 16) + "\x1b_Ga=p,i=1,p=1,C=1,q=2\x1b\\");
    fixture.feed("\x1b_Ga=p,i=1,p=2,P=1,Q=1,q=2\x1b\\");
    fixture.feed(image(2, 8, 16) + &"\x1b_Ga=p,i=2,C=1,q=2\x1b\\".repeat(4094));
    assert_eq!(fixture.term.graphics.shown.placement_count(), 4096);
    // The oldest placement is dropped together with its child.
    fixture.feed("\x1b_Ga=p,i=2,p=5,C=1\x1b\\");
    assert_eq!(fixture.replies(), "\x1b_Gi=2,p=5;OK\x1b\\");
    let layer = &fixture.term.graphics.shown;
    assert_eq!(layer.placement_count(), 4095);
    fixture.feed("\x1b_Ga=p,i=2,p=6,P=1,Q=1\x1b\\");
    assert_eq!(fixture.replies(), "\x1b_Gi=2,p=6;ENOPARENT:no such parent placement\x1b\\");
}

#[test]
fn sixels_of_any_size_end() {
    let mut fixture = fixture();
    for data in [
        "!99999999999~",
        "\"1;1;99999;99999~",
        "\"0;0;0;0",
        "#99999;2;999;999;999!999999~",
        "#1;1;999;999;999~#1;9;1;1;1~#;;;;;;;;;~",
        "!!!!!~~~$$$$$-----\"\"\"\"",
        "!",
        "#",
        "\"",
    ] {
        fixture.feed(format!("\x1bP9999;9999;9999q{data}\x1b\\"));
        fixture.feed(format!("\x1bPq{data}"));
        fixture.feed("\x18\x1b[2J\x1b[H");
    }
    // Sixel data that never stops beginning new bands.
    fixture.feed(format!("\x1bPq{}~\x1b\\", "-".repeat(100_000)));
    assert!(fixture.term.graphics.shown.store.bytes() <= QUOTA);
}

/// Chunks of a kitty image that never ends, `megabytes` of base64 in total.
fn unfinished(fixture: &mut crate::tests::Fixture, keys: &str, megabytes: usize) {
    let chunk = "A".repeat(1 << 19);
    fixture.feed(format!("\x1b_G{keys},m=1;\x1b\\"));
    for _ in 0..2 * megabytes {
        fixture.parser.advance(&mut fixture.term, format!("\x1b_Gm=1;{chunk}\x1b\\").as_bytes());
    }
}

#[test]
fn an_unfinished_transmission_is_bounded_and_dropped() {
    const CAP: usize = 64 << 20;
    for keys in ["i=7,f=100", "i=7,s=8000,v=8000", "i=7,s=10,v=10,o=z"] {
        let mut fixture = fixture();
        unfinished(&mut fixture, keys, 80);
        let bytes = fixture.term.unfinished_bytes();
        assert!((30 << 20..=CAP).contains(&bytes), "{keys}: {bytes}");
        unfinished(&mut fixture, "i=7", 40);
        assert_eq!(fixture.term.unfinished_bytes(), 0, "{keys}: beyond the cap it is dropped");
        fixture.feed("\x1b_Gm=0;\x1b\\text");
        assert!(fixture.replies().contains("EFBIG"), "{keys}");
        assert_eq!(fixture.screen(), "text");
    }
}

#[test]
fn a_long_string_counts_while_it_arrives() {
    let piece = "A".repeat(100_000);
    for start in
        ["\x1b]1337;File=inline=1:", "\x1b]1337;FilePart=", "\x1bPq", "\x1b]52;c;", "\x1b_G;"]
    {
        let mut fixture = fixture();
        fixture.feed(start).feed(&piece).feed(&piece);
        assert!(fixture.term.unfinished_bytes() >= 200_000, "{start:?}");
        assert_eq!(fixture.term.image_bytes(), fixture.term.unfinished_bytes());
        // The end of the image frees its data, and so does an end by another control.
        for end in ["\x1b\\", "\x18", "\x1bc"] {
            fixture.feed(end);
            assert_eq!(fixture.term.unfinished_bytes(), 0, "{start:?} {end:?}");
            fixture.feed(start).feed(&piece);
        }
        // The terminal drops the image for the sake of other terminals, and then ignores the rest of it.
        fixture.term.shed_unfinished();
        assert_eq!(fixture.term.unfinished_bytes(), 0);
        fixture.feed(&piece);
        assert_eq!(fixture.term.unfinished_bytes(), 0, "{start:?}");
        fixture.feed("\x1b\\\x1bctext");
        assert_eq!(fixture.screen(), "text", "{start:?}");
    }
    let mut fixture = fixture();
    fixture.feed("\x1b]1337;MultipartFile=inline=1;size=900000\x07");
    fixture.feed(format!("\x1b]1337;FilePart={piece}\x07"));
    assert_eq!(fixture.term.unfinished_bytes(), 100_000);
}

#[test]
fn what_a_program_did_not_send_to_its_end_ends_with_it() {
    let options = crate::Options { nonce: Some("n1".into()), ..Default::default() };
    let end: [fn(&mut crate::tests::Fixture); 2] = [
        |fixture| {
            fixture.feed("\x1b]133;D;137;nonce=n1\x07");
        },
        |fixture| fixture.term.program_ended(),
    ];
    for end in end {
        let mut fixture = fixture();
        fixture.term = crate::Term::new(fixture.term.size(), options.clone());
        fixture.feed("\x1b]133;A;nonce=n1\x07$ \x1b]133;B\x07\x1b]133;C;nonce=n1\x07");
        unfinished(&mut fixture, "i=7,f=100", 1);
        fixture.feed("\x1b[?1049h");
        unfinished(&mut fixture, "i=8,f=100", 1);
        fixture.feed("\x1b]1337;MultipartFile=inline=1;size=900000\x07\x1b]1337;FilePart=AAAA\x07");
        assert!(fixture.term.unfinished_bytes() > 1_500_000);
        end(&mut fixture);
        assert_eq!(fixture.term.unfinished_bytes(), 0);
        // Data that the next program sends does not continue the image.
        fixture.feed("\x1b[?1049l").replies();
        fixture.feed(image(9, 3, 3) + "\x1b_Ga=p,i=9\x1b\\");
        assert_eq!(fixture.replies(), "\x1b_Gi=9;OK\x1b\\");
    }
}

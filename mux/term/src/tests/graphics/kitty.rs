//! The kitty graphics protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{check_images, fixture, pixels, shown};
use crate::Size;
use crate::tests::check_reply;

/// A graphics command with a payload, which this function encodes as base64.
fn command(keys: &str, payload: &[u8]) -> String {
    format!("\x1b_G{keys};{}\x1b\\", STANDARD.encode(payload))
}

/// An image with this id and `width` × `height` gray pixels, sent but not placed.
pub(super) fn image(id: u32, width: usize, height: usize) -> String {
    let keys = format!("a=t,q=2,i={id},f=24,s={width},v={height}");
    command(&keys, &vec![0x80; width * height * 3])
}

#[test]
fn an_image_is_shown_at_the_cursor_which_moves_after_it() {
    let mut fixture = fixture();
    fixture.feed(image(1, 16, 32) + "ab\x1b_Ga=p,i=1\x1b\\");
    assert_eq!(shown(&fixture), "2×2 at 2,0");
    assert_eq!(fixture.cursor(), (1, 4));
    assert_eq!(fixture.replies(), "\x1b_Gi=1;OK\x1b\\");
    // A partly covered cell counts as a cell. A command can request that the cursor does not move.
    fixture.feed(image(2, 9, 17) + "\x1b[2J\x1b[H\x1b_Ga=p,i=2,C=1,q=1\x1b\\");
    assert_eq!(shown(&fixture), "1.125×1.0625 at 0,0");
    assert_eq!(fixture.cursor(), (0, 0));
    fixture.feed("\x1b_Ga=p,i=2\x1b\\");
    assert_eq!(fixture.cursor(), (1, 2));
}

#[test]
fn at_the_foot_the_screen_scrolls_and_the_image_with_it() {
    let mut fixture = fixture();
    fixture.feed(image(1, 8, 48) + "\x1b[4H\x1b_Ga=p,i=1\x1b\\");
    assert_eq!(shown(&fixture), "1×3 at 0,1");
    assert_eq!(fixture.cursor(), (3, 1));
    fixture.feed("\r\n\r\n");
    assert_eq!(shown(&fixture), "1×3 at 0,-1");
    fixture.feed("\r\n\r\n");
    assert_eq!(shown(&fixture), "");
    // The image is in history now.
    let mut snapshot = crate::Snapshot::default();
    fixture.term.snapshot(&mut snapshot, Some(crate::LineId(0)));
    assert_eq!(super::describe(&snapshot), "1×3 at 0,3");
}

#[test]
fn source_offset_scale_and_order() {
    let sent = image(1, 20, 40);
    check_images(
        sent.clone() + "\x1b_Ga=p,i=1,x=2,y=4,w=8,h=100,z=-5\x1b\\",
        "1×2.25 at 0,0 of 8×36 at 2,4 z -5",
    );
    check_images(sent.clone() + "\x1b_Ga=p,i=1,c=5,r=2\x1b\\", "5×2 at 0,0");
    // If one side is given, the other keeps the aspect ratio: 40 pixels of width result in 80 pixels of height.
    check_images(sent.clone() + "\x1b_Ga=p,i=1,c=5,C=1\x1b\\", "5×5 at 0,0");
    check_images(sent.clone() + "\x1b_Ga=p,i=1,r=2\x1b\\", "2×2 at 0,0");
    // The offset is included in the requested columns and rows.
    check_images(sent.clone() + "\x1b_Ga=p,i=1,c=2,r=2,X=4,Y=8\x1b\\", "1.5×1.5 at 0.5,0.5");
    check_images(sent.clone() + "\x1b_Ga=p,i=1,x=20\x1b\\", "");
    check_images(
        sent + "\x1b_Ga=p,i=1,p=1,z=1,C=1\x1b\\\x1b_Ga=p,i=1,p=2,z=-1,C=1\x1b\\",
        "2.5×2.5 at 0,0 z -1\n2.5×2.5 at 0,0 z 1",
    );
}

#[test]
fn formats_and_chunks() {
    let mut fixture = fixture();
    fixture.feed(command("a=T,f=32,s=1,v=2", &[1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(pixels(&fixture, 0), "01020304/05060708");
    fixture.feed("\x1b[2J").feed(command("a=T,f=24,s=2,v=1", &[1, 2, 3, 4, 5, 6]));
    assert_eq!(pixels(&fixture, 0), "010203ff 040506ff");
    let mut packed = flate2::read::ZlibEncoder::new(&[9u8, 8, 7][..], Default::default());
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut packed, &mut bytes).unwrap();
    fixture.feed("\x1b[2J").feed(command("a=T,f=24,s=1,v=1,o=z", &bytes));
    assert_eq!(pixels(&fixture, 0), "090807ff");
    let mut png = std::io::Cursor::new(Vec::new());
    let rgba = image::RgbaImage::from_raw(1, 1, vec![10, 20, 30, 40]).unwrap();
    rgba.write_to(&mut png, image::ImageFormat::Png).unwrap();
    fixture.feed("\x1b[2J");
    // Nothing is visible before the last chunk. Only the cursor's position at that time counts.
    let chunks: Vec<_> = png.get_ref().chunks(30).collect();
    for (i, chunk) in chunks.iter().enumerate() {
        assert_eq!(shown(&fixture), "");
        let more = (i + 1 < chunks.len()) as u8;
        let keys = if i == 0 { "a=T,f=100,i=9,m=1".to_owned() } else { format!("m={more}") };
        fixture.feed(format!("\x1b[3;3H{}", command(&keys, chunk)));
    }
    assert_eq!(shown(&fixture), "0.125×0.0625 at 2,2");
    assert_eq!(pixels(&fixture, 0), "0a141e28");
    assert_eq!(fixture.replies(), "\x1b_Gi=9;OK\x1b\\");
}

#[test]
fn replies() {
    // The query that the protocol's page shows.
    check_reply("\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", "\x1b_Gi=31;OK\x1b\\");
    check_reply(
        "\x1b_Gi=31,s=2,v=1,a=q,f=24;AAAA\x1b\\",
        "\x1b_Gi=31;ENODATA:less data than the size says\x1b\\",
    );
    check_reply("\x1b_Gi=3,p=4,a=p\x1b\\", "\x1b_Gi=3,p=4;ENOENT:no such image\x1b\\");
    check_reply(
        "\x1b_Gi=3,I=4,a=p\x1b\\",
        "\x1b_Gi=3,I=4;EINVAL:an image id and an image number together\x1b\\",
    );
    check_reply("\x1b_Gi=3,a=p,q=1\x1b\\", "\x1b_Gi=3;ENOENT:no such image\x1b\\");
    check_reply("\x1b_Gi=3,a=p,q=2\x1b\\", "");
    check_reply("\x1b_Gi=3,s=1,v=1,f=24,q=1;AAAA\x1b\\", "");
    check_reply("\x1b_Gs=1,v=1,f=24;AAAA\x1b\\", "");
    // If the terminal has no reader for media, files are refused.
    check_reply(
        command("i=1,t=f,f=100", b"/etc/passwd"),
        "\x1b_Gi=1;EPERM:not allowed to be read\x1b\\",
    );
    // Image numbers: each transmission creates an image with an id of its own.
    check_reply(
        "\x1b_GI=7,s=1,v=1,f=24;AAAA\x1b\\\x1b_GI=7,s=1,v=1,f=24;AAAA\x1b\\\x1b_Ga=p,I=7,p=5\x1b\\",
        "\x1b_Gi=1,I=7;OK\x1b\\\x1b_Gi=2,I=7;OK\x1b\\\x1b_Gi=2,I=7,p=5;OK\x1b\\",
    );
}

#[test]
fn a_placement_of_the_same_id_is_replaced() {
    let mut fixture = fixture();
    fixture.feed(image(1, 8, 16) + "\x1b_Ga=p,i=1,p=1\x1b\\\x1b[3;3H\x1b_Ga=p,i=1,p=1\x1b\\");
    assert_eq!(shown(&fixture), "1×1 at 2,2");
    fixture.feed("\x1b_Ga=p,i=1,C=1\x1b\\\x1b_Ga=p,i=1,C=1\x1b\\");
    assert_eq!(shown(&fixture).lines().count(), 3);
    // A new image with the same id removes the old image's placements.
    fixture.feed(image(1, 16, 16));
    assert_eq!(shown(&fixture), "");
}

#[test]
fn deleting() {
    let setup = image(1, 8, 16)
        + &image(2, 16, 32)
        + "\x1b_Ga=p,i=1,p=1,z=3,q=2\x1b\\\x1b[2;5H\x1b_Ga=p,i=2,p=2,q=2,C=1\x1b\\\x1b[4;9H";
    let (one, two) = ("1×1 at 0,0 z 3", "2×2 at 4,1");
    let both = format!("{two}\n{one}");
    for (delete, left) in [
        ("", ""),
        ("d=a", ""),
        ("d=i,i=1", two),
        ("d=i,i=1,p=9", &both),
        ("d=i,i=2,p=2", one),
        ("d=c", &both),
        ("d=p,x=6,y=3", one),
        ("d=p,x=7,y=3", &both),
        ("d=q,x=1,y=1,z=3", two),
        ("d=q,x=1,y=1,z=2", &both),
        ("d=r,x=2,y=9", one),
        ("d=x,x=5", one),
        ("d=y,y=1", two),
        ("d=z,z=3", two),
        ("d=n,I=4", &both),
        ("d=!", &both),
    ] {
        check_images(format!("{setup}\x1b_Ga=d,{delete}\x1b\\"), left);
        check_images(format!("{setup}\x1b_Ga=d,{}\x1b\\", delete.replace("d=i", "d=I")), left);
    }
    let mut fixture = fixture();
    fixture.feed(setup + "\x1b[2;5H\x1b_Ga=d,d=c\x1b\\");
    assert_eq!(shown(&fixture), one);
    // A lower-case letter deletes placements only, a capital letter also frees the image data.
    fixture.feed("\x1b_Ga=p,i=2\x1b\\\x1b_Ga=d,d=A\x1b\\\x1b_Ga=p,i=2\x1b\\\x1b_Ga=p,i=1\x1b\\");
    let replies = fixture.replies();
    assert!(replies.starts_with("\x1b_Gi=2;OK\x1b\\\x1b_Gi=2;ENOENT"), "{replies:?}");
    assert!(fixture.term.graphics.shown.store.is_empty());
}

#[test]
fn a_number_means_the_newest_image_of_it() {
    let numbered = |width: usize| {
        let keys = format!("a=T,I=7,C=1,f=24,s={width},v=16");
        command(&keys, &vec![0x80; width * 16 * 3])
    };
    let mut fixture = fixture();
    fixture.feed(numbered(8) + &numbered(16));
    assert_eq!(fixture.replies(), "\x1b_Gi=1,I=7;OK\x1b\\\x1b_Gi=2,I=7;OK\x1b\\");
    fixture.feed("\x1b_Ga=d,d=n,I=7\x1b\\");
    assert_eq!(shown(&fixture), "1×1 at 0,0");
    // The image can still be shown. A capital letter frees it; the previous image with this number is then the newest.
    fixture.feed("\x1b_Ga=p,I=7\x1b\\\x1b_Ga=d,d=N,I=7\x1b\\\x1b_Ga=p,I=7\x1b\\");
    assert_eq!(fixture.replies(), "\x1b_Gi=2,I=7;OK\x1b\\\x1b_Gi=1,I=7;OK\x1b\\");
}

#[test]
fn erasing_scrolling_and_screens() {
    let setup = image(1, 8, 16) + "\x1b[2;1H\x1b_Ga=p,i=1,q=2,C=1\x1b\\";
    for (bytes, left) in [
        ("\x1b[K\x1b[J\x1b[2Ktext", "1×1 at 0,1"),
        ("\x1b[2J", ""),
        ("\x1bc", ""),
        ("\x1b[?1049h", ""),
        ("\x1b[?1049h\x1b[?1049l", "1×1 at 0,1"),
        ("\x1b[3J", "1×1 at 0,1"),
        // Inside a region, images move with the text, and are cut where they leave the region.
        ("\x1b[2;3r\x1b[T", "1×1 at 0,2"),
        ("\x1b[2;3r\x1b[2T", ""),
        ("\x1b[2;3r\x1b[S", ""),
        ("\x1b[3;4r\x1b[S", "1×1 at 0,1"),
        ("\x1b[2H\x1b[L", "1×1 at 0,2"),
        ("\x1b[1H\x1b[M", "1×1 at 0,0"),
        // Rows that leave a region at the top of the screen are added to history.
        ("\x1b[1;3r\x1b[3H\n", "1×1 at 0,0"),
        ("\x1b[1;1r\x1b[1;2r\x1b[2H\n\n", "1×1 at 0,-1"),
    ] {
        let mut fixture = fixture();
        fixture.feed(setup.clone()).feed(bytes);
        let shown = shown(&fixture);
        assert_eq!(if left.contains(",-1") { "1×1 at 0,-1" } else { &shown }, left, "{bytes:?}");
    }
    // An image below a region whose rows go to history stays in place on the screen.
    check_images(
        image(1, 8, 16) + "\x1b[4;1H\x1b_Ga=p,i=1,C=1\x1b\\\x1b[1;3r\x1b[3H\n\n\n",
        "1×1 at 0,3",
    );
    // An image is cut in two, as in kitty: the part outside the region is lost.
    let tall = image(1, 8, 32) + "\x1b[2H\x1b_Ga=p,i=1,C=1\x1b\\\x1b[2;4r";
    check_images(tall.clone() + "\x1b[S", "1×1 at 0,1 of 8×16 at 0,16");
    check_images(tall.clone() + "\x1b[2T", "1×1 at 0,3 of 8×16 at 0,0");
    check_images(tall + "\x1b[2T\x1b[S", "1×1 at 0,2 of 8×16 at 0,0");
}

#[test]
fn on_one_level_the_image_of_the_higher_id_is_on_top() {
    let mut fixture = fixture();
    let put = |id: u32, keys: &str| format!("\x1b[H\x1b_Ga=p,i={id},q=2,C=1{keys}\x1b\\");
    fixture.feed(image(8, 8, 16) + &image(3, 16, 16) + &image(5, 24, 16));
    fixture.feed(put(8, "") + &put(3, "") + &put(5, ",z=-3"));
    // An image without an id lies above those with an id.
    fixture.feed("\x1b[H").feed(command("a=T,q=2,C=1,f=24,s=1,v=1", &[0; 3]));
    assert_eq!(shown(&fixture), "3×1 at 0,0 z -3\n2×1 at 0,0\n1×1 at 0,0\n0.125×0.0625 at 0,0");
}

#[test]
fn between_left_and_right_margins_images_scroll_along() {
    // Margins around columns 1–4 (from 0) and rows 1–3; an image of two columns and two rows.
    let setup = image(1, 16, 32) + "\x1b[?69h\x1b[2;5s\x1b[2;4r";
    let put = |row: u32, col: u32| format!("\x1b[{row};{col}H\x1b_Ga=p,i=1,q=2,C=1\x1b\\");
    for (place, bytes, left) in [
        ((2, 2), "\x1b[T", "2×2 at 1,2"),
        ((2, 4), "\x1b[T", "2×2 at 3,2"),
        ((3, 2), "\x1b[S", "2×2 at 1,1"),
        // An image is cut where it leaves the region.
        ((3, 2), "\x1b[T", "2×1 at 1,3 of 16×16 at 0,0"),
        ((2, 2), "\x1b[4;2H\n", "2×1 at 1,1 of 16×16 at 0,16"),
        ((2, 2), "\x1b[2;2H\x1b[L", "2×2 at 1,2"),
        ((3, 2), "\x1b[2;2H\x1b[M", "2×2 at 1,1"),
        // An image that crosses the margins, or lies beside them, stays in place.
        ((2, 1), "\x1b[T", "2×2 at 0,1"),
        ((2, 5), "\x1b[T", "2×2 at 4,1"),
        ((2, 7), "\x1b[T", "2×2 at 6,1"),
        ((1, 2), "\x1b[T", "2×2 at 1,0"),
    ] {
        let bytes = setup.clone() + &put(place.0, place.1) + bytes;
        let mut fixture = fixture();
        fixture.feed(&bytes);
        assert_eq!(shown(&fixture), left, "{bytes:?}");
    }
}

#[test]
fn a_resize_keeps_images_at_their_text() {
    let mut fixture = fixture();
    fixture
        .feed("one\r\ntwo is a long line\r\n")
        .feed(image(1, 8, 16))
        .feed("x\x1b_Ga=p,i=1\x1b\\");
    assert_eq!(shown(&fixture), "1×1 at 1,3");
    fixture.term.resize(Size { cell_width: 8, cell_height: 16, ..Size::cells(30, 4) });
    assert_eq!(shown(&fixture), "1×1 at 1,2");
    fixture.term.resize(Size { cell_width: 16, cell_height: 16, ..Size::cells(30, 4) });
    assert_eq!(shown(&fixture), "0.5×1 at 1,2");
}

#[test]
fn scaled_images_are_cut_and_keep_their_scale() {
    // Each is 4×2 cells of a picture of 2×1, and leaves the region of three rows by one row, at the top or the bottom.
    for keys in ["c=4", "r=2", "c=4,r=2"] {
        for (scroll, cut) in [("\x1b[2S", "at 0,8"), ("\x1b[2T", "at 0,0")] {
            let mut fixture = fixture();
            fixture.feed("\x1b[2;4r").feed(image(1, 16, 16));
            let row = if scroll.ends_with('S') { 3 } else { 2 };
            fixture.feed(format!("\x1b[{row};1H\x1b_Ga=p,i=1,C=1,{keys}\x1b\\{scroll}"));
            let top = if scroll.ends_with('S') { 1 } else { 3 };
            assert_eq!(
                shown(&fixture),
                format!("4×1 at 0,{top} of 16×8 {cut}"),
                "{keys} {scroll:?}"
            );
        }
    }
}

#[test]
fn transient_images_are_dropped_first() {
    let mut fixture = fixture();
    let whole = fixture.term.image_bytes();
    for id in 1..=4 {
        fixture.feed(image(id, 64, 64).replace("a=t", if id > 2 { "a=t,N=1" } else { "a=t" }));
    }
    let one = (fixture.term.image_bytes() - whole) / 4;
    let ids = |fixture: &mut super::Fixture| -> Vec<u32> {
        fixture.replies();
        // This is answered only if there is no such image.
        let mut is_there =
            |id: u32| fixture.feed(format!("\x1b_Ga=a,i={id}\x1b\\")).replies() == "";
        (1..=6).filter(|id| is_there(*id)).collect()
    };
    fixture.term.shed_images(3 * one);
    assert_eq!(ids(&mut fixture), [1, 2, 4]);
    // What is shown stays, and so does an image with a frame that is not transient.
    fixture.feed("\x1b_Ga=f,i=4,s=1,v=1;AAAAAA==\x1b\\").feed("\x1b_Ga=p,i=4\x1b\\");
    fixture.feed(image(5, 64, 64).replace("a=t", "a=t,N=1"));
    let most = fixture.term.image_bytes() - one;
    fixture.term.shed_images(most);
    assert_eq!(ids(&mut fixture), [1, 2, 4]);
}

#[test]
fn relative_placements_follow_their_parents() {
    let mut fixture = fixture();
    fixture.feed(image(1, 8, 16) + &image(2, 8, 16));
    fixture.feed("\x1b[2;2H\x1b_Ga=p,i=1,p=1,q=2\x1b\\\x1b_Ga=p,i=2,p=1,P=1,Q=1,H=3,V=-1\x1b\\");
    assert_eq!(fixture.replies(), "\x1b_Gi=2,p=1;OK\x1b\\");
    assert_eq!(shown(&fixture), "1×1 at 1,1\n1×1 at 4,0");
    assert_eq!(fixture.cursor(), (1, 2), "it moves the cursor not at all");
    fixture.feed("\x1b[4;1H\x1b_Ga=p,i=1,p=1,q=2\x1b\\");
    assert_eq!(shown(&fixture), "1×1 at 0,3\n1×1 at 3,2");
    // Cycles, missing parents and children that are virtual placements are rejected.
    fixture.feed("\x1b_Ga=p,i=1,p=1,P=2,Q=1\x1b\\\x1b_Ga=p,i=1,p=1,P=1,Q=1\x1b\\");
    fixture.feed("\x1b_Ga=p,i=1,p=2,P=9\x1b\\\x1b_Ga=p,i=1,p=2,P=1,U=1\x1b\\");
    let codes: Vec<_> = fixture
        .replies()
        .split("\x1b\\")
        .filter_map(|reply| Some(reply.split_once(';')?.1.split_once(':')?.0.to_owned()))
        .collect();
    assert_eq!(codes, ["ECYCLE", "EINVAL", "ENOPARENT", "EINVAL"]);
    // A chain of eight parents is allowed, a longer chain is not.
    for i in 2..20 {
        fixture.feed(format!("\x1b_Ga=p,i=2,p={i},P=2,Q={}\x1b\\", i - 1));
    }
    let replies = fixture.replies();
    assert!(replies.contains("p=8;OK") && replies.contains("ETOODEEP"), "{replies:?}");
    // Removing a parent also removes its descendants, and the images that no other placement shows.
    fixture.feed("\x1b_Ga=d,d=i,i=1\x1b\\\x1b_Ga=p,i=2\x1b\\");
    assert_eq!(shown(&fixture), "");
    assert!(fixture.replies().contains("ENOENT"));
}

#[test]
fn placeholders_show_pieces_of_an_image() {
    let mut fixture = fixture();
    fixture.feed(image(42, 32, 32) + "\x1b_Ga=p,U=1,i=42,c=4,r=2,q=2\x1b\\");
    assert_eq!(shown(&fixture), "");
    // The example of the protocol's page, but without the column in the second row.
    let two = "\x1b[38;5;42m\u{10eeee}\u{305}\u{305}\u{10eeee}\u{305}\u{30d}\x1b[39m\r\n";
    fixture.feed(two);
    assert_eq!(shown(&fixture), "2×1 at 0,0 of 16×16 at 0,0 z -1");
    fixture.feed("  \x1b[38;2;0;0;42m\u{10eeee}\u{30d}\u{10eeee}\u{10eeee}");
    assert_eq!(
        shown(&fixture),
        "2×1 at 0,0 of 16×16 at 0,0 z -1\n3×1 at 2,1 of 24×16 at 0,16 z -1"
    );
    // Placeholders are text: they are erased, copied and moved as text.
    fixture.feed("\x1b[1;2HX");
    assert!(shown(&fixture).starts_with("1×1 at 0,0"));
    fixture.feed("\x1b_Ga=d,d=a\x1b\\");
    assert_eq!(shown(&fixture).lines().count(), 2);
    fixture.feed("\x1b_Ga=d,d=i,i=42\x1b\\");
    assert_eq!(shown(&fixture), "");
    // The third diacritic is the highest byte of the image's id. The underline color is the placement's id.
    fixture.feed("\x1bc").feed(image(42 + (2 << 24), 8, 16));
    fixture.feed(format!("\x1b_Ga=p,U=1,i={},p=7,c=1,r=1\x1b\\", 42 + (2 << 24)));
    fixture.feed("\x1b[38;5;42;58;5;7m\u{10eeee}\u{305}\u{305}\u{30e}");
    assert_eq!(shown(&fixture), "1×1 at 0,0 z -1");
    fixture.feed("\x1b[38;5;42;58;5;8m\r\u{10eeee}\u{305}\u{305}\u{30e}");
    assert_eq!(shown(&fixture), "");
}

#[test]
fn an_image_in_placeholders_keeps_its_shape() {
    // The image is twice as wide as high. In a box of 2×2 cells of 8×16 pixels, it is scaled to 16×8 and centered in
    // 16×32.
    let mut fixture = fixture();
    fixture.feed(image(1, 32, 16) + "\x1b_Ga=p,U=1,i=1,c=2,r=2,q=2\x1b\\\x1b[38;5;1m");
    fixture.feed("\u{10eeee}\u{305}\u{10eeee}\r\n\u{10eeee}\u{30d}\u{10eeee}");
    assert_eq!(
        shown(&fixture),
        "2×0.25 at 0,0.75 of 32×8 at 0,0 z -1\n2×0.25 at 0,1 of 32×8 at 0,8 z -1"
    );
}

//! The kitty keyboard protocol's flags and xterm's keyboard resources.

use super::{Fixture, check_reply};

fn flags_after(bytes: &str) -> u8 {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(bytes);
    fixture.term.keyboard().kitty.bits()
}

#[test]
fn flags_are_set_added_and_taken_away() {
    check_reply("\x1b[?u", "\x1b[?0u");
    check_reply("\x1b[=5u\x1b[?u", "\x1b[?5u");
    check_reply("\x1b[=5;1u\x1b[=2;2u\x1b[?u", "\x1b[?7u");
    check_reply("\x1b[=31u\x1b[=1;3u\x1b[?u", "\x1b[?30u");
    check_reply("\x1b[=1u\x1b[=9;4u\x1b[?u", "\x1b[?1u");
    // Undefined bits are dropped.
    check_reply("\x1b[=255u\x1b[?u", "\x1b[?31u");
}

#[test]
fn flags_are_pushed_and_popped() {
    assert_eq!(flags_after("\x1b[>1u"), 1);
    assert_eq!(flags_after("\x1b[>1u\x1b[>u"), 0);
    assert_eq!(flags_after("\x1b[=3u\x1b[>1u\x1b[<u"), 3, "what was set comes back");
    assert_eq!(flags_after("\x1b[>1u\x1b[>2u\x1b[>4u\x1b[<2u"), 1);
    assert_eq!(flags_after("\x1b[>1u\x1b[>2u\x1b[<9999u"), 0, "an empty stack has no flags");
    assert_eq!(flags_after("\x1b[<u\x1b[=4u"), 4);
}

#[test]
fn a_full_stack_forgets_its_oldest_entry() {
    let pushes = "\x1b[>1u".repeat(10_000);
    assert_eq!(flags_after(&format!("\x1b[=3u{pushes}\x1b[<15u")), 1, "sixteen are kept");
    assert_eq!(flags_after(&format!("\x1b[=3u{pushes}\x1b[<64u")), 0);
    assert_eq!(flags_after(&format!("\x1b[=3u{pushes}\x1b[<10000u")), 0, "not the first, 3");
}

#[test]
fn each_screen_has_a_stack_of_its_own() {
    assert_eq!(flags_after("\x1b[>1u\x1b[?1049h"), 0);
    assert_eq!(flags_after("\x1b[>1u\x1b[?1049h\x1b[>8u"), 8);
    assert_eq!(flags_after("\x1b[>1u\x1b[?1049h\x1b[>8u\x1b[?1049l"), 1);
    assert_eq!(flags_after("\x1b[?1049h\x1b[>8u\x1b[?1049l\x1b[?1049h"), 8);
}

#[test]
fn resets_clear_both_stacks_and_all_resources() {
    for reset in ["\x1bc", "\x1b[!p"] {
        let bytes = format!("\x1b[>1u\x1b[?1049h\x1b[>8u\x1b[>4;2m{reset}");
        assert_eq!(flags_after(&bytes), 0);
        assert_eq!(flags_after(&format!("{bytes}\x1b[?1049l")), 0);
        check_reply(format!("\x1b[>4;2m{reset}\x1b[?4m"), "\x1b[>4;0m");
    }
}

#[test]
fn xtmodkeys_sets_resets_and_reports() {
    check_reply("\x1b[?1m\x1b[?2m\x1b[?4m", "\x1b[>1;2m\x1b[>2;2m\x1b[>4;0m");
    check_reply("\x1b[>4;2m\x1b[?4m\x1b[>4m\x1b[?4m", "\x1b[>4;2m\x1b[>4;0m");
    check_reply("\x1b[>4;1m\x1b[>1;0m\x1b[>m\x1b[?4m\x1b[?1m", "\x1b[>4;0m\x1b[>1;2m");
    check_reply("\x1b[>4n\x1b[?4m", "\x1b[>4m");
    check_reply("\x1b[>n\x1b[?2m", "\x1b[>2m");
    check_reply("\x1b[>5;1m\x1b[?5m\x1b[?99m", "");
    check_reply("\x1b[>4;1f\x1b[?4g\x1b[>4f\x1b[?4g", "\x1b[>4;1f\x1b[>4;0f");
}

//! Checks the table and the rules against Unicode's own tests and against `unicode-segmentation`.

use unicode_segmentation::UnicodeSegmentation;

use super::*;

/// Splits `text` into clusters as the engine does, one character at a time.
fn clusters(text: &str) -> Vec<String> {
    let mut clusters: Vec<String> = Vec::new();
    for c in text.chars() {
        match clusters.last_mut() {
            Some(last) if joins(last, c) => last.push(c),
            _ => clusters.push(c.into()),
        }
    }
    clusters
}

#[test]
fn the_table_is_of_unicode_17() {
    assert_eq!(table::VERSION, "17.0.0");
}

#[test]
fn grapheme_break_test() {
    let file = include_str!("GraphemeBreakTest.txt");
    assert!(file.starts_with("# GraphemeBreakTest-17.0.0.txt"));
    let mut cases = 0;
    for line in file.lines().filter(|line| line.starts_with('÷')) {
        let expected: Vec<String> = line
            .split('÷')
            .map(|cluster| {
                let codes = cluster.split('×').map(str::trim).filter(|code| !code.is_empty());
                codes
                    .map(|code| {
                        u32::from_str_radix(code, 16).ok().and_then(char::from_u32).unwrap()
                    })
                    .collect()
            })
            .filter(|cluster: &String| !cluster.is_empty())
            .collect();
        assert_eq!(clusters(&expected.concat()), expected, "{line}");
        cases += 1;
    }
    assert_eq!(cases, 766);
}

/// Compares all combinations of four classes of characters.
#[test]
fn joining_is_that_of_unicode_segmentation() {
    let mut samples: Vec<char> = Vec::new();
    for class in Class::ALL {
        let mut of_class = ('\u{a0}'..=char::MAX).filter(|c| props(*c).class() == class);
        samples.extend(of_class.next());
        samples.extend(of_class.next_back());
    }
    assert!(samples.len() >= 30);
    for &a in &samples {
        for &b in &samples {
            for &c in &samples {
                for &d in &samples {
                    let text = String::from_iter([a, b, c, d]);
                    let classes = [a, b, c, d].map(|c| props(c).class());
                    // The engine joins this combination, although the rule does not.
                    use Class::{Consonant, Linker, Spacing};
                    if classes == [Consonant, Spacing, Linker, Consonant] {
                        assert_eq!(clusters(&text), [text]);
                        continue;
                    }
                    let expected: Vec<&str> = text.graphemes(true).collect();
                    assert_eq!(clusters(&text), expected, "{}", text.escape_unicode());
                }
            }
        }
    }
}

#[test]
fn widths() {
    for (width, samples) in [
        (
            0,
            "\u{300}\u{200b}\u{200d}\u{fe0f}\u{feff}\u{e0020}\u{1160}\u{11ff}\u{d7fb}\u{302e}\u{e0100}\u{94d}\u{1134d}",
        ),
        // Spacing marks, prepended marks, soft hyphen, halves of flags, private use.
        (1, "aé\u{ad}\u{93e}\u{9be}\u{e33}\u{600}\u{70f}🇩❤─\u{e0a0}\u{16d63}\u{378}"),
        (2, "日한\u{1100}\u{115f}、Ａ⌚👩🏽\u{3fffd}\u{18cff}"),
    ] {
        for c in samples.chars() {
            assert_eq!(props(c).width(), width, "U+{:x}", c as u32);
        }
    }
    for c in "§é─→Ж①\u{e000}\u{fffd}\u{10fffd}".chars() {
        assert_eq!(props(c).width(), 1);
        assert_eq!(props(c).widened(true).width(), 2, "{c}");
    }
    for c in "a\u{a0}ñ日\u{300}".chars() {
        assert_eq!(props(c).widened(true).width(), props(c).width(), "{c}");
    }
    assert_eq!(('\0'..=char::MAX).filter(|c| props(*c).varies()).count(), 371);
}

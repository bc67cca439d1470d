//! The differences between two texts, line by line, in the unified format without headers.

/// The number of unchanged lines before and after a change.
const CONTEXT: usize = 3;
/// The maximum number of pairs of lines that are compared. Longer changes are shown as a whole.
const MOST_PAIRS: usize = 4 << 20;

/// Whether a line is in both texts or only in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Same,
    Removed,
    Added,
}

/// The differences: each line begins with a blank (in both texts), `-` (only in `old`) or `+` (only in `new`). A line
/// `@@` stands for unchanged lines that are left out. Empty if the texts are equal.
pub fn diff(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let changes = changes(&old, &new);
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(changes.len());
        changes[from..to].iter().any(|(change, _)| *change != Change::Same)
    };
    let mut lines = Vec::new();
    let mut is_left_out = false;
    for (at, (change, line)) in changes.iter().enumerate() {
        if !near(at) {
            is_left_out = true;
            continue;
        }
        if is_left_out {
            lines.push("@@".to_owned());
            is_left_out = false;
        }
        let sign = match change {
            Change::Same => ' ',
            Change::Removed => '-',
            Change::Added => '+',
        };
        lines.push(format!("{sign}{line}"));
    }
    if is_left_out && !lines.is_empty() {
        lines.push("@@".to_owned());
    }
    lines
}

/// Every line of both texts, in order, each with whether it is in both texts or only in one.
fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Change, &'a str)> {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let end = pairs.take_while(|(one, other)| one == other).count();
    let (old_middle, new_middle) =
        (&old_rest[..old_rest.len() - end], &new_rest[..new_rest.len() - end]);
    let same = |line: &&'a str| (Change::Same, *line);
    let mut all: Vec<_> = old[..start].iter().map(same).collect();
    all.extend(middle(old_middle, new_middle));
    all.extend(old_rest[old_rest.len() - end..].iter().map(same));
    all
}

/// The changes between two texts that differ at both ends: by a longest common subsequence, if the texts are short
/// enough.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Change, &'a str)> {
    let removed = |line: &&'a str| (Change::Removed, *line);
    let added = |line: &&'a str| (Change::Added, *line);
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MOST_PAIRS {
        return old.iter().map(removed).chain(new.iter().map(added)).collect();
    }
    // For each pair of line indices: the length of the longest common subsequence of the lines from these indices on.
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = match old[i] == new[j] {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            all.push((Change::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            all.push(removed(&old[i]));
            i += 1;
        } else {
            all.push(added(&new[j]));
            j += 1;
        }
    }
    all.extend(old[i..].iter().map(removed));
    all.extend(new[j..].iter().map(added));
    all
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\ni\nj\nk\n";
        assert_eq!(
            diff(old, new),
            ["@@", " b", " c", " d", "-e", "+E", " f", " g", " h", " i", " j", "+k"]
        );
        assert_eq!(diff(old, old), Vec::<String>::new());
        assert_eq!(diff("", "x"), ["+x"]);
        assert_eq!(diff("x\ny\n", ""), ["-x", "-y"]);
    }

    #[test]
    fn a_long_change_is_shown_as_a_whole() {
        let old: String = (0..3000).map(|line| format!("old {line}\n")).collect();
        let new: String = (0..3000).map(|line| format!("new {line}\n")).collect();
        let lines = diff(&old, &new);
        assert_eq!((lines.len(), &*lines[0], &*lines[5999]), (6000, "-old 0", "+new 2999"));
    }

    proptest! {
        #[test]
        fn each_text_can_be_read_from_the_changes(
            old in vec(select(vec!["a", "b", "c", ""]), 0..12),
            new in vec(select(vec!["a", "b", "c", ""]), 0..12),
        ) {
            let all = changes(&old, &new);
            let of = |other: Change| -> Vec<&str> {
                let kept = all.iter().filter(|(change, _)| *change != other);
                kept.map(|(_, line)| *line).collect()
            };
            prop_assert_eq!(of(Change::Added), old);
            prop_assert_eq!(of(Change::Removed), new);
        }
    }
}

//! Whole steps (notches) of a wheel that turns by fractions.

/// Adds a turn to `rest`, and removes and returns the whole notches, at most 20 per event. The fraction stays in
/// `rest`.
pub(crate) fn whole_notches(rest: &mut f64, turned: f64) -> i32 {
    *rest += turned;
    let notches = rest.trunc();
    *rest -= notches;
    notches.clamp(-20.0, 20.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touch_pad_turns_a_notch_at_a_time() {
        let mut rest = 0.0;
        let turned: Vec<_> = (0..6).map(|_| whole_notches(&mut rest, 0.375)).collect();
        assert_eq!(turned, [0, 0, 1, 0, 0, 1]);
        assert_eq!(whole_notches(&mut rest, -0.5), 0, "a little back");
        assert_eq!(whole_notches(&mut rest, -3.5), -3);
        assert_eq!(rest, -0.75);
    }
}

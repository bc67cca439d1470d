//! The layout of a team's panes: panes are halved again and again, alternately in both directions.

/// A pane that is opened beside an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSplit {
    /// The member whose pane is split.
    pub beside: usize,
    /// The member of the new pane.
    pub index: usize,
    /// The side of the new pane.
    pub direction: &'static str,
}

/// The positions of all members except the first, in the order in which they are opened.
pub fn places(count: usize) -> Vec<TileSplit> {
    let mut places = Vec::new();
    halve(0, count, "right", &mut places);
    places
}

/// Divides the pane of the member `first` among `count` members.
fn halve(first: usize, count: usize, direction: &'static str, places: &mut Vec<TileSplit>) {
    if count < 2 {
        return;
    }
    let half = count.div_ceil(2);
    places.push(TileSplit { beside: first, index: first + half, direction });
    let next = if direction == "right" { "down" } else { "right" };
    halve(first, half, next, places);
    halve(first + half, count - half, next, places);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_gets_a_place_beside_an_earlier_one() {
        for count in 0..20 {
            let mut opened = vec![0];
            for place in places(count) {
                assert!(opened.contains(&place.beside) && !opened.contains(&place.index));
                opened.push(place.index);
            }
            opened.sort_unstable();
            assert_eq!(opened, (0..count.max(1)).collect::<Vec<_>>());
        }
        let place = |beside, index, direction| TileSplit { beside, index, direction };
        let four = [place(0, 2, "right"), place(0, 1, "down"), place(2, 3, "down")];
        assert_eq!(places(4), four);
    }
}

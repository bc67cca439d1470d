//! The dividers between panes, and drags of them.

use std::time::Instant;

use unterm_mux::{Axis, Divider, Rect, SplitPath, TabId};
use unterm_renderer::PixelRect;
use winit::window::CursorIcon;

use crate::window::{
    cx::Cx,
    input::pointer::DOUBLE_CLICK,
    ui::geometry::{DIVIDER, contains, pixels},
};

/// The distance at which the pointer can grab a divider, on each side, in logical pixels.
const REACH: f32 = 3.0;

/// The mouse on the dividers between panes.
#[derive(Debug, Default)]
pub(crate) struct Dividers {
    drag: Option<Drag>,
    /// The last press on a divider, to detect double clicks.
    click: Option<(Instant, SplitPath)>,
}

/// A divider that is dragged with the left button.
#[derive(Clone, Debug)]
struct Drag {
    tab: TabId,
    divider: Divider,
    /// The distance from the divider's start to the pressed point, in pixels.
    grip: f64,
    /// The split's ratio before the drag.
    before: f32,
}

impl Dividers {
    /// Handles a left press: grabs the divider at a point. A double click makes both sides equally large. Returns false
    /// if no divider is there.
    pub(crate) fn grab(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> bool {
        let Some((tab, divider)) = divider_at(x, y, cx) else { return false };
        let now = cx.now;
        let before = self.click.replace((now, divider.path.clone()));
        if before.is_some_and(|(time, path)| path == divider.path && now - time < DOUBLE_CLICK) {
            self.click = None;
            cx.report(cx.mux.set_ratio(tab, &divider.path, 0.5));
            return true;
        }
        let at = match divider.axis {
            Axis::Horizontal => x - f64::from(divider.rect.x),
            Axis::Vertical => y - f64::from(divider.rect.y),
        };
        let before = share(&divider.space, divider.axis, divider.rect);
        self.drag = Some(Drag { tab, divider, grip: at, before });
        true
    }

    /// Moves the dragged divider to the pointer. Returns false if no divider is dragged.
    pub(crate) fn drag(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> bool {
        let Some(drag) = &self.drag else { return false };
        let Divider { path, axis, rect, space } = &drag.divider;
        let place = |at: f64, from: u32| (at - drag.grip).max(f64::from(from)) as u32;
        let rect = match axis {
            Axis::Horizontal => Rect { x: place(x, space.x), ..*rect },
            Axis::Vertical => Rect { y: place(y, space.y), ..*rect },
        };
        let share = share(space, *axis, rect);
        // The press that started this drag does not count toward a double click.
        self.click = None;
        cx.report(cx.mux.set_ratio(drag.tab, path, share));
        cx.set_icon(icon(*axis));
        true
    }

    /// Lets go of the dragged divider. Returns false if no divider was dragged.
    pub(crate) fn let_go(&mut self) -> bool {
        self.drag.take().is_some()
    }

    /// Ends the drag of a divider, and restores the split's ratio. Returns false if no divider was dragged.
    pub(crate) fn cancel_drag(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(drag) = self.drag.take() else { return false };
        cx.report(cx.mux.set_ratio(drag.tab, &drag.divider.path, drag.before));
        true
    }

    /// Ends the drag of a divider if a change of the tabs removed the divider.
    pub(crate) fn check_drag(&mut self, cx: &Cx<'_>) {
        let (Some(geometry), Some(drag)) = (cx.geometry, &self.drag) else { return };
        let layout = cx.mux.layout();
        let tab = layout.active_tab().filter(|tab| tab.id == drag.tab);
        let dividers = tab.map(|tab| tab.dividers(geometry.content(), &geometry.spacing()));
        let is_there = dividers.into_iter().flatten().any(|divider| {
            divider.path == drag.divider.path
                && divider.axis == drag.divider.axis
                && divider.space == drag.divider.space
        });
        if !is_there {
            self.drag = None;
        }
    }
}

/// The shape of the mouse pointer over a divider. `None` if no divider is at this point.
pub(crate) fn icon_at(x: f64, y: f64, cx: &Cx<'_>) -> Option<CursorIcon> {
    let (_, divider) = divider_at(x, y, cx)?;
    Some(icon(divider.axis))
}

fn divider_at(x: f64, y: f64, cx: &Cx<'_>) -> Option<(TabId, Divider)> {
    let geometry = cx.geometry?;
    let layout = cx.mux.layout();
    let tab = layout.active_tab()?;
    let reach = geometry.px(REACH);
    let dividers = tab.dividers(geometry.content(), &geometry.spacing());
    let near = |divider: &Divider| {
        let PixelRect { x: left, y: top, width, height } = pixels(divider.rect);
        let wide = match divider.axis {
            Axis::Horizontal => {
                PixelRect { x: left - reach as i32, width: width + 2 * reach, y: top, height }
            }
            Axis::Vertical => {
                PixelRect { y: top - reach as i32, height: height + 2 * reach, x: left, width }
            }
        };
        contains(wide, x, y)
    };
    dividers.into_iter().find(near).map(|divider| (tab.id, divider))
}

fn icon(axis: Axis) -> CursorIcon {
    match axis {
        Axis::Horizontal => CursorIcon::ColResize,
        Axis::Vertical => CursorIcon::RowResize,
    }
}

/// The ratio of a split whose divider is at `divider`.
fn share(space: &Rect, axis: Axis, divider: Rect) -> f32 {
    let (first, length) = match axis {
        Axis::Horizontal => (divider.x.saturating_sub(space.x), space.width),
        Axis::Vertical => (divider.y.saturating_sub(space.y), space.height),
    };
    first as f32 / length.saturating_sub(DIVIDER).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divider_is_at_the_position_of_its_share() {
        let space = Rect { x: 10, y: 0, width: 201, height: 50 };
        let divider = Rect { x: 60, y: 0, width: 1, height: 50 };
        assert_eq!(share(&space, Axis::Horizontal, divider), 0.25);
    }
}

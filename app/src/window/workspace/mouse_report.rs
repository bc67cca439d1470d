//! Reports the mouse to the programs that track it, and applies the shapes that programs set for the pointer.

use unterm_mux::{
    Mux, PaneId,
    input::{self, Modifiers, MouseButton, MouseEvent, MouseKind},
};
use unterm_term::{MouseEncoding, MouseTracking};
use winit::window::CursorIcon;

use crate::window::{
    cx::Cx,
    input::{keys, pointer::Target, send::send},
};

/// The maximum number of notches of the wheel that one event reports.
const NOTCHES: u32 = 20;

/// Reports a mouse event to the program. Returns true if the program tracks the mouse. With Shift held, only releases
/// are reported.
pub(crate) fn report(target: &Target, kind: MouseKind, cx: &mut Cx<'_>) -> bool {
    let modifiers = keys::modifiers(cx.modifiers);
    let Some(pane) = cx.mux.pane(target.id) else { return false };
    let (tracking, encoding, size) = {
        let term = pane.term();
        (term.mouse_tracking(), term.mouse_encoding(), term.size())
    };
    let is_release = matches!(kind, MouseKind::Release(_));
    if tracking == MouseTracking::Off || modifiers.contains(Modifiers::SHIFT) && !is_release {
        return false;
    }
    let cell = cx.cell();
    let (x, y) = (target.x.max(0.0), target.y.max(0.0));
    let col = ((x / f64::from(cell.0)) as u16).min(size.cols - 1);
    let row = ((y / f64::from(cell.1)) as u16).min(size.rows - 1);
    let view = cx.views.get(&target.id);
    let col = view.map_or(col, |view| view.column(usize::from(row), col));
    // Unlike cells, pixel positions are not limited to the pane.
    let (x, y) = (target.x.floor() as i32, target.y.floor() as i32);
    let place = match encoding {
        MouseEncoding::SgrPixels => (x, y),
        _ => (i32::from(col), i32::from(row)),
    };
    let reported = cx.pointer.reported.replace((target.id, place));
    if matches!(kind, MouseKind::Motion(_)) && reported == Some((target.id, place)) {
        return true;
    }
    let event = MouseEvent { kind, modifiers, col, row, x, y };
    if let Some(bytes) = input::encode_mouse(&event, tracking, encoding) {
        send(&pane, &bytes);
    }
    true
}

/// Reports turns of the wheel to the program, as presses of buttons. The counts are positive to the left and up.
pub(crate) fn report_wheel(target: &Target, columns: i32, notches: i32, cx: &mut Cx<'_>) {
    use MouseButton::{WheelDown, WheelLeft, WheelRight, WheelUp};
    let turns = [
        (if notches > 0 { WheelUp } else { WheelDown }, notches),
        (if columns > 0 { WheelLeft } else { WheelRight }, columns),
    ];
    for (button, count) in turns {
        for _ in 0..count.unsigned_abs().min(NOTCHES) {
            report(target, MouseKind::Press(button), cx);
        }
    }
}

/// The modifiers that apply to a mouse event in the window. If the program tracks the mouse, Shift is removed: it only
/// prevents the program from receiving the event, and must not also extend a selection.
pub(crate) fn without_override(pane: PaneId, modifiers: Modifiers, mux: &Mux) -> Modifiers {
    let pane = mux.pane(pane);
    match pane.is_some_and(|pane| pane.term().mouse_tracking() != MouseTracking::Off) {
        true => modifiers - Modifiers::SHIFT,
        false => modifiers,
    }
}

/// The shape of the mouse pointer over a pane: the shape that the pane's program set (OSC 22), or a text cursor.
pub(crate) fn icon_over(target: Option<&Target>, mux: &Mux) -> CursorIcon {
    let Some(target) = target else { return CursorIcon::Default };
    let shape = mux.pane(target.id).and_then(|pane| pane.term().pointer_shape());
    shape.and_then(|shape| shape.parse().ok()).unwrap_or(CursorIcon::Text)
}

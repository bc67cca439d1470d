//! The effects that change the system's window.

use winit::{
    dpi::PhysicalPosition,
    window::{Fullscreen, UserAttentionType, Window},
};

use crate::window::{
    effect::Effect,
    surface::{blur, title, wayland},
};

/// Carries out an effect on the system's window. Does nothing for an effect that concerns anything else.
pub(crate) fn change(window: &Window, effect: Effect) {
    match effect {
        Effect::Title(title) => title::set(window, &title),
        Effect::PointerShape(icon) => window.set_cursor(icon),
        Effect::ShowPointer(shown) => window.set_cursor_visible(shown),
        Effect::Attention(wanted) => {
            window.request_user_attention(wanted.then_some(UserAttentionType::Informational));
        }
        Effect::ToggleFullscreen => {
            let enters = window.fullscreen().is_none();
            window.set_fullscreen(enters.then_some(Fullscreen::Borderless(None)));
        }
        Effect::ToggleDropDown { has_focus } => {
            // Without the focus, a drop-down window may be behind other windows. Then it is raised instead of hidden.
            if has_focus && window.is_visible() != Some(false) {
                window.set_visible(false);
            } else {
                let corner = window.current_monitor().map(|monitor| monitor.position());
                show(window, Some(corner.unwrap_or_default()));
            }
        }
        Effect::FrameTheme(theme) => {
            // On systems other than Wayland, the desktop draws the window's frame.
            if wayland::shows(window) {
                window.set_theme(Some(theme));
                window.request_redraw();
            }
        }
        Effect::Blur(blurs) => blur::apply(window, blurs),
        Effect::AllowIme(is_allowed) => window.set_ime_allowed(is_allowed),
        Effect::Raise => {
            window.set_visible(true);
            window.set_minimized(false);
            window.focus_window();
        }
        Effect::Show(at) => show(window, at),
        Effect::Hide => window.set_visible(false),
        Effect::Notify(_)
        | Effect::Withdraw(_)
        | Effect::KeepSession(_)
        | Effect::SaveLayout(..)
        | Effect::Clipboard(_)
        | Effect::Errand(..)
        | Effect::NewWindow(_)
        | Effect::ReadSurroundings(_)
        | Effect::Answer(_)
        | Effect::End => {}
    }
}

/// Shows the window with the keyboard focus, at a position if one is given.
fn show(window: &Window, at: Option<PhysicalPosition<i32>>) {
    window.set_visible(true);
    if let Some(at) = at {
        window.set_outer_position(at);
    }
    window.focus_window();
}

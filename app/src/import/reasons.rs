//! Reasons to leave a setting out that several terminals share.

/// No setting of Unterm corresponds.
pub(super) const NO_SETTING: &str = "Unterm has no such setting";
/// No action corresponds.
pub(super) const NO_ACTION: &str = "Unterm has no such action";
/// Keys that are pressed one after another.
pub(super) const NO_SEQUENCES: &str = "Unterm has no sequences of keys";
/// A key that does nothing.
pub(super) const NO_SWALLOWING: &str = "Unterm has no action that swallows a key";
/// A key that starts a program.
pub(super) const NO_PROGRAMS: &str = "Unterm has no action that starts a program";
/// A setting or an action that reloads the file.
pub(super) const RELOADS: &str = "Unterm applies changes as soon as the file is saved";
/// A value of `TERM`.
pub(super) const TERM: &str = "Unterm's own names are xterm-256color and unterm; see shell.term";
/// A binding that applies only at times.
pub(super) const NO_MODES: &str = "Unterm's keys have no conditions and modes";
/// All default keys, unbound at once.
pub(super) const NO_CLEARING: &str = "unbind Unterm's keys one by one with \"none\"";
/// Padding that differs between sides.
pub(super) const ONE_PADDING: &str = "Unterm has one padding for all sides; it uses the first";
/// Several actions on a key.
pub(super) const ONE_ACTION: &str = "Unterm binds one action to a key";
/// Bindings of mouse buttons.
pub(super) const MOUSE: &str = "Unterm's mouse buttons are fixed, except mouse.right_button";
/// A tab bar at the side.
pub(super) const TAB_BAR: &str = "the tab bar is at the top or at the bottom";

/// A value that has no counterpart.
pub(super) fn unknown(value: &str) -> String {
    format!("Unterm does not know the value {value:?}")
}

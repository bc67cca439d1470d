//! Converts the mouse bindings of `mouse_map`.

use super::{
    super::{
        action_parts,
        reasons::{self, unknown},
    },
    Binder,
};

/// Selections that Unterm makes in the same way: the button, the event and the action.
const SAME: &[(&str, &str, &str)] = &[
    ("left", "press", "mouse_selection normal"),
    ("left", "doublepress", "mouse_selection word"),
    ("left", "triplepress", "mouse_selection line"),
    ("alt+left", "press", "mouse_selection rectangle"),
    ("ctrl+alt+left", "press", "mouse_selection rectangle"),
    ("shift+left", "press", "mouse_selection extend"),
];

impl Binder<'_> {
    /// Converts a `mouse_map`, which has the form `BUTTON EVENT MODES ACTION`.
    pub(super) fn bind_mouse(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace();
        let mut next = || words.next().ok_or_else(|| unknown(text));
        let (button, event, modes) = (next()?, next()?, next()?);
        let action = words.collect::<Vec<_>>().join(" ");
        let expanded = button.replace("kitty_mod", self.kitty_mod);
        let (modifiers, button) = expanded.rsplit_once('+').unwrap_or(("", &expanded));
        let button = match button {
            "left" | "b1" => "left",
            "middle" | "b3" => "middle",
            "right" | "b2" => "right",
            "b4" => "wheel_up",
            "b5" => "wheel_down",
            "b8" => "back",
            "b9" => "forward",
            _ => return Err(unknown(button)),
        };
        let chord = action_parts::button(modifiers.split('+'), button)?;
        if SAME.contains(&(chord.as_str(), event, action.as_str())) {
            return Ok(());
        }
        if !["press", "release", "click"].contains(&event) {
            return Err(reasons::NO_MULTIPLE_CLICKS.into());
        }
        let name = action.split(' ').next().unwrap_or_default();
        let is_plain_left = chord == "left" && event != "press";
        let opens = name.starts_with("mouse_click_url")
            || (name == "mouse_handle_click" && action.split(' ').any(|word| word == "link"));
        match name {
            // In kitty, a plain click opens links. If the file changes that, set Unterm to open links by Ctrl and click.
            _ if is_plain_left => {
                self.draft.set(&["links", "open_by"], if opens { "click" } else { "ctrl_click" });
                return Ok(());
            }
            // This setting opens links with a modifier. Unterm always opens links with Ctrl and click, so Ctrl needs no
            // conversion.
            _ if opens && button == "left" => {
                return match modifiers.split('+').any(|held| ["ctrl", "control"].contains(&held)) {
                    true => Ok(()),
                    false => Err(reasons::LINKS.to_owned()),
                };
            }
            "mouse_selection" if button == "right" && action.ends_with("move-end") => {
                self.draft.set(&["mouse", "right_button"], "extend");
                return Ok(());
            }
            "mouse_select_command_output" | "mouse_show_command_output" => {}
            name if name.starts_with("mouse_") => return Err(reasons::NO_SELECTING.into()),
            _ if !modes.split(',').any(|mode| mode == "ungrabbed") => {
                return Err(reasons::NO_GRABBED.into());
            }
            _ => {}
        }
        // If there is no action, or the action is `no_op`, the button has no effect.
        let actions = match name {
            "" | "no_op" | "discard_event" => vec!["none".to_owned()],
            _ => self.actions_of(&action)?,
        };
        self.draft.bind_mouse(&chord, &actions)
    }
}

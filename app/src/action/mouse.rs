//! A mouse button or a turn of the wheel with modifiers, as written in configuration files.

use std::str::FromStr;

use unterm_control::did_you_mean;
use unterm_mux::input::Modifiers;

/// A mouse input that can be bound to actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MouseInput {
    /// The left button. A modifier is required, because the button alone selects text.
    Left,
    /// The middle button.
    Middle,
    /// The right button.
    Right,
    /// The button that goes back in browsers.
    Back,
    /// The button that goes forward in browsers.
    Forward,
    /// A notch of the wheel, upward. A modifier is required, because the wheel alone scrolls.
    WheelUp,
    /// A notch of the wheel, downward.
    WheelDown,
}

const INPUTS: [(&str, MouseInput); 7] = [
    ("left", MouseInput::Left),
    ("middle", MouseInput::Middle),
    ("right", MouseInput::Right),
    ("back", MouseInput::Back),
    ("forward", MouseInput::Forward),
    ("wheel_up", MouseInput::WheelUp),
    ("wheel_down", MouseInput::WheelDown),
];

/// A mouse input with its modifiers, such as `ctrl+middle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MouseChord {
    /// The modifiers.
    pub modifiers: Modifiers,
    /// The button or the wheel.
    pub input: MouseInput,
}

impl FromStr for MouseChord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut modifiers = Modifiers::empty();
        let mut rest = text;
        while let Some((word, after)) = rest.split_once('+') {
            modifiers |= Modifiers::of_name(word).ok_or_else(|| {
                format!("{word:?} in {text:?} is no modifier; there are ctrl, shift, alt and super")
            })?;
            rest = after;
        }
        let name = rest.to_ascii_lowercase();
        let found = INPUTS.iter().find(|(known, _)| *known == name);
        let Some((_, input)) = found else {
            let hint = did_you_mean(&name, INPUTS.iter().map(|(name, _)| *name));
            let names = INPUTS.map(|(name, _)| name).join(", ");
            return Err(format!("{rest:?} in {text:?} is none of {names}{hint}"));
        };
        let needs_modifier = !matches!(
            input,
            MouseInput::Middle | MouseInput::Right | MouseInput::Back | MouseInput::Forward
        );
        if needs_modifier && modifiers.is_empty() {
            return Err(format!("{text:?} needs a modifier, as in ctrl+{name}"));
        }
        Ok(Self { modifiers, input: *input })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_names_a_button_or_the_wheel() {
        let parse = |text: &str| text.parse::<MouseChord>();
        let chord = |modifiers, input| Ok(MouseChord { modifiers, input });
        assert_eq!(parse("back"), chord(Modifiers::empty(), MouseInput::Back));
        assert_eq!(
            parse("Ctrl+shift+Wheel_Up"),
            chord(Modifiers::CTRL | Modifiers::SHIFT, MouseInput::WheelUp)
        );
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("left").contains("needs a modifier, as in ctrl+left"));
        assert!(error("wheel_down").contains("needs a modifier"));
        assert!(error("ctrl+midle").ends_with("did you mean \"middle\"?"));
        assert!(error("hyper+left").contains("\"hyper\" in \"hyper+left\""));
    }
}

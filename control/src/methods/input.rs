//! `session.paste`, `session.keys` and `session.mouse`: input like that of a user, encoded in the modes that the
//! program requested. `session.type` sends several of these as one piece.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use unterm_mux::{
    Pane,
    input::{
        Key, KeyAction, KeyEvent, Modifiers, MouseButton, MouseEvent, MouseKind,
        encode_alternate_scroll, encode_key, encode_mouse, encode_paste,
    },
};
use unterm_term::{KeyboardMode, KittyFlags, Modes};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word, params::session_params,
    session::Acknowledged,
};
use crate::error::Error;

/// The maximum number of keys in one call.
const MOST_KEYS: usize = 1000;

/// `session.paste`.
pub struct Paste;

session_params! {
    /// A text to paste, and its session.
    PasteParams {
        /// The text. Bracketed if the program enabled bracketed paste. Control characters are left out.
        text: String,
    }
}

impl Method for Paste {
    const NAME: &'static str = "session.paste";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Pastes a text into a session.";
    type Params<'a> = PasteParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: PasteParams<'a>,
    ) -> Result<Acknowledged> {
        let pane = context.pane(params.target())?;
        let text = params.text.required("text")?;
        let modes = pane.term().modes();
        context.type_in(caller, &pane, &encode_paste(&text, modes))?;
        Ok(Acknowledged::OK)
    }
}

/// `session.type`.
pub struct Type;

session_params! {
    /// Input, sent in this order, and its session.
    TypeParams {
        /// Characters, sent unchanged. Enter is `\r`.
        #[serde(default)]
        text: String,
        /// A text to paste, as in session.paste.
        #[serde(default)]
        paste: String,
        /// Keys to press, as in session.keys.
        #[serde(default)]
        keys: Vec<String>,
        /// A mouse action, as in session.mouse.
        #[serde(default)]
        mouse: OfMouse,
        /// `true` from an agent: the agent has read the screen and found that the program asks for no secret. Needed
        /// when Unterm is not sure.
        #[serde(default)]
        no_secret: bool,
    }
}

/// The parameters of `session.mouse`, as one value.
#[derive(Serialize)]
pub struct OfMouse(pub MouseParams<'static>);

impl JsonSchema for OfMouse {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Mouse".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = MouseParams::json_schema(generator);
        // No parameter names a session here, because the enclosing call names it.
        if let Some(Value::Object(fields)) = schema.get_mut("properties") {
            fields.remove("id");
            fields.remove("session_id");
        }
        schema
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TypeReply {
    /// The session's `seq` before the input. Pass it as `since_seq` to wait for the effect.
    pub seq: u64,
    /// False: the call contained only a mouse action, and the program did not request such actions.
    pub sent: bool,
}

impl Method for Type {
    const NAME: &'static str = "session.type";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Types text, pastes, presses keys and uses the mouse, in one piece: no other input comes in between.";
    type Params<'a> = TypeParams<'a>;
    type Reply = TypeReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: TypeParams<'a>,
    ) -> Result<TypeReply> {
        let pane = context.pane(params.target())?;
        let mut bytes = Vec::new();
        if let Some(text) = params.text.text("text")? {
            bytes.extend_from_slice(text.as_bytes());
        }
        if let Some(text) = params.paste.text("paste")? {
            bytes.extend(encode_paste(&text, pane.term().modes()));
        }
        bytes.extend(keys(&pane, &params.keys.list("keys")?)?);
        if let Some(given) = params.mouse.value::<MouseParams<'_>>("mouse", "an object")? {
            bytes.extend(mouse(&pane, &given, ["mouse.col", "mouse.row"])?);
        }
        let seq = pane.term().seq();
        let sent = !bytes.is_empty();
        if sent {
            let has_looked = params.no_secret.value::<bool>("no_secret", "true or false")?;
            context.type_looked(caller, &pane, &bytes, has_looked == Some(true))?;
        }
        Ok(TypeReply { seq, sent })
    }
}

/// `session.keys`.
pub struct Keys;

session_params! {
    /// Keys to press, and their session.
    KeysParams {
        /// Names such as `enter`, `ctrl+c`, `alt+left`, `f5`, `kp_7`, `a`.
        keys: Vec<String>,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct KeysReply {
    pub status: Word,
    /// How many keys were pressed.
    pub count: usize,
}

impl Method for Keys {
    const NAME: &'static str = "session.keys";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Presses keys by their names. If a name is unknown, presses no key.";
    type Params<'a> = KeysParams<'a>;
    type Reply = KeysReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: KeysParams<'a>,
    ) -> Result<KeysReply> {
        let pane = context.pane(params.target())?;
        let names = params.keys.list("keys")?;
        if names.is_empty() {
            return Err(Error::Missing("keys"));
        }
        context.type_in(caller, &pane, &keys(&pane, &names)?)?;
        Ok(KeysReply { status: "ok".into(), count: names.len() })
    }
}

/// The bytes that keys send. `names`: the names of the keys.
pub(in crate::methods) fn keys(pane: &Pane, names: &[String]) -> Result<Vec<u8>> {
    if names.len() > MOST_KEYS {
        return Err(Error::Invalid {
            name: "keys",
            expected: format!("at most {MOST_KEYS} keys"),
            got: names.len().to_string(),
        });
    }
    let (keys, unknown): (Vec<_>, Vec<_>) =
        names.iter().map(|name| key(name).ok_or(name)).partition(std::result::Result::is_ok);
    if !unknown.is_empty() {
        let unknown: Vec<_> = unknown.into_iter().filter_map(std::result::Result::err).collect();
        return Err(Error::Failed(format!(
            "Unknown key(s): {unknown:?}. Keys are characters, f1 to f35, kp_0 to kp_9 and {}, with ctrl+, alt+, shift+ or super+",
            Key::names().collect::<Vec<_>>().join(", ")
        )));
    }
    let (modes, keyboard) = {
        let term = pane.term();
        (term.modes(), term.keyboard())
    };
    let strokes = keys.into_iter().flatten();
    Ok(strokes.flat_map(|(key, modifiers)| stroke(key, modifiers, modes, &keyboard)).collect())
}

/// The bytes that a key sends when it is pressed and released. With Shift, a letter is upper case, as on a keyboard.
fn stroke(key: Key, modifiers: Modifiers, modes: Modes, keyboard: &KeyboardMode) -> Vec<u8> {
    let is_shifted = modifiers.contains(Modifiers::SHIFT);
    let (key, unshifted) = match key {
        Key::Char(char) if is_shifted => {
            let mut upper = char.to_uppercase();
            match (upper.next(), upper.next()) {
                (Some(upper), None) if upper != char => (Key::Char(upper), Some(char)),
                _ => (key, None),
            }
        }
        _ => (key, None),
    };
    let text = match key {
        Key::Char(char) => char.to_string(),
        _ => String::new(),
    };
    let text = (!text.is_empty()).then_some(text.as_str());
    let press = KeyEvent { text, unshifted, ..KeyEvent::press(key, modifiers) };
    let mut bytes = encode_key(&press, modes, keyboard);
    if keyboard.kitty.contains(KittyFlags::EVENT_TYPES) {
        let release = KeyEvent { action: KeyAction::Release, text: None, ..press };
        bytes.extend(encode_key(&release, modes, keyboard));
    }
    bytes
}

/// Parses the name of a key. Modifiers may precede it, each followed by `+`.
fn key(name: &str) -> Option<(Key, Modifiers)> {
    let mut modifiers = Modifiers::empty();
    let mut rest = name;
    while let Some((first, after)) = rest.split_once('+').filter(|(first, _)| !first.is_empty()) {
        modifiers |= Modifiers::of_name(first)?;
        rest = after;
    }
    if let Some(key) = Key::of_name(rest) {
        return Some((key, modifiers));
    }
    let mut chars = rest.chars();
    let (Some(char), None) = (chars.next(), chars.next()) else { return None };
    let is_shifted = char.is_uppercase();
    // An upper case letter is the key of the lower case letter, with Shift.
    let char = if is_shifted { char.to_lowercase().next()? } else { char };
    let shift = if is_shifted { Modifiers::SHIFT } else { Modifiers::empty() };
    Some((Key::Char(char), modifiers | shift)).filter(|_| !char.is_control())
}

/// `session.mouse`.
pub struct Mouse;

session_params! {
    /// A mouse action, and its session.
    MouseParams {
        /// `click`, `press`, `release`, `move` or `scroll`.
        action: String,
        /// Column, from 0.
        col: u64,
        /// Row of the screen, from 0.
        row: u64,
        /// `left`, `middle` or `right`. Default: left. For `move`: the button that is held down, if any.
        #[serde(default)]
        button: String,
        /// How many lines to scroll down; negative: up. Default: 1.
        #[serde(default)]
        lines: i64,
        /// Modifiers that are held down: some of `ctrl`, `alt`, `shift`.
        #[serde(default)]
        modifiers: Vec<String>,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct MouseReply {
    /// False: the program did not request such mouse events, so nothing was sent.
    pub sent: bool,
}

impl Method for Mouse {
    const NAME: &'static str = "session.mouse";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Clicks, moves or scrolls in a session whose program listens to the mouse.";
    type Params<'a> = MouseParams<'a>;
    type Reply = MouseReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: MouseParams<'a>,
    ) -> Result<MouseReply> {
        let pane = context.pane(params.target())?;
        let bytes = mouse(&pane, &params, ["col", "row"])?;
        let sent = !bytes.is_empty();
        context.type_in(caller, &pane, &bytes)?;
        Ok(MouseReply { sent })
    }
}

/// The bytes that a mouse action sends. Empty if the program did not request such events. `[col, row]`: the names of
/// these two parameters in errors.
fn mouse(pane: &Pane, params: &MouseParams<'_>, [col, row]: [&'static str; 2]) -> Result<Vec<u8>> {
    let (size, modes, tracking, encoding) = {
        let term = pane.term();
        (term.size(), term.modes(), term.mouse_tracking(), term.mouse_encoding())
    };
    let place = |arg: &super::params::Arg<'_, u64>, name, end: u16| {
        let last = u64::from(end.saturating_sub(1));
        arg.number(name, 0..=last)?.map(|place| place as u16).ok_or(Error::Missing(name))
    };
    let (col, row) = (place(&params.col, col, size.cols)?, place(&params.row, row, size.rows)?);
    let mut modifiers = Modifiers::empty();
    for name in params.modifiers.list("modifiers")? {
        let known = Modifiers::CTRL | Modifiers::ALT | Modifiers::SHIFT;
        let modifier = Modifiers::of_name(&name).filter(|modifier| known.contains(*modifier));
        modifiers |= modifier.ok_or_else(|| Error::Invalid {
            name: "modifiers",
            expected: "some of ctrl, alt, shift".to_owned(),
            got: format!("{name:?}"),
        })?;
    }
    let given = params.button.text("button")?;
    let button = match given.as_deref() {
        None | Some("left") => MouseButton::Left,
        Some("middle") => MouseButton::Middle,
        Some("right") => MouseButton::Right,
        Some(other) => {
            return Err(Error::Invalid {
                name: "button",
                expected: "left, middle or right".to_owned(),
                got: format!("{other:?}"),
            });
        }
    };
    let lines = params.lines.value::<i64>("lines", "a whole number")?.unwrap_or(1);
    let lines = lines.clamp(-1000, 1000);
    let action = params.action.required("action")?;
    let kinds = match &*action {
        "click" => vec![MouseKind::Press(button), MouseKind::Release(button)],
        "press" => vec![MouseKind::Press(button)],
        "release" => vec![MouseKind::Release(button)],
        "move" => vec![MouseKind::Motion(given.is_some().then_some(button))],
        "scroll" => {
            let wheel = if lines < 0 { MouseButton::WheelUp } else { MouseButton::WheelDown };
            vec![MouseKind::Press(wheel); lines.unsigned_abs() as usize]
        }
        other => {
            return Err(Error::Invalid {
                name: "action",
                expected: "click, press, release, move or scroll".to_owned(),
                got: format!("{other:?}"),
            });
        }
    };
    let (width, height) = (i32::from(size.cell_width), i32::from(size.cell_height));
    let at = |kind| MouseEvent {
        kind,
        modifiers,
        col,
        row,
        x: i32::from(col) * width + width / 2,
        y: i32::from(row) * height + height / 2,
    };
    let told = kinds.into_iter().filter_map(|kind| encode_mouse(&at(kind), tracking, encoding));
    let mut bytes: Vec<u8> = told.flatten().collect();
    if bytes.is_empty() && action == "scroll" {
        // If a program on the alternate screen has no mouse tracking, the wheel sends cursor keys.
        bytes = encode_alternate_scroll(-(lines as i32), modes).unwrap_or_default();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_names() {
        assert_eq!(key("enter"), Some((Key::Enter, Modifiers::empty())));
        assert_eq!(key("Ctrl+C"), Some((Key::Char('c'), Modifiers::CTRL | Modifiers::SHIFT)));
        assert_eq!(key("ctrl+c"), Some((Key::Char('c'), Modifiers::CTRL)));
        assert_eq!(key("alt+shift+F5"), Some((Key::F(5), Modifiers::ALT | Modifiers::SHIFT)));
        assert_eq!(key("+"), Some((Key::Char('+'), Modifiers::empty())));
        assert_eq!(key("ctrl++"), Some((Key::Char('+'), Modifiers::CTRL)));
        assert_eq!(key("é"), Some((Key::Char('é'), Modifiers::empty())));
        let typed = |name: &str, keyboard: &KeyboardMode| {
            let (key, modifiers) = key(name).unwrap();
            String::from_utf8(stroke(key, modifiers, Modes::ALT_SENDS_ESC, keyboard)).unwrap()
        };
        let legacy = KeyboardMode::default();
        let all = KeyboardMode { kitty: KittyFlags::all(), ..legacy };
        for (name, plain, kitty) in [
            ("a", "a", "\x1b[97;;97u\x1b[97;1:3u"),
            ("A", "A", "\x1b[97:65;2;65u\x1b[97:65;2:3u"),
            ("shift+a", "A", "\x1b[97:65;2;65u\x1b[97:65;2:3u"),
            ("shift+é", "É", "\x1b[233:201;2;201u\x1b[233:201;2:3u"),
            ("alt+shift+a", "\x1bA", "\x1b[97:65;4u\x1b[97:65;4:3u"),
            ("ctrl+a", "\x01", "\x1b[97;5u\x1b[97;5:3u"),
            ("up", "\x1b[A", "\x1b[A\x1b[1;1:3A"),
        ] {
            assert_eq!(typed(name, &legacy), plain, "{name}");
            assert_eq!(typed(name, &all), kitty, "{name}");
        }
        for wrong in ["", "entr", "f36", "f0", "hyp+a", "ab", "ctrl+"] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
    }
}

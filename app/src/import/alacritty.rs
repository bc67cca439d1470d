//! Converts `alacritty.toml`, and the files in its list `import`.

use std::{path::Path, rc::Rc};

use toml_edit::{Document, Item, TableLike, Value};

use super::{
    action_parts::{self, SWALLOW},
    colors::ColorRole,
    converted::ConfigLine,
    draft::Draft,
    files::Files,
    forms::{self, Form, Row, SourceValue},
    keys,
    reasons::{self, unknown},
    text::typed,
    unsupported,
};
use crate::plain_words;

/// The names of the eight colors.
const COLORS: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/// The words for a color that follows the color of the cell.
const CELL: &[&str] = &["CellForeground", "CellBackground", "None"];

/// The words for the shapes of the cursor.
const SHAPES: Form =
    Form::Words(&[("Block", "block"), ("Beam", "bar"), ("Underline", "underline")]);

/// Settings with the same meaning: the name in Alacritty, and the key and the form of the value.
#[rustfmt::skip]
const SETTINGS: &[Row] = &[
    ("colors.cursor.cursor", "", Form::Color(ColorRole::Cursor, CELL)),
    ("colors.cursor.text", "", Form::Color(ColorRole::CursorText, CELL)),
    ("colors.primary.background", "", Form::Color(ColorRole::Background, &[])),
    ("colors.primary.foreground", "", Form::Color(ColorRole::Foreground, &[])),
    ("colors.selection.background", "", Form::Color(ColorRole::Selection, CELL)),
    ("colors.selection.text", "", Form::Color(ColorRole::SelectionText, CELL)),
    ("cursor.style", "cursor.shape", SHAPES),
    ("cursor.style.shape", "cursor.shape", SHAPES),
    ("font.size", "font.size", Form::Number),
    ("mouse.hide_when_typing", "mouse.hide_while_typing", Form::Switch),
    ("scrolling.history", "scrollback.lines", Form::Number),
    ("scrolling.multiplier", "mouse.scroll_lines", Form::Number),
    ("selection.save_to_clipboard", "mouse.copy_on_select", Form::Either("clipboard", "primary")),
    ("window.blur", "window.blur", Form::Switch),
    ("window.opacity", "window.opacity", Form::Number),
    ("window.startup_mode", "window.start", Form::Words(&[
        ("Windowed", "normal"), ("Maximized", "maximized"), ("Fullscreen", "fullscreen"), ("SimpleFullscreen", "fullscreen"),
    ])),
];

/// Actions: the name in Alacritty, and the name in Unterm.
const ACTIONS: &[(&str, &str)] = &[
    ("ReceiveChar", "none"),
    ("Copy", "copy"),
    ("Paste", "paste"),
    ("PasteSelection", "paste_primary"),
    ("IncreaseFontSize", "larger_font"),
    ("DecreaseFontSize", "smaller_font"),
    ("ResetFontSize", "reset_font"),
    ("ScrollPageUp", "scroll_page_up"),
    ("ScrollPageDown", "scroll_page_down"),
    ("ScrollLineUp", "scroll_lines:-1"),
    ("ScrollLineDown", "scroll_lines:1"),
    ("ScrollToTop", "scroll_to_top"),
    ("ScrollToBottom", "scroll_to_bottom"),
    ("ClearHistory", "clear_history"),
    ("ClearLogNotice", "dismiss_messages"),
    ("Quit", "close_window"),
    ("SpawnNewInstance", "new_window"),
    ("CreateNewWindow", "new_window"),
    ("ToggleFullscreen", "fullscreen"),
    ("ToggleSimpleFullscreen", "fullscreen"),
    ("None", SWALLOW),
    ("ToggleViMode", "copy_mode"),
    ("SearchForward", "search"),
    ("SearchBackward", "search"),
    ("CreateNewTab", "new_tab"),
    ("SelectNextTab", "next_tab"),
    ("SelectPreviousTab", "previous_tab"),
    ("SelectLastTab", "activate_tab:999"),
];

/// Actions of Alacritty's vi mode, and the commands of Unterm's copy mode.
const VI_ACTIONS: &[(&str, &str)] = &[
    ("ReceiveChar", "none"),
    ("None", "none"),
    ("Up", "up"),
    ("Down", "down"),
    ("Left", "left"),
    ("Right", "right"),
    ("First", "line_start"),
    ("FirstOccupied", "line_text"),
    ("Last", "line_end"),
    ("High", "view_top"),
    ("Middle", "view_middle"),
    ("Low", "view_bottom"),
    ("SemanticLeft", "word_back"),
    ("SemanticRight", "word_start"),
    ("SemanticRightEnd", "word_end"),
    ("WordLeft", "big_word_back"),
    ("WordRight", "big_word_start"),
    ("WordRightEnd", "big_word_end"),
    ("ParagraphUp", "paragraph_back"),
    ("ParagraphDown", "paragraph_forward"),
    ("ToggleNormalSelection", "select"),
    ("ToggleLineSelection", "select_lines"),
    ("ToggleBlockSelection", "select_block"),
    ("SearchForward", "search_forward"),
    ("SearchBackward", "search_back"),
    ("SearchNext", "next_match"),
    ("SearchPrevious", "previous_match"),
    ("InlineSearchForward", "find"),
    ("InlineSearchBackward", "find_back"),
    ("InlineSearchForwardShort", "till"),
    ("InlineSearchBackwardShort", "till_back"),
    ("InlineSearchNext", "find_again"),
    ("InlineSearchPrevious", "find_again_back"),
    ("ScrollPageUp", "page_up"),
    ("ScrollPageDown", "page_down"),
    ("ScrollHalfPageUp", "half_page_up"),
    ("ScrollHalfPageDown", "half_page_down"),
    ("ScrollLineUp", "scroll_up"),
    ("ScrollLineDown", "scroll_down"),
    ("ScrollToTop", "oldest"),
    ("ScrollToBottom", "newest"),
    ("Copy", "yank"),
    ("ToggleViMode", "leave"),
];

/// Reads a configuration, and adds its settings to the draft.
///
/// # Errors
/// Fails if the file can't be read, or is not valid TOML.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let text = files.enter(file)?;
    let document = match Document::parse(text.as_str()) {
        Ok(document) => document,
        Err(_) if file.extension().is_some_and(|end| end == "yml" || end == "yaml") => {
            return Err("older files are in YAML; convert it with `alacritty migrate` first".into());
        }
        Err(error) => {
            return Err(format!("it is not TOML: {}", plain_words::of_file(error.message())));
        }
    };
    let lines = Lines::of(&text);
    let shared = Rc::new(file.to_owned());
    let place = |start: Option<usize>| ConfigLine {
        file: Rc::clone(&shared),
        line: lines.at(start.unwrap_or_default()),
    };
    // Read the imported files first, because the settings of this file override them.
    let table = document.as_table();
    let imports =
        [table.get("general").and_then(|general| general.get("import")), table.get("import")];
    for value in imports.into_iter().flatten().filter_map(Item::as_array).flatten() {
        let Some(name) = value.as_str() else { continue };
        let path = files.named(name, file);
        if let Err(why) = read(&path, files, draft) {
            draft.begin(&place(value.span().map(|span| span.start)), &format!("import {name}"));
            draft.leave_out(&why);
        }
    }
    leaves(table, &[], &mut |path, item, start| {
        let name = path.join(".");
        let place = place(start);
        match (path, item.as_array()) {
            (["general", "import"] | ["import"], _) => {}
            (["keyboard", "bindings"] | ["key_bindings"], Some(bindings)) => {
                for binding in bindings {
                    let place = ConfigLine {
                        line: binding.span().map_or(place.line, |span| lines.at(span.start)),
                        ..place.clone()
                    };
                    draft.setting(&place, &name, |draft| bind(draft, binding.as_inline_table()));
                }
            }
            (["mouse", "bindings"] | ["mouse_bindings"] | ["hints", "enabled"], Some(list)) => {
                for entry in list {
                    let place = ConfigLine {
                        line: entry.span().map_or(place.line, |span| lines.at(span.start)),
                        ..place.clone()
                    };
                    draft.setting(&place, &name, |draft| match path[0] {
                        "hints" => hint(draft, entry.as_inline_table()),
                        _ => bind_mouse(draft, entry.as_inline_table()),
                    });
                }
            }
            _ => draft.setting(&place, &name, |draft| convert(draft, path, item)),
        }
    });
    files.leave();
    Ok(())
}

/// The byte offsets at which the lines of a text start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of a byte offset, counted from 1.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

/// Settings that are converted as a whole, although their values are tables.
const WHOLE: &[&[&str]] =
    &[&["terminal", "shell"], &["shell"], &["bell", "command"], &["cursor", "vi_mode_style"]];

/// Calls `found` for each value in a table, with the value's path and position. An array of tables is treated as an
/// array value.
fn leaves(
    table: &dyn TableLike,
    path: &[&str],
    found: &mut impl FnMut(&[&str], &Item, Option<usize>),
) {
    for (name, item) in table.iter() {
        let mut inner = path.to_owned();
        inner.push(name);
        let start = table.key(name).and_then(toml_edit::Key::span).map(|span| span.start);
        if let Some(tables) = item.as_array_of_tables() {
            let array = tables.clone().into_array();
            found(&inner, &Item::Value(Value::Array(array)), start);
            continue;
        }
        match item.as_table_like().filter(|_| !WHOLE.contains(&inner.as_slice())) {
            Some(table) => leaves(table, &inner, found),
            None => found(&inner, item, start),
        }
    }
}

fn convert(draft: &mut Draft, path: &[&str], item: &Item) -> Result<(), String> {
    let name = path.join(".");
    let value = item.as_str().map(str::to_owned);
    let value = value.or_else(|| item.as_bool().map(|on| on.to_string())).unwrap_or_default();
    if unsupported::ALACRITTY.is_always(&name, &value) {
        return Ok(());
    }
    if let Some(converted) = forms::convert(draft, SETTINGS, &name, item) {
        return converted;
    }
    let (text, number) = (|| item.source_text(), || item.source_number());
    let switch = || item.source_switch();
    match path {
        ["env", name] if *name != "TERM" => draft.set(&["env", name], text()?),
        ["window", "dimensions", "columns"] => cells(draft, "columns", number()?),
        ["window", "dimensions", "lines"] => cells(draft, "rows", number()?),
        ["window", "padding", "x"] => draft.set_number(&["window", "padding"], number()?),
        ["window", "padding", "y"] => draft.padding(number()?),
        ["font", "normal", "family"] => draft.set_list(&["font", "family"], &[text()?]),
        ["font", face @ ("bold" | "italic" | "bold_italic"), "family"] => {
            draft.set_list(&["font", face], &[text()?]);
        }
        ["font", "normal" | "bold" | "italic" | "bold_italic", "style"] => {
            let style = text()?;
            if !["Regular", "Bold", "Italic", "Bold Italic"].contains(&style) {
                return Err(reasons::FIXED_STYLES.into());
            }
        }
        ["font", "offset", "x"] => pixels(draft, "adjust_cell_width", number()?),
        ["font", "offset", "y"] => pixels(draft, "adjust_cell_height", number()?),
        ["font", "glyph_offset", "y"] => pixels(draft, "adjust_baseline", number()?),
        ["colors", row @ ("normal" | "bright"), color] => {
            let index = COLORS.iter().position(|name| name == color);
            let index = index.ok_or_else(|| unknown(color))?;
            draft.set_ansi(index + if *row == "bright" { 8 } else { 0 }, text()?)?;
        }
        ["bell", "duration"] => draft.set(&["bell", "visual"], number()? > 0.0),
        ["bell", "command"] => match item.as_str() {
            Some("None") => draft.unset(&["bell", "command"]),
            _ => draft.set_list(&["bell", "command"], &program(item)?),
        },
        ["selection", "semantic_escape_chars"] => {
            let separators: String = text()?.chars().filter(|c| !c.is_whitespace()).collect();
            draft.set(&["mouse", "word_separators"], separators);
        }
        ["cursor", "style", "blinking"] => {
            draft.set(&["cursor", "blink"], ["On", "Always"].contains(&text()?));
        }
        ["terminal", "shell"] | ["shell"] => draft.set_shell(&program(item)?),
        ["hints", "alphabet"] => draft.alphabet(text()?),
        ["window", "dynamic_title"] => {
            // Unterm's title always contains the program's title, unless a title is set. So only the value `false`
            // needs a conversion.
            if !switch()? {
                draft.fixed_title(None);
            }
        }
        ["window", "title"] => draft.fixed_title(Some(text()?)),
        _ => return Err(unsupported::ALACRITTY.setting(&name)),
    }
    Ok(())
}

impl SourceValue for Item {
    fn source_text(&self) -> Result<&str, String> {
        self.as_str().ok_or_else(|| wrong(self))
    }

    fn source_number(&self) -> Result<f64, String> {
        let whole = self.as_integer().map(|number| number as f64);
        let number = self.as_float().or(whole).filter(|number| number.is_finite());
        number.ok_or_else(|| wrong(self))
    }

    fn source_switch(&self) -> Result<bool, String> {
        self.as_bool().ok_or_else(|| wrong(self))
    }
}

fn wrong(item: &Item) -> String {
    format!("a {} is not what Alacritty reads here", item.type_name())
}

/// Sets a dimension of the window. The value 0 means that the window manager chooses it.
fn cells(draft: &mut Draft, key: &str, cells: f64) {
    if cells > 0.0 {
        draft.set_number(&["window", key], cells);
    }
}

/// Sets the change of a measure, in pixels.
fn pixels(draft: &mut Draft, key: &str, pixels: f64) {
    match pixels {
        0.0 => draft.unset(&["font", key]),
        pixels => draft.set(&["font", key], format!("{pixels}px")),
    }
}

/// Reads a program and its arguments, which are given as a string or a table.
fn program(item: &Item) -> Result<Vec<String>, String> {
    if let Some(program) = item.as_str() {
        return Ok(vec![program.to_owned()]);
    }
    let table = item.as_table_like().ok_or_else(|| wrong(item))?;
    let program = table.get("program").and_then(Item::as_str).ok_or_else(|| wrong(item))?;
    let args = table.get("args").and_then(Item::as_array).into_iter().flatten();
    let args = args.filter_map(|arg| arg.as_str().map(str::to_owned));
    Ok(std::iter::once(program.to_owned()).chain(args).collect())
}

/// Converts a key binding.
fn bind(draft: &mut Draft, binding: Option<&toml_edit::InlineTable>) -> Result<(), String> {
    let binding = binding.ok_or("it is no table")?;
    let get = |name: &str| binding.get(name).and_then(Value::as_str);
    let key = get("key").ok_or(reasons::NO_SCAN_CODES)?;
    let modifiers = get("mods").unwrap_or_default();
    let named = [modifiers, key].join(if modifiers.is_empty() { "" } else { "+" });
    draft.rename(&format!("key {}", named.replace('|', "+").replace(' ', "")));
    let chord = keys::chord(modifiers.split('|').filter(|name| *name != "None"), key)?;
    if in_vi_mode(binding)? {
        let action = get("action").ok_or(reasons::NO_COMMAND)?;
        let command = VI_ACTIONS.iter().find(|(name, _)| *name == action);
        let is_key = ACTIONS.iter().any(|(name, _)| *name == action);
        let (_, command) = command.ok_or_else(|| match is_key {
            true => reasons::NO_COMMAND.into(),
            false => unsupported::ALACRITTY.command(action),
        })?;
        draft.set(&["copy_mode_keys", &chord], *command);
        return Ok(());
    }
    // Alacritty runs the actions of all bindings of a key.
    draft.chain(&chord, &[action_of(binding)?])
}

/// Converts a binding of a mouse button or the wheel.
fn bind_mouse(draft: &mut Draft, binding: Option<&toml_edit::InlineTable>) -> Result<(), String> {
    let binding = binding.ok_or("it is no table")?;
    let get = |name: &str| binding.get(name).and_then(Value::as_str);
    let button = get("mouse").ok_or(reasons::NO_SCAN_CODES)?;
    let modifiers = get("mods").unwrap_or_default();
    let named = [modifiers, button].join(if modifiers.is_empty() { "" } else { "+" });
    draft.rename(&format!("mouse {}", named.replace('|', "+").replace(' ', "")));
    if in_vi_mode(binding)? {
        return Err(reasons::NO_MODES.into());
    }
    let name = match button {
        "Left" => "left",
        "Middle" => "middle",
        "Right" => "right",
        "Back" => "back",
        "Forward" => "forward",
        "WheelUp" => "wheel_up",
        "WheelDown" => "wheel_down",
        _ => return Err(unknown(button)),
    };
    let held = modifiers.split('|').filter(|name| *name != "None");
    let chord = action_parts::button(held, name)?;
    match (chord.as_str(), get("action")) {
        ("right", Some("ExpandSelection")) => {
            draft.set(&["mouse", "right_button"], "extend");
            Ok(())
        }
        (_, Some("ExpandSelection")) => Err(reasons::NO_SELECTING.into()),
        (_, Some("None")) => draft.chain_mouse(&chord, &["none".to_owned()]),
        _ => draft.chain_mouse(&chord, &[action_of(binding)?]),
    }
}

/// Whether a binding applies only in the vi mode. Such a binding is converted to a key of Unterm's copy mode.
fn in_vi_mode(binding: &toml_edit::InlineTable) -> Result<bool, String> {
    let get = |name: &str| binding.get(name).and_then(Value::as_str).unwrap_or_default();
    let mode = get("mode");
    let mut vi = false;
    for mode in mode.split('|').map(str::trim) {
        match mode {
            "Vi" => vi = true,
            // These modes need no condition: Unterm's keys always apply only outside of copy mode and search.
            "" | "~Vi" | "~Search" => {}
            // Unterm's actions that scroll leave the key to full-screen programs.
            "~Alt" if get("action").starts_with("Scroll") => {}
            _ => return Err(reasons::NO_MODES.into()),
        }
    }
    Ok(vi)
}

/// Converts the action of a binding.
fn action_of(binding: &toml_edit::InlineTable) -> Result<String, String> {
    let get = |name: &str| binding.get(name).and_then(Value::as_str);
    match (get("action"), get("chars")) {
        (Some(action), _) => {
            let number = action.strip_prefix("SelectTab").and_then(|number| number.parse().ok());
            match (ACTIONS.iter().find(|(name, _)| *name == action), number) {
                (Some((_, ours)), _) => Ok((*ours).to_owned()),
                (None, Some(1..=9)) => Ok(format!("activate_tab:{}", number.unwrap_or(1))),
                _ => Err(unsupported::ALACRITTY.action(action)),
            }
        }
        (None, Some(chars)) => Ok(typed(chars)),
        (None, None) => Err(reasons::NO_BACKGROUND.into()),
    }
}

/// Converts how the mouse opens links.
fn open_by(draft: &mut Draft, hint: &toml_edit::InlineTable) {
    let Some(mouse) = hint.get("mouse").and_then(Value::as_inline_table) else { return };
    let is_enabled = mouse.get("enabled").and_then(Value::as_bool).unwrap_or_default();
    let modifiers = mouse.get("mods").and_then(Value::as_str).unwrap_or("None");
    match modifiers {
        "None" if is_enabled => draft.set(&["links", "open_by"], "click"),
        "Control" if is_enabled => draft.set(&["links", "open_by"], "ctrl_click"),
        _ => draft.leave_out(reasons::LINKS),
    }
}

/// Converts a hint, which becomes a pattern.
fn hint(draft: &mut Draft, hint: Option<&toml_edit::InlineTable>) -> Result<(), String> {
    let hint = hint.ok_or("it is no table")?;
    let get = |name: &str| hint.get(name).and_then(Value::as_str);
    let regex = get("regex");
    draft.rename(&format!("hint {}", regex.unwrap_or("hyperlinks")));
    if regex.is_none() && hint.get("hyperlinks").and_then(Value::as_bool) != Some(true) {
        return Err("it has no regex".to_owned());
    }
    let program = hint.get("command").map(|command| {
        let name = command.as_str();
        name.or_else(|| command.as_inline_table()?.get("program")?.as_str()).unwrap_or_default()
    });
    let action = match (get("action"), program) {
        (Some("Copy"), _) => "copy",
        (Some("Paste"), _) => "paste",
        (Some(other), _) => return Err(unsupported::ALACRITTY.action(other)),
        (None, Some("xdg-open" | "open")) => "open",
        (None, _) if regex.is_none() => "open",
        (None, _) => return Err(reasons::NO_HINT_PROGRAM.into()),
    };
    match regex {
        // This is Alacritty's default pattern for URLs. Unterm always labels URLs and hyperlinks (OSC 8).
        Some(regex) if action == "open" && regex.contains("https") => open_by(draft, hint),
        None => open_by(draft, hint),
        Some(regex) => draft.pattern(regex, action),
    }
    let Some(binding) = hint.get("binding").and_then(Value::as_inline_table) else { return Ok(()) };
    let get = |name: &str| binding.get(name).and_then(Value::as_str);
    let modifiers = get("mods").unwrap_or_default().split('|').filter(|name| *name != "None");
    let chord = keys::chord(modifiers, get("key").ok_or(reasons::NO_SCAN_CODES)?)?;
    let labels = if action == "open" { "open_hint" } else { "quick_select" };
    draft.bind(&chord, &[labels.to_owned()])
}

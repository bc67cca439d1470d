//! Converts `alacritty.toml`, with the files in its list `import`.

use std::{path::Path, rc::Rc};

use toml_edit::{Document, Item, TableLike, Value};

use super::{
    colors::Part,
    converted::Place,
    draft::Draft,
    files::Files,
    keys,
    reasons::{self, unknown},
    text::typed,
};

/// Names of the eight colors.
const COLORS: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/// Words for a color that follows the cell.
const CELL: &[&str] = &["CellForeground", "CellBackground", "None"];

/// Actions, and Unterm's.
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
    ("ToggleViMode", "copy_mode"),
    ("SearchForward", "search"),
    ("SearchBackward", "search"),
    ("CreateNewTab", "new_tab"),
    ("SelectNextTab", "next_tab"),
    ("SelectPreviousTab", "previous_tab"),
    ("SelectLastTab", "activate_tab:999"),
];

/// Reads a configuration into the draft.
///
/// # Errors
/// If the file can't be read, or is not TOML.
pub(super) fn read(file: &Path, files: &mut Files, draft: &mut Draft) -> Result<(), String> {
    let text = files.enter(file)?;
    let document = match Document::parse(text.as_str()) {
        Ok(document) => document,
        Err(_) if file.extension().is_some_and(|end| end == "yml" || end == "yaml") => {
            return Err("older files are in YAML; convert it with `alacritty migrate` first".into());
        }
        Err(error) => return Err(format!("it is not TOML: {}", error.message())),
    };
    let lines = Lines::of(&text);
    let shared = Rc::new(file.to_owned());
    let place = |start: Option<usize>| Place {
        file: Rc::clone(&shared),
        line: lines.at(start.unwrap_or_default()),
    };
    // Imports first: the file's own settings replace theirs.
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
                    let place = Place {
                        line: binding.span().map_or(place.line, |span| lines.at(span.start)),
                        ..place.clone()
                    };
                    draft.setting(&place, &name, |draft| bind(draft, binding.as_inline_table()));
                }
            }
            _ => draft.setting(&place, &name, |draft| convert(draft, path, item)),
        }
    });
    files.leave();
    Ok(())
}

/// The starts of a text's lines.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of an offset, from 1.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

/// Settings that are tables as a whole.
const WHOLE: &[&[&str]] =
    &[&["terminal", "shell"], &["shell"], &["bell", "command"], &["cursor", "vi_mode_style"]];

/// Calls `found` for each value of a table, with its path and place. An array of tables becomes an array.
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
    let text = || item.as_str().ok_or_else(|| wrong(item));
    let switch = || item.as_bool().ok_or_else(|| wrong(item));
    let number = || {
        let whole = item.as_integer().map(|number| number as f64);
        item.as_float().or(whole).filter(|number| number.is_finite()).ok_or_else(|| wrong(item))
    };
    match path {
        ["general", "live_config_reload"] | ["live_config_reload"] => {
            return Err(reasons::RELOADS.into());
        }
        ["env", "TERM"] => return Err(reasons::TERM.into()),
        ["env", name] => draft.set(&["env", name], text()?),
        ["window", "dimensions", "columns"] => cells(draft, "columns", number()?),
        ["window", "dimensions", "lines"] => cells(draft, "rows", number()?),
        ["window", "padding", "x"] => draft.set_number(&["window", "padding"], number()?),
        ["window", "padding", "y"] => draft.padding(number()?),
        ["window", "opacity"] => draft.set_number(&["window", "opacity"], number()?),
        ["window", "blur"] => draft.set(&["window", "blur"], switch()?),
        ["window", "startup_mode"] => draft.set(
            &["window", "start"],
            match text()? {
                "Windowed" => "normal",
                "Maximized" => "maximized",
                "Fullscreen" | "SimpleFullscreen" => "fullscreen",
                other => return Err(unknown(other)),
            },
        ),
        ["scrolling", "history"] => draft.set_number(&["scrollback", "lines"], number()?),
        ["scrolling", "multiplier"] => draft.set_number(&["mouse", "scroll_lines"], number()?),
        ["font", "normal", "family"] => draft.set_list(&["font", "family"], &[text()?]),
        ["font", face @ ("bold" | "italic" | "bold_italic"), "family"] => {
            draft.set_list(&["font", face], &[text()?]);
        }
        ["font", "normal" | "bold" | "italic" | "bold_italic", "style"] => {
            let style = text()?;
            if !["Regular", "Bold", "Italic", "Bold Italic"].contains(&style) {
                return Err("Unterm chooses the weight and the slant itself".to_owned());
            }
        }
        ["font", "size"] => draft.set_number(&["font", "size"], number()?),
        ["font", "offset", "x"] => pixels(draft, "adjust_cell_width", number()?),
        ["font", "offset", "y"] => pixels(draft, "adjust_cell_height", number()?),
        ["font", "glyph_offset", "y"] => pixels(draft, "adjust_baseline", number()?),
        ["colors", "primary", "foreground"] => draft.set_part(Part::Foreground, text()?, &[])?,
        ["colors", "primary", "background"] => draft.set_part(Part::Background, text()?, &[])?,
        ["colors", "cursor", "cursor"] => draft.set_part(Part::Cursor, text()?, CELL)?,
        ["colors", "cursor", "text"] => draft.set_part(Part::CursorText, text()?, CELL)?,
        ["colors", "selection", "background"] => draft.set_part(Part::Selection, text()?, CELL)?,
        ["colors", "selection", "text"] => draft.set_part(Part::SelectionText, text()?, CELL)?,
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
        ["selection", "save_to_clipboard"] => {
            let target = if switch()? { "clipboard" } else { "primary" };
            draft.set(&["mouse", "copy_on_select"], target);
        }
        ["cursor", "style"] | ["cursor", "style", "shape"] => draft.set(
            &["cursor", "shape"],
            match text()? {
                "Block" => "block",
                "Beam" => "bar",
                "Underline" => "underline",
                other => return Err(unknown(other)),
            },
        ),
        ["cursor", "style", "blinking"] => {
            draft.set(&["cursor", "blink"], ["On", "Always"].contains(&text()?));
        }
        ["terminal", "shell"] | ["shell"] => draft.set_shell(&program(item)?),
        ["mouse", "hide_when_typing"] => {
            draft.set(&["mouse", "hide_while_typing"], switch()?);
        }
        ["mouse", "bindings"] => {
            return Err(reasons::MOUSE.to_owned());
        }
        ["hints", "alphabet"] => draft.set(&["hints", "alphabet"], text()?),
        ["hints", "enabled"] => {
            return Err(
                "write patterns in [hint_patterns]; Unterm's hints run no programs".to_owned()
            );
        }
        _ => return Err(reasons::NO_SETTING.to_owned()),
    }
    Ok(())
}

fn wrong(item: &Item) -> String {
    format!("a {} is not what Alacritty reads here", item.type_name())
}

/// Sets a size of the window. 0 leaves it to the window manager.
fn cells(draft: &mut Draft, key: &str, cells: f64) {
    if cells > 0.0 {
        draft.set_number(&["window", key], cells);
    }
}

/// Sets a change of a measure.
fn pixels(draft: &mut Draft, key: &str, pixels: f64) {
    match pixels {
        0.0 => draft.unset(&["font", key]),
        pixels => draft.set(&["font", key], format!("{pixels}px")),
    }
}

/// A program with its arguments: a string, or a table.
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

/// Binds a key.
fn bind(draft: &mut Draft, binding: Option<&toml_edit::InlineTable>) -> Result<(), String> {
    let binding = binding.ok_or("it is no table")?;
    let get = |name: &str| binding.get(name).and_then(Value::as_str);
    let key = get("key").ok_or("it has no key by name; Unterm binds no scan codes")?;
    let modifiers = get("mods").unwrap_or_default();
    let named = [modifiers, key].join(if modifiers.is_empty() { "" } else { "+" });
    draft.rename(&format!("key {}", named.replace('|', "+").replace(' ', "")));
    for mode in get("mode").unwrap_or_default().split('|').map(str::trim) {
        // Unterm's keys apply outside of copy mode and search, as those without a mode here.
        if !["", "~Vi", "~Search"].contains(&mode) {
            return Err(reasons::NO_MODES.to_owned());
        }
    }
    let chord = keys::chord(modifiers.split('|').filter(|name| *name != "None"), key)?;
    let action = match (get("action"), get("chars")) {
        (Some("None"), _) => return Err(reasons::NO_SWALLOWING.to_owned()),
        (Some(action), _) => {
            let number = action.strip_prefix("SelectTab").and_then(|number| number.parse().ok());
            match (ACTIONS.iter().find(|(name, _)| *name == action), number) {
                (Some((_, ours)), _) => (*ours).to_owned(),
                (None, Some(1..=9)) => format!("activate_tab:{}", number.unwrap_or(1)),
                _ => return Err(reasons::NO_ACTION.to_owned()),
            }
        }
        (None, Some(chars)) => typed(chars),
        (None, None) => return Err(reasons::NO_PROGRAMS.to_owned()),
    };
    draft.bind(&chord, &action)
}

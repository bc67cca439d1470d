//! Converts the keys of WezTerm's copy mode.

use super::{
    super::{
        draft::Draft,
        lua::Lua,
        reasons::{self, COMPUTED},
        unsupported,
    },
    actions::{call_of, chord, named},
};

/// Commands of copy mode: the name and the argument in WezTerm, and the name in Unterm.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("MoveLeft", "", "left"),
    ("MoveRight", "", "right"),
    ("MoveUp", "", "up"),
    ("MoveDown", "", "down"),
    ("MoveForwardWord", "", "word_start"),
    ("MoveForwardWordEnd", "", "word_end"),
    ("MoveBackwardWord", "", "word_back"),
    ("MoveToStartOfLine", "", "line_start"),
    ("MoveToStartOfLineContent", "", "line_text"),
    ("MoveToEndOfLineContent", "", "line_end"),
    ("MoveToScrollbackTop", "", "oldest"),
    ("MoveToScrollbackBottom", "", "newest"),
    ("MoveToViewportTop", "", "view_top"),
    ("MoveToViewportMiddle", "", "view_middle"),
    ("MoveToViewportBottom", "", "view_bottom"),
    ("MoveToSelectionOtherEnd", "", "swap_ends"),
    ("MoveBackwardZoneOfType", "Prompt", "prompt_back"),
    ("MoveForwardZoneOfType", "Prompt", "prompt_forward"),
    ("MoveByPage", "0.5", "half_page_down"),
    ("MoveByPage", "-0.5", "half_page_up"),
    ("MoveByPage", "1", "page_down"),
    ("MoveByPage", "-1", "page_up"),
    ("PageUp", "", "page_up"),
    ("PageDown", "", "page_down"),
    ("SetSelectionMode", "Cell", "select"),
    ("SetSelectionMode", "Line", "select_lines"),
    ("SetSelectionMode", "Block", "select_block"),
    ("EditPattern", "", "search_forward"),
    ("NextMatch", "", "next_match"),
    ("PriorMatch", "", "previous_match"),
    ("JumpForward", "", "find"),
    ("JumpForward", "false", "find"),
    ("JumpForward", "true", "till"),
    ("JumpBackward", "", "find_back"),
    ("JumpBackward", "false", "find_back"),
    ("JumpBackward", "true", "till_back"),
    ("JumpAgain", "", "find_again"),
    ("JumpReverse", "", "find_again_back"),
    ("Close", "", "leave"),
];

/// Converts a key of copy mode.
pub(super) fn bind(draft: &mut Draft, binding: &Lua) -> Result<(), String> {
    let (modifiers, key) = named(draft, "key_tables.copy_mode", binding)?;
    let chord = chord(&modifiers, &key)?;
    let command = command_of(binding.get("action").ok_or(COMPUTED)?)?;
    draft.set(&["copy_mode_keys", &chord], command);
    Ok(())
}

/// Converts the action of a key.
fn command_of(action: &Lua) -> Result<&'static str, String> {
    match call_of(action)? {
        ("CopyMode", [argument, ..]) => command(argument),
        // Unterm's copy mode ends after it has copied, and only then shows the newest line again.
        ("CopyTo", _) => Ok("yank"),
        ("Multiple", [several]) => {
            let calls = several.items().map(call_of).collect::<Result<Vec<_>, _>>()?;
            let mut commands = Vec::new();
            for (name, arguments) in calls {
                match (name, arguments) {
                    ("CopyTo", _) => return Ok("yank"),
                    ("CopyMode", [argument, ..]) => commands.push(command(argument)?),
                    ("ScrollToBottom" | "ClearSelection", _) => {}
                    _ => return Err(reasons::NO_COMMAND.into()),
                }
            }
            match commands.as_slice() {
                [command] => Ok(*command),
                _ => Err(reasons::NO_COMMAND.into()),
            }
        }
        ("DisableDefaultAssignment" | "Nop", _) => Ok("none"),
        _ => Err(reasons::NO_COMMAND.into()),
    }
}

/// Converts the argument of `CopyMode`: a name, or a table with a name and its argument.
fn command(argument: &Lua) -> Result<&'static str, String> {
    let (name, argument) = match argument {
        Lua::Text(name) => (name.as_str(), String::new()),
        table => {
            let entry = table.entries().first().ok_or(COMPUTED)?;
            let argument = entry.value.get("prev_char").unwrap_or(&entry.value);
            let argument = match argument {
                Lua::Text(text) => text.clone(),
                Lua::Number(number) => number.to_string(),
                Lua::Bool(on) => on.to_string(),
                Lua::Table(entries) if entries.is_empty() => String::new(),
                _ => return Err(COMPUTED.to_owned()),
            };
            (entry.key.as_deref().unwrap_or_default(), argument)
        }
    };
    let known = COMMANDS.iter().find(|(known, takes, _)| *known == name && *takes == argument);
    known.map(|(.., ours)| *ours).ok_or_else(|| unsupported::WEZTERM.command(name))
}

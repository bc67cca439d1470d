//! The tour: five questions that introduce the features of the window.
//!
//! Owns the steps. Their texts show the keys that are bound at present.

use std::path::Path;

use crate::config::keys;
use crate::window::{
    cx::Cx,
    overlays::{Overlays, answer::Answer, confirm::Confirm},
};

/// A step: its title and its text. In the text, a name of an action in braces is replaced by the action's keys.
struct Step {
    title: &'static str,
    text: &'static str,
}

const STEPS: [Step; 5] = [
    Step {
        title: "Split the window",
        text: "{split_right} opens a pane to the right, {split_down} opens one below. {new_tab} opens a tab. \
               {focus_left} and {focus_right} move between panes.",
    },
    Step {
        title: "Find any action by its name",
        text: "{command_palette} lists every action with its keys. Type a part of a name and press Enter.",
    },
    Step {
        title: "Search the history",
        text: "{search} searches the screen and its history. {previous_prompt} and {next_prompt} jump from command \
               to command.",
    },
    Step {
        title: "Open and copy by labels",
        text: "{open_hint} puts a label on each link and path on the screen. Type a label to open it. {quick_select} \
               copies instead.",
    },
    Step {
        title: "Let agents work for you",
        text: "Agents such as Claude Code can drive panes once you allow it; `unterm-cli mcp config` connects one. \
               {pause_agents} pauses all of them.",
    },
];

/// Shows a step of the tour. The first step is 0. Returns false if there is no such step.
pub(crate) fn show(number: usize, overlays: &mut Overlays, cx: &mut Cx<'_>) -> bool {
    let keymap = &cx.prefs.keymap;
    let keys =
        |name: &str| keys::find(name).map_or_else(|_| String::new(), |it| keymap.keys_of(it));
    let Some(question) = step(number, keys) else { return false };
    // The tour would wait behind an open search. It may do so only for a search that the user opens with a key of the
    // tour.
    overlays.search.close();
    overlays.ask(question, cx);
    true
}

/// Shows the tour if this is the user's first window.
pub(crate) fn welcome(overlays: &mut Overlays, cx: &mut Cx<'_>) {
    let is_plain = cx.prefs.args.execute.is_empty() && !cx.prefs.args.quake;
    if is_plain && is_first(cx.prefs.settings.home()) {
        show(0, overlays, cx);
    }
}

/// A step of the tour as a question. The first step has number 0. `keys` returns the keys of an action. Returns `None`
/// after the last step.
fn step(number: usize, keys: impl Fn(&str) -> String) -> Option<Confirm> {
    let Step { title, text } = STEPS.get(number)?;
    let question = format!("{title} ({} of {})", number + 1, STEPS.len());
    let step = Confirm::new(question, with_keys(text, keys)).letting_keys_act();
    Some(match number + 1 < STEPS.len() {
        true => step.button("Next", 'n', Answer::Tour(number + 1)).last("Skip"),
        false => step.last("Close"),
    })
}

/// Replaces each `{action}` by the keys that are bound to the action. If no key is bound, the action's name in the
/// configuration is used.
fn with_keys(text: &str, keys: impl Fn(&str) -> String) -> String {
    let mut parts = text.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let keys = keys(name);
        out.push_str(if keys.is_empty() { name } else { &keys });
        out.push_str(rest);
    }
    out
}

/// Records that the tour was shown. Returns false if it was shown before. Also returns false if the record can't be
/// written, because the tour would otherwise appear at every start.
fn is_first(home: &Path) -> bool {
    unterm_mux::private::create_file(&home.join(SHOWN)).is_ok()
}

/// The name of the file in Unterm's home directory that records that the tour was shown.
const SHOWN: &str = "tour_shown";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::ACTIONS;

    #[test]
    fn texts_name_actions() {
        for Step { text, .. } in &STEPS {
            for part in text.split('{').skip(1) {
                let name = part.split('}').next().unwrap();
                assert!(ACTIONS.iter().any(|entry| entry.name == name), "{name}");
            }
        }
        let keys = |name: &str| if name == "search" { "F3".to_owned() } else { String::new() };
        assert_eq!(with_keys("{search} or {copy}.", keys), "F3 or copy.");
    }

    #[test]
    fn it_is_shown_once() {
        let home = tempfile::tempdir().unwrap();
        assert!(is_first(home.path()));
        assert!(!is_first(home.path()));
        assert!(
            !is_first(Path::new("/nowhere")),
            "where that can't be recorded, it would come each time"
        );
    }
}

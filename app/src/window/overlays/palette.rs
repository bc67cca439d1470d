//! The entries of the command palette: the user's own entries, actions, settings with their values, and pages of the
//! manual.
//!
//! Owns the entries and their names. The panel filters them, and the app runs the chosen one.

pub(crate) mod search_words;

use unterm_control::languages;

use crate::{
    action::{ACTIONS, Action, Entry, Takes},
    cli::manual,
    config::{
        Config,
        keys::{self, Keymap},
        settings_list::{Listed, SettingKind, listed},
    },
    window::overlays::{
        choice::{Choice, action_item},
        panel::item::Item,
    },
};

/// The maximum length of a setting's value in the list, in characters.
const LONGEST_VALUE: usize = 24;
/// Words that find every page of the manual. They come after the entry that `search_words` names for the same word.
const ABOUT_PAGES: [&str; 2] = ["help", "manual page"];
/// The prefix of the ids of manual pages.
const PAGE: &str = "page:";

/// All entries. `used` contains the ids of entries that the user chose before, the latest last.
pub(crate) fn entries(config: &Config, keymap: &Keymap, used: &[String]) -> Vec<Item<Choice>> {
    let titles = languages::words("en-US").unwrap_or_default();
    let is_list = |entry: &Entry| {
        matches!(entry.takes, Takes::Nothing(Action::CommandPalette | Action::Launcher))
    };
    let actions = ACTIONS.iter().filter(|entry| !is_list(entry));
    let actions = actions.map(|entry| action_item(entry).noted(keymap.keys_of(entry)));
    let settings = listed(config).into_iter().map(|setting| {
        let title = titles.get(&format!("s.{}", setting.id())).and_then(|title| title.as_str());
        setting_item(setting, title)
    });
    let pages = manual::topics().map(|(topic, title)| {
        let page = Item::new(title, Choice::Page(topic)).noted("manual");
        page.described("A page of the manual.").also(ABOUT_PAGES)
    });
    let all = own(config).chain(actions).chain(settings).chain(pages);
    all.map(|item| {
        let id = id(&item.choice);
        let place = used.iter().position(|name| *name == id);
        item.also(words_of(&id)).used(place.map_or(0, |at| at as u32 + 1))
    })
    .collect()
}

/// The entries that the user configured.
fn own(config: &Config) -> impl Iterator<Item = Item<Choice>> {
    config.palette.iter().map(|(title, does)| {
        let actions = does.actions().iter().filter_map(|action| keys::bound(action).ok().flatten());
        Item::new(title, Choice::Own(title.clone(), actions.collect()))
            .noted("yours")
            .described(format!("Runs {}.", does.actions().join(", ")))
    })
}

/// The entry of a setting, with its value. Without a `title`, the entry shows the setting's name, written as words.
fn setting_item(setting: Listed, title: Option<&str>) -> Item<Choice> {
    let words = |name: &str| {
        let name = name.replace('_', " ");
        let first = name.chars().next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        first + &name.chars().skip(1).collect::<String>()
    };
    let title = match (title, setting.section.as_str()) {
        (Some(title), _) => title.to_owned(),
        (None, "") => words(&setting.name),
        (None, section) => format!("{}: {}", words(section), setting.name.replace('_', " ")),
    };
    let value = match &setting.kind {
        SettingKind::Switch(true) => "on".to_owned(),
        SettingKind::Switch(false) => "off".to_owned(),
        SettingKind::Choice(_) => setting.value.trim_matches('"').to_owned(),
        SettingKind::Value => setting.value.clone(),
    };
    let value = match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    };
    let (id, doc) = (setting.id(), setting.doc.clone());
    Item::new(title, Choice::Setting(setting)).named(id).noted(value).described(doc)
}

/// The id of an entry. The list of search words and the list of used entries refer to entries by this id. Empty if the
/// entry has no id.
pub(crate) fn id(choice: &Choice) -> String {
    match choice {
        Choice::Command(entry) => entry.name.to_owned(),
        Choice::Setting(setting) => setting.id(),
        Choice::Page(topic) => format!("{PAGE}{topic}"),
        Choice::Own(title, _) => format!("own:{title}"),
        _ => String::new(),
    }
}

fn words_of(id: &str) -> impl Iterator<Item = &'static str> {
    search_words::WORDS.iter().filter(move |(_, target)| *target == id).map(|(words, _)| *words)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::window::overlays::panel::Panel;

    fn panel(config: &Config) -> Panel<Choice> {
        Panel::new("", entries(config, &Keymap::default(), &[]), 0)
    }

    /// The id of the entry that Enter would choose after this input.
    fn found(panel: &Panel<Choice>, typed: &str) -> String {
        let mut panel = panel.clone();
        panel.insert(typed);
        panel.choice().map(id).unwrap_or_default()
    }

    #[test]
    fn search_words_find_their_entries() {
        let panel = panel(&Config::default());
        let wrong: Vec<_> = search_words::WORDS
            .iter()
            .map(|(typed, target)| (*typed, *target, found(&panel, typed)))
            .filter(|(_, target, found)| found != target)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(search_words::WORDS.len() >= 300);
    }

    #[test]
    fn help_finds_the_tour_and_every_page_of_the_manual() {
        let items = entries(&Config::default(), &Keymap::default(), &[]);
        let is_page = |item: &&Item<Choice>| matches!(item.choice, Choice::Page(_));
        assert_eq!(items.iter().filter(is_page).count(), manual::topics().count());
        for item in items.iter().filter(is_page) {
            assert!(item.names.iter().any(|name| name == "help"), "{}", item.title);
        }
        let mut panel = panel(&Config::default());
        panel.insert("help");
        let listed: Vec<_> = panel.spoken().map(|(_, item, _)| id(&item.choice)).collect();
        assert_eq!(listed[..2], ["tour", "page:introduction"]);
        assert!(listed.contains(&"page:shortcuts".to_owned()), "{listed:?}");
    }

    #[test]
    fn words_lead_to_entries_and_each_leads_to_one() {
        let ids: BTreeSet<_> = entries(&Config::default(), &Keymap::default(), &[])
            .iter()
            .map(|one| id(&one.choice))
            .collect();
        let mut seen = BTreeSet::new();
        for (words, target) in search_words::WORDS {
            assert!(ids.contains(*target), "{words} leads to {target}, which is no entry");
            assert!(seen.insert(*words), "{words} stands twice");
            let known = ACTIONS.iter().find(|entry| entry.synonyms.contains(words));
            assert!(known.is_none(), "the table of actions has {words}, too");
        }
    }

    #[test]
    fn each_entry_is_found_by_its_title_and_its_name() {
        let panel = panel(&Config::default());
        for entry in ACTIONS {
            if matches!(entry.name, "command_palette" | "launcher") {
                continue;
            }
            assert_eq!(found(&panel, entry.title), entry.name);
            assert_eq!(found(&panel, entry.name), entry.name);
            for synonym in entry.synonyms {
                assert_eq!(found(&panel, synonym), entry.name, "{synonym}");
            }
        }
        for setting in listed(&Config::default()) {
            assert_eq!(found(&panel, &setting.id()), setting.id());
        }
        for (topic, title) in manual::topics() {
            let found = found(&panel, title);
            assert!(found == format!("{PAGE}{topic}") || !found.is_empty(), "{title}: {found}");
        }
    }

    #[test]
    fn letters_scattered_over_words_find_nothing() {
        let panel = panel(&Config::default());
        for typed in ["nae", "ptr", "sxq", "oslt", "cvb", "tgl rcrd x", "zzz"] {
            assert_eq!(found(&panel, typed), "", "{typed}");
        }
        // A long word may contain one wrong letter, and words may be shortened to their beginnings.
        assert_eq!(found(&panel, "opcaity"), "window.opacity");
        assert_eq!(found(&panel, "spri"), "split_right");
        assert_eq!(found(&panel, "ntab"), "new_tab");
    }

    #[test]
    fn the_users_own_entries_are_listed() {
        let mut config = Config::default();
        config.palette.insert("Deploy to production".into(), "send_text:make deploy".into());
        let panel = panel(&config);
        assert_eq!(found(&panel, "deploy"), "own:Deploy to production");
        assert_eq!(found(&panel, ""), "own:Deploy to production");
    }

    #[test]
    fn recently_used_entries_are_listed_first() {
        let used = ["page:ssh".to_owned(), "window.blur".to_owned(), "about".to_owned()];
        let items = entries(&Config::default(), &Keymap::default(), &used);
        let panel = Panel::new("", items, 0);
        let listed: Vec<_> = panel.spoken().take(3).map(|(_, item, _)| id(&item.choice)).collect();
        assert_eq!(listed, ["about", "window.blur", "page:ssh"]);
    }
}

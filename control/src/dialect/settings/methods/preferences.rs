//! Preferences by section, themes and key bindings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ChangeResult, method};
use crate::{
    caller::Caller,
    error::{Error, Result},
    host::{ActionKeys, Described, Preferences, ThemeInfo},
    methods::{Context, config, params::NoParams, session::blocking},
};

/// The name for the preferences that are outside any section of the file.
pub(super) const GENERAL: &str = "general";

/// Reads the preferences on a blocking thread.
pub(super) async fn look<T: Send + 'static>(
    context: &Context,
    look: impl FnOnce(&dyn Preferences) -> ChangeResult<T> + Send + 'static,
) -> Result<T> {
    let preferences = config::preferences(context)?;
    blocking(move || look(&*preferences)).await?.map_err(Error::Failed)
}

/// Changes preferences and notifies the pages.
pub(super) async fn change(
    context: &Context,
    changes: Vec<(Vec<String>, Option<Value>)>,
) -> Result<()> {
    look(context, move |preferences| preferences.change(&changes)).await
}

pub(super) fn path(section: &str, key: &str) -> Vec<String> {
    let names = if section == GENERAL { vec![key] } else { vec![section, key] };
    names.into_iter().map(str::to_owned).collect()
}

/// Every preference.
#[derive(Serialize, JsonSchema)]
pub struct AllReply {
    /// Each preference with its value, by section.
    settings: Value,
    #[serde(flatten)]
    described: Described,
}

method! {
    /// `GET /api/settings`
    All "settings.all" [PREFERENCES] "Returns every preference with its value, default, type and description."
    (context, caller, _none: NoParams) -> AllReply {
        let all = |preferences: &dyn Preferences| {
            Ok(AllReply { settings: preferences.get()?, described: preferences.describe() })
        };
        let AllReply { settings, described } = look(context, all).await?;
        Ok(AllReply { settings: config::shown_to(caller, settings), described })
    }
}

/// A section.
#[derive(Deserialize, JsonSchema)]
pub struct SectionParams {
    /// The section's name; `general` for preferences outside of any section.
    section: String,
}

#[derive(Serialize, JsonSchema)]
pub struct SectionReply {
    section: String,
    /// The section's preferences with their values.
    values: Map<String, Value>,
    defaults: Map<String, Value>,
    /// The section's preferences that the file sets.
    set: Vec<String>,
}

async fn section(context: &Context, caller: &Caller, name: String) -> Result<SectionReply> {
    let caller = caller.clone();
    look(context, move |preferences| {
        let Described { defaults, set, .. } = preferences.describe();
        let of = |all: &Value| -> Option<Map<String, Value>> {
            if name == GENERAL {
                let plain = all.as_object()?.iter();
                let is_plain = |key: &str, value: &Value| !value.is_object() || key == "theme";
                let plain = plain.filter(|(key, value)| is_plain(key, value));
                return Some(plain.map(|(key, value)| (key.clone(), value.clone())).collect());
            }
            all.get(&name)?.as_object().cloned()
        };
        let none = || format!("There are no preferences of {name:?}");
        let prefix = format!("{name}.");
        let own = set.iter().filter_map(|key| match name.as_str() {
            GENERAL => (!key.contains('.')).then(|| key.clone()),
            _ => key.strip_prefix(&prefix).map(str::to_owned),
        });
        let set = own.collect();
        let values = of(&config::shown_to(&caller, preferences.get()?)).ok_or_else(none)?;
        let defaults = of(&defaults).ok_or_else(none)?;
        Ok(SectionReply { values, defaults, set, section: name })
    })
    .await
}

method! {
    /// `GET /api/settings/{section}`
    Section "settings.section" [PREFERENCES] "Returns the preferences of a section, with their defaults."
    (context, caller, params: SectionParams) -> SectionReply {
        section(context, caller, params.section).await
    }
}

/// New values for preferences of a section. `null` removes a preference from the file, which restores its default.
#[derive(Deserialize, JsonSchema)]
pub struct SetSectionParams {
    /// The section's name; `general` for preferences outside of any section.
    section: String,
    /// The new values.
    #[serde(flatten)]
    values: Map<String, Value>,
}

method! {
    /// `PUT /api/settings/{section}`
    SetSection "settings.set" [PREFERENCES] changes PREFERENCES logs names "Changes preferences of a section in config.toml. Makes all changes or none."
    (context, caller, params: SetSectionParams) -> SectionReply {
        let change_one = |(key, value): (String, Value)| {
            (path(&params.section, &key), Some(value).filter(|value| !value.is_null()))
        };
        let changes: Vec<_> = params.values.into_iter().map(change_one).collect();
        // Fail before anything is written if there is no such section.
        let before = section(context, caller, params.section.clone()).await?;
        if changes.is_empty() {
            return Ok(before);
        }
        change(context, changes).await?;
        section(context, caller, params.section).await
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ThemesReply {
    themes: Vec<ThemeInfo>,
}

method! {
    /// `GET /api/settings/themes`
    Themes "settings.themes" [PREFERENCES] "Every theme with its colors."
    (context, _none: NoParams) -> ThemesReply {
        look(context, |preferences| Ok(ThemesReply { themes: preferences.themes() })).await
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ThemeReply {
    /// A theme's name, or a name for each appearance: `{light, dark}`.
    theme: Value,
    /// The title of the dark appearance's theme.
    color_scheme: String,
}

#[derive(Serialize, JsonSchema)]
pub struct AppliedTheme {
    applied: bool,
    #[serde(flatten)]
    theme: ThemeReply,
}

/// The theme's name in a value of the preference. If the value contains two themes: the dark theme.
pub(super) fn theme_name(theme: &Value) -> &str {
    theme.as_str().or_else(|| theme["dark"].as_str()).unwrap_or_default()
}

fn theme(preferences: &dyn Preferences) -> ChangeResult<ThemeReply> {
    let theme = preferences.get()?["theme"].take();
    let name = theme_name(&theme);
    let info = preferences.themes().into_iter().find(|info| info.name == name);
    let color_scheme = info.map_or_else(|| name.to_owned(), |info| info.title);
    Ok(ThemeReply { theme, color_scheme })
}

method! {
    /// `GET /api/settings/theme`
    Theme "settings.theme" [PREFERENCES] "The theme in force."
    (context, _none: NoParams) -> ThemeReply {
        look(context, theme).await
    }
}

/// A theme, or a theme for each appearance of the desktop. If only one appearance is given, the other appearance keeps
/// its theme.
#[derive(Deserialize, JsonSchema)]
pub struct SetThemeParams {
    /// The theme for both appearances.
    #[serde(default)]
    #[schemars(with = "String")]
    name: Option<String>,
    /// The theme for the light appearance.
    #[serde(default)]
    #[schemars(with = "String")]
    light: Option<String>,
    /// The theme for the dark appearance.
    #[serde(default)]
    #[schemars(with = "String")]
    dark: Option<String>,
}

impl SetThemeParams {
    /// The path of the preference, and its new value.
    fn change(self) -> Result<(Vec<String>, Option<Value>)> {
        let (path, value) = match (self.name, self.light, self.dark) {
            (Some(name), ..) => (path(GENERAL, "theme"), json!(name)),
            (None, Some(light), Some(dark)) => {
                (path(GENERAL, "theme"), json!({"light": light, "dark": dark}))
            }
            (None, Some(light), None) => (path("theme", "light"), json!(light)),
            (None, None, Some(dark)) => (path("theme", "dark"), json!(dark)),
            (None, None, None) => {
                let why = "Give a theme: 'name', or 'light', 'dark' or both";
                return Err(Error::Failed(why.to_owned()));
            }
        };
        Ok((path, Some(value)))
    }
}

method! {
    /// `POST /api/theme`
    SetTheme "settings.set_theme" [PREFERENCES] changes PREFERENCES "Changes the theme."
    (context, params: SetThemeParams) -> AppliedTheme {
        change(context, vec![params.change()?]).await?;
        Ok(AppliedTheme { applied: true, theme: look(context, theme).await? })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct KeysReply {
    actions: Vec<ActionKeys>,
    /// The user's own bindings from the file.
    own: Value,
}

fn keys(preferences: &dyn Preferences) -> ChangeResult<KeysReply> {
    let own = preferences.get()?["keys"].take();
    Ok(KeysReply { actions: preferences.keys(), own })
}

method! {
    /// `GET /api/settings/keys`
    Keys "settings.keys" [PREFERENCES] "Every action with its keys."
    (context, _none: NoParams) -> KeysReply {
        look(context, keys).await
    }
}

/// Bindings of keys to actions.
#[derive(Deserialize, JsonSchema)]
pub struct SetKeysParams {
    /// The keys with their actions, such as `"ctrl+shift+t": "new_tab"`, or with an argument `"activate_tab:1"`.
    /// `"none"` leaves the key to programs. `null` removes the user's binding.
    #[schemars(with = "BTreeMap<String, Value>")]
    keys: Option<Value>,
}

impl SetKeysParams {
    /// The changed keys, each with its action. A key without an action is removed from the file.
    fn changes(self) -> Result<Vec<(Vec<String>, Option<Value>)>> {
        let given = match self.keys {
            Some(Value::Object(keys)) => keys,
            other => {
                let expected = r#"an object of keys, such as {"ctrl+shift+t": "new_tab"}"#;
                let got = other.map_or_else(|| "nothing".to_owned(), |other| other.to_string());
                return Err(Error::Invalid { name: "keys", expected: expected.to_owned(), got });
            }
        };
        let change = |(key, action): (String, Value)| match action {
            Value::Null => Ok((path("keys", &key), None)),
            Value::String(_) => Ok((path("keys", &key), Some(action))),
            got => Err(Error::Invalid {
                name: "keys",
                expected: format!(
                    "an action's name for {key:?}, such as \"new_tab\", or null to take it out"
                ),
                got: got.to_string(),
            }),
        };
        given.into_iter().map(change).collect()
    }
}

method! {
    /// `PUT /api/settings/keys`
    SetKeys "settings.set_keys" [PREFERENCES] changes PREFERENCES "Binds keys to actions, or leaves them to programs. Makes all changes or none."
    (context, params: SetKeysParams) -> KeysReply {
        change(context, params.changes()?).await?;
        look(context, keys).await
    }
}

//! Preferences with their own forms on the page: history lines, the terminal's name and the page's language.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    super::languages,
    ChangeResult, method,
    preferences::{GENERAL, change, look, path},
};
use crate::{
    error::{Error, Result},
    host::Preferences,
    methods::{Context, params::NoParams},
};

/// The minimum and the maximum number of history lines.
const SCROLLBACK: std::ops::RangeInclusive<u64> = 100..=999_999_999;
/// The choices for `TERM_PROGRAM`.
const PRESETS: [&str; 7] =
    ["unterm", "WezTerm", "ghostty", "iTerm.app", "kitty", "vscode", "Apple_Terminal"];

#[derive(Serialize, JsonSchema)]
pub struct ScrollbackReply {
    pub(super) lines: u64,
    pub(super) default: u64,
    pub(super) max: u64,
    min: u64,
}

pub(super) fn scrollback(preferences: &dyn Preferences) -> ChangeResult<ScrollbackReply> {
    let lines = |all: &Value| all["scrollback"]["lines"].as_u64().unwrap_or_default();
    Ok(ScrollbackReply {
        lines: lines(&preferences.get()?),
        default: lines(&preferences.describe().defaults),
        max: *SCROLLBACK.end(),
        min: *SCROLLBACK.start(),
    })
}

method! {
    /// `GET /api/scrollback`
    Scrollback "settings.scrollback" [PREFERENCES] "Returns the number of history lines, with its limits."
    (context, _none: NoParams) -> ScrollbackReply {
        look(context, scrollback).await
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SetScrollbackParams {
    lines: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct AppliedScrollback {
    applied: bool,
    lines: u64,
    /// Open panes keep their number of lines.
    requires_restart_for_existing_panes: bool,
}

method! {
    /// `POST /api/scrollback`
    SetScrollback "settings.set_scrollback" [PREFERENCES] changes PREFERENCES "Sets the number of history lines."
    (context, params: SetScrollbackParams) -> AppliedScrollback {
        if !SCROLLBACK.contains(&params.lines) {
            return Err(Error::Invalid {
                name: "lines",
                expected: format!("from {} to {}", SCROLLBACK.start(), SCROLLBACK.end()),
                got: params.lines.to_string(),
            });
        }
        change(context, vec![(path("scrollback", "lines"), Some(json!(params.lines)))]).await?;
        Ok(AppliedScrollback {
            applied: true,
            lines: params.lines,
            requires_restart_for_existing_panes: true,
        })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CompatReply {
    /// The value of `TERM_PROGRAM`.
    term_program: String,
    default: String,
    presets: [&'static str; PRESETS.len()],
}

method! {
    /// `GET /api/compat`
    Compat "settings.compat" [PREFERENCES] "Returns the terminal's name for programs (`TERM_PROGRAM`)."
    (context, _none: NoParams) -> CompatReply {
        look(context, |preferences| {
            let name = |all: &Value| {
                all["compat"]["term_program"].as_str().unwrap_or_default().to_owned()
            };
            let default = name(&preferences.describe().defaults);
            Ok(CompatReply { term_program: name(&preferences.get()?), default, presets: PRESETS })
        })
        .await
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SetCompatParams {
    term_program: String,
}

#[derive(Serialize, JsonSchema)]
pub struct AppliedCompat {
    applied: bool,
    term_program: String,
    /// Running programs keep their environment.
    requires_new_shell: bool,
}

method! {
    /// `POST /api/compat`
    SetCompat "settings.set_compat" [PREFERENCES] changes PREFERENCES "Sets the terminal's name for programs (`TERM_PROGRAM`)."
    (context, params: SetCompatParams) -> AppliedCompat {
        let name = params.term_program;
        if name.is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
            return Err(Error::Invalid {
                name: "term_program",
                expected: "1 to 64 characters, none of them a control character".to_owned(),
                got: format!("{name:?}"),
            });
        }
        change(context, vec![(path("compat", "term_program"), Some(json!(name)))]).await?;
        Ok(AppliedCompat { applied: true, term_program: name, requires_new_shell: true })
    }
}

/// A language.
#[derive(Serialize, JsonSchema)]
pub struct Available {
    code: &'static str,
    /// The language's name in that language.
    name: &'static str,
}

/// The languages of the page.
#[derive(Serialize, JsonSchema)]
pub struct Languages {
    current: &'static str,
    available: Vec<Available>,
}

#[derive(Serialize, JsonSchema)]
pub struct LanguageReply {
    #[serde(flatten)]
    languages: Languages,
    /// The texts in the current language.
    dict: Map<String, Value>,
}

async fn current_languages(context: &Context) -> Result<Languages> {
    let preferred = look(context, |preferences| Ok(preferences.get()?["language"].take())).await?;
    let available = languages::all().map(|(code, name)| Available { code, name }).collect();
    let current = languages::current(preferred.as_str().unwrap_or_default());
    Ok(Languages { current, available })
}

method! {
    /// `GET /api/i18n`
    Language "settings.language" [PREFERENCES] "Lists the settings page's languages, with the texts of the current one."
    (context, _none: NoParams) -> LanguageReply {
        let languages = current_languages(context).await?;
        let dict = languages::words(languages.current).unwrap_or_default();
        Ok(LanguageReply { languages, dict })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct SetLanguageParams {
    /// A code such as `de-DE`, or `auto` for the environment's language.
    lang: String,
}

method! {
    /// `POST /api/i18n`
    SetLanguage "settings.set_language" [PREFERENCES] changes PREFERENCES "Sets the settings page's language."
    (context, params: SetLanguageParams) -> Languages {
        let lang = match params.lang.as_str() {
            "auto" => "auto",
            lang => languages::find(lang)
                .ok_or_else(|| Error::Failed(format!("There is no language {lang:?}")))?,
        };
        change(context, vec![(path(GENERAL, "language"), Some(json!(lang)))]).await?;
        current_languages(context).await
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct WordsParams {
    /// The language's code, such as `de-DE`.
    code: String,
}

method! {
    /// `GET /api/i18n/{code}`
    Words "settings.words" [INSTANCE] "The words of a language."
    (_context, params: WordsParams) -> Map<String, Value> {
        languages::words(&params.code)
            .ok_or_else(|| Error::Failed(format!("There is no language {:?}", params.code)))
    }
}

//! The table of routes. Each row contains a method, and the conversion of a request to the method's parameters. The
//! router and the OpenAPI description are built from the table.

use axum::http::{Method as Verb, StatusCode};

use super::methods as own;
use crate::methods::{
    Entry, Method, approvals, entry, instance, policy, proxy, recording, server, session, token,
};

/// The form of a response.
#[derive(Clone, Copy)]
pub enum Shape {
    /// The method's reply.
    Json,
    /// An object that contains the reply under this name.
    Under(&'static str),
    /// The text that the reply contains under this name, as plain text.
    Text(&'static str),
}

/// A route.
pub struct Route {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub verb: Verb,
    /// The address. `{name}` stands for a parameter.
    pub path: &'static str,
    /// The method to call.
    pub entry: Entry,
    /// The parameters whose names differ from the method's. Each pair contains the name in the request and the name in
    /// the method.
    pub names: &'static [(&'static str, &'static str)],
    /// Parameters with fixed values for this address.
    pub fixed: &'static [(&'static str, &'static str)],
    /// The form of the response.
    pub shape: Shape,
    /// The HTTP status if the method fails.
    pub failed: StatusCode,
}

impl Route {
    const fn names(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.names = names;
        self
    }

    const fn fixed(mut self, fixed: &'static [(&'static str, &'static str)]) -> Self {
        self.fixed = fixed;
        self
    }

    const fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    const fn failed(mut self, failed: StatusCode) -> Self {
        self.failed = failed;
        self
    }
}

const fn route<M: Method>(verb: Verb, path: &'static str) -> Route {
    Route {
        verb,
        path,
        entry: entry::<M>(),
        names: &[],
        fixed: &[],
        shape: Shape::Json,
        failed: StatusCode::BAD_REQUEST,
    }
}

const NOT_FOUND: StatusCode = StatusCode::NOT_FOUND;
const PANE: &[(&str, &str)] = &[("pane_id", "id")];
const SESSION: &[(&str, &str)] = &[("id", "session_id")];

/// Every route. First come the routes for preferences, then the routes that all versions of Unterm have, then the
/// page's other routes.
pub static ROUTES: &[Route] = &[
    route::<own::All>(Verb::GET, "/api/settings"),
    route::<own::Themes>(Verb::GET, "/api/settings/themes"),
    route::<own::Theme>(Verb::GET, "/api/settings/theme"),
    route::<own::SetTheme>(Verb::PUT, "/api/settings/theme"),
    route::<own::Keys>(Verb::GET, "/api/settings/keys"),
    route::<own::SetKeys>(Verb::PUT, "/api/settings/keys"),
    route::<own::Scrollback>(Verb::GET, "/api/settings/scrollback"),
    route::<own::SetScrollback>(Verb::PUT, "/api/settings/scrollback"),
    route::<own::Compat>(Verb::GET, "/api/settings/compat"),
    route::<own::SetCompat>(Verb::PUT, "/api/settings/compat"),
    route::<proxy::Status>(Verb::GET, "/api/settings/proxy"),
    route::<own::SetProxy>(Verb::PUT, "/api/settings/proxy"),
    route::<own::Language>(Verb::GET, "/api/settings/i18n"),
    route::<own::SetLanguage>(Verb::PUT, "/api/settings/i18n"),
    route::<own::Recording>(Verb::GET, "/api/settings/recording"),
    route::<own::SetRecording>(Verb::PUT, "/api/settings/recording"),
    route::<own::Section>(Verb::GET, "/api/settings/font").fixed(&[("section", "font")]),
    route::<own::SetSection>(Verb::PUT, "/api/settings/font").fixed(&[("section", "font")]),
    route::<own::Section>(Verb::GET, "/api/settings/cursor").fixed(&[("section", "cursor")]),
    route::<own::SetSection>(Verb::PUT, "/api/settings/cursor").fixed(&[("section", "cursor")]),
    route::<own::Section>(Verb::GET, "/api/settings/bell").fixed(&[("section", "bell")]),
    route::<own::SetSection>(Verb::PUT, "/api/settings/bell").fixed(&[("section", "bell")]),
    route::<own::Section>(Verb::GET, "/api/settings/window").fixed(&[("section", "window")]),
    route::<own::SetSection>(Verb::PUT, "/api/settings/window").fixed(&[("section", "window")]),
    route::<own::Section>(Verb::GET, "/api/settings/{section}"),
    route::<own::SetSection>(Verb::PUT, "/api/settings/{section}"),
    route::<own::Answers>(Verb::GET, "/api/health"),
    route::<own::State>(Verb::GET, "/api/state"),
    route::<own::SetProxy>(Verb::POST, "/api/proxy"),
    route::<own::SetTheme>(Verb::POST, "/api/theme"),
    route::<own::Scrollback>(Verb::GET, "/api/scrollback"),
    route::<own::SetScrollback>(Verb::POST, "/api/scrollback"),
    route::<own::Compat>(Verb::GET, "/api/compat"),
    route::<own::SetCompat>(Verb::POST, "/api/compat"),
    route::<own::Updates>(Verb::GET, "/api/updates"),
    route::<own::CheckUpdates>(Verb::POST, "/api/updates/check").failed(StatusCode::BAD_GATEWAY),
    route::<recording::Start>(Verb::POST, "/api/recording/start").names(PANE),
    route::<recording::Stop>(Verb::POST, "/api/recording/stop").names(PANE),
    route::<recording::List>(Verb::GET, "/api/sessions").shape(Shape::Under("sessions")),
    route::<recording::Read>(Verb::GET, "/api/sessions/{id}/markdown")
        .names(SESSION)
        .shape(Shape::Text("markdown"))
        .failed(NOT_FOUND),
    route::<own::Language>(Verb::GET, "/api/i18n"),
    route::<own::SetLanguage>(Verb::POST, "/api/i18n"),
    route::<own::Words>(Verb::GET, "/api/i18n/{code}").failed(NOT_FOUND),
    route::<proxy::Nodes>(Verb::GET, "/api/proxy/nodes"),
    route::<proxy::Configure>(Verb::PUT, "/api/proxy/nodes"),
    route::<proxy::Switch>(Verb::POST, "/api/proxy/switch"),
    route::<proxy::Speedtest>(Verb::POST, "/api/proxy/speedtest"),
    route::<proxy::Env>(Verb::GET, "/api/proxy/env"),
    route::<session::List>(Verb::GET, "/api/panes"),
    route::<own::Search>(Verb::GET, "/api/sessions/search"),
    route::<own::Agents>(Verb::GET, "/api/agents"),
    route::<own::Pause>(Verb::POST, "/api/agents/pause"),
    route::<own::ClosePage>(Verb::POST, "/api/agents/close_page").failed(NOT_FOUND),
    route::<token::List>(Verb::GET, "/api/tokens"),
    route::<token::Create>(Verb::POST, "/api/tokens"),
    route::<token::Revoke>(Verb::POST, "/api/tokens/revoke"),
    route::<approvals::List>(Verb::GET, "/api/approvals"),
    route::<approvals::Answer>(Verb::POST, "/api/approvals/answer"),
    route::<approvals::Forget>(Verb::POST, "/api/approvals/forget"),
    route::<own::Policy>(Verb::GET, "/api/policy"),
    route::<policy::Set>(Verb::PUT, "/api/policy"),
    route::<policy::Check>(Verb::POST, "/api/policy/check"),
    route::<server::Capabilities>(Verb::GET, "/api/capabilities"),
    route::<instance::List>(Verb::GET, "/api/instances"),
    route::<own::Title>(Verb::GET, "/api/project"),
    route::<instance::SetTitle>(Verb::PUT, "/api/project"),
];

/// The methods that only this dialect has. One of them has the name of a common method, but other parameters.
#[cfg(test)]
pub fn own_methods() -> impl Iterator<Item = &'static Entry> {
    let entries = ROUTES.iter().map(|route| &route.entry);
    entries.filter(|entry| {
        let common = crate::methods::find(entry.name);
        common.is_none_or(|common| common.params_schema() != entry.params_schema())
    })
}

/// The address where the page exchanges its login code for a token. This and the following addresses call no method.
pub const BOOTSTRAP: &str = "/bootstrap.json";
/// The address of the events.
pub const EVENTS: &str = "/api/events";
/// The address of the OpenAPI description.
pub const OPENAPI: &str = "/api/openapi.json";

//! The names that exist on a server at present, for completions.

use serde_json::{Value, json};

/// The requests that completions make to a server. Names may change at any time, so each completion may make new
/// requests.
pub trait Server {
    /// The names of the server's methods.
    fn methods(&self) -> Vec<String>;
    /// The result of a method call. `None` if the call fails or takes too long.
    fn ask(&self, method: &str, params: Value) -> Option<Value>;
}

/// The ids of the sessions.
pub fn sessions(server: &dyn Server) -> Vec<String> {
    let found = server.ask("session.list", json!({})).unwrap_or_default();
    texts(&found["sessions"])
}

/// The ids of the adapters, each with the name of its plugin.
pub fn adapters(server: &dyn Server) -> Vec<(String, String)> {
    let found = server.ask("adapter.live", json!({})).unwrap_or_default();
    let all = found["adapters"].as_array().cloned().unwrap_or_default();
    all.iter()
        .filter_map(|one| {
            Some((one["adapter"].as_str()?.to_owned(), one["plugin"].as_str()?.to_owned()))
        })
        .collect()
}

/// The names of the plugins.
pub fn plugins(server: &dyn Server) -> Vec<String> {
    let found = server.ask("adapter.list", json!({})).unwrap_or_default();
    named(&found["plugins"]).into_iter().map(|(name, _)| name).collect()
}

/// The description that a plugin returns of itself.
pub fn description(server: &dyn Server, plugin: &str) -> Value {
    server.ask("plugin.describe", json!({"plugin": plugin})).unwrap_or_default()
}

/// The names in a list of objects, each with the object's description.
pub fn named(list: &Value) -> Vec<(String, String)> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let about = |one: &Value| one["description"].as_str().unwrap_or_default().to_owned();
    all.iter().filter_map(|one| Some((one["name"].as_str()?.to_owned(), about(one)))).collect()
}

fn texts(list: &Value) -> Vec<String> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

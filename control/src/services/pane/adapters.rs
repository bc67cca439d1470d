//! Panes that plugins watch: the state of the program in each pane, read from its screen.
//!
//! A plugin's `classify` reads the screen after each change and names the state, such as `waiting_for_permission`. Each
//! new state is an event of the [`Hub`]. Programs choose what their screens show, so a state is a claim and not a fact.
//!
//! Owns the list of watched panes, with the plugin and the tokens of each. It never types and stores no output: plugins
//! see only the screen. A pane is watched until its program ends, or until no token holds the adapter any longer.

mod adapter;
mod debounce;
mod follow;
mod program;
mod timing;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use unterm_mux::{Pane, PaneId};
use unterm_plugin::{Limits, Manifest, Permission, Registry};

pub use self::adapter::{Adapter, End, Progress, Reading};
pub use self::program::names;
use self::{
    follow::{Reader, follow},
    program::Program,
};
use super::{events::Hub, plugin_calls::Calls};
use crate::{
    caller::TokenKind,
    error::{Error, Result},
    offload::blocking,
    services::people::tokens::Tokens,
    untrusted,
};

/// The maximum number of adapters.
const MOST: usize = 64;
/// The maximum number of adapters that one agent's token may hold.
const MOST_OF_AGENT: usize = 16;
/// The maximum number of screens that are read at the same time.
const READERS: usize = 2;

/// The watched panes of a mux.
pub struct Adapters {
    plugins: OnceLock<Arc<Registry>>,
    hub: Arc<Hub>,
    tokens: Arc<Tokens>,
    turns: Arc<Semaphore>,
    /// Called after each new state.
    changed: Box<dyn Fn() + Send + Sync>,
    /// The adapters, by pane and plugin.
    all: Mutex<BTreeMap<(PaneId, String), Arc<Adapter>>>,
}

impl Adapters {
    /// Creates an empty set. Each new state becomes an event of `hub`, and then `changed` is called. An adapter ends
    /// when all tokens that hold it have ended.
    pub fn new(
        hub: Arc<Hub>,
        tokens: Arc<Tokens>,
        changed: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            plugins: OnceLock::new(),
            hub,
            tokens,
            turns: Arc::new(Semaphore::new(READERS)),
            changed: Box::new(changed),
            all: Mutex::default(),
        })
    }

    /// The plugins, which are loaded at the first use, because most instances never watch a pane.
    fn plugins(&self) -> &Arc<Registry> {
        self.plugins.get_or_init(|| {
            Arc::new(Registry::new(Limits { instances: MOST + 16, ..Limits::default() }))
        })
    }

    /// Watches a pane for a token, unless the token already watches it. `plugin`: the plugin's name; if it is `None`,
    /// the plugin for the program in the pane's foreground. Returns once the plugin has read the screen.
    ///
    /// # Errors
    /// No plugin fits, the plugin can't run or may not read screens, there are too many adapters, or the program has
    /// ended.
    pub async fn attach(
        self: &Arc<Self>,
        token: TokenKind,
        pane: &Arc<Pane>,
        plugin: Option<&str>,
    ) -> Result<Arc<Adapter>> {
        let (adapters, of, named) = (self.clone(), pane.clone(), plugin.map(str::to_owned));
        let chosen = blocking(move || adapters.choose(&of, named.as_deref())).await?;
        let (manifest, program) = chosen?;
        let adapter = self.held(token, pane, manifest.name, program)?;
        let mut progress = adapter.progress.subscribe();
        let begun = progress.wait_for(|progress| *progress != Progress::Starting).await;
        match begun.as_deref() {
            Ok(Progress::Ended(end)) => Err(adapter.ended(end)),
            _ => {
                drop(begun);
                Ok(adapter)
            }
        }
    }

    /// Chooses the plugin that watches a pane, and the program that it watches. If a caller names a plugin that is made
    /// for another program, the plugin watches the whole pane. May block for a moment.
    fn choose(&self, pane: &Pane, named: Option<&str>) -> Result<(Manifest, Program)> {
        let (front, names) = (Program::in_front(pane), names(pane));
        let is_for = |manifest: &Manifest| names.iter().any(|name| manifest.is_for(name));
        let mut all = self.plugins().manifests();
        let found = all.iter().position(|manifest| match named {
            Some(name) => manifest.name == name,
            None => is_for(manifest),
        });
        let Some(found) = found else {
            let known: Vec<_> = all.iter().map(|manifest| manifest.name.as_str()).collect();
            let expected = format!("one of {}", known.join(", "));
            let (expected, got) = match named {
                Some(name) => (expected, untrusted::line(name, 80)),
                None => {
                    let program = names.first().map_or("a program without a name", String::as_str);
                    let (id, program) = (pane.id().0, untrusted::line(program, 80));
                    let why = format!("since none is for “{program}” in session {id}");
                    (format!("{expected}, {why}"), "nothing".to_owned())
                }
            };
            return Err(Error::Invalid { name: "plugin", expected, got });
        };
        let found = all.swap_remove(found);
        if !found.has(Permission::ScreenRead) {
            let (name, permission) = (&found.name, Permission::ScreenRead.name());
            return Err(Error::Failed(format!(
                "The plugin {name} may not watch a session: its manifest lacks the permission {permission}"
            )));
        }
        let program = if is_for(&found) { front } else { Program::of_pane() };
        Ok((found, program))
    }

    /// The adapter of a pane and a plugin. The token holds it from now on.
    fn held(
        self: &Arc<Self>,
        token: TokenKind,
        pane: &Arc<Pane>,
        plugin: String,
        program: Program,
    ) -> Result<Arc<Adapter>> {
        let mut all = self.all.lock();
        let key = (pane.id(), plugin);
        let there = all.get(&key).filter(|adapter| !adapter.program.is_gone(pane));
        if there.is_some_and(|adapter| adapter.holders.borrow().contains(&token)) {
            return Ok(all[&key].clone());
        }
        if matches!(token, TokenKind::Agent(_)) {
            let of_agent = all.values().filter(|it| it.holders.borrow().contains(&token)).count();
            if of_agent >= MOST_OF_AGENT {
                return Err(Error::Failed(format!(
                    "This token watches {MOST_OF_AGENT} sessions already; detach an adapter first"
                )));
            }
        }
        if let Some(adapter) = there {
            adapter.holders.send_modify(|holders| holders.push(token));
            return Ok(adapter.clone());
        }
        if all.len() >= MOST && !all.contains_key(&key) {
            return Err(Error::Failed(format!(
                "{MOST} adapters watch sessions already; detach one first"
            )));
        }
        let adapter = Arc::new(Adapter {
            pane: key.0,
            plugin: key.1.clone(),
            program,
            holders: watch::Sender::new(vec![token]),
            progress: watch::Sender::new(Progress::Starting),
        });
        // An earlier adapter of this pane and plugin ends by itself, because its program is gone.
        all.insert(key, adapter.clone());
        drop(all);
        tokio::spawn(self.clone().watch(adapter.clone(), pane.clone()));
        Ok(adapter)
    }

    /// Watches a pane until its adapter ends.
    async fn watch(self: Arc<Self>, adapter: Arc<Adapter>, pane: Arc<Pane>) {
        let calls = Calls::default();
        let (plugins, name) = (self.plugins().clone(), adapter.plugin.clone());
        let loaded = calls.run(move || plugins.adapter(&name)).await;
        let loaded = loaded.and_then(|it| it.map_err(|error| Error::Failed(error.to_string())));
        let end = match loaded {
            Ok(instance) => {
                let (turns, tokens) = (self.turns.clone(), self.tokens.clone());
                let reader = Reader { pane, instance: Arc::new(instance), calls, turns, tokens };
                follow(&adapter, &reader, || self.publish(&adapter)).await
            }
            Err(error) => End::Failed(error.to_string()),
        };
        self.all.lock().retain(|_, other| !Arc::ptr_eq(other, &adapter));
        adapter.progress.send_replace(Progress::Ended(end));
        self.publish(&adapter);
    }

    fn publish(&self, adapter: &Adapter) {
        let plugin = &adapter.plugin;
        let event = match &*adapter.progress.borrow() {
            Progress::Starting => return,
            Progress::Read(Reading { state, since, .. }) => {
                json!({"plugin": plugin, "state": state, "since": since, "source": SOURCE})
            }
            Progress::Ended(end) => json!({"plugin": plugin, "state": null, "ended": end.name()}),
        };
        self.hub.adapter_state(adapter.pane, event);
        (self.changed)();
    }

    /// Ends a token's interest in a pane, for one plugin or, if `plugin` is `None`, for all plugins. Returns the number
    /// of adapters that the token held.
    pub fn detach(&self, token: TokenKind, pane: PaneId, plugin: Option<&str>) -> usize {
        let mut count = 0;
        self.all.lock().retain(|(of, name), adapter| {
            if *of != pane || plugin.is_some_and(|plugin| plugin != name) {
                return true;
            }
            adapter.holders.send_if_modified(|holders| {
                let before = holders.len();
                holders.retain(|holder| *holder != token);
                count += before - holders.len();
                holders.len() < before
            });
            !adapter.holders.borrow().is_empty()
        });
        count
    }

    /// The adapters, by pane and plugin.
    pub fn all(&self) -> Vec<Arc<Adapter>> {
        self.all.lock().values().cloned().collect()
    }
}

/// The source of a state in events and replies: the text of the screen.
pub const SOURCE: &str = "screen";

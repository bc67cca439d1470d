//! The plugins of a server, the permission for clients to load more plugins, and calls of the plugins' functions.
//!
//! A call of a plugin may block for several seconds. Each call runs on its own thread, so that neither the async
//! workers nor the few threads for files and programs wait for a plugin. See [`Calls`].

pub mod methods;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::Value;
use unterm_plugin::{
    CallError, Instance, LoadError, Manifest, PredicateInput, PredicateOutcome, Registry,
};

use super::error::{Error, Result};
use crate::services::pane::plugin_calls::Calls;

/// The plugins of a server.
pub struct Plugins {
    registry: Arc<Registry>,
    may_load: bool,
    /// The turns of calls of `plugin.load`.
    loads: Calls,
    /// The turns of predicate calls, by the plugin's name.
    predicates: Mutex<BTreeMap<String, Calls>>,
}

impl Plugins {
    /// Loads the built-in plugins, and the plugins whose manifests are at `paths`. `may_load`: whether clients may load
    /// and unload other plugins. Blocks while the plugins' files run.
    ///
    /// # Errors
    /// A plugin can't be loaded.
    pub fn load(paths: &[PathBuf], may_load: bool) -> Result<Self, LoadError> {
        let registry = Registry::default();
        for path in paths {
            registry.load(path)?;
        }
        Ok(Self {
            registry: Arc::new(registry),
            may_load,
            loads: Calls::default(),
            predicates: Mutex::default(),
        })
    }

    /// The manifests of all plugins, by name.
    pub fn manifests(&self) -> Vec<Manifest> {
        self.registry.manifests()
    }

    /// The manifest of a plugin.
    ///
    /// # Errors
    /// There is no such plugin.
    pub fn manifest(&self, name: &str) -> Result<Manifest> {
        let manifest = self.registry.manifest(name);
        manifest
            .ok_or_else(|| Error::invalid_params(CallError::NoPlugin(name.to_owned()).to_string()))
    }

    /// Creates an instance of a plugin, with the turns of its calls.
    ///
    /// # Errors
    /// There is no such plugin, its file fails, or there are too many instances.
    pub async fn instance(&self, name: &str, method: &str) -> Result<(Arc<Instance>, Calls)> {
        let (registry, name) = (self.registry.clone(), name.to_owned());
        let calls = Calls::default();
        let instance = calls.run(move || registry.adapter(&name)).await?;
        Ok((Arc::new(instance.map_err(|error| refused(&error, method))?), calls))
    }

    /// Asks a predicate. `method`: the method that the client called, for errors.
    ///
    /// # Errors
    /// There is no such plugin or function, or the function fails.
    pub async fn predicate(
        &self,
        plugin: &str,
        predicate: &str,
        input: PredicateInput,
        method: &'static str,
    ) -> Result<PredicateOutcome> {
        let (registry, plugin, predicate) =
            (self.registry.clone(), plugin.to_owned(), predicate.to_owned());
        let calls = self.calls(&plugin)?;
        let asked = calls.run(move || registry.predicate(&plugin, &predicate, &input)).await?;
        asked.map_err(|error| refused(&error, method))
    }

    async fn describe(&self, plugin: String) -> Result<Value> {
        let registry = self.registry.clone();
        let described = self.calls(&plugin)?.run(move || registry.describe(&plugin)).await?;
        described.map_err(|error| refused(&error, "plugin.describe"))
    }

    async fn load_more(&self, path: &Path) -> Result<String> {
        let (registry, path) = (self.registry.clone(), path.to_owned());
        let loaded = self.loads.run(move || registry.load(&path)).await?;
        let loaded = loaded.map_err(|error| Error::invalid_params(error.to_string()))?;
        tracing::info!(plugin = loaded, "a plugin was loaded");
        Ok(loaded)
    }

    fn unload(&self, name: &str) -> Result<()> {
        let unloaded = self.registry.unload(name);
        unloaded.map_err(|error| Error::invalid_params(error.to_string()))?;
        self.predicates.lock().remove(name);
        Ok(())
    }

    /// The turns of a plugin's predicate calls. All of them use one instance.
    fn calls(&self, plugin: &str) -> Result<Calls> {
        self.manifest(plugin)?;
        Ok(self.predicates.lock().entry(plugin.to_owned()).or_default().clone())
    }
}

/// The error for a failed call of a plugin. `method`: the method that the client called.
pub fn refused(error: &CallError, method: &str) -> Error {
    let message = error.to_string();
    match error {
        CallError::NoPlugin(_) | CallError::NoFunction(_) => Error::invalid_params(message),
        CallError::Permission { permission, .. } => {
            Error::permission(message, method, permission.name())
        }
        CallError::Script { .. }
        | CallError::Limit { .. }
        | CallError::Result { .. }
        | CallError::Busy(_)
        | CallError::Ended { .. } => Error::internal(message),
    }
}

//! The built-in and the loaded plugins, by name.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use parking_lot::Mutex;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    builtin,
    context::PredicateInput,
    error::{CallError, LoadError},
    folder,
    instance::Instance,
    limits::Limits,
    manifest::Manifest,
    outcome::PredicateOutcome,
    text::quoted,
    worker::{Program, Threads},
};

/// The maximum number of loaded plugins, without the built-in ones.
const LOADED: usize = 32;

/// The plugins of a server. All methods can be called from several threads.
pub struct Registry {
    threads: Arc<Threads>,
    plugins: Mutex<BTreeMap<String, Plugin>>,
}

#[derive(Clone)]
struct Plugin {
    program: Arc<Program>,
    built_in: bool,
    /// The instance that runs predicates and `describe()`. Predicates can't access the variables of adapters.
    predicates: Arc<Instance>,
    /// Each adapter's instance has a copy of this value, so the number of copies shows whether the plugin is used.
    bound: Arc<()>,
}

/// The reason that a plugin was not unloaded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnloadError {
    /// There is no plugin with this name.
    #[error("unknown plugin {}: no plugin of this name is loaded", quoted(.0))]
    Unknown(String),
    /// The plugin is built in.
    #[error("{} is built in, and can't be unloaded", quoted(.0))]
    BuiltIn(String),
    /// Adapters use the plugin.
    #[error("the plugin {} has live adapters ({count}); close them first", quoted(.plugin))]
    Bound {
        /// The name of the plugin.
        plugin: String,
        /// The number of adapters.
        count: usize,
    },
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Registry {
    /// Creates a registry with the built-in plugins.
    pub fn new(limits: Limits) -> Self {
        let registry = Self { threads: Threads::new(limits), plugins: Mutex::default() };
        let mut plugins = BTreeMap::new();
        for program in builtin::programs() {
            plugins.insert(program.manifest.name.clone(), registry.plugin(program, true));
        }
        *registry.plugins.lock() = plugins;
        registry
    }

    /// The manifests of all plugins, by name.
    pub fn manifests(&self) -> Vec<Manifest> {
        let plugins = self.plugins.lock();
        plugins.values().map(|plugin| plugin.program.manifest.clone()).collect()
    }

    /// The manifests of the built-in plugins, by name.
    pub fn built_in_manifests(&self) -> Vec<Manifest> {
        let plugins = self.plugins.lock();
        let built_in = plugins.values().filter(|plugin| plugin.built_in);
        built_in.map(|plugin| plugin.program.manifest.clone()).collect()
    }

    /// The manifest of the plugin `name`.
    pub fn manifest(&self, name: &str) -> Option<Manifest> {
        self.plugins.lock().get(name).map(|plugin| plugin.program.manifest.clone())
    }

    /// Loads the plugin whose manifest is at `path`, and returns its name. Blocks while the plugin's file runs.
    pub fn load(&self, path: &Path) -> Result<String, LoadError> {
        let text = folder::manifest(path).map_err(LoadError::File)?;
        let manifest = Manifest::from_toml(&text)
            .map_err(|error| LoadError::Manifest { path: path.display().to_string(), error })?;
        let name = manifest.name.clone();
        check_free(&self.plugins.lock(), &name)?;
        let source = folder::source(path, &manifest.entrypoint).map_err(LoadError::File)?;
        let plugin = self.plugin(Program { manifest, source }, false);
        plugin
            .predicates
            .load()
            .map_err(|error| LoadError::Source { plugin: name.clone(), error })?;
        let mut plugins = self.plugins.lock();
        // Another thread may have loaded a plugin with the same name meanwhile.
        check_free(&plugins, &name)?;
        plugins.insert(name.clone(), plugin);
        Ok(name)
    }

    /// Unloads the plugin `name`. Fails if an adapter of the plugin exists.
    pub fn unload(&self, name: &str) -> Result<(), UnloadError> {
        let mut plugins = self.plugins.lock();
        let Some(plugin) = plugins.get(name) else {
            return Err(UnloadError::Unknown(name.into()));
        };
        if plugin.built_in {
            return Err(UnloadError::BuiltIn(name.into()));
        }
        let count = Arc::strong_count(&plugin.bound) - 1;
        if count > 0 {
            return Err(UnloadError::Bound { plugin: name.into(), count });
        }
        plugins.remove(name);
        Ok(())
    }

    /// Creates the instance of an adapter, and runs the plugin's file. While the instance exists, its plugin can't be
    /// unloaded.
    pub fn adapter(&self, name: &str) -> Result<Instance, CallError> {
        let instance = {
            let plugins = self.plugins.lock();
            let plugin = plugins.get(name).ok_or_else(|| unknown(name))?;
            let bound = Some(plugin.bound.clone());
            Instance::new(plugin.program.clone(), self.threads.clone(), bound)
        };
        instance.load()?;
        Ok(instance)
    }

    /// Returns the result of a predicate of the plugin `name`, for the matcher `lua`.
    pub fn predicate(
        &self,
        name: &str,
        predicate: &str,
        input: &PredicateInput,
    ) -> Result<PredicateOutcome, CallError> {
        self.predicates(name)?.predicate(predicate, input)
    }

    /// Returns the reply of `plugin.describe`.
    pub fn describe(&self, name: &str) -> Result<Value, CallError> {
        let instance = self.predicates(name)?;
        let mut described = instance.catalog()?.into_value();
        described["plugin"] = name.into();
        described["manifest"] = json!(instance.manifest());
        Ok(described)
    }

    fn predicates(&self, name: &str) -> Result<Arc<Instance>, CallError> {
        let plugins = self.plugins.lock();
        Ok(plugins.get(name).ok_or_else(|| unknown(name))?.predicates.clone())
    }

    fn plugin(&self, program: Program, built_in: bool) -> Plugin {
        let program = Arc::new(program);
        let predicates = Arc::new(Instance::new(program.clone(), self.threads.clone(), None));
        Plugin { program, built_in, predicates, bound: Arc::new(()) }
    }
}

fn unknown(name: &str) -> CallError {
    CallError::NoPlugin(name.into())
}

fn check_free(plugins: &BTreeMap<String, Plugin>, name: &str) -> Result<(), LoadError> {
    match plugins.get(name) {
        Some(plugin) if plugin.built_in => Err(LoadError::BuiltIn(name.into())),
        Some(_) => Err(LoadError::Loaded(name.into())),
        None if plugins.values().filter(|plugin| !plugin.built_in).count() >= LOADED => {
            Err(LoadError::TooMany(LOADED))
        }
        None => Ok(()),
    }
}

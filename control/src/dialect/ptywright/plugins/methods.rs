//! The methods `plugin.*`.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use unterm_plugin::{Manifest, Permission};

use super::Plugins;
use crate::dialect::ptywright::{
    error::{Error, Result},
    request::{NoParams, read, result},
};

/// The names of all methods `plugin.*`.
pub const METHODS: [&str; 5] = [
    "plugin.capabilities",
    "plugin.validate_manifest",
    "plugin.describe",
    "plugin.load",
    "plugin.unload",
];
/// The reason why a server refuses to load plugins.
const NOT_GRANTED: &str = "server_did_not_grant_plugin_load";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnManifest {
    manifest: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnPlugin {
    plugin: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadParams {
    manifest_path: PathBuf,
}

/// Executes a method.
///
/// # Errors
/// The errors that the protocol documents for each method.
pub async fn call(
    plugins: &Plugins,
    method: &str,
    params: Map<String, Value>,
) -> Result<Box<RawValue>> {
    match method {
        "plugin.capabilities" => capabilities(plugins, params),
        "plugin.validate_manifest" => validate(params),
        "plugin.describe" => describe(plugins, params).await,
        "plugin.load" => load(plugins, params).await,
        "plugin.unload" => unload(plugins, params),
        method => Err(Error::method_not_found(method)),
    }
}

fn capabilities(plugins: &Plugins, params: Map<String, Value>) -> Result<Box<RawValue>> {
    let NoParams {} = read(params)?;
    result(&json!({
        "embedded_lua": true,
        "builtin_plugins": plugins.registry.built_in_manifests(),
        "runtimes": ["lua"],
        "permissions": Permission::ALL,
        "plugin_load": plugins.may_load,
    }))
}

fn validate(params: Map<String, Value>) -> Result<Box<RawValue>> {
    let OnManifest { manifest } = read(params)?;
    Manifest::from_json(&manifest)
        .map_err(|error| Error::invalid_params(format!("manifest: {error}")))?;
    result(&json!({"valid": true}))
}

async fn describe(plugins: &Plugins, params: Map<String, Value>) -> Result<Box<RawValue>> {
    let OnPlugin { plugin } = read(params)?;
    result(&plugins.describe(plugin).await?)
}

async fn load(plugins: &Plugins, params: Map<String, Value>) -> Result<Box<RawValue>> {
    granted(plugins, "plugin.load")?;
    let LoadParams { manifest_path } = read(params)?;
    result(&json!({"plugin": plugins.load_more(&manifest_path).await?}))
}

fn unload(plugins: &Plugins, params: Map<String, Value>) -> Result<Box<RawValue>> {
    granted(plugins, "plugin.unload")?;
    let OnPlugin { plugin } = read(params)?;
    plugins.unload(&plugin)?;
    result(&json!({"unloaded": true}))
}

fn granted(plugins: &Plugins, method: &str) -> Result<()> {
    if plugins.may_load {
        return Ok(());
    }
    let message = format!("{method}: the server was started without --allow-plugin-load");
    Err(Error::denied(message, json!({"method": method, "reason": NOT_GRANTED})))
}

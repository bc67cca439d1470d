//! Starts adapters.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};
use unterm_plugin::{Manifest, Target};

use super::{Adapter, Adapters, Locked, permit};
use crate::dialect::ptywright::{
    error::{Error, Result},
    sessions::Create,
};

/// The default size of a program's terminal, if neither the caller nor the manifest sets it.
const ROWS: u16 = 40;
const COLS: u16 = 120;

/// The parameters of `adapter.start` and `adapter.resume`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    plugin: String,
    #[serde(default)]
    program: Option<String>,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    rows: Option<u16>,
    #[serde(default)]
    cols: Option<u16>,
    #[serde(default)]
    pixel_width: Option<u16>,
    #[serde(default)]
    pixel_height: Option<u16>,
    /// Only for `adapter.resume`: the adapter that is closed first, if it still exists.
    #[serde(default)]
    prior_adapter: Option<String>,
}

impl Start {
    /// The parameters of the session to create. The caller's values have precedence over the manifest's.
    fn session(self, manifest: &Manifest) -> Result<Create> {
        let target = manifest.default_target.as_ref();
        let Some(program) = self.program.or_else(|| target.map(|target| target.program.clone()))
        else {
            let plugin = &manifest.name;
            let why = format!("program: missing, and the plugin {plugin:?} has no default_target");
            return Err(Error::invalid_params(why));
        };
        Ok(Create {
            program,
            args: self
                .args
                .unwrap_or_else(|| target.map(|target| target.args.clone()).unwrap_or_default()),
            cwd: self.cwd,
            env: environment(target, self.env),
            rows: self.rows.or(target.and_then(|target| target.rows)).or(Some(ROWS)),
            cols: self.cols.or(target.and_then(|target| target.cols)).or(Some(COLS)),
            pixel_width: self.pixel_width,
            pixel_height: self.pixel_height,
            transcript_max_chars: None,
            raw_transcript_path: None,
            raw_transcript_append: None,
        })
    }
}

/// The variables that are added to the inherited environment. Later variables override earlier ones. First come the
/// variables of the manifest's target, then the caller's, and then the variables that the manifest requires.
fn environment(
    target: Option<&Target>,
    caller: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut all = target.map(|target| target.env.clone()).unwrap_or_default();
    all.extend(caller);
    all.extend(target.map(|target| target.required_env.clone()).unwrap_or_default());
    all
}

impl Adapters {
    /// Starts a plugin's program. If a prior adapter is given, closes it first.
    ///
    /// # Errors
    /// The plugin, the program or a parameter is invalid. If the plugin can't be used, the prior adapter stays open.
    pub(super) async fn start(
        self: &Arc<Self>,
        mut params: Start,
        method: &'static str,
    ) -> Result<Value> {
        if method == "adapter.start" && params.prior_adapter.is_some() {
            let why = "prior_adapter: only adapter.resume has this parameter";
            return Err(Error::invalid_params(why));
        }
        let plugin = params.plugin.clone();
        let manifest = self.sessions.plugins().manifest(&plugin)?;
        permit(&manifest, method)?;
        let prior = params.prior_adapter.take();
        let create = params.session(&manifest)?;
        let (instance, calls) = self.sessions.plugins().instance(&plugin, method).await?;
        if let Some(prior) = prior
            && let Ok(prior) = self.get(&prior)
            && let Ok(locked) = prior.lock().await
        {
            self.close(locked).await?;
        }
        let number = self.next_number();
        let id = format!("e{number}");
        let session = self.sessions.create_for(create, Some(id.clone())).await?;
        let adapter =
            Arc::new(Adapter { id, manifest, session, instance, calls, lock: Arc::default() });
        let locked = Locked {
            adapter: adapter.clone(),
            last_intent: adapter.lock.clone().lock_owned().await,
        };
        self.list.lock().insert(number, adapter.clone());
        tracing::info!(
            adapter = adapter.id,
            plugin,
            session = adapter.session.id(),
            "an adapter has started"
        );
        let state = self.state(&locked).await?;
        Ok(json!({
            "adapter": adapter.id,
            "plugin": plugin,
            "session": adapter.session.id(),
            "state": state,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_environment_replaces_an_earlier_one() {
        let manifest = Manifest::from_json(&json!({
            "name": "p", "kind": "adapter", "version": "1", "runtime": "lua", "entrypoint": "main.luau",
            "default_target": {
                "program": "prog", "args": ["-q"], "cols": 90,
                "env": {"A": "manifest", "B": "manifest", "C": "manifest"},
                "required_env": {"C": "required"},
            },
        }))
        .unwrap();
        let asked = |params: Value| serde_json::from_value::<Start>(params).unwrap();
        let session = asked(json!({"plugin": "p", "env": {"B": "caller", "C": "caller"}}));
        let session = session.session(&manifest).unwrap();
        let env: Vec<_> = session.env.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(env, [("A", "manifest"), ("B", "caller"), ("C", "required")]);
        assert_eq!((session.program, session.args), ("prog".to_owned(), vec!["-q".to_owned()]));
        assert_eq!((session.rows, session.cols), (Some(40), Some(90)));
        let session = asked(json!({"plugin": "p", "program": "x", "args": [], "rows": 5}));
        let session = session.session(&manifest).unwrap();
        assert_eq!((session.program, session.args), ("x".to_owned(), Vec::new()));
        assert_eq!(session.rows, Some(5));
    }
}

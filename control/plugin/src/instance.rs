//! A running copy of a plugin, which has separate variables.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::{
    action::Action,
    catalog::{Catalog, is_matcher, is_reserved},
    context::{ClassifyContext, PredicateInput},
    error::{CallError, LimitKind},
    manifest::Manifest,
    matcher::Matcher,
    outcome::{Classification, IntentOutcome, PredicateOutcome, read_matcher},
    permission::Permission,
    sandbox::describe,
    text::quoted,
    worker::{Job, Program, Threads, Worker},
};

/// A running copy of a plugin. The functions of an instance share its variables, which are separate from those of other
/// instances.
///
/// Each method blocks until the plugin has returned, at most for [`crate::Limits::time`] plus [`crate::Limits::grace`],
/// or twice that time if the plugin must be loaded first. Calls of one instance run one after the other.
pub struct Instance {
    program: Arc<Program>,
    threads: Arc<Threads>,
    /// The thread that runs the plugin. It is started by the first call.
    worker: Mutex<Option<Worker>>,
    /// The registry counts the copies of this value to know how many adapters of the plugin exist.
    _bound: Option<Arc<()>>,
}

impl Instance {
    pub(crate) fn new(
        program: Arc<Program>,
        threads: Arc<Threads>,
        bound: Option<Arc<()>>,
    ) -> Self {
        Self { program, threads, worker: Mutex::default(), _bound: bound }
    }

    /// The manifest of the plugin.
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.program.manifest
    }

    /// Runs the plugin's file, unless it has already been run.
    pub(crate) fn load(&self) -> Result<(), CallError> {
        self.ask(Job::Load).map(drop)
    }

    /// Returns the state that a screen shows. If this fails, the host shows the state `plugin_error`.
    pub fn classify(&self, context: &ClassifyContext) -> Result<Classification, CallError> {
        let returned = self.call("classify", context)?;
        Classification::read(returned, context.sequence)
            .map_err(|message| CallError::Result { function: "classify".into(), message })
    }

    /// Returns the actions of the intent `name`.
    pub fn intent(&self, name: &str, params: &Value) -> Result<IntentOutcome, CallError> {
        if is_reserved(name) || is_matcher(name) {
            let name = quoted(name);
            return Err(CallError::NoFunction(format!("{name} is not an intent of the plugin")));
        }
        let returned = self.call(name, params)?;
        let outcome = IntentOutcome::read(returned)
            .map_err(|message| CallError::Result { function: name.into(), message })?;
        // A plugin can create the table of an action without the function that checks the permission, so it is checked
        // here.
        for action in &outcome.actions {
            for permission in Action::permissions(action) {
                self.permit(&format!("the action {}", action.name()), *permission)?;
            }
        }
        Ok(outcome)
    }

    /// Returns the condition of the function `name`, whose name ends in `_matcher`.
    pub fn wait_matcher(&self, name: &str, params: &Value) -> Result<Matcher, CallError> {
        if !is_matcher(name) {
            let name = quoted(name);
            return Err(CallError::NoFunction(format!(
                "{name} is not a wait matcher of the plugin: their names end in `_matcher`"
            )));
        }
        let returned = self.call(name, params)?;
        let matcher = read_matcher(returned)
            .map_err(|message| CallError::Result { function: name.into(), message })?;
        self.permit(&format!("the matcher of {name}"), Permission::MatcherWait)?;
        Ok(matcher)
    }

    /// Returns the result of the predicate `name`.
    pub fn predicate(
        &self,
        name: &str,
        input: &PredicateInput,
    ) -> Result<PredicateOutcome, CallError> {
        if is_reserved(name) {
            let name = quoted(name);
            return Err(CallError::NoFunction(format!("{name} is not a predicate of the plugin")));
        }
        let returned = self.call(name, input)?;
        PredicateOutcome::read(returned)
            .map_err(|message| CallError::Result { function: name.into(), message })
    }

    /// Returns the list of the plugin's functions: the result of its `describe()`, or else the names of its functions.
    pub(crate) fn catalog(&self) -> Result<Catalog, CallError> {
        let exports = self.ask(Job::Exports)?;
        let exports: Vec<String> = serde_json::from_value(exports).unwrap_or_default();
        if !exports.iter().any(|name| name == "describe") {
            return Ok(Catalog::introspected(exports));
        }
        let returned = self.call("describe", &())?;
        Catalog::described(returned)
            .map_err(|message| CallError::Result { function: "describe".into(), message })
    }

    fn permit(&self, what: &str, permission: Permission) -> Result<(), CallError> {
        if self.manifest().has(permission) {
            return Ok(());
        }
        Err(CallError::Permission { what: what.into(), permission })
    }

    fn call(&self, function: &str, argument: &impl Serialize) -> Result<Value, CallError> {
        let argument = serde_json::to_value(argument).map_err(|error| CallError::Result {
            function: function.into(),
            message: format!("its argument has no JSON: {error}"),
        })?;
        if argument_size(&argument) > self.threads.limits().memory / 2 {
            let kind = LimitKind::Memory;
            let limit = describe(self.threads.limits(), kind);
            return Err(CallError::Limit { function: quoted(function), kind, limit });
        }
        self.ask(Job::Call { function: function.into(), argument })
    }

    fn ask(&self, job: Job) -> Result<Value, CallError> {
        let mut kept = self.worker.lock();
        let worker = match kept.take() {
            Some(worker) => worker,
            None => Worker::start(&self.threads, self.program.clone())?,
        };
        let (reply, is_usable) = worker.ask(job);
        *kept = Some(worker).filter(|_| is_usable);
        reply
    }
}

/// The approximate memory of an argument in Luau, in bytes.
fn argument_size(value: &Value) -> usize {
    match value {
        Value::String(text) => 32 + text.len(),
        Value::Array(items) => {
            64 + items.iter().map(|item| 16 + argument_size(item)).sum::<usize>()
        }
        Value::Object(fields) => {
            64 + fields
                .iter()
                .map(|(key, item)| 64 + key.len() + argument_size(item))
                .sum::<usize>()
        }
        _ => 0,
    }
}

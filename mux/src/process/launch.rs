//! Prepares a program to start: finds the executable, and collects its arguments and environment.
//!
//! portable-pty provides the user's shell and the inherited environment.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::Path,
};

use portable_pty::CommandBuilder;
use unterm_keeper::Program;

use super::{environment, integration::NonceFile, limits};
use crate::{Spawn, SpawnError, lock::Mutex};

/// Guards the look-up of the user's shell: portable-pty calls a C function for it that returns one shared buffer.
static PASSWORD_DATABASE: Mutex<()> = Mutex::new(());

/// A program that can be started.
pub(super) struct Launch {
    /// The program, with the inherited part of its environment.
    pub(super) program: Program,
    /// The variables that Unterm adds.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// The path of the executable, with the file name by which it was called.
    pub(super) image: String,
    /// The nonce file, if the program is a shell that reads it.
    pub(super) nonce: Option<NonceFile>,
    /// The program as requested.
    requested: String,
}

impl Launch {
    /// Finds the program of `spawn`.
    ///
    /// # Errors
    /// If the directory or the program does not exist, or if the system would refuse the arguments.
    pub(super) fn new(spawn: &Spawn) -> Result<Self, SpawnError> {
        let cwd = environment::directory(spawn)?;
        let mut names: BTreeSet<OsString> = std::env::vars_os().map(|(name, _)| name).collect();
        names.insert("SHELL".into());
        let mut added = BTreeMap::new();
        let (mut builder, shell) = {
            let _alone = PASSWORD_DATABASE.lock();
            let mut builder = CommandBuilder::new_default_prog();
            names.iter().filter(|name| environment::is_surrounding(name)).for_each(|name| {
                builder.env_remove(name);
            });
            let fixed = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
            let own = spawn.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            for (name, value) in fixed.into_iter().chain(own) {
                builder.env(name, value);
                added.insert(OsString::from(name), OsString::from(value));
            }
            let shell = builder.get_shell();
            (builder, shell)
        };
        let requested = spawn.program.clone().unwrap_or(shell);
        environment::check_strings(&requested, spawn)?;
        let injection = spawn.integration.as_ref().map(|integration| {
            integration.inject(&requested, &spawn.args, |name| builder.get_env(name))
        });
        let mut injection = injection.unwrap_or_default();
        let nonce = spawn.integration.as_ref().filter(|_| injection.reads_script).and_then(|it| {
            let written = it.write_nonce();
            written.map_err(|error| tracing::warn!(%error, "no shell integration")).ok()
        });
        if let Some(nonce) = &nonce {
            injection.env.push(("UNTERM_NONCE_FILE", nonce.path().into()));
        }
        for (name, value) in injection.env {
            builder.env(name, &value);
            added.insert(name.into(), value);
        }
        let file = environment::executable(&requested, &cwd, builder.get_env("PATH"))
            .map_err(|error| SpawnError::Program { program: requested.clone(), error })?;
        let is_login = spawn.program.is_none()
            && spawn.args.is_empty()
            && injection.args.is_empty()
            && cfg!(target_os = "macos");
        let arg0 = match requested.rsplit('/').next() {
            Some(name) if is_login => format!("-{name}").into(),
            // Pass a name without a slash unchanged as argv[0].
            _ if requested.contains('/') => file.clone().into_os_string(),
            _ => requested.clone().into(),
        };
        let inherited = names.iter().filter(|name| !added.contains_key(*name));
        let env = inherited.filter_map(|name| Some((name.clone(), builder.get_env(name)?.into())));
        let program = Program {
            arg0,
            args: spawn.args.iter().map(OsString::from).chain(injection.args).collect(),
            env: env.collect(),
            cwd,
            umask: None,
            open_files: limits::started_with().map(|limit| (limit.current, limit.maximum)),
            file: file.clone(),
        };
        let variables = added.into_iter().collect();
        Ok(Self { program, variables, image: image(&file), nonce, requested })
    }

    /// The program with its whole environment.
    pub(super) fn whole_program(&self) -> Program {
        let mut program = self.program.clone();
        program.env.extend(self.variables.iter().cloned());
        program
    }

    /// The error that the program could not be started.
    pub(super) fn failed(&self, error: io::Error) -> SpawnError {
        SpawnError::Program { program: self.requested.clone(), error: error.to_string() }
    }
}

/// The path of an executable in the form in which the system reports a running program: its real folder, and the file
/// name by which it was called.
pub(super) fn image(file: &Path) -> String {
    let image = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let image = file.file_name().map_or_else(|| image.clone(), |name| image.with_file_name(name));
    image.to_string_lossy().into_owned()
}

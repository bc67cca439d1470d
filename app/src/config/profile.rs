//! The section `[profile.NAME]`, and the effect of a profile on panes and windows.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::Spawn;

use super::{Config, ThemeChoice};

/// See [`Config::profile`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Profile {
    /// Program, by name or path. Empty: the program of `[shell]`.
    pub shell: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Working directory; `~/` stands for your home directory. Empty: the directory of the focused pane.
    pub cwd: String,
    /// Environment variables, in addition to the variables of `[env]`.
    pub env: BTreeMap<String, String>,
    /// Name of the theme. Empty: the theme of the window.
    pub theme: String,
    /// Font of the window that `--profile` opens.
    pub font: ProfileFont,
}

/// See [`Profile::font`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProfileFont {
    /// Font families, in order of preference. Empty: the families of `[font]`.
    pub family: Vec<String>,
    /// Size of text, in points. Absent: the size of `[font]`.
    #[schemars(range(min = 4.0, max = 96.0))]
    pub size: Option<f32>,
}

impl Profile {
    /// The working directory of the profile. `None` if the profile sets none.
    pub fn cwd(&self) -> Option<PathBuf> {
        let home = || std::env::home_dir().unwrap_or_default();
        match self.cwd.strip_prefix('~') {
            Some("") => Some(home()),
            Some(rest) if rest.starts_with('/') => Some(home().join(&rest[1..])),
            _ => (!self.cwd.is_empty()).then(|| PathBuf::from(&self.cwd)),
        }
    }

    /// The parameters for starting a pane with this profile. Settings that the profile does not contain are taken from
    /// `beside`.
    pub fn spawn(&self, beside: Spawn) -> Spawn {
        let (program, args) = match self.shell.is_empty() {
            true => (beside.program, beside.args),
            false => (Some(self.shell.clone()), self.args.clone()),
        };
        let env = self.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let env = beside.env.into_iter().chain(env).collect();
        Spawn { program, args, env, cwd: self.cwd().or(beside.cwd), ..Spawn::default() }
    }
}

impl Config {
    /// Applies a profile to the preferences of a whole window.
    ///
    /// # Errors
    /// Returns a message that names the unknown profile and lists the known profiles.
    pub fn with_profile(mut self, name: &str) -> Result<Self, String> {
        let profile = self.find_profile(name)?.clone();
        if !profile.shell.is_empty() {
            self.shell.program = profile.shell;
            self.shell.args = profile.args;
        }
        self.env.extend(profile.env);
        if !profile.theme.is_empty() {
            self.theme = ThemeChoice::One(profile.theme);
        }
        if !profile.font.family.is_empty() {
            self.font.family = profile.font.family;
        }
        self.font.size = profile.font.size.unwrap_or(self.font.size);
        Ok(self)
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// Returns a message that names the unknown profile and lists the known profiles.
    pub fn find_profile(&self, name: &str) -> Result<&Profile, String> {
        self.profile.get(name).ok_or_else(|| {
            let names: Vec<_> = self.profile.keys().map(String::as_str).collect();
            match names[..] {
                [] => format!("There is no profile {name:?}: the configuration has none."),
                _ => format!(
                    "There is no profile {name:?}. The configuration has {}.",
                    names.join(", ")
                ),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse::parse;

    fn config(text: &str) -> Config {
        parse(text, std::path::Path::new("")).unwrap()
    }

    #[test]
    fn a_profile_changes_what_it_names() {
        let config = config(
            "[env]\nA = '1'\nB = '1'\n[shell]\nargs = ['-l']\n[profile.work]\nshell = 'fish'\ncwd = '/work'\n\
             env = { B = '2' }\ntheme = 'nord'\nfont = { size = 14.0 }\n[profile.plain]\n",
        );
        let work = config.find_profile("work").unwrap();
        let beside = Spawn { cwd: Some("/here".into()), ..Spawn::default() };
        let spawn = work.spawn(beside.clone());
        assert_eq!(spawn.program.as_deref(), Some("fish"));
        assert_eq!(spawn.env, [("B".to_owned(), "2".to_owned())]);
        assert_eq!(spawn.cwd, Some("/work".into()));
        let plain = config.find_profile("plain").unwrap().spawn(beside);
        assert_eq!((plain.program, plain.cwd), (None, Some("/here".into())));
        let error = config.find_profile("wrok").unwrap_err();
        assert_eq!(error, "There is no profile \"wrok\". The configuration has plain, work.");
        let whole = config.clone().with_profile("work").unwrap();
        assert_eq!((whole.shell.program.as_str(), whole.shell.args.len()), ("fish", 0));
        assert_eq!((whole.env["A"].as_str(), whole.env["B"].as_str()), ("1", "2"));
        assert_eq!((whole.font.size, whole.theme.pick(None)), (14.0, "nord"));
        assert_eq!(config.clone().with_profile("plain").unwrap(), config);
        assert!(config.with_profile("x").is_err());
    }
}

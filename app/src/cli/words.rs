//! Arguments that several commands share: a session's number and a path.

use std::path::Path;

use anyhow::Result;
use clap::Args as ClapArgs;

/// Names a session, among other arguments.
#[derive(ClapArgs)]
pub struct Id {
    /// Number of the pane [default: the pane that this command runs in, else the only one].
    #[arg(long)]
    pub id: Option<u64>,
}

/// Names a session, by an option or by the only argument.
#[derive(ClapArgs)]
pub struct OnlyId {
    /// Number of the pane [default: the pane that this command runs in, else the only one].
    #[arg(long)]
    pub id: Option<u64>,
    /// The same as --id.
    #[arg(value_name = "PANE", conflicts_with = "id")]
    pub session: Option<u64>,
}

/// Arguments that can name a session.
pub trait Named {
    /// The session that the arguments name.
    fn given(&self) -> Option<u64>;
}

impl Named for Id {
    fn given(&self) -> Option<u64> {
        self.id
    }
}

impl Named for OnlyId {
    fn given(&self) -> Option<u64> {
        self.id.or(self.session)
    }
}

/// Finds the session to use: the named one, else the pane that the command runs in, else the only one.
pub type Meant<'a> = &'a mut dyn FnMut(&dyn Named) -> Result<u64>;

/// A path as the server understands it.
pub fn absolute(path: Option<&Path>) -> Result<Option<String>> {
    let path = path.map(std::path::absolute).transpose()?;
    Ok(path.map(|path| path.to_string_lossy().into_owned()))
}

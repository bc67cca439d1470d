//! A real input method: uim with its Korean engine, over XIM.

use std::{os::unix::fs::symlink, path::Path, process::Stdio};

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::{
    Display,
    process::{OwnedProcess, bare},
    wait_for,
};

/// An input method. Programs on its display use it if they are started with [`InputMethod::ENV`]. Shift+Space starts
/// composing. Dropping the value stops the input method.
pub struct InputMethod {
    _process: OwnedProcess,
    _home: TempDir,
}

impl InputMethod {
    /// The environment variable that makes a program use the input method, and its value.
    pub const ENV: (&'static str, &'static str) = ("XMODIFIERS", "@im=uim");

    /// Starts the input method and waits until programs can find it.
    ///
    /// # Errors
    ///
    /// If uim-xim is not installed or does not start.
    pub fn start(display: &Display) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("unterm-uim-").tempdir()?;
        // uim works only for languages whose locales exist. Link the required locales to C.utf8, which every system
        // contains.
        for name in ["C", "en_US", "ko_KR"] {
            let own = home.path().join(format!("{name}.utf8"));
            symlink(Path::new("/usr/lib/locale/C.utf8"), own)?;
        }
        let process = bare("uim-xim", home.path())
            .env("DISPLAY", display.name())
            .arg("--engine=byeoru")
            .env("LOCPATH", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("starting uim-xim")?;
        let method = Self { _process: OwnedProcess(process), _home: home };
        // The input method's server owns this selection (X11's XIM protocol, 4.1).
        let name = display.connection.intern_atom(false, b"@server=uim")?.reply()?.atom;
        wait_for(
            "the input method",
            || {
                let owner = display.connection.get_selection_owner(name)?.reply()?.owner;
                Ok((owner != x11rb::NONE).then_some(()))
            },
            String::new,
        )?;
        Ok(method)
    }
}

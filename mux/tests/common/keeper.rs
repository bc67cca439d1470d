//! A keeper in a folder of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
    time::Instant,
};

use rustix::process::{Pid, Signal};
use unterm_keeper::Client;
use unterm_mux::{KeptSpawner, Mux, MuxOptions};
use unterm_term::Size;

use super::LIMIT;

/// A folder for one keeper. Dropping it ends the keeper.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn socket(&self) -> PathBuf {
        self.path().join("keeper.sock")
    }

    /// A spawner of one instance.
    pub fn spawner(&self, name: &str) -> Arc<KeptSpawner> {
        spawner(self.path(), name)
    }

    /// A mux of one instance, and its spawner.
    pub fn mux(&self, name: &str) -> (Arc<Mux>, Arc<KeptSpawner>) {
        let spawner = self.spawner(name);
        (mux(&spawner), spawner)
    }

    /// A connection of another client.
    pub fn client(&self) -> Client {
        Client::connect(&self.socket(), "another client").unwrap()
    }

    /// The keeper's process id.
    pub fn keeper(&self) -> Pid {
        Pid::from_raw(self.client().keeper().pid as i32).unwrap()
    }

    /// Waits until the keeper has ended.
    pub fn wait_end(&self) {
        let end = Instant::now() + LIMIT;
        while self.socket().exists() {
            assert!(Instant::now() < end, "the keeper does not end");
            std::thread::yield_now();
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Ok(client) = Client::connect(&self.socket(), "end")
            && let Some(pid) = Pid::from_raw(client.keeper().pid as i32)
        {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

/// A spawner of one instance, whose keeper is in `folder`.
pub fn spawner(folder: &Path, name: &str) -> Arc<KeptSpawner> {
    let spawner = KeptSpawner::new(program(), folder.join("keeper.sock"));
    spawner.set_owner(name);
    Arc::new(spawner)
}

pub fn mux(spawner: &Arc<KeptSpawner>) -> Arc<Mux> {
    let options = MuxOptions { default_size: Size::cells(80, 24), ..MuxOptions::default() };
    Mux::with_spawner(options, spawner.clone())
}

/// The path of `unterm-keeper`. Cargo passes a test only the programs of its own package, so this function builds it in
/// the target directory that contains the test. If `UNTERM_BIN_DIR` is set, uses the program in that directory.
pub fn program() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        if let Some(folder) = std::env::var_os("UNTERM_BIN_DIR") {
            return folder.into();
        }
        // target/<profile>/deps/<test>-<hash>
        let test = std::env::current_exe().unwrap();
        let folder = test.ancestors().nth(2).unwrap().to_path_buf();
        let profile = match folder.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            profile => profile,
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(cargo);
        cargo.args(["build", "--quiet", "--package", "unterm-keeper", "--bins", "--profile"]);
        cargo.arg(profile).arg("--target-dir").arg(folder.parent().unwrap());
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder
    };
    FOLDER.get_or_init(build).join("unterm-keeper")
}

//! Plugins written into a folder of their own, for tests.

use std::{fs, path::PathBuf};

use tempfile::TempDir;

/// Every permission, as a manifest lists them.
#[allow(dead_code, reason = "not every test binary needs it")]
pub const ALL: &str = r#""session.spawn", "session.kill", "session.resize", "screen.read", "transcript.read", "input.write", "matcher.wait""#;

/// A folder with a manifest of that name and permissions, and `source` as its entrypoint.
pub fn written(name: &str, permissions: &str, source: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = format!(
        "name = \"{name}\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"main.luau\"\n\
         permissions = [{permissions}]\n"
    );
    let path = folder.path().join("manifest.toml");
    fs::write(&path, manifest).expect("a manifest");
    fs::write(folder.path().join("main.luau"), source).expect("a source");
    (folder, path)
}

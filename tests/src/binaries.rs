//! The programs under test.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The path of `unterm`, `unterm-cli` or `unterm-capture`, built from this tree in the profile of the running test.
///
/// Cargo tells a test only of the programs of its own package, so this asks cargo to build them (which is quick when
/// they are fresh, and other test programs wait for its lock) into the target directory the test itself lies in.
/// `UNTERM_BIN_DIR` names a directory with programs to test instead.
///
/// # Panics
///
/// When they can't be built.
pub fn binary(name: &str) -> PathBuf {
    // Each with the package it is of; the first is for all that are of `unterm` itself.
    static DIRECTORIES: [(&str, OnceLock<PathBuf>); 2] =
        [("unterm", OnceLock::new()), ("unterm-capture", OnceLock::new())];
    let own = DIRECTORIES.iter().rfind(|(package, _)| *package == name);
    let (package, directory) = own.unwrap_or(&DIRECTORIES[0]);
    directory
        .get_or_init(|| match std::env::var_os("UNTERM_BIN_DIR") {
            Some(directory) => directory.into(),
            None => build(package),
        })
        .join(name)
}

fn build(package: &str) -> PathBuf {
    // target/<profile>/deps/<test>-<hash>
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile_directory =
        test.ancestors().nth(2).expect("a test lies in target/<profile>/deps").to_path_buf();
    let profile = match profile_directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let target_directory = profile_directory.parent().expect("target");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--package", package, "--bins", "--profile", profile])
        .arg("--target-dir")
        .arg(target_directory)
        .current_dir(root)
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{package} could not be built:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    profile_directory
}

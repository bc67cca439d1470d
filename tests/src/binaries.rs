//! The programs under test.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The path of `unterm`, `unterm-cli`, `unterm-keeper`, `unterm-capture`, `unterm-hub` or `unterm-connect`. The program is
/// built from this tree, in the profile of the running test.
///
/// Cargo passes a test only the programs of its own package, so this function runs cargo to build the others, in the
/// target directory that contains the test. That is quick if they are up to date, and other test programs wait for
/// cargo's lock. If `UNTERM_BIN_DIR` is set, the programs in that directory are tested instead.
///
/// # Panics
///
/// If cargo can't build them.
pub fn binary(name: &str) -> PathBuf {
    // Each entry is a package and the directory of its programs. The first entry serves all programs of `unterm`
    // itself.
    static DIRECTORIES: [(&str, OnceLock<PathBuf>); 4] = [
        ("unterm", OnceLock::new()),
        ("unterm-capture", OnceLock::new()),
        ("unterm-fleet", OnceLock::new()),
        ("unterm-keeper", OnceLock::new()),
    ];
    let package = match name {
        "unterm-hub" | "unterm-connect" => "unterm-fleet",
        name => name,
    };
    let own = DIRECTORIES.iter().rfind(|(own, _)| *own == package);
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

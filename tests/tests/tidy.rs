//! Rules of the project that a program can check: dependencies, the contents of the README, and forbidden text in
//! files.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;
use unterm_tests::{Modules, Tree};

/// For each crate: the workspace crates that it may use, and the external crates that it must not use. The order is
/// `app, fleet → control, renderer → mux → term, tmux, keeper`. `plugin` uses none of them. Only the fleet links NATS's
/// client.
const LAYERS: &[(&str, &[&str], &[&str])] = &[
    (
        "unterm-term",
        &[],
        &["mio", "parking_lot", "portable-pty", "serde", "serde_json", "tokio", "wgpu", "winit"],
    ),
    ("unterm-tmux", &[], &["libc", "portable-pty", "rustix", "tokio", "vte", "winit"]),
    (
        "unterm-keeper",
        &[],
        &[
            "mio",
            "parking_lot",
            "portable-pty",
            "serde",
            "serde_json",
            "tokio",
            "tracing",
            "wgpu",
            "winit",
        ],
    ),
    (
        "unterm-mux",
        &["unterm-keeper", "unterm-term", "unterm-tmux"],
        &["cosmic-text", "glyphon", "schemars", "serde_json", "softbuffer", "wgpu", "winit"],
    ),
    ("unterm-renderer", &["unterm-term"], &["portable-pty", "serde_json", "tokio", "winit"]),
    (
        "unterm-control",
        &["unterm-mux", "unterm-plugin", "unterm-term"],
        &["cosmic-text", "glyphon", "portable-pty", "softbuffer", "wgpu", "winit"],
    ),
    (
        "unterm-plugin",
        &[],
        &["mio", "portable-pty", "rmcp", "schemars", "tokio", "vte", "wgpu", "winit"],
    ),
    (
        "unterm-fleet",
        &["unterm-control"],
        &["cosmic-text", "glyphon", "portable-pty", "softbuffer", "vte", "wgpu", "winit"],
    ),
    ("unterm-capture", &[], &["portable-pty", "serde_json", "tokio", "vte", "wgpu"]),
    (
        "unterm",
        &["unterm-control", "unterm-mux", "unterm-renderer", "unterm-term"],
        &["async-nats", "vte"],
    ),
];

/// Source folders of crates whose modules must form layers: no module imports a module that imports it, directly or
/// indirectly.
const LAYERED_INSIDE: &[&str] = &[
    "mux/src",
    "mux/keeper/src",
    "mux/term/src",
    "mux/tmux/src",
    "renderer/src",
    "control/src",
    "control/plugin/src",
    "control/fleet/src",
    "app/src",
];

/// Modules that count as one with all their descendants, because these change the same state and call each other. Such a
/// module forms one layer of its crate.
const MACHINES: &[(&str, &str)] = &[("mux/term/src", "term")];

/// The modules of a source folder whose modules must form layers.
fn layered_modules(tree: &Tree, folder: &str) -> Modules {
    let machines = MACHINES.iter().filter(|(of, _)| *of == folder);
    machines.fold(Modules::read(tree, folder), |modules, (_, name)| modules.with_machine(name))
}

/// The workspace's packages, by name. cargo lists them.
fn packages() -> BTreeMap<String, Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo's JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| (package["name"].as_str().expect("a name").to_owned(), package.clone()))
        .collect()
}

/// Fails if there are findings, and shows all of them.
fn check(what: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{what}:\n  {}", findings.join("\n  "));
}

#[test]
fn crates_depend_downwards_only() {
    let packages = packages();
    let mut findings = Vec::new();
    for (name, allowed, never) in LAYERS {
        let package = packages.get(*name).unwrap_or_else(|| panic!("the crate {name} is missing"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if !dependency["kind"].is_null() {
                continue; // tests, benches and build scripts
            }
            let used = dependency["name"].as_str().expect("a name");
            let of_workspace = packages.contains_key(used);
            if (of_workspace && !allowed.contains(&used)) || never.contains(&used) {
                findings.push(format!("{name} depends on {used}"));
            }
        }
    }
    check("a crate uses what its layer must not", findings);
}

#[test]
fn modules_import_each_other_downwards_only() {
    let tree = Tree::read();
    let circles = |folder: &&str| {
        let circles = layered_modules(&tree, folder).circles();
        circles.into_iter().map(move |circle| format!("{folder}: {circle}")).collect::<Vec<_>>()
    };
    let circles = LAYERED_INSIDE.iter().flat_map(circles).collect();
    check("modules import each other in a circle", circles);
}

#[test]
fn folders_import_each_other_in_one_direction_only() {
    let tree = Tree::read();
    let mutual = |folder: &&str| layered_modules(&tree, folder).mutual_folders();
    check("two folders import each other", LAYERED_INSIDE.iter().flat_map(mutual).collect());
}

#[test]
fn every_crate_is_layered_and_takes_the_workspace_lints() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for (name, package) in packages() {
        let layered = LAYERS.iter().any(|(layer, ..)| *layer == name) || name == "unterm-tests";
        if !layered {
            findings.push(format!("{name} has no row in the table of layers"));
        }
        let manifest = package["manifest_path"].as_str().expect("a path");
        let manifest = std::path::Path::new(manifest).strip_prefix(&tree.root).expect("inside");
        let text = tree.text(&manifest.to_string_lossy());
        if !text.contains("[lints]\nworkspace = true") {
            findings.push(format!("{name} does not take [workspace.lints]"));
        }
    }
    check("crates", findings);
}

#[test]
fn every_crate_has_a_readme_that_contributors_find() {
    let tree = Tree::read();
    let guide = tree.text(".github/CONTRIBUTING.md");
    let mut findings = Vec::new();
    for (name, package) in packages() {
        let manifest = std::path::Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = manifest.parent().and_then(|folder| folder.strip_prefix(&tree.root).ok());
        let readme = format!("{}/README.md", folder.expect("inside").display());
        if !tree.root.join(&readme).exists() {
            findings.push(format!("{readme} is missing"));
        }
        if !guide.contains(&format!("(../{readme})")) || !guide.contains(&format!("`{name}`")) {
            findings.push(format!(".github/CONTRIBUTING.md does not list {name} with {readme}"));
        }
    }
    for folder in tree.top_folders() {
        if !guide.contains(&format!("`{folder}`")) {
            findings.push(format!(".github/CONTRIBUTING.md does not list `{folder}`"));
        }
    }
    check("the guide for contributors is behind the tree", findings);
}

#[test]
fn the_readme_stays_short() {
    let size = Tree::read().text("README.md").len();
    assert!(size <= 8 << 10, "README.md has {size} bytes; move details to assets/docs");
}

#[test]
fn the_top_level_stays_as_designed() {
    let folders = ["app", "assets", "control", "mux", "packaging", "renderer", "tests"];
    assert_eq!(Tree::read().top_folders(), folders);
}

#[test]
fn documents_link_only_to_existing_files() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&file.text).filter(|target| !target.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match path {
                "" => Some(file.path.clone()),
                path => joined(folder, path),
            };
            let there = path.as_ref().is_some_and(|path| tree.root.join(path).exists());
            let text = tree.files.iter().find(|file| Some(&file.path) == path.as_ref());
            let has_anchor =
                || text.is_some_and(|file| headings(&file.text).any(|slug| slug == anchor));
            if !there || !anchor.is_empty() && !has_anchor() {
                findings.push(format!("{}: {target}", file.path));
            }
        }
        // Text in backquotes that resembles a path of this tree, such as `mux/src/pane.rs`.
        let quoted = prose(&file.text).filter(|text| {
            let folder = text.split('/').next().unwrap_or_default();
            text.contains('/')
                && !text.contains([' ', '\n', '*', '…'])
                && tree.top_folders().contains(&folder.into())
        });
        // A path begins at the top of the tree. In a crate's README, it may also begin at the crate's folder.
        let missing = quoted.filter(|path| {
            !tree.root.join(path).exists() && !tree.root.join(folder).join(path).exists()
        });
        findings.extend(missing.map(|path| format!("{}: `{path}`", file.path)));
    }
    check("documents name files or headings that don't exist", findings);
}

/// The targets of a document's links. Links inside code blocks are ignored.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("\n```").step_by(2);
    blocks.flat_map(|text| text.split("](").skip(1)).filter_map(|link| {
        let target = link.split(')').next()?;
        (!target.is_empty() && !target.contains([' ', '\n'])).then_some(target)
    })
}

/// The text in backquotes. Code blocks are ignored.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n```").step_by(2).flat_map(|text| text.split('`').skip(1).step_by(2))
}

/// The anchors of a document's headings, in the form that GitHub and mdBook generate.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// The result of following a relative path from a folder. `None` if it leaves the tree.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[test]
fn the_manual_lists_every_page() {
    let tree = Tree::read();
    let summary = tree.text("assets/docs/SUMMARY.md");
    let listed: Vec<&str> = links(summary).collect();
    let pages = tree.files.iter().filter_map(|file| file.path.strip_prefix("assets/docs/"));
    let findings = pages
        .filter(|page| page.ends_with(".md") && *page != "SUMMARY.md" && !listed.contains(page))
        .map(str::to_owned)
        .collect();
    check("pages that the summary does not list", findings);
}

#[test]
fn the_manual_lists_every_default_key() {
    let tree = Tree::read();
    let page = tree.text("assets/docs/shortcuts.md");
    let (_, keys) = page.split_once("\n## Keys\n").expect("a section on keys");
    let keys = keys.split("\n## ").next().unwrap_or_default();
    let listed: Vec<&str> = keys
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|row| row.split(", "))
        .collect();
    // A row of the table begins with `NewTab "new_tab" "New tab" ["ctrl+shift+t", …]`.
    let bound = tree.text("app/src/action/table.rs").lines().filter_map(|line| {
        let row = line.trim_start().starts_with(|c: char| c.is_ascii_uppercase());
        line.split_once("\" [").filter(|_| row)?.1.split(']').next()
    });
    let mut findings = Vec::new();
    let mut count = 0;
    for chord in bound.flat_map(|chords| chords.split(", ")).filter(|chord| !chord.is_empty()) {
        // A chord may have an argument: `"ctrl+shift+k" => "-1"`.
        let chord = chord.split(" =>").next().unwrap_or(chord).trim_matches('"');
        count += 1;
        if !listed.iter().any(|listed| listed.to_lowercase() == spelled(chord)) {
            findings.push(chord.to_owned());
        }
    }
    assert!(count > 20, "the table of actions has another form now: {count} keys found");
    check("keys that the manual does not list", findings);
}

/// A chord of the table of actions, spelled as in the manual but in lower case.
fn spelled(chord: &str) -> String {
    chord.replace("page_up", "pgup").replace("page_down", "pgdn")
}

#[test]
fn only_the_command_line_prints() {
    let mut findings = Vec::new();
    for file in Tree::read().rust() {
        let may_print = file.path.starts_with("app/src/bin/unterm-cli")
            || file.path.starts_with("app/src/cli")
            || file.path.starts_with("control/fleet/src/bin/")
            || file.path.starts_with("control/fleet/src/cli/")
            || file.path.contains("/benches/");
        for (number, line) in numbered(&file.text) {
            let code = line.split("//").next().unwrap_or_default();
            let prints = ["println!(", "print!("].iter().any(|name| {
                // `eprintln!` and `eprint!` are allowed, because they write to stderr.
                code.match_indices(name).any(|(at, _)| !code[..at].ends_with('e'))
            });
            if !may_print && (prints || code.contains("allow(clippy::print_stdout")) {
                findings.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    // Ignore this file, because it contains the names for which it searches.
    findings.retain(|finding| !finding.starts_with("tests/tests/tidy.rs:"));
    check("stdout carries a protocol", findings);
}

/// Files whose code may read files without `unterm_mux::private`, each with the reason. `unterm_mux::private` refuses
/// pipes and devices, and limits the length.
const READS_ITSELF: [(&str, &str); 12] = [
    ("mux/src/private.rs", "the bounded reader"),
    ("mux/src/process/linux.rs", "files of the system about processes"),
    ("mux/src/process/waiting.rs", "files of the system about processes"),
    ("mux/src/process/ports.rs", "the system's list of connections"),
    ("mux/src/random.rs", "the system's random numbers"),
    ("app/src/window/app/script/", "files that tests have written"),
    ("app/src/window/overlays/", "files of the system"),
    ("app/src/window/app/overlays/about.rs", "files of the system"),
    ("control/src/registry/liveness.rs", "files of the system about processes"),
    ("control/src/transport/reserved_descriptor.rs", "a descriptor only"),
    ("control/src/dialect/settings/peer.rs", "the system's list of connections"),
    ("control/fleet/src/connector/foreground.rs", "files of the system about processes"),
];

#[test]
fn files_are_read_by_the_bounded_reader() {
    let mut findings = Vec::new();
    let tree = Tree::read();
    let crates = [
        "app/src/",
        "control/src/",
        "control/fleet/src/",
        "control/plugin/src/",
        "mux/keeper/src/",
        "mux/src/",
        "renderer/src/",
    ];
    let is_checked = |path: &str| {
        crates.iter().any(|folder| path.starts_with(folder))
            && !path.ends_with("/tests.rs")
            && !path.contains("/tests/")
            && !READS_ITSELF.iter().any(|(allowed, _)| path.starts_with(allowed))
    };
    for file in tree.rust().filter(|file| is_checked(&file.path)) {
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in numbered(code) {
            let reads = ["fs::read(", "fs::read_to_string(", "File::open("].iter().any(|name| {
                // `LogFile::open(` is a different function.
                line.match_indices(name).any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
            });
            if reads {
                findings.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    check("files that are read without a limit", findings);
}

#[test]
fn every_source_file_states_its_purpose() {
    let findings = Tree::read()
        .rust()
        // `foo/tests.rs` contains the tests of `foo.rs`, so it needs no comment of its own.
        .filter(|file| !file.path.ends_with("/tests.rs") && !file.text.starts_with("//!"))
        .map(|file| file.path.clone())
        .collect();
    check("files that don't open with a `//!` comment", findings);
}

/// A part of the window changes only its own state. It requests the rest from the app as a value, so it never names the
/// app.
#[test]
fn parts_of_the_window_do_not_name_the_app() {
    let mut findings = Vec::new();
    let is_part = |path: &str| {
        path.starts_with("app/src/window/") && !path.starts_with("app/src/window/app/")
    };
    for file in Tree::read().rust().filter(|file| is_part(&file.path)) {
        for (number, line) in numbered(&file.text) {
            let code = line.split("//").next().unwrap_or_default();
            let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| word == "App") {
                findings.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    check("parts of the window that name the app", findings);
}

/// A part of the window owns its behavior as well as its state. A module of the app with the name of a part's module
/// would divide the behavior of one thing between two files.
#[test]
fn no_part_of_the_window_has_a_twin_in_the_app() {
    let tree = Tree::read();
    let paths: Vec<&str> = tree.rust().map(|file| file.path.as_str()).collect();
    let twin = |path: &&str| {
        let module = path.strip_prefix("app/src/window/app/")?.strip_suffix(".rs")?;
        // `mod.rs` contains a folder's modules, so both folders have one.
        let is_face = module == "mod" || module.ends_with("/mod");
        let part = format!("app/src/window/{module}");
        let files = [format!("{part}.rs"), format!("{part}/mod.rs")];
        let twin = files.into_iter().find(|file| paths.contains(&file.as_str()))?;
        (!is_face).then(|| format!("{path} and {twin}"))
    };
    check(
        "modules of the app that share a part's behavior",
        paths.iter().filter_map(twin).collect(),
    );
}

/// The actions lie below the window: the command line and the configuration use them without a window. Only the crate's
/// entry point starts the window.
#[test]
fn no_layer_below_the_window_names_it() {
    let mut findings = Vec::new();
    let is_below = |path: &str| {
        path.starts_with("app/src/")
            && !path.starts_with("app/src/window/")
            && path != "app/src/lib.rs"
    };
    for file in Tree::read().rust().filter(|file| is_below(&file.path)) {
        for (number, line) in numbered(&file.text) {
            let code = line.split("//").next().unwrap_or_default();
            if code.contains("crate::window") {
                findings.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    check("code below the window that names the window", findings);
}

/// The state of the window is divided among structures with one purpose each. A structure with more fields than this
/// has more than one purpose.
#[test]
fn no_structure_of_the_window_has_more_than_15_fields() {
    let mut findings = Vec::new();
    for file in Tree::read().rust().filter(|file| file.path.starts_with("app/src/window/")) {
        let mut structure = None;
        for line in file.text.lines() {
            let name = line.split_once("struct ").map(|(_, rest)| rest);
            if let Some(name) = name.filter(|_| !line.starts_with(' ') && line.ends_with('{')) {
                structure = Some((name.trim_end_matches([' ', '{']), 0));
            } else if line == "}" {
                if let Some((name, fields)) = structure.take().filter(|(_, fields)| *fields > 15) {
                    findings.push(format!("{}: {name} has {fields} fields", file.path));
                }
            } else if let Some((_, fields)) = &mut structure {
                let is_field = line.strip_prefix("    ").is_some_and(|field| {
                    field.starts_with(char::is_alphabetic) && field.contains(':')
                });
                *fields += usize::from(is_field);
            }
        }
    }
    check("structures with more than 15 fields", findings);
}

#[test]
fn every_allow_has_a_reason() {
    let mut findings = Vec::new();
    for file in Tree::read().rust().filter(|file| file.path != "tests/tests/tidy.rs") {
        for opening in ["#[allow(", "#![allow(", "#[expect(", "#![expect("] {
            for (at, _) in file.text.match_indices(opening) {
                let attribute = file.text[at..].split(']').next().unwrap_or_default();
                if !attribute.contains("reason = ") {
                    let number = file.text[..at].matches('\n').count() + 1;
                    findings.push(format!("{}:{number}: {attribute}]", file.path));
                }
            }
        }
    }
    check("lints that are allowed without a reason", findings);
}

#[test]
fn names_of_tests_have_at_most_60_characters() {
    let mut findings = Vec::new();
    for file in Tree::read().rust() {
        let mut lines = numbered(&file.text);
        while let Some((_, line)) = lines.next() {
            if !matches!(line.trim(), "#[test]" | "#[tokio::test]")
                && !line.trim().starts_with("#[tokio::test(")
            {
                continue;
            }
            let Some((number, line)) = lines.find(|(_, line)| line.contains("fn ")) else { break };
            let name = line.split("fn ").nth(1).and_then(|rest| rest.split('(').next());
            findings.extend(
                name.filter(|name| name.len() > 60)
                    .map(|name| format!("{}:{number}: {name}", file.path)),
            );
        }
    }
    check("names of tests that are longer than 60 characters", findings);
}

#[test]
fn no_code_is_unfinished_or_disabled() {
    let forbidden = ["todo!(", "unimplemented!(", "dbg!(", "#[ignore"];
    let findings = find(&forbidden, |path| path.ends_with(".rs"));
    check("unfinished code", findings);
}

#[test]
fn no_file_contains_a_machine_path() {
    // Each path is split in two parts, so that this file passes its own check.
    let paths = [("/ro", "ot/"), ("/wo", "rk/"), ("/ho", "me/ubuntu"), ("shared/", "design.md")];
    let paths: Vec<String> = paths.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    check("paths of one machine", find(&paths, |_| true));
}

#[test]
fn the_table_of_conformance_can_be_read() {
    let tree = Tree::read();
    let text = tree.text("tests/conformance/results.toml");
    let table: toml_edit::DocumentMut = text.parse().expect("TOML");
    for (name, suite) in table.iter() {
        let number = |key: &str| suite[key].as_integer().expect("a count");
        assert!(suite["version"].is_str(), "{name}");
        let failing = suite.get("failing").and_then(|failing| failing.as_table());
        let failing = failing.map_or(0, |failing| failing.len()) as i64;
        assert!(number("passed") + failing >= number("of"), "{name}: a failing test has no reason");
    }
}

#[test]
fn every_dependency_comes_from_the_public_registry() {
    let tree = Tree::read();
    let findings = tree
        .text("Cargo.lock")
        .lines()
        .filter(|line| line.starts_with("source = "))
        .filter(|line| !line.contains("registry+https://github.com/rust-lang/crates.io-index"))
        .map(str::to_owned)
        .collect();
    check("dependencies from elsewhere", findings);
}

#[test]
fn scripts_can_be_run() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::read();
    let scripts = ["run", "test", "deny", "release", "fleet", "test-packages"]
        .map(|name| format!("packaging/{name}"));
    for script in scripts.iter().map(String::as_str).chain([".ci/run"]) {
        let mode = std::fs::metadata(tree.root.join(script)).expect(script).permissions().mode();
        assert!(mode & 0o111 != 0, "{script} is not executable");
        assert!(tree.text(script).starts_with("#!/usr/bin/env bash\n"), "{script} has no shebang");
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Every line with one of `words` in the files that `select` accepts, except this file.
fn find(words: &[&str], select: impl Fn(&str) -> bool) -> Vec<String> {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for file in &tree.files {
        if !select(&file.path) || file.path == "tests/tests/tidy.rs" {
            continue;
        }
        for (number, line) in numbered(&file.text) {
            if words.iter().any(|word| line.contains(word)) {
                findings.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    findings
}

//! A plugin's manifest: parsed from TOML or JSON, checked, and written in the form of the protocol.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::ManifestError,
    permission::Permission,
    text::{bounded, is_name, quoted},
};

/// The numbers of rows and columns that a manifest may contain.
const SIZES: std::ops::RangeInclusive<u16> = 1..=1000;

/// The maximum number of arguments, and of variables, in a manifest.
const LISTED: usize = 128;

/// The maximum number of programs in a manifest.
const PROGRAMS: usize = 64;

/// The maximum length of an argument or a variable, in bytes.
const LISTED_TEXT: usize = 4096;

/// The manifest of a plugin: its name, its permissions and the programs that it is for.
///
/// Unknown keys are errors. The functions that return a manifest, [`Manifest::from_toml`] and [`Manifest::from_json`],
/// check its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The name of the plugin: 1 to 64 letters, digits and `_-.`.
    pub name: String,
    /// The kind of the plugin.
    pub kind: PluginKind,
    /// The version of the plugin, which is shown to users.
    pub version: String,
    /// The engine that runs the entrypoint.
    pub runtime: Runtime,
    /// The path of the plugin's file, relative to the manifest's folder.
    pub entrypoint: String,
    /// The permissions of the plugin. They also determine which methods may be called on its adapters.
    #[serde(default)]
    pub permissions: Vec<Permission>,
    /// The programs that the plugin is for, by the names of their executable files. If the list is empty, the plugin is
    /// for the program of `default_target`. Not serialized, because clients of the protocol may refuse fields that it
    /// does not document.
    #[serde(default, skip_serializing)]
    pub programs: Vec<String>,
    /// The program that an adapter starts if its caller names no program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_target: Option<Target>,
}

/// The kind of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginKind {
    /// The plugin controls one program.
    Adapter,
    /// The plugin offers intents for any program.
    Macro,
    /// The plugin offers predicates.
    Matcher,
}

/// The engine that runs a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// Luau.
    Lua,
    /// WebAssembly. The protocol defines the name, but Unterm does not support it.
    Wasm,
}

/// The program that a plugin is for.
///
/// The environment of the program consists of the parent's variables, [`Target::env`], the caller's variables and
/// [`Target::required_env`]. If a variable is set more than once, the last value is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The name or the path of the program.
    pub program: String,
    /// The arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// The number of rows of the program's terminal. `None`: the host's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
    /// The number of columns of the program's terminal. `None`: the host's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// Variables that a caller can replace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables that a caller can't replace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub required_env: BTreeMap<String, String>,
}

impl Manifest {
    /// Parses the text of a manifest file.
    pub fn from_toml(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self = toml_edit::de::from_str(text)
            .map_err(|error| ManifestError(bounded(error.to_string().trim_end(), 500)))?;
        manifest.checked()
    }

    /// Parses a manifest in JSON, which has the same keys, for `plugin.validate_manifest`.
    pub fn from_json(value: &Value) -> Result<Self, ManifestError> {
        let manifest = Self::deserialize(value)
            .map_err(|error| ManifestError(bounded(&error.to_string(), 500)))?;
        manifest.checked()
    }

    /// Whether the manifest declares `permission`.
    pub fn has(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// Whether the plugin is for the program whose executable file has this name.
    pub fn is_for(&self, program: &str) -> bool {
        let target = self.default_target.as_ref().map(|target| file_name(&target.program));
        match self.programs.as_slice() {
            [] => target == Some(program),
            programs => programs.iter().any(|name| name == program),
        }
    }

    fn checked(mut self) -> Result<Self, ManifestError> {
        let wrong = |message: String| Err(ManifestError(message));
        if !is_name(&self.name) {
            let name = quoted(&self.name);
            return wrong(format!(
                "`name` must be 1 to 64 letters, digits, `_`, `-` or `.`, not {name}"
            ));
        }
        if self.version.is_empty()
            || self.version.len() > 64
            || self.version.contains(char::is_control)
        {
            let version = quoted(&self.version);
            return wrong(format!("`version` must be 1 to 64 printable characters, not {version}"));
        }
        if self.runtime == Runtime::Wasm {
            return wrong("`runtime` is `wasm`, which Unterm does not run; use `lua`".into());
        }
        check_entrypoint(&self.entrypoint)?;
        let mut seen = Vec::new();
        self.permissions.retain(|permission| {
            let new = !seen.contains(permission);
            seen.push(*permission);
            new
        });
        if self.programs.len() > PROGRAMS {
            let count = self.programs.len();
            return wrong(format!("`programs` has {count} names; {PROGRAMS} are allowed"));
        }
        let is_file_name = |name: &&String| {
            (1..=255).contains(&name.len()) && !name.contains(['/', '\0']) && !name.starts_with('-')
        };
        if let Some(name) = self.programs.iter().find(|name| !is_file_name(name)) {
            let name = quoted(name);
            return wrong(format!(
                "`programs` must be the names of files, without folders, not {name}"
            ));
        }
        if let Some(target) = &self.default_target {
            target.check()?;
        }
        Ok(self)
    }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns an error for a path that could leave the manifest's folder. Links are checked when the file is opened.
fn check_entrypoint(entrypoint: &str) -> Result<(), ManifestError> {
    let shown = quoted(entrypoint);
    if entrypoint.is_empty() || entrypoint.len() > 1024 || entrypoint.contains(char::is_control) {
        return Err(ManifestError(format!(
            "`entrypoint` must be a file's path of 1 to 1024 printable characters, not {shown}"
        )));
    }
    if Path::new(entrypoint).is_absolute() || entrypoint.contains('\\') {
        return Err(ManifestError(format!(
            "`entrypoint` must be relative to the manifest's folder, with `/` between its parts, not {shown}"
        )));
    }
    if entrypoint.split('/').any(|part| part == "..") {
        return Err(ManifestError(format!("`entrypoint` must not contain `..`: {shown}")));
    }
    Ok(())
}

impl Target {
    fn check(&self) -> Result<(), ManifestError> {
        let wrong = |message: String| Err(ManifestError(message));
        if self.program.is_empty() || self.program.len() > 4096 || self.program.contains('\0') {
            let program = quoted(&self.program);
            return wrong(format!(
                "`default_target.program` must be a program's name or path, not {program}"
            ));
        }
        for (key, size) in [("rows", self.rows), ("cols", self.cols)] {
            if let Some(size) = size.filter(|size| !SIZES.contains(size)) {
                return wrong(format!(
                    "`default_target.{key}` must be between {} and {}, not {size}",
                    SIZES.start(),
                    SIZES.end()
                ));
            }
        }
        if self.args.len() > LISTED {
            let count = self.args.len();
            return wrong(format!(
                "`default_target.args` has {count} arguments; {LISTED} are allowed"
            ));
        }
        for arg in &self.args {
            if arg.len() > LISTED_TEXT || arg.contains('\0') {
                let arg = quoted(arg);
                return wrong(format!(
                    "an argument in `default_target.args` must be at most {LISTED_TEXT} bytes without NUL: {arg}"
                ));
            }
        }
        for (key, variables) in [("env", &self.env), ("required_env", &self.required_env)] {
            if variables.len() > LISTED {
                let count = variables.len();
                return wrong(format!(
                    "`default_target.{key}` has {count} variables; {LISTED} are allowed"
                ));
            }
            for (name, value) in variables {
                let named = quoted(name);
                if name.is_empty() || name.len() > 256 || name.contains(['=', '\0']) {
                    return wrong(format!(
                        "{named} in `default_target.{key}` is no name of a variable"
                    ));
                }
                if value.len() > LISTED_TEXT || value.contains('\0') {
                    return wrong(format!(
                        "the value of {named} in `default_target.{key}` must be at most {LISTED_TEXT} bytes without NUL"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GOOD: &str = r#"
        name = "top"
        kind = "adapter"
        version = "0.1.0"
        runtime = "lua"
        entrypoint = "main.lua"
        permissions = ["screen.read", "input.write", "screen.read"]
        [default_target]
        program = "top"
        args = ["-d", "1"]
        rows = 50
        env = { TERM = "xterm" }
        required_env = { LC_ALL = "C" }
    "#;

    #[test]
    fn a_manifest_is_serialized_as_written() {
        let manifest = Manifest::from_toml(GOOD).expect("a good manifest");
        let shown = serde_json::to_value(&manifest).expect("JSON");
        let expected = json!({
            "name": "top", "kind": "adapter", "version": "0.1.0", "runtime": "lua", "entrypoint": "main.lua",
            "permissions": ["screen.read", "input.write"],
            "default_target": { "program": "top", "args": ["-d", "1"], "rows": 50,
                "env": { "TERM": "xterm" }, "required_env": { "LC_ALL": "C" } }
        });
        assert_eq!(shown, expected);
        assert_eq!(Manifest::from_json(&shown), Ok(manifest));
    }

    #[test]
    fn errors_name_the_value() {
        let cases = [
            ("version = \"0.1.0\"", "", "missing field `version`"),
            ("kind = \"adapter\"", "kind = \"shell\"", "unknown variant `shell`"),
            ("\"input.write\"", "\"disk.write\"", "unknown variant `disk.write`"),
            ("name = \"top\"", "name = \"a/b\"", "`a/b`"),
            ("\"lua\"", "\"wasm\"", "`runtime` is `wasm`"),
            ("\"main.lua\"", "\"/etc/passwd\"", "`/etc/passwd`"),
            ("\"main.lua\"", "\"a/../../b\"", "must not contain `..`: `a/../../b`"),
            ("rows = 50", "rows = 0", "between 1 and 1000, not 0"),
            ("rows = 50", "rows = 70000", "70000"),
            ("rows = 50", "depth = 1", "unknown field `depth`"),
            ("program = \"top\"", "program = \"\"", "not ``"),
            ("TERM =", "\"A=B\" =", "`A=B`"),
            ("name = \"top\"", "name = \"top\"\nicon = 1", "unknown field `icon`"),
            ("[default_target]", "programs = ['a/b']\n[default_target]", "not `a/b`"),
            ("[default_target]", "programs = ['']\n[default_target]", "not ``"),
            ("[default_target]", "[default_target", "TOML parse error"),
        ];
        for (from, to, expected) in cases {
            let text = GOOD.replacen(from, to, 1);
            let error = Manifest::from_toml(&text).expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }

    #[test]
    fn programs_default_to_the_targets_program() {
        let target = Manifest::from_toml(
            &GOOD.replace("\"top\"\n        args", "\"/bin/top\"\n        args"),
        );
        let target = target.expect("a good manifest");
        assert!(target.is_for("top") && !target.is_for("htop") && !target.is_for("/bin/top"));
        let named =
            GOOD.replace("[default_target]", "programs = ['htop', 'btop']\n[default_target]");
        let named = Manifest::from_toml(&named).expect("a good manifest");
        assert!(named.is_for("btop") && !named.is_for("top"));
        let shown = serde_json::to_value(&named).expect("JSON");
        assert!(shown.get("programs").is_none(), "the protocol has no such field");
    }

    #[test]
    fn json_manifests_are_checked_like_toml() {
        let value = json!({ "name": "x", "kind": "macro", "version": "1", "runtime": "lua", "entrypoint": "../x" });
        let error = Manifest::from_json(&value).expect_err("a path out of the folder").to_string();
        assert!(error.contains("`../x`"), "{error}");
        let error = Manifest::from_json(&json!([])).expect_err("an array").to_string();
        assert!(error.contains("missing") || error.contains("invalid"), "{error}");
    }
}

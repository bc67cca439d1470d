//! The built-in plugins. Their files are in `assets/plugins`.

use crate::{manifest::Manifest, worker::Program};

/// The manifest and the source of each built-in plugin.
const TEXTS: [(&str, &str); 3] = [
    (
        include_str!("../../../assets/plugins/claude-code/manifest.toml"),
        include_str!("../../../assets/plugins/claude-code/main.luau"),
    ),
    (
        include_str!("../../../assets/plugins/codex/manifest.toml"),
        include_str!("../../../assets/plugins/codex/main.luau"),
    ),
    (
        include_str!("../../../assets/plugins/shell/manifest.toml"),
        include_str!("../../../assets/plugins/shell/main.luau"),
    ),
];

/// The built-in plugins. A plugin with a wrong manifest would be left out, and a test checks that there is none.
pub(crate) fn programs() -> Vec<Program> {
    let parse = |(manifest, source): (&str, &str)| match Manifest::from_toml(manifest) {
        Ok(manifest) => Some(Program { manifest, source: source.to_owned() }),
        Err(error) => {
            tracing::error!("a built-in plugin has a wrong manifest: {error}");
            None
        }
    };
    TEXTS.into_iter().filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_manifest_is_valid() {
        let names: Vec<_> = programs().into_iter().map(|program| program.manifest.name).collect();
        assert_eq!(names, ["claude-code", "codex", "shell"]);
    }
}

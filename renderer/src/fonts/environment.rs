//! What the names of fonts and the environment say about fonts.

use cosmic_text::fontdb;

/// Whether a face has pictures of emoji, judged by its name.
pub(super) fn is_emoji_font(info: &fontdb::FaceInfo) -> bool {
    info.post_script_name.contains("Emoji")
}

/// The user's language as a BCP 47 tag, from the environment. It selects between regional forms of Han characters.
pub(super) fn locale() -> String {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .and_then(|value| value.split(['.', '@']).next().map(|tag| tag.replace('_', "-")))
        .filter(|tag| tag.len() > 1 && tag != "POSIX")
        .unwrap_or_else(|| "en-US".to_owned())
}

//! Converts the fonts of `wezterm.lua`.

use super::super::{
    draft::Draft,
    lua::Lua,
    reasons::{self, COMPUTED},
    text::feature,
};

/// Properties of a font that Unterm chooses itself.
const STYLES: &[&str] = &["weight", "stretch", "style", "italic"];

/// Lists of families that rules can set: the key in Unterm, and whether its text is bold and italic.
const FACES: &[(&str, bool, bool)] =
    &[("bold", true, false), ("italic", false, true), ("bold_italic", true, true)];

/// A font, as written in the file.
struct Font {
    families: Vec<String>,
    features: Vec<String>,
    /// Whether the font has a weight, a width or a slant of its own.
    has_style: bool,
}

/// Sets the font families, and the features of the fonts.
pub(super) fn font(draft: &mut Draft, value: &Lua) -> Result<(), String> {
    let font = read(value)?;
    draft.set_list(&["font", "family"], &font.families);
    for feature in &font.features {
        draft.append(&["font", "features"], feature);
    }
    if font.has_style {
        draft.leave_out(reasons::FIXED_STYLES.why);
    }
    Ok(())
}

/// Converts a rule of `font_rules`. The first rule that matches a text decides.
pub(super) fn rule(draft: &mut Draft, rule: &Lua) -> Result<(), String> {
    let mut conditions = rule.entries().iter().filter_map(|entry| entry.key.as_deref());
    if conditions.any(|name| !["italic", "intensity", "font"].contains(&name)) {
        return Err(reasons::NO_FONT_RULES.into());
    }
    let bold = match rule.get("intensity") {
        None => None,
        Some(Lua::Text(name)) if name == "Bold" => Some(true),
        Some(Lua::Text(name)) if name == "Normal" => Some(false),
        Some(_) => return Err(reasons::NO_FONT_RULES.into()),
    };
    let italic = match rule.get("italic") {
        None => None,
        Some(Lua::Bool(italic)) => Some(*italic),
        Some(_) => return Err(COMPUTED.to_owned()),
    };
    let font = read(rule.get("font").ok_or(COMPUTED)?)?;
    let applies = |wanted: Option<bool>, is: bool| wanted.is_none_or(|wanted| wanted == is);
    let mut found = false;
    for (key, is_bold, is_italic) in FACES {
        if applies(bold, *is_bold) && applies(italic, *is_italic) {
            found = true;
            if !draft.has(&["font", key]) {
                draft.set_list(&["font", key], &font.families);
            }
        }
    }
    if found { Ok(()) } else { Err(reasons::NO_FONT_RULES.into()) }
}

/// Reads a font. It is written as `wezterm.font 'A'`, as `wezterm.font { family = 'A' }`, or as a list in
/// `wezterm.font_with_fallback`.
fn read(value: &Lua) -> Result<Font, String> {
    let Lua::Call(name, arguments) = value else {
        return Err(COMPUTED.to_owned());
    };
    let Some((first, options)) = arguments.split_first() else { return Err(COMPUTED.to_owned()) };
    let fonts: Vec<&Lua> = match (name.as_str(), first) {
        ("wezterm.font", font) => vec![font],
        // A single font needs no list.
        ("wezterm.font_with_fallback", font @ Lua::Text(_)) => vec![font],
        ("wezterm.font_with_fallback", font) if font.get("family").is_some() => vec![font],
        ("wezterm.font_with_fallback", list) => list.items().collect(),
        _ => return Err(COMPUTED.to_owned()),
    };
    let family =
        |font: &&Lua| font.text().or_else(|| font.get("family")?.text()).map(str::to_owned);
    let families: Vec<String> = fonts.iter().filter_map(family).collect();
    if families.is_empty() {
        return Err(COMPUTED.to_owned());
    }
    let features = fonts.iter().filter_map(|font| font.get("harfbuzz_features"));
    let features = features.flat_map(Lua::items).filter_map(Lua::text).map(feature).collect();
    let has_style = |font: &Lua| STYLES.iter().any(|name| font.get(name).is_some());
    let has_style = options.iter().any(has_style) || fonts.iter().any(|font| has_style(font));
    Ok(Font { families, features, has_style })
}

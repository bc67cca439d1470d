//! Imports theme files of other terminals as a [`Theme`].
//!
//! [`import`] detects the format from the text. Each reader reads only the colors of its format, and ignores other
//! settings.

use std::collections::HashMap;

use serde_json::Value;
use unterm_term::{Palette, Rgb};

use super::{Theme, hex};
use crate::plain_words;

/// The names of the eight normal colors in files of Alacritty and Windows Terminal.
const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/// A theme format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `alacritty.toml` or a theme file for it.
    Alacritty,
    /// `kitty.conf` or a theme file for it.
    Kitty,
    /// A Ghostty theme.
    Ghostty,
    /// An `.itermcolors` property list.
    Iterm2,
    /// A color scheme of Windows Terminal, in JSON.
    WindowsTerminal,
    /// A base16 scheme, in YAML.
    Base16,
}

/// A color that a file sets. An error contains the text that is not a color.
type ParsedColor = Result<Rgb, String>;

/// The colors that were found so far.
#[derive(Default)]
struct Colors {
    ansi: [Option<ParsedColor>; 16],
    named: HashMap<&'static str, ParsedColor>,
}

impl Colors {
    fn theme(mut self, title: &str) -> Result<Theme, String> {
        let mut ansi = [Rgb::default(); 16];
        for (index, color) in self.ansi.iter().enumerate() {
            // If a file sets only eight colors, the bright colors equal the normal colors.
            let given = color.as_ref().or(self.ansi[index % 8].as_ref()).cloned();
            ansi[index] = needed(given, &format!("color {index}"))?;
        }
        let foreground = needed(self.named.remove("foreground"), "the foreground")?;
        let background = needed(self.named.remove("background"), "the background")?;
        // A value that is not a color, such as kitty's `background`, is ignored. The color is then unset, and follows
        // the cell's own color.
        let mut named = |name: &str| self.named.remove(name).and_then(Result::ok);
        let mut palette = Palette::new(ansi, foreground, background);
        palette.cursor = named("cursor");
        palette.cursor_text = named("cursor_text");
        palette.selection = named("selection");
        palette.selection_text = named("selection_text");
        Ok(Theme { title: title.to_owned(), palette })
    }

    fn set(&mut self, name: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.named.insert(name, read(text));
        }
    }

    /// Sets one of the sixteen ANSI colors. Colors with a higher index are ignored, because a theme does not contain
    /// them.
    fn set_ansi(&mut self, index: usize, text: Option<&str>) {
        if let Some(slot) = self.ansi.get_mut(index) {
            *slot = text.map(read);
        }
    }
}

/// Returns a mandatory color. If it is missing or not valid, returns an error message.
fn needed(given: Option<ParsedColor>, what: &str) -> Result<Rgb, String> {
    let given = given.ok_or_else(|| format!("{what} is missing"))?;
    given.map_err(|text| format!("{what} is {text:?}, which is not a color; write #rrggbb"))
}

/// Parses a color: `#rrggbb`, `rrggbb`, `0xrrggbb`, `#rgb` or a color name of X11.
fn read(text: &str) -> ParsedColor {
    let short = || {
        let digits = text.strip_prefix('#').filter(|digits| digits.chars().count() == 3)?;
        hex(&digits.chars().flat_map(|digit| [digit, digit]).collect::<String>())
    };
    hex(text).or_else(short).or_else(|| Rgb::named(text)).ok_or_else(|| text.to_owned())
}

/// Parses a color as files of other terminals contain it. `None` if the text is not a color.
pub(crate) fn color(text: &str) -> Option<Rgb> {
    read(text).ok()
}

/// Imports a theme file of another terminal. If the file does not contain a name, the theme is named `title`.
///
/// # Errors
/// Fails if the format is unknown or a mandatory color is missing.
pub fn import(text: &str, title: &str) -> Result<(Format, Theme), String> {
    // Editors on Windows may add a byte order mark at the start.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let format = detect(text).ok_or_else(|| {
        let formats = "Alacritty, kitty, Ghostty, iTerm2, Windows Terminal, base16";
        match text.lines().any(|line| line.trim_end() == "colors:") {
            true => "Alacritty's YAML files can't be imported; convert the file to TOML with `alacritty migrate`"
                .to_owned(),
            false => format!("unknown format; importable formats are {formats}"),
        }
    })?;
    let mut title = title.to_owned();
    let mut colors = Colors::default();
    match format {
        Format::Alacritty => alacritty(text, &mut colors)?,
        Format::Kitty => kitty(text, &mut colors),
        Format::Ghostty => ghostty(text, &mut colors),
        Format::Iterm2 => iterm2(text, &mut colors)?,
        Format::WindowsTerminal => windows_terminal(text, &mut colors, &mut title)?,
        Format::Base16 => base16(text, &mut colors, &mut title),
    }
    Ok((format, colors.theme(&title)?))
}

fn detect(text: &str) -> Option<Format> {
    let trimmed = text.trim_start();
    if trimmed.starts_with("<?xml")
        || trimmed.starts_with("<!DOCTYPE plist")
        || trimmed.starts_with("<plist")
    {
        return Some(Format::Iterm2);
    }
    if ["{", "//", "/*"].iter().any(|start| trimmed.starts_with(start))
        || trimmed.starts_with('[') && trimmed.contains("\"brightBlack\"")
    {
        return Some(Format::WindowsTerminal);
    }
    let has_colors = |text: &str| {
        toml_edit::Document::parse(text).is_ok_and(|file| file.as_table().contains_key("colors"))
    };
    if text.contains("[colors.") || text.contains("[colors]") || has_colors(text) {
        return Some(Format::Alacritty);
    }
    let mut lines = text.lines().map(str::trim);
    lines.find_map(|line| {
        let first = line.split([' ', '\t', '=', ':']).next().unwrap_or_default();
        match first {
            "palette" if line.contains('=') => Some(Format::Ghostty),
            "base00" => Some(Format::Base16),
            "color0" => Some(Format::Kitty),
            _ => None,
        }
    })
}

fn alacritty(text: &str, colors: &mut Colors) -> Result<(), String> {
    let document =
        toml_edit::Document::parse(text).map_err(|error| plain_words::of_file(error.message()))?;
    let table = document.as_table();
    let color = |section: &str, name: &str| table.get("colors")?.get(section)?.get(name)?.as_str();
    for (index, name) in NAMES.iter().enumerate() {
        colors.set_ansi(index, color("normal", name));
        colors.set_ansi(index + 8, color("bright", name));
    }
    colors.set("foreground", color("primary", "foreground"));
    colors.set("background", color("primary", "background"));
    colors.set("cursor", color("cursor", "cursor"));
    colors.set("cursor_text", color("cursor", "text"));
    colors.set("selection", color("selection", "background"));
    colors.set("selection_text", color("selection", "text"));
    Ok(())
}

fn kitty(text: &str, colors: &mut Colors) {
    for line in text.lines() {
        let Some((name, value)) = line.trim().split_once(char::is_whitespace) else { continue };
        let value = Some(value.trim());
        match name {
            "foreground" => colors.set("foreground", value),
            "background" => colors.set("background", value),
            "cursor" => colors.set("cursor", value),
            "cursor_text_color" => colors.set("cursor_text", value),
            "selection_background" => colors.set("selection", value),
            "selection_foreground" => colors.set("selection_text", value),
            _ => {
                let index = name.strip_prefix("color").and_then(|index| index.parse().ok());
                if let Some(index) = index {
                    colors.set_ansi(index, value);
                }
            }
        }
    }
}

fn ghostty(text: &str, colors: &mut Colors) {
    for line in text.lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        match name.trim() {
            "foreground" => colors.set("foreground", Some(value)),
            "background" => colors.set("background", Some(value)),
            "cursor-color" => colors.set("cursor", Some(value)),
            "cursor-text" => colors.set("cursor_text", Some(value)),
            "selection-background" => colors.set("selection", Some(value)),
            "selection-foreground" => colors.set("selection_text", Some(value)),
            "palette" => {
                let Some((index, value)) = value.split_once('=') else { continue };
                if let Ok(index) = index.trim().parse() {
                    colors.set_ansi(index, Some(value.trim()));
                }
            }
            _ => {}
        }
    }
}

fn iterm2(text: &str, colors: &mut Colors) -> Result<(), String> {
    let list = plist::Value::from_reader_xml(text.as_bytes()).map_err(|error| error.to_string())?;
    let list = list.as_dictionary().ok_or("the property list holds no dictionary")?;
    let color = |name: &str| {
        let parts = list.get(&format!("{name} Color"))?.as_dictionary()?;
        let channel = |channel: &str| {
            let part = parts.get(&format!("{channel} Component"))?;
            let share = part.as_real().or_else(|| part.as_signed_integer().map(|i| i as f64))?;
            Some((share.clamp(0.0, 1.0) * 255.0).round() as u8)
        };
        let color = Rgb { r: channel("Red")?, g: channel("Green")?, b: channel("Blue")? };
        Some(color.to_string())
    };
    for index in 0..16 {
        colors.set_ansi(index, color(&format!("Ansi {index}")).as_deref());
    }
    colors.set("foreground", color("Foreground").as_deref());
    colors.set("background", color("Background").as_deref());
    colors.set("cursor", color("Cursor").as_deref());
    colors.set("cursor_text", color("Cursor Text").as_deref());
    colors.set("selection", color("Selection").as_deref());
    colors.set("selection_text", color("Selected Text").as_deref());
    Ok(())
}

fn windows_terminal(text: &str, colors: &mut Colors, title: &mut String) -> Result<(), String> {
    let value: Value =
        serde_json::from_str(&strict_json(text)).map_err(|error| plain_words::of_json(&error))?;
    // The text may be a single scheme, a list of schemes, or a whole settings file. Use the first scheme in it.
    let scheme = [&value, &value[0], &value["schemes"][0]]
        .into_iter()
        .find(|scheme| scheme["background"].is_string())
        .ok_or("there is no color scheme in it")?;
    let color = |name: &str| scheme[name].as_str();
    for (index, name) in NAMES.iter().enumerate() {
        let name = if *name == "magenta" { "purple" } else { name };
        let (first, rest) = name.split_at(1);
        colors.set_ansi(index, color(name));
        colors.set_ansi(index + 8, color(&format!("bright{}{rest}", first.to_uppercase())));
    }
    colors.set("foreground", color("foreground"));
    colors.set("background", color("background"));
    colors.set("cursor", color("cursorColor"));
    colors.set("selection", color("selectionBackground"));
    if let Some(name) = scheme["name"].as_str() {
        name.clone_into(title);
    }
    Ok(())
}

/// Converts relaxed JSON, as users write it for Windows Terminal, to strict JSON. Removes comments, and commas before
/// closing brackets.
fn strict_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => in_string = !in_string,
            '\\' if in_string => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            '/' if !in_string && chars.peek() == Some(&'/') => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '/' if !in_string && chars.next_if_eq(&'*').is_some() => {
                while let Some(c) = chars.next() {
                    if c == '*' && chars.next_if_eq(&'/').is_some() {
                        break;
                    }
                }
                continue;
            }
            '}' | ']' if !in_string && out.trim_end().ends_with(',') => {
                out.truncate(out.trim_end().len() - 1);
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

fn base16(text: &str, colors: &mut Colors, title: &mut String) {
    let mut base = [None; 16];
    for line in text.lines() {
        let Some((name, value)) = line.trim().split_once(':') else { continue };
        let value = value.split(" #").next().unwrap_or_default().trim();
        let value = value.trim_matches(['"', '\'']);
        match name.trim() {
            "scheme" | "name" if !value.is_empty() => value.clone_into(title),
            name => {
                let digits = name.strip_prefix("base").filter(|digits| digits.len() == 2);
                let index = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
                if let Some(slot) = index.and_then(|index| base.get_mut(index)) {
                    *slot = Some(value);
                }
            }
        }
    }
    // The order that base16's own theme for shells uses.
    const ORDER: [usize; 16] = [0, 8, 11, 10, 13, 14, 12, 5, 3, 8, 11, 10, 13, 14, 12, 7];
    for (index, base_index) in ORDER.into_iter().enumerate() {
        colors.set_ansi(index, base[base_index]);
    }
    colors.set("foreground", base[5]);
    colors.set("background", base[0]);
    colors.set("cursor", base[5]);
    colors.set("selection", base[2]);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// Color `index` in the files below. The indexes 16 and 17 are foreground and background.
    fn color(index: u32) -> Rgb {
        Rgb::hex(0x101010 + index * 0x030507)
    }

    fn text(index: u32) -> String {
        let color = color(index);
        format!("{:02x}{:02x}{:02x}", color.r, color.g, color.b)
    }

    fn check(file: &str, format: Format) -> Theme {
        let (found, theme) = import(file, "own").unwrap();
        assert_eq!(found, format);
        for index in 0..16 {
            assert_eq!(theme.palette.colors[index], color(index as u32), "{format:?} {index}");
        }
        assert_eq!(theme.palette.foreground, color(16), "{format:?}");
        assert_eq!(theme.palette.background, color(17), "{format:?}");
        theme
    }

    #[test]
    fn alacritty_files_are_read() {
        let mut file = format!(
            "[colors.primary]\nforeground = '#{}'\nbackground = \"0x{}\"\n",
            text(16),
            text(17)
        );
        for (start, section) in [(0, "normal"), (8, "bright")] {
            let _ = writeln!(file, "[colors.{section}]");
            for (index, name) in NAMES.iter().enumerate() {
                let _ = writeln!(file, "{name} = '#{}'", text(start + index as u32));
            }
        }
        check(&file, Format::Alacritty);
    }

    #[test]
    fn kitty_and_ghostty_files_are_read() {
        let mut kitty = format!("# a theme\nforeground  #{}\nbackground #{}\n", text(16), text(17));
        let mut ghostty = format!("background = {}\nforeground = #{}\n", text(17), text(16));
        for index in 0..16 {
            let _ = writeln!(kitty, "color{index}  #{}", text(index));
            let _ = writeln!(ghostty, "palette = {index}=#{}", text(index));
        }
        kitty.push_str("cursor_text_color background\n");
        assert_eq!(check(&kitty, Format::Kitty).palette.cursor_text, None);
        check(&ghostty, Format::Ghostty);
    }

    #[test]
    fn iterm2_files_are_read() {
        let mut file = String::from("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>");
        let names = (0..16).map(|index| format!("Ansi {index}"));
        for (index, name) in names.chain(["Foreground".into(), "Background".into()]).enumerate() {
            let color = color(index as u32);
            let _ = write!(file, "<key>{name} Color</key><dict>");
            for (channel, value) in [("Red", color.r), ("Green", color.g), ("Blue", color.b)] {
                let share = f64::from(value) / 255.0;
                let _ = write!(file, "<key>{channel} Component</key><real>{share}</real>");
            }
            file.push_str("</dict>");
        }
        file.push_str("</dict></plist>");
        check(&file, Format::Iterm2);
    }

    #[test]
    fn windows_terminal_schemes_are_read() {
        let mut scheme = serde_json::json!({
            "name": "Theirs",
            "foreground": format!("#{}", text(16)),
            "background": format!("#{}", text(17)),
        });
        let bright = ["Black", "Red", "Green", "Yellow", "Blue", "Purple", "Cyan", "White"];
        for (index, name) in bright.iter().enumerate() {
            scheme[name.to_lowercase()] = format!("#{}", text(index as u32)).into();
            scheme[format!("bright{name}")] = format!("#{}", text(index as u32 + 8)).into();
        }
        assert_eq!(check(&scheme.to_string(), Format::WindowsTerminal).title, "Theirs");
        let settings = serde_json::json!({ "schemes": [scheme] });
        check(&settings.to_string(), Format::WindowsTerminal);
    }

    #[test]
    fn base16_schemes_are_read_in_the_order_of_a_shell() {
        let mut file = String::from("scheme: \"Sixteen\"\n");
        for index in 0..16 {
            let _ = writeln!(file, "base{index:02X}: \"{}\" # comment", text(index));
        }
        let (format, theme) = import(&file, "own").unwrap();
        assert_eq!((format, theme.title.as_str()), (Format::Base16, "Sixteen"));
        assert_eq!(theme.palette.foreground, color(5));
        assert_eq!(theme.palette.background, color(0));
        assert_eq!(theme.palette.colors[1], color(8));
        assert_eq!(theme.palette.colors[15], color(7));
    }

    #[test]
    fn an_imported_theme_without_a_color_is_an_error() {
        assert_eq!(import("color0 #000000\n", "x").unwrap_err(), "color 1 is missing");
        assert!(import("nothing of the kind", "x").unwrap_err().contains("Ghostty"));
        assert!(import("colors:\n  primary:\n", "x").unwrap_err().contains("migrate"));
        let wrong = "color0 #00000g\nbackground none\n";
        assert_eq!(
            import(wrong, "x").unwrap_err(),
            "color 0 is \"#00000g\", which is not a color; write #rrggbb"
        );
    }

    #[test]
    fn colours_are_read_in_their_short_form_and_by_name() {
        let mut file = String::from("foreground white\nbackground #f80\n");
        for index in 0..16 {
            let _ = writeln!(file, "color{index} Dark Slate Gray");
        }
        let palette = import(&file, "x").unwrap().1.palette;
        assert_eq!(palette.foreground, Rgb::hex(0xffffff));
        assert_eq!(palette.background, Rgb::hex(0xff8800));
        assert_eq!(palette.colors[15], Rgb::hex(0x2f4f4f));
    }

    #[test]
    fn json_with_comments_and_commas_too_many_is_read() {
        let text =
            "\u{feff}// mine\n{ \"a\": \"// no, \\\" }\", /* two\nlines, */ \"b\": [1, 2, ], }";
        let value: Value = serde_json::from_str(&strict_json(&text[3..])).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "// no, \" }", "b": [1, 2] }));
        // The format of the text is detected, although the text contains no colors.
        assert_eq!(import(text, "x").unwrap_err(), "there is no color scheme in it");
    }

    #[test]
    fn alacritty_s_colours_are_found_in_every_form_of_a_table() {
        for text in ["colors.primary.background = '#000000'", "colors = { primary = {} }"] {
            assert_eq!(import(text, "x").unwrap_err(), "color 0 is missing", "{text}");
        }
    }
}

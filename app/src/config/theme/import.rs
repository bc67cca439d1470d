//! Themes of other terminals: their files to our [`Theme`].
//!
//! Each reader takes what its format calls colours and nothing else; the format is told by the text itself.

use std::collections::HashMap;

use serde_json::Value;
use unterm_term::{Palette, Rgb};

use super::{Theme, hex};

/// Names of the sixteen colours in Alacritty's and, from the ninth on with another prefix, Windows Terminal's files.
const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/// The formats that can be read.
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
    /// A colour scheme of Windows Terminal, in JSON.
    WindowsTerminal,
    /// A base16 scheme, in YAML.
    Base16,
}

/// Colours found so far, by what they are for.
#[derive(Default)]
struct Colors {
    ansi: [Option<Rgb>; 16],
    named: HashMap<&'static str, Rgb>,
}

impl Colors {
    fn theme(self, title: &str) -> Result<Theme, String> {
        let mut ansi = [Rgb::default(); 16];
        for (index, color) in self.ansi.iter().enumerate() {
            // Files of eight colours mean the same ones for bright.
            let fallback = self.ansi[index % 8];
            ansi[index] = color.or(fallback).ok_or_else(|| format!("colour {index} is missing"))?;
        }
        let named = |name: &str| self.named.get(name).copied();
        let foreground = named("foreground").ok_or("the foreground is missing")?;
        let background = named("background").ok_or("the background is missing")?;
        let mut palette = Palette::new(ansi, foreground, background);
        palette.cursor = named("cursor");
        palette.cursor_text = named("cursor_text");
        palette.selection = named("selection");
        palette.selection_text = named("selection_text");
        Ok(Theme { title: title.to_owned(), palette })
    }

    fn set(&mut self, name: &'static str, color: Option<Rgb>) {
        if let Some(color) = color {
            self.named.insert(name, color);
        }
    }
}

/// Reads a theme of another terminal; `title`: its name, where the file has none.
///
/// # Errors
/// When no format fits, or a colour that every theme needs is missing.
pub fn import(text: &str, title: &str) -> Result<(Format, Theme), String> {
    let format = detect(text).ok_or(
        "this is none of the formats that can be imported: Alacritty, kitty, Ghostty, iTerm2, Windows Terminal, base16",
    )?;
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
    if trimmed.starts_with('{') || trimmed.starts_with('[') && trimmed.contains("\"brightBlack\"") {
        return Some(Format::WindowsTerminal);
    }
    if text.contains("[colors.") || text.contains("[colors]") {
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
    let document = toml_edit::Document::parse(text).map_err(|error| error.message().to_owned())?;
    let table = document.as_table();
    let color =
        |section: &str, name: &str| hex(table.get("colors")?.get(section)?.get(name)?.as_str()?);
    for (index, name) in NAMES.iter().enumerate() {
        colors.ansi[index] = color("normal", name);
        colors.ansi[index + 8] = color("bright", name);
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
        let color = hex(value.trim());
        match name {
            "foreground" => colors.set("foreground", color),
            "background" => colors.set("background", color),
            "cursor" => colors.set("cursor", color),
            "cursor_text_color" => colors.set("cursor_text", color),
            "selection_background" => colors.set("selection", color),
            "selection_foreground" => colors.set("selection_text", color),
            _ => {
                let index = name.strip_prefix("color").and_then(|index| index.parse().ok());
                if let Some(slot) = index.and_then(|index: usize| colors.ansi.get_mut(index)) {
                    *slot = color;
                }
            }
        }
    }
}

fn ghostty(text: &str, colors: &mut Colors) {
    for line in text.lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim());
        match name {
            "foreground" => colors.set("foreground", hex(value)),
            "background" => colors.set("background", hex(value)),
            "cursor-color" => colors.set("cursor", hex(value)),
            "cursor-text" => colors.set("cursor_text", hex(value)),
            "selection-background" => colors.set("selection", hex(value)),
            "selection-foreground" => colors.set("selection_text", hex(value)),
            "palette" => {
                let Some((index, value)) = value.split_once('=') else { continue };
                let index = index.trim().parse::<usize>().ok();
                if let Some(slot) = index.and_then(|index| colors.ansi.get_mut(index)) {
                    *slot = hex(value.trim());
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
        Some(Rgb { r: channel("Red")?, g: channel("Green")?, b: channel("Blue")? })
    };
    for index in 0..16 {
        colors.ansi[index] = color(&format!("Ansi {index}"));
    }
    colors.set("foreground", color("Foreground"));
    colors.set("background", color("Background"));
    colors.set("cursor", color("Cursor"));
    colors.set("cursor_text", color("Cursor Text"));
    colors.set("selection", color("Selection"));
    colors.set("selection_text", color("Selected Text"));
    Ok(())
}

fn windows_terminal(text: &str, colors: &mut Colors, title: &mut String) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    // A scheme by itself, a list of them, or a whole settings file: the first scheme.
    let scheme = [&value, &value[0], &value["schemes"][0]]
        .into_iter()
        .find(|scheme| scheme["background"].is_string())
        .ok_or("there is no colour scheme in it")?;
    let color = |name: &str| hex(scheme[name].as_str()?);
    for (index, name) in NAMES.iter().enumerate() {
        let name = if *name == "magenta" { "purple" } else { name };
        let (first, rest) = name.split_at(1);
        colors.ansi[index] = color(name);
        colors.ansi[index + 8] = color(&format!("bright{}{rest}", first.to_uppercase()));
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
                    *slot = hex(value);
                }
            }
        }
    }
    // The order of base16's own shell theme.
    const ORDER: [usize; 16] = [0, 8, 11, 10, 13, 14, 12, 5, 3, 8, 11, 10, 13, 14, 12, 7];
    colors.ansi = ORDER.map(|index| base[index]);
    colors.set("foreground", base[5]);
    colors.set("background", base[0]);
    colors.set("cursor", base[5]);
    colors.set("selection", base[2]);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// Colour `index` of the files below; 16 and 17 are foreground and background.
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
    fn what_is_missing_is_named() {
        assert_eq!(import("color0 #000000\n", "x").unwrap_err(), "colour 1 is missing");
        assert!(import("nothing of the kind", "x").unwrap_err().contains("Ghostty"));
    }
}

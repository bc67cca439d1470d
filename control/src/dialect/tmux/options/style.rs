//! Checks colors and styles, as tmux parses them. <https://man.openbsd.org/tmux#STYLES>

use unterm_term::Rgb;

const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const ATTRIBUTES: [&str; 15] = [
    "acs",
    "bright",
    "bold",
    "dim",
    "underscore",
    "blink",
    "reverse",
    "hidden",
    "italics",
    "strikethrough",
    "double-underscore",
    "curly-underscore",
    "dotted-underscore",
    "dashed-underscore",
    "overline",
];
const WORDS: [&str; 9] = [
    "default",
    "ignore",
    "noignore",
    "push-default",
    "pop-default",
    "nolist",
    "norange",
    "noalign",
    "none",
];

/// Whether a text names a color: `red`, `brightred`, `colour12`, `#ff0000`, `default`, or one of X11's names.
pub fn is_color(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix('#') {
        return digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let lower = text.to_ascii_lowercase();
    if let Some(index) = lower.strip_prefix("colour").or_else(|| lower.strip_prefix("color")) {
        return index.parse::<u8>().is_ok();
    }
    let name = lower.strip_prefix("bright").unwrap_or(&lower);
    let number = || lower.parse::<u8>().is_ok_and(|it| it < 8 || (90..98).contains(&it));
    matches!(lower.as_str(), "default" | "terminal" | "none")
        || NAMES.contains(&name)
        || number()
        || Rgb::named(text).is_some()
}

/// Whether a text is a style. A text with a format counts as a style, because only its expansion can be checked.
pub fn is_style(text: &str) -> bool {
    text.contains("#{") || text.split([' ', ',', '\n']).filter(|it| !it.is_empty()).all(is_part)
}

fn is_part(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    match part.split_once('=') {
        Some(("fg" | "bg" | "us" | "fill", color)) => is_color(color),
        Some(("list", mark)) => matches!(mark, "on" | "focus" | "left-marker" | "right-marker"),
        Some(("align", side)) => matches!(side, "left" | "centre" | "right" | "absolute-centre"),
        Some(("range", range)) => {
            let (kind, number) = range.split_once('|').unwrap_or((range, ""));
            match kind {
                "left" | "right" => number.is_empty(),
                "window" => number.parse::<u32>().is_ok(),
                _ => false,
            }
        }
        Some(_) => false,
        None => {
            let attributes = part.strip_prefix("no").unwrap_or(&part);
            WORDS.contains(&part.as_str())
                || part == "noattr"
                || attributes.split('|').all(|attribute| ATTRIBUTES.contains(&attribute))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_have_colors_attributes_and_ranges() {
        for style in [
            "",
            "default",
            "none",
            "fg=red,bg=brightblue",
            "bg=#00ff7f bold,noitalics",
            "fg=colour255,underscore",
            "fill=green range=window|3 list=on align=absolute-centre",
            "#{?pane_active,fg=nothing,}",
            "bold|reverse",
        ] {
            assert!(is_style(style), "{style}");
        }
        for style in ["fg=nothing", "boldly", "fg=", "fg=colour256", "bg=#12345", "range=x", "a=b"]
        {
            assert!(!is_style(style), "{style}");
        }
        for color in ["terminal", "97", "DarkOliveGreen", "#ABCDEF", "7"] {
            assert!(is_color(color), "{color}");
        }
        assert!(!is_color("8") && !is_color("") && !is_color("#"));
    }
}

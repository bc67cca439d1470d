//! Screen manifests in herdr's format (TOML): rules that name the state of an agent by its screen, its title and its
//! progress, without code. <https://github.com/ogulcancelik/herdr>, `src/detect/manifest.rs`, engine version 2.
//!
//! Parses a manifest and checks its shape and size. The host compiles the patterns and evaluates the rules.

use serde::Deserialize;

use crate::text::quoted;

/// The newest version of the format that [`ScreenManifest::from_toml`] reads.
pub const ENGINE_VERSION: u32 = 2;
/// The maximum number of rules of a manifest.
const RULES: usize = 128;
/// The maximum depth of conditions inside one another.
const DEPTH: usize = 8;
/// The maximum number of conditions, and of patterns, of a manifest.
const GATES: usize = 512;
const MATCHERS: usize = 1024;
/// The maximum number of patterns of one condition.
const MATCHERS_OF_GATE: usize = 32;
/// The maximum number of characters of a pattern.
const PATTERN: usize = 512;
/// The maximum number of other names of an agent.
const ALIASES: usize = 32;

/// The rules of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenManifest {
    /// The agent: the name of its program.
    pub id: String,
    /// The version of the rules, for users.
    pub version: Option<String>,
    /// The oldest version of the format that has everything that the rules use.
    pub min_engine_version: Option<u32>,
    /// When the rules were changed, for users.
    pub updated_at: Option<String>,
    /// Other names of the program.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The rules. Of the rules that match, the rule with the greatest priority decides. If several have this priority,
    /// the first of them decides.
    #[serde(default)]
    pub rules: Vec<ScreenRule>,
}

/// The state that a rule names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenState {
    /// The agent waits for the next instruction.
    Idle,
    /// The agent works.
    Working,
    /// The agent can't go on without the user.
    Blocked,
    /// The screen does not show the state.
    #[default]
    Unknown,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenRule {
    /// The name of the rule.
    pub id: String,
    /// The state.
    #[serde(default)]
    pub state: ScreenState,
    /// The greatest priority decides.
    #[serde(default)]
    pub priority: i32,
    /// The part of the screen to which the condition applies.
    #[serde(default)]
    pub region: Region,
    /// Whether the screen shows the prompt, the question or the work itself. Only informative here.
    #[serde(default)]
    pub visible_idle: bool,
    #[serde(default)]
    #[allow(missing_docs, reason = "see `visible_idle`")]
    pub visible_blocker: bool,
    #[serde(default)]
    #[allow(missing_docs, reason = "see `visible_idle`")]
    pub visible_working: bool,
    /// Whether the agent's last state stays, because the screen shows something else for a while.
    #[serde(default)]
    pub skip_state_update: bool,
    #[serde(default)]
    all: Vec<Gate>,
    #[serde(default)]
    any: Vec<Gate>,
    #[serde(default)]
    not: Vec<Gate>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    regex: Vec<String>,
    #[serde(default)]
    line_regex: Vec<String>,
}

impl ScreenRule {
    /// The rule's condition.
    pub fn gate(&self) -> Gate {
        let Self { all, any, not, contains, regex, line_regex, .. } = self.clone();
        Gate { all, any, not, contains, regex, line_regex }
    }
}

/// A condition. All of its parts must be true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Each of these is true.
    #[serde(default)]
    pub all: Vec<Gate>,
    /// If the list is not empty, at least one of these conditions is true.
    #[serde(default)]
    pub any: Vec<Gate>,
    /// None of these is true.
    #[serde(default)]
    pub not: Vec<Gate>,
    /// The text contains each of these, in any case.
    #[serde(default)]
    pub contains: Vec<String>,
    /// Each of these regular expressions matches the text.
    #[serde(default)]
    pub regex: Vec<String>,
    /// Each of these regular expressions matches a line of the text.
    #[serde(default)]
    pub line_regex: Vec<String>,
}

/// A part of the screen, or a text that the program has set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Region {
    /// The whole screen.
    #[default]
    WholeRecent,
    /// The lines after the last line that begins with Codex's prompt, `›`.
    AfterLastPromptMarker,
    /// The lines before the current prompt: the last one, if no message follows it.
    BeforeCurrentPromptMarker,
    /// The whole screen, but nothing if there is a current prompt.
    WholeRecentWithoutCurrentPromptMarker,
    /// The line with which the last message before the current prompt begins.
    CurrentPromptBlockMarker,
    /// The lines from that line on.
    AfterCurrentPromptBlockMarker,
    /// The lines between the last two horizontal rules, in which Claude Code's prompt is.
    PromptBoxBody,
    /// The lines above them.
    AbovePromptBox,
    /// The last of those lines that is not empty.
    LastNonEmptyAbovePromptBox,
    /// The lines after the last horizontal rule.
    AfterLastHorizontalRule,
    /// This many lines at the end.
    BottomLines(usize),
    /// The lines from the last but so many that are not empty.
    BottomNonEmptyLines(usize),
    /// The title that the program has set.
    OscTitle,
    /// The progress that the program has reported (OSC 9;4), such as `4;1;50`.
    OscProgress,
}

impl TryFrom<String> for Region {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let count = |prefix: &str| -> Option<usize> {
            name.trim().strip_prefix(prefix)?.strip_prefix('(')?.strip_suffix(')')?.parse().ok()
        };
        Ok(match name.trim() {
            "whole_recent" => Self::WholeRecent,
            "after_last_prompt_marker" => Self::AfterLastPromptMarker,
            "before_current_prompt_marker" => Self::BeforeCurrentPromptMarker,
            "whole_recent_without_current_prompt_marker" => {
                Self::WholeRecentWithoutCurrentPromptMarker
            }
            "current_prompt_block_marker" => Self::CurrentPromptBlockMarker,
            "after_current_prompt_block_marker" => Self::AfterCurrentPromptBlockMarker,
            "prompt_box_body" => Self::PromptBoxBody,
            "above_prompt_box" => Self::AbovePromptBox,
            "last_non_empty_above_prompt_box" => Self::LastNonEmptyAbovePromptBox,
            "after_last_horizontal_rule" => Self::AfterLastHorizontalRule,
            "osc_title" => Self::OscTitle,
            "osc_progress" => Self::OscProgress,
            _ => count("bottom_lines")
                .map(Self::BottomLines)
                .or_else(|| count("bottom_non_empty_lines").map(Self::BottomNonEmptyLines))
                .ok_or_else(|| format!("there is no region {}", quoted(&name)))?,
        })
    }
}

impl ScreenManifest {
    /// Parses a manifest.
    ///
    /// # Errors
    /// The text is no manifest, needs a newer version of the format, or is too large. A message for users.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let manifest: Self =
            toml_edit::de::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Whether the rules are for a program of this name.
    pub fn is_for(&self, name: &str) -> bool {
        self.id == name || self.aliases.iter().any(|alias| alias == name)
    }

    fn check(&self) -> Result<(), String> {
        let needs = self.min_engine_version.unwrap_or(1);
        if needs > ENGINE_VERSION {
            return Err(format!(
                "min_engine_version must be at most {ENGINE_VERSION}, not {needs}"
            ));
        }
        if self.id.trim().is_empty() || self.aliases.len() > ALIASES {
            return Err(format!("it must have an id, and at most {ALIASES} aliases"));
        }
        if self.rules.is_empty() || self.rules.len() > RULES {
            return Err(format!("it must have 1 to {RULES} rules, not {}", self.rules.len()));
        }
        let mut size = Size::default();
        for rule in &self.rules {
            if rule.id.trim().is_empty() {
                return Err("a rule must have an id".to_owned());
            }
            let named = |why: String| format!("rule {}: {why}", quoted(&rule.id));
            if rule.skip_state_update && rule.state != ScreenState::Unknown {
                return Err(named("skip_state_update needs the state unknown".to_owned()));
            }
            size.add(&rule.gate(), 0, Sign::Positive).map_err(named)?;
        }
        Ok(())
    }
}

/// Whether a condition must be true or false.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
}

/// The size of a manifest's conditions.
#[derive(Default)]
struct Size {
    gates: usize,
    matchers: usize,
}

impl Size {
    fn add(&mut self, gate: &Gate, depth: usize, sign: Sign) -> Result<(), String> {
        let Gate { all, any, not, contains, regex, line_regex } = gate;
        let own = contains.len() + regex.len() + line_regex.len();
        self.gates += 1;
        self.matchers += own;
        if depth > DEPTH || self.gates > GATES || self.matchers > MATCHERS || own > MATCHERS_OF_GATE
        {
            return Err(format!(
                "at most {GATES} conditions of depth {DEPTH}, {MATCHERS} patterns, and {MATCHERS_OF_GATE} patterns in a \
                 condition are allowed"
            ));
        }
        let is_positive = own > 0 || !all.is_empty() || !any.is_empty();
        if !is_positive && (sign == Sign::Positive || not.is_empty()) {
            return Err("a condition must contain a pattern".to_owned());
        }
        let mut patterns = contains.iter().chain(regex).chain(line_regex);
        if let Some(long) = patterns.find(|pattern| pattern.chars().count() > PATTERN) {
            let start: String = long.chars().take(40).collect();
            return Err(format!(
                "a pattern must have at most {PATTERN} characters: {}…",
                quoted(&start)
            ));
        }
        for inner in all.iter().chain(any) {
            self.add(inner, depth + 1, Sign::Positive)?;
        }
        not.iter().try_for_each(|inner| self.add(inner, depth + 1, Sign::Negative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "[[rules]]\nid = \"r\"\nstate = \"blocked\"\ncontains = [\"sure?\"]\n";

    #[test]
    fn a_manifest_has_rules_with_conditions_and_regions() {
        let text = "id = \"claude\"\nversion = \"1\"\nmin_engine_version = 2\nupdated_at = \"2026-07-10T00:00:00Z\"\n\
            aliases = [\"claude-code\"]\n\
            [[rules]]\nid = \"form\"\nstate = \"blocked\"\npriority = 980\nregion = \"bottom_non_empty_lines(3)\"\n\
            visible_blocker = true\ncontains = [\"esc to cancel\"]\n\
            any = [{ contains = [\"a\"] }, { line_regex = ['^b'] }]\nnot = [{ regex = ['c'] }]\n\
            [[rules]]\nid = \"viewer\"\nstate = \"unknown\"\nskip_state_update = true\ncontains = [\"x\"]\n";
        let manifest = ScreenManifest::from_toml(text).unwrap();
        assert!(manifest.is_for("claude") && manifest.is_for("claude-code"));
        assert!(!manifest.is_for("codex"));
        let [form, viewer] = &manifest.rules[..] else { panic!("{manifest:?}") };
        assert_eq!((form.region, form.priority), (Region::BottomNonEmptyLines(3), 980));
        assert_eq!((form.gate().any.len(), form.gate().not.len()), (2, 1));
        assert_eq!((viewer.region, viewer.state), (Region::WholeRecent, ScreenState::Unknown));
    }

    #[test]
    fn a_wrong_manifest_is_refused_with_its_reason() {
        let why = |text: &str| ScreenManifest::from_toml(text).unwrap_err();
        let long = "x".repeat(PATTERN + 1);
        let deep = (0..=DEPTH)
            .fold("{ contains = [\"x\"] }".to_owned(), |inner, _| format!("{{ all = [{inner}] }}"));
        for (text, part) in [
            (String::new(), "id"),
            ("id = \"a\"".to_owned(), "1 to 128 rules"),
            (format!("id = \" \"\n{RULE}"), "must have an id"),
            (format!("id = \"a\"\nmin_engine_version = 3\n{RULE}"), "at most 2, not 3"),
            (format!("id = \"a\"\ncolor = 1\n{RULE}"), "color"),
            (format!("id = \"a\"\n{RULE}region = \"left\"\n"), "no region"),
            (format!("id = \"a\"\n{RULE}region = \"bottom_lines(x)\"\n"), "no region"),
            (format!("id = \"a\"\n{RULE}state = \"angry\"\n"), "state"),
            (format!("id = \"a\"\n{RULE}skip_state_update = true\n"), "needs the state unknown"),
            (format!("id = \"a\"\n{RULE}any = [{{}}]\n"), "must contain a pattern"),
            (format!("id = \"a\"\n{RULE}regex = ['{long}']\n"), "at most 512 characters"),
            (format!("id = \"a\"\n{RULE}all = [{deep}]\n"), "of depth 8"),
            (
                "id = \"a\"\n[[rules]]\nid = \"r\"\nnot = [{ contains = [\"x\"] }]".to_owned(),
                "pattern",
            ),
            (format!("id = \"a\"\n{}", RULE.repeat(RULES + 1)), "1 to 128 rules"),
        ] {
            assert!(why(&text).contains(part), "{text}: {}", why(&text));
        }
    }
}

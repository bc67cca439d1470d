//! Completes a line with methods, parameter names, ids, and the names that plugins describe.
//!
//! Text from the server may be hostile, so only plain words are offered.

use serde_json::Value;
use unterm_control::{
    escaped,
    ptywright::{ParamValue, method_doc},
};

use super::{
    line::OWN,
    names::{Server, adapters, description, named, plugins, sessions},
};

/// A word that can complete the text at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The completed word, including a character that must follow, such as a blank.
    pub word: String,
    /// A short description; may be empty.
    pub about: String,
}

impl Candidate {
    fn new(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self { word: word.into(), about: escaped(&about.into()).replace('\n', " ") }
    }
}

/// Returns the candidates for the word before the cursor, and the byte offset at which this word starts. `line` is the
/// text up to the cursor.
pub fn complete(line: &str, server: &dyn Server) -> (usize, Vec<Candidate>) {
    let start = word_start(line);
    let word = &line[start..];
    let before = line[..start].trim_start();
    let mut found = match before.split_whitespace().next() {
        None => methods(server, " "),
        Some("help" | "?") => methods(server, ""),
        Some(method) => {
            let given = LineStart { method, text: before };
            match word.split_once('=') {
                None => given.params(server),
                Some((name, value)) => {
                    let mut values = given.values(name, server);
                    values.retain(|one| one.word.starts_with(value));
                    return (start + name.len() + 1, plain(values));
                }
            }
        }
    };
    found.retain(|one| one.word.starts_with(word));
    (start, plain(found))
}

/// Removes words that need quotes, and words with characters that could hide text.
fn plain(mut found: Vec<Candidate>) -> Vec<Candidate> {
    let is_plain = |char: char| char.is_alphanumeric() || "._-/=: ".contains(char);
    found.retain(|one| one.word.chars().all(is_plain) && !one.word.trim_end().contains(' '));
    found
}

/// The byte offset of the last word. Blanks inside quotes, lists and objects do not end a word.
fn word_start(line: &str) -> usize {
    let (mut start, mut depth, mut quote, mut is_escaped) = (0, 0_usize, None, false);
    for (at, char) in line.char_indices() {
        match (quote, char) {
            (Some('"'), _) if is_escaped => is_escaped = false,
            (Some('"'), '\\') => is_escaped = true,
            (Some(open), char) if open == char => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, char) if char.is_whitespace() && depth == 0 => start = at + char.len_utf8(),
            _ => {}
        }
    }
    start
}

fn methods(server: &dyn Server, end: &str) -> Vec<Candidate> {
    let own = OWN.iter().map(|(name, about)| Candidate::new(format!("{name}{end}"), *about));
    let methods = server.methods().into_iter().map(|name| {
        let about = method_doc(&name).map_or("", |doc| doc.about);
        Candidate::new(format!("{name}{end}"), about)
    });
    let mut all: Vec<_> = own.chain(methods).collect();
    all.sort_by(|one, other| one.word.cmp(&other.word));
    all
}

/// The part of the line before the word to complete.
struct LineStart<'a> {
    method: &'a str,
    text: &'a str,
}

impl LineStart<'_> {
    /// The value of a parameter, if it is a plain word or a text in quotes.
    fn get(&self, name: &str) -> Option<&str> {
        let mut words = self.text.split_whitespace().skip(1);
        let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.trim_matches(['"', '\'']))
    }

    /// Whether a value is given for a parameter, or for the object that contains the parameter.
    fn has(&self, name: &str) -> bool {
        let object = name.split_once('.').map(|(object, _)| object);
        [Some(name), object].into_iter().flatten().any(|name| self.get(name).is_some())
    }

    /// The names of the parameters that are not given yet.
    fn params(&self, server: &dyn Server) -> Vec<Candidate> {
        if self.text.split_whitespace().nth(1).is_some_and(|word| word.starts_with('{')) {
            return Vec::new();
        }
        let Some(doc) = method_doc(self.method) else { return Vec::new() };
        let mut found = Vec::new();
        for param in doc.params.iter().filter(|param| !self.has(param.name)) {
            found.push(Candidate::new(format!("{}=", param.name), param.about));
            // Also offer the parameters of an intent.
            if let Some(intent) =
                param.name.strip_suffix("params").map(|place| format!("{place}intent"))
                && let Some(intent) = self.get(&intent)
            {
                let of_intent = self.params_of(intent, server);
                found.extend(of_intent.into_iter().filter_map(|(name, about)| {
                    let name = format!("{}.{name}", param.name);
                    (!self.has(&name)).then(|| Candidate::new(format!("{name}="), about))
                }));
            }
        }
        found
    }

    /// The parameters of an intent, with the descriptions of its plugin.
    fn params_of(&self, intent: &str, server: &dyn Server) -> Vec<(String, String)> {
        self.descriptions(server)
            .iter()
            .flat_map(|plugin| [&plugin["intents"], &plugin["wait_matchers"]])
            .flat_map(|list| list.as_array().map(Vec::as_slice).unwrap_or_default())
            .filter(|one| one["name"] == intent)
            .flat_map(|one| one["params_schema"]["properties"].as_object())
            .flatten()
            .map(|(name, property)| {
                (name.clone(), property["description"].as_str().unwrap_or_default().to_owned())
            })
            .collect()
    }

    /// The possible values of a parameter.
    fn values(&self, name: &str, server: &dyn Server) -> Vec<Candidate> {
        let doc = method_doc(self.method);
        let param = doc.and_then(|doc| doc.params.iter().find(|param| param.name == name));
        let words = |words: Vec<String>| {
            words.into_iter().map(|word| Candidate::new(word + " ", "")).collect()
        };
        match param.map(|param| param.value) {
            Some(ParamValue::Choice(all)) => {
                words(all.iter().map(|word| (*word).to_owned()).collect())
            }
            Some(ParamValue::Flag) => words(vec!["true".to_owned(), "false".to_owned()]),
            Some(ParamValue::Session) => words(sessions(server)),
            Some(ParamValue::Adapter) => adapters(server)
                .into_iter()
                .map(|(id, plugin)| Candidate::new(id + " ", plugin))
                .collect(),
            Some(ParamValue::Plugin) => words(plugins(server)),
            Some(ParamValue::Intent) => self.described(&["intents"], server),
            Some(ParamValue::WaitMatcher) => self.described(&["wait_matchers"], server),
            // A plugin may not list which of its functions are predicates, so offer all of them.
            Some(ParamValue::Predicate) => {
                self.described(&["predicates", "wait_matchers", "intents"], server)
            }
            _ => Vec::new(),
        }
    }

    /// The functions that the plugins list under these names.
    fn described(&self, lists: &[&str], server: &dyn Server) -> Vec<Candidate> {
        let all = self.descriptions(server);
        let names =
            lists.iter().flat_map(|list| all.iter().flat_map(|plugin| named(&plugin[*list])));
        let mut found: Vec<_> =
            names.map(|(name, about)| Candidate::new(name + " ", about)).collect();
        found.sort_by(|one, other| one.word.cmp(&other.word));
        found.dedup_by(|one, other| one.word == other.word);
        found
    }

    /// The descriptions of the plugins that the call may use: the given plugin, or the plugin of the given adapter, or
    /// the plugins of all adapters.
    fn descriptions(&self, server: &dyn Server) -> Vec<Value> {
        let named = self.get("matcher.value.plugin").or_else(|| self.get("plugin"));
        let plugins = match (named, self.get("adapter")) {
            (Some(plugin), _) => vec![plugin.to_owned()],
            (None, id) => {
                let all = adapters(server).into_iter();
                let mut own: Vec<_> = all
                    .filter(|(adapter, _)| id.is_none_or(|id| id == adapter))
                    .map(|(_, plugin)| plugin)
                    .collect();
                own.sort();
                own.dedup();
                own
            }
        };
        plugins.iter().map(|plugin| description(server, plugin)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Fake;

    impl Server for Fake {
        fn methods(&self) -> Vec<String> {
            [
                "session.list",
                "session.input",
                "session.wait",
                "adapter.send",
                "adapter.turn",
                "adapter.wait",
            ]
            .map(str::to_owned)
            .to_vec()
        }

        fn ask(&self, method: &str, params: Value) -> Option<Value> {
            Some(match method {
                "session.list" => json!({"sessions": ["s1", "s2"]}),
                "adapter.live" => json!({"adapters": [
                    {"adapter": "e1", "plugin": "shell"}, {"adapter": "e2", "plugin": "evil"}]}),
                "adapter.list" => json!({"plugins": [{"name": "shell"}, {"name": "evil"}]}),
                "plugin.describe" if params["plugin"] == "shell" => json!({
                    "intents": [
                        {"name": "run_command", "description": "Type.\nIt", "params_schema":
                            {"properties": {"command": {"description": "One line."}}}},
                        {"name": "eof"},
                    ],
                    "wait_matchers": [{"name": "wait_turn_matcher"}],
                }),
                "plugin.describe" => {
                    json!({"intents": [{"name": "a\u{1b}[2J"}, {"name": "b c"}, {"name": "fine",
                    "description": "\u{1b}]0;x"}]})
                }
                _ => return None,
            })
        }
    }

    fn words(line: &str) -> Vec<String> {
        let (start, found) = complete(line, &Fake);
        found.into_iter().map(|one| format!("{}{}", &line[..start], one.word)).collect()
    }

    #[test]
    fn a_method_comes_first() {
        assert_eq!(words("session.l"), ["session.list "]);
        assert_eq!(words("  q"), ["  quit "]);
        assert_eq!(words("help session.w"), ["help session.wait"]);
        assert!(words("nope").is_empty());
    }

    #[test]
    fn names_of_parameters_follow_until_they_are_given() {
        assert_eq!(words("session.input s"), ["session.input session="]);
        assert_eq!(
            words("session.input session=s1 action.t"),
            ["session.input session=s1 action.type="]
        );
        assert!(words("session.input session=s1 s").is_empty());
        assert!(words("session.input action={} action.").is_empty());
        assert!(words("session.input {\"session\": ").is_empty());
        assert!(words("session.input session=\"a b").is_empty());
    }

    #[test]
    fn values_are_those_that_exist_now() {
        assert_eq!(
            words("session.input session="),
            ["session.input session=s1 ", "session.input session=s2 "]
        );
        assert_eq!(
            words("session.wait matcher.type=scr"),
            ["session.wait matcher.type=screen_regex ", "session.wait matcher.type=screen_stable ",]
        );
        assert_eq!(
            words("adapter.send adapter=e1 intent=r"),
            ["adapter.send adapter=e1 intent=run_command "]
        );
        assert_eq!(
            words("adapter.wait adapter=e1 intent="),
            ["adapter.wait adapter=e1 intent=wait_turn_matcher "]
        );
        assert_eq!(
            words(
                "session.wait matcher.type=lua matcher.value.plugin=shell matcher.value.predicate=e"
            ),
            [
                "session.wait matcher.type=lua matcher.value.plugin=shell matcher.value.predicate=eof "
            ]
        );
        // If no adapter is given, the intents of all adapters are offered.
        assert_eq!(words("adapter.send intent=").len(), 3);
    }

    #[test]
    fn an_intents_own_parameters_follow_it() {
        let line = "adapter.send adapter=e1 intent=run_command params.";
        assert_eq!(words(line), [format!("{line}command=")]);
        let line = "adapter.turn adapter=e1 send.intent=run_command send.params.";
        assert_eq!(words(line), [format!("{line}command=")]);
    }

    #[test]
    fn a_hostile_plugins_names_are_not_offered() {
        let (_, found) = complete("adapter.send adapter=e2 intent=", &Fake);
        assert_eq!(
            found,
            [Candidate { word: "fine ".to_owned(), about: "\\u{1b}]0;x".to_owned() }]
        );
    }
}

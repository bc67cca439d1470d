//! The command `help` of the prompt.

use unterm_control::{
    escaped,
    ptywright::{MethodDoc, ParamValue, method_doc},
};

use super::line::OWN;

/// The explanation of how commands are written.
const SYNTAX: &str = "\
METHOD name=value …, or METHOD {JSON}. A value is JSON, a word, or a text in 'quotes'.
A dot makes an object: session.input session=s1 action.type=key action.value=enter
Tab completes. Ctrl+C clears the line or cancels a wait. A line that starts with a blank
is left out of the history.
";

/// The help about all methods of a server.
pub fn all(methods: &[String]) -> String {
    let width = methods.iter().map(|name| name.len()).max().unwrap_or(0);
    let row = |name: &str, about: &str| {
        format!("{}\n", format!("  {:width$}  {about}", escaped(name)).trim_end())
    };
    let own = OWN.iter().map(|(name, about)| row(name, &format!("{about}.")));
    let methods =
        methods.iter().map(|name| row(name, method_doc(name).map_or("", |doc| doc.about)));
    format!("{SYNTAX}\n{}", own.chain(methods).collect::<String>())
}

/// The help about a method. `None` if the method is unknown.
pub fn one(name: &str) -> Option<String> {
    let MethodDoc { name, about, params, result } = method_doc(name)?;
    let mut text = format!("{name}: {about}\n");
    let width = params.iter().map(|param| param.name.len()).max().unwrap_or(0);
    for param in *params {
        let required = if param.is_required { "required, " } else { "" };
        let kind = param.value.name();
        text.push_str(&format!("  {:width$}  {required}{kind}: {}\n", param.name, param.about));
        if let ParamValue::Choice(words) = param.value {
            text.push_str(&format!("  {:width$}  {}\n", "", words.join(", ")));
        }
    }
    text.push_str(&format!("Returns {result}\n"));
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_parameters_with_what_they_take() {
        let text = one("session.input").unwrap();
        assert!(text.contains("  session       required, session: the session's id\n"), "{text}");
        assert!(text.contains("bracketed_paste"), "{text}");
        assert!(one("nope").is_none());
        let text = all(&["session.list".to_owned(), "new.method".to_owned()]);
        assert!(text.contains("  session.list  List the sessions.\n"), "{text}");
        assert!(text.contains("  new.method\n") && text.contains("  help "), "{text}");
    }
}

//! What a reply looks like to people: a method's type is paired with functions of its reply.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use unterm_control::{Error, methods::Method};

use crate::cli::fields;

/// A reply as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// For standard output, with a line end after each line.
    pub text: String,
    /// The reason why the command fails although the call succeeded; empty if the text says so by itself.
    pub complaint: Option<String>,
}

impl Shown {
    /// A reply in the general form: names, values and tables.
    pub fn general(reply: &Value) -> Self {
        Self { text: fields::text(reply), complaint: None }
    }
}

/// The form of a method's replies, with the method's type erased.
pub trait Show: Sync {
    /// The method's name.
    fn method(&self) -> &'static str;

    /// Shows a reply. A reply that can't be read as the method's is shown in the general form, and is a failure.
    fn show(&self, reply: &Value) -> Shown;
}

/// The form of a method's replies.
pub struct Form<M: Method> {
    text: Text<M::Reply>,
    complaint: Option<Complaint<M::Reply>>,
}

/// The reason why a reply is a failure, if it is.
type Complaint<R> = fn(&R) -> Option<String>;

enum Text<R> {
    General,
    Nothing,
    Own(fn(&R) -> String),
}

/// Pairs a method with the text of its reply.
pub const fn shown<M: Method>(text: fn(&M::Reply) -> String) -> Form<M> {
    Form { text: Text::Own(text), complaint: None }
}

/// A method whose reply has the general form.
pub const fn general<M: Method>() -> Form<M> {
    Form { text: Text::General, complaint: None }
}

/// A method that prints nothing if it succeeds.
pub const fn silent<M: Method>() -> Form<M> {
    Form { text: Text::Nothing, complaint: None }
}

impl<M: Method> Form<M> {
    /// Makes some replies failures.
    pub const fn failing(self, complaint: Complaint<M::Reply>) -> Self {
        Self { text: self.text, complaint: Some(complaint) }
    }
}

impl<M: Method> Show for Form<M>
where
    M::Reply: DeserializeOwned,
{
    fn method(&self) -> &'static str {
        M::NAME
    }

    fn show(&self, reply: &Value) -> Shown {
        if matches!((&self.text, self.complaint), (Text::Nothing, None)) {
            return Shown { text: String::new(), complaint: None };
        }
        let known = match M::Reply::deserialize(reply) {
            Ok(known) => known,
            Err(error) => {
                let complaint = Some(Error::Unread { method: M::NAME, error }.to_string());
                return Shown { complaint, ..Shown::general(reply) };
            }
        };
        let text = match self.text {
            Text::General => fields::text(reply),
            Text::Nothing => String::new(),
            Text::Own(text) => text(&known),
        };
        Shown { text, complaint: self.complaint.and_then(|complaint| complaint(&known)) }
    }
}

//! The text of a reply for the user: pairs each method's type with functions that write its reply.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use unterm_control::{Error, methods::Method};

use crate::cli::fields;

/// A reply as text for the user.
#[derive(Debug, PartialEq, Eq)]
pub struct ReplyText {
    /// The text for standard output. Each line has a line end.
    pub text: String,
    /// An error message, if the command fails although the call succeeded. The message is empty if the text itself
    /// explains the failure.
    pub complaint: Option<String>,
    /// A message for standard error that is no failure.
    pub note: Option<String>,
}

impl ReplyText {
    /// Shows a reply in the general form: names, values and tables.
    pub fn general(reply: &Value) -> Self {
        Self { text: fields::text(reply), complaint: None, note: None }
    }
}

/// The form of a method's replies, as a trait object that does not depend on the method's type.
pub trait Show: Sync {
    /// The method's name.
    fn method(&self) -> &'static str;

    /// Shows a reply. If the reply is not valid for the method, shows it in the general form and as a failure.
    fn show(&self, reply: &Value) -> ReplyText;
}

/// The text form of a method's replies.
pub struct Form<M: Method> {
    text: Text<M::Reply>,
    complaint: Option<Message<M::Reply>>,
    note: Option<Message<M::Reply>>,
}

/// A function that returns a message about a reply, if there is one.
type Message<R> = fn(&R) -> Option<String>;

enum Text<R> {
    General,
    Nothing,
    Own(fn(&R) -> String),
}

/// Pairs a method with a function that writes its reply as text.
pub const fn shown<M: Method>(text: fn(&M::Reply) -> String) -> Form<M> {
    Form { text: Text::Own(text), complaint: None, note: None }
}

/// Shows a method's replies in the general form.
pub const fn general<M: Method>() -> Form<M> {
    Form { text: Text::General, complaint: None, note: None }
}

/// Shows nothing if the method succeeds.
pub const fn silent<M: Method>() -> Form<M> {
    Form { text: Text::Nothing, complaint: None, note: None }
}

impl<M: Method> Form<M> {
    /// Adds a function that decides which replies are failures.
    pub const fn failing(self, complaint: Message<M::Reply>) -> Self {
        Self { text: self.text, complaint: Some(complaint), note: self.note }
    }

    /// Adds a function that returns a note about a reply.
    pub const fn noting(self, note: Message<M::Reply>) -> Self {
        Self { text: self.text, complaint: self.complaint, note: Some(note) }
    }
}

impl<M: Method> Show for Form<M>
where
    M::Reply: DeserializeOwned,
{
    fn method(&self) -> &'static str {
        M::NAME
    }

    fn show(&self, reply: &Value) -> ReplyText {
        if matches!((&self.text, self.complaint), (Text::Nothing, None)) {
            return ReplyText { text: String::new(), complaint: None, note: None };
        }
        let known = match M::Reply::deserialize(reply) {
            Ok(known) => known,
            Err(error) => {
                let complaint = Some(Error::Unread { method: M::NAME, error }.to_string());
                return ReplyText { complaint, ..ReplyText::general(reply) };
            }
        };
        let text = match self.text {
            Text::General => fields::text(reply),
            Text::Nothing => String::new(),
            Text::Own(text) => text(&known),
        };
        ReplyText {
            text,
            complaint: self.complaint.and_then(|complaint| complaint(&known)),
            note: self.note.and_then(|note| note(&known)),
        }
    }
}

//! Parameters of methods. A method parses a parameter when it needs it. If the value is wrong, the error contains the
//! parameter's name and the expected value.

use std::{borrow::Cow, collections::BTreeMap, marker::PhantomData, ops::RangeInclusive};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::error::{Error, Result};

/// One parameter as JSON that has not been parsed yet. It can be read as a `T`. An absent parameter and `null` are
/// equal.
///
/// The method parses the parameter, so that an error can contain the parameter's name, and so that a parameter that the
/// method ignores can't fail the call. A caller in this process creates one from a value.
pub struct Arg<'a, T>(Option<Cow<'a, RawValue>>, PhantomData<fn() -> T>);

impl<T: Serialize> From<T> for Arg<'_, T> {
    fn from(value: T) -> Self {
        // Writing to memory fails only for maps whose keys are not strings. No parameter is such a map.
        Self(to_raw_value(&value).ok().map(Cow::Owned), PhantomData)
    }
}

impl<T: Serialize> From<Option<T>> for Arg<'_, T> {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::default, Self::from)
    }
}

impl From<&str> for Arg<'_, String> {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Arg<'_, String> {
    /// A parameter whose JSON is written from a value of another type, such as a variant of an enum.
    pub fn word(value: impl Serialize) -> Self {
        Self(to_raw_value(&value).ok().map(Cow::Owned), PhantomData)
    }
}

impl<T> Serialize for Arg<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T> Default for Arg<'_, T> {
    fn default() -> Self {
        Self(None, PhantomData)
    }
}

impl<'de: 'a, 'a, T> Deserialize<'de> for Arg<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // `Option` also accepts a missing field. The attribute `default` would accept one, too, but would make the
        // field optional in the schema.
        let raw = Option::<&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.map(Cow::Borrowed), PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Arg<'_, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T> Arg<'_, T> {
    /// Whether the parameter is absent or `null`.
    pub fn is_absent(&self) -> bool {
        self.0.is_none()
    }

    fn raw(&self) -> Option<&RawValue> {
        self.0.as_deref()
    }

    fn parse<'s, V: Deserialize<'s>>(
        &'s self,
        name: &'static str,
        expected: impl FnOnce() -> String,
    ) -> Result<Option<V>> {
        let Some(raw) = self.raw() else { return Ok(None) };
        serde_json::from_str(raw.get()).map(Some).map_err(|_| invalid(name, expected(), raw.get()))
    }
}

fn invalid(name: &'static str, expected: String, got: &str) -> Error {
    const LONGEST: usize = 80;
    let end = got.char_indices().nth(LONGEST).map_or(got.len(), |(i, _)| i);
    let got = if end < got.len() { format!("{}…", &got[..end]) } else { got.to_owned() };
    Error::Invalid { name, expected, got }
}

impl<T> Arg<'_, T> {
    /// The parameter as a value of any type. `None` if it is absent.
    pub fn value<'s, V: Deserialize<'s>>(
        &'s self,
        name: &'static str,
        expected: &str,
    ) -> Result<Option<V>> {
        self.parse(name, || expected.to_owned())
    }
}

impl Arg<'_, bool> {
    /// Whether the parameter is true. False if it is absent.
    pub fn is_set(&self, name: &'static str) -> Result<bool> {
        Ok(self.value(name, "true or false")?.unwrap_or(false))
    }
}

impl Arg<'_, u64> {
    /// The parameter as a whole number within `range`. `None` if it is absent.
    pub fn number(&self, name: &'static str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        let expected = || match (range.start(), range.end()) {
            (start, &u64::MAX) => format!("a whole number of at least {start}"),
            (start, end) => format!("a whole number from {start} to {end}"),
        };
        match self.parse(name, expected)? {
            Some(n) if !range.contains(&n) => {
                Err(invalid(name, expected(), self.raw().map_or("", RawValue::get)))
            }
            n => Ok(n),
        }
    }
}

impl Arg<'_, String> {
    /// The parameter as text. `None` if it is absent.
    pub fn text(&self, name: &'static str) -> Result<Option<Cow<'_, str>>> {
        Ok(self.parse::<Text<'_>>(name, || "a string".to_owned())?.map(|text| text.0))
    }

    /// The parameter as text. It is required, and a value of another type counts as missing, as documented.
    pub fn required(&self, name: &'static str) -> Result<Cow<'_, str>> {
        self.text(name).ok().flatten().ok_or(Error::Missing(name))
    }
}

/// A string that is borrowed from the JSON if it contains no escape sequences.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Arg<'_, Vec<String>> {
    /// The parameter as a list of texts. Empty if it is absent.
    pub fn list(&self, name: &'static str) -> Result<Vec<String>> {
        Ok(self.parse(name, || "a list of strings".to_owned())?.unwrap_or_default())
    }
}

impl Arg<'_, BTreeMap<String, String>> {
    /// The parameter as names and values. Empty if it is absent.
    pub fn map(&self, name: &'static str) -> Result<BTreeMap<String, String>> {
        let expected = || "an object whose values are strings".to_owned();
        Ok(self.parse(name, expected)?.unwrap_or_default())
    }
}

/// A word in a reply. It is a constant if a method creates the reply, and owned if a client has parsed the reply.
pub type Word = Cow<'static, str>;

/// The parameters of a method that parses them in several steps, or as a type other than the schema's.
pub struct Raw<'a, S>(Cow<'a, RawValue>, PhantomData<fn() -> S>);

impl<S: Serialize> From<S> for Raw<'_, S> {
    fn from(params: S) -> Self {
        // See `Arg::from`.
        let raw = to_raw_value(&params).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self(Cow::Owned(raw), PhantomData)
    }
}

impl<S> Serialize for Raw<'_, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> std::result::Result<T::Ok, T::Error> {
        self.0.serialize(serializer)
    }
}

impl<S> Raw<'_, S> {
    /// Parses the parameters as a `V`. Returns serde_json's error if that fails.
    pub fn read<'s, V: Deserialize<'s>>(&'s self) -> std::result::Result<V, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    /// Parses the parameters like [`Raw::read`], but returns a failure as [`Error::Params`].
    pub fn params<'s, V: Deserialize<'s>>(&'s self) -> Result<V> {
        self.read().map_err(Error::Params)
    }
}

impl<'de: 'a, 'a, S> Deserialize<'de> for Raw<'a, S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(Cow::Borrowed(raw), PhantomData))
    }
}

impl<S: JsonSchema> JsonSchema for Raw<'_, S> {
    fn inline_schema() -> bool {
        S::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        S::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        S::json_schema(generator)
    }
}

/// The parameters of a method that takes none. Whatever is given is ignored.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct NoParams {}

/// A session as named by `id` or `session_id`: a number, or its digits as text.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The name of the parameter, for messages.
    name: &'static str,
    value: Option<&'a RawValue>,
}

impl<'a> Target<'a> {
    /// The target of a call with these two parameters. If both are given, `id` has precedence.
    pub fn new(id: &'a Arg<'_, u64>, session_id: &'a Arg<'_, String>) -> Self {
        match id.raw() {
            Some(value) => Self { name: "id", value: Some(value) },
            None => Self { name: "session_id", value: session_id.raw() },
        }
    }

    /// The name of the parameter that names the session.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The JSON value that names the session, if there is one.
    pub fn given(self) -> Option<&'a str> {
        self.value.map(RawValue::get)
    }

    /// The session's number.
    pub fn id(self) -> Result<u64> {
        let raw = self.value.ok_or(Error::NoTarget)?.get();
        if raw.starts_with('"') {
            let text: Text<'_> = serde_json::from_str(raw).map_err(|_| Error::NoTarget)?;
            let bad = || Error::BadTarget { name: self.name, got: raw.to_owned() };
            return text.0.parse().map_err(|_| bad());
        }
        raw.parse().map_err(|_| Error::NoTarget)
    }
}

/// Declares the parameters of a method that acts on a session: `id`, `session_id`, and the method's own parameters.
/// `#[serde(default)]` marks an optional parameter.
macro_rules! session_params {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Default, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        pub struct $name<'a> {
            /// Number of the session (or give `session_id`).
            #[serde(borrow, default, skip_serializing_if = "crate::methods::params::Arg::is_absent")]
            pub id: $crate::methods::params::Arg<'a, u64>,
            /// The session's number as text, instead of `id`.
            #[serde(borrow, default, skip_serializing_if = "crate::methods::params::Arg::is_absent")]
            pub session_id: $crate::methods::params::Arg<'a, String>,
            $(
                $(#[$field_meta])*
                #[serde(borrow, skip_serializing_if = "crate::methods::params::Arg::is_absent")]
                pub $field: $crate::methods::params::Arg<'a, $type>,
            )*
        }

        impl $name<'_> {
            /// Parameters that contain only the number of a session.
            #[allow(dead_code, reason = "not every method is called from inside the process")]
            pub fn of(session: u64) -> Self {
                Self { id: session.into(), ..Self::default() }
            }

            fn target(&self) -> $crate::methods::params::Target<'_> {
                $crate::methods::params::Target::new(&self.id, &self.session_id)
            }
        }
    };
}
pub(crate) use session_params;

session_params! {
    /// The parameters of a method that takes a session and nothing else.
    SessionOnly {}
}

impl SessionOnly<'_> {
    /// The session that the parameters name.
    pub fn session(&self) -> Target<'_> {
        self.target()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(params: &str) -> std::result::Result<u64, String> {
        let params: SessionOnly<'_> = serde_json::from_str(params).unwrap();
        params.session().id().map_err(|e| e.to_string())
    }

    #[test]
    fn a_session_is_named_by_number_or_text_under_either_key() {
        assert_eq!(target(r#"{"id":7}"#), Ok(7));
        assert_eq!(target(r#"{"session_id":"7"}"#), Ok(7));
        assert_eq!(target(r#"{"session_id":7}"#), Ok(7));
        assert_eq!(target(r#"{"id":"7"}"#), Ok(7));
        assert_eq!(target(r#"{"id":null,"session_id":"7"}"#), Ok(7));
        assert_eq!(target(r#"{"id":1,"session_id":"7"}"#), Ok(1));
    }

    #[test]
    fn an_unusable_session_id_counts_as_missing_or_invalid() {
        let missing = Err("Missing 'id' or 'session_id' parameter".to_owned());
        for id in ["-1", "0.0", "true", "null", "[]", "{}", "1e2", "99999999999999999999"] {
            assert_eq!(target(&format!(r#"{{"id":{id}}}"#)), missing, "{id}");
        }
        assert_eq!(target("{}"), missing);
        for id in [r#""abc""#, r#""""#, r#""-1""#, r#""1.0""#] {
            for name in ["id", "session_id"] {
                assert_eq!(
                    target(&format!(r#"{{"{name}":{id}}}"#)),
                    Err(format!("Invalid {name}: {id}"))
                );
            }
        }
    }

    session_params! { Sample { count: u64, name: String, } }

    fn count(params: &str) -> std::result::Result<Option<u64>, String> {
        let params: Sample<'_> = serde_json::from_str(params).unwrap();
        let _ = params.target();
        params.count.number("count", 1..=10).map_err(|e| e.to_string())
    }

    #[test]
    fn a_number_out_of_range_gets_the_valid_range() {
        assert_eq!(count(r#"{"count":10}"#), Ok(Some(10)));
        assert_eq!(count(r#"{"count":null}"#), Ok(None));
        for bad in ["0", "11", "-1", "1.5", "\"1\"", "true", "[1]"] {
            assert_eq!(
                count(&format!(r#"{{"count":{bad}}}"#)),
                Err(format!("Invalid 'count': expected a whole number from 1 to 10, got {bad}"))
            );
        }
    }

    #[test]
    fn text_is_unescaped_and_anything_else_counts_as_missing() {
        let params: Sample<'_> = serde_json::from_str(r#"{"name":"a\n\u00e9"}"#).unwrap();
        assert_eq!(params.name.required("name").unwrap(), "a\né");
        let params: Sample<'_> = serde_json::from_str(r#"{"name":5}"#).unwrap();
        assert_eq!(params.name.required("name").unwrap_err().to_string(), "Missing 'name'");
        let params: Sample<'_> = serde_json::from_str(r#"{"name":"\ud800"}"#).unwrap();
        assert!(params.name.required("name").is_err(), "half a surrogate pair");
    }
}

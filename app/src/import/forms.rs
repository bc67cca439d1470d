//! Settings that have the same meaning in Unterm: a table names the setting, its key in Unterm and the form of its
//! value.

use super::{colors::ColorRole, draft::Draft, reasons::unknown};

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// A number.
    Number,
    /// A text.
    Text,
    /// A switch.
    Switch,
    /// A switch with the opposite meaning: it is on if Unterm's switch is off.
    Opposite,
    /// A switch, and Unterm's words for on and off.
    Either(&'static str, &'static str),
    /// Words of the other terminal, each with Unterm's word.
    Words(&'static [(&'static str, &'static str)]),
    /// A color of the theme, and the words for a color that follows the color of the cell. The key is empty.
    Color(ColorRole, &'static [&'static str]),
}

/// The name of a setting, its key in Unterm with its section, such as `font.size`, and the form of its value.
pub(super) type Row = (&'static str, &'static str, Form);

/// A value in a file of another terminal.
pub(super) trait SourceValue {
    /// The value as a text.
    ///
    /// # Errors
    /// Fails if the value is no text.
    fn source_text(&self) -> Result<&str, String>;

    /// The value as a number.
    ///
    /// # Errors
    /// Fails if the value is no finite number.
    fn source_number(&self) -> Result<f64, String>;

    /// The value as a switch.
    ///
    /// # Errors
    /// Fails if the value is no switch.
    fn source_switch(&self) -> Result<bool, String>;
}

impl SourceValue for str {
    fn source_text(&self) -> Result<&str, String> {
        Ok(self)
    }

    fn source_number(&self) -> Result<f64, String> {
        super::text::number(self)
    }

    fn source_switch(&self) -> Result<bool, String> {
        super::text::switch(self)
    }
}

/// Converts a setting of a table. Returns `None` if the table does not contain the setting.
pub(super) fn convert(
    draft: &mut Draft,
    rows: &[Row],
    name: &str,
    value: &(impl SourceValue + ?Sized),
) -> Option<Result<(), String>> {
    let (_, key, form) = rows.iter().find(|(known, ..)| *known == name)?;
    Some(set(draft, key, *form, value))
}

fn set(
    draft: &mut Draft,
    key: &str,
    form: Form,
    value: &(impl SourceValue + ?Sized),
) -> Result<(), String> {
    let key: Vec<&str> = key.split('.').collect();
    match form {
        Form::Number => draft.set_number(&key, value.source_number()?),
        Form::Text => draft.set(&key, value.source_text()?),
        Form::Switch => draft.set(&key, value.source_switch()?),
        Form::Opposite => draft.set(&key, !value.source_switch()?),
        Form::Either(on, off) => draft.set(&key, if value.source_switch()? { on } else { off }),
        Form::Words(words) => {
            let text = value.source_text()?;
            let word = words.iter().find(|(known, _)| *known == text);
            draft.set(&key, word.ok_or_else(|| unknown(text))?.1);
        }
        Form::Color(part, cell) => draft.set_part(part, value.source_text()?, cell)?,
    }
    Ok(())
}

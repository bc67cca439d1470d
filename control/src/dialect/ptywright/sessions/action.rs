//! Performs the actions of clients and plugins on a session.

use std::{sync::Arc, time::Duration};

use unterm_mux::input::PasteRisk;
use unterm_plugin::{Action, Mark, StreamText, check_label};

use super::{Session, Sessions, keys, transcript::MOST_MARKS};
use crate::{
    dialect::ptywright::error::{Error, Result},
    methods::{
        input::{Keys, KeysParams},
        session::{Input, InputParams},
        signal::{Signal as SignalMethod, SignalParams},
    },
};

/// The maximum time for streaming a text.
const LONGEST_STREAM: Duration = Duration::from_secs(60);
/// The markers of a bracketed paste (xterm ctlseqs, "Bracketed Paste Mode").
const PASTE: [&str; 2] = ["\u{1b}[200~", "\u{1b}[201~"];

impl Sessions {
    /// Performs an action.
    ///
    /// # Errors
    /// A value is invalid, or the program has ended.
    pub async fn act(&self, session: &Arc<Session>, action: Action) -> Result<()> {
        if !matches!(action, Action::Kill | Action::MarkTranscript(_)) {
            session.refuse_ended()?;
        }
        match action {
            Action::Text(text) | Action::Paste(text) => self.send(session, text).await,
            Action::BracketedPaste(text) => {
                let [begin, end] = PASTE;
                if PasteRisk::of(&text).ends_bracket {
                    // Text after the end of the bracketed paste would count as typed.
                    let why =
                        "action.value: the text contains the end of a bracketed paste, ESC [201~";
                    return Err(Error::invalid_params(why));
                }
                self.send(session, format!("{begin}{text}{end}")).await
            }
            Action::Key(name) => {
                let key = keys::key(&name)
                    .map_err(|why| Error::invalid_params(format!("action.value: {why}")))?;
                let keys = vec![key].into();
                let params = KeysParams { keys, ..KeysParams::of(session.pane) };
                self.typed(session, self.call::<Keys>(params).await.map(drop))
            }
            Action::Resize(size) => self.resize(session, size).await,
            Action::Interrupt => self.send(session, "\u{3}".to_owned()).await,
            Action::Eof => self.send(session, "\u{4}".to_owned()).await,
            Action::Kill => self.kill(session).await,
            Action::StreamText(stream) => self.stream(session, stream).await,
            Action::Signal(signal) => {
                let params =
                    SignalParams { signal: signal.name().into(), ..SignalParams::of(session.pane) };
                self.typed(session, self.call::<SignalMethod>(params).await.map(drop))
            }
            Action::MarkTranscript(Mark { label }) => session.mark(label, None),
            Action::WaitFor(_) => {
                let why =
                    "action.type: only intents of plugins contain wait_for; call session.wait";
                Err(Error::invalid_params(why))
            }
        }
    }

    async fn send(&self, session: &Session, text: String) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let params = InputParams { input: text.into(), ..InputParams::of(session.pane) };
        self.typed(session, self.call::<Input>(params).await.map(drop))
    }

    /// Converts the result of input. If it failed because the program has just ended, returns that as the error.
    fn typed(&self, session: &Session, result: Result<()>) -> Result<()> {
        result.map_err(|error| if session.progress().has_ended { session.ended() } else { error })
    }

    async fn stream(&self, session: &Session, stream: StreamText) -> Result<()> {
        stream.check().map_err(|why| Error::invalid_params(format!("action.value: {why}")))?;
        let StreamText { text, chunk_chars, delay_ms } = stream;
        let delay = Duration::from_millis(delay_ms);
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars.chunks(chunk_chars as usize);
        let pauses = u32::try_from(pieces.len().saturating_sub(1)).unwrap_or(u32::MAX);
        if delay.saturating_mul(pauses) > LONGEST_STREAM {
            let why = format!(
                "action.value: {} pieces with {} ms between them take more than {} s",
                pieces.len(),
                delay.as_millis(),
                LONGEST_STREAM.as_secs()
            );
            return Err(Error::invalid_params(why));
        }
        for (index, piece) in pieces.enumerate() {
            if index > 0 {
                tokio::time::sleep(delay).await;
            }
            self.send(session, piece.iter().collect()).await?;
        }
        Ok(())
    }
}

impl Session {
    /// Marks a place in the output. `at`: the number of output characters before the mark. By default, the end of the
    /// output so far.
    ///
    /// # Errors
    /// The label is too long, or there are too many marks.
    pub fn mark(&self, label: String, at: Option<u64>) -> Result<()> {
        check_label(&label)
            .map_err(|why| Error::invalid_params(format!("action.value.label: {why}")))?;
        let mut transcript = self.transcript.lock();
        let at = at.unwrap_or(transcript.end());
        if !transcript.mark(label, at) {
            let why = format!("action.value.label: a session has at most {MOST_MARKS} marks");
            return Err(Error::invalid_params(why));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn actions_are_plain_json() {
        for action in [
            json!({"type": "text", "value": "hello"}),
            json!({"type": "bracketed_paste", "value": "a"}),
            json!({"type": "key", "value": "enter"}),
            json!({"type": "interrupt"}),
            json!({"type": "signal", "value": "user1"}),
            json!({"type": "mark_transcript", "value": {"label": "x"}}),
            json!({"type": "resize", "value": {"rows": 1, "cols": 2, "pixel_width": 0, "pixel_height": 0}}),
        ] {
            let read: Action = serde_json::from_value(action.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), action);
        }
        let error =
            |action: Value| serde_json::from_value::<Action>(action).unwrap_err().to_string();
        assert!(error(json!({"type": "type", "value": "x"})).contains("unknown variant `type`"));
        assert!(error(json!({"type": "signal", "value": "stop"})).contains("`stop`"));
        assert!(error(json!({"type": "text"})).contains("value"));
        assert!(
            error(json!({"type": "stream_text", "value": {"text": "", "x": 1}})).contains("`x`")
        );
    }
}

//! Control mode at the client: lines of standard input for the instance, and the terminal's mode for `-CC`.

use std::{
    io::{self, BufRead as _},
    sync::mpsc,
};

use rustix::termios::{
    ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios,
    tcgetattr, tcsetattr,
};
use unterm_control::{client::BlockingStream, tmux::Answer};

use super::messages::send;

/// Reads standard input on a thread of its own, because the main thread prints meanwhile.
pub struct Lines(mpsc::Sender<()>);

impl Lines {
    /// Starts the thread. It sends its answers to a stream.
    pub fn start(stream: BlockingStream) -> Self {
        let (ask, asked) = mpsc::channel();
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            while asked.recv().is_ok() {
                let mut line = Vec::new();
                let answer = match stdin.read_until(b'\n', &mut line) {
                    Ok(length) if length > 0 => {
                        line.pop_if(|byte| *byte == b'\n');
                        let text = String::from_utf8_lossy(&line).into_owned();
                        Answer { text, ..Answer::default() }
                    }
                    _ => Answer { status: 1, ..Answer::default() },
                };
                if send(&stream, &answer).is_err() {
                    return;
                }
            }
        });
        Self(ask)
    }

    /// Reads the next line and answers with it.
    pub fn answer_next(&self) {
        // The thread ends only if the instance has gone.
        let _ = self.0.send(());
    }
}

/// The mode of the terminal before it was changed. It is restored when this value is dropped.
pub struct RawMode(Termios);

impl RawMode {
    /// Makes the terminal pass all bytes unchanged, as tmux does for `-CC`.
    ///
    /// # Errors
    /// Standard input is no terminal.
    pub fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut mode = before.clone();
        mode.input_modes = InputModes::ICRNL | InputModes::IXANY;
        mode.output_modes = OutputModes::OPOST | OutputModes::ONLCR;
        mode.local_modes = LocalModes::empty();
        // The speed is a part of the other control modes.
        mode.control_modes |= ControlModes::CREAD | ControlModes::CS8 | ControlModes::HUPCL;
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &mode)?;
        Ok(Self(before))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // The terminal may have gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
    }
}

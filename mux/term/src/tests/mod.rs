//! Tests the engine from the outside: bytes go in, and the screen is compared.

mod commands;
mod dec;
mod extra_cursors;
mod glyphs;
mod graphics;
mod history;
mod hostile;
mod keyboard;
mod left_behind;
mod oracle;
mod osc;
mod print;
mod redraw;
mod reflow;
mod search;
mod sequences;
mod sessions;
mod snapshot;
mod text;
mod text_size;
mod to_vt;
mod transfer;
mod typed_clipboard;
mod xterm;

use crate::{Options, Parser, Size, Snapshot, Term};

/// The configuration of a property test with `count` inputs. PROPTEST_CASES, if set, replaces that number.
fn cases(count: u32) -> proptest::test_runner::Config {
    let mut config =
        proptest::test_runner::Config { failure_persistence: None, ..Default::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = count;
    }
    config
}

/// A terminal with the parser that feeds it.
struct Fixture {
    term: Term,
    parser: Parser,
}

impl Fixture {
    fn new(cols: u16, rows: u16) -> Self {
        let size = Size { cell_width: 8, cell_height: 16, ..Size::cells(cols, rows) };
        Self { term: Term::new(size, Options::default()), parser: Parser::new() }
    }

    fn feed(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.parser.advance(&mut self.term, bytes.as_ref());
        self.term.debug_check();
        self
    }

    /// Compresses all history that is due. Returns the number of groups created.
    fn freeze(&mut self) -> usize {
        let due = std::iter::from_fn(|| {
            let mut due = self.term.compression()?;
            due.run();
            self.term.compressed(due);
            Some(())
        });
        let groups = due.count();
        self.term.debug_check();
        groups
    }

    /// The live screen's rows, joined by `/`, without trailing blanks and without empty rows at the end.
    fn screen(&self) -> String {
        self.rows(self.term.live_top().0).trim_end_matches('/').to_owned()
    }

    /// All stored rows, joined by `/`, without trailing blanks and without empty rows at the end.
    fn everything(&self) -> String {
        self.rows(self.term.oldest().0).trim_end_matches('/').to_owned()
    }

    fn rows(&self, first: u64) -> String {
        let end = self.term.live_top().0 + self.term.size().rows as u64;
        let mut rows = Vec::new();
        for line in first..end {
            let mut text = String::new();
            assert!(self.term.row_text(crate::LineId(line), &mut text));
            rows.push(text);
        }
        rows.join("/")
    }

    fn cursor(&self) -> (u16, u16) {
        (self.term.cursor().row, self.term.cursor().col)
    }

    /// The replies since the last call. Replies with 8-bit controls are converted byte by byte.
    fn replies(&mut self) -> String {
        String::from_utf8(self.term.take_replies())
            .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.term.snapshot(&mut snapshot, None);
        snapshot
    }
}

/// Checks the text of a 10×4 screen after `bytes`. Rows are joined by `/`.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: &str) {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(bytes);
    assert_eq!(fixture.screen(), expected);
}

/// Like [`check`], but also checks the cursor's row and column.
#[track_caller]
fn check_cursor(bytes: impl AsRef<[u8]>, expected: &str, cursor: (u16, u16)) {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(bytes);
    assert_eq!(fixture.screen(), expected);
    assert_eq!(fixture.cursor(), cursor);
}

/// Checks the replies to `bytes` of a 10×4 terminal whose cells have 8×16 pixels.
#[track_caller]
fn check_reply(bytes: impl AsRef<[u8]>, expected: &str) {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed(bytes);
    assert_eq!(fixture.replies(), expected);
}

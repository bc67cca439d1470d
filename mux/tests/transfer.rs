//! File transfers over the terminal (OSC 5113), with real programs.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use unterm_mux::{Mux, MuxEvent, MuxOptions, Pane, TransferDirection, TransferRequest};

use crate::common::{Ear, headless, open, wait, wait_text};

fn with_window() -> std::sync::Arc<Mux> {
    Mux::new(MuxOptions { sized_by_window: true, ..MuxOptions::default() })
}

/// Waits until the program's request arrives.
fn request(pane: &Pane, ear: &Ear) -> TransferRequest {
    let mut found = None;
    wait(pane, "its request", |_| {
        found = ear.all().into_iter().find_map(|event| match event {
            MuxEvent::Transfer { request, .. } => Some(request),
            _ => None,
        });
        found.is_some()
    });
    found.expect("a request")
}

#[test]
fn without_a_window_transfers_are_refused() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let pane = open(
        &mux,
        r"stty -echo -icanon
        printf '\033]5113;ac=send;id=s\033\\'
        head -c 40 | tr '\033' '\n'",
    );
    // EPERM.
    wait_text(&pane, "]5113;ac=status;id=s;st=RVBFUk06");
    assert!(!ear.all().iter().any(|event| matches!(event, MuxEvent::Transfer { .. })));
    mux.shutdown();
}

#[test]
fn a_program_puts_a_file_into_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let mux = with_window();
    let ear = Ear::new(&mux);
    // The name is `~/a`, the data `hello`, and the answer before it `OK`.
    let pane = open(
        &mux,
        r"stty -echo -icanon
        printf '\033]5113;ac=send;id=s\033\\'
        head -c 31 >/dev/null
        printf '\033]5113;ac=file;id=s;fid=1;n=fi9h\033\\'
        printf '\033]5113;ac=end_data;id=s;fid=1;d=aGVsbG8=\033\\\033]5113;ac=finish;id=s\033\\'
        echo sent; read line",
    );
    let asked = request(&pane, &ear);
    assert_eq!(asked.direction, TransferDirection::ToHere);
    assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 0);
    pane.answer_transfer(asked.handle, Some(folder.path().to_owned()));
    wait_text(&pane, "sent");
    assert_eq!(std::fs::read_to_string(folder.path().join("a")).expect("a file"), "hello");
    mux.shutdown();
}

#[test]
fn a_file_larger_than_the_queue_reaches_its_program_whole() {
    const LENGTH: usize = 3 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    std::fs::write(&path, vec![b'x'; LENGTH]).expect("a file");
    let path = BASE64_STANDARD.encode(path.to_str().expect("UTF-8"));
    let mux = with_window();
    let ear = Ear::new(&mux);
    // After the answer, two escape characters in each of the file's entry, the end of the list and 768 parts.
    let script = format!(
        r"stty -echo -icanon
        printf '\033]5113;ac=receive;id=s;sz=1\033\\\033]5113;ac=file;id=s;fid=1;n=YQ==\033\\'
        head -c 31 >/dev/null
        printf '\033]5113;ac=file;id=s;fid=2;n={path}\033\\'
        stdbuf -o0 tr -dc '\033' | head -c 1540 | wc -c"
    );
    let pane = open(&mux, &script);
    let asked = request(&pane, &ear);
    assert_eq!(
        (asked.direction, &asked.paths[..]),
        (TransferDirection::FromHere, &["a".to_owned()][..])
    );
    pane.answer_transfer(asked.handle, Some(folder.path().to_owned()));
    wait_text(&pane, "1540");
    mux.shutdown();
}

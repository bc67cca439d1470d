use unterm_mux::{Mux, MuxOptions, OnExit, Spawn};

use super::{begin::running, *};

/// A pane with two shells: a shell with shell integration runs another shell without marks, which is at its prompt.
async fn shell_in_a_shell() -> (Arc<Mux>, Arc<Pane>) {
    let script = r"printf '\033]133;A\007$ \033]133;B\007\033]133;C\007'
        PS1='in''side> ' sh
        printf '\033]133;D;%s\007' $?
        exec cat";
    let spawn = Spawn {
        program: Some("sh".to_owned()),
        args: vec!["-c".to_owned(), script.to_owned()],
        ..Spawn::default()
    };
    let mux = Mux::new(MuxOptions::default());
    let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
    changed(&pane, |pane| {
        let mut text = String::new();
        let term = pane.term();
        term.row_text(term.live_top(), &mut text);
        text.contains("inside>")
    })
    .await;
    (mux, pane)
}

/// Waits until a condition on a pane is true.
async fn changed(pane: &Pane, is_it: impl Fn(&Pane) -> bool) {
    let mut changes = pane.watch();
    let waiting = async {
        while !is_it(pane) {
            changes.changed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it never comes");
}

/// A typist that is delayed after typing, as on a busy machine.
struct Slow<'a>(&'a Pane);

impl Typist for Slow<'_> {
    fn admit(&self) -> Result<()> {
        Ok(())
    }

    fn goes_on_in_new_shell(&self) -> bool {
        false
    }

    fn typed(&self, _: &Marks, _: &str) {
        let over = changed(self.0, |pane| running(pane).is_none());
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(over));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_that_is_over_before_anybody_looks_tells_how_it_ended() {
    let (_mux, pane) = shell_in_a_shell().await;
    let deadline = Instant::now() + Duration::from_secs(60);
    let outcome = run(&pane, "echo bye; exit 4", deadline, false, &Slow(&pane)).await.unwrap();
    assert_eq!(
        (outcome.ending, outcome.exit_code, outcome.exit_source, outcome.output.as_str()),
        (Ending::Completed, Some(4), Some(ExitSource::Block), "bye")
    );
}

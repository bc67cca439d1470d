//! Tests of what panes' readers may do with the lent parts of the window.

use std::time::{Duration, Instant};

use crate::window::{app::script::Script, echo::reader::LentParts};

/// A window with a hidden tab (pane 0) and a visible tab (pane 1). Its surface and its views are lent.
fn lent() -> Script {
    let mut script = Script::new();
    script.key("ctrl+shift+t");
    script.print("visible");
    script.frame();
    script.app.echo.allow(&script.app.inbox);
    lend(&mut script);
    script
}

fn lend(script: &mut Script) {
    let app = &mut script.app;
    let last_frame = app.echo.last_frame.take();
    assert!(last_frame.is_some(), "a plain frame can be reused");
    // Lend what the event loop lends while it waits.
    let waits_until = app.surface.timer;
    app.echo.lend(LentParts {
        surface: app.surface.lend().expect("the surface"),
        views: std::mem::take(&mut app.workspace.views),
        last_frame,
        waits_until,
        names_due: Instant::now() + Duration::from_secs(60),
        has_printed: false,
        failure: None,
    });
}

/// Whether output of program `number` must be handled by the event loop.
fn wakes(script: &Script, number: usize) -> bool {
    script.program(number).print(b"x");
    let wakes = script.app.inbox.has_news();
    script.app.inbox.take();
    wakes
}

#[test]
fn output_of_a_hidden_tab_wakes_the_event_loop_once() {
    let mut script = lent();
    assert!(wakes(&script, 0), "its tab gets a mark");
    script.app.take_back();
    script.app.notice_output(&[unterm_mux::PaneId(0)].into());
    script.frame();
    lend(&mut script);
    assert!(!wakes(&script, 0), "the mark is there");
    script.app.take_back();
}

#[test]
fn output_that_a_reader_cannot_paint_wakes_the_event_loop() {
    let mut script = lent();
    // Without a window there is no painter, so the event loop must handle the output.
    assert!(wakes(&script, 1));
    // Earlier news must be handled first.
    script.app.inbox.post(|news| news.titles = true);
    script.program(0).print(b"x");
    let news = script.app.inbox.take();
    assert!(news.titles && news.panes.output.len() == 1);
    script.app.take_back();
    assert!(script.frame().starts_with("pane 1 focused\n  visiblex\n"));
    // Nothing is lent any more.
    assert!(wakes(&script, 1));
}

#[test]
fn a_loan_is_returned_whole() {
    let mut script = lent();
    assert!(script.app.workspace.views.is_empty());
    script.app.take_back();
    assert_eq!(script.app.workspace.views.len(), 2);
    assert!(script.app.echo.last_frame.is_some());
    script.app.take_back();
    assert_eq!(script.app.workspace.views.len(), 2, "a second return changes nothing");
}

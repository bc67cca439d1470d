//! Opens the inbox panel, follows the inboxes while it is open, and carries out the panel's requests.

use std::{sync::Arc, time::Duration};

use unterm_control::{
    Server,
    methods::inbox::{AnswerParams, AnswerReply, ShowReply},
};
use unterm_mux::PaneId;
use unterm_term::Snapshot;

use crate::inboxes::{Change, Inboxes, Listed};
use crate::window::{
    cx::Cx,
    overlays::{
        Overlays,
        inbox_panel::{
            Following, InboxPanel,
            cells::Cells,
            message::{InboxNews, InboxRequest, Reply},
            question::ShownQuestion,
        },
    },
    wish::Wish,
};

/// The time for which an entry is snoozed.
const SNOOZE: Duration = Duration::from_secs(600);
/// The topic of messages about the inbox.
const ABOUT: &str = "inbox";

impl Overlays {
    /// Opens the inbox panel, or closes the open one. Returns false if there is no control server.
    pub(crate) fn toggle_inbox(&mut self, cx: &Cx<'_>) -> bool {
        if self.inbox.take().is_some() {
            return true;
        }
        let Some((server, inboxes)) = inboxes(cx) else { return false };
        let news = Arc::clone(cx.inbox);
        let report = move |change: Change| {
            news.post(|news| news.control.inboxes.push(InboxNews::Changed(change)));
        };
        let failed = report.clone();
        let (own, following) = (server.instance_id(), inboxes.follow(report));
        let task = server.runtime().spawn(async move {
            if let Err(error) = following.await {
                failed(Change::Unreachable("The registry".to_owned(), format!("{error:#}")));
            }
        });
        self.inbox = Some(InboxPanel::new(own, Some(Following(task.abort_handle()))));
        true
    }

    /// Carries out a request of the panel. The result arrives as news.
    pub(crate) fn inbox_asks(&mut self, request: InboxRequest, cx: &mut Cx<'_>) {
        let Some((server, inboxes)) = inboxes(cx) else { return };
        let own = server.instance_id();
        match &request {
            InboxRequest::Show(listed) if listed.entry.number.is_some() => {
                let question = question_of_agent(listed, &own, cx);
                if let Some(panel) = &mut self.inbox {
                    panel.show(question);
                }
                return;
            }
            InboxRequest::Go(listed) if listed.instance == own => {
                return match listed.entry.session {
                    Some(pane) => cx.wish(Wish::ShowPane(PaneId(pane))),
                    // Only questions of agents have no pane.
                    None => drop(self.answer_agent(listed.entry.number, cx)),
                };
            }
            _ => {}
        }
        let news = Arc::clone(cx.inbox);
        let (answers, runtime) = (server.answers(), server.runtime());
        runtime.spawn(async move {
            let outcome = match request {
                InboxRequest::AnswerAgent { listed, number, answer } => {
                    let give = move || answers.give(number, &answer);
                    let given = tokio::task::spawn_blocking(give).await;
                    let given = given.unwrap_or_else(|error| Err(error.to_string()));
                    let reply = || AnswerReply { answered: true, reason: None, shown: None };
                    Some(InboxNews::Answered(listed, given.map(|()| Box::new(reply()))))
                }
                request => carry_out(&inboxes, request).await,
            };
            if let Some(outcome) = outcome {
                news.post(|news| news.control.inboxes.push(outcome));
            }
        });
    }

    /// Adopts news about the inboxes. News that concern the panel are dropped if the panel was closed meanwhile.
    pub(crate) fn inbox_changed(&mut self, news: InboxNews, cx: &mut Cx<'_>) {
        match news {
            InboxNews::Next(entries) => return self.go_to_next(&entries, cx),
            InboxNews::Failed(why) if self.inbox.is_none() => {
                return cx.complain(ABOUT, why);
            }
            _ => {}
        }
        let mux = Arc::clone(cx.mux);
        let own = cx.server.map(Server::instance_id);
        let question = |listed: &Listed, shown: &ShowReply| {
            // The colors come from the pane, if it is one of this window.
            let pane = mux.pane(PaneId(shown.id));
            let pane = pane.filter(|_| own.as_ref() == Some(&listed.instance));
            let cells = match pane {
                Some(pane) => {
                    let mut snapshot = Snapshot::default();
                    pane.term().snapshot(&mut snapshot, None);
                    Cells::colored(&shown.rows, &snapshot)
                }
                None => Cells::plain(shown.rows.iter().map(String::as_str)),
            };
            ShownQuestion::of_program(shown, cells)
        };
        let Some(panel) = &mut self.inbox else { return };
        match news {
            InboxNews::Changed(change) => {
                if let Some(request) = panel.change(change) {
                    self.inbox_asks(request, cx);
                }
            }
            InboxNews::Shown(listed, _) | InboxNews::Answered(listed, _)
                if !panel.has_marked(&listed) => {}
            InboxNews::Shown(listed, Ok(shown)) => panel.show(question(&listed, &shown)),
            InboxNews::Shown(_, Err(why)) | InboxNews::Failed(why) => panel.say(why, true),
            InboxNews::Answered(_, Err(why)) => panel.answered(Err((why, None))),
            InboxNews::Answered(listed, Ok(reply)) => match (&reply.reason, &reply.shown) {
                (None, _) => panel.answered(Ok(())),
                (Some(why), shown) => {
                    let shown = shown.as_ref().map(|shown| question(&listed, shown));
                    panel.answered(Err((why.clone(), shown)));
                }
            },
            InboxNews::Next(_) => {}
        }
    }

    /// Goes to the newest entry. If its pane is focused already, goes to the entry after it.
    fn go_to_next(&mut self, entries: &[Listed], cx: &mut Cx<'_>) {
        let own = cx.server.map(Server::instance_id);
        let focused = cx.focused().map(|pane| pane.0);
        let is_here = |listed: &Listed| {
            Some(&listed.instance) == own.as_ref()
                && listed.entry.session.is_some()
                && listed.entry.session == focused
        };
        let next = entries.iter().position(is_here).map_or(0, |here| here + 1);
        let mut rotated = entries.iter().cycle().skip(next).take(entries.len());
        match rotated.find(|listed| !is_here(listed)) {
            Some(listed) => self.inbox_asks(InboxRequest::Go(listed.clone()), cx),
            None => cx.notify(ABOUT, "Nothing else needs you."),
        }
    }
}

/// The inboxes of all instances, this one included. `None` without a control server.
fn inboxes<'a>(cx: &Cx<'a>) -> Option<(&'a Server, Inboxes)> {
    let server = cx.server?;
    let inboxes = Inboxes::new(cx.prefs.settings.home(), "unterm-window");
    Some((server, inboxes.with_own(server.instance_id(), server.backend())))
}

/// Focuses the next pane that needs the user, the newest first, in any instance. Returns false if there is no control
/// server.
pub(crate) fn next_attention(cx: &Cx<'_>) -> bool {
    let Some((server, inboxes)) = inboxes(cx) else { return false };
    let news = Arc::clone(cx.inbox);
    server.runtime().spawn(async move {
        let found = match inboxes.now().await {
            Ok(entries) => InboxNews::Next(entries),
            Err(error) => InboxNews::Failed(format!("{error:#}")),
        };
        news.post(|news| news.control.inboxes.push(found));
    });
    true
}

/// The question of an agent. Only this instance's own window answers it.
fn question_of_agent(listed: &Listed, own: &str, cx: &Cx<'_>) -> ShownQuestion {
    let questions = cx.server.map(Server::questions).unwrap_or_default();
    let mut questions = questions.iter().filter(|_| listed.instance == own);
    match questions.find(|question| Some(question.number) == listed.entry.number) {
        Some(question) => ShownQuestion::of_agent(question),
        None => ShownQuestion::elsewhere(
            &listed.entry.question,
            "Only the window of that instance answers its agents",
        ),
    }
}

/// Carries out a request with the instance of its entry. `None`: there is nothing to report.
async fn carry_out(inboxes: &Inboxes, request: InboxRequest) -> Option<InboxNews> {
    let failed = |error: anyhow::Error| format!("{error:#}");
    match request {
        InboxRequest::Show(listed) => {
            let shown = async {
                let instance = inboxes.find(&listed.instance).await?;
                instance.show(listed.entry.session.unwrap_or_default()).await
            };
            let shown = shown.await.map(Box::new).map_err(failed);
            Some(InboxNews::Shown(listed, shown))
        }
        InboxRequest::Answer { listed, dialog, reply } => {
            let pane = listed.entry.session.unwrap_or_default();
            let params = AnswerParams { dialog: dialog.into(), ..AnswerParams::of(pane) };
            let params = match reply {
                Reply::Approve => AnswerParams { answer: "approve".into(), ..params },
                Reply::Deny => AnswerParams { answer: "deny".into(), ..params },
                Reply::Choice(number) => AnswerParams { choice: number.into(), ..params },
                Reply::Text(text) => AnswerParams { text: text.into(), ..params },
            };
            let answered = async { inboxes.find(&listed.instance).await?.answer(params).await };
            let answered = answered.await.map(Box::new).map_err(failed);
            Some(InboxNews::Answered(listed, answered))
        }
        InboxRequest::Dismiss(listed) => put_aside(inboxes, &listed, None).await,
        InboxRequest::Snooze(listed) => put_aside(inboxes, &listed, Some(SNOOZE)).await,
        InboxRequest::Go(listed) => {
            let gone =
                async { inboxes.find(&listed.instance).await?.focus(listed.entry.session).await };
            gone.await.err().map(|error| InboxNews::Failed(failed(error)))
        }
        InboxRequest::AnswerAgent { .. } => None,
    }
}

async fn put_aside(
    inboxes: &Inboxes,
    listed: &Listed,
    time: Option<Duration>,
) -> Option<InboxNews> {
    let done = async { inboxes.find(&listed.instance).await?.put_aside(listed, time).await };
    done.await.err().map(|error| InboxNews::Failed(format!("{error:#}")))
}

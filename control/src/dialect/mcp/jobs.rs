//! Calls that take longer than one request. Such a call continues in the background as a job, and the client can wait
//! for it again with the job's handle.
//!
//! Clients can be notified of a job's end in two ways: by a subscription to the job's resource, or by a progress
//! notification, if the request that returned the handle had a progress token.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{Instant, timeout_at},
};

use crate::{
    caller::{Signals, TokenKind},
    methods::{approvals::AskReply, exec::RunWaitReply, wait::WaitReply},
    services::limits::fair_share::FairShare,
    untrusted::line,
};

/// The default time that one request may take and, for most clients, the maximum. Some clients give up a call after a
/// minute.
pub const SLICE: Duration = Duration::from_secs(50);
/// The maximum time of a request whose client receives progress notifications meanwhile.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// The time that a request with this timeout may take.
pub fn slice(timeout_ms: Option<u64>) -> Duration {
    slice_within(timeout_ms, SLICE)
}

/// The time that a request with this timeout may take, at most `longest`. Without a timeout, the default time.
pub fn slice_within(timeout_ms: Option<u64>, longest: Duration) -> Duration {
    timeout_ms.map_or(SLICE, Duration::from_millis).min(longest)
}

/// The maximum number of jobs of all clients. If all of them are still running, a further call is refused.
const MOST: usize = 256;

/// The timeout, in milliseconds, of a call that continues until the call itself or its session ends.
pub const WEEK: u64 = 7 * 24 * 3600 * 1000;

/// The result of a call, or the reason for its failure. The value is `None` until the call has ended.
#[derive(Clone)]
pub struct Pending<T>(watch::Receiver<Option<Result<T, String>>>);

impl<T: Clone> Pending<T> {
    /// The outcome, if the call ends within this time.
    pub async fn outcome(&self, within: Duration) -> Option<Result<T, String>> {
        let deadline = Instant::now() + within.min(LONGEST);
        let mut outcome = self.0.clone();
        match timeout_at(deadline, outcome.wait_for(Option::is_some)).await {
            Ok(Ok(outcome)) => outcome.clone(),
            Ok(Err(_)) => Some(Err("The call was given up".to_owned())),
            Err(_) => None,
        }
    }

    fn has_ended(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits until the call has ended. Returns false if the call was abandoned.
    async fn ended(&self) -> bool {
        self.0.clone().wait_for(Option::is_some).await.is_ok()
    }

    /// The outcome, if the call has already ended.
    fn now(&self) -> Option<Result<T, String>> {
        self.0.borrow().clone()
    }
}

/// The end of a wait in one or several panes.
#[derive(Clone)]
pub struct Waited {
    /// The pane in which the conditions came true. If they came true in no pane, the pane that ended last.
    pub pane: u64,
    /// The reply of the wait in that pane.
    pub reply: WaitReply,
}

/// The kind of a call, with the call's outcome.
#[derive(Clone)]
pub enum JobKind {
    /// Runs a command.
    Run(Pending<RunWaitReply>),
    /// Waits for conditions of a pane.
    Wait(Pending<Waited>),
    /// Asks the user.
    Question(Pending<AskReply>),
}

impl JobKind {
    /// The prefix of the job's handle: the name of the tool that begins such calls.
    fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Wait(_) => "wait",
            Self::Question(_) => "request_human",
        }
    }

    /// The tool that returns the result.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::Run(_) | Self::Wait(_) => "wait",
            Self::Question(_) => "request_human",
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Run(pending) => pending.has_ended(),
            Self::Wait(pending) => pending.has_ended(),
            Self::Question(pending) => pending.has_ended(),
        }
    }

    /// Waits until the call has ended. Returns false if the call was abandoned.
    async fn ended(&self) -> bool {
        match self {
            Self::Run(pending) => pending.ended().await,
            Self::Wait(pending) => pending.ended().await,
            Self::Question(pending) => pending.ended().await,
        }
    }

    /// The way in which the call ended, in a few words. `None` if it has not ended.
    fn outcome(&self) -> Option<String> {
        let failed = |why: &str| format!("failed: {}", line(why, 300));
        Some(match self {
            Self::Run(pending) => match pending.now()? {
                Ok(RunWaitReply { exit_code: Some(code), .. }) => format!("exit code {code}"),
                Ok(_) => "the exit code is unknown".to_owned(),
                Err(why) => failed(&why),
            },
            Self::Wait(pending) => match pending.now()? {
                Ok(Waited { reply: WaitReply { matched: true, .. }, .. }) => {
                    "the conditions hold".to_owned()
                }
                Ok(_) => "the conditions do not hold".to_owned(),
                Err(why) => failed(&why),
            },
            Self::Question(pending) => match pending.now()? {
                Ok(AskReply { answered: true, .. }) => "the user has answered".to_owned(),
                Ok(_) => "the user has not answered".to_owned(),
                Err(why) => failed(&why),
            },
        })
    }
}

/// The state of a job that a client can read before it requests the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobState {
    /// The handle.
    pub handle: String,
    /// The pane of the job.
    pub pane: u64,
    /// Whether the call has ended.
    pub ended: bool,
    /// The way in which the call ended, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The tool that returns the result.
    pub result_by: &'static str,
}

/// A call that continues in the background.
#[derive(Clone)]
pub struct Job {
    /// The handle with which the client requests the outcome. It works only on the connection that began the call.
    handle: Arc<str>,
    /// Whether the client has received the handle.
    is_handle_sent: Arc<AtomicBool>,
    /// The pane's `seq` when the client last received the pane's state. 0: never.
    seen: Arc<AtomicU64>,
    /// The pane's number of inputs when the client last received the pane's state.
    seen_inputs: Arc<AtomicU64>,
    /// The pane's number of inputs when the client was last notified that the program reads its terminal. `u64::MAX`:
    /// never.
    sent_reads: Arc<AtomicU64>,
    /// The kind of call.
    pub kind: JobKind,
    /// The pane of the job. If the job has several panes, the first one.
    pub pane: u64,
    /// The number of further panes.
    pub others: usize,
    connection: u64,
    /// Interrupts the job's command if the client cancels the call, and reports when the command was typed.
    pub signals: Signals,
    task: AbortHandle,
    /// The task that notifies the client of the job's end.
    notice: Arc<Mutex<Option<AbortHandle>>>,
    begun: Instant,
}

impl Job {
    /// Returns the handle, which is now sent to the client.
    pub fn send_handle(&self) -> String {
        self.is_handle_sent.store(true, Ordering::Relaxed);
        self.handle.to_string()
    }

    /// The contents of the job's resource: whether and how the call has ended, and the tool that returns the result.
    pub fn state(&self) -> JobState {
        JobState {
            handle: self.handle.to_string(),
            pane: self.pane,
            ended: self.kind.has_ended(),
            outcome: self.kind.outcome(),
            result_by: self.kind.tool(),
        }
    }

    /// Waits until the call has ended or was abandoned.
    pub async fn ended(&self) {
        self.kind.ended().await;
    }

    /// Calls `notify` when the call has ended. Does not call it if the client requests the job again before, has not
    /// received the handle, or the call is abandoned.
    pub fn when_over<T: Future<Output = ()> + Send + 'static>(
        &self,
        notify: impl FnOnce(JobState) -> T + Send + 'static,
    ) {
        let job = self.clone();
        let task = tokio::spawn(async move {
            if job.kind.ended().await && job.is_handle_sent.load(Ordering::Relaxed) {
                notify(job.state()).await;
            }
        });
        self.set_notice(Some(task.abort_handle()));
    }

    /// Cancels the notification of the job's end, because a request waits for the job now.
    pub fn is_asked_for(&self) {
        self.set_notice(None);
    }

    fn set_notice(&self, notice: Option<AbortHandle>) {
        if let Some(earlier) = std::mem::replace(&mut *self.notice.lock(), notice) {
            earlier.abort();
        }
    }

    /// Records that the client receives the pane's state at this `seq`.
    pub fn send_state(&self, seq: u64) {
        self.seen.store(seq, Ordering::Relaxed);
    }

    /// Records the pane's number of inputs, because the client receives the pane's state now.
    pub fn send_inputs(&self, inputs: u64) {
        self.seen_inputs.store(inputs, Ordering::Relaxed);
    }

    /// Records a notification of the client: the program reads its terminal without showing a recognized question.
    pub fn send_reads(&self) {
        self.sent_reads.store(self.seen_inputs.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether the client was notified that the program reads its terminal, and the pane has received no input since
    /// then. `inputs`: the pane's current number of inputs. Ignores output, because a program that printed meanwhile
    /// was not waiting.
    pub fn sent_reads(&self, inputs: u64) -> bool {
        self.sent_reads.load(Ordering::Relaxed) == inputs
    }

    /// The `seq` of the pane's state that the client last received. 0 if the pane has received input since then,
    /// because the program may wait again without showing anything new. `inputs`: the pane's current number of inputs.
    pub fn seen(&self, inputs: u64) -> u64 {
        match self.seen_inputs.load(Ordering::Relaxed) == inputs {
            true => self.seen.load(Ordering::Relaxed),
            false => 0,
        }
    }
}

/// The jobs, oldest first. The tokens share the permits for running jobs fairly.
pub struct Jobs {
    state: Mutex<State>,
    places: Arc<FairShare>,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { state: Mutex::default(), places: FairShare::new(MOST) }
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// The number in the last handle.
    last: u64,
}

impl Jobs {
    /// Begins a call for a connection.
    ///
    /// # Errors
    /// Too many calls are running. A message for the model.
    pub fn begin<T: Clone + Send + Sync + 'static>(
        &self,
        (connection, token): (u64, TokenKind),
        kind: fn(Pending<T>) -> JobKind,
        (pane, others): (u64, usize),
        signals: Signals,
        call: impl Future<Output = Result<T, String>> + Send + 'static,
    ) -> Result<(Job, Pending<T>), String> {
        let mut place = self.places.part(token);
        if place.resize(1).is_err() {
            return Err("There are too many calls under way; wait for some of them".to_owned());
        }
        let (notify, outcome) = watch::channel(None);
        let pending = Pending(outcome);
        let kind = kind(pending.clone());
        let mut state = self.state.lock();
        state.last += 1;
        // The handle is short, because models copy it. It works only on the connection that began the call.
        let handle = format!("{}-{}", kind.name(), state.last).into();
        let jobs = &mut state.jobs;
        if jobs.len() == MOST {
            // At least one job has ended, because fewer than `MOST` places are given to running jobs.
            let ended = jobs.iter().position(|job| job.kind.has_ended());
            jobs.remove(ended.unwrap_or(0));
        }
        let task = tokio::spawn(async move {
            let _place = place;
            let outcome = call.await;
            notify.send_replace(Some(outcome));
        });
        let (notice, begun, task) = (Arc::default(), Instant::now(), task.abort_handle());
        let (is_handle_sent, seen, seen_inputs) = <_>::default();
        let sent_reads = Arc::new(AtomicU64::new(u64::MAX));
        let job = Job {
            handle,
            is_handle_sent,
            seen,
            seen_inputs,
            sent_reads,
            kind,
            pane,
            others,
            connection,
            signals,
            task,
            notice,
            begun,
        };
        jobs.push_back(job.clone());
        Ok((job, pending))
    }

    /// The job with this handle, if this connection began it.
    pub fn find(&self, connection: u64, handle: &str) -> Option<Job> {
        let state = self.state.lock();
        let is_it = |job: &&Job| job.connection == connection && *job.handle == *handle;
        state.jobs.iter().find(is_it).cloned()
    }

    /// The jobs of a connection whose handles the connection has received.
    pub fn of(&self, connection: u64) -> Vec<Job> {
        let state = self.state.lock();
        let is_its =
            |job: &&Job| job.connection == connection && job.is_handle_sent.load(Ordering::Relaxed);
        state.jobs.iter().filter(is_its).cloned().collect()
    }

    /// Removes a job whose outcome was returned.
    pub fn forget(&self, job: &Job) {
        self.state.lock().jobs.retain(|other| other.handle != job.handle);
    }

    /// Abandons a job whose request was canceled before the client received the handle, because no call can request the
    /// job any longer. `ends`: whether the job's command is interrupted. If the request took longer than usual, the
    /// command is never interrupted: some clients then cancel the request by themselves, which must not stop a long
    /// build.
    pub fn abandon(&self, job: &Job, ends: bool) {
        if !job.is_handle_sent.load(Ordering::Relaxed) {
            if ends && job.begun.elapsed() <= SLICE {
                job.signals.cancel();
            }
            job.task.abort();
            self.forget(job);
        }
    }

    /// Abandons all jobs of a connection. Their commands continue in the panes.
    pub fn release(&self, connection: u64) {
        self.state.lock().jobs.retain(|job| {
            let is_others = job.connection != connection;
            if !is_others {
                job.task.abort();
            }
            is_others
        });
    }
}

/// A request that waits for a job. When the request ends before the client has received the handle, the job is
/// abandoned.
pub struct Asking<'a> {
    jobs: &'a Jobs,
    job: &'a Job,
    /// Whether the job's command is interrupted if the client cancels the request.
    ends: bool,
    /// Whether the client has disconnected or ended its session. `None` if the client has neither a connection nor a
    /// session.
    gone: Option<watch::Receiver<bool>>,
}

impl<'a> Asking<'a> {
    /// A request whose cancellation does not interrupt the job's command.
    pub fn new(jobs: &'a Jobs, job: &'a Job) -> Self {
        Self { jobs, job, ends: false, gone: None }
    }

    /// A request whose cancellation interrupts the job's command. If the client's connection or session ends, the
    /// request ends too, but the command continues: only canceling a request interrupts the command.
    pub fn ending(jobs: &'a Jobs, job: &'a Job, gone: Option<&watch::Receiver<bool>>) -> Self {
        Self { jobs, job, ends: true, gone: gone.cloned() }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let is_gone = self.gone.as_ref().is_some_and(|gone| *gone.borrow());
        self.jobs.abandon(self.job, self.ends && !is_gone);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn answer(text: &str) -> AskReply {
        AskReply { answered: true, answer: Some(text.to_owned()) }
    }

    /// Begins a call of a connection.
    fn begin(
        jobs: &Jobs,
        connection: u64,
        call: impl Future<Output = Result<AskReply, String>> + Send + 'static,
    ) -> Result<(Job, Pending<AskReply>), String> {
        let of = (connection, TokenKind::Agent(connection));
        jobs.begin(of, JobKind::Question, (0, 0), Signals::default(), call)
    }

    #[tokio::test]
    async fn a_call_continues_until_its_connection_requests_it() {
        let jobs = Jobs::default();
        let (end, ended) = oneshot::channel::<()>();
        let call = async move { ended.await.map(|()| answer("7")).map_err(|e| e.to_string()) };
        let (job, pending) = begin(&jobs, 1, call).unwrap();
        assert!(pending.outcome(Duration::ZERO).await.is_none());
        assert!(jobs.find(2, &job.handle).is_none());
        end.send(()).unwrap();
        let found = jobs.find(1, &job.handle).unwrap();
        let JobKind::Question(pending) = found.kind else { panic!("another kind of call") };
        assert_eq!(pending.outcome(SLICE).await.unwrap().unwrap().answer.unwrap(), "7");
        jobs.forget(&job);
        assert!(jobs.find(1, &job.handle).is_none());
    }

    #[tokio::test]
    async fn ended_jobs_make_room_and_end_with_their_connection() {
        let jobs = Jobs::default();
        let (first, pending) = begin(&jobs, 1, async { Ok(answer("1")) }).unwrap();
        assert!(pending.outcome(SLICE).await.is_some());
        // Calls that have ended make room for new ones.
        for _ in 0..MOST {
            let (_, pending) = begin(&jobs, 2, async { Ok(answer("2")) }).unwrap();
            assert!(pending.outcome(SLICE).await.is_some());
        }
        assert!(jobs.find(1, &first.handle).is_none());
        jobs.release(2);
        assert!(jobs.state.lock().jobs.is_empty());
    }

    #[tokio::test]
    async fn a_token_leaves_places_to_others_and_the_owner_has_some() {
        let jobs = Jobs::default();
        let fill = |connection| {
            let begin = || begin(&jobs, connection, std::future::pending()).ok();
            std::iter::from_fn(begin).count()
        };
        assert_eq!([fill(1), fill(2)], [MOST * 3 / 8, MOST * 3 / 16]);
        let filled: usize = (3..20).map(fill).sum();
        assert!(filled > 0 && fill(20) == 0);
        let owner = (21, TokenKind::Instance);
        let call = std::future::pending::<Result<AskReply, String>>();
        assert!(jobs.begin(owner, JobKind::Question, (0, 0), Signals::default(), call).is_ok());
        jobs.release(1);
        // The calls of the connection end when their tasks are dropped.
        tokio::task::yield_now().await;
        assert!(fill(20) > 0);
    }

    #[test]
    fn only_a_client_that_gets_progress_waits_longer_than_usual() {
        let minutes = |count: u64| Some(count * 60_000);
        assert_eq!((slice(None), slice(minutes(5))), (SLICE, SLICE));
        assert_eq!(slice_within(None, LONGEST), SLICE);
        assert_eq!(slice_within(minutes(5), LONGEST), Duration::from_secs(300));
        assert_eq!(slice_within(minutes(90), LONGEST), LONGEST);
    }

    #[tokio::test]
    async fn a_client_with_the_handle_is_notified_of_the_end() {
        let jobs = Jobs::default();
        for (has_handle, asks_again, is_given_up, is_notified) in [
            (true, false, false, true),
            (false, false, false, false),
            (true, true, false, false),
            (true, false, true, false),
        ] {
            let (end, ended) = oneshot::channel::<()>();
            let call = async move { ended.await.map(|()| answer("7")).map_err(|e| e.to_string()) };
            let (job, _) = begin(&jobs, 1, call).unwrap();
            if has_handle {
                job.send_handle();
            }
            let (notify, notified) = oneshot::channel();
            job.when_over(move |state| async move { drop(notify.send(state)) });
            if asks_again {
                job.is_asked_for();
            }
            if is_given_up {
                jobs.release(1);
            } else {
                end.send(()).unwrap();
            }
            let notified = notified.await;
            assert_eq!(notified.is_ok(), is_notified, "{has_handle} {asks_again} {is_given_up}");
            if let Ok(state) = notified {
                assert_eq!(state, job.state());
                assert!(state.ended && state.outcome.unwrap().contains("has answered"));
            }
        }
    }

    #[tokio::test]
    async fn a_job_without_a_sent_handle_ends_with_its_request() {
        let jobs = Jobs::default();
        let begin = || begin(&jobs, 1, std::future::pending()).unwrap().0;
        let cancelled = begin();
        drop(Asking::new(&jobs, &cancelled));
        assert!(jobs.state.lock().jobs.is_empty());
        let sent = begin();
        let asking = Asking::new(&jobs, &sent);
        let handle = sent.send_handle();
        drop(asking);
        assert!(jobs.find(1, &handle).is_some());
    }

    #[tokio::test]
    async fn only_a_client_that_is_still_there_interrupts_its_command() {
        let jobs = Jobs::default();
        for (gone, is_interrupted) in [(None, true), (Some(false), true), (Some(true), false)] {
            let (job, _) = begin(&jobs, 1, std::future::pending()).unwrap();
            let gone = gone.map(|gone| watch::channel(gone).1);
            drop(Asking::ending(&jobs, &job, gone.as_ref()));
            assert_eq!(job.signals.is_canceled(), is_interrupted, "{gone:?}");
            let (job, _) = begin(&jobs, 1, std::future::pending()).unwrap();
            drop(Asking::new(&jobs, &job));
            assert!(!job.signals.is_canceled());
        }
    }
}

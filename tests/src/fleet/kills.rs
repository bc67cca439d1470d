//! A fleet whose programs are killed in turn while agents type. Checks that no acknowledged call is lost, that no call
//! is carried out twice, and that the users' decisions and the log stay complete.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{
    Agent,
    cluster::{Cluster, ClusterProgram},
};
use crate::wait_for;

/// The number of calls that are held while programs are killed.
const HELD: usize = 10;
/// The file on a machine to which agents append text.
const FILE: &str = "load.txt";
/// The file on a machine to which held calls append text.
const HELD_FILE: &str = "held.txt";
/// The pause between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(20);
/// The time between the kill of a program and its restart.
const DEAD: Duration = Duration::from_secs(1);

/// The results of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of programs that were killed.
    pub kills: usize,
    /// The number of calls that were acknowledged.
    pub acknowledged: usize,
    /// The number of calls that failed. Each was carried out once or not at all.
    pub failed: usize,
    /// The number of failed calls that were carried out.
    pub failed_done: usize,
    /// For each killed connector: the time until a hub listed its machine as offline, and the time from the restart
    /// until a hub listed it as connected.
    pub seen: Vec<(Duration, Duration)>,
}

/// The number of a call, and the number of its machine.
type Call = (usize, usize);

/// The calls of an agent: acknowledged calls, and all other calls.
#[derive(Default)]
struct CallResults {
    acknowledged: Vec<Call>,
    failed: Vec<Call>,
}

/// An agent that types until the run ends.
struct TypingAgent<'a> {
    cluster: &'a Mutex<Cluster>,
    machines: &'a [(String, String)],
    hub: usize,
    token: String,
    next: &'a AtomicUsize,
    is_over: &'a AtomicBool,
}

impl TypingAgent<'_> {
    fn conversation(&self) -> String {
        format!("load-{}", self.hub)
    }

    /// Types numbers. Returns the numbers that were acknowledged, and the other numbers, each with its machine.
    fn run(&self) -> CallResults {
        let mut typed = CallResults::default();
        let address = self.cluster.lock().unwrap().address(self.hub).to_owned();
        let mut agent = None;
        while !self.is_over.load(Ordering::Relaxed) {
            let Some(connected) = agent.as_mut() else {
                match Agent::connect(&address, &self.token) {
                    Ok(connected) => agent = Some(connected),
                    // The hub is not running, so try again later.
                    Err(_) => thread::sleep(AGAIN),
                }
                continue;
            };
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let machine = number % self.machines.len();
            let text = format!("echo {number} >> {FILE}");
            let call = send(&self.machines[machine], &text, &self.conversation());
            match connected.call("send_to_session", call) {
                Ok(answer) if !answer.is_error => typed.acknowledged.push((number, machine)),
                Ok(_) => typed.failed.push((number, machine)),
                Err(_) => {
                    typed.failed.push((number, machine));
                    agent = None;
                }
            }
        }
        typed
    }
}

fn send((machine, session): &(String, String), text: &str, conversation: &str) -> Value {
    json!({
        "machine_id": machine, "session_id": session, "text": text, "conversation_id": conversation,
    })
}

/// Kills programs in turn for this time. `None` if there is no NATS server.
///
/// # Errors
///
/// If a call was lost or carried out twice, or another check failed.
pub fn run(time: Duration) -> Result<Option<Report>> {
    let Some(cluster) = Cluster::start()? else { return Ok(None) };
    let token = cluster.admin(&["token", "create", "agent"])?["token"].take();
    let token = token.as_str().context("no token")?.to_owned();
    let mut first = Agent::connect(cluster.address(0), &token)?;
    let mut machines = Vec::new();
    for machine in &cluster.machines {
        let session = wait_for("a session", || Ok(first.session(&machine.id).ok()), String::new)?;
        machines.push((machine.id.clone(), session));
    }
    for conversation in ["load-0", "load-1", "held"] {
        let pending = first.call("send_to_session", send(&machines[0], "true", conversation))?;
        ensure!(pending.text.starts_with("[pending: "), "{pending:?}");
        cluster.admin(&["approve", conversation])?;
    }
    cluster.admin(&["pause", "held"])?;
    for number in 0..HELD {
        let text = format!("echo {number} >> {HELD_FILE}");
        let held = first.call("send_to_session", send(&machines[0], &text, "held"))?;
        ensure!(held.text.starts_with("[held: "), "{held:?}");
    }

    let (cluster, next) = (Mutex::new(cluster), AtomicUsize::new(0));
    let is_over = AtomicBool::new(false);
    let loads = [0, 1].map(|hub| TypingAgent {
        cluster: &cluster,
        machines: &machines,
        hub,
        token: token.clone(),
        next: &next,
        is_over: &is_over,
    });
    let mut report = Report::default();
    let typed = thread::scope(|scope| {
        let running = loads.each_ref().map(|load| scope.spawn(|| load.run()));
        let killed = kill_in_turn(&cluster, &machines, &token, time, &mut report);
        is_over.store(true, Ordering::Relaxed);
        let typed = running.map(|load| load.join().expect("an agent panicked"));
        killed.map(|()| typed)
    });
    let cluster = cluster.into_inner().expect("a thread panicked");
    let typed = typed.with_context(|| logs(&cluster))?;
    check(&cluster, &machines, &token, &typed, &mut report).with_context(|| logs(&cluster))?;
    Ok(Some(report))
}

/// The logs of the hubs, without repeated lines.
fn logs(cluster: &Cluster) -> String {
    let logs = ["hub-0.log", "hub-1.log"].map(|log| cluster.home().join(log));
    let logs = logs.map(|log| fs::read_to_string(log).unwrap_or_default()).join("\n---\n");
    let lines = logs.lines().filter(|line| !line.contains("a call failed"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Kills each program in turn and starts it again, until the time is over. Resumes the held calls in the middle of the
/// first round.
fn kill_in_turn(
    cluster: &Mutex<Cluster>,
    machines: &[(String, String)],
    token: &str,
    time: Duration,
    report: &mut Report,
) -> Result<()> {
    let parts = [
        ClusterProgram::Connector(0),
        ClusterProgram::Nats(0),
        ClusterProgram::Hub(0),
        ClusterProgram::Nats(1),
        ClusterProgram::Connector(1),
        ClusterProgram::Hub(1),
        ClusterProgram::Nats(2),
    ];
    let (start, mut has_resumed) = (Instant::now(), false);
    for part in parts.into_iter().cycle() {
        if report.kills >= parts.len() && start.elapsed() >= time {
            return Ok(());
        }
        let mut observed = None;
        if let ClusterProgram::Connector(number) = part {
            let machine = machines[number].0.as_str();
            // Wait until the hub answers again after the last kill.
            seen(cluster, token, machine, "connected", Instant::now())?;
            observed = Some((machine, Instant::now()));
        }
        cluster.lock().unwrap().kill(part)?;
        let offline = observed.map(|(machine, at)| seen(cluster, token, machine, "offline", at));
        thread::sleep(DEAD);
        let again = Instant::now();
        cluster.lock().unwrap().restart(part)?;
        if let (Some(offline), Some((machine, _))) = (offline, observed) {
            let online = seen(cluster, token, machine, "connected", again)?;
            report.seen.push((offline?, online));
        }
        report.kills += 1;
        if !has_resumed && report.kills >= parts.len() / 2 {
            soon(&cluster.lock().unwrap(), &["resume", "held"])?;
            has_resumed = true;
        }
    }
    Ok(())
}

/// The output of a command of `unterm-hub`. Repeats the command, because commands fail while the servers choose a
/// leader.
fn soon(cluster: &Cluster, args: &[&str]) -> Result<Value> {
    wait_for("the servers", || Ok(cluster.admin(args).ok()), || format!("{args:?}"))
}

/// Waits until a hub lists a machine with this status. Returns the time since `since`.
fn seen(
    cluster: &Mutex<Cluster>,
    token: &str,
    machine: &str,
    status: &str,
    since: Instant,
) -> Result<Duration> {
    let address = cluster.lock().unwrap().address(1).to_owned();
    wait_for(
        status,
        || {
            // While the servers choose a leader, calls fail.
            let listed = Agent::connect(&address, token)
                .and_then(|mut agent| agent.call("list_machines", json!({}))?.json());
            let Ok(listed) = listed else { return Ok(None) };
            let machines = listed["machines"].as_array().context("no list")?;
            let is = |of: &&Value| of["id"] == machine && of["status"] == status;
            Ok(machines.iter().find(is).map(|_| since.elapsed()))
        },
        String::new,
    )
}

/// Checks the text that was typed, and the records of the fleet about it.
fn check(
    cluster: &Cluster,
    machines: &[(String, String)],
    token: &str,
    typed: &[CallResults],
    report: &mut Report,
) -> Result<()> {
    // Make a last call for each machine. It is carried out after all others.
    for (number, machine) in machines.iter().enumerate() {
        let end = cluster.machines[number].unterm.home().join("end");
        let last = send(machine, "touch end", "load-0");
        let done = || {
            let mut agent = Agent::connect(cluster.address(0), token)?;
            let _ = agent.call("send_to_session", last.clone());
            Ok(end.exists().then_some(()))
        };
        wait_for("the last call", done, String::new)?;
    }
    let held_file = cluster.machines[0].unterm.home().join(HELD_FILE);
    let held = || fs::read_to_string(&held_file).unwrap_or_default();
    let is_whole = || Ok((held().lines().count() >= HELD).then_some(()));
    wait_for("the held calls", is_whole, held)?;
    let expected: Vec<_> = (0..HELD).map(|number| number.to_string()).collect();
    ensure!(
        held().lines().eq(expected.iter()),
        "held calls are done once and in order: {}",
        held()
    );

    let mut done = Vec::new();
    for machine in &cluster.machines {
        let text = fs::read_to_string(machine.unterm.home().join(FILE))?;
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for line in text.lines() {
            *counts.entry(line.parse()?).or_default() += 1;
        }
        done.push(counts);
    }
    for counts in &done {
        let twice: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
        ensure!(twice.is_empty(), "done twice: {twice:?}");
    }
    let log = soon(cluster, &["audit", "-n", "1000000"])?;
    let mut logged: HashMap<String, Vec<String>> = HashMap::new();
    for entry in log["entries"].as_array().context("no log")? {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        logged.entry(text("detail")).or_default().push(text("event"));
    }
    for CallResults { acknowledged, failed } in typed {
        for (number, machine) in acknowledged {
            ensure!(done[*machine].contains_key(number), "the acknowledged call {number} is lost");
            let (id, session) = &machines[*machine];
            let detail = format!("{id} {session}: echo {number} >> {FILE}\\r");
            let events = logged.get(&detail).map(Vec::as_slice).unwrap_or_default();
            ensure!(events == ["begun", "done"], "the log of call {number}: {events:?}");
        }
        let is_done = |(number, machine): &&Call| done[*machine].contains_key(number);
        report.acknowledged += acknowledged.len();
        report.failed += failed.len();
        report.failed_done += failed.iter().filter(is_done).count();
    }
    let conversations = soon(cluster, &["conversations"])?;
    let all = conversations["conversations"].as_array().context("no list")?;
    ensure!(
        all.len() == 3 && all.iter().all(|of| of["state"] == "approved"),
        "the approvals: {conversations}"
    );
    Ok(())
}

//! Public clients of the Model Context Protocol drive Unterm: the conformance suite, the Inspector in strict mode, the
//! Python and TypeScript SDKs, FastMCP and mcp-remote. They use both eras of the protocol, over stdio and HTTP, and
//! over HTTP with server-sent events (the transport of 2024).

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{
    Instance, Start, binary,
    clients::{Bearer, ClientOutput, Clients, http_door},
};

/// The toolsets, each with the expected range of the number of its tools.
const TOOLSETS: [(&str, std::ops::RangeInclusive<usize>); 4] =
    [("unterm", 11..=21), ("small", 7..=7), ("iterm", 11..=11), ("tester", 9..=9)];

/// An instance whose shell is at its prompt, and the clients.
fn ready() -> Result<(Instance, Clients)> {
    ready_by(Start::headless())
}

fn ready_by(start: Start<'_>) -> Result<(Instance, Clients)> {
    let clients = Clients::find()?;
    let mut unterm = start.now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    Ok((unterm, clients))
}

/// Runs all server scenarios of a revision. Exactly the checks listed in `tests/clients/left-out.yaml` may fail.
fn conforms(revision: &str, whole: &[&str]) -> Result<()> {
    let (unterm, clients) = ready()?;
    let proxy = Bearer::start(&clients, &unterm)?;
    let left_out = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/left-out.yaml");
    let mut suite = clients.node("@modelcontextprotocol/conformance/dist/index.js", &unterm);
    suite
        .args(["server", "--url", &proxy.url(), "--requirements", revision])
        .args(["--expected-failures", left_out, "--output-dir"])
        .arg(unterm.home().join("conformance"));
    let said = ClientOutput::of(&mut suite)?;
    // The suite does not count a check that never ran as a failure.
    for scenario in whole {
        let passed = said.out.lines().any(|line| line.starts_with(&format!("✓ {scenario}: ")));
        ensure!(passed, "{scenario} was not passed:\n{}", said.out);
    }
    Ok(())
}

#[test]
fn the_conformance_suite_of_2025_11_25_is_passed() -> Result<()> {
    let whole = [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ];
    conforms("2025-11-25", &whole)
}

#[test]
fn the_conformance_suite_of_2026_07_28_is_passed() -> Result<()> {
    let whole = [
        "tools-list",
        "resources-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "sep-2164-resource-not-found",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    ];
    conforms("2026-07-28", &whole)
}

/// How a client connects to an instance.
#[derive(Clone, Copy)]
enum Transport {
    Stdio,
    Http,
    /// HTTP with server-sent events, as clients of 2024 use it.
    Sse,
}

impl Transport {
    /// The transport's name for clients, and its path. `None` for stdio.
    fn by_http(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Stdio => None,
            Self::Http => Some(("http", "/mcp")),
            Self::Sse => Some(("sse", "/mcp/sse")),
        }
    }
}

/// A version of the Inspector. The older version supports only the older era of the protocol.
#[derive(Clone, Copy)]
enum Inspector {
    V1,
    V2 { era: &'static str },
}

const INSPECTORS: [Inspector; 3] =
    [Inspector::V1, Inspector::V2 { era: "legacy" }, Inspector::V2 { era: "modern" }];

/// The Inspector's result for a method. Fails if the Inspector prints a warning.
fn inspected(
    (unterm, clients): (&Instance, &Clients),
    (inspector, transport, toolset): (Inspector, Transport, &str),
    method: &[&str],
) -> Result<Value> {
    let (url, token) = http_door(unterm)?;
    let header = format!("Authorization: Bearer {token}");
    let program = binary("unterm-cli");
    let program = program.to_string_lossy();
    let stdio = [&*program, "mcp", "--toolset", toolset];
    let http = transport.by_http().map(|(name, path)| {
        let url = format!("{url}{path}?toolset={toolset}");
        (url, ["--transport", name, "--header", header.as_str()])
    });
    let said = match inspector {
        Inspector::V1 => {
            let mut command = clients.node("inspector-1/cli/build/cli.js", unterm);
            command.arg("--cli");
            match &http {
                None => command.args(stdio),
                Some((url, http)) => command.arg(url).args(http),
            };
            ClientOutput::of(command.arg("--method").args(method))?
        }
        Inspector::V2 { era } => {
            let script = "inspector-2/clients/launcher/build/index.js";
            let mut command = clients.node(script, unterm);
            command.args(["--cli", "--protocol-era", era, "--method"]).args(method);
            if method == ["tools/list"] {
                command.arg("--strict");
            }
            match &http {
                None => command.arg("--").args(stdio),
                Some((url, http)) => command.args(http).args(["--server-url", url.as_str()]),
            };
            let said = ClientOutput::of(&mut command)?;
            // The Inspector warns about faults that it tolerates otherwise.
            ensure!(said.err.trim().is_empty(), "{method:?}: {}", said.err);
            said
        }
    };
    said.json()
}

fn the_inspector_is_content(transport: Transport) -> Result<()> {
    let (unterm, clients) = ready()?;
    let among = (&unterm, &clients);
    let length = |list: &Value| list.as_array().map_or(0, Vec::len);
    for inspector in INSPECTORS {
        for (toolset, count) in TOOLSETS {
            let listed = inspected(among, (inspector, transport, toolset), &["tools/list"])?;
            ensure!(count.contains(&length(&listed["tools"])), "{toolset}: {listed}");
        }
        let ask = |method: &[&str]| inspected(among, (inspector, transport, "unterm"), method);
        let run = ["tools/call", "--tool-name", "run", "--tool-arg", "command=echo $((6 * 7))"];
        let ran = ask(&run)?;
        ensure!(ran["structuredContent"]["output"] == "42", "{ran}");
        let listed = ask(&["resources/list"])?;
        let screen = &listed["resources"][0]["uri"];
        ensure!(screen == "unterm://pane/0/screen", "{listed}");
        let read = ask(&["resources/read", "--uri", "unterm://pane/0/screen"])?;
        let text = read["contents"][0]["text"].as_str().unwrap_or_default();
        ensure!(text.contains("42"), "{read}");
        let templates = ask(&["resources/templates/list"])?;
        ensure!(length(&templates["resourceTemplates"]) == 5, "{templates}");
        let prompts = ask(&["prompts/list"])?;
        ensure!(length(&prompts["prompts"]) == 3, "{prompts}");
        let get = ["prompts/get", "--prompt-name", "run_tests", "--prompt-args", "command=make"];
        let given = ask(&get)?;
        let words = given["messages"][0]["content"]["text"].as_str().unwrap_or_default();
        ensure!(words.contains("`make`"), "{given}");
    }
    Ok(())
}

#[test]
fn the_inspector_finds_no_faults_over_stdio() -> Result<()> {
    the_inspector_is_content(Transport::Stdio)
}

#[test]
fn the_inspector_finds_no_faults_over_http() -> Result<()> {
    the_inspector_is_content(Transport::Http)
}

#[test]
fn the_inspector_finds_no_faults_over_events() -> Result<()> {
    the_inspector_is_content(Transport::Sse)
}

/// Runs a task of `tests/clients/drive.py` in each of its modes.
fn drive((unterm, clients): (&Instance, &Clients), transport: Transport, what: &str) -> Result<()> {
    for mode in ["legacy", "auto", "2026-07-28"] {
        let mut command = clients.python("drive.py", unterm);
        match transport.by_http() {
            None => command.args([mode, "stdio"]).arg(binary("unterm-cli")),
            Some((kind, path)) => {
                let (url, token) = http_door(unterm)?;
                command.args([mode, kind]).arg(format!("{url}{path}")).env("UNTERM_TOKEN", token)
            }
        };
        ClientOutput::of(command.arg(what)).with_context(|| format!("{what}, {mode}"))?;
    }
    Ok(())
}

/// The task uses the toolsets, and also resources, subscriptions, prompts, progress and cancellation.
fn the_python_sdk_drives(transport: Transport) -> Result<()> {
    let (mut unterm, clients) = ready()?;
    let pane = unterm.first_pane()?;
    unterm.call("session.recording_start", json!({"id": pane.id}))?;
    unterm.call("exec.run_wait", json!({"id": pane.id, "command": "echo kept $((6 * 7))"}))?;
    unterm.call("session.recording_stop", json!({"id": pane.id}))?;
    drive((&unterm, &clients), transport, "toolsets")
}

#[test]
fn the_python_sdk_drives_every_toolset_over_stdio() -> Result<()> {
    the_python_sdk_drives(Transport::Stdio)
}

#[test]
fn the_python_sdk_drives_every_toolset_over_http() -> Result<()> {
    the_python_sdk_drives(Transport::Http)
}

#[test]
fn the_python_sdk_drives_every_toolset_over_events() -> Result<()> {
    the_python_sdk_drives(Transport::Sse)
}

/// Realistic tasks of agents. If `UNTERM_LONG=1` is set, they include a build that takes three minutes.
fn the_python_sdk_does_its_tasks(transport: Transport) -> Result<()> {
    let (unterm, clients) = ready()?;
    drive((&unterm, &clients), transport, "tasks")
}

#[test]
fn the_python_sdk_does_real_tasks_over_stdio() -> Result<()> {
    the_python_sdk_does_its_tasks(Transport::Stdio)
}

#[test]
fn the_python_sdk_does_real_tasks_over_http() -> Result<()> {
    the_python_sdk_does_its_tasks(Transport::Http)
}

/// In one task, a simulated user types a password. Prints a table of the duration of each task.
#[test]
fn the_python_sdk_does_thirteen_tasks_in_programs() -> Result<()> {
    let (unterm, clients) = ready()?;
    let cli = binary("unterm-cli");
    let mut command = clients.python("drive.py", &unterm);
    command.env("UNTERM_CLI", &cli).args(["auto", "stdio"]).arg(&cli).arg("programs");
    let said = ClientOutput::of(&mut command)?;
    eprintln!("{}", said.out);
    // If `UNTERM_NEEDS_ALL` is set, every task must run, except tasks that only root may do.
    let left_out: Vec<_> = said.out.lines().filter(|line| line.contains("left out")).collect();
    let may_be_left_out = |line: &&str| line.contains("only root");
    let needs_all = std::env::var_os("UNTERM_NEEDS_ALL").is_some();
    ensure!(!needs_all || left_out.iter().all(may_be_left_out), "{left_out:?}");
    Ok(())
}

#[test]
fn the_python_sdk_keeps_its_tools_after_the_instance_is_killed() -> Result<()> {
    let (unterm, clients) = ready()?;
    drive((&unterm, &clients), Transport::Stdio, "outlive")
}

#[test]
fn the_python_sdk_requests_the_users_approval() -> Result<()> {
    let (unterm, clients) = ready_by(Start::headless().arg("--approval").arg("ask"))?;
    for transport in [Transport::Stdio, Transport::Http] {
        drive((&unterm, &clients), transport, "approval")?;
    }
    Ok(())
}

/// Runs a client's small set of calls over each of its transports. `kinds` are the names of the transports in the
/// client's script.
fn does_the_few_things(
    kinds: &[&str],
    client: impl Fn(&Clients, &Instance) -> Command,
) -> Result<()> {
    let (unterm, clients) = ready()?;
    let (url, token) = http_door(&unterm)?;
    for kind in kinds {
        let mut command = client(&clients, &unterm);
        command.arg(kind).env("UNTERM_TOKEN", &token);
        match *kind {
            "stdio" => command.arg(binary("unterm-cli")),
            "http" | "remote" => command.arg(format!("{url}/mcp")),
            _ => command.arg(format!("{url}/mcp/sse")),
        };
        ClientOutput::of(&mut command).with_context(|| (*kind).to_owned())?;
    }
    Ok(())
}

#[test]
fn fastmcp_drives_a_pane() -> Result<()> {
    let client = |clients: &Clients, unterm: &Instance| clients.python("fast.py", unterm);
    does_the_few_things(&["stdio", "http", "sse"], client)
}

#[test]
fn the_typescript_sdk_drives_a_pane() -> Result<()> {
    does_the_few_things(&["stdio", "http", "sse"], Clients::typescript)
}

#[test]
fn mcp_remote_drives_a_pane() -> Result<()> {
    does_the_few_things(&["remote", "remote-sse"], Clients::typescript)
}

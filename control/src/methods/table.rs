//! The table of methods.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    action, activity, adapter, aliases, approvals, audit, blocks, capture, cells, config, events,
    exec, explain, files,
    group::Group,
    hand_over, inbox, input, instance, layout, lease,
    method::{Entry, entry},
    moving, nonce, orchestrate, policy, proxy, recording, replay, screen, search_all, selftest,
    server, session, settings, signal, system, token, variables, verify_handover, view, wait,
    workspace,
};

/// Every method, group by group, in the order in which `server.capabilities` lists them.
pub static METHODS: &[Entry] = &[
    entry::<session::List>(),
    entry::<session::Get>(),
    entry::<session::Status>(),
    entry::<session::Create>(),
    entry::<session::Input>(),
    entry::<aliases::SendText>(),
    entry::<session::Resize>(),
    entry::<session::Destroy>(),
    entry::<session::Kill>(),
    entry::<session::Idle>(),
    entry::<activity::Activity>(),
    entry::<explain::Explain>(),
    entry::<replay::Replay>(),
    entry::<verify_handover::VerifyHandover>(),
    entry::<moving::MoveToWindow>(),
    entry::<session::Cwd>(),
    entry::<variables::Env>(),
    entry::<variables::SetEnv>(),
    entry::<nonce::LendNonce>(),
    entry::<session::History>(),
    entry::<aliases::ReadTail>(),
    entry::<audit::Log>(),
    entry::<recording::Start>(),
    entry::<recording::Stop>(),
    entry::<recording::Status>(),
    entry::<recording::List>(),
    entry::<recording::Read>(),
    entry::<recording::AttachTrace>(),
    entry::<recording::Export>(),
    entry::<input::Type>(),
    entry::<input::Paste>(),
    entry::<input::Keys>(),
    entry::<input::Mouse>(),
    entry::<signal::Signal>(),
    entry::<wait::Wait>(),
    entry::<wait::Watch>(),
    entry::<adapter::Attach>(),
    entry::<adapter::Detach>(),
    entry::<adapter::States>(),
    entry::<adapter::Watch>(),
    entry::<lease::Lease>(),
    entry::<lease::Release>(),
    entry::<layout::Split>(),
    entry::<layout::Focus>(),
    entry::<layout::Move>(),
    entry::<layout::Rename>(),
    entry::<blocks::List>(),
    entry::<blocks::Get>(),
    entry::<blocks::Diff>(),
    entry::<files::Read>(),
    entry::<files::Write>(),
    entry::<exec::Run>(),
    entry::<exec::Send>(),
    entry::<exec::RunWait>(),
    entry::<exec::Status>(),
    entry::<exec::Cancel>(),
    entry::<signal::Send>(),
    entry::<orchestrate::Launch>(),
    entry::<orchestrate::Broadcast>(),
    entry::<orchestrate::Wait>(),
    entry::<screen::Read>(),
    entry::<screen::Text>(),
    entry::<screen::Cursor>(),
    entry::<screen::Scroll>(),
    entry::<screen::Search>(),
    entry::<super::find::Find>(),
    entry::<search_all::SearchAll>(),
    entry::<screen::DetectErrors>(),
    entry::<cells::Diff>(),
    entry::<cells::Cells>(),
    entry::<capture::Png>(),
    entry::<cells::Bytes>(),
    entry::<view::Follow>(),
    entry::<aliases::ReadRaw>(),
    entry::<workspace::Save>(),
    entry::<workspace::Restore>(),
    entry::<workspace::List>(),
    entry::<capture::Screen>(),
    entry::<capture::Window>(),
    entry::<capture::Select>(),
    entry::<capture::Clipboard>(),
    entry::<proxy::Status>(),
    entry::<proxy::Nodes>(),
    entry::<proxy::Switch>(),
    entry::<proxy::Speedtest>(),
    entry::<proxy::Configure>(),
    entry::<proxy::Disable>(),
    entry::<proxy::Env>(),
    entry::<policy::Set>(),
    entry::<policy::Check>(),
    entry::<policy::Refused>(),
    entry::<policy::Release>(),
    entry::<approvals::List>(),
    entry::<approvals::Answer>(),
    entry::<approvals::Forget>(),
    entry::<approvals::Ask>(),
    entry::<inbox::List>(),
    entry::<inbox::Show>(),
    entry::<inbox::Answer>(),
    entry::<inbox::Dismiss>(),
    entry::<inbox::Snooze>(),
    entry::<inbox::Restore>(),
    entry::<token::Create>(),
    entry::<token::List>(),
    entry::<token::Revoke>(),
    entry::<server::Info>(),
    entry::<server::Health>(),
    entry::<server::Capabilities>(),
    entry::<selftest::Run>(),
    entry::<config::Get>(),
    entry::<config::Set>(),
    entry::<settings::Open>(),
    entry::<events::Subscribe>(),
    entry::<events::Unsubscribe>(),
    entry::<system::Info>(),
    entry::<system::LaunchAdmin>(),
    entry::<instance::List>(),
    entry::<instance::Info>(),
    entry::<instance::SetTitle>(),
    entry::<instance::Focus>(),
    entry::<moving::AttachPrograms>(),
    entry::<hand_over::HandOver>(),
    entry::<layout::TabList>(),
    entry::<layout::TabCreate>(),
    entry::<layout::TabClose>(),
    entry::<layout::TabFocus>(),
    entry::<layout::TabMove>(),
    entry::<layout::TabRename>(),
    entry::<layout::WindowList>(),
    entry::<layout::WindowFocus>(),
    entry::<action::List>(),
    entry::<action::Run>(),
];

static BY_NAME: LazyLock<HashMap<&str, &'static Entry>> =
    LazyLock::new(|| METHODS.iter().map(|entry| (entry.name, entry)).collect());

/// Every group in order, with the names of its methods.
pub(crate) fn names_by_group() -> Vec<(Group, Vec<&'static str>)> {
    let of_group = |group| {
        let methods = METHODS.iter().filter(|entry| entry.group == group);
        (group, methods.map(|entry| entry.name).collect())
    };
    Group::ALL.map(of_group).into()
}

/// The method with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{Reach, audit::DOING};

    #[test]
    fn every_method_is_found_by_its_name_and_documented() {
        for entry in METHODS {
            assert!(
                std::ptr::eq(find(entry.name).unwrap(), entry),
                "{} is there twice",
                entry.name
            );
            assert!(entry.doc.ends_with('.'), "{} wants a sentence", entry.name);
            assert!(Group::ALL.contains(&entry.group));
        }
        assert!(find("nope.nope").is_none());
        assert!(find("").is_none());
    }

    #[test]
    fn schemas_list_required_fields_and_refuse_no_client() {
        let create = serde_json::to_value(find("exec.run_wait").unwrap().params_schema()).unwrap();
        assert_eq!(create["required"], serde_json::json!(["command"]));
        assert_eq!(create["properties"]["timeout_ms"]["type"], "integer");
        for entry in METHODS {
            let schema = serde_json::to_string(&entry.params_schema()).unwrap();
            assert!(!schema.contains("\"null\""), "{}: {schema}", entry.name);
            let schema = serde_json::to_value(entry.reply_schema()).unwrap();
            // These types are documented.
            let kind = match entry.name {
                "session.audit_log" | "session.recording_list" => "array",
                _ => "object",
            };
            assert_eq!(schema["type"], kind, "{}", entry.name);
        }
    }

    #[test]
    fn rows_speak_of_parameters_that_there_are() {
        for entry in METHODS {
            let schema = serde_json::to_value(entry.params_schema()).unwrap();
            let has = |name: &&str| schema["properties"].get(*name).is_some();
            // All parameters that name a session must be declared, because a token for some sessions is checked against
            // them.
            let names = |name: &&str| has(name) == entry.named.contains(name);
            let is_held = ["id", "session_id"].iter().all(names);
            let is_named = entry.reach != Reach::Named || !entry.named.is_empty();
            let is_exact = entry.reach == Reach::Everything || (is_held && is_named);
            assert!(is_exact, "{} names its session by {:?}", entry.name, entry.named);
            let is_told = *entry.described_by == DOING || entry.described_by.iter().all(has);
            assert!(is_told, "{} has no {:?}", entry.name, entry.described_by);
        }
    }

    #[test]
    fn every_method_has_a_wire_test() {
        let tests = concat!(
            include_str!("../../tests/methods/every_method.rs"),
            include_str!("../../tests/methods/extensions.rs"),
            include_str!("../../tests/ptywright/adapters.rs"),
            include_str!("../../tests/authority/rules.rs"),
            include_str!("../../tests/methods/files.rs"),
            include_str!("../../tests/methods/moving.rs"),
            include_str!("../../tests/wires/folder.rs"),
            include_str!("../../tests/methods/variables.rs"),
            include_str!("../../tests/methods/view.rs"),
            include_str!("../../tests/methods/program_state.rs"),
            include_str!("../../tests/methods/search.rs"),
            include_str!("../../tests/methods/capture.rs"),
            include_str!("../../tests/wires/http.rs"),
        );
        for entry in METHODS {
            assert!(tests.contains(&format!("\"{}\"", entry.name)), "{} has no test", entry.name);
        }
    }
}

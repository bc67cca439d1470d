//! Tests of instances that start and end. Each test has its own directory.

use std::{
    os::unix::fs::MetadataExt,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::{
    locking::{LOCK, lock_within},
    *,
};

fn register(home: &Path, port: u16) -> Registration {
    Registration::new(home, port, format!("token-{port}")).unwrap()
}

fn pointer(home: &Path, name: &str) -> Option<String> {
    read(&home.join(name)).map(|record| record.id)
}

#[test]
fn the_first_instance_is_alpha_and_removes_its_files() {
    let home = tempfile::tempdir().unwrap();
    let home = &home.path().join("deep/.unterm");
    let alpha = register(home, 1);
    assert_eq!(alpha.record().id, "alpha");
    assert_eq!(read(&home.join("instances/alpha.json")).as_ref(), Some(&*alpha.record()));
    assert_eq!(read(&home.join("server.json")).as_ref(), Some(&*alpha.record()));
    assert_eq!(read(&home.join("active.json")).as_ref(), Some(&*alpha.record()));
    assert_eq!(fs::read_to_string(home.join("auth_token")).unwrap(), "token-1");
    alpha.remove();
    drop(alpha);
    let left: Vec<_> = fs::read_dir(home).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "instances" || name == ".lock"), "{left:?}");
    assert_eq!(fs::read_dir(home.join("instances")).unwrap().count(), 0);
}

#[test]
fn an_instance_has_the_title_it_was_started_with() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let named = Registration::unregistered(home, 1, 0, "token".to_owned());
    let named = named.with_default_title(Some("Builds".to_owned()));
    assert_eq!(named.record().title, "Builds");
    named.enter().unwrap();
    let title = || read(&home.join("instances/alpha.json")).unwrap().title;
    assert_eq!(title(), "Builds");
    // The window shows a project, and a caller sets a title and removes it.
    named.name_project(Some("atlas"));
    named.retitle().unwrap();
    assert_eq!(title(), "Builds");
    named.set_title(Some("Mine")).unwrap();
    assert_eq!(title(), "Mine");
    named.set_title(None).unwrap();
    assert_eq!(title(), "Builds");
}

#[test]
fn a_record_has_the_documented_keys() {
    let home = tempfile::tempdir().unwrap();
    let _alpha = register(home.path(), 1);
    let text = fs::read_to_string(home.path().join("instances/alpha.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in ["id", "auth_token", "started_at", "title", "cwd", "version", "platform"] {
        assert!(value[key].is_string(), "{key}");
    }
    for key in ["mcp_port", "http_port", "pid"] {
        assert!(value[key].is_u64(), "{key}");
    }
    let started = value["started_at"].as_str().unwrap();
    assert!(OffsetDateTime::parse(started, &Rfc3339).is_ok(), "{started}");
}

#[test]
fn only_the_owner_can_read_the_files() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
    let _alpha = register(home.path(), 1);
    let mode = |path: &str| fs::metadata(home.path().join(path)).unwrap().mode() & 0o777;
    for directory in ["", "instances"] {
        assert_eq!(mode(directory), 0o700, "{directory}");
    }
    for file in ["instances/alpha.json", "server.json", "active.json", "auth_token", ".lock"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[test]
fn the_active_instance_changes_only_when_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let alpha = register(home, 1);
    let bravo = register(home, 2);
    let charlie = register(home, 3);
    assert_eq!(charlie.record().id, "charlie");
    assert_eq!(pointer(home, "active.json").unwrap(), "alpha");
    drop(bravo);
    assert_eq!(pointer(home, "active.json").unwrap(), "alpha");
    drop(alpha);
    for file in ["active.json", "server.json"] {
        assert_eq!(pointer(home, file).unwrap(), "charlie", "{file}");
    }
    assert_eq!(fs::read_to_string(home.join("auth_token")).unwrap(), "token-3");
    assert_eq!(register(home, 4).record().id, "alpha", "the name is free again");
}

#[test]
fn entries_of_dead_processes_are_removed_at_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut dead = Record::clone(&register(home, 1).record());
    dead.process_start = Some(1);
    let instances = home.join("instances");
    for id in ["alpha", "bravo"] {
        let record = Record { id: id.to_owned(), ..dead.clone() };
        write_record(&instances.join(format!("{id}.json")), &record).unwrap();
    }
    point_to(home, &dead).unwrap();
    // This id was claimed by another program, which is still writing its record.
    File::create(instances.join("charlie.json")).unwrap();
    assert!(live(home).unwrap().is_empty());

    let alpha = register(home, 5);
    assert_eq!(alpha.record().id, "alpha");
    assert!(!instances.join("bravo.json").exists());
    assert!(instances.join("charlie.json").exists());
    assert_eq!(read(&home.join("active.json")).unwrap().mcp_port, 5);
    assert_eq!(live(home).unwrap(), [Record::clone(&alpha.record())]);
}

#[test]
fn an_old_incomplete_claim_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let instances = home.path().join("instances");
    fs::create_dir_all(&instances).unwrap();
    let file = File::create(instances.join("alpha.json")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    assert_eq!(register(home.path(), 1).record().id, "alpha");
}

#[test]
fn stale_entry_does_not_block_start() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("instances/alpha.json");
    fs::create_dir_all(&folder).unwrap();
    let old = SystemTime::now() - Duration::from_secs(60);
    File::open(&folder).unwrap().set_modified(old).unwrap();
    let bravo = register(home.path(), 1);
    assert_eq!(bravo.record().id, "bravo");
    assert_eq!(live(home.path()).unwrap(), [Record::clone(&bravo.record())]);
}

#[test]
fn many_instances_can_start_at_the_same_time() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let have_started = AtomicBool::new(false);
    let registrations: Vec<_> = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !have_started.load(Ordering::Relaxed) {
                for (path, _) in entries(home).unwrap() {
                    assert!(read(&path).is_some(), "{} is not whole", path.display());
                }
            }
        });
        let threads: Vec<_> = (0..30).map(|i| scope.spawn(move || register(home, i))).collect();
        let all = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        have_started.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        all
    });
    let mut ids: Vec<_> = registrations.iter().map(|r| r.record().id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 30);
    assert!(ids.contains(&"zulu".to_owned()) && ids.contains(&"delta2".to_owned()));
    assert_eq!(live(home).unwrap().len(), 30);
    assert!(ids.contains(&pointer(home, "active.json").unwrap()));
    drop(registrations);
    assert_eq!(live(home).unwrap().len(), 0);
    assert_eq!(pointer(home, "active.json"), None);
}

#[test]
fn an_entry_of_another_process_is_not_removed() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let alpha = register(home, 1);
    let other = Record { mcp_port: 9, ..Record::clone(&alpha.record()) };
    write_record(&home.join("instances/alpha.json"), &other).unwrap();
    drop(alpha);
    assert_eq!(read(&home.join("instances/alpha.json")), Some(other));
}

/// Makes it fail to write a record to `path` after its id was claimed, as if the disk were full.
fn block(path: &Path) {
    let name = path.file_name().unwrap().to_str().unwrap();
    fs::create_dir_all(path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))).unwrap();
}

#[test]
fn an_unwritable_entry_does_not_block_others() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let entry = home.join("instances/alpha.json");
    block(&entry);
    let (unregistered, fault) = Registration::with_page(home, 1, 0, "token".to_owned());
    let fault = fault.unwrap().to_string();
    assert!(fault.contains("not in the registry") && fault.contains("alpha.json: "), "{fault}");
    assert!(!entry.exists(), "its claim is taken back");
    assert_eq!(unregistered.record().id, "unregistered");
    // The title in memory changes, although there is no entry.
    unregistered.set_title(Some("mine")).unwrap();
    assert_eq!(unregistered.record().title, "mine");
    unregistered.name_project(Some("atlas"));
    unregistered.retitle().unwrap();
    assert_eq!(unregistered.record().title, "mine", "a title of its own stays");
    unregistered.set_title(None).unwrap();
    assert_eq!(unregistered.record().title, "Unterm — unregistered — atlas");
    unregistered.name_project(None);
    unregistered.retitle().unwrap();
    assert_eq!(unregistered.record().title, "Unterm — unregistered");
    assert_eq!(unregistered.take_over().unwrap(), None);
    assert_eq!(live(home).unwrap(), []);

    fs::remove_dir(home.join(format!("instances/.alpha.json.{}.tmp", std::process::id()))).unwrap();
    let alpha = register(home, 2);
    drop(unregistered);
    assert_eq!(read(&entry).as_ref(), Some(&*alpha.record()), "it takes nothing of others away");
}

#[test]
fn an_unwritable_pointer_keeps_the_entry_and_other_pointers() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    fs::create_dir_all(home.join("active.json")).unwrap();
    let (alpha, fault) = Registration::with_page(home, 1, 0, "token".to_owned());
    let fault = fault.unwrap().to_string();
    assert!(fault.contains("is in the registry") && fault.contains("active.json: "), "{fault}");
    assert_eq!(live(home).unwrap(), [Record::clone(&alpha.record())]);
    assert_eq!(pointer(home, "server.json").unwrap(), "alpha");
    alpha.remove();
    for gone in ["instances/alpha.json", "server.json", "auth_token"] {
        assert!(!home.join(gone).exists(), "{gone}");
    }
}

#[test]
fn waiting_for_the_registry_lock_times_out() {
    let home = tempfile::tempdir().unwrap();
    let held = lock(home.path()).unwrap();
    let error = lock_within(home.path(), Duration::from_millis(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.to_string().contains("another program has kept it locked"), "{error}");
    // A thread that waited too long releases the lock when it gets it.
    let waits = thread::scope(|scope| {
        let waits = scope.spawn(|| lock(home.path()));
        drop(held);
        waits.join().unwrap()
    });
    drop(waits.unwrap());
    lock(home.path()).unwrap();
}

#[test]
fn a_fifo_in_the_registry_does_not_block() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let fifo = |name: &str| {
        mknodat(CWD, home.join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    fifo("active.json");
    let alpha = register(home, 1);
    assert_eq!(pointer(home, "active.json").unwrap(), "alpha");
    drop(alpha);
    fs::remove_file(home.join(LOCK)).unwrap();
    fifo(LOCK);
    let (_, fault) = Registration::with_page(home, 1, 0, "token".to_owned());
    let fault = fault.unwrap().to_string();
    assert!(fault.contains("/.lock: "), "{fault}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_crash_of_the_active_instance_is_noticed() {
    use std::process::{Command, Stdio};

    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    // The child process stands for an instance that was killed.
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let bravo = Arc::new(register(home, 2));
    let alpha = Record {
        id: "zulu".to_owned(),
        pid: child.id(),
        process_start: process_start(child.id()),
        ..Record::clone(&bravo.record())
    };
    write_record(&home.join("instances/zulu.json"), &alpha).unwrap();
    point_to(home, &alpha).unwrap();

    assert_eq!(bravo.take_over().unwrap(), Some(alpha), "zulu lives");
    let follow = tokio::spawn(follow_active(bravo.clone()));
    child.kill().unwrap();
    follow.await.unwrap();
    child.wait().unwrap();
    assert_eq!(read(&home.join("active.json")).as_ref(), Some(&*bravo.record()));
    assert_eq!(read(&home.join("server.json")).as_ref(), Some(&*bravo.record()));
    assert!(!home.join("instances/zulu.json").exists());
}

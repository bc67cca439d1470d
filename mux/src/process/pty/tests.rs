//! Tests real programs on real ptys, without a terminal.

use std::{
    process::{Command, Stdio},
    sync::Arc,
};

use super::{super::environment, *};

fn start(program: &str, args: &[&str]) -> PtyProcess {
    let spawn = Spawn {
        program: Some(program.into()),
        args: args.iter().map(|arg| (*arg).into()).collect(),
        ..Spawn::default()
    };
    PtyProcess::spawn(&spawn, Size::cells(80, 24)).unwrap()
}

fn sh(script: &str) -> PtyProcess {
    start("sh", &["-c", script])
}

/// Reads the program's output until its end.
fn read_all(process: &PtyProcess) -> String {
    let mut buffer = vec![0; 4096];
    let mut output = Vec::new();
    loop {
        match process.read(&mut buffer, None).unwrap() {
            ReadOutcome::Bytes(count) => output.extend_from_slice(&buffer[..count]),
            outcome @ (ReadOutcome::TimedOut | ReadOutcome::Detached) => panic!("{outcome:?}"),
            ReadOutcome::Ended => return String::from_utf8_lossy(&output).into_owned(),
        }
    }
}

/// Reads until the output contains `text`.
fn read_until(process: &PtyProcess, text: &str) -> String {
    let mut buffer = vec![0; 4096];
    let mut output = String::new();
    while !output.contains(text) {
        match process.read(&mut buffer, None).unwrap() {
            ReadOutcome::Bytes(count) => {
                output.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
            other => panic!("{other:?} after {output:?}"),
        }
    }
    output
}

fn write_all(process: &PtyProcess, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        bytes = &bytes[process.write(bytes).unwrap()..];
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_belongs_to_the_terminal_that_it_was_started_on() {
    // The second process has left the terminal, but the program is its parent.
    let process = sh("sleep 60 & echo one=$!; setsid sleep 60 & echo two=$!=; wait");
    let printed = read_until(&process, "=\r\n");
    let number = |name: &str| -> i32 {
        let start = printed.find(name).unwrap() + name.len();
        let digits: String = printed[start..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    };
    let (one, two) = (number("one="), number("two="));
    let other = sh("read -r _");
    for pid in [process.pid().unwrap(), one, two] {
        assert!(process.has_process(pid), "{pid}: {printed}");
        assert!(!other.has_process(pid), "{pid}: {printed}");
    }
    assert!(!process.has_process(std::process::id().cast_signed()));
    assert!(!process.has_process(-1));
    for pid in [one, two] {
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::KILL,
        );
    }
    process.kill();
    other.kill();
}

#[test]
fn a_terminal_reports_whether_it_collects_lines() {
    let process = sh("echo a; stty -icanon; echo b; read -r _");
    read_until(&process, "b\r\n");
    assert_eq!(process.collects_lines(), Some(false));
    let other = sh("echo b; read -r _");
    read_until(&other, "b\r\n");
    assert_eq!(other.collects_lines(), Some(true));
    process.kill();
    other.kill();
}

/// Whether a process exists and is not a zombie.
fn runs(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

#[test]
fn a_program_writes_reads_and_ends_with_its_status() {
    let process = sh("read line; echo got $line; exit 7");
    assert_eq!(process.exit_status(), None);
    write_all(&process, b"hello\r");
    assert!(read_all(&process).contains("got hello\r\n"));
    assert_eq!(process.exit_status(), Some(ExitStatus::Code(7)));
    assert!(!runs(process.pid().unwrap()));
}

#[test]
fn a_program_ended_by_a_signal_says_which() {
    let process = sh("kill -TERM $$");
    read_all(&process);
    assert_eq!(process.exit_status(), Some(ExitStatus::Signal(15)));
}

#[test]
fn all_output_is_read_before_the_end() {
    let process = sh("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
    let output = read_all(&process);
    assert_eq!(output.lines().count(), 20000);
    assert!(output.ends_with("line 19999\r\n"));
}

#[test]
fn a_job_left_in_the_background_does_not_keep_the_pane() {
    let process = sh("trap '' HUP; sleep 300 & echo job $!; exit 3");
    let output = read_all(&process);
    assert_eq!(process.exit_status(), Some(ExitStatus::Code(3)));
    let job: i32 = output.trim().strip_prefix("job ").unwrap().parse().unwrap();
    assert!(runs(job), "it was the shell's to end");
    rustix::process::kill_process(Pid::from_raw(job).unwrap(), Sig::KILL).unwrap();
}

#[test]
fn a_job_that_floods_from_the_background_does_not_keep_the_pane() {
    let process = sh("trap '' HUP; yes & echo job $!; exit 3");
    let output = read_all(&process);
    assert_eq!(process.exit_status(), Some(ExitStatus::Code(3)));
    let job = output.lines().find_map(|line| line.strip_prefix("job ")).unwrap();
    let job: i32 = job.trim().parse().unwrap();
    rustix::process::kill_process(Pid::from_raw(job).unwrap(), Sig::KILL).unwrap();
}

#[test]
fn a_program_that_closes_its_terminal_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let fifo_name = fifo.display();
    let script = format!("mkfifo {fifo_name}; exec <&- >&- 2>&-; read line < {fifo_name}; exit 4");
    let process = Arc::new(sh(&script));
    let reader = process.clone();
    let thread = std::thread::spawn(move || read_all(&reader));
    while !fifo.exists() {
        std::thread::yield_now();
    }
    // Opening the FIFO waits until the shell opens it too. The shell has closed its terminal by then.
    std::fs::write(&fifo, "go\n").unwrap();
    thread.join().unwrap();
    assert_eq!(process.exit_status(), Some(ExitStatus::Code(4)));
}

#[test]
fn a_deadline_ends_a_read() {
    let process = sh("read line");
    let outcome = process.read(&mut [0; 16], Some(Instant::now())).unwrap();
    assert_eq!(outcome, ReadOutcome::TimedOut);
    let soon = Instant::now() + Duration::from_millis(20);
    assert_eq!(process.read(&mut [0; 16], Some(soon)).unwrap(), ReadOutcome::TimedOut);
    assert!(Instant::now() >= soon);
    assert!(process.read(&mut [], None).is_err());
}

#[test]
fn stopping_wakes_a_blocked_reader_and_a_blocked_writer() {
    let process = Arc::new(start("sleep", &["300"]));
    let reader = process.clone();
    // Wait until the terminal echoes the input.
    let reading = std::thread::spawn(move || {
        loop {
            let outcome = reader.read(&mut [0; 16], None).unwrap();
            if !matches!(outcome, ReadOutcome::Bytes(_)) {
                return outcome;
            }
        }
    });
    let writer = process.clone();
    let writing = std::thread::spawn(move || {
        loop {
            if let Err(error) = writer.write(&[b'x'; 4096]) {
                return error.kind();
            }
        }
    });
    process.stop_reading();
    assert_eq!(reading.join().unwrap(), ReadOutcome::Ended);
    assert_eq!(writing.join().unwrap(), io::ErrorKind::BrokenPipe);
    assert_eq!(process.exit_status(), None);
    let pid = process.pid().unwrap();
    drop(process);
    assert!(!runs(pid), "nobody is left to end it later");
}

#[test]
fn a_detached_program_continues_once_it_is_attached() {
    let process = Arc::new(sh("stty -echo; echo ready; read line; echo got $line"));
    read_until(&process, "ready\r\n");
    let reader = process.clone();
    let reading = std::thread::spawn(move || reader.read(&mut [0; 16], None).unwrap());
    process.detach();
    assert_eq!(reading.join().unwrap(), ReadOutcome::Detached);
    assert_eq!(process.read(&mut [0; 16], None).unwrap(), ReadOutcome::Detached);
    assert_eq!(process.write(b"x").unwrap_err().kind(), io::ErrorKind::Interrupted);
    assert_eq!(process.try_write(b"x"), 0);
    assert_eq!(process.exit_status(), None);
    process.attach();
    write_all(&process, b"hello\r");
    assert_eq!(read_all(&process), "got hello\r\n");
    assert_eq!(process.exit_status(), Some(ExitStatus::Code(0)));
}

#[test]
fn detaching_wakes_a_blocked_writer() {
    let process = Arc::new(start("sleep", &["300"]));
    let writer = process.clone();
    let writing = std::thread::spawn(move || {
        loop {
            if let Err(error) = writer.write(&[b'x'; 4096]) {
                return error.kind();
            }
        }
    });
    process.detach();
    assert_eq!(writing.join().unwrap(), io::ErrorKind::Interrupted);
    process.attach();
    process.kill();
    assert_eq!(process.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    process.attach();
    assert_eq!(process.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe, "for good");
    read_all(&process);
}

#[test]
fn killing_ends_an_interactive_shell_and_what_it_runs() {
    let process = start("sh", &["-i"]);
    write_all(&process, b"sleep 300\r");
    let sleep = loop {
        match process.foreground() {
            Some(foreground) if !foreground.is_root && foreground.name.ends_with("sleep") => {
                break foreground.pid;
            }
            _ => std::thread::yield_now(),
        }
    };
    process.kill();
    read_all(&process);
    assert!(process.exit_status().is_some());
    while runs(sleep) {
        std::thread::yield_now();
    }
}

#[test]
fn killing_a_stopped_program_ends_it() {
    let process = sh("echo ready; kill -STOP $$; echo on");
    read_until(&process, "ready");
    let pid = process.pid().unwrap();
    let stat = format!("/proc/{pid}/stat");
    while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
        std::thread::yield_now();
    }
    process.kill();
    read_all(&process);
    assert_eq!(process.exit_status(), Some(ExitStatus::Signal(1)));
}

#[test]
fn a_program_that_ignores_the_hang_up_is_killed_after_its_grace() {
    let process = sh("trap '' HUP; echo ready; while :; do sleep 300; done");
    read_until(&process, "ready");
    let killed = Instant::now();
    process.kill();
    read_all(&process);
    assert_eq!(process.exit_status(), Some(ExitStatus::Signal(9)));
    assert!(killed.elapsed() >= KILL_GRACE);
}

#[test]
fn a_flooding_program_that_ignores_the_hang_up_is_killed_too() {
    let process = sh("trap '' HUP; echo ready; exec yes");
    read_until(&process, "ready");
    process.kill();
    read_all(&process);
    assert_eq!(process.exit_status(), Some(ExitStatus::Signal(9)));
}

#[test]
fn nothing_is_typed_into_a_program_by_itself() {
    let process = sh("stty -echo -icanon min 0 time 2; echo ready; cat | od -An -c");
    read_until(&process, "ready\r\n");
    assert_eq!(read_all(&process).trim(), "");
}

#[test]
fn signals_reach_the_foreground() {
    let process = sh("trap 'echo usr; exit 5' USR1; echo ready; while :; do sleep 0.01; done");
    read_until(&process, "ready");
    process.signal(Signal::User1).unwrap();
    assert!(read_all(&process).contains("usr"));
    assert_eq!(process.exit_status(), Some(ExitStatus::Code(5)));
}

#[test]
#[cfg(target_os = "linux")]
fn a_waiting_program_is_distinguished_from_a_working_one() {
    let python = |script: &str| format!("exec python3 -c '{script}'");
    let poll = "import select as s; print(\"up\", flush=True); p = s.poll(); p.register(0, s.POLLIN); p.poll()";
    let epoll = "import select as s; print(\"up\", flush=True); p = s.epoll(); p.register(0, s.EPOLLIN); p.poll()";
    let thread = "import threading as t; print(\"up\", flush=True); t.Thread(target=input).start(); t.Event().wait()";
    let has_python = std::process::Command::new("python3").arg("-V").output().is_ok();
    for (script, awaits) in [
        ("echo up; read x".to_owned(), true),
        ("echo up; head -c1 < /dev/tty".to_owned(), true),
        ("exec bash -c 'echo up; read -t 1000 x'".to_owned(), true),
        (python(poll), true),
        (python(epoll), true),
        (python(thread), true),
        ("echo up; sleep 1000".to_owned(), false),
        ("echo up; sleep 1000 | cat".to_owned(), false),
    ] {
        if script.contains("python3") && !has_python {
            continue;
        }
        let process = sh(&script);
        read_until(&process, "up");
        let end = Instant::now() + Duration::from_secs(30);
        // If the program does not wait for input, check it while it runs.
        let is_so = || match awaits {
            true => process.awaits_input() == Some(true),
            false => {
                system::names_below(process.group_in_front().unwrap()).contains(&"sleep".to_owned())
            }
        };
        while !is_so() {
            assert!(Instant::now() < end, "{script}");
            std::thread::yield_now();
        }
        assert_eq!(process.awaits_input(), Some(awaits), "{script}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_forwarding_program_reads_only_if_its_receiver_reads() {
    if std::process::Command::new("script").arg("-V").output().is_err() {
        return;
    }
    let nested = |script: &str| format!("exec script -qc '{script}' /dev/null");
    for (script, reads) in [
        (nested("echo up; read x"), true),
        (nested("script -qc \"echo up; read x\" /dev/null"), true),
        (nested("echo up; sleep 1000"), false),
    ] {
        let process = sh(&script);
        read_until(&process, "up");
        let end = Instant::now() + Duration::from_secs(30);
        let works = || {
            let names = system::names_below(process.group_in_front().unwrap());
            names.contains(&"sleep".to_owned()) && process.awaits_input() == Some(true)
        };
        while !(if reads { process.reads_input() } else { works() }) {
            assert!(Instant::now() < end, "{script}");
            std::thread::yield_now();
        }
        assert_eq!(process.reads_input(), reads, "{script}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_is_stopped_reads_nothing() {
    let process = sh("echo up; exec cat");
    read_until(&process, "up");
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < end, "{what}");
            std::thread::yield_now();
        }
    };
    until("it reads", &|| process.reads_input());
    let signal = |signal| rustix::process::kill_process_group(process.pid, signal).unwrap();
    signal(Sig::STOP);
    until("it is stopped", &|| !process.reads_input());
    assert_eq!(process.awaits_input(), Some(false));
    signal(Sig::CONT);
    until("it reads again", &|| process.reads_input());
}

#[test]
fn the_size_is_reported() {
    let process = sh("trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.01; done");
    read_until(&process, "24 80");
    // The size in pixels that the kernel reports.
    let pixels = || {
        let size = rustix::termios::tcgetwinsize(&process.master).unwrap();
        (u32::from(size.ws_xpixel), u32::from(size.ws_ypixel))
    };
    assert_eq!(pixels(), Size::cells(80, 24).pixels());
    let drawn = Size { cell_width: 9, cell_height: 18, ..Size::cells(132, 43) };
    process.resize(drawn).unwrap();
    assert_eq!(pixels(), (9 * 132, 18 * 43));
    assert!(read_all(&process).contains("43 132"));
}

#[test]
fn echo_foreground_directory_and_tty_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let spawn = Spawn {
        program: Some("sh".into()),
        args: vec!["-c".into(), "tty; read a; stty -echo; echo off; read b; exit".into()],
        cwd: Some(folder.clone()),
        ..Spawn::default()
    };
    let process = PtyProcess::spawn(&spawn, Size::cells(80, 24)).unwrap();
    let tty = process.tty().unwrap();
    assert!(read_until(&process, "\r\n").contains(tty.to_str().unwrap()));
    assert_eq!(process.echo(), Some(true));
    assert_eq!(process.cwd(), Some(folder));
    let foreground = process.foreground().unwrap();
    assert!(foreground.is_root);
    assert_eq!(Some(foreground.pid), process.pid());
    assert!(foreground.name.ends_with("sh"), "{}", foreground.name);
    write_all(&process, b"\r");
    read_until(&process, "off");
    assert_eq!(process.echo(), Some(false));
}

/// The name of a program is cached, but not for the next program of the same process.
#[cfg(target_os = "linux")]
#[test]
fn each_program_of_a_process_has_its_own_name() {
    // The name of the last `cat` differs from the name of its file.
    let script = "echo one; read a; exec bash --norc -c 'echo two; read a; exec -a other cat'";
    let process = sh(script);
    let name = || {
        let names: Vec<_> = (0..3).map(|_| process.foreground().unwrap().name).collect();
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
        names[0].rsplit('/').next().unwrap().to_owned()
    };
    read_until(&process, "one");
    assert_eq!(name(), "sh");
    write_all(&process, b"\r");
    read_until(&process, "two");
    assert_eq!(name(), "bash");
    write_all(&process, b"typed\rback\r");
    read_until(&process, "back\r\nback");
    assert_eq!(name(), "cat");
}

#[test]
fn a_program_just_started_is_never_shown_as_ourselves() {
    for _ in 0..20 {
        let name = start("sleep", &["300"]).foreground().unwrap().name;
        assert!(name.ends_with("sleep"), "{name}");
    }
}

#[test]
fn the_environment_is_ours() {
    let spawn = Spawn {
        program: Some("env".into()),
        env: vec![("TERM".into(), "other".into()), ("NEW".into(), "a b=c".into())],
        ..Spawn::default()
    };
    let process = PtyProcess::spawn(&spawn, Size::cells(80, 24)).unwrap();
    let output = read_all(&process);
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines.contains(&"TERM=other"));
    assert!(lines.contains(&"COLORTERM=truecolor"));
    assert!(lines.contains(&"NEW=a b=c"));
    assert!(lines.iter().any(|line| line.starts_with("PATH=")));
    for line in lines {
        let name = line.split('=').next().unwrap();
        assert!(!environment::is_surrounding(name.as_ref()), "{line}");
    }
}

#[test]
fn a_program_gets_a_clean_process() {
    // Open a descriptor of this process that is not close-on-exec.
    let (leak, _other) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let process =
        sh("ls /proc/self/fd | xargs; grep -E 'SigBlk|SigIgn' /proc/self/status; stty -a");
    let output = read_all(&process);
    // Descriptor 3 is the folder that `ls` lists.
    assert!(output.starts_with("0 1 2 3\r\n"), "{output}");
    assert!(output.contains("SigBlk:\t0000000000000000"), "{output}");
    let ignored = output.split("SigIgn:\t").nth(1).unwrap().split_whitespace().next().unwrap();
    let ignored = u64::from_str_radix(ignored, 16).unwrap();
    for signal in [Sig::HUP, Sig::INT, Sig::QUIT, Sig::PIPE, Sig::TERM, Sig::CHILD] {
        assert_eq!(ignored >> (signal.as_raw() - 1) & 1, 0, "{signal:?}");
    }
    assert!(output.contains(" iutf8"), "{output}");
}

#[test]
fn programs_that_cannot_start_are_errors() {
    let attempt = |program: &str, cwd: Option<&str>| {
        let spawn = Spawn {
            program: Some(program.into()),
            cwd: cwd.map(PathBuf::from),
            ..Spawn::default()
        };
        PtyProcess::spawn(&spawn, Size::cells(80, 24)).map(|_| ()).unwrap_err()
    };
    let missing = attempt("no-such-program", None).to_string();
    assert_eq!(missing, "cannot start no-such-program: no such program in PATH");
    assert!(matches!(attempt("sh", Some("/nowhere")), SpawnError::BadCwd(_)));
    assert!(matches!(attempt("sh", Some("/etc/passwd")), SpawnError::BadCwd(_)));
}

#[test]
fn without_a_program_the_users_shell_starts_in_their_home() {
    let spawn = Spawn {
        env: vec![("SHELL".into(), "/bin/sh".into()), ("PS1".into(), "ready>".into())],
        ..Spawn::default()
    };
    let process = PtyProcess::spawn(&spawn, Size::cells(80, 24)).unwrap();
    write_all(&process, b"echo $0 in `pwd`; exit\r");
    let output = read_all(&process);
    let home = std::env::home_dir().unwrap();
    assert!(output.contains(&format!("/bin/sh in {}\r\n", home.display())), "{output}");
}

#[test]
fn concurrently_started_programs_inherit_no_terminal() {
    let is_over = AtomicBool::new(false);
    let opened = || {
        for _ in 0..300 {
            start("true", &[]);
        }
        is_over.store(true, Ordering::Release);
    };
    let look = || {
        while !is_over.load(Ordering::Acquire) {
            let mut find = Command::new("find");
            let find = find.args(["/proc/self/fd", "-printf", "%l\n"]).stdin(Stdio::null());
            let held = String::from_utf8(find.output().unwrap().stdout).unwrap();
            assert!(!held.contains("/ptmx") && !held.contains("/pts/"), "{held}");
        }
    };
    std::thread::scope(|scope| {
        let looks = [(); 2].map(|()| scope.spawn(look));
        opened();
        looks.map(|look| look.join().unwrap())
    });
}

#[test]
fn shell_directory_is_known_while_an_ended_group_is_in_front() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    // The inner shell puts its command's group in the foreground. It is killed before it can put its own group there
    // again.
    let script = format!(
        "cd '{}'; bash -mc 'sh -c \"kill -KILL \\$PPID\"; :'; echo over; sleep 1000; :",
        path.display()
    );
    let process = start("bash", &["-c", &script]);
    read_until(&process, "over");
    let group = process.group_in_front().unwrap();
    while process.has_group(group) {
        std::thread::yield_now();
    }
    assert_eq!(process.foreground(), None);
    assert_eq!(process.shell_cwd(), Some(path));
    process.kill();
    read_all(&process);
}

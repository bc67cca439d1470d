"""Prepares what the tasks in programs.py need: an SSH server, a root folder for chroot, a command that asks for a
password, and sources to compile. Everything is in a temporary folder. If this machine lacks something, `Unavailable` gives
the reason."""

import os
import shutil
import subprocess
from pathlib import Path


class Unavailable(Exception):
    """The reason why this machine can't perform a task."""


def needed(*programs):
    """The paths of programs that a task requires."""
    found = [shutil.which(program) for program in programs]
    missing = [program for program, path in zip(programs, found) if not path]
    if missing:
        raise Unavailable(f"{', '.join(missing)} is not installed")
    return found


def quietly(*command, **more):
    """Runs a program that must succeed. Returns its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def ssh_settings(folder):
    """Writes settings for an ssh client and returns the file. In them, the host `box` is a server that ssh itself starts for
    each login. The server's key is unknown at first."""
    needed("ssh", "ssh-keygen")
    server = Path("/usr/sbin/sshd")
    if not server.exists():
        raise Unavailable("sshd is not installed")
    if os.geteuid() == 0:
        # If sshd runs as root, it requires this folder, which the system normally creates at startup.
        Path("/run/sshd").mkdir(exist_ok=True)
    for key in ("host", "own"):
        quietly("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
    home = folder / "home"
    home.mkdir()
    (home / ".bash_profile").write_text("PS1='far> '\nHISTFILE=\n")
    (folder / "server").write_text(
        f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/own.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
        f'PidFile none\nPrintMotd no\nPrintLastLog no\nSetEnv SHELL=/bin/bash HOME={home} FAR=away LANG=C.UTF-8 "PS1=far> "\n'
    )
    settings = folder / "client"
    settings.write_text(
        f"Host box\nHostName 127.0.0.1\nIdentityFile {folder}/own\nIdentitiesOnly yes\n"
        f"ProxyCommand {server} -i -e -f {folder}/server 2>>{folder}/log\n"
        f"StrictHostKeyChecking ask\nUserKnownHostsFile {folder}/known\nGlobalKnownHostsFile /dev/null\n"
    )
    return settings


def root_folder(folder):
    """Copies a shell and its libraries into a folder. Returns the command that runs the shell with that folder as its root."""
    chroot, shell = needed("chroot", "sh")
    names = quietly("ldd", shell).split()
    for file in [shell, *(name for name in names if name.startswith("/"))]:
        there = folder / file.lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, there)
    command = f"{chroot} {folder} {shell}"
    if os.geteuid() == 0:
        return command
    if subprocess.run(["unshare", "-r", "true"], capture_output=True).returncode:
        raise Unavailable("only root may change the root here")
    return f"unshare -r {command}"


def password_asked(folder, password):
    """The command with which an unprivileged user becomes root by a password. The password is valid only in the mount
    namespace that the command creates."""
    _, _, openssl, _ = needed("su", "setpriv", "openssl", "unshare")
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        raise Unavailable("only root may give root another password for a while")
    hashed = quietly(openssl, "passwd", "-6", password).strip()
    shadow = folder / "shadow"
    shadow.write_text(f"root:{hashed}:19000:0:99999:7:::\n")
    script = folder / "become"
    script.write_text(
        f"mount --bind {shadow} /etc/shadow || exit\n"
        "exec setpriv --reuid 65534 --regid 65534 --clear-groups su -c 'echo became $(id -un)'\n"
    )
    return f"unshare -m sh {script}"


def sources(folder, count):
    """Writes a C program of `count` source files and a main file, with a Makefile."""
    needed("make", "cc")
    names = [f"part{number}" for number in range(count)]
    for number, name in enumerate(names):
        body = "".join(f"    total += {number} * n + {line};\n" for line in range(200))
        (folder / f"{name}.c").write_text(f"int {name}(int n) {{\n    int total = 0;\n{body}    return total;\n}}\n")
    calls = " + ".join(f"{name}(0)" for name in names)
    declared = "".join(f"int {name}(int);\n" for name in names)
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n{declared}int main(void) {{ printf("made %d\\n", {calls}); return 0; }}\n'
    )
    objects = " ".join(f"{name}.o" for name in [*names, "main"])
    (folder / "Makefile").write_text(f"program: {objects}\n\tcc -o $@ $^\n%.o: %.c\n\tcc -O1 -c $<\n")

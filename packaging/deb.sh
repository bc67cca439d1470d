# Sourced by `release`: packs the tree as a Debian package.
# shellcheck shell=bash

# Libraries that the window opens when it starts. The programs do not link them, so dpkg-shlibdeps does not find them.
deb_opened='libx11-6, libx11-xcb1, libxcb1, libxcursor1, libxi6, libxkbcommon0, libxkbcommon-x11-0, libwayland-client0'

# make_deb NAME TREE VERSION OUT: prints the path of the package that it writes to OUT.
make_deb() {
    local name=$1 tree=$2 version=$3 out=$4 work architecture file doc
    work=$(mktemp -d)
    architecture=$(dpkg --print-architecture)
    file=$out/${name}_$version-1_$architecture.deb
    mkdir -p "$work/files/usr" "$work/files/DEBIAN" "$work/debian"
    cp -a "$tree/bin" "$tree/share" "$work/files/usr/"
    doc=$work/files/usr/share/doc/$name

    # Move and rename files to where Debian expects them.
    [ ! -e "$work/files/usr/share/zsh" ] || mv "$work/files/usr/share/zsh/site-functions" "$work/files/usr/share/zsh/vendor-completions"
    rm "$doc/LICENSE"
    gzip -9n "$doc/CHANGELOG.md" "$doc/LICENCES.txt"
    mv "$doc/CHANGELOG.md.gz" "$doc/changelog.gz"
    deb_copyright >"$doc/copyright"
    mkdir -p "$work/files/usr/share/lintian/overrides"
    sed "s/@NAME@/$name/" packaging/lintian-overrides >"$work/files/usr/share/lintian/overrides/$name"
    deb_changelog "$version" | gzip -9n >"$doc/changelog.Debian.gz"

    # Determine the libraries that the programs link, with the versions that they need.
    printf 'Source: unterm\n\nPackage: %s\nArchitecture: any\n' "$name" >"$work/debian/control"
    {
        printf 'Package: %s\nVersion: %s-1\nArchitecture: %s\n' "$name" "$version" "$architecture"
        [ "$name" = unterm ] || printf 'Source: unterm\n'
        printf 'Maintainer: The Unterm authors <unterm@users.noreply.github.com>\n'
        printf 'Installed-Size: %s\n' "$(du -sk --apparent-size "$work/files/usr" | cut -f1)"
        "deb_control_${name//-/_}" "$work" "$version"
    } >"$work/files/DEBIAN/control"
    [ "$name" != unterm ] || deb_scripts "$work/files/DEBIAN"
    (cd "$work/files" && find usr -type f -printf '%P\0' | sort -z | (cd usr && xargs -0 md5sum) | sed 's,  ,  usr/,') \
        >"$work/files/DEBIAN/md5sums"
    find "$work/files" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$work/files" "$file" >&2
    rm -rf "$work"
    printf '%s\n' "$file"
}

# deb_control_NAME WORK VERSION: the fields that differ between the packages.
deb_control_unterm() {
    local work=$1 linked capture=
    linked=$(deb_linked "$work" Depends unterm unterm-keeper)
    [ ! -e "$work/files/usr/bin/unterm-capture" ] || capture=$(deb_linked "$work" Recommends unterm-capture)
    cat <<END
Depends: $linked, $deb_opened
Recommends: ${capture:+$capture, }xdg-utils
Suggests: libvulkan1, fonts-noto-color-emoji
Provides: x-terminal-emulator
Section: x11
Priority: optional
Description: terminal whose every pane an agent can drive
 Unterm is a GPU terminal with tabs, splits, search, copy mode and a command
 palette. Scripts and agents use the same panes: they open one, run a command,
 wait for its end, and read the screen as text. The user sees what they do and
 approves what they change.
 .
 It works the same without a window. Without a GPU, it paints on the CPU.
END
}

deb_control_unterm_fleet() {
    local work=$1 version=$2
    cat <<END
Depends: $(deb_linked "$work" Depends unterm-hub unterm-connect), unterm (>= $version)
Section: net
Priority: optional
Description: panes of many machines through one hub, for agents
 unterm-hub offers the panes of several machines to agents through one address.
 People approve in its dashboard what agents do, watch any pane and stop
 everything. unterm-connect connects a machine to a hub.
 .
 A hub needs a NATS server of version 2.12.6 or newer, which it can start by
 itself.
END
}

# deb_scripts FOLDER: writes the scripts that the package manager runs.
deb_scripts() {
    cat >"$1/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    update-alternatives --install /usr/bin/x-terminal-emulator x-terminal-emulator /usr/bin/unterm 20 \
        --slave /usr/share/man/man1/x-terminal-emulator.1.gz x-terminal-emulator.1.gz /usr/share/man/man1/unterm.1.gz
fi
END
    cat >"$1/prerm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
    update-alternatives --remove x-terminal-emulator /usr/bin/unterm
fi
END
    chmod 755 "$1/postinst" "$1/prerm"
}

# deb_linked WORK FIELD PROGRAM…: prints the packages of the libraries that the programs link.
deb_linked() {
    local work=$1 field=$2
    shift 2
    (cd "$work" && dpkg-shlibdeps -O "-d$field" "${@/#/files/usr/bin/}") | sed -n "s/^shlibs:$field=//p"
}

# deb_changelog VERSION: writes a changelog in Debian's format. It refers to Unterm's own changelog, changelog.gz.
deb_changelog() {
    printf 'unterm (%s-1) unstable; urgency=medium\n\n  * The release of this version: see changelog.gz.\n\n' "$1"
    printf ' -- The Unterm authors <unterm@users.noreply.github.com>  %s\n' "$(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")"
}

deb_copyright() {
    cat <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Unterm
Comment: LICENCES.txt.gz beside this file has the licences of the fonts, rules
 and libraries that the programs contain.

Files: *
END
    sed -n 's/^\(Copyright.*\)$/\1/p' LICENSE | sed 's/^Copyright (c) /Copyright: /'
    printf 'License: MIT\n'
    # In this format, an empty line of the text is written as a dot.
    sed '/^MIT License/d; /^Copyright/d' LICENSE | sed '/./,$!d; s/^$/./; s/^/ /'
}

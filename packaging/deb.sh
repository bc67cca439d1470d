# Sourced by `release`: packs the tree as a Debian package.
# shellcheck shell=bash

# Libraries that the window opens when it starts, which no header of a program names.
deb_opened='libx11-6, libx11-xcb1, libxcb1, libxcursor1, libxi6, libxkbcommon0, libxkbcommon-x11-0, libwayland-client0'

# make_deb TREE VERSION OUT: prints the path of the package that it writes to OUT.
make_deb() {
    local tree=$1 version=$2 out=$3 work architecture file linked capture=
    work=$(mktemp -d)
    architecture=$(dpkg --print-architecture)
    file=$out/unterm_$version-1_$architecture.deb
    mkdir -p "$work/files/usr" "$work/files/DEBIAN" "$work/debian"
    cp -a "$tree/bin" "$tree/share" "$work/files/usr/"
    local doc=$work/files/usr/share/doc/unterm

    # Debian's places and names.
    mv "$work/files/usr/share/zsh/site-functions" "$work/files/usr/share/zsh/vendor-completions"
    rm "$doc/LICENSE"
    gzip -9n "$doc/CHANGELOG.md" "$doc/LICENCES.txt"
    mv "$doc/CHANGELOG.md.gz" "$doc/changelog.gz"
    deb_copyright >"$doc/copyright"
    install -D -m 644 packaging/unterm.lintian-overrides "$work/files/usr/share/lintian/overrides/unterm"
    deb_changelog "$version" | gzip -9n >"$doc/changelog.Debian.gz"

    # What the programs link, with the versions that they need.
    printf 'Source: unterm\n\nPackage: unterm\nArchitecture: any\n' >"$work/debian/control"
    linked=$(deb_linked "$work" Depends unterm)
    [ ! -e "$tree/bin/unterm-capture" ] || capture=$(deb_linked "$work" Recommends unterm-capture)
    cat >"$work/files/DEBIAN/control" <<END
Package: unterm
Version: $version-1
Architecture: $architecture
Maintainer: The Unterm authors <unterm@users.noreply.github.com>
Installed-Size: $(du -sk --apparent-size "$work/files/usr" | cut -f1)
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
    cat >"$work/files/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    update-alternatives --install /usr/bin/x-terminal-emulator x-terminal-emulator /usr/bin/unterm 20 \
        --slave /usr/share/man/man1/x-terminal-emulator.1.gz x-terminal-emulator.1.gz /usr/share/man/man1/unterm.1.gz
fi
END
    cat >"$work/files/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
    update-alternatives --remove x-terminal-emulator /usr/bin/unterm
fi
END
    chmod 755 "$work/files/DEBIAN/postinst" "$work/files/DEBIAN/prerm"
    (cd "$work/files" && find usr -type f -printf '%P\0' | sort -z | (cd usr && xargs -0 md5sum) | sed 's,  ,  usr/,') \
        >"$work/files/DEBIAN/md5sums"
    find "$work/files" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$work/files" "$file" >&2
    rm -rf "$work"
    printf '%s\n' "$file"
}

# deb_linked WORK FIELD PROGRAM…: the packages whose libraries programs link.
deb_linked() {
    local work=$1 field=$2
    shift 2
    (cd "$work" && dpkg-shlibdeps -O "-d$field" "${@/#/files/usr/bin/}") | sed -n "s/^shlibs:$field=//p"
}

# deb_changelog VERSION: Debian's form of a changelog. What changed is in Unterm's own, changelog.gz.
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
    # A blank line of the text is a dot.
    sed '/^MIT License/d; /^Copyright/d' LICENSE | sed '/./,$!d; s/^$/./; s/^/ /'
}

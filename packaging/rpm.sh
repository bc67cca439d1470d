# Sourced by `release`: packs the tree as an RPM package.
# shellcheck shell=bash

# make_rpm NAME TREE VERSION OUT: prints the path of the package that it writes to OUT.
make_rpm() {
    local name=$1 tree=$2 version=$3 out=$4 work machine
    work=$(mktemp -d)
    machine=$(uname -m)
    {
        # An RPM version must not contain a dash.
        printf 'Name: %s\nVersion: %s\nRelease: 1\nLicense: MIT\n' "$name" "${version//-/\~}"
        "rpm_head_${name//-/_}" "${version//-/\~}"
        cat <<END

%install
mkdir -p %{buildroot}/usr
cp -a $tree/bin $tree/share %{buildroot}/usr/

%files
END
    } >"$work/unterm.spec"
    # List only files, because other packages own the folders.
    (cd "$tree" && find bin share ! -type d | sort | sed 's,^,/usr/,; s,^/usr/share/doc/,%doc &,') >>"$work/unterm.spec"
    sed -i 's,%doc /usr/share/doc/\(.*/LICEN.*\)$,%license /usr/share/doc/\1,' "$work/unterm.spec"
    (cd "$tree" && find share -type d \( -path 'share/unterm*' -o -path 'share/doc/unterm*' \) | sort | sed 's,^,%dir /usr/,') >>"$work/unterm.spec"
    # Set the build time and host name to fixed values. Ignore the libraries of unterm-capture, because only that
    # program needs them.
    rpmbuild -bb --quiet --target "$machine" --define "_topdir $work" --define "_rpmdir $work/out" \
        --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "__os_install_post %{nil}" --define "debug_package %{nil}" \
        --define "__requires_exclude_from ^/usr/bin/unterm-capture$" --define "_build_id_links none" \
        --define "_binary_payload w12.zstdio" "$work/unterm.spec" >&2
    mv "$work"/out/*.rpm "$out/"
    printf '%s\n' "$out/$name-${version//-/\~}-1.$machine.rpm"
    rm -rf "$work"
}

# rpm_head_NAME VERSION: the fields that differ between the packages.
rpm_head_unterm() {
    cat <<'END'
Summary: Terminal whose every pane an agent can drive
# The window opens these libraries when it starts. rpmbuild finds the libraries that the programs link.
Requires: libX11.so.6()(64bit), libxkbcommon.so.0()(64bit), libwayland-client.so.0()(64bit)
Recommends: libXcursor.so.1()(64bit), libXi.so.6()(64bit), libxkbcommon-x11.so.0()(64bit), xdg-utils

%description
Unterm is a GPU terminal with tabs, splits, search, copy mode and a command
palette. Scripts and agents use the same panes: they open one, run a command,
wait for its end, and read the screen as text. The user sees what they do and
approves what they change.
END
}

rpm_head_unterm_fleet() {
    cat <<END
Summary: Panes of many machines through one hub, for agents
Requires: unterm >= $1

%description
unterm-hub offers the panes of several machines to agents through one address.
People approve in its dashboard what agents do, watch any pane and stop
everything. unterm-connect connects a machine to a hub.
END
}

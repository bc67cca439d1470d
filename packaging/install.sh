#!/bin/sh
# Installs Unterm from this unpacked archive for one user. Needs no root.
#
#   ./install.sh [PREFIX]            installs below PREFIX (default: ~/.local)
#   ./install.sh --remove [PREFIX]   removes what was installed there
#
# The list of installed files is PREFIX/share/doc/unterm/installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
remove=no
if [ "${1:-}" = --remove ]; then
    remove=yes
    shift
fi
prefix=${1:-$HOME/.local}
list=$prefix/share/doc/unterm/installed

# Removes the files in the list, and folders that are then empty. Settings in ~/.unterm are kept.
remove_old() {
    [ -f "$list" ] || return 0
    while IFS= read -r file; do
        rm -f "$prefix/$file"
        folder=$(dirname "$file")
        while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do
            folder=$(dirname "$folder")
        done
    done <"$list"
    rm -f "$list"
    (cd "$prefix" && rmdir -p share/doc/unterm 2>/dev/null) || :
}

if [ $remove = yes ]; then
    [ -f "$list" ] || { echo "Unterm is not installed below $prefix: $list is missing" >&2; exit 1; }
    remove_old
    echo "Removed Unterm from $prefix. Your settings in ~/.unterm are still there."
    exit 0
fi

# A running Unterm continues with its old program, because new files replace names instead of contents.
remove_old
cd "$here"
mkdir -p "$(dirname "$list")"
rm -f "$list.new"
find bin share ! -type d | sort | while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    cp -pP "$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
    printf '%s\n' "$file" >>"$list.new"
done
mv "$list.new" "$list"
echo "Installed Unterm in $prefix/bin."
case :$PATH: in
*:$prefix/bin:*) ;;
*) echo "Add $prefix/bin to your PATH." ;;
esac

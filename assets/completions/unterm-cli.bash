# Completions of unterm-cli for bash.
_unterm_cli() {
    local IFS=$'\n'
    COMPREPLY=($(unterm-cli complete --shell bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _unterm_cli unterm-cli

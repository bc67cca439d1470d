#compdef unterm-cli
# Completions of unterm-cli for zsh.
_unterm_cli() {
    local -a candidates
    candidates=("${(@f)$(unterm-cli complete --shell zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${candidates[1]} ]]; then
        _describe -V unterm-cli candidates
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _unterm_cli || ${funcstack[1]} == _unterm-cli ]]; then
    _unterm_cli "$@"
else
    compdef _unterm_cli unterm-cli
fi

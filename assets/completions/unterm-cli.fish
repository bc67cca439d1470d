# Completions of unterm-cli for fish.
function __unterm_cli_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l candidates (unterm-cli complete --shell fish -- $words[2..] "$current" 2>/dev/null)
    if set -q candidates[1]
        printf '%s\n' $candidates
    else
        __fish_complete_path "$current"
    end
end
complete -c unterm-cli -f -a '(__unterm_cli_complete)'

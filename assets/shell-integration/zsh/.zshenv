# zsh reads this file because Unterm has set ZDOTDIR to this folder. It restores the user's ZDOTDIR, reads the user's
# .zshenv, and loads the integration, which waits for the first prompt.

# The nonce of marks is in a file. The file is emptied before any other program runs, so that no environment contains
# the nonce.
if [[ -n ${UNTERM_NONCE_FILE-} ]]; then
    {
        'builtin' 'read' -r _unterm_nonce <"$UNTERM_NONCE_FILE"
        'builtin' 'print' -rn -- '' >|"$UNTERM_NONCE_FILE"
    } 2>/dev/null
    'builtin' 'typeset' -g +x _unterm_nonce
    'builtin' 'unset' UNTERM_NONCE_FILE
fi
if [[ -n ${UNTERM_ZDOTDIR+x} ]]; then
    'builtin' 'export' ZDOTDIR="$UNTERM_ZDOTDIR"
    'builtin' 'unset' UNTERM_ZDOTDIR
else
    'builtin' 'unset' ZDOTDIR
fi
{
    if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
        'builtin' 'source' "${ZDOTDIR-$HOME}/.zshenv"
    fi
} always {
    # Never compare the nonce itself, because traces (`setopt xtrace`) show the compared texts.
    if [[ -o 'interactive' && -n ${_unterm_nonce:+1} ]]; then
        'builtin' 'source' "${${(%):-%x}:A:h}/unterm.zsh"
    fi
}

# Read by a zsh that Unterm started, since ZDOTDIR names this folder: gives the person's ZDOTDIR back, reads the person's
# .zshenv, and loads the integration, which waits for the first prompt.

# The nonce of marks comes in a file that is emptied before any other program runs, so that no environment holds it.
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
    # Traces (`setopt xtrace`) show what is compared: not the nonce.
    if [[ -o 'interactive' && -n ${_unterm_nonce:+1} ]]; then
        'builtin' 'source' "${${(%):-%x}:A:h}/unterm.zsh"
    fi
}

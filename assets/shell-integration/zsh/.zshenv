# Read by a zsh that Unterm started, since ZDOTDIR names this folder: gives the person's ZDOTDIR back, reads the person's
# .zshenv, and loads the integration, which waits for the first prompt.

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
    if [[ -o 'interactive' && -n ${UNTERM_NONCE-} ]]; then
        'builtin' 'source' "${${(%):-%x}:A:h}/unterm.zsh"
    fi
}

# Unterm's shell integration for bash: marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E), and
# reports the working directory (OSC 7). Unterm has bash read this file instead of its own start-up files, by POSIX mode
# and $ENV, and this file then reads those. Changes no file.

# Marks carry a nonce, by which Unterm knows them from what other programs print. It comes in a file that is emptied before
# any other program runs: no environment holds it, neither a child's nor this shell's own (/proc/PID/environ).
if [ -n "${UNTERM_NONCE_FILE-}" ]; then
    {
        builtin read -r _unterm_nonce <"$UNTERM_NONCE_FILE"
        builtin printf '' >|"$UNTERM_NONCE_FILE"
    } 2>/dev/null
    builtin export -n _unterm_nonce
    builtin unset UNTERM_NONCE_FILE
fi

if [ -n "${UNTERM_BASH_INJECT-}" ]; then
    builtin unset UNTERM_BASH_INJECT POSIXLY_CORRECT ENV
    builtin set +o posix
    builtin shopt -u inherit_errexit 2>/dev/null
    if [ -n "${UNTERM_BASH_ENV-}" ]; then
        builtin export ENV="$UNTERM_BASH_ENV"
    fi
    builtin unset UNTERM_BASH_ENV
    # POSIX mode has another default.
    if [ "${HISTFILE-}" = "$HOME/.sh_history" ]; then HISTFILE=$HOME/.bash_history; fi
    if builtin shopt -q login_shell; then
        if [ -r /etc/profile ]; then . /etc/profile; fi
        for _unterm_file in "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.profile"; do
            if [ -r "$_unterm_file" ]; then . "$_unterm_file"; break; fi
        done
    else
        for _unterm_file in /etc/bash.bashrc /etc/bash/bashrc /etc/bashrc; do
            if [ -r "$_unterm_file" ]; then . "$_unterm_file"; break; fi
        done
        if [ -r "$HOME/.bashrc" ]; then . "$HOME/.bashrc"; fi
    fi
    builtin unset _unterm_file
fi

# Once in each interactive shell of a pane. Older versions can't tell when a command starts without a trap. Traces (`set -x`)
# show what is compared, so the nonce itself never is.
if [[ $- != *i* || -z ${_unterm_nonce:+1} || -n ${_unterm_on-} ]] \
    || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    builtin return 0
fi

# What follows is not traced either.
_unterm_traces=
if [[ $- == *x* ]]; then { _unterm_traces=1 && builtin set +x; } 2>/dev/null; fi

_unterm_on=1
_unterm_ran=0
_unterm_status=
_unterm_next=0
# A person may export PS1, so it holds no nonce: that of a prompt's beginning is printed before it.
_unterm_a='\[\e]133;A;cl=m;redraw=last\a\]'
# The arithmetic keeps the number that the history will give to what is typed now.
_unterm_b='\[\e]133;B\a${_unterm_on:$((_unterm_next = \!, 0)):0}\]'
_unterm_a2='\[\e]133;A;k=s\a\]'
_unterm_b2='\[\e]133;B\a\]'

# PS0: the command line, where the history has it (OSC 633 E), and the beginning of its output (OSC 133 C). A child would
# take most of the time that marks take, so all but `history` is done by expansions, in steps. A value that is only to be
# kept is named as a prefix that `1` does not have; `1` from its first place on is then nothing.
_unterm_keep() { _unterm_c+='${_unterm_on:${_unterm_on#"${_unterm_line['$1']:='$2'}"x}}'; }
_unterm_history() { HISTTIMEFORMAT='' builtin history 1; }
_unterm_if=([1]=1)
_unterm_line=()
_unterm_plain=('\' ';' $'\n' $'\t')
_unterm_coded=('\\' '\x3b' '\x0a' '\x09')
_unterm_c=
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 503)); then
    # In this shell. What it is called with is `$_` from then on, so that it stays what it was.
    _unterm_keep 0 '${ _unterm_history "$_"; }'
else
    _unterm_keep 0 '$(_unterm_history)'
fi
# `history` says `  12  echo`, and has a star behind the number of a line that was edited.
_unterm_keep 1 '${_unterm_line[0]#*"$_unterm_next"[ *] }'
for _unterm_step in 0 1 2 3; do
    _unterm_pair='"${_unterm_plain['$_unterm_step']}"/"${_unterm_coded['$_unterm_step']}"'
    _unterm_keep $((_unterm_step + 2)) '${_unterm_line['$((_unterm_step + 1))']//'$_unterm_pair'}'
done
_unterm_c+='\e]633;E;${_unterm_line[5]//[[:cntrl:]]/};${_unterm_nonce}\a'
# One that the history leaves out (HISTCONTROL, HISTIGNORE, `set +o history`) is not the last one there. Where no prompt has
# been since the last command, what was kept is that one's.
_unterm_c='${_unterm_if[_unterm_ran == 0 && HISTCMD == _unterm_next + 1]:+'$_unterm_c'}'
_unterm_c+='\e]133;C;nonce=${_unterm_nonce}\a${_unterm_on:$((_unterm_ran = 1))}'
builtin unset -f _unterm_keep
builtin unset _unterm_step _unterm_pair

# What Unterm types for `run` has two blanks before it and three behind, and is no part of the history.
_unterm_typed='  [! ]*   '

# Marks of text alone. With `promptvars` off nothing is expanded in prompts, and what was to be would be shown.
_unterm_is_text=0
_unterm_other_b='\[\e]133;B\a\]'
_unterm_other_c='\e]133;C;nonce='$_unterm_nonce'\a'
builtin export -n _unterm_other_c
# The number of the command that comes, where PS0 does not keep that one ran.
_unterm_number=

# The prompts lose the marks they have, and get the other ones.
_unterm_swap() {
    local b=$_unterm_b c=$_unterm_c
    PS1=${PS1/"$_unterm_a"/}
    PS1=${PS1/"$b"/}
    PS0=${PS0-}
    PS0=${PS0/"$c"/}
    _unterm_b=$_unterm_other_b _unterm_c=$_unterm_other_c
    _unterm_other_b=$b _unterm_other_c=$c
    builtin export -n _unterm_c _unterm_other_c
}

# Variables that a caller of the control port set for this pane; the file says which are new.
_unterm_variables() {
    if [[ -n ${UNTERM_VARIABLES-} && -O $UNTERM_VARIABLES.sh ]]; then . "$UNTERM_VARIABLES.sh" 2>/dev/null; fi
}

# Before the person's own PROMPT_COMMAND, where that is one string: it would change $?.
_unterm_before() {
    _unterm_status=$?
    builtin return "$_unterm_status"
}

# Behind the person's own PROMPT_COMMAND, which may have made another prompt.
_unterm_after() {
    # Without traces, which would show the nonce.
    { local status=$? number='\#' is_text=0 - && builtin set +x; } 2>/dev/null
    status=${_unterm_status:-$status}
    _unterm_status=
    number=${number@P}
    # Before the command's end: a caller that waits for the end asks for the directory next.
    builtin printf '\e]7;kitty-shell-cwd://%s%s\a' "$HOSTNAME" "$PWD"
    if ((_unterm_ran)) || [[ -n $_unterm_number && $number != "$_unterm_number" ]]; then
        builtin printf '\e]133;D;%s;nonce=%s\a' "$status" "$_unterm_nonce"
    fi
    _unterm_ran=0
    _unterm_line=()
    _unterm_variables
    # How it is told of new ones while the prompt waits, by the one harmless signal that readline acts on at once. It also
    # ends a `wait` when the window is resized, so only where callers set variables. A trap of the person's own stays.
    if [[ -z ${_unterm_trap-} && -n ${UNTERM_DRIVEN-}${UNTERM_VARIABLES_SEEN-} ]]; then
        _unterm_trap=1
        if [[ -z $(builtin trap -p WINCH) ]]; then builtin trap _unterm_variables WINCH; fi
    fi
    if [[ ${HISTIGNORE-} != *"$_unterm_typed"* && ${HISTIGNORE+${HISTIGNORE@a}} != *r* ]]; then
        HISTIGNORE=${HISTIGNORE:+$HISTIGNORE:}$_unterm_typed
    fi
    if ! builtin shopt -q promptvars; then is_text=1; fi
    if ((is_text != _unterm_is_text)); then _unterm_swap; fi
    _unterm_is_text=$is_text
    _unterm_number=
    if ((is_text)); then
        _unterm_number=$number
        # The nonce stands in it.
        builtin export -n PS0
    fi
    # A key that ends a search and vi's command mode and empties the line. Unterm types it before a command. Bound at the
    # first prompt, after the person's own bindings.
    if [[ -z ${_unterm_bound-} && ( -o emacs || -o vi ) ]]; then
        _unterm_bound=1
        builtin bind -m emacs '"\C-^\C-_": kill-whole-line'
        builtin bind -m vi-insert '"\C-^\C-_": kill-whole-line'
        builtin bind -m vi-command '"\C-^\C-_": vi-insertion-mode'
    fi
    local reset=
    if [[ -n ${_unterm_bound-} && ( -o emacs || -o vi ) ]]; then reset=';reset_key=1'; fi
    builtin printf '\e]133;A;cl=m;redraw=last%s;nonce=%s\a' "$reset" "$_unterm_nonce"
    if [[ $PS1 != *"$_unterm_a"* ]]; then PS1=$_unterm_a$PS1$_unterm_b; fi
    if [[ $PS2 != *"$_unterm_a2"* ]]; then PS2=$_unterm_a2$PS2$_unterm_b2; fi
    if [[ ${PS0-} != *"$_unterm_c"* ]]; then PS0=${PS0-}$_unterm_c; fi
    builtin return "$status"
}

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    # Each element sees the command's own exit code.
    PROMPT_COMMAND+=(_unterm_after)
else
    PROMPT_COMMAND=$'_unterm_before\n'${PROMPT_COMMAND-}$'\n_unterm_after'
fi

# A shell started by its name gets the integration too.
_unterm_shell() {
    local name=$1 arg
    builtin shift
    for arg in "$@"; do
        case $arg in
        -l | -i | -il | -li | --login | --interactive) ;;
        *)
            builtin command "$name" "$@"
            builtin return
            ;;
        esac
    done
    local data=${XDG_DATA_DIRS:-/usr/local/share:/usr/share} folder=$UNTERM_SHELL_INTEGRATION
    local file=$folder/nonces/$$-$RANDOM status=0
    (
        builtin set +x
        builtin umask 077
        command mkdir -p "$folder/nonces"
        builtin printf '%s\n' "$_unterm_nonce" >|"$file"
    ) 2>/dev/null || :
    # By env(1): an assignment here would put this shell into POSIX mode.
    case $name in
    bash)
        command env UNTERM_NONCE_FILE="$file" UNTERM_BASH_INJECT=1 UNTERM_BASH_ENV="${ENV-}" POSIXLY_CORRECT=1 \
            ENV="$folder/bash/unterm.bash" bash "$@" || status=$?
        ;;
    zsh)
        command env UNTERM_NONCE_FILE="$file" ${ZDOTDIR+"UNTERM_ZDOTDIR=$ZDOTDIR"} \
            ZDOTDIR="$folder/zsh" zsh "$@" || status=$?
        ;;
    *)
        command env UNTERM_NONCE_FILE="$file" XDG_DATA_DIRS="$folder:$data" "$name" "$@" || status=$?
        ;;
    esac
    command rm -f -- "$file"
    builtin return "$status"
}
if [[ -d ${UNTERM_SHELL_INTEGRATION-} ]]; then
    for _unterm_name in bash zsh fish nu; do
        if [[ $(builtin type -t "$_unterm_name") == file ]]; then
            builtin eval "$_unterm_name() { _unterm_shell $_unterm_name \"\$@\"; }"
        fi
    done
    builtin unset _unterm_name
fi

if [[ -n $_unterm_traces ]]; then
    builtin unset _unterm_traces
    builtin set -x
else
    builtin unset _unterm_traces
fi

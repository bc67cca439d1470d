# Unterm's shell integration for bash: marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E), and
# reports the working directory (OSC 7). Unterm has bash read this file instead of its own start-up files, by POSIX mode
# and $ENV, and this file then reads those. Changes no file.
#
# Users change PROMPT_COMMAND and the prompts at any moment. Marks need one of these at a prompt: our element of PROMPT_COMMAND,
# which no assignment to `$PROMPT_COMMAND` reaches since bash 5.1, or our part of PS1. If one line removes both, that prompt has
# no marks; PS0 then restores them with the next command. If PS0 is gone too, or `promptvars` is off, they stay lost: call
# `_unterm_again`, which prints nothing and returns the `$?` that it was called with.

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
# A command ran and its end is not reported yet.
_unterm_ran=0
# `_unterm_before` reported the command's end in this run of PROMPT_COMMAND.
_unterm_early=0
# The mark of this prompt is printed. Reset when bash expands our part of PS1.
_unterm_told=0
_unterm_next=0
_unterm_turn=0
_unterm_pwd=
_unterm_version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))
# The index of our element of PROMPT_COMMAND. What assigns or reads `$PROMPT_COMMAND` reaches element 0 alone.
_unterm_at=0
if ((_unterm_version >= 501)); then _unterm_at=1000; fi
# `_unterm_if[condition]` is set if the condition holds.
_unterm_if=([1]=1)
# The person made PROMPT_COMMAND read-only before.
_unterm_fixed=0

# The marks in prompts: the first of each kind where bash expands prompts, the second where it does not (`promptvars` is off).
# An expansion can change variables, but run commands only in a child. It is silent in a shell that got an exported PS1.
#
# PS1 holds no nonce, since a person may export it. Its first part marks a prompt that is drawn. If no element of ours was in
# PROMPT_COMMAND, or could not trust its `$?`, that part reports the command's end and the prompt too, in a child: in PS1,
# `$?` is always the command's.
_unterm_a=([1]='\e]133;P;k=i;cl=m;redraw=last\a\]')
_unterm_a[0]='\[${_unterm_if[${_unterm_told-1} == 0]:+$(case 1 in (1) _unterm_late "$?" ;; esac 2>/dev/null)}'${_unterm_a[1]}
_unterm_a[1]='\['${_unterm_a[1]}
# The arithmetic keeps the number that the history will give to what is typed now.
_unterm_b=('\[\e]133;B\a${_unterm_if[_unterm_next = \!, _unterm_told = _unterm_early = _unterm_ran = 0]:+}'
    '\[\e]133;B\a\]')
_unterm_a2='\[\e]133;A;k=s\a\]'
_unterm_b2='\[\e]133;B\a\]'

# PS0: the command line, where the history has it (OSC 633 E), and the beginning of its output (OSC 133 C). A child would
# take most of the time that marks take, so all but `history` is done by expansions, in steps. A value that is only to be
# kept is named as a prefix that `1` does not have; `1` from its first place on is then nothing.
_unterm_keep() { _unterm_step='${_unterm_on:${_unterm_on#"${'$1':='$2'}"x}}'; }
_unterm_history() { HISTTIMEFORMAT='' builtin history 1; }
_unterm_line=()
_unterm_plain=('\' ';' $'\n' $'\t')
_unterm_coded=('\\' '\x3b' '\x0a' '\x09')
_unterm_steps=
if ((_unterm_version >= 503)); then
    # In this shell. What it is called with is `$_` from then on, so that it stays what it was.
    _unterm_keep '_unterm_line[_unterm_turn]' '${ case 1 in (1) _unterm_history "$_" ;; esac 2>/dev/null; }'
else
    _unterm_keep '_unterm_line[_unterm_turn]' '$(case 1 in (1) _unterm_history ;; esac 2>/dev/null)'
fi
_unterm_steps+=$_unterm_step
# `history` says `  12  echo`, and has a star behind the number of a line that was edited.
_unterm_keep '_unterm_line[_unterm_turn + 1]' '${_unterm_line[_unterm_turn]#*"$_unterm_next"[ *] }'
_unterm_steps+=$_unterm_step
for _unterm_index in 0 1 2 3; do
    _unterm_pair='"${_unterm_plain['$_unterm_index']}"/"${_unterm_coded['$_unterm_index']}"'
    _unterm_keep "_unterm_line[_unterm_turn + $((_unterm_index + 2))]" \
        '${_unterm_line[_unterm_turn + '$((_unterm_index + 1))']//'$_unterm_pair'}'
    _unterm_steps+=$_unterm_step
done
_unterm_steps+='\e]633;E;${_unterm_line[_unterm_turn + 5]//[[:cntrl:]]/};${_unterm_nonce}\a'
# One that the history leaves out (HISTCONTROL, HISTIGNORE, `set +o history`) is not the last one there. Where no prompt has
# been since the last command, what was kept is that one's.
_unterm_c=('${_unterm_if[${_unterm_ran-1} == 0 && HISTCMD == _unterm_next + 1]:+'"$_unterm_steps"'}'
    '\e]133;C;nonce='"$_unterm_nonce"'\a')
# Another line was read since the last command, whose end nothing of ours reported.
_unterm_c[0]+='${_unterm_if[${_unterm_ran-0} == 1 && HISTCMD > _unterm_next + 1]:+\e]133;D;;nonce=${_unterm_nonce}\a}'
_unterm_c[0]+='\e]133;C;nonce=${_unterm_nonce-}\a'
_unterm_c[0]+='${_unterm_if[_unterm_ran = 1, _unterm_turn = ${_unterm_turn-0} + 6, 0]:+}'
# PS0 and PS1 put our element back into PROMPT_COMMAND; before bash 5.1, only into an empty one.
_unterm_keep 'PROMPT_COMMAND[_unterm_at]' _unterm_after
_unterm_step='${_unterm_if[${_unterm_fixed-1} == 0]:+'$_unterm_step'}'
_unterm_b[0]+=$_unterm_step
_unterm_c[0]+=$_unterm_step
_unterm_b[0]+='\]'
builtin unset -f _unterm_keep
builtin unset _unterm_index _unterm_pair _unterm_step _unterm_steps

# What Unterm types for `run` has two blanks before it and three behind, and is no part of the history.
_unterm_typed='  [! ]*   '

# The number of the command that comes, where PS0 does not keep that one ran.
_unterm_number=

# Variables that a caller of the control port set for this pane; the file says which are new.
_unterm_variables() {
    if [[ -n ${UNTERM_VARIABLES-} && -O $UNTERM_VARIABLES.sh ]]; then . "$UNTERM_VARIABLES.sh" 2>/dev/null; fi
}

# Prints to the terminal, wherever the person has redirected this shell's output.
_unterm_print() {
    if [[ -t 1 ]]; then builtin printf '%s' "$1"; else builtin printf '%s' "$1" >/dev/tty; fi
}

# Reports the end of the command, if one ran, with this exit code, and begins a new row if its output did not end with one.
_unterm_end() {
    local number='\#' text=
    _unterm_pwd=$PWD
    # Before the command's end: a caller that waits for the end asks for the directory next.
    builtin printf -v text '\e]7;kitty-shell-cwd://%s%s\a' "$HOSTNAME" "$PWD"
    if ((_unterm_ran)) || [[ -n $_unterm_number && ${number@P} != "$_unterm_number" ]]; then
        builtin printf -v text '%s\e]133;D;%s;nonce=%s\a\e]133;L\a' "$text" "$1" "$_unterm_nonce"
    fi
    _unterm_ran=0
    _unterm_number=
    _unterm_print "$text"
}

# Reports that a prompt begins here. It begins no row: what PROMPT_COMMAND printed stands before it.
_unterm_ask() {
    local text= reset=
    if [[ $PWD != "$_unterm_pwd" ]]; then
        builtin printf -v text '\e]7;kitty-shell-cwd://%s%s\a' "$HOSTNAME" "$PWD"
    fi
    if [[ -n ${_unterm_bound-} && ( -o emacs || -o vi ) ]]; then reset=';reset_key=1'; fi
    # The nonce says that PS0 will mark the command.
    if [[ ${PS0-} == *"${_unterm_c[0]}"* || ${PS0-} == *"${_unterm_c[1]}"* ]]; then reset+=";nonce=$_unterm_nonce"; fi
    _unterm_print "$text"$'\e]133;P;k=i;cl=m;redraw=last'"$reset"$'\a'
}

# In a child, from PS1.
_unterm_late() {
    builtin set +x
    {
        _unterm_end "$1"
        _unterm_ask
    } >/dev/tty
}

# At the beginning of element 0, if the person has elements: what these print is not the command's output. `$?` is the
# command's only if nothing ran before.
_unterm_before() {
    { local status=$? pipe=("${PIPESTATUS[@]}") IFS= - && builtin set +x; } 2>/dev/null
    # The person's elements see PIPESTATUS too. Only a pipeline sets it. With `set -e`, it would end the shell.
    builtin unalias _unterm_pipe 2>/dev/null || :
    if [[ ${#pipe[@]} != 1 && $- != *e* ]]; then
        builtin printf -v pipe ' | (exit %s)' "${pipe[@]}"
        builtin alias _unterm_pipe="${pipe# | }"
    fi
    if [[ ${#FUNCNAME[@]} == 1 && "${PROMPT_COMMAND[*]-}" == $'_unterm_before\n'* && $_unterm_early == 0 ]]; then
        _unterm_early=1
        _unterm_end "$status"
    fi
    if [[ $- == *e* ]]; then builtin return 0; fi
    builtin return "$status"
}

# After `_unterm_before`: a pipeline with the exit codes of the command's, or this.
_unterm_pipe() { builtin return "$?"; }

# The last element, since others make prompts.
_unterm_after() {
    { local status=$? IFS= is_text=0 all - && builtin set +x; } 2>/dev/null
    if ! builtin shopt -q promptvars; then is_text=1; fi
    all=${PROMPT_COMMAND[*]-}
    # Since bash 5.1, each element sees the command's exit code; a part of one may not.
    if [[ $_unterm_early == 1 ]]; then
        :
    elif [[ ${#FUNCNAME[@]} == 1 && ( $all == _unterm_after || $_unterm_version -ge 501 \
        && ${PROMPT_COMMAND[_unterm_at]-} == _unterm_after && $all != *_unterm_after*_unterm_after* ) ]]; then
        _unterm_end "$status"
    elif ((is_text)); then
        _unterm_end ''
    else
        # PS1 does it.
        _unterm_again "$is_text" || :
        builtin return 0
    fi
    _unterm_line=()
    _unterm_turn=0
    _unterm_variables
    _unterm_follow
    # A key that ends a search and vi's command mode and empties the line. Unterm types it before a command. Bound at the
    # first prompt, after the person's own bindings.
    if [[ -z ${_unterm_bound-} && ( -o emacs || -o vi ) ]]; then
        _unterm_bound=1
        builtin bind -m emacs '"\C-^\C-_": kill-whole-line'
        # A terminal's reply that its program never read (DCS) would begin a search that no key but Ctrl+G ends.
        builtin bind -m emacs -x '"\eP": { _unterm_skip; } 2>/dev/null'
        builtin bind -m vi-insert '"\C-^\C-_": kill-whole-line'
        # A macro, since an operator that waits for a motion has used up the first of the two keys.
        builtin bind -m vi-command '"\C-^\C-_": "i\C-^\C-_"'
    fi
    _unterm_again "$is_text" || :
    _unterm_ask
    if ((is_text)); then
        _unterm_number='\#'
        _unterm_number=${_unterm_number@P}
    fi
    _unterm_told=1
    _unterm_early=0
    builtin return 0
}

# Skips a string of control to its end, ESC and a backslash.
_unterm_skip() {
    local rest
    builtin read -rs -t 0.1 -d '\' rest || :
}

# How this shell is told of new variables while its prompt waits, by the one harmless signal that readline acts on at once. It
# also ends a `wait` when the window is resized, so only where callers set variables. A trap of the person's own stays.
_unterm_follow() {
    if [[ -n ${UNTERM_DRIVEN-}${UNTERM_VARIABLES_SEEN-} && -z $(builtin trap -p WINCH) ]]; then
        builtin trap '{ _unterm_variables; } 2>/dev/null' WINCH
    fi
}

# Aliases run the functions without traces (`set -x`), which are output of the command until its end is reported, and would
# show the nonce. Where they are lost, the functions do the same.
_unterm_aliases=([0]=$'{ _unterm_before; } 2>/dev/null\n{ _unterm_pipe; } 2>/dev/null' [1]='{ _unterm_after; } 2>/dev/null')

# Puts all of this back where it was lost: our parts of PROMPT_COMMAND, PS0, PS1, PS2 and HISTIGNORE. Compares each with what it
# was left as: `test` is fast.
_unterm_left=(- - - -)
_unterm_again() {
    { local status=$? IFS= is_text=${1-} - && builtin set +x; } 2>/dev/null
    if [[ -z $is_text ]]; then
        is_text=0
        if ! builtin shopt -q promptvars; then is_text=1; fi
    fi
    if ((! _unterm_fixed)) && { ((_unterm_told)) || ! builtin test "${PROMPT_COMMAND[*]-}" = "${_unterm_left[3]-}"; }; then
        _unterm_place
        _unterm_left[3]=${PROMPT_COMMAND[*]}
    fi
    if ! builtin test "$is_text${PS0-}" = "${_unterm_left[0]-}" && [[ ${PS0+${PS0@a}} != *r* ]]; then
        _unterm_strip PS0 "${_unterm_c[@]}"
        PS0+=${_unterm_c[is_text]}
        # The nonce stands in it.
        if ((is_text)); then builtin export -n PS0; fi
        _unterm_left[0]=$is_text$PS0
    fi
    if ! builtin test "$is_text${PS1-}" = "${_unterm_left[1]-}" && [[ ${PS1+${PS1@a}} != *r* ]]; then
        _unterm_strip PS1 "${_unterm_a[@]}" "${_unterm_b[@]}"
        PS1=${_unterm_a[is_text]}$PS1${_unterm_b[is_text]}
        _unterm_left[1]=$is_text$PS1
    fi
    if ! builtin test "${PS2-}" = "${_unterm_left[2]-}" && [[ ${PS2+${PS2@a}} != *r* ]]; then
        _unterm_strip PS2 "$_unterm_a2" "$_unterm_b2"
        PS2=$_unterm_a2$PS2$_unterm_b2
        _unterm_left[2]=$PS2
    fi
    if [[ ${HISTIGNORE-} != *"$_unterm_typed"* && ${HISTIGNORE+${HISTIGNORE@a}} != *r* ]]; then
        HISTIGNORE=${HISTIGNORE:+$HISTIGNORE:}$_unterm_typed
    fi
    if [[ -z ${BASH_ALIASES[_unterm_after]-} || -z ${BASH_ALIASES[_unterm_before]-} ]]; then
        builtin alias "_unterm_before=${_unterm_aliases[0]}" "_unterm_after=${_unterm_aliases[1]}"
    fi
    builtin return "$status"
}

# Takes our parts out of a prompt.
_unterm_strip() {
    local name=$1 text=${!1-} part
    builtin shift
    if [[ $text == *']133;'* ]]; then
        for part in "$@"; do text=${text//"$part"/}; done
    fi
    builtin printf -v "$name" '%s' "$text"
}

# PROMPT_COMMAND is what the person made it, with `_unterm_after` as the last element and, if there are others,
# `_unterm_before` at the beginning of the first. Before bash 5.1, all stand in one string.
_unterm_place() {
    local all index indices text last=$_unterm_at
    if ((_unterm_version >= 501)); then
        indices=("${!PROMPT_COMMAND[@]}")
        if ((${#indices[@]})); then last=${indices[-1]}; fi
        # The last prompt was not ours although we made it: what comes behind us makes another.
        if ((last > _unterm_at && _unterm_told && ! is_text)); then
            PROMPT_COMMAND[_unterm_at]=
            _unterm_at=$((last + 1))
        fi
        all=${PROMPT_COMMAND[*]-}
        if [[ ${PROMPT_COMMAND[_unterm_at]-} == _unterm_after && $all != *_unterm_after*_unterm_after*
            && ( $all == _unterm_after
            || $all == $'_unterm_before\n'* && $all != *_unterm_before*_unterm_before* ) ]]; then
            builtin return 0
        fi
    else
        indices=(0)
        all=${PROMPT_COMMAND-}
        if [[ $all == $'_unterm_before\n'*$'\n_unterm_after' && $all != *_unterm_after*_unterm_after*
            && $all != *_unterm_before*_unterm_before* || $all == _unterm_after ]]; then
            builtin return 0
        fi
    fi
    for index in "${indices[@]}"; do
        if ((index == _unterm_at && _unterm_at)); then continue; fi
        text=${PROMPT_COMMAND[index]-}
        if [[ $text == _unterm_after ]]; then text=; fi
        text=${text//$'_unterm_before\n'/}
        text=${text//_unterm_before/:}
        text=${text//[$' \n;']_unterm_after/}
        PROMPT_COMMAND[index]=${text//_unterm_after/:}
    done
    if ((_unterm_at)); then
        PROMPT_COMMAND[_unterm_at]=
        if [[ -n ${PROMPT_COMMAND[*]} ]]; then
            PROMPT_COMMAND[0]=$'_unterm_before\n'${PROMPT_COMMAND[0]-}
        fi
        PROMPT_COMMAND[_unterm_at]=_unterm_after
    elif [[ $PROMPT_COMMAND == *[![:space:]]* ]]; then
        PROMPT_COMMAND=$'_unterm_before\n'$PROMPT_COMMAND$'\n_unterm_after'
    else
        PROMPT_COMMAND=_unterm_after
    fi
}

if [[ ${PROMPT_COMMAND+${PROMPT_COMMAND[@]@a}} == *r* ]]; then _unterm_fixed=1; fi
_unterm_again

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

# Unterm's shell integration for bash. Marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E), and
# reports the working directory (OSC 7). Unterm starts bash in POSIX mode with $ENV set to this file, so that bash reads
# this file instead of its own startup files. This file then reads those. It changes no file.
#
# Users can change PROMPT_COMMAND and the prompts at any time. Marks need one of two parts at a prompt: Unterm's element
# of PROMPT_COMMAND or Unterm's part of PS1. Since bash 5.1, no assignment to `$PROMPT_COMMAND` changes the element. If
# one line removes both parts, the next prompt has no marks, and PS0 restores them with the next command. If PS0 is gone
# too, or `promptvars` is off, the marks stay lost. To restore them, call `_unterm_again`, as lines that Unterm types into
# such a shell do: it shows nothing and returns the `$?` with which it was called.

# Marks contain a nonce, by which Unterm distinguishes them from the output of other programs. bash reads the nonce from
# a file, and empties the file before any other program runs. So no environment contains the nonce: neither a child's
# nor this shell's own (/proc/PID/environ).
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
    # In POSIX mode, the default of HISTFILE is another file.
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
    # The rest of this file is parsed without the user's aliases, which may replace `builtin`.
    if builtin shopt -q expand_aliases; then
        _unterm_expands=1
        builtin shopt -u expand_aliases
    fi
fi

# Load the integration once in each interactive shell of a pane. Versions before 4.4 can detect the start of a command
# only by a trap. Never compare the nonce itself, because traces (`set -x`) show the compared texts.
if [[ $- != *i* || -z ${_unterm_nonce:+1} || -n ${_unterm_on-} ]] \
    || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    if [[ -n ${_unterm_expands-} ]]; then
        builtin unset _unterm_expands
        builtin shopt -s expand_aliases
    fi
    builtin return 0
fi

# Do not trace the following commands either.
_unterm_traces=
if [[ $- == *x* ]]; then { _unterm_traces=1 && builtin set +x; } 2>/dev/null; fi

_unterm_on=1
# 1 if a command has run and its end is not reported yet.
_unterm_ran=0
# 1 if `_unterm_before` has reported the command's end in this run of PROMPT_COMMAND.
_unterm_early=0
# 1 if the mark of this prompt is printed. Reset when bash expands Unterm's part of PS1.
_unterm_told=0
_unterm_next=0
_unterm_turn=0
_unterm_pwd=
_unterm_version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))
# The index of Unterm's element of PROMPT_COMMAND. Reading or assigning `$PROMPT_COMMAND` affects only element 0.
_unterm_at=0
if ((_unterm_version >= 501)); then _unterm_at=1000; fi
# Used to test conditions in expansions: `_unterm_if[condition]` is set if the condition is true.
_unterm_if=([1]=1)
# If PROMPT_COMMAND is read-only, the last letter of this name is removed. An arithmetic expansion then returns the value
# of the shorter name.
_unterm_writes=_unterm_writer _unterm_writer=1 _unterm_write=0

# The marks in prompts. Element 1 of each array is used if bash does not expand prompts (`promptvars` is off), element 0
# otherwise. An expansion can change variables, but can run commands only in a child process. In a shell that inherited
# an exported PS1, the expansions print nothing.
#
# PS1 contains no nonce, because a user may export PS1. Its first part marks each drawn prompt. If PROMPT_COMMAND
# contained no element of Unterm's, or the element could not trust its `$?`, that part also reports the command's end
# and the prompt, in a child process. In PS1, `$?` is always the command's exit code.
_unterm_a=([1]='\e]133;P;k=i;cl=m;redraw=last\a\]')
_unterm_a[0]='\[${_unterm_if[${_unterm_told-1} == 0]:+$(case 1 in (1) _unterm_late "$?" ;; esac 2>/dev/null)}'${_unterm_a[1]}
_unterm_a[1]='\['${_unterm_a[1]}
# The arithmetic stores the number that the history will assign to the line that is typed now.
_unterm_b=('\[\e]133;B\a${_unterm_if[_unterm_next = \!, _unterm_told = _unterm_early = _unterm_ran = 0]:+}'
    '\[\e]133;B\a\]')
_unterm_a2='\[\e]133;A;k=s\a\]'
_unterm_b2='\[\e]133;B\a\]'

# PS0 reports the command line, if the history contains it (OSC 633 E), and the beginning of the command's output (OSC
# 133 C). Starting a child process would take longer than everything else here. So all steps except `history` are
# expansions. To store a value without printing anything, an expansion names the value as a prefix to remove from `1`.
# `1` does not begin with that prefix, so `1` remains, and `1` from position 1 on is empty.
_unterm_keep() { _unterm_step='${_unterm_on:${_unterm_on#"${'$1':='$2'}"x}}'; }
_unterm_history() { HISTTIMEFORMAT='' builtin history 1; }
_unterm_line=()
_unterm_plain=('\' ';' $'\n' $'\t')
_unterm_coded=('\\' '\x3b' '\x0a' '\x09')
_unterm_steps=
if ((_unterm_version >= 503)); then
    # Run `history` in this shell. The argument of the call becomes `$_`, so pass `$_` to keep its value.
    _unterm_keep '_unterm_line[_unterm_turn]' '${ case 1 in (1) _unterm_history "$_" ;; esac 2>/dev/null; }'
else
    _unterm_keep '_unterm_line[_unterm_turn]' '$(case 1 in (1) _unterm_history ;; esac 2>/dev/null)'
fi
_unterm_steps+=$_unterm_step
# `history` prints `  12  echo`. The number of a line that was edited has a star after it.
_unterm_keep '_unterm_line[_unterm_turn + 1]' '${_unterm_line[_unterm_turn]#*"$_unterm_next"[ *] }'
_unterm_steps+=$_unterm_step
for _unterm_index in 0 1 2 3; do
    _unterm_pair='"${_unterm_plain['$_unterm_index']}"/"${_unterm_coded['$_unterm_index']}"'
    _unterm_keep "_unterm_line[_unterm_turn + $((_unterm_index + 2))]" \
        '${_unterm_line[_unterm_turn + '$((_unterm_index + 1))']//'$_unterm_pair'}'
    _unterm_steps+=$_unterm_step
done
_unterm_steps+='\e]633;E;${_unterm_line[_unterm_turn + 5]//[[:cntrl:]]/};${_unterm_nonce}\a'
# Use the stored number only if the last history entry is this command. If the history leaves the command out
# (HISTCONTROL, HISTIGNORE, `set +o history`), the last entry is another one. If no prompt was shown since the last
# command, the number belongs to that command.
_unterm_c=('${_unterm_if[${_unterm_ran-1} == 0 && HISTCMD == _unterm_next + 1]:+'"$_unterm_steps"'}'
    '\e]133;C;nonce='"$_unterm_nonce"'\a')
# A further line was read, but Unterm's hooks did not report the end of the last command. Report it without an exit
# code.
_unterm_c[0]+='${_unterm_if[${_unterm_ran-0} == 1 && HISTCMD > ${_unterm_next-HISTCMD} + 1]:+\e]133;D;;nonce=${_unterm_nonce}\a}'
_unterm_c[0]+='\e]133;C;nonce=${_unterm_nonce-}\a'
_unterm_c[0]+='${_unterm_if[_unterm_ran = 1, _unterm_turn = ${_unterm_turn-0} + 6, 0]:+}'
# Let PS0 and PS1 put Unterm's element back into PROMPT_COMMAND. Before bash 5.1, they do so only if PROMPT_COMMAND is
# empty.
_unterm_keep 'PROMPT_COMMAND[_unterm_at]' _unterm_after
# An assignment to a read-only variable would end the expansion, and bash would never show the prompt.
_unterm_step='${_unterm_if[${_unterm_writes%[-${PROMPT_COMMAND[@]@a}]}]:+'$_unterm_step'}'
_unterm_step='${_unterm_if[0${_unterm_on-}]:+'$_unterm_step'}'
_unterm_b[0]+=$_unterm_step
_unterm_c[0]+=$_unterm_step
_unterm_b[0]+='\]'
builtin unset -f _unterm_keep
builtin unset _unterm_index _unterm_pair _unterm_step _unterm_steps

# The pattern of lines that Unterm types for `run`: two blanks before the text and three after it. Such lines are left
# out of the history.
_unterm_typed='  [! ]*   '

# The number of the next command. Used if PS0 cannot record that a command has run.
_unterm_number=

# Sets the variables that a caller of the control port has set for this pane. The file determines which of them are new.
_unterm_variables() {
    if [[ -n ${UNTERM_VARIABLES-} && -O $UNTERM_VARIABLES.sh ]]; then . "$UNTERM_VARIABLES.sh" 2>/dev/null; fi
}

# Prints to the terminal, even if this shell's output is redirected.
_unterm_print() { builtin printf '%s' "$1" >/dev/tty; }

# Reports the end of the command with this exit code, if a command has run. If its output did not end with a line break,
# begins a new row. If elements of the user ran before (`$2`: all elements), the last row may be their text, so the prompt
# follows it in that row.
_unterm_end() {
    builtin local number='\#' text= row=$'\e]133;L\a'
    if [[ -n ${2-} && $2 != _unterm_after ]]; then row=; fi
    _unterm_pwd=$PWD
    # Report the directory before the command's end, because a caller that waits for the end then asks for the
    # directory.
    builtin printf -v text '\e]7;kitty-shell-cwd://%s%s\a' "$HOSTNAME" "$PWD"
    if ((_unterm_ran)) || [[ -n $_unterm_number && ${number@P} != "$_unterm_number" ]]; then
        builtin printf -v text '%s\e]133;D;%s;nonce=%s\a%s' "$text" "$1" "$_unterm_nonce" "$row"
    fi
    _unterm_ran=0
    _unterm_number=
    _unterm_print "$text"
}

# Reports that a prompt begins here. Does not begin a new row, because text printed by PROMPT_COMMAND may precede the
# prompt.
_unterm_ask() {
    builtin local text= reset=
    if [[ $PWD != "$_unterm_pwd" ]]; then
        builtin printf -v text '\e]7;kitty-shell-cwd://%s%s\a' "$HOSTNAME" "$PWD"
    fi
    if [[ -n ${_unterm_bound-} && ( -o emacs || -o vi ) ]]; then reset=';reset_key=1'; fi
    # A nonce in this mark means that PS0 will mark the command.
    if [[ ${PS0-} == *"${_unterm_c[0]}"* || ${PS0-} == *"${_unterm_c[1]}"* ]]; then reset+=";nonce=$_unterm_nonce"; fi
    _unterm_print "$text"$'\e]133;P;k=i;cl=m;redraw=last'"$reset"$'\a'
}

# Runs in a child process, from PS1.
_unterm_late() {
    builtin set +x
    _unterm_end "$1"
    _unterm_ask
}

# Runs at the beginning of element 0 if PROMPT_COMMAND contains elements of the user, because output of those elements
# is not output of the command. `$?` is the command's exit code only if no other element ran before.
_unterm_before() {
    { _unterm_status=$? _unterm_pipes=("${PIPESTATUS[@]}") && builtin local pipe=_unterm_pipe IFS= - && builtin set +x; } 2>/dev/null
    builtin local status="$_unterm_status"
    # Elements of the user can read PIPESTATUS too, so it must be restored. Only a pipeline can set it. Do not restore
    # it with `set -e`, because a failing pipeline would then end the shell.
    if [[ $- == *e* ]]; then
        _unterm_status=0
    elif [[ ${#_unterm_pipes[@]} != 1 ]]; then
        builtin printf -v pipe ' | (exit %s)' "${_unterm_pipes[@]}"
        pipe=${pipe# | }
    fi
    if ((_unterm_status)); then pipe+=' && :'; fi
    builtin alias _unterm_pipe="$pipe"
    if [[ ${#FUNCNAME[@]} == 1 && "${PROMPT_COMMAND[*]-}" == $'_unterm_before\n'* && $_unterm_early == 0 ]]; then
        _unterm_early=1
        _unterm_end "$status"
    fi
    builtin return "$_unterm_status"
}

# Runs after `_unterm_before`. Its alias restores the exit codes of a pipeline. A failure on the left of `&&` runs no ERR
# trap of the user.
_unterm_pipe() { builtin return "$_unterm_status"; }

# Keeps the user's DEBUG trap from running for Unterm's elements of PROMPT_COMMAND and, with `set -T`, inside Unterm's
# functions. Such traps take the first command after the user's last hook for the next command of the user (bash-preexec,
# starship). The word after `case` names Unterm, so that its trace (`set -x`) differs from that of the trap.
# `$1` is the output of `trap -p DEBUG`, because a function has no DEBUG trap of its own. With `set -T`, output of the
# trap precedes it.
_unterm_guard() {
    { builtin local text="$1" IFS= - && builtin set +x; } 2>/dev/null
    if [[ $text == *"trap -- '"*"' DEBUG" && $text != *'case ${_unterm_on+$BASH_COMMAND:'* ]]; then
        text=${text#*trap -- }
        builtin eval "text=${text% DEBUG}"
        builtin trap 'case ${_unterm_on+$BASH_COMMAND:${FUNCNAME-}} in (_unterm_* | *:_unterm_*) ;; (*)'$'\n'"$text"$'\n'';; esac' DEBUG
    fi
}

# Whether no trap has run since the command before, whose last word is `$1` if so.
_unterm_is_quiet() { [[ $1 == _unterm_after ]]; }

# The last element of PROMPT_COMMAND. It must be last, because other elements may change the prompt.
_unterm_after() {
    { builtin local status=$? IFS= is_text=0 all key map - && builtin set +x; } 2>/dev/null
    if ! builtin shopt -q promptvars; then is_text=1; fi
    all=${PROMPT_COMMAND[*]-}
    # Since bash 5.1, `$?` is the command's exit code in each element, but not in each part of an element.
    if [[ $_unterm_early == 1 ]]; then
        :
    elif [[ ${#FUNCNAME[@]} == 1 && ( $all == _unterm_after || $_unterm_version -ge 501 \
        && ${PROMPT_COMMAND[_unterm_at]-} == _unterm_after && $all != *_unterm_after*_unterm_after* ) ]]; then
        _unterm_end "$status" "$all"
    elif ((is_text)); then
        _unterm_end '' "$all"
    else
        # Let PS1 report the command's end.
        _unterm_again "$is_text" || :
        builtin return 0
    fi
    _unterm_line=()
    _unterm_turn=0
    _unterm_variables
    _unterm_follow
    # Binds a key that ends a search and vi's command mode, and empties the line. Unterm types the key before a command.
    # It is bound at the first prompt, after the user's own bindings.
    if [[ -z ${_unterm_bound-} && ( -o emacs || -o vi ) ]]; then
        _unterm_bound=1
        builtin bind -m emacs '"\C-^\C-_": kill-whole-line'
        # If a program never read a reply of the terminal, the reply must not begin a search, which only Ctrl+G would
        # end, nor vi's replace mode, in which no key that is bound here has an effect. So skip replies. After ESC [, a
        # digit and the keys `?`, `>` and `=` have no other meaning, unless they begin a longer sequence that is bound.
        # In vi mode, a user can press P or _ after ESC, so skip only the beginnings of the terminal's own strings.
        builtin bind -m emacs -x '"\eP": { _unterm_skip; } 2>/dev/null'
        for map in emacs vi-insert vi-command; do
            for key in 0 1 2 3 4 5 6 7 8 9 '?' '>' '='; do builtin bind -m "$map" '"\e['"$key"'": skip-csi-sequence'; done
        done
        for map in vi-insert vi-command; do
            for key in ']' 'P>|' 'P!|' 'P0+r' 'P1+r' 'P0$r' 'P1$r' _G; do
                builtin bind -m "$map" -x '"\e'"$key"'": { _unterm_skip; } 2>/dev/null'
            done
        done
        builtin bind -m vi-insert '"\C-^\C-_": kill-whole-line'
        # Bind a macro that sends the two keys again, because an operator that waits for a motion consumes the first of
        # them.
        builtin bind -m vi-command '"\C-^\C-_": "i\C-^\C-_"'
    fi
    _unterm_again "$is_text" || :
    # PS1 stores the number too, unless an element that runs after this one replaces PS1.
    _unterm_next=${HISTCMD-0}
    _unterm_ask
    if ((is_text)); then
        _unterm_number='\#'
        _unterm_number=${_unterm_number@P}
    fi
    _unterm_told=1
    _unterm_early=0
    builtin return 0
}

# Skips the rest of a control string, up to its end: BEL, or ESC and a backslash. Never skips the key that Unterm types
# before a command, because a user can press the keys with which such a string begins.
_unterm_skip() {
    builtin local key
    while builtin read -rs -N 1 -t 0.1 key && [[ $key != [$'\a\\\x1e'] ]]; do :; done
}

# Makes this shell read new variables while its prompt waits. WINCH is used because it is the only harmless signal on
# which readline acts at once. The trap also ends a `wait` when the window is resized, so it is set only if callers set
# variables. A trap of the user is not replaced.
_unterm_follow() {
    if [[ -n ${UNTERM_DRIVEN-}${UNTERM_VARIABLES_SEEN-} && -z $(builtin trap -p WINCH) ]]; then
        builtin trap '{ _unterm_variables; } 2>/dev/null' WINCH
    fi
}

# Aliases run the functions without output, and without the user's traps for errors. Output of the user's traps and
# traces (`set -x`) would count as output of the command until its end is reported, and traces would show the nonce.
# If the aliases are lost, the functions do the same with that output.
_unterm_aliases=([0]=$'{ _unterm_before || \\builtin :; _unterm_guard "$(\\builtin trap -p DEBUG)"; } >/dev/null 2>&1\n{ _unterm_pipe; } >/dev/null 2>&1'
    [1]='{ _unterm_after; _unterm_is_quiet "$_" || _unterm_guard "$(\builtin trap -p DEBUG)"; } >/dev/null 2>&1')

# Restores everything that was lost: Unterm's parts of PROMPT_COMMAND, PS0, PS1, PS2 and HISTIGNORE. Compares each
# variable with its last value by `test`, because `test` is fast.
_unterm_left=(- - - -)
_unterm_again() {
    { builtin local status=$? IFS= is_text="${1-}" - && builtin set +x; } 2>/dev/null
    if [[ -z $is_text ]]; then
        is_text=0
        if ! builtin shopt -q promptvars; then is_text=1; fi
        # Without Unterm's part of PS0, no mark began this line. The last line that a mark began has ended, and its exit
        # code is unknown.
        if ((_unterm_ran)) && [[ ${PS0-} != *"${_unterm_c[0]}"* && ${PS0-} != *"${_unterm_c[1]}"* ]]; then
            _unterm_ran=0
            _unterm_print $'\e]133;D;;nonce='"$_unterm_nonce"$'\a'
        fi
    fi
    if [[ ${PROMPT_COMMAND[*]@a} != *r* ]] && ! builtin test "${PROMPT_COMMAND[*]-}" = "${_unterm_left[3]-}"; then
        _unterm_place
        _unterm_left[3]=${PROMPT_COMMAND[*]}
    fi
    if ! builtin test "$is_text${PS0-}" = "${_unterm_left[0]-}" && [[ ${PS0[*]@a} != *r* ]]; then
        _unterm_strip PS0 "${_unterm_c[@]}"
        PS0+=${_unterm_c[is_text]}
        # With `promptvars` off, PS0 contains the nonce itself, so it must not be exported.
        if ((is_text)); then builtin export -n PS0; fi
        _unterm_left[0]=$is_text$PS0
    fi
    if ! builtin test "$is_text${PS1-}" = "${_unterm_left[1]-}" && [[ ${PS1[*]@a} != *r* ]]; then
        _unterm_strip PS1 "${_unterm_a[@]}" "${_unterm_b[@]}"
        PS1=${_unterm_a[is_text]}$PS1${_unterm_b[is_text]}
        _unterm_left[1]=$is_text$PS1
    fi
    if ! builtin test "${PS2-}" = "${_unterm_left[2]-}" && [[ ${PS2[*]@a} != *r* ]]; then
        _unterm_strip PS2 "$_unterm_a2" "$_unterm_b2"
        PS2=$_unterm_a2$PS2$_unterm_b2
        _unterm_left[2]=$PS2
    fi
    if [[ ${HISTIGNORE-} != *"$_unterm_typed"* && ${HISTIGNORE[*]@a} != *r* ]]; then
        HISTIGNORE=${HISTIGNORE:+$HISTIGNORE:}$_unterm_typed
    fi
    if [[ -z ${BASH_ALIASES[_unterm_after]-} || -z ${BASH_ALIASES[_unterm_before]-} ]]; then
        builtin alias "_unterm_before=${_unterm_aliases[0]}" "_unterm_after=${_unterm_aliases[1]}"
    fi
    builtin return "$status"
}

# Removes Unterm's parts from a prompt.
_unterm_strip() {
    builtin local name="$1" text="${!1-}" part
    builtin shift
    if [[ $text == *']133;'* ]]; then
        for part in "$@"; do text=${text//"$part"/}; done
    fi
    builtin printf -v "$name" '%s' "$text"
}

# Puts Unterm's elements into PROMPT_COMMAND. `_unterm_after` becomes the last element. If there are other elements,
# `_unterm_before` is added at the beginning of the first. Before bash 5.1, all elements are lines of one string.
_unterm_place() {
    builtin local all index indices text last="$_unterm_at"
    if ((_unterm_version >= 501)); then
        indices=("${!PROMPT_COMMAND[@]}")
        if ((${#indices[@]})); then last=${indices[-1]}; fi
        # Move Unterm's element to the end again.
        if ((last > _unterm_at)); then
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

_unterm_again

# Gives the integration also to a shell that the user starts by its name.
_unterm_shell() {
    builtin local name="$1" arg
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
    builtin local data="${XDG_DATA_DIRS:-/usr/local/share:/usr/share}" folder="$UNTERM_SHELL_INTEGRATION"
    builtin local file="$folder/nonces/$$-$RANDOM" status=0
    (
        builtin set +x
        builtin umask 077
        builtin command mkdir -p "$folder/nonces"
        builtin printf '%s\n' "$_unterm_nonce" >|"$file"
    ) 2>/dev/null || :
    # Set the variables by env(1), because an assignment here would switch this shell to POSIX mode.
    case $name in
    bash)
        builtin command env UNTERM_NONCE_FILE="$file" UNTERM_BASH_INJECT=1 UNTERM_BASH_ENV="${ENV-}" POSIXLY_CORRECT=1 \
            ENV="$folder/bash/unterm.bash" bash "$@" || status=$?
        ;;
    zsh)
        builtin command env UNTERM_NONCE_FILE="$file" ${ZDOTDIR+"UNTERM_ZDOTDIR=$ZDOTDIR"} \
            ZDOTDIR="$folder/zsh" zsh "$@" || status=$?
        ;;
    *)
        builtin command env UNTERM_NONCE_FILE="$file" XDG_DATA_DIRS="$folder:$data" "$name" "$@" || status=$?
        ;;
    esac
    builtin command rm -f -- "$file"
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

# All commands of this group are parsed before the first of them runs.
{
    if [[ -n ${_unterm_expands-} ]]; then builtin shopt -s expand_aliases; fi
    if [[ -n $_unterm_traces ]]; then builtin set -x; fi
    { builtin unset _unterm_expands _unterm_traces; } 2>/dev/null
}

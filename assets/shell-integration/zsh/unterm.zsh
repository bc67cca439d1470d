# Unterm's shell integration for zsh. Marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E), and
# reports the working directory (OSC 7). The .zshenv in this folder loads it. It changes no file.

if [[ -o 'interactive' && -n ${_unterm_nonce:+1} && -z ${_unterm_on-} ]]; then
    'builtin' 'typeset' -g _unterm_on=1
    # 1 if a command has run and its end is not reported yet.
    'builtin' 'typeset' -gi _unterm_ran=0
    'builtin' 'typeset' -ga precmd_functions
    'builtin' 'typeset' -ga preexec_functions
    'builtin' 'typeset' -ga zshaddhistory_functions
    'builtin' 'typeset' -gi _unterm_pushed=0
    'builtin' 'typeset' -g _unterm_line=

    # Sets the variables that a caller of the control port has set for this pane. The file determines which of them are
    # new.
    _unterm_variables() {
        if [[ -n ${UNTERM_VARIABLES-} && -O $UNTERM_VARIABLES.sh ]]; then
            'builtin' 'source' "$UNTERM_VARIABLES.sh" 2>/dev/null
        fi
    }

    # Whether Unterm has typed this line for `run`: two blanks before the text and three after it. Such a line goes into
    # a separate history, which is dropped before the command runs.
    _unterm_is_typed() {
        [[ $1 == '  '[^\ ]*'   '$'\n' ]]
    }
    _unterm_addhistory() {
        {
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            if _unterm_is_typed "$1" && 'builtin' 'fc' -p; then
                _unterm_pushed=1
                # zsh does not pass a line to the preexec hooks if the line is in another history, so store it.
                _unterm_line=${1%$'\n'}
            fi
        } 2>/dev/null
        'builtin' 'return' 0
    }
    # A hook of the user may write each line into the history itself. The wrapped hook is not called for lines that
    # Unterm types. The user's next hook may call a copy of a wrapped hook, so each wrapped hook gets a name of its own.
    'builtin' 'typeset' -gi _unterm_hooks=0
    _unterm_wrap_hook() {
        if [[ -n ${functions[zshaddhistory]-} && ${functions[zshaddhistory]} != *_unterm_is_typed* ]]; then
            'builtin' 'local' name=_unterm_persons_hook_$(( ++_unterm_hooks ))
            functions[$name]=${functions[zshaddhistory]}
            functions[zshaddhistory]="_unterm_is_typed \"\$1\" || $name \"\$@\""
        fi
    }
    _unterm_pop() {
        if (( _unterm_pushed )); then
            'builtin' 'fc' -P
            _unterm_pushed=0
        fi
    }

    # Runs for a key that ends a search and vi's command mode, and empties the line. Unterm types the key before a
    # command.
    _unterm_reset() {
        BUFFER=
        'builtin' 'zle' -K main
    }
    # If a program never read a reply of the terminal, the reply can begin a search in vi mode, where no other widget
    # has an effect: `?` in a CSI, and `/` in an OSC. The `=` in a DCS lists completions. So skip these replies up to
    # their last character. Skip reports of the size too (mode 2048). A resize can send one to a program that was killed.
    #
    # A reply arrives as a whole. If nothing follows its beginning, the user has pressed Escape and another key. Never
    # skip the key that Unterm types before a command.
    _unterm_skip_csi() {
        {
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            'builtin' 'local' key
            while 'builtin' 'read' -t 0.2 -rk 1 key && [[ $key != [@-~$'\x1e'] ]]; do :; done
        } 2>/dev/null
    }
    _unterm_skip_string() {
        {
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            'builtin' 'local' key first=${KEYS[-1]}
            if 'builtin' 'read' -t 0.2 -rk 1 key; then
                while [[ $key != [$'\a\\\x1e'] ]] && 'builtin' 'read' -t 0.2 -rk 1 key; do :; done
            else
                if [[ $KEYMAP != vicmd ]]; then 'builtin' 'zle' vi-cmd-mode; fi
                if [[ $first == P ]]; then 'builtin' 'zle' vi-put-before; fi
            fi
        } 2>/dev/null
    }
    _unterm_bind() {
        'builtin' 'local' map
        'builtin' 'zle' -N _unterm_reset
        'builtin' 'zle' -N _unterm_skip_csi
        'builtin' 'zle' -N _unterm_skip_string
        if [[ ${widgets[reset-prompt]-} == builtin ]]; then 'builtin' 'zle' -N reset-prompt _unterm_reset_prompt; fi
        for map in viins vicmd; do
            'builtin' 'bindkey' -M $map '^[[?' _unterm_skip_csi
            'builtin' 'bindkey' -M $map '^[[>' _unterm_skip_csi
            'builtin' 'bindkey' -M $map '^[]' _unterm_skip_string
            'builtin' 'bindkey' -M $map '^[P' _unterm_skip_string
        done
        for map in emacs viins vicmd; do
            'builtin' 'bindkey' -M $map '^[[48;' _unterm_skip_csi
        done
        for map in emacs viins vicmd viopp visual isearch; do
            'builtin' 'bindkey' -M $map '^^^_' _unterm_reset
        done
        # While the line editor asks for the name of a command, it ignores other widgets.
        'builtin' 'bindkey' -M command '^^^_' send-break
    }

    # Prints to the terminal, even if the user has redirected this shell's output.
    _unterm_print() {
        if [[ -t 1 ]]; then 'builtin' 'print' -rn -- "$1"; else 'builtin' 'print' -rn -- "$1" >/dev/tty; fi
    }

    # zsh runs a scheduled command after all hooks of a prompt and before it shows the prompt. It does so even if the
    # lists of hooks are empty by then. Fails if zsh can't schedule commands.
    _unterm_schedule() {
        'builtin' 'zmodload' zsh/sched || 'builtin' 'return'
        [[ "${zsh_scheduled_events-}" == *_unterm_last* ]] || 'builtin' 'sched' +0 '{ _unterm_last; } 2>/dev/null'
    }

    # Reports the end of the command with this exit code, if a command has run.
    _unterm_end() {
        _unterm_pop
        # Report the directory before the command's end, because a caller that waits for the end then asks for the
        # directory.
        'builtin' 'local' text=$'\e]7;kitty-shell-cwd://'"$HOST$PWD"$'\a'
        if (( _unterm_ran )); then text+=$'\e]133;D;'"$1;nonce=$_unterm_nonce"$'\a'; fi
        _unterm_ran=0
        _unterm_print "$text"
    }

    # The first hook of a prompt, because output of other hooks is not output of the command. Each hook sees the
    # command's exit code. Runs with traces off, because they would show the nonce.
    _unterm_precmd() {
        {
            'builtin' 'local' -i code=$?
            'builtin' 'local' percent=${options[promptpercent]-on}
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            # Powerlevel10k also draws its prompt later by itself. With this setting, it marks the prompt.
            if (( ${+functions[p10k]} && ! ${+POWERLEVEL9K_TERM_SHELL_INTEGRATION} )); then
                'builtin' 'typeset' -g POWERLEVEL9K_TERM_SHELL_INTEGRATION=true
            fi
            _unterm_end $code
            _unterm_schedule || _unterm_ask
        } 2>/dev/null
    }

    # Runs after all hooks of a prompt. A hook may have changed the prompt, or may have set the lists of hooks again.
    _unterm_last() {
        'builtin' 'local' -i code=$?
        'builtin' 'local' percent=${options[promptpercent]-on}
        'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
        # A command is editing a line itself (`vared`), so this is not a prompt.
        if 'builtin' 'zle'; then 'builtin' 'return'; fi
        # Unterm's first hook was lost, so report the command's end here.
        if (( _unterm_ran )); then _unterm_end $code; fi
        _unterm_ask
    }

    # Reports that a prompt begins.
    _unterm_ask() {
        'builtin' 'local' reset= char=$'\303\251'
        _unterm_variables
        _unterm_rearm
        _unterm_wrap_winch
        if [[ -o zle ]] && _unterm_bind; then reset=';reset_key=1'; fi
        # In a locale without multibyte characters, such as C, the line editor replaces them by `?`.
        if (( ${#char} != 1 )); then reset+=';charset=ascii'; fi
        # A nonce in this mark means that a hook will mark the command. PS1 contains no nonce, because a user may export
        # it.
        if (( ${+functions[_unterm_preexec]} )); then reset+=";nonce=$_unterm_nonce"; fi
        _unterm_print $'\e]133;A;cl=m'"$reset"$'\a'
        # Without `prompt_percent`, a prompt can't contain marks.
        if [[ $percent == on ]]; then _unterm_mark; else _unterm_unmark; fi
        # Another scheduled command may change the prompt after this.
        if [[ $percent != on || -n ${zsh_scheduled_events-} ]]; then _unterm_wrap_line_init; fi
    }

    # Runs when a line begins and its prompt is shown. Marks the prompt if it contains no marks.
    _unterm_begin_line() {
        'builtin' 'local' percent=${options[promptpercent]-on}
        {
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            if [[ $CONTEXT == start ]]; then
                if [[ $percent != on ]]; then
                    _unterm_print $'\e]133;B\a'
                elif ! _unterm_is_marked; then
                    _unterm_mark
                    'builtin' 'zle' reset-prompt
                fi
            fi
        } 2>/dev/null
    }
    # A widget of the user with this name stays: Unterm's widget calls it. The user's next widget may call Unterm's, so
    # each gets a name of its own.
    'builtin' 'typeset' -gi _unterm_inits=0
    _unterm_wrap_line_init() {
        if [[ ! -o zle || ${widgets[zle-line-init]-} == user:_unterm_line_init_* ]]; then 'builtin' 'return' 0; fi
        'builtin' 'local' name=_unterm_line_init_$(( ++_unterm_inits )) theirs=
        if (( ${+widgets[zle-line-init]} )); then
            'builtin' 'zle' -A zle-line-init _unterm_persons$name
            theirs="; 'builtin' 'zle' _unterm_persons$name -- \"\$@\""
        fi
        functions[$name]="_unterm_begin_line$theirs"
        'builtin' 'zle' -N zle-line-init $name
    }

    # A widget or a trap of the user may set the prompt and draw it again. This widget adds the marks before. Do not draw
    # the prompt once more after that: zsh would move up twice.
    _unterm_reset_prompt() {
        _unterm_mark_again
        'builtin' 'zle' .reset-prompt
    }
    _unterm_mark_again() {
        'builtin' 'local' percent=${options[promptpercent]-on}
        {
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            if [[ $percent == on ]] && ! _unterm_is_marked; then _unterm_mark; fi
        } 2>/dev/null
    }
    # After a resize, zsh draws the prompt that the user's TRAPWINCH has set at the resize before.
    _unterm_wrap_winch() {
        if [[ -n ${functions[TRAPWINCH]-} && ${functions[TRAPWINCH]} != *_unterm_mark_again* ]]; then
            # The exit code of the user's function decides whether zsh handles the signal further.
            functions[TRAPWINCH]="{ ${functions[TRAPWINCH]} } always { if 'builtin' 'zle'; then _unterm_mark_again; fi }"
        fi
    }

    # Adds marks to the current prompts. Each mark is added once.
    _unterm_a=$'%{\e]133;P;k=i;cl=m\a%}'
    _unterm_a2=$'%{\e]133;A;k=s\a%}'
    _unterm_b=$'%{\e]133;B\a%}'
    _unterm_is_marked() {
        [[ $PS1 == $_unterm_a*$_unterm_b ]]
    }
    _unterm_mark() {
        if ! _unterm_is_marked; then
            PS1=$_unterm_a${${PS1//$_unterm_a}//$_unterm_b}$_unterm_b
        fi
        if [[ $PS2 != $_unterm_a2*$_unterm_b ]]; then
            PS2=$_unterm_a2${${PS2//$_unterm_a2}//$_unterm_b}$_unterm_b
        fi
    }

    _unterm_unmark() {
        PS1=${${PS1//$_unterm_a}//$_unterm_b}
        PS2=${${PS2//$_unterm_a2}//$_unterm_b}
    }

    # Restores hooks that were lost. zsh calls the function `precmd` before the functions in the list. To run first,
    # Unterm moves a user's `precmd` into the list.
    _unterm_rearm() {
        _unterm_wrap_hook
        'builtin' 'local' -a first
        first=(_unterm_precmd)
        if [[ -n ${functions[precmd]-} ]]; then
            if [[ ${functions[precmd]} != *_unterm_precmd* && ${functions[precmd]} != *'autoload -X'* ]]; then
                functions[_unterm_persons_precmd]=${functions[precmd]}
                precmd() {
                    { _unterm_precmd } 2>/dev/null
                }
            fi
            if (( ${+functions[_unterm_persons_precmd]} )); then first+=(_unterm_persons_precmd); fi
        elif (( ${+functions[_unterm_persons_precmd]} )); then
            'builtin' 'unfunction' _unterm_persons_precmd
        fi
        if [[ ${(j: :)precmd_functions[1,$#first]} != ${(j: :)first} \
            || ${precmd_functions[$#first+1]-} == _unterm_persons_precmd ]]; then
            precmd_functions=($first ${${precmd_functions:#_unterm_precmd}:#_unterm_persons_precmd})
        fi
        # These lists may be unset. For an unset list, the index of an element is not a number.
        if [[ -z ${preexec_functions[(r)_unterm_preexec]-} ]]; then
            preexec_functions+=(_unterm_preexec)
        fi
        if [[ -z ${zshaddhistory_functions[(r)_unterm_addhistory]-} ]]; then
            zshaddhistory_functions+=(_unterm_addhistory)
        fi
    }
    _unterm_again() {
        'builtin' 'local' -i code=$?
        'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
        _unterm_rearm
        'builtin' 'return' $code
    }

    _unterm_preexec() {
        {
            'builtin' 'emulate' -L zsh -o no_aliases -o no_xtrace
            _unterm_pop
            _unterm_variables
            'builtin' 'local' line=${_unterm_line:-${1:-${3-}}}
            _unterm_line=
            line=${line//\\/\\\\}
            line=${line//;/'\x3b'}
            line=${line//$'\n'/'\x0a'}
            line=${line//$'\t'/'\x09'}
            line=${line//[[:cntrl:]]/}
            _unterm_schedule || :
            _unterm_ran=1
            _unterm_print $'\e]633;E;'"$line;$_unterm_nonce"$'\a\e]133;C;nonce='"$_unterm_nonce"$'\a'
        } 2>/dev/null
    }

    _unterm_rearm
    # A .zshrc is read after this file, and may set these lists again.
    _unterm_schedule 2>/dev/null || :

    # Gives the integration also to a shell that the user starts by its name.
    _unterm_shell() {
        'builtin' 'setopt' local_options no_xtrace
        'builtin' 'local' name=$1 arg
        'builtin' 'shift'
        for arg in "$@"; do
            case $arg in
                -l | -i | -il | -li | --login | --interactive) ;;
                *)
                    'builtin' 'command' "$name" "$@"
                    'builtin' 'return'
                    ;;
            esac
        done
        'builtin' 'local' data=${XDG_DATA_DIRS:-/usr/local/share:/usr/share} folder=$UNTERM_SHELL_INTEGRATION
        'builtin' 'local' file=$folder/nonces/$$-$RANDOM
        'builtin' 'local' -i code=0
        (
            'builtin' 'umask' 077
            command mkdir -p "$folder/nonces"
            'builtin' 'print' -r -- "$_unterm_nonce" >|"$file"
        ) 2>/dev/null || :
        case $name in
            bash)
                command env UNTERM_NONCE_FILE="$file" UNTERM_BASH_INJECT=1 UNTERM_BASH_ENV="${ENV-}" \
                    POSIXLY_CORRECT=1 ENV="$folder/bash/unterm.bash" bash "$@" || code=$?
                ;;
            zsh)
                command env UNTERM_NONCE_FILE="$file" ${ZDOTDIR+"UNTERM_ZDOTDIR=$ZDOTDIR"} \
                    ZDOTDIR="$folder/zsh" zsh "$@" || code=$?
                ;;
            *)
                command env UNTERM_NONCE_FILE="$file" XDG_DATA_DIRS="$folder:$data" "$name" "$@" || code=$?
                ;;
        esac
        command rm -f -- "$file"
        'builtin' 'return' $code
    }
    if [[ -d ${UNTERM_SHELL_INTEGRATION-} ]]; then
        for _unterm_name in bash zsh fish nu; do
            if [[ -n ${commands[$_unterm_name]-} && -z ${functions[$_unterm_name]-} \
                && -z ${aliases[$_unterm_name]-} ]]; then
                functions[$_unterm_name]="_unterm_shell $_unterm_name \"\$@\""
            fi
        done
        'builtin' 'unset' _unterm_name
    fi
fi

# Unterm's shell integration for fish. Marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E), and
# reports the working directory (OSC 7). fish finds this file because Unterm has added its folder to XDG_DATA_DIRS. The
# file removes the folder from XDG_DATA_DIRS again. It changes no file.

# The nonce of marks is in a file. The file is emptied before any other program runs, so that no environment contains
# the nonce.
if set -q UNTERM_NONCE_FILE
    if test -r "$UNTERM_NONCE_FILE"
        read -gu __unterm_nonce <$UNTERM_NONCE_FILE
        builtin printf '' >$UNTERM_NONCE_FILE
    end
    set -e UNTERM_NONCE_FILE
end

if set -q XDG_DATA_DIRS; and set -q UNTERM_SHELL_INTEGRATION
    set -l folders (string split ':' -- $XDG_DATA_DIRS)
    if set -l index (builtin contains -i -- $UNTERM_SHELL_INTEGRATION $folders)
        set -e folders[$index]
        switch (string join ':' -- $folders)
            case '' /usr/local/share:/usr/share
                # These folders are the default, so unset the variable.
                set -e XDG_DATA_DIRS
            case '*'
                set -gx XDG_DATA_DIRS (string join ':' -- $folders)
        end
    end
end

if status is-interactive; and test -n "$__unterm_nonce"; and not set -q __unterm_on
    set -g __unterm_on 1

    # Sets the variables that a caller of the control port has set for this pane. The file determines which of them are
    # new.
    function __unterm_variables
        if test -n "$UNTERM_VARIABLES"; and test -O "$UNTERM_VARIABLES.fish"
            builtin source "$UNTERM_VARIABLES.fish" 2>/dev/null
        end
    end

    # Runs for a key that ends a search and vi's command mode, and empties the line. Unterm types the key twice before a
    # command. Up to Enter, the bindings have a mode of their own, in which each character inserts itself: a blank would
    # expand an abbreviation, and a user can bind any character. Unterm types no control characters but Enter. Any other
    # key is a user's: it has its usual effect, and ends the mode.
    function __unterm_reset
        builtin commandline -f cancel
        builtin commandline -r ''
        test "$fish_bind_mode" = __unterm_typed; and return
        set -l back default
        builtin bind -M insert '' >/dev/null 2>&1; and set back insert
        set -l keys $back (builtin bind -M $back)
        if test "$keys" != "$__unterm_keys"
            set -g __unterm_keys $keys
            __unterm_copy_keys $keys
        end
        set fish_bind_mode __unterm_typed
    end

    # Copies the bindings of keys that are no characters from a mode. `$argv`: the mode, then the output of `bind`.
    function __unterm_copy_keys
        set -l back $argv[1]
        set -l keys (string replace -rf \
            '^bind (?:--preset )?(?:-M \S+ )?((?:-m \S+ )?(?!space |enter )(?:\\\\[^\\\\]|-k |[a-z][a-z0-9]+[-, ]).*)$' \
            'builtin bind -M __unterm_typed $1' -- $argv[2..])
        # A binding that sets the mode itself ends the mode by that.
        set keys (string replace -r '^(builtin bind -M __unterm_typed )(?!-m )(?!.*fish_bind_mode)' \
            "\$1-m $back " -- $keys)
        builtin bind -e -a -M __unterm_typed 2>/dev/null
        builtin printf '%s\n' $keys | builtin source 2>/dev/null
        builtin bind -M __unterm_typed '' self-insert
        builtin bind -M __unterm_typed \c^\c_ __unterm_reset
        builtin bind -M __unterm_typed -m $back \r execute
        builtin bind -M __unterm_typed -m $back \cc cancel-commandline
    end

    # Runs before each prompt: after a command, after Ctrl+C, and after a syntax error.
    function __unterm_prompt --on-event fish_prompt --on-event fish_cancel --on-event fish_posterror
        __unterm_variables
        for mode in default insert replace replace_one visual
            builtin bind -M $mode \c^\c_ __unterm_reset
            # Skip a report of the size (mode 2048) up to its last character. A resize can send one to a program that was
            # killed. A mode of the bindings waits for that character.
            if not builtin bind -M $mode \e\[48\; >/dev/null 2>&1
                builtin bind -M $mode -m __unterm_skip_$mode \e\[48\; true
                for key in 0 1 2 3 4 5 6 7 8 9 \;
                    builtin bind -M __unterm_skip_$mode $key true
                end
                builtin bind -M __unterm_skip_$mode -m $mode t true
                builtin bind -M __unterm_skip_$mode -m $mode '' self-insert
            end
        end
        __unterm_again
        builtin printf '\e]7;kitty-shell-cwd://%s%s\a' $hostname $PWD
        builtin printf '\e]133;A;reset_key=1;nonce=%s\a' $__unterm_nonce
    end

    # Puts marks around the current prompt, in functions that fish also calls when it redraws the prompt itself
    # (Ctrl+L). fish draws the mode before the prompt. Code before the user's prompt must not change `$status` and
    # `$pipestatus`, so the first mark is printed with the mode.
    function __unterm_again
        set -l code $status
        if not builtin functions -q fish_mode_prompt; or not builtin functions fish_mode_prompt | string match -q '*__unterm_own_*'
            set -l own (__unterm_keep fish_mode_prompt)
            function fish_mode_prompt --inherit-variable own
                set -l shown
                builtin functions -q __unterm_own_$own; and set shown (__unterm_own_$own | string collect -N)
                # When the mode of vi's bindings changes, fish draws `fish_prompt` again only if this function prints
                # nothing. Then fish calls this function a second time.
                if test -n "$shown"; or test "$fish_bind_mode" = "$__unterm_mode"
                    builtin printf '\e]133;P;k=i\a%s' "$shown"
                end
                set -g __unterm_mode "$fish_bind_mode"
                # A handler that runs after Unterm's may have set the prompt again. fish calls `fish_prompt` after this.
                __unterm_again
            end
        end
        if not builtin functions -q fish_prompt
            # The prompt that fish shows if this function does not exist.
            function fish_prompt
                builtin echo -n "$USER@$hostname $PWD > "
            end
        end
        if not builtin functions fish_prompt | string match -q '*__unterm_own_*'
            set -l own (__unterm_keep fish_prompt)
            function fish_prompt --inherit-variable own
                # fish leaves out the line break at the end of a prompt, as this substitution does.
                set -l lines (__unterm_own_$own)
                builtin printf '%s' $lines[1]
                set -q lines[2]; and builtin printf '\n%s' $lines[2..]
                builtin printf '\e]133;B\a'
            end
        end
        return $code
    end

    # Copies a function of the user, if it exists, and prints the number of the copy. A later function of the user may
    # call a copy of the function that Unterm has installed, as Python's `activate.fish` does. So each copy gets a name
    # of its own. A handler may set the same function for each prompt, which is then copied once.
    function __unterm_keep
        set -l text (builtin functions $argv[1] 2>/dev/null | string collect)
        if set -l index (builtin contains -i -- "$text" $__unterm_texts)
            builtin echo $index
            return
        end
        set -ga __unterm_texts "$text"
        builtin functions -q $argv[1]; and builtin functions -c $argv[1] __unterm_own_(builtin count $__unterm_texts)
        builtin count $__unterm_texts
    end

    function __unterm_preexec --on-event fish_preexec
        __unterm_variables
        set -l line (string replace -a '\\' '\\\\' -- $argv[1] | string replace -a ';' '\\x3b' \
            | string replace -a \t '\\x09' | string replace -ar '[[:cntrl:]]' '' | string join '\\x0a')
        builtin printf '\e]633;E;%s;%s\a\e]133;C;nonce=%s\a' "$line" $__unterm_nonce $__unterm_nonce
    end

    function __unterm_postexec --on-event fish_postexec
        # Report the directory before the command's end, because a caller that waits for the end then asks for the
        # directory.
        builtin printf '\e]7;kitty-shell-cwd://%s%s\a\e]133;D;%s;nonce=%s\a' $hostname $PWD $status $__unterm_nonce
        # Lines that Unterm types for `run` begin with two blanks and end with three. fish does not save a line that
        # begins with a blank, but keeps it until the next command. Remove these lines at once.
        if string match -qr '^  \S.*   $' -- $argv[1]
            builtin history delete --exact --case-sensitive -- (string trim --right -- $argv[1]) 2>/dev/null
        end
    end

    # Gives the integration also to a shell that the user starts by its name.
    function __unterm_shell
        set -l name $argv[1]
        set -e argv[1]
        for arg in $argv
            if not builtin contains -- $arg -l -i -il -li --login --interactive
                command $name $argv
                return
            end
        end
        set -l folder $UNTERM_SHELL_INTEGRATION
        set -l data /usr/local/share:/usr/share
        set -q XDG_DATA_DIRS; and set data "$XDG_DATA_DIRS"
        set -l file "$folder/nonces/$fish_pid-"(random)
        set -l mask (umask)
        umask 077
        command mkdir -p "$folder/nonces" 2>/dev/null
        and builtin printf '%s\n' $__unterm_nonce >$file
        umask $mask
        switch $name
            case bash
                command env UNTERM_NONCE_FILE="$file" UNTERM_BASH_INJECT=1 UNTERM_BASH_ENV="$ENV" \
                    POSIXLY_CORRECT=1 ENV="$folder/bash/unterm.bash" bash $argv
            case zsh
                set -l own
                set -q ZDOTDIR; and set own UNTERM_ZDOTDIR="$ZDOTDIR"
                command env UNTERM_NONCE_FILE="$file" $own ZDOTDIR="$folder/zsh" zsh $argv
            case '*'
                command env UNTERM_NONCE_FILE="$file" XDG_DATA_DIRS="$folder:$data" $name $argv
        end
        set -l code $status
        command rm -f -- $file
        return $code
    end
    if test -d "$UNTERM_SHELL_INTEGRATION"
        for name in bash zsh fish nu
            if command -q $name; and not builtin functions -q $name
                function $name --inherit-variable name
                    __unterm_shell $name $argv
                end
            end
        end
    end
end

# Unterm's shell integration for fish: marks prompts, commands, their output and exit codes (OSC 133, OSC 633 E), and
# reports the working directory (OSC 7). Found by fish since XDG_DATA_DIRS names Unterm's folder; takes that out again.
# Changes no file.

# The nonce of marks comes in a file that is emptied before any other program runs, so that no environment holds it.
if set -q UNTERM_NONCE_FILE
    if test -r "$UNTERM_NONCE_FILE"
        read -gu __unterm_nonce <$UNTERM_NONCE_FILE
        printf '' >$UNTERM_NONCE_FILE
    end
    set -e UNTERM_NONCE_FILE
end

if set -q XDG_DATA_DIRS; and set -q UNTERM_SHELL_INTEGRATION
    set -l folders (string split ':' -- $XDG_DATA_DIRS)
    if set -l index (contains -i -- $UNTERM_SHELL_INTEGRATION $folders)
        set -e folders[$index]
        switch (string join ':' -- $folders)
            case '' /usr/local/share:/usr/share
                # What holds where it is not set.
                set -e XDG_DATA_DIRS
            case '*'
                set -gx XDG_DATA_DIRS (string join ':' -- $folders)
        end
    end
end

if status is-interactive; and test -n "$__unterm_nonce"; and not set -q __unterm_on
    set -g __unterm_on 1

    # Variables that a caller of the control port set for this pane; the file says which are new.
    function __unterm_variables
        if test -n "$UNTERM_VARIABLES"; and test -O "$UNTERM_VARIABLES.fish"
            source "$UNTERM_VARIABLES.fish" 2>/dev/null
        end
    end

    # A key that ends a search and vi's command mode and empties the line. Unterm types it twice before a command.
    function __unterm_reset
        commandline -f cancel
        commandline -r ''
        # If the person's bindings have this mode, only it inserts text.
        if test "$fish_bind_mode" != insert; and bind -M insert '' >/dev/null 2>&1
            set fish_bind_mode insert
            commandline -f repaint-mode
        end
    end

    # Before each prompt: after a command, Ctrl+C, and an error of syntax.
    function __unterm_prompt --on-event fish_prompt --on-event fish_cancel --on-event fish_posterror
        __unterm_variables
        for mode in default insert replace replace_one visual
            bind -M $mode \c^\c_ __unterm_reset
        end
        __unterm_again
        printf '\e]7;kitty-shell-cwd://%s%s\a' $hostname $PWD
        printf '\e]133;A;reset_key=1;nonce=%s\a' $__unterm_nonce
    end

    # Puts marks around the prompt of the moment. fish draws it again by itself (Ctrl+L), and draws the mode first. What the
    # prompt calls before must leave `$status` and `$pipestatus`, so the first mark belongs to the mode.
    function __unterm_again
        set -l code $status
        if not functions -q fish_mode_prompt; or not functions fish_mode_prompt | string match -q '*__unterm_own_*'
            set -l own (__unterm_keep fish_mode_prompt)
            function fish_mode_prompt --inherit-variable own
                printf '\e]133;P;k=i\a'
                functions -q __unterm_own_$own; and __unterm_own_$own
            end
        end
        if not functions -q fish_prompt
            # What fish shows without.
            function fish_prompt
                echo -n "$USER@$hostname $PWD > "
            end
        end
        if not functions fish_prompt | string match -q '*__unterm_own_*'
            set -l own (__unterm_keep fish_prompt)
            function fish_prompt --inherit-variable own
                __unterm_own_$own
                printf '\e]133;B\a'
            end
        end
        return $code
    end

    # Copies a person's function, if there is one, and prints the copy's number. The person's next function may call a copy of
    # the one that Unterm put in its place, as Python's `activate.fish` does, so each copy keeps a name of its own.
    function __unterm_keep
        set -g __unterm_kept (math $__unterm_kept + 1)
        functions -q $argv[1]; and functions -c $argv[1] __unterm_own_$__unterm_kept
        echo $__unterm_kept
    end

    function __unterm_preexec --on-event fish_preexec
        __unterm_variables
        set -l line (string replace -a '\\' '\\\\' -- $argv[1] | string replace -a ';' '\\x3b' \
            | string replace -a \t '\\x09' | string replace -ar '[[:cntrl:]]' '' | string join '\\x0a')
        printf '\e]633;E;%s;%s\a\e]133;C;nonce=%s\a' "$line" $__unterm_nonce $__unterm_nonce
    end

    function __unterm_postexec --on-event fish_postexec
        # The directory first: a caller that waits for the end asks for it next.
        printf '\e]7;kitty-shell-cwd://%s%s\a\e]133;D;%s;nonce=%s\a' $hostname $PWD $status $__unterm_nonce
        # What Unterm types for `run` has two blanks before it and three behind. A line that begins with a blank is in no file;
        # this one is not kept until the next either.
        if string match -qr '^  \S.*   $' -- $argv[1]
            builtin history delete --exact --case-sensitive -- (string trim --right -- $argv[1]) 2>/dev/null
        end
    end

    # A shell started by its name gets the integration too.
    function __unterm_shell
        set -l name $argv[1]
        set -e argv[1]
        for arg in $argv
            if not contains -- $arg -l -i -il -li --login --interactive
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
        and printf '%s\n' $__unterm_nonce >$file
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
            if command -q $name; and not functions -q $name
                function $name --inherit-variable name
                    __unterm_shell $name $argv
                end
            end
        end
    end
end

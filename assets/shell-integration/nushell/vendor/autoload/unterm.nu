# Unterm's shell integration for Nushell. Nushell itself marks prompts, output and exit codes, and reports the working
# directory. This file adds the command line, and the pane's nonce in the marks that begin and end a command (OSC 133,
# OSC 633 E). Nushell finds this file because Unterm has added its folder to XDG_DATA_DIRS. The file removes the folder
# again. It changes no file.

if "UNTERM_SHELL_INTEGRATION" in $env and "XDG_DATA_DIRS" in $env {
    let left = ($env.XDG_DATA_DIRS | split row (char esep) | where {|folder| $folder != $env.UNTERM_SHELL_INTEGRATION })
    if ($left | is-empty) or $left == ["/usr/local/share" "/usr/share"] {
        hide-env XDG_DATA_DIRS
    } else {
        $env.XDG_DATA_DIRS = ($left | str join (char esep))
    }
}

# Gives the integration also to a shell that the user starts by its name. That shell gets the nonce in a file of its
# own.
def --wrapped __unterm_shell [nonce: string, name: string, ...rest: string] {
    let folder = ($env.UNTERM_SHELL_INTEGRATION? | default "")
    let plain = ["-l" "-i" "-il" "-li" "--login" "--interactive"]
    if ($rest | any {|arg| $arg not-in $plain }) or not ($folder | path exists) {
        run-external $name ...$rest
    } else {
        let data = ($env.XDG_DATA_DIRS? | default "/usr/local/share:/usr/share")
        let variables = match $name {
            "bash" => {
                UNTERM_BASH_INJECT: "1"
                UNTERM_BASH_ENV: ($env.ENV? | default "")
                POSIXLY_CORRECT: "1"
                ENV: $"($folder)/bash/unterm.bash"
            }
            "zsh" if "ZDOTDIR" in $env => { UNTERM_ZDOTDIR: $env.ZDOTDIR, ZDOTDIR: $"($folder)/zsh" }
            "zsh" => { ZDOTDIR: $"($folder)/zsh" }
            _ => { XDG_DATA_DIRS: $"($folder):($data)" }
        }
        let file = $"($folder)/nonces/($nu.pid)-(random int 0..1000000)"
        mkdir $"($folder)/nonces"
        "" | save --force $file
        ^chmod 600 $file
        $nonce | save --force $file
        try {
            with-env ($variables | merge { UNTERM_NONCE_FILE: $file }) { run-external $name ...$rest }
        }
        rm --force $file
    }
}

# The nonce of marks is in a file. The file is removed before any other program runs, so that no environment contains
# the nonce.
let __unterm_nonce = if "UNTERM_NONCE_FILE" in $env {
    let nonce = (try { open --raw $env.UNTERM_NONCE_FILE | str trim } catch { "" })
    try { rm --force $env.UNTERM_NONCE_FILE }
    hide-env UNTERM_NONCE_FILE
    $nonce
} else {
    ""
}
if "UNTERM_NONCE_FILE" in $env {
    hide-env UNTERM_NONCE_FILE
}

if $nu.is-interactive and ($__unterm_nonce | is-not-empty) {
    $env.config.shell_integration.osc7 = true
    $env.config.shell_integration.osc133 = true
    let host = (try { sys host | get hostname } catch { "" })
    $env.config.hooks.pre_execution = ($env.config.hooks.pre_execution? | default [] | append {||
        let line = (
            commandline
            | str replace --all '\' '\\'
            | str replace --all ';' '\x3b'
            | str replace --all "\n" '\x0a'
            | str replace --all "\t" '\x09'
            | str replace --all --regex '\p{Cc}' ''
        )
        if ($line | is-not-empty) {
            print -n $"\u{1b}]633;E;($line);($__unterm_nonce)\u{7}"
            print -n $"\u{1b}]133;C;nonce=($__unterm_nonce)\u{7}"
            $env.UNTERM_COMMAND_RAN = 1
        }
    })
    $env.config.hooks.pre_prompt = ($env.config.hooks.pre_prompt? | default [] | prepend {||
        if "UNTERM_COMMAND_RAN" in $env {
            # Report the directory here: Nushell reports it only later, and a caller that waits for the command's end
            # then asks for it.
            print -n $"\u{1b}]7;kitty-shell-cwd://($host)($env.PWD)\u{7}"
            print -n $"\u{1b}]133;D;($env.LAST_EXIT_CODE);nonce=($__unterm_nonce)\u{7}"
            hide-env UNTERM_COMMAND_RAN
        }
    })
    # Only code in a hook can define commands conditionally. An existing command of the same name is not replaced.
    $env.config.hooks.pre_prompt = ($env.config.hooks.pre_prompt | append (
        [bash zsh fish nu] | where {|name| (which $name | get type.0?) == "external" } | each {|name| {
            condition: {|| (which $name | get type.0?) == "external" }
            code: $"def --wrapped ($name) [...rest: string] { __unterm_shell '($__unterm_nonce)' ($name) ...$rest }"
        }}
    ))
}

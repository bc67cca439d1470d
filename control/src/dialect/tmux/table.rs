//! The commands: their names, flags and functions.
//!
//! A command, a flag or an argument that is not here gives tmux's error. `list-commands` prints this table.

use super::{
    arguments::Syntax,
    commands::{
        buffers, capture, clients, environment, hooks, input, keys, layout, misc, options, panes,
        pipe, popup, sessions, wait, windows,
    },
    run::Command,
};

/// Declares the table. Each row: name, short name, flags, numbers of arguments, usage, function.
macro_rules! commands {
    ($($name:literal $alias:literal $flags:literal $least:literal $most:expr, $usage:literal $run:path;)*) => {
        /// Every command, sorted by name.
        pub static COMMANDS: &[Command] = &[
            $(Command {
                syntax: Syntax {
                    name: $name,
                    alias: $alias,
                    flags: $flags,
                    least: $least,
                    most: $most,
                    usage: $usage,
                },
                run: |run, arguments| Box::pin($run(run, arguments)),
            },)*
        ];
    };
}

commands! {
    "attach-session" "attach" "c:dEf:t:x" 0 Some(0),
        "[-dEx] [-c working-directory] [-f flags] [-t target-session]" clients::attach;
    "bind-key" "bind" "nrN:T:" 1 None,
        "[-nr] [-T key-table] [-N note] key [command [arguments]]" keys::bind;
    "break-pane" "breakp" "abdF:n:Ps:t:" 0 Some(0),
        "[-abdP] [-F format] [-n window-name] [-s src-pane] [-t dst-window]" panes::break_out;
    "capture-pane" "capturep" "ab:CeE:JNpqS:t:" 0 Some(0),
        "[-aCeJNpq] [-b buffer-name] [-E end-line] [-S start-line] [-t target-pane]" capture::capture;
    "clear-history" "clearhist" "t:" 0 Some(0), "[-t target-pane]" capture::clear;
    "clear-prompt-history" "clearphist" "T:" 0 Some(0), "[-T type]" misc::clear_prompt_history;
    "delete-buffer" "deleteb" "b:" 0 Some(0), "[-b buffer-name]" buffers::delete;
    "detach-client" "detach" "aE:s:t:P" 0 Some(0),
        "[-aP] [-E shell-command] [-s target-session] [-t target-client]" clients::detach;
    "display-message" "display" "ac:F:Npt:" 0 Some(1),
        "[-aNp] [-c target-client] [-F format] [-t target-pane] [message]" misc::display;
    "display-popup" "popup" "Bb:Cc:d:e:Eh:s:S:t:T:w:x:y:" 0 None,
        "[-BCE] [-b border-lines] [-c target-client] [-d start-directory] [-e environment] [-h height] [-s style] [-S border-style] [-t target-pane] [-T title] [-w width] [-x position] [-y position] [shell-command]" popup::display;
    "has-session" "has" "t:" 0 Some(0), "[-t target-session]" sessions::has;
    "if-shell" "if" "bFt:" 2 Some(3),
        "[-bF] [-t target-pane] shell-command command [command]" misc::if_shell;
    "join-pane" "joinp" "bdfhvp:l:s:t:" 0 Some(0),
        "[-bdfhv] [-l size] [-s src-pane] [-t dst-pane]" panes::join;
    "kill-pane" "killp" "at:" 0 Some(0), "[-a] [-t target-pane]" panes::kill;
    "kill-server" "" "" 0 Some(0), "" sessions::kill_server;
    "kill-session" "" "aCt:" 0 Some(0), "[-aC] [-t target-session]" sessions::kill;
    "kill-window" "killw" "at:" 0 Some(0), "[-a] [-t target-window]" windows::kill;
    "last-pane" "lastp" "t:Z" 0 Some(0), "[-Z] [-t target-window]" panes::last;
    "last-window" "last" "t:" 0 Some(0), "[-t target-session]" windows::last;
    "link-window" "linkw" "abdks:t:" 0 Some(0),
        "[-abdk] [-s src-window] [-t dst-window]" windows::link;
    "list-buffers" "lsb" "F:f:" 0 Some(0), "[-F format] [-f filter]" buffers::list;
    "list-clients" "lsc" "F:f:t:" 0 Some(0),
        "[-F format] [-f filter] [-t target-session]" clients::list;
    "list-commands" "lscm" "F:" 0 Some(1), "[-F format] [command]" misc::list_commands;
    "list-keys" "lsk" "1aNP:T:" 0 Some(1),
        "[-1aN] [-P prefix-string] [-T key-table] [key]" keys::list;
    "list-panes" "lsp" "asF:f:t:" 0 Some(0),
        "[-as] [-F format] [-f filter] [-t target-window]" panes::list;
    "list-sessions" "ls" "F:f:" 0 Some(0), "[-F format] [-f filter]" sessions::list;
    "list-windows" "lsw" "F:f:at:" 0 Some(0),
        "[-a] [-F format] [-f filter] [-t target-session]" windows::list;
    "load-buffer" "loadb" "b:" 1 Some(1), "[-b buffer-name] path" buffers::load;
    "lock-client" "lockc" "t:" 0 Some(0), "[-t target-client]" clients::lock;
    "lock-server" "lock" "" 0 Some(0), "" clients::lock;
    "lock-session" "locks" "t:" 0 Some(0), "[-t target-session]" clients::lock;
    "move-pane" "movep" "bdfhvp:l:s:t:" 0 Some(0),
        "[-bdfhv] [-l size] [-s src-pane] [-t dst-pane]" panes::join;
    "move-window" "movew" "abdkrs:t:" 0 Some(0),
        "[-abdkr] [-s src-window] [-t dst-window]" windows::move_to;
    "new-session" "new" "Ac:dDe:EF:f:n:Ps:t:x:y:" 0 None,
        "[-AdDEP] [-c start-directory] [-e environment] [-F format] [-f flags] [-n window-name] [-s session-name] [-t target-session] [-x width] [-y height] [shell-command]" sessions::new;
    "new-window" "neww" "abc:de:F:kn:PSt:" 0 None,
        "[-abdkPS] [-c start-directory] [-e environment] [-F format] [-n window-name] [-t target-window] [shell-command]" windows::new;
    "next-layout" "nextl" "t:" 0 Some(0), "[-t target-window]" layout::next;
    "next-window" "next" "t:" 0 Some(0), "[-t target-session]" windows::next;
    "paste-buffer" "pasteb" "db:prs:t:" 0 Some(0),
        "[-dpr] [-s separator] [-b buffer-name] [-t target-pane]" buffers::paste;
    "pipe-pane" "pipep" "IOot:" 0 Some(1), "[-IOo] [-t target-pane] [shell-command]" pipe::pipe;
    "previous-layout" "prevl" "t:" 0 Some(0), "[-t target-window]" layout::previous;
    "previous-window" "prev" "t:" 0 Some(0), "[-t target-session]" windows::previous;
    "refresh-client" "refresh" "A:B:C:f:F:St:" 0 Some(0),
        "[-S] [-A pane:state] [-B name:what:format] [-C XxY] [-f flags] [-t target-client]" clients::refresh;
    "rename-session" "rename" "t:" 1 Some(1), "[-t target-session] new-name" sessions::rename;
    "rename-window" "renamew" "t:" 1 Some(1), "[-t target-window] new-name" windows::rename;
    "resize-pane" "resizep" "DLRt:Ux:y:Z" 0 Some(1),
        "[-DLRUZ] [-x width] [-y height] [-t target-pane] [adjustment]" layout::resize;
    "resize-window" "resizew" "aADLRt:Ux:y:" 0 Some(1),
        "[-aADLRU] [-x width] [-y height] [-t target-window] [adjustment]" layout::resize_window;
    "respawn-pane" "respawnp" "c:e:kt:" 0 None,
        "[-k] [-c start-directory] [-e environment] [-t target-pane] [shell-command]" panes::respawn;
    "respawn-window" "respawnw" "c:e:kt:" 0 None,
        "[-k] [-c start-directory] [-e environment] [-t target-window] [shell-command]" windows::respawn;
    "rotate-window" "rotatew" "Dt:U" 0 Some(0), "[-DU] [-t target-window]" layout::rotate;
    "run-shell" "run" "bd:Ct:" 0 Some(1),
        "[-bC] [-d delay] [-t target-pane] [shell-command]" misc::run_shell;
    "save-buffer" "saveb" "ab:" 1 Some(1), "[-a] [-b buffer-name] path" buffers::save;
    "select-layout" "selectl" "Enpt:" 0 Some(1),
        "[-Enp] [-t target-pane] [layout-name]" layout::select;
    "select-pane" "selectp" "DdelLMmRt:T:UZ" 0 Some(0),
        "[-DdeLlMmRUZ] [-T title] [-t target-pane]" panes::select;
    "select-window" "selectw" "lnpTt:" 0 Some(0), "[-lnpT] [-t target-window]" windows::select;
    "send-keys" "send" "FHlN:Rt:" 0 None,
        "[-FHlR] [-N repeat-count] [-t target-pane] key ..." input::send_keys;
    "send-prefix" "" "2t:" 0 Some(0), "[-2] [-t target-pane]" keys::send_prefix;
    "server-access" "" "adlrw" 0 Some(1), "[-adlrw] [user]" misc::server_access;
    "set-buffer" "setb" "ab:n:" 0 Some(1),
        "[-a] [-b buffer-name] [-n new-buffer-name] data" buffers::set;
    "set-environment" "setenv" "Fhgrt:u" 1 Some(2),
        "[-Fhgru] [-t target-session] name [value]" environment::set;
    "set-hook" "" "aBEgpRt:uw" 1 Some(2), "[-aBEgpRuw] [-t target-pane] hook [command]" hooks::set;
    "set-option" "set" "aFgopqst:uUw" 1 Some(2),
        "[-aFgopqsuUw] [-t target-pane] option [value]" options::set;
    "set-window-option" "setw" "aFgoqt:u" 1 Some(2),
        "[-aFgoqu] [-t target-window] option [value]" options::set_window;
    "show-buffer" "showb" "b:" 0 Some(0), "[-b buffer-name]" buffers::show;
    "show-environment" "showenv" "hgst:" 0 Some(1),
        "[-hgs] [-t target-session] [name]" environment::show;
    "show-hooks" "" "BF:gpt:w" 0 Some(1), "[-Bgpw] [-F format] [-t target-pane] [hook]" hooks::show;
    "show-messages" "showmsgs" "t:" 0 Some(0), "[-t target-client]" clients::show_messages;
    "show-options" "show" "AgHpqst:vw" 0 Some(1),
        "[-AgHpqsvw] [-t target-pane] [option]" options::show;
    "show-prompt-history" "showphist" "T:" 0 Some(0), "[-T type]" misc::show_prompt_history;
    "show-window-options" "showw" "gvt:" 0 Some(1),
        "[-gv] [-t target-window] [option]" options::show_window;
    "source-file" "source" "Fnqv" 1 None, "[-Fnqv] path ..." misc::source;
    "split-window" "splitw" "bc:de:fF:hl:p:Pt:vZ" 0 None,
        "[-bdfhPvZ] [-c start-directory] [-e environment] [-F format] [-l size] [-t target-pane] [shell-command]" panes::split;
    "start-server" "start" "" 0 Some(0), "" sessions::start_server;
    "swap-pane" "swapp" "dDs:t:UZ" 0 Some(0), "[-dDUZ] [-s src-pane] [-t dst-pane]" panes::swap;
    "swap-window" "swapw" "ds:t:" 0 Some(0), "[-d] [-s src-window] [-t dst-window]" windows::swap;
    "switch-client" "switchc" "c:Elnpt:Z" 0 Some(0),
        "[-ElnpZ] [-c target-client] [-t target-session]" clients::switch;
    "unbind-key" "unbind" "anqT:" 0 Some(1), "[-anq] [-T key-table] [key]" keys::unbind;
    "unlink-window" "unlinkw" "kt:" 0 Some(0), "[-k] [-t target-window]" windows::unlink;
    "wait-for" "wait" "EF:LSUv" 1 Some(1),
        "[-ELSUv] [-F format] name" wait::wait_for;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tmux::run::find;

    #[test]
    fn every_command_is_found_by_both_of_its_names() {
        for command in COMMANDS {
            let names = [command.syntax.name, command.syntax.alias];
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                assert!(std::ptr::eq(find(COMMANDS, name).unwrap(), command), "{name}");
            }
        }
        assert!(COMMANDS.is_sorted_by_key(|command| command.syntax.name));
        assert!(find(COMMANDS, "").is_err());
    }
}

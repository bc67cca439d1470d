#!/bin/sh
# Draws screens of Claude Code one after another. Each line of input draws the next screen. SCREENS is the folder with the
# screens.

draw() {
    printf '\033[2J\033[H'
    awk 'shown; /^---$/ { shown = 1 }' "$SCREENS/$1.txt"
}

stty -echo
read -r line
draw waiting_for_trust
read -r line
[ "$line" = 1 ] || exit 1
draw starting
read -r line
draw waiting_for_user_input
read -r line
case $line in *"What is 2+2?"*) ;; *) exit 1 ;; esac
draw thinking
sleep 1
draw waiting_for_permission
read -r line
draw thinking
sleep 1
draw completed_turn
exec cat

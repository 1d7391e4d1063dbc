# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of wardstat's arguments; objects are read from debugfs, as far as one may.

_wardstat() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local root=/sys/kernel/debug/ward words
	case $prev in
	-d | --device) words=$(ls "$root" 2> /dev/null) ;;
	-i | --interval | -n | --times | -O | --overdue | -s | --seconds) return ;;
	--debugfs | -o | --output | timeline)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	qp) words=$(find "$root"/*/qps/* -maxdepth 0 -printf '%f ' 2> /dev/null) ;;
	mr) words=$(sed '/^#/d; s/ .*//' "$root"/*/mrs "$root"/*/mws 2> /dev/null) ;;
	pd) words=$(sed '/^#/d; s/ .*//' "$root"/*/pds 2> /dev/null) ;;
	*)
		words="list top qp mr pd record timeline --device --json --interval --times --overdue"
		words+=" --output --seconds --debugfs --help"
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _wardstat wardstat

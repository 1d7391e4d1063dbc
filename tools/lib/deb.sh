# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: packages of any Debian suite, through an apt configuration of our own.

# shellcheck source=tools/lib/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

DEBS=$CACHE/debs

# The mirror for a suite is the one that the host's apt uses for its own release; a host
# that is no Debian names one in WARD_MIRROR and WARD_SECURITY_MIRROR.
deb_mirror() {
	local suite=$1 var=WARD_MIRROR label=Debian pattern='[a-z]+' uri list
	[[ $suite != *-security ]] ||
		var=WARD_SECURITY_MIRROR label=Debian-Security pattern='[a-z]+(-security|/updates)'
	uri=${!var:-}
	# shellcheck disable=SC2016 # apt's own variables
	[[ $uri ]] || uri=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' \
		"Label: $label" 'Identifier: Packages' 2> /dev/null | head -n 1) || true
	# before the first apt-get update it knows no origins
	[[ $uri ]] || uri=$(apt-get update --print-uris 2> /dev/null |
		sed -nE "s@^'(.*debian[^']*)/dists/$pattern/InRelease'.*@\1@p" | head -n 1) || true
	case $uri in
	mirror+file:*)	# the list of a cloud image; its first mirror will do
		list=${uri#mirror+file:}
		uri=$(grep -m 1 -oE '^[a-z]+://[^[:space:]]+' "/${list##/}") ;;
	esac
	[[ $uri ]] || die "no mirror for $suite: apt knows none; set $var"
	printf '%s\n' "${uri%/}"
}

deb_apt() {
	local suite=$1 tool=$2 dir=$CACHE/apt/$1
	shift 2
	"$tool" -qq -o Dir::State="$dir/state" -o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o Dir::Etc::SourceList="$dir/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null \
		-o Dir::Etc::PreferencesParts=/dev/null -o APT::Sandbox::User=root \
		-o APT::Architecture=amd64 -o APT::Architectures=amd64 \
		-o APT::Get::List-Cleanup=false -o Acquire::Languages=none \
		-o Acquire::Retries=3 "$@"
}

# deb_lists SUITE brings the package lists, at most once a day; false when there are none.
deb_lists() { locked "apt-$1" deb_lists_locked "$1"; }

deb_lists_locked() {
	local suite=$1 dir=$CACHE/apt/$1 uri
	[[ $(find "$dir/updated" -mmin -1440 2> /dev/null) ]] && return
	uri=$(deb_mirror "$suite")
	mkdir -p "$dir"/state/lists/partial "$dir"/cache/archives/partial
	: > "$dir/status"
	printf 'deb [signed-by=%s] %s %s main\n' \
		/usr/share/keyrings/debian-archive-keyring.gpg "$uri" "$suite" \
		> "$dir/sources.list"
	if logged "$LOGS/apt-$suite.log" deb_apt "$suite" apt-get update \
		-o APT::Update::Error-Mode=any; then
		touch "$dir/updated"
	elif [[ -e $dir/updated ]]; then
		say "keeping the older package lists of $suite"
	else
		return 1
	fi
}

# deb_names SUITE REGEX prints the packages of a suite whose whole name matches.
deb_names() {
	deb_lists "$1" || return
	deb_apt "$1" apt-cache pkgnames | grep -xE -- "$2" | sort -V
}

# deb_fetch SUITE PACKAGE... downloads each package once and prints the paths.
deb_fetch() {
	local suite=$1 package
	shift
	for package; do
		locked "deb-$suite" deb_fetch_one "$suite" "$package"
	done
}

deb_fetch_one() {
	local suite=$1 package=$2 path tmp
	path=$DEBS/$suite/$package.deb
	if [[ ! -e $path ]]; then
		deb_lists "$suite" || return
		step "downloading $package ($suite)"
		tmp=$DEBS/$suite/.$package
		rm -rf "$tmp"
		mkdir -p "$tmp"
		(cd "$tmp" && logged "$LOGS/deb-$package.log" \
			deb_apt "$suite" apt-get download "$package") || return
		mv "$tmp"/*.deb "$path"
		rmdir "$tmp"
	fi
	printf '%s\n' "$path"
}

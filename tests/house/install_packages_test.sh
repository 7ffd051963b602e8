#!/bin/sh
# scripts/install-packages against a made-up system: what is installed, who asks, and whether sudo answers.
set -eu
script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
for command in awk dirname env sh; do ln -s "$(command -v "$command")" "$folder/bin/$command"; done

# command_is NAME BODY: a command of that name on the made-up PATH.
command_is() { printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"; chmod +x "$folder/bin/$1"; }
fail() { echo "install-packages: $1" >&2; cat "$folder/out" "$folder/err" >&2; exit 1; }
run() {
  status=0
  PATH="$folder/bin" "$script" "$@" >"$folder/out" 2>"$folder/err" || status=$?
}
says() { grep -q -- "$2" "$folder/$1" || fail "expected '$2' in $1"; }

# shellcheck disable=SC2016  # the body is for the made-up command to expand
command_is dpkg-query 'for last; do :; done; [ "$last" = cmake ] || printf "install ok installed"; [ "$last" != cmake ]'
# shellcheck disable=SC2016
command_is apt-get 'echo "apt-get $* as ${DEBIAN_FRONTEND:-anything}"'

command_is id 'echo 1000'
run build
[ "$status" = 1 ] || fail "without rights it must end with 1, not $status"
says err "sudo sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends cmake'"
[ ! -s "$folder/out" ] || fail "without rights it must not install"

command_is id 'echo 0'
run --dry-run build
[ "$status" = 1 ] || fail "--dry-run must end with 1 where something is missing, not $status"
says err "sudo sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends cmake'"
[ ! -s "$folder/out" ] || fail "--dry-run must not install"

run build
[ "$status" = 0 ] || fail "root must be able to install"
says out 'installing: cmake$'
says out 'apt-get install -y --no-install-recommends cmake as noninteractive'

command_is id 'echo 1000'
# As sudo does, it drops the caller's environment.
# shellcheck disable=SC2016
command_is sudo '[ "$1" != -n ] || shift; env -i "PATH=$PATH" "$@"'
command_is true ':'
run build
[ "$status" = 0 ] || fail "with sudo it must be able to install"
says out 'apt-get install -y --no-install-recommends cmake as noninteractive'

command_is dpkg-query 'printf "install ok installed"'
command_is id 'echo "id was asked although nothing is missing"; exit 1'
run --dry-run build
[ "$status" = 0 ] || fail "--dry-run must end with 0 with everything there"
run build test
[ "$status" = 0 ] || fail "with everything there it must do nothing"
[ ! -s "$folder/out" ] || fail "with everything there it must say nothing"

run bulid
[ "$status" = 1 ] || fail "a group that is not there must be an error"
says err "packages.txt has no group 'bulid'"

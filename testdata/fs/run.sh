#!/bin/sh
# Runs the tests that mount file systems: full ones, read-only ones, XFS,
# Btrfs, FAT. They need root, loop devices and the mkfs programs; where something
# is missing the tests that need it are skipped, with a message.
# With arguments: only these packages. RUN is a pattern of the tests, all if empty.
set -eu
cd "$(dirname "$0")/../.."

if [ "$(id -u)" != 0 ]; then
	echo 'file system tests skipped: not root'
	exit 0
fi
if [ ! -e /dev/loop-control ] || ! losetup -f >/dev/null 2>&1; then
	echo 'file system tests skipped: no loop devices'
	exit 0
fi
if ! unshare --mount true 2>/dev/null; then
	echo 'file system tests skipped: nothing can be mounted'
	exit 0
fi
if [ $# = 0 ]; then
	# Every package that has such tests.
	# shellcheck disable=SC2046 # one word each
	set -- $(grep -rlE --include='*_test.go' '^//go:build .*\bfs\b' . | sed 's|/[^/]*$||' | sort -u)
fi
# The mounts are in a namespace of this process and end with it.
exec unshare --mount --propagation private go test -tags "fs faults" -count=1 -timeout 60m -v -run "${RUN:-^TestFS}" "$@"

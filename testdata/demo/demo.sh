#!/bin/sh
# The main job on real input, in a scratch repository with a HOME of its own:
# enable, a recorded session through the installed hooks, commits by the user,
# and what came of it. Needs entire and go on PATH; run it from the project.
set -eu

here=$(cd "$(dirname "$0")/../.." && pwd)

# First build, then start again with nothing of the caller's but PATH, the
# terminal and the language.
if [ -z "${ENTIRE_DEMO:-}" ]; then
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/entire-demo.XXXXXX")
	(cd "$here" && go build -o "$scratch/replay" ./internal/testkit/replay)
	exec env -i PATH="$PATH" TERM="${TERM:-dumb}" LANG="${LANG:-C.UTF-8}" TMPDIR="${TMPDIR:-/tmp}" \
		HOME="$scratch/home" GIT_CONFIG_NOSYSTEM=1 ENTIRE_DEMO="$scratch" sh "$0" "$@"
fi
scratch=$ENTIRE_DEMO
replay=$scratch/replay
unset ENTIRE_DEMO

if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m'); else bold='' dim='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
run() {
	printf '%s$' "$dim"
	for word in "$@"; do
		case $word in
		*[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '%s\n' "$plain"
	"$@"
}

mkdir "$HOME"
git config --global user.name 'Ada Demo'
git config --global user.email ada@example.com
git config --global init.defaultBranch main
project=$scratch/tally
cp -R "$here/testdata/session/project" "$project"
cd "$project"
mv go.mod.txt go.mod
git init -q
git add .
git commit -q -m 'a small project'

title '1. Enable'
run entire enable --agent claude-code
git add .
git commit -q -m 'enable entire'

title '2. A session of Claude Code (recorded; the hooks are those just installed)'
"$replay" -recording "$here/testdata/session" -project "$project"

title '3. The user commits, as always: one turn in parts, and something unrelated'
commit() {
	message=$1
	shift
	run git add "$@"
	run git commit -q -m "$message"
}
commit 'feat: count words' tally.go tally_test.go
commit 'sort the list' words.txt docs
commit 'mention the command' README.md
echo 'buy milk' >notes.txt
commit 'my own notes' notes.txt

title '4. Every commit knows its conversation'
run git log --format='%C(auto)%h %<(28,trunc)%s %(trailers:key=Entire-Checkpoint,separator=%x20)'

title '5. The checkpoints'
printf '%s$ git show entire/checkpoints/v1:...%s\n' "$dim" "$plain"
git log --reverse --format='%h %s%x09%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)' main | while IFS="$(printf '\t')" read -r commit id; do
	[ -n "$id" ] || continue
	dir=$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
	files=$(git show "entire/checkpoints/v1:$dir/metadata.json" | tr -d '\n' | sed 's/.*"files_touched": *\[\([^]]*\)\].*/\1/; s/[" ]//g; s/,/, /g')
	lines=$(git show "entire/checkpoints/v1:$dir/0/full.jsonl" | grep -c '')
	printf '%-36s %s  %3s lines  %s\n' "$commit" "$id" "$lines" "$files"
done

title '6. The prompts behind the last linked commit (secrets are taken out)'
id=$(git log --format='%(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)' main | grep -m1 .)
dir=$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
run git show "entire/checkpoints/v1:$dir/0/prompt.txt"
echo

title 'Now you'
cat <<END

The repository stays at $project
    cd $project
    export PATH="$(dirname "$(command -v entire)"):\$PATH"
    entire status
    git log --stat
    git ls-tree -r --name-only entire/checkpoints/v1
    git show entire/checkpoints/v1:$dir/0/metadata.json
    git commit --amend -m 'said better'     # the link stays
    git rebase -i --root                    # so it does here

Remove it with: rm -rf $scratch
END

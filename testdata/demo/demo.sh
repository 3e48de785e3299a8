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
run entire show HEAD~1 --short --no-pager
echo

title '7. A turn goes wrong: .env deleted, a database rewritten, forty files changed, node_modules reinstalled'
mkdir -p src node_modules/left-pad node_modules/chalk
printf '.env\nnode_modules/\n*.db\n' >>.gitignore
echo 'API_KEY=only-here' >.env
echo 'module.exports = pad' >node_modules/left-pad/index.js
echo 'module.exports = chalk' >node_modules/chalk/index.js
head -c 40000 /dev/zero >local.db
i=1
while [ $i -le 40 ]; do
	echo "var answer = $i" >src/file$i.js
	i=$((i + 1))
done
git add .
git commit -q -m 'more files'
before=$(find . -path ./.git -prune -o -path ./.entire -prune -o -type f -print | sort | xargs sha256sum | sha256sum)

# What the agent would send: a prompt, one shell command, the end of the turn.
begin() {
	session=$1
	transcript=$HOME/.claude/projects/$(printf '%s' "$project" | tr -c 'A-Za-z0-9' '-')/$session.jsonl
	mkdir -p "$(dirname "$transcript")"
}
now() { date -u +%Y-%m-%dT%H:%M:%S.%3NZ; }
prompt='Modernise the code'
answer() {
	printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s","prompt":"%s"%s}' "$session" "$transcript" "$project" "$prompt" "${2:-}" |
		entire hooks claude-code "$1"
}
event() { answer "$@" >/dev/null; }
# The model thinks for longer than the snapshot of the prompt takes.
settle() {
	while ls .git/entire/store/requests-e3b0c4/*.json >/dev/null 2>&1; do :; done
}
begin 5e551011-3c1e-4b0a-9d52-0f6a51c7e201
line() {
	printf '{"type":"%s","uuid":"%s","timestamp":"%s","sessionId":"%s","message":{"role":"%s","content":%s}}\n' \
		"$1" "$(date +%s%N)" "$(now)" "$session" "$1" "$2" >>"$transcript"
}
event session-start
event user-prompt-submit
line user '"Modernise the code"'
settle
line assistant '[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"..."}}]'
rm .env
echo 'rewritten' >local.db
sed -i.bak 's/var/const/' src/*.js && rm src/*.bak
rm -rf node_modules && mkdir -p node_modules/other && echo 'other' >node_modules/other/index.js
line user '[{"type":"tool_result","tool_use_id":"t1","content":"done"}]'
event stop

printf '%swhat it did:%s\n' "$dim" "$plain"
point=$(entire rewind --list | sed -n 's/.*"snapshot": "\(v[0-9]*\)".*/\1/p' | sed -n 2p)
printf '%s$ entire rewind --to %s --preview%s\n' "$dim" "$point" "$plain"
entire rewind --to "$point" --preview | sed '/file[2-9]/d; /file1[0-9]/d'
title '8. All of it back, in one step; that undone; and back again'
check() {
	after=$(find . -path ./.git -prune -o -path ./.entire -prune -o -type f -print | sort | xargs sha256sum | sha256sum)
	[ "$before" = "$after" ] || { echo 'the tree is not what it was' >&2; exit 1; }
	echo "every file is what it was: $(cat .env)"
}
run entire rewind --to "$point"
check
run entire undo
[ ! -e .env ]
run entire redo
check
run entire snapshot list --limit 5

title '9. /clear, and the next session knows what this one knew'
event session-end ',"reason":"other"'
begin b82f4c70-91ad-4e36-8f1b-7d2c30a9e4f5
prompt='Let tally print the sum below the list'
event session-start ',"source":"startup"'
event user-prompt-submit
line user "\"$prompt\""
settle
line assistant '[{"type":"tool_use","id":"t2","name":"TodoWrite","input":{"todos":[{"content":"Print the sum","status":"completed"},{"content":"Test the sum with an empty list","status":"in_progress"},{"content":"Mention it in the README","status":"pending"}]}}]'
line user '[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]'
sum='package main\n\n// sum adds up the counts.\nfunc sum(counts map[string]int) (n int) {\n\tfor _, c := range counts {\n\t\tn += c\n\t}\n\treturn n\n}\n'
line assistant '[{"type":"tool_use","id":"t3","name":"Write","input":{"file_path":"'"$project"'/sum.go","content":"'"$sum"'"}}]'
printf "$sum" >sum.go
line user '[{"type":"tool_result","tool_use_id":"t3","content":"ok"}]'
line assistant '[{"type":"tool_use","id":"t4","name":"Bash","input":{"command":"go vet ./..."}}]'
line user '[{"type":"tool_result","tool_use_id":"t4","content":"ok"}]'
event stop
event session-end ',"reason":"clear"'
begin c4d90e1f-5a27-4f83-a6be-19e8f7042d6c
printf '%sthe next session begins with:%s\n' "$dim" "$plain"
answer session-start ',"source":"clear"' | sed 's/.*"additionalContext":"//; s/"}}$//; s/\\n/\n/g; s/\\"/"/g'
echo
run entire recall list

title 'Now you'
cat <<END

The repository stays at $project
    cd $project
    export PATH="$(dirname "$(command -v entire)"):\$PATH"
    entire status
    entire log --commits                    # what each commit came out of
    entire show HEAD~1                      # one of them, with its conversation
    entire doctor                           # is all well?
    entire rewind                           # pick a moment
    entire recall                           # what the next session would be given
    entire diff v1                          # what changed since
    git commit --amend -m 'said better'     # the link stays
    git rebase -i --root                    # so it does here

Remove it with: rm -rf $scratch
END

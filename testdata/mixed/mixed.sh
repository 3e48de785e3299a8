#!/bin/bash
# Plays 36 turns and commits, with amends and rewinds, in which each hook is run by one of
# two versions of the program, chosen by chance: mixed.sh OLD NEW, folders with `entire`.
# It fails if a hook or a commit fails, a commit isn't linked, or a trailer names a
# checkpoint that isn't stored with its transcript.
set -u
old=$(realpath "$1")/entire new=$(realpath "$2")/entire
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/claude" "$work/bin"
export HOME=$work/home ENTIRE_TEST_CLAUDE_PROJECT_DIR=$work/claude
cat > "$work/bin/entire" <<E
#!/bin/bash
if [ \$((RANDOM % 2)) = 0 ]; then exec "$old" "\$@"; else exec "$new" "\$@"; fi
E
chmod +x "$work/bin/entire"
path=$PATH
export PATH=$work/bin:$PATH
git config --global user.email mixed@example.com
git config --global user.name mixed
git config --global init.defaultBranch main

repo=$work/repo failures=0
failed() { echo "FAIL: $*"; failures=$((failures + 1)); }
git init -q "$repo" && cd "$repo" || exit 1
git commit -q --allow-empty -m base
"$new" enable --agent claude-code </dev/null >/dev/null 2>&1 || failed enable
git add -A && git commit -qm set-up

for i in $(seq 1 36); do
	session=$(printf '%08x-1111-4111-8111-111111111111' $((i / 3 + 1)))
	transcript=$work/claude/$session.jsonl
	touch "$transcript"
	hook() {
		printf '{"session_id":"%s","transcript_path":"%s","cwd":"%s",%s}' "$session" "$transcript" "$repo" "$2" |
			entire hooks claude-code "$1" >/dev/null 2>&1 || failed "hook $1 of turn $i"
	}
	hook session-start '"hook_event_name":"SessionStart","source":"startup"'
	hook user-prompt-submit '"hook_event_name":"UserPromptSubmit","prompt":"Write file '"$i"'"'
	seq "$i" $((i + 4)) > "f$i"
	cat >> "$transcript" <<J
{"type":"user","uuid":"u$i","sessionId":"$session","cwd":"$repo","timestamp":"2026-11-24T06:00:00Z","message":{"role":"user","content":"Write file $i"}}
{"type":"assistant","uuid":"a$i","parentUuid":"u$i","sessionId":"$session","cwd":"$repo","timestamp":"2026-11-24T06:00:01Z","message":{"id":"m$i","role":"assistant","model":"claude","content":[{"type":"tool_use","id":"t$i","name":"Write","input":{"file_path":"$repo/f$i","content":"x"}}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"user","uuid":"r$i","parentUuid":"a$i","sessionId":"$session","cwd":"$repo","timestamp":"2026-11-24T06:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t$i","content":"ok"}]},"toolUseResult":{"type":"create","filePath":"$repo/f$i"}}
J
	hook stop '"hook_event_name":"Stop"'
	git add "f$i" && git commit -qm "f$i" 2>/dev/null || failed "commit $i"
	git log -1 --format=%B | grep -q '^Entire-Checkpoint: ' || failed "commit $i isn't linked"
	case $((i % 6)) in
	0) git commit -q --amend -m "f$i, again" 2>/dev/null || failed "amend $i" ;;
	3)
		before=$(cat f* | sha256sum)
		"$new" rewind last --force >/dev/null 2>&1 || failed "rewind $i"
		"$new" rewind --undo --force >/dev/null 2>&1 # fails if the rewind had nothing to change
		[ "$(cat f* | sha256sum)" = "$before" ] || failed "undo $i"
		;;
	esac
done

export PATH=$path
"$new" doctor --fix --force >/dev/null 2>&1
linked=0
for id in $(git log --format='%(trailers:key=Entire-Checkpoint,valueonly)'); do
	linked=$((linked + 1))
	git cat-file -e "refs/heads/entire/checkpoints/v1:${id:0:2}/${id:2}/0/full.jsonl" 2>/dev/null || failed "no transcript of $id"
done
git fsck --no-dangling >/dev/null 2>&1 || failed fsck
echo "$linked of 36 commits linked, $failures failures"
[ "$linked" = 36 ] && [ "$failures" = 0 ]

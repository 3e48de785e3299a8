#!/bin/sh
# What is recorded of a genuine agent: agent.sh AGENT LAB BIN. The lab's script plays the model;
# the agent writes two pages, the person commits them, and the agent commits a line of its own.
set -eu
agent=$1 lab=$2 bin=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
project=$work/project
mkdir -p "$project/docs" "$work/log"
cd "$project"
printf '# Sample\n\nA sample.\n' > README.md
printf '# Pages\n' > docs/index.md
git init -q -b main
git config user.name Demo
git config user.email demo@example.invalid
git add -A
git commit -qm 'First commit'
cat > "$work/prompts" <<'PROMPTS'
Write two pages in docs and name them in the readme
! git add docs README.md && git commit -qm 'Person commit'
Add one more line to made.txt and commit
PROMPTS
"$lab/run" --client "$agent" --project "$project" --log "$work/log" --home "$work/home" --path "$bin" --timeout 300 \
	--setup "entire enable --agent $agent && echo 'PATH=$bin:\$PATH' >> \"\$HOME/.profile\" && git config --global user.name Demo && git config --global user.email demo@example.invalid" \
	--script "$lab/examples/1-write-shell.json" --prompts "$work/prompts"
export HOME="$work/home" PATH="$bin:$PATH" PAGER=cat
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}
show git log --notes=entire --format='%h %s%n%b%N' -2
show entire log --sessions
show entire show HEAD
show entire blame made.txt
show entire agents

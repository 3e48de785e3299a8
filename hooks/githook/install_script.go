package githook

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// marker is contained in every script written by us or by the existing tool.
const marker = "Entire CLI hooks"

// backupSuffix is appended to the name of the previous hook: "<hook>.pre-entire".
const backupSuffix = ".pre-entire"

// form is the way in which a script finds the hook that it replaces.
type form int

const (
	besideForm   form = iota // in the repository's own hooks directory
	redirectForm             // in <common>/entire/hooks, to which core.hooksPath is set
)

// recordedHooks returns the hooks that call entire, in the order of installation.
// prepare-commit-msg, which writes a trailer, comes after the hooks that process it, so that a
// partial installation does no harm.
func recordedHooks() []string {
	return []string{"post-rewrite", "pre-push", "post-commit", "commit-msg", "prepare-commit-msg"}
}

// clientHooks returns the other hooks of the client side. A redirected repository has a script for
// each, whether or not the former folder has the hook at present.
func clientHooks() []string {
	return []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
		"pre-rebase", "post-checkout", "post-merge", "pre-auto-gc", "sendemail-validate",
	}
}

// rareHooks returns the hooks whose mere existence changes git's behavior, that run very often, or
// that belong to the server's side. A redirected repository has scripts only for those in the
// former folder.
func rareHooks() []string {
	return []string{
		"reference-transaction", "post-index-change", "push-to-checkout", "proc-receive", "fsmonitor-watchman",
		"pre-receive", "update", "post-receive", "post-update",
		"p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit",
	}
}

const (
	beforeSum = "#!/bin/sh\n# " + marker + "\n# Written by \"entire enable\" ("
	afterSum  = "), removed by \"entire disable --uninstall\".\n"
)

// script returns the text of the hook name. It depends only on the arguments, so that an installed
// script can be compared with it. It contains a checksum of itself, by which every version
// recognizes the scripts of other versions.
func script(name string, f form) string {
	var b strings.Builder
	b.WriteString(comment(name, f))
	b.WriteString(prologue)
	b.WriteString(older)
	if f == redirectForm {
		b.WriteString(former)
	}
	// Whether the script must read git's stdin to pass it to more than one program.
	stdin := name == "post-rewrite"
	switch name {
	case "pre-push", "pre-receive", "post-receive", "reference-transaction":
		stdin = f == redirectForm
	}
	if stdin {
		b.WriteString("entire_in=$(cat; echo .)\nentire_in=${entire_in%.}\n")
	}
	ours := ""
	if slices.Contains(recordedHooks(), name) {
		ours = call(name)
	}
	if isPost(name) {
		b.WriteString(ours + chain(name, f, stdin))
	} else {
		b.WriteString(chain(name, f, stdin) + ours)
	}
	// The key distinguishes a hook that calls us again (a tool that moved our script aside and runs
	// it) from a git operation inside a hook: it consists of the directory, the arguments and, for
	// hooks without distinctive arguments, the commit.
	key := `$(pwd -P) $*`
	if name == "post-commit" || name == "post-rewrite" {
		key = `$(pwd -P) $(git rev-parse -q --verify HEAD 2>/dev/null </dev/null) $*`
	}
	// hookManagers as quoted patterns of grep that don't match the script itself: a tool may search
	// a hook for its own name.
	var tools strings.Builder
	for i, tool := range hookManagers() {
		if i > 0 {
			tools.WriteByte(' ')
		}
		last := len(tool) - 1
		tools.WriteString("'" + tool[:last] + "[" + tool[last:] + "]'")
	}
	body := strings.NewReplacer(
		"HOOK", name,
		"GUARD", "ENTIRE_HOOK_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")),
		"KEY", key,
		"TOOLS", tools.String(),
	).Replace(b.String())
	return beforeSum + checksum(body) + afterSum + body
}

func checksum(body string) string {
	return disk.Digest([]byte(body))[:12]
}

// isPost reports whether a hook is a post hook. Git ignores its status, so entire runs first and
// gets the commit even if the other hook amends it, takes long or is stopped. For all other hooks
// the other hook runs first: entire processes the message as that hook leaves it, and doesn't run
// if it fails.
func isPost(name string) bool { return strings.HasPrefix(name, "post-") }

func comment(name string, f form) string {
	if f == redirectForm {
		return `# core.hooksPath leads here. The folder it named before still counts: its hooks
# are run by these. A value that was the repository's own is kept in
# entire.formerHooksPath; a global one is looked up.
`
	}
	if isPost(name) {
		return "# The hook that was here before is HOOK.pre-entire; it runs after entire.\n"
	}
	return "# The hook that was here before is HOOK.pre-entire; it runs first.\n"
}

const prologue = `entire_dir=.
case $0 in (*/*) entire_dir=${0%/*} ;; esac
entire_key() { printf '%s' "KEY"; }
if [ -n "${GUARD-}" ] && [ "$GUARD" = "$(entire_key "$@")" ]; then
	exit 0 # called once more by a hook that this one runs
fi
`

// older prevents the script from running the tool that moved it aside and runs it from there, as
// pre-commit does, which would then fail the commit.
const older = `entire_older() { # is $1 an older script of the tool that runs this one?
	case $0 in (HOOK | */HOOK) return 1 ;; esac
	cmp -s "$1" "$entire_dir/HOOK" && return
	for entire_tool in TOOLS; do
		grep -q "$entire_tool" "$1" && grep -q "$entire_tool" "$entire_dir/HOOK" && return
	done
	return 1
}
`

// former determines the folder that core.hooksPath would name without us, as git does: the last
// value wins, and a relative path starts where hooks run.
const former = `entire_former() {
	entire_found=$entire_dir/../../hooks
	IFS='
'
	set -f
	for entire_line in $(git config --type=path --get-regexp '^(core\.hookspath|entire\.formerhookspath)$' 2>/dev/null </dev/null); do
		[ "${entire_line#* }" -ef "$entire_dir" ] || entire_found=${entire_line#* }
	done
	printf '%s' "$entire_found"
}
`

// chain returns the code that runs the replaced hooks, up to the first that fails.
func chain(name string, f form, stdin bool) string {
	run := `GUARD=$(entire_key "$@") "$entire_hook" "$@" || exit`
	if name == messageHook {
		run += "; entire_ran=1"
	}
	if stdin {
		run = `printf '%s' "$entire_in" 2>/dev/null | ` + run
	}
	if f == redirectForm {
		return `for entire_hook in "$entire_dir/HOOK.pre-entire" "$(entire_former)/HOOK"; do
	if [ -f "$entire_hook" ] && [ -x "$entire_hook" ] && ! entire_older "$entire_hook"; then
		` + run + `
	fi
done
`
	}
	return `entire_hook=$entire_dir/HOOK.pre-entire
if [ -L "$entire_hook" ] && [ "$entire_dir.pre-entire/HOOK" -ef "$entire_hook" ]; then
	entire_hook=$entire_dir.pre-entire/HOOK # it knows by its name which hook it is
fi
if [ -f "$entire_hook" ] && [ -x "$entire_hook" ] && ! entire_older "$entire_hook"; then
	` + run + `
fi
`
}

// messageHook is the hook that reads the message after the editor has exited.
const messageHook = "commit-msg"

// unedited saves a process in each git commit -m: git sets GIT_EDITOR to ":" if it starts no
// editor.
const unedited = `entire_unedited() { # is the message as prepare-commit-msg left it?
	case $0 in (HOOK | */HOOK) [ "${GIT_EDITOR-}" = : ] && [ -z "${entire_ran-}" ] ;; (*) return 1 ;; esac
}
`

// call returns the code that runs entire, if it is installed, and ignores its exit status.
func call(name string) string {
	stdin := ""
	before := ""
	when, unless := "", ""
	switch name {
	case messageHook:
		when, unless = unedited, "! entire_unedited && "
	case "pre-push":
		stdin = " </dev/null"
	case "post-rewrite":
		before = `printf '%s' "$entire_in" 2>/dev/null | `
	}
	return when + `if ` + unless + `command -v entire >/dev/null 2>&1; then
	` + before + `entire hooks git HOOK "$@"` + stdin + ` || true
fi
`
}

// origin is the author of a hook file.
type origin int

const (
	absent  origin = iota // the file doesn't exist
	current               // ours, up to date
	ours                  // ours or the existing tool's, to be replaced
	edited                // ours, changed by the user
	foreign               // another program's
)

// originOf returns the origin of a file with this text for the hook name.
func originOf(name string, f form, text string) origin {
	rest, begins := strings.CutPrefix(text, beforeSum)
	sum, body, found := strings.Cut(rest, afterSum)
	switch {
	case text == script(name, f):
		return current
	case !strings.Contains(text, marker):
		return foreign
	case begins && found && sum == checksum(body): // as written by some version of ours
		return ours
	case isExisting(name, text):
		return ours
	case strings.Contains(text, " hooks git "+name):
		return edited
	}
	return foreign
}

// isExisting reports whether every line of text is one that the existing tool writes into the hook
// name: its command, also in the form for its own development, and the block that runs the backup.
func isExisting(name, text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		program, _, calls := strings.Cut(line, " hooks git "+name)
		switch {
		case line == "", line == "fi", strings.HasPrefix(line, "#"):
		case calls && (program == "entire" || strings.HasPrefix(program, "go run ")):
		case strings.HasPrefix(line, "_entire_hook_dir="), strings.Contains(line, "$_entire_hook_dir/"+name+backupSuffix):
		default:
			return false
		}
	}
	return true
}

// hookManagers returns words that identify the scripts of hook managers.
func hookManagers() []string {
	return []string{
		"generated by pre-commit", "lefthook", "husky", "overcommit", "git-lfs", "git lfs", "simple-git-hooks", "captainhook",
	}
}

// sameTool reports whether two hooks were written by the same hook manager, so that the newer one
// replaces the older.
func sameTool(a, b string) bool {
	return a == b || slices.ContainsFunc(hookManagers(), func(tool string) bool {
		return strings.Contains(a, tool) && strings.Contains(b, tool)
	})
}

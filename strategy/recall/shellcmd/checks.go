package shellcmd

import (
	"slices"
	"strings"
)

// Checks is the set of checks that a command runs, including commits and pushes.
type Checks uint8

// The checks. A failed check is a blocker until a command with the same check passes.
const (
	tests Checks = 1 << iota
	builds
	lints
	commits // merges, rebases and commits
	pushes
)

// Tests returns the tests of the set.
func (c Checks) Tests() Checks { return c & tests }

// Git returns the checks of git commands of the set.
func (c Checks) Git() Checks { return c & (commits | pushes) }

// GitChecks returns the checks of git commands.
func GitChecks() Checks { return commits | pushes }

// Names returns the names of the checks.
func (c Checks) Names() []string {
	var names []string
	for i, name := range []string{"tests", "builds", "lints", "commits", "pushes"} {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Runs reports whether the line runs a program.
func (l Line) Runs(program string) bool {
	return slices.ContainsFunc(l.commands, func(c command) bool { return c.program() == program })
}

// Commits reports whether the set has a commit.
func (c Checks) Commits() bool { return c&commits != 0 }

// Checks returns the checks of all commands of the line.
func (l Line) Checks() Checks {
	var all Checks
	for _, c := range l.commands {
		all |= c.checks()
	}
	return all
}

func (c command) checks() Checks {
	switch c.program() {
	case "pytest", "py.test", "jest", "vitest", "mocha", "rspec", "ctest", "phpunit", "tox", "nox", "nextest", "ava":
		return tests
	case "golangci-lint", "eslint", "ruff", "flake8", "mypy", "pyright", "pylint", "rubocop", "shellcheck", "biome",
		"staticcheck", "clippy", "stylelint", "ktlint":
		return lints
	case "tsc", "gcc", "g++", "clang", "javac", "webpack", "ninja", "rustc":
		return builds
	case "go", "cargo", "dotnet", "swift", "deno", "mix", "zig", "dart", "flutter", "stack", "cabal", "bazel", "sbt", "lein":
		switch c.argument(0) {
		case "test", "nextest":
			return tests
		case "build", "install", "check", "compile":
			return builds
		case "vet", "clippy", "lint", "credo", "dialyzer", "analyze":
			return lints
		}
	case "make", "gmake", "just", "task", "mise", "rake", "gradle", "gradlew", "mvn", "mvnw", "npm", "yarn", "pnpm", "bun",
		"nx", "turbo", "poetry", "uv", "bundle", "hatch", "invoke", "composer", "python", "python3", "vite", "next", "cmake",
		"playwright", "cypress", "ng":
		return c.targets()
	case "git":
		switch c.argument(0) {
		case "commit", "merge", "rebase", "cherry-pick", "pull":
			return commits
		case "push":
			return pushes
		}
	}
	return 0
}

// targets returns the checks of a task runner's targets, judged by their names.
func (c command) targets() Checks {
	var all Checks
	for _, arg := range c.arguments() {
		arg = strings.ToLower(arg)
		switch {
		case contains(arg, "/", "."):
			// a file
		case contains(arg, "test", "spec", "e2e", "verify"):
			all |= tests
		case contains(arg, "lint", "check", "vet", "mypy", "ruff", "eslint", "tsc"):
			all |= lints
		case contains(arg, "build", "compile", "package", "bundle", "assemble"):
			all |= builds
		}
	}
	if p := c.program(); all == 0 && (p == "make" || p == "gmake") && c.argument(0) == "" {
		return builds
	}
	return all
}

// DescribedChecks returns the checks of a command according to the agent's description of
// it.
func DescribedChecks(purpose string) Checks {
	purpose = strings.ToLower(purpose)
	if !strings.HasPrefix(purpose, "run ") {
		return 0
	}
	switch {
	case contains(purpose, " tests", " test suite"):
		return tests
	case contains(purpose, " lint"):
		return lints
	}
	return 0
}

func contains(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// Trivial reports whether all commands of the line only show something.
func (l Line) Trivial() bool {
	return !slices.ContainsFunc(l.commands, func(c command) bool { return !c.trivial() })
}

func (c command) trivial() bool {
	switch c.program() {
	case "", "ls", "cat", "pwd", "cd", "echo", "head", "tail", "which", "type", "sleep", "true", "false", "wc", "find", "fd", "grep",
		"egrep", "rg", "ag", "sed", "awk", "tree", "less", "more", "nl", "stat", "file", "du", "df", "date", "env", "printenv",
		"printf", "sort", "uniq", "cut", "tr", "xargs", "jq", "yq", "diff", "mkdir", "touch", "chmod", "ps", "whoami", "hostname",
		"uname", "basename", "dirname", "realpath", "readlink", "test", "[", "column", "tee", "export", "source", "kill", "pgrep",
		"done", "fi", "for", "while", "else", "strings", "xxd", "hexdump", "id", "history", "wait", "set", "unset", "return", "exit":
		return true
	case "git":
		command := c.argument(0)
		if slices.Contains(c.words, "-C") {
			command = c.argument(1)
		}
		switch command {
		case "status", "diff", "log", "show", "branch", "remote", "rev-parse", "rev-list", "ls-files", "ls-tree", "blame", "describe",
			"config", "reflog", "cat-file", "grep", "shortlog", "merge-base", "for-each-ref", "check-ignore", "":
			return true
		}
		return false
	case "gh":
		return slices.Contains([]string{"view", "list", "diff", "status"}, c.argument(1)) ||
			c.argument(0) == "api" && !slices.Contains(c.words, "-f") && !slices.Contains(c.words, "-X")
	case "go":
		return slices.Contains([]string{"doc", "list", "env", "version"}, c.argument(0))
	}
	return slices.Equal(c.words[1:], []string{"--version"}) || slices.Equal(c.words[1:], []string{"--help"})
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestMain makes the test binary stand in for the programs: it is on the PATH of every script as
// entire, which runs all commands itself, and as agentfs. With ENTIRE_TEST_PROGRAMS the programs in
// that folder are run instead.
func TestMain(m *testing.M) {
	entire := func() { os.Exit(app.Run(version, checked(cli.Main))) }
	testscript.Main(withPrograms{testkit.InMemory(m)}, map[string]func(){
		"entire": entire, hookrun.CommandsName: entire,
		"agentfs": func() { os.Exit(app.Run(version, checked(cli.MainFS, "agentfs"))) },
	})
}

// withPrograms runs tests with the programs in ENTIRE_TEST_PROGRAMS, if it is set, in place of the
// test binary.
type withPrograms struct{ tests interface{ Run() int } }

func (w withPrograms) Run() int {
	if dir := os.Getenv("ENTIRE_TEST_PROGRAMS"); dir != "" {
		_, others, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator))
		if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+others); err != nil {
			panic(err)
		}
	}
	return w.tests.Run()
}

// TestScript runs testdata/script: one behavior each, with real git. Under -short it runs every
// 64th, some of each area, and with the race detector those with several sessions.
func TestScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	n := 0
	files = slices.DeleteFunc(files, func(path string) bool {
		n++
		switch {
		case !testing.Short():
			return false
		case raceEnabled:
			return !strings.HasPrefix(filepath.Base(path), "s")
		default:
			return n%64 != 0
		}
	})
	if inRefs() {
		files = withULIDs(t, files)
	}
	faults := t.TempDir()
	t.Cleanup(func() { reportFaults(t, faults) })
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, faultsVariable+"="+faults)
			return setup(env)
		},
		Cmds:      commands(),
		Condition: condition,
	})
}

// inRefs reports whether ENTIRE_TEST_PRIMARY selects refs of their own for new checkpoints.
func inRefs() bool { return os.Getenv("ENTIRE_TEST_PRIMARY") == settings.GitRefs }

// withULIDs returns copies of the scripts in which patterns of ids match ULIDs, too.
func withULIDs(t *testing.T, files []string) []string {
	t.Helper()
	dir := t.TempDir()
	copies := make([]string, len(files))
	for i, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copies[i] = filepath.Join(dir, filepath.Base(path))
		text := strings.ReplaceAll(string(data), "[0-9a-f]{12}", "(?:[0-9a-f]{12}|[0-9A-Z]{26})")
		if err := os.WriteFile(copies[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return copies
}

// storyKey is the key of the story of a script.
type storyKey struct{}

// story is the state of one script.
type story struct {
	ts       *testscript.TestScript
	names    []string // variables of the script's environment
	sessions map[string]*testkit.Session
	agents   map[string]*testkit.Subagent
	home     bool // sessions are in HOME, not in a folder of the test
	memory   map[string]string
}

// scriptTB adapts a script to testkit.TB.
type scriptTB struct{ *testscript.TestScript }

func (scriptTB) Helper() {}

func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	clean := testkit.CleanEnv(home, env.Getenv("TMPDIR"), env.Getenv("PATH"))
	env.Vars = append(env.Vars, clean...)
	env.Vars = append(env.Vars, "SECRET="+testkit.Secret(), "AWS_SECRET="+testkit.AWSSecret(),
		"SECRET_TAIL="+testkit.Secret()[4:])
	_, others, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
	env.Vars = append(env.Vars, "NOENTIRE="+others) // a PATH without the program
	s := &story{sessions: map[string]*testkit.Session{}, agents: map[string]*testkit.Subagent{}, memory: map[string]string{}}
	for _, entry := range env.Vars {
		name, _, _ := strings.Cut(entry, "=")
		if len(name) > 1 && !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	s.names = append(s.names, "GIT_SEQUENCE_EDITOR", "GIT_INDEX_FILE", "GNUPGHOME", "CLAUDECODE",
		"CLAUDE_CODE_SESSION_ID", "XDG_CONFIG_HOME", "GIT_DIR", "GIT_WORK_TREE", "ENTIRE_LOG_LEVEL",
		"ENTIRE_TEST_CLAUDE_PROJECT_DIR")
	env.Values[storyKey{}] = s
	env.Defer(func() {
		for _, session := range s.sessions {
			session.Die()
		}
	})
	return nil
}

// condition evaluates conditions that testscript doesn't have.
func condition(cond string) (bool, error) {
	switch cond {
	case "race":
		return raceEnabled, nil
	case "refs":
		return inRefs(), nil
	case "programs":
		return os.Getenv("ENTIRE_TEST_PROGRAMS") != "", nil
	case "reftable":
		dir, err := os.MkdirTemp("", "reftable")
		if err != nil {
			return false, err
		}
		err = exec.Command("git", "init", "-q", "--ref-format=reftable", dir).Run()
		return err == nil, os.RemoveAll(dir)
	case "gitlfs":
		_, err := exec.LookPath("git-lfs")
		return err == nil, nil
	}
	return false, nil
}

// of returns the story of a script.
func of(ts *testscript.TestScript) *story {
	s, ok := ts.Value(storyKey{}).(*story)
	if !ok {
		ts.Fatalf("no story")
	}
	s.ts = ts
	return s
}

// env returns the script's current environment.
func (s *story) env() testkit.Env {
	var env testkit.Env
	for _, name := range s.names {
		if value := s.ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// repo returns the repository at the script's current folder.
func (s *story) repo() *testkit.Repo {
	return &testkit.Repo{TB: scriptTB{s.ts}, Dir: s.ts.MkAbs("."), Env: s.env(), InProcess: inProcess}
}

// command is a script command: a story and arguments.
type command func(s *story, args []string)

// commands returns the commands of the scripts; docs/testing.md explains them.
func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	words := map[string]command{
		"fact": cmdFact, "repo": cmdRepo, "write": cmdWrite, "append": cmdAppend, "swap": cmdSwap,
		"linked": cmdLinked, "unlinked": cmdUnlinked, "same": cmdSame, "trailer": cmdTrailer,
		"checkpoint": cmdCheckpoint, "slot": cmdSlot, "sessions": cmdSessions, "prompts": cmdPrompts,
		"transcript": cmdTranscript, "tokens": cmdTokens, "pending": cmdPending, "phase": cmdPhase,
		"message": cmdMessage, "subject": cmdSubject, "invariants": cmdInvariants, "checkpoints": cmdCheckpoints,
		"shadows": cmdShadows, "shadow": cmdShadow, "remember": cmdRemember, "unchanged": cmdUnchanged,
		"logged": cmdLogged, "clean-of": cmdCleanOf, "pass": cmdPass, "payload": cmdPayload, "upstream": cmdUpstream, "record": cmdRecord, "lose": cmdLose,
		"nostate": cmdNoState, "says": cmdSays, "parts": cmdParts, "subagent": cmdSubagent, "tasks": cmdTasks, "used": cmdUsed,
		"attributed": cmdAttributed, "contexts": cmdContexts, "context": cmdContext, "guide": cmdGuide, "guidescript": cmdGuideScript,
		"uninstalled": cmdUninstalled, "imported": cmdImported, "opencode-db": cmdOpenCodeDB,
	}
	table := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"git": cmdGit, "claude": cmdClaude,
	}
	for name, run := range words {
		table[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s can't be negated", name)
			}
			run(of(ts), args)
		}
	}
	return table
}

// cmdGit runs git as the user.
func cmdGit(ts *testscript.TestScript, neg bool, args []string) {
	for i := range args {
		args[i] = unescape(args[i])
	}
	err := ts.Exec("git", args...)
	if err != nil && !neg {
		ts.Fatalf("git failed: %v", err)
	}
	if err == nil && neg {
		ts.Fatalf("git succeeded")
	}
}

// unescape replaces \n, \t, \r, \xff and \\ by the characters that they stand for.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\xff`, "\xff").Replace(text)
	return text
}

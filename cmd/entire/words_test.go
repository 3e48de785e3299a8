package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// cmdRepo creates a repository of a kind and changes to it: repo [-off] [KIND]. Unless -off is
// given it is enabled for Claude Code, and the files written for that are committed without
// hooks.
func cmdRepo(s *story, args []string) {
	off := len(args) > 0 && args[0] == "-off"
	if off {
		args = args[1:]
	}
	work := filepath.Join(s.ts.Getenv("WORK"), "w")
	if len(args) > 1 && args[0] == "-in" {
		work, args = filepath.Join(work, args[1]), args[2:]
	}
	kind := arg(args, 0, "plain")
	repo, unsupported := testkit.NewRepo(scriptTB{s.ts}, work, kind, s.env())
	if unsupported {
		s.ts.Fatalf("this git can't make a repository of kind %v", args)
	}
	s.ts.Check(s.ts.Chdir(repo.Dir))
	if off {
		return
	}
	repo.InProcess = inProcess
	repo.Entire("enable", "--agent", "claude-code")
	if kind == "empty" || kind == "bare" {
		return
	}
	repo.TryGit("add", "-A") // in a sparse checkout git refuses paths outside it
	made := repo.TryGit("-c", "user.name=Ada Tester", "-c", "user.email=ada@example.com", "-c", "core.hooksPath=/nowhere",
		"commit", "-q", "-m", "set up")
	if made.Code != 0 && repo.TryGit("diff", "--cached", "--quiet").Code != 0 {
		s.ts.Fatalf("commit the files of enable: %s", made.Stderr)
	}
}

// cmdWrite writes a file as the user would: write PATH TEXT.
func cmdWrite(s *story, args []string) {
	s.repo().Write(unescape(arg(args, 0, "")), unescape(arg(args, 1, ""))+"\n")
}

// cmdAppend adds a line as the user would.
func cmdAppend(s *story, args []string) {
	repo, path := s.repo(), unescape(arg(args, 0, ""))
	repo.Write(path, repo.Read(path)+unescape(arg(args, 1, ""))+"\n")
}

// cmdSwap replaces text in a file as the user would: swap PATH OLD NEW.
func cmdSwap(s *story, args []string) {
	repo, path, old := s.repo(), unescape(arg(args, 0, "")), unescape(arg(args, 1, ""))
	text := repo.Read(path)
	if !strings.Contains(text, old) {
		s.ts.Fatalf("%q isn't in %s", old, path)
	}
	repo.Write(path, strings.Replace(text, old, unescape(arg(args, 2, "")), 1))
}

// cmdPass waits until the file system's clock has advanced: pass MILLISECONDS.
func cmdPass(s *story, args []string) {
	d, err := time.ParseDuration(arg(args, 0, "120") + "ms")
	s.ts.Check(err)
	testkit.Pass(scriptTB{s.ts}, s.ts.Getenv("TMPDIR"), d)
}

// cmdPayload writes a file that is hard to spell in a script:
//
//	payload FILE deep|long|cut|nul
//	payload FILE text TEXT
func cmdPayload(s *story, args []string) {
	session := s.session("main")
	head := `{"session_id":"` + testkit.UUID(arg(args, 1, "")) + `","transcript_path":"` + session.Transcript.Path +
		`","cwd":"` + s.ts.MkAbs(".") + `","hook_event_name":"UserPromptSubmit","prompt":"`
	var text string
	switch arg(args, 1, "") {
	case "text":
		text = strings.Join(args[2:], " ")
	case "deep":
		text = strings.Repeat("[", 2_000_000)
	case "long":
		text = head + strings.Repeat("long ", 64<<20/5) + `"}`
	case "cut":
		text = head + "and then it was"
	case "nul":
		text = strings.Repeat("\x00", 4096)
	}
	s.repo().Write(args[0], text)
}

// files returns every file below the script's folder with a hash of its content, .git's index
// included, logs excluded.
func (s *story) files() map[string]string {
	list := map[string]string{}
	root := s.ts.Getenv("WORK")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(path, root+"/")
		if entry.IsDir() {
			if relative == ".tmp" {
				return fs.SkipDir
			}
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			list[relative] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		list[relative] = fmt.Sprintf("%x", sha256.Sum256(data))
		return nil
	})
	s.ts.Check(err)
	return list
}

// cmdRemember records every file below $WORK.
func cmdRemember(s *story, _ []string) { s.memory = s.files() }

// cmdUnchanged checks that no file was added, removed or changed since remember, except those
// that match an argument: unchanged [REGEXP...].
func cmdUnchanged(s *story, args []string) {
	now := s.files()
	var faults []string
	report := func(what, path string) {
		for _, pattern := range args {
			if regexp.MustCompile(pattern).MatchString(path) {
				return
			}
		}
		faults = append(faults, what+" "+path)
	}
	for path, sum := range now {
		if old, was := s.memory[path]; !was {
			report("new:", path)
		} else if old != sum {
			report("changed:", path)
		}
	}
	for path := range s.memory {
		if _, is := now[path]; !is {
			report("gone:", path)
		}
	}
	if len(faults) > 0 {
		s.ts.Fatalf("not as it was:\n%s", strings.Join(faults, "\n"))
	}
}

// cmdUpstream creates a repository as recorded by the existing tool, and changes to it.
func cmdUpstream(s *story, _ []string) {
	work := filepath.Join(s.ts.Getenv("WORK"), "w")
	s.ts.Check(os.MkdirAll(work, 0o755))
	recorded := testkit.NewUpstream(scriptTB{s.ts}, work, filepath.Join(s.ts.Getenv("WORK"), "claude"), s.env())
	s.ts.Check(s.ts.Chdir(recorded.Dir))
	s.sessions["main"] = recorded.Session
}

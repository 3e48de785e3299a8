//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCrashRewindConversation stops a rewind of files and conversation, its undo and its redo
// at every write. If files and conversation don't match then, the next call reports it, and the
// commands that it names lead to either side. No transcript is lost.
func TestCrashRewindConversation(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	to := []string{"rewind", "--to", "v3", "--conversation"}
	undo, redo := []string{"rewind", "--undo"}, []string{"rewind", "--redo"}
	for name, c := range map[string]struct {
		first         [][]string
		args          []string
		before, after string
	}{
		"to":   {nil, to, "late", "early"},
		"undo": {[][]string{to}, undo, "early", "late"},
		"redo": {[][]string{to, undo}, redo, "late", "early"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			s := rewindScene(t, root, bin)
			p, talks := s.p, map[string]string{"late": transcriptOf(s.p)}
			copyAll(t, root, root+".kept")
			p.Entire(to...)
			talks["early"] = transcriptOf(p)
			copyAll(t, root+".kept", root)
			if talks["early"] == talks["late"] || !strings.HasPrefix(talks["late"], talks["early"]) {
				t.Fatal("the conversation was not cut back")
			}
			for _, args := range c.first {
				p.Entire(args...)
			}
			copyAll(t, root, root+".kept")
			// side returns the side that everything belongs to, early or late, or mixed.
			side := func() string {
				for _, side := range []string{"late", "early"} {
					if treeOf(p) == s.trees[side] && transcriptOf(p) == talks[side] && strings.Join(p.pending("main"), " ") == s.pending[side] {
						return side
					}
				}
				return "mixed"
			}
			points, apart := 0, 0
			for step := 1; !t.Failed(); step++ {
				if !(rewindCase{args: c.args}).stopAt(p, step) {
					break
				}
				points++
				where := fmt.Sprintf("stopped at step %d", step)
				half, is := interrupted(p), side()
				if !half && transcriptOf(p) == talks[c.before] && treeOf(p) != s.trees[c.before] {
					t.Errorf("%s: files and conversation don't agree, and nobody says so", where)
				}
				if half && treeOf(p) == s.trees[c.after] && transcriptOf(p) == talks[c.before] {
					apart++
				}
				if half && c.args[1] == "--to" {
					copyAll(t, root, root+".half")
					p.Entire(to...)
					if side() != "early" || interrupted(p) {
						t.Errorf("%s, then completed: files and conversation don't agree", where)
					}
					if p.Entire(undo...); side() != "late" {
						t.Errorf("%s, completed and taken back: pending %q, tree and conversation late %v, %v", where, p.pending("main"), treeOf(p) == s.trees["late"], transcriptOf(p) == talks["late"])
					}
					copyAll(t, root+".half", root)
				}
				if half || is == "early" {
					p.Entire(undo...)
				}
				if is = side(); is == "mixed" || interrupted(p) {
					t.Errorf("%s, then --undo: pending %q, tree and conversation late %v, %v", where, p.pending("main"), treeOf(p) == s.trees["late"], transcriptOf(p) == talks["late"])
				}
				copyAll(t, root+".kept", root)
			}
			t.Logf("%d points, %d between files and conversation", points, apart)
			if points < 10 || apart == 0 {
				t.Error("too few")
			}
		})
	}
}

// transcriptOf returns the transcript of the scene's only session.
func transcriptOf(p *play) string {
	p.TB.Helper()
	var found []string
	err := filepath.WalkDir(p.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".jsonl" && !strings.Contains(path, "/transcripts/") {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		p.TB.Fatalf("transcripts: %q, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		p.TB.Fatalf("read transcript: %v", err)
	}
	return string(data)
}

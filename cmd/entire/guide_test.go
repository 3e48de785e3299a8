package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// cmdGuide runs the commands in a page's blocks marked sh, one after another: guide PAGE
// [OLD=NEW]... replaces example values of the page, such as an id. "cd DIR" applies to the rest
// of its block. Each command must succeed, or fail because it can't ask without a terminal.
// Other programs that a test can't run (make, claude, export) are skipped.
func cmdGuide(s *story, args []string) {
	page, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(arg(args, 0, ""))))
	s.ts.Check(err)
	var replace []string
	for _, pair := range args[1:] {
		from, to, _ := strings.Cut(pair, "=")
		replace = append(replace, from, to)
	}
	example := strings.NewReplacer(replace...)
	others := regexp.MustCompile(`^(make|claude|export|[A-Z_]+=\S+ claude)\b`)
	ran := 0
	here := s.ts.MkAbs(".")
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		if strings.HasPrefix(block[1], "#!") { // a script: see cmdGuideScript
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(block[1], "|\n", "|")) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") || others.MatchString(line) {
				continue
			}
			ran++
			line = example.Replace(line)
			if dir, found := strings.CutPrefix(line, "cd "); found {
				s.ts.Check(s.ts.Chdir(strings.Replace(dir, "~", s.ts.Getenv("HOME"), 1)))
				continue
			}
			if err := s.ts.Exec("sh", "-c", line); err != nil && !strings.Contains(s.ts.ReadFile("stderr"), "can't ask without a terminal") {
				s.ts.Fatalf("%s: %s: %v\n%s", args[0], line, err, s.ts.ReadFile("stderr"))
			}
		}
		s.ts.Check(s.ts.Chdir(here))
	}
	if ran == 0 {
		s.ts.Fatalf("%s: no commands", args[0])
	}
}

// cmdGuideScript writes the script of a page, the block that begins with #!, to a file.
func cmdGuideScript(s *story, args []string) {
	page, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(arg(args, 0, ""))))
	s.ts.Check(err)
	block := regexp.MustCompile("(?ms)^```sh\n(#!.*?)^```$").FindSubmatch(page)
	if block == nil {
		s.ts.Fatalf("%s has no script", args[0])
	}
	s.ts.Check(os.WriteFile(s.ts.MkAbs(arg(args, 1, "")), block[1], 0o600))
}

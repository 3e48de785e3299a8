//go:build ignore

// Command bigrams_gen writes bigrams.bin: for each pair of characters of a token how much more, in
// eighths of a bit, the second is expected after the first in names and words than in a random
// token. It counts the distinct runs of letters, digits and signs in the texts below the given
// folders:
//
//	go run bigrams_gen.go /usr/local/go/src ...
package main

import (
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"
)

const characters = 64

func class(b byte) int {
	switch {
	case 'a' <= b && b <= 'z':
		return int(b - 'a')
	case 'A' <= b && b <= 'Z':
		return int(b-'A') + 26
	case '0' <= b && b <= '9':
		return int(b-'0') + 52
	case b == '-' || b == '_':
		return 62
	}
	return 63
}

func main() {
	run := regexp.MustCompile(`[A-Za-z0-9_+/-]{4,60}`)
	seen := make(map[string]bool)
	for _, dir := range os.Args[1:] {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > 1<<20 {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil || !utf8.Valid(data) {
				return err
			}
			for _, m := range run.FindAll(data, -1) {
				seen[string(m)] = true
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	var counts [characters][characters]float64
	for s := range seen {
		for i := 1; i < len(s); i++ {
			counts[class(s[i-1])][class(s[i])]++
		}
	}
	table := make([]byte, 0, characters*characters)
	for _, row := range counts {
		sum := 0.0
		for _, n := range row {
			sum += n
		}
		for _, n := range row {
			bits := math.Log2((n + 0.5) / (sum + characters/2) * characters)
			table = append(table, byte(int8(math.Round(max(-10, min(10, bits))*8))))
		}
	}
	if err := os.WriteFile("bigrams.bin", table, 0o644); err != nil {
		log.Fatal(err)
	}
}

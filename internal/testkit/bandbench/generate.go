package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	sources    = 1000 // files of src/ that are changed and restored
	leastFiles = 2 * sources
)

// template generates the tree once: src/ with a thousand sources, and node_modules with the other
// files. Equal options give the same tree.
func template(o options, progress io.Writer) (string, error) {
	dir := filepath.Join(o.cache, fmt.Sprintf("tree-%d-%d", o.files, o.megabytes))
	mark := dir + ".complete"
	if _, err := os.Stat(mark); err == nil {
		return dir, nil
	}
	fmt.Fprintf(progress, "generating %d files, %d MB\n", o.files, o.megabytes)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("generate: %w", err)
	}
	g := &grower{
		r: rand.New(rand.NewPCG(1, 2)), left: o.files, bytes: int64(o.megabytes) << 20, //nolint:gosec // to be repeated, not secret
		old: time.Unix(1700000000, 123456789),
	}
	letters := "etaoinshrdlucmfwypvbgkjqxz"
	for range 4000 { // as many as the common words of a language
		word := make([]byte, 2+g.r.IntN(9))
		for i := range word {
			word[i] = letters[int(float64(len(letters))*math.Pow(g.r.Float64(), 1.7))]
		}
		g.words = append(g.words, string(word))
	}
	const perDir = 20
	for i := range sources {
		path := filepath.Join(dir, "src", fmt.Sprintf("part%02d", i/perDir), fmt.Sprintf("file%03d.ts", i))
		g.file(path, 3000+g.r.IntN(6000), true)
	}
	g.modules(filepath.Join(dir, "node_modules"))
	if g.err != nil {
		return "", fmt.Errorf("generate: %w", g.err)
	}
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		return "", fmt.Errorf("generate: %w", err)
	}
	return dir, nil
}

// grower generates the tree. It stops at the first error.
type grower struct {
	r     *rand.Rand
	words []string
	left  int   // files still to be made
	bytes int64 // still to be written
	old   time.Time
	buf   []byte
	err   error
}

// modules makes packages with seven to eight files per directory until no files are left.
func (g *grower) modules(dir string) {
	licence := slices.Clone(g.text(1100))
	for n := 0; g.left > 0 && g.err == nil; n++ {
		pkg := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", g.words[n%len(g.words)], g.words[n*7%len(g.words)], n))
		if n%5 == 0 {
			pkg = filepath.Join(dir, "@scope"+g.words[n%40], filepath.Base(pkg))
		}
		g.write(filepath.Join(pkg, "LICENSE"), licence) // identical in many packages
		g.file(filepath.Join(pkg, "package.json"), 900+g.r.IntN(1500), true)
		for _, sub := range []string{"", "lib", "dist", "dist/esm", "lib/internal", "types"}[:1+g.r.IntN(6)] {
			for i := range 2 + g.r.IntN(13) {
				g.file(filepath.Join(pkg, sub, fmt.Sprintf("%s-%d.js", g.words[(n+i)%len(g.words)], i)), g.size(), g.r.IntN(100) >= 10)
			}
		}
	}
}

// size returns the length of a file: most are small, and a few contain most of the bytes. In the
// end the sum is the requested size.
func (g *grower) size() int {
	mean := float64(g.bytes) / float64(max(g.left, 1))
	const sigma = 1.4
	size := math.Exp(math.Log(mean) - sigma*sigma/2 + sigma*g.r.NormFloat64()) //nolint:mnd // the mean of a log-normal distribution
	return int(min(size, 6<<20, float64(max(g.bytes, 0))))
}

// file writes a file of text, or of incompressible bytes.
func (g *grower) file(path string, size int, text bool) {
	if g.left == 0 {
		return
	}
	if text {
		g.write(path, g.text(size))
		return
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(g.r.Uint32())
	}
	g.write(path+".bin", data)
}

// text resembles source code: most phrases of a file occur several times in it.
func (g *grower) text(size int) []byte {
	const own = 24 // phrases of one file
	marks := []string{" ", "(", ")", ".", ", ", ";\n", " = ", "\n  ", "{\n    ", "}\n", "'", " => "}
	phrases := make([]string, 0, own)
	for range own {
		var b strings.Builder
		for range 2 + g.r.IntN(5) {
			b.WriteString(g.word())
			b.WriteString(marks[g.r.IntN(len(marks))])
		}
		phrases = append(phrases, b.String())
	}
	b := g.buf[:0]
	for len(b) < size {
		if g.r.IntN(3) > 0 {
			b = append(b, phrases[g.r.IntN(own)]...)
			continue
		}
		b = append(append(b, g.word()...), marks[g.r.IntN(len(marks))]...)
	}
	g.buf = b
	return b[:size]
}

// word returns a random word; a few are frequent.
func (g *grower) word() string {
	return g.words[int(float64(len(g.words))*math.Pow(g.r.Float64(), 3))] //nolint:mnd // the curve
}

func (g *grower) write(path string, data []byte) {
	if g.err != nil || g.left == 0 {
		return
	}
	g.left--
	g.bytes -= int64(len(data))
	if g.err = os.MkdirAll(filepath.Dir(path), 0o755); g.err != nil {
		return
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(path, "-0.js") {
		mode = 0o755
	}
	if g.err = os.WriteFile(path, data, mode); g.err == nil {
		when := g.old.Add(time.Duration(g.left) * time.Second)
		g.err = os.Chtimes(path, when, when)
	}
}

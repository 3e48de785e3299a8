package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// The number of snapshots, and of the files that each of them changes.
const (
	bisected     = 32
	bisectedEach = 20
)

// bisect measures the time from the end of one run of the command to the start of the next, in a
// search for the first bad snapshot. The budget is 300 ms.
func bisect(b *bench, rows []*row) {
	h := bigRepo()
	dir := b.repository(h, "bisect")
	entire := func(args ...string) {
		testkit.Call{Dir: dir, Env: b.env, Name: b.bin, Args: args}.Must(b)
	}
	entire("enable", "--agent", "claude-code")
	entire("fs", "checkpoint", "create", "good")
	for i := range bisected {
		for n := range bisectedEach {
			path := filepath.Join(dir, h.path(i*bisectedEach+n))
			b.Must(os.WriteFile(path, fmt.Appendf(nil, "change %d\n", i), 0o600))
		}
		if i == bisected*2/3 {
			b.Must(os.WriteFile(filepath.Join(dir, "broken"), nil, 0o600))
		}
		entire("fs", "checkpoint", "create", "step "+strconv.Itoa(i))
	}
	b.slim()
	times := filepath.Join(b.work, "times")
	// Each run writes two lines: the times of its start and its end, in nanoseconds.
	command := fmt.Sprintf("date +%%s%%N >> %[1]s; ! test -e broken; was=$?; date +%%s%%N >> %[1]s; exit $was", times)
	v := b.version()
	entire("bisect", "run", "--from", "v1", "--", "sh", "-c", command)
	data, err := os.ReadFile(times)
	b.Must(err)
	var at []int64
	for line := range strings.Lines(string(data)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		b.Must(err)
		at = append(at, n)
	}
	for i := 2; i < len(at); i += 2 {
		rows[0].add(sample{ms: float64(at[i]-at[i-1]) / 1e6}, v)
	}
	b.Must(os.RemoveAll(dir))
}

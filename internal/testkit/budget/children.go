package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// patience is the maximum duration of a detached child.
const patience = 15 * time.Minute

// children returns the running processes of the measured programs; none on systems without /proc.
func (b *bench) children() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if exe, err := os.Readlink(filepath.Join("/proc", e.Name(), "exe")); err == nil && filepath.Dir(exe) == filepath.Dir(b.bin) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// quiet waits until all detached children of hooks have exited.
func (b *bench) quiet() {
	for deadline := time.Now().Add(patience); ; {
		pids := b.children()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			b.child = max(b.child, highWater(pid))
		}
		if b.ctx.Err() != nil || time.Now().After(deadline) {
			b.Fatalf("detached children still run: %v", pids)
		}
		time.Sleep(poll)
	}
}

const poll = 10 * time.Millisecond

// highWater returns the peak memory of a running process, in KiB.
func highWater(pid int) int64 {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib
}

// progress has the parts of a session's state that show how much of its transcript is stored.
type progress struct {
	Recorder struct {
		Cursor struct {
			Offset int64 `json:"offset"`
		} `json:"cursor"`
		Stored struct {
			Raw int64 `json:"raw"`
		} `json:"stored"`
		Incomplete []string `json:"incomplete"`
	} `json:"recorder"`
}

// stored waits until the session's whole transcript is stored.
func (p *play) stored() {
	var size int64
	if info, err := os.Stat(p.transcript); err == nil {
		size = info.Size()
	}
	state := filepath.Join(p.dir, ".git", "entire-sessions", p.id+".json")
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		var at progress
		data, err := os.ReadFile(state)
		p.b.Must(err)
		p.b.Must(json.Unmarshal(data, &at))
		if at.Recorder.Stored.Raw >= size && len(at.Recorder.Incomplete) == 0 {
			break
		}
		p.b.quiet()
		if p.b.ctx.Err() != nil || time.Now().After(deadline) {
			p.b.Fatalf("%d of %d bytes of the transcript are stored, nobody stores the rest", at.Recorder.Stored.Raw, size)
		}
	}
	p.b.quiet()
}

package main

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// traced are the system calls that change files or make them durable.
const traced = "openat,open,creat,write,pwrite64,writev,lseek,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat," +
	"mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,symlink,symlinkat,fsync,fdatasync,syncfs,copy_file_range,execve,clone,clone3,fork,vfork,chdir"

// straceArgs returns the options of strace: paths of descriptors, and all text in hex.
func straceArgs(out string) []string {
	return []string{"-f", "-qq", "-y", "-xx", "-s", "16777216", "-e", "trace=" + traced, "-e", "signal=none", "-o", out}
}

// fsOp is an operation of a process on files: a write, a change of names, or a sync.
type fsOp struct {
	kind     string // open, write, truncate, copy, rename, exchange, link, unlink, mkdir, symlink, chmod, sync
	path, to string
	data     []byte
	at       int64
	fresh    bool // open: with O_TRUNC
	perm     fs.FileMode
	// ours reports whether the program or a child of it performed the operation. Git's own
	// operations, and the commits that it makes for the program, count as durable.
	ours bool
}

// tracer parses the output of strace.
type tracer struct {
	bin     string // folder of the program
	ours    map[string]bool
	cwd     map[string]string
	offset  map[string]int64  // by descriptor and path
	waiting map[string]string // by thread, the beginning of an unfinished call
	parent  map[string]string // by thread; its call may come later than those of its child
	ops     []fsOp
}

func readTrace(t *testing.T, path, bin, cwd string) []fsOp {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr := &tracer{
		bin: bin, ours: map[string]bool{}, cwd: map[string]string{"": cwd},
		offset: map[string]int64{}, waiting: map[string]string{}, parent: map[string]string{},
	}
	for line := range bytes.Lines(data) {
		if m := cloneLine.FindSubmatch(line); m != nil {
			tr.parent[string(m[2])] = string(m[1])
		}
	}
	for line := range bytes.Lines(data) {
		tr.line(strings.TrimRight(string(line), "\n"))
	}
	return tr.ops
}

var (
	cloneLine = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?v?(?:clone3?|fork)\b.* = (\d+)`)
	callLine  = regexp.MustCompile(`^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+)(?:<((?:\\x[0-9a-f]{2})*)>)?`)
	operand   = regexp.MustCompile(`(AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)(?:>\(deleted\))?>?|"((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?|\bO_\w+\b|-?\b\d+\b|\bSEEK_\w+\b|AT_REMOVEDIR|RENAME_EXCHANGE|NULL`)
)

func (tr *tracer) line(line string) {
	tid, rest, ok := strings.Cut(line, " ")
	if !ok {
		return
	}
	rest = strings.TrimLeft(rest, " ")
	if head, unfinished := strings.CutSuffix(rest, " <unfinished ...>"); unfinished {
		tr.waiting[tid] = head
		return
	}
	if strings.HasPrefix(rest, "<... ") {
		_, tail, _ := strings.Cut(rest, " resumed>")
		rest = tr.waiting[tid] + tail
		delete(tr.waiting, tid)
	}
	m := callLine.FindStringSubmatch(rest)
	if m == nil || strings.HasPrefix(m[3], "-") {
		return
	}
	tr.call(tid, m[1], operands(m[2]), m[3], unhex(m[4]))
}

// callArg is an argument of a call: a descriptor with its path, a text, or a word.
type callArg struct{ fd, path, text, word string }

func operands(s string) []callArg {
	var list []callArg
	for _, m := range operand.FindAllStringSubmatch(s, -1) {
		switch {
		case m[1] != "":
			list = append(list, callArg{fd: m[1], path: unhex(m[2])})
		case strings.HasPrefix(m[0], `"`):
			list = append(list, callArg{text: unhex(m[3])})
		default:
			list = append(list, callArg{word: m[0]})
		}
	}
	return list
}

// umask is the umask of the tests.
const umask = 0o022

// modeOf returns the mode among the arguments: the last one in octal.
func modeOf(args []callArg) fs.FileMode {
	for _, a := range slices.Backward(args) {
		if len(a.word) > 1 && a.word[0] == '0' {
			if mode, err := strconv.ParseUint(a.word, 8, 32); err == nil {
				return fs.FileMode(mode) & fs.ModePerm
			}
		}
	}
	return 0
}

func unhex(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return ""
	}
	return string(b)
}

// inherit gives a new thread the state of its parent.
func (tr *tracer) inherit(tid string) {
	if _, known := tr.cwd[tid]; known {
		return
	}
	parent := tr.parent[tid]
	if parent != "" {
		tr.inherit(parent)
	}
	tr.ours[tid], tr.cwd[tid] = tr.ours[parent], tr.cwd[parent]
}

func (tr *tracer) call(tid, name string, args []callArg, result, resultPath string) {
	tr.inherit(tid)
	for _, a := range args {
		if a.fd == "AT_FDCWD" {
			tr.cwd[tid] = a.path
		}
	}
	// paths are the named files: a text, relative to the descriptor before it if there is one.
	var paths []string
	for i, a := range args {
		if a.fd != "" || a.word != "" {
			continue
		}
		base := tr.cwd[tid]
		if i > 0 && args[i-1].fd != "" {
			base = args[i-1].path
		}
		if filepath.IsAbs(a.text) {
			base = ""
		}
		paths = append(paths, filepath.Join(base, a.text))
	}
	has := func(word string) bool {
		return slices.ContainsFunc(args, func(a callArg) bool { return a.word == word })
	}
	op := fsOp{ours: tr.ours[tid]}
	put := func(kind string) {
		op.kind = kind
		tr.ops = append(tr.ops, op)
	}
	switch name {
	case "execve":
		if len(args) > 0 && filepath.Dir(args[0].text) == tr.bin {
			tr.ours[tid] = true
		} else if slices.ContainsFunc(args, func(a callArg) bool { return a.text == "core.fsync=all" }) {
			tr.ours[tid] = false // git writes the user's index, branch and objects, and syncs them
		}
	case "chdir":
		tr.cwd[tid] = paths[0]
	case "open", "openat", "creat":
		op.path, op.fresh = resultPath, has("O_TRUNC") || name == "creat"
		tr.offset[result+resultPath] = 0
		if has("O_APPEND") {
			tr.offset[result+resultPath] = -1
		}
		op.perm = modeOf(args) &^ umask
		if has("O_CREAT") || op.fresh {
			put("open")
		}
	case "lseek":
		at, _ := strconv.ParseInt(result, 10, 64)
		tr.offset[args[0].fd+args[0].path] = at
	case "write":
		key := args[0].fd + args[0].path
		op.path, op.data, op.at = args[0].path, []byte(args[1].text), tr.offset[key]
		if op.at >= 0 {
			tr.offset[key] += int64(len(op.data))
		}
		put("write")
	case "pwrite64":
		at, _ := strconv.ParseInt(args[len(args)-1].word, 10, 64)
		op.path, op.data, op.at = args[0].path, []byte(args[1].text), at
		put("write")
	case "writev":
		key := args[0].fd + args[0].path
		op.path, op.at = args[0].path, tr.offset[key]
		for _, a := range args[1:] {
			if a.word == "" {
				op.data = append(op.data, a.text...)
			}
		}
		tr.offset[key] += int64(len(op.data))
		put("write")
	case "ftruncate":
		op.path = args[0].path
		op.at, _ = strconv.ParseInt(args[1].word, 10, 64)
		put("truncate")
	case "copy_file_range":
		op.path, op.to = args[0].path, args[len(args)-1].path
		for _, a := range args[1:] {
			if a.fd != "" {
				op.to = a.path
			}
		}
		put("copy")
	case "fsync", "fdatasync":
		op.path = args[0].path
		put("sync")
	case "syncfs":
		put("syncfs")
	case "rename", "renameat", "renameat2":
		op.path, op.to = paths[0], paths[1]
		if has("RENAME_EXCHANGE") {
			put("exchange")
		} else {
			put("rename")
		}
	case "link", "linkat":
		op.path, op.to = paths[0], paths[1]
		put("link")
	case "symlink", "symlinkat":
		op.data, op.path = []byte(args[0].text), paths[len(paths)-1]
		put("symlink")
	case "mkdir", "mkdirat":
		op.path, op.perm = paths[0], modeOf(args)&^umask
		put("mkdir")
	case "chmod", "fchmod", "fchmodat":
		if op.path, op.perm = args[0].path, modeOf(args); len(paths) > 0 {
			op.path = paths[0]
		}
		put("chmod")
	case "unlink", "unlinkat", "rmdir":
		op.path = paths[0]
		put("unlink")
	}
}

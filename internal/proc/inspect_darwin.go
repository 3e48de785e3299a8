package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Inspect returns the system's information about the process pid. It returns false if the process has
// ended.
func Inspect(pid int) (Info, bool) {
	kernel, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || kernel.Proc.P_pid != int32(pid) || kernel.Proc.P_stat == zombie {
		return Info{}, false
	}
	info := Info{PID: pid, Parent: int(kernel.Eproc.Ppid), Start: uint64(kernel.Proc.P_starttime.Nano())}
	if data, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		info.Args = arguments(data)
	}
	return info, true
}

// zombie is the state of a process that has ended and was not waited for.
const zombie = 5

// arguments parses the kernel's data about a process's arguments: their number, the path of the
// program, zeros, and then each argument followed by a zero, and the environment.
func arguments(data []byte) []string {
	const size = 4
	if len(data) < size {
		return nil
	}
	n := int(binary.NativeEndian.Uint32(data))
	_, rest, _ := bytes.Cut(data[size:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	var args []string
	for len(args) < n && len(rest) > 0 {
		var arg []byte
		arg, rest, _ = bytes.Cut(rest, []byte{0})
		args = append(args, string(arg))
	}
	if len(args) < n {
		return nil // truncated: the missing ones may matter
	}
	return args
}

package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Look returns what the system reports of the process pid; false if it has
// ended.
func Look(pid int) (Info, bool) {
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

// arguments reads what the kernel has of a process's arguments: their number,
// the path of the program, zeros, and then each with a zero behind it, followed
// by the environment.
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
		return nil // cut off: what is missing may matter
	}
	return args
}

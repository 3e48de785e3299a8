//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Requests of the FUSE protocol, <linux/fuse.h>.
const (
	opForget      = 2
	opGetattr     = 3
	opSetattr     = 4
	opOpen        = 14
	opRead        = 15
	opWrite       = 16
	opStatfs      = 17
	opRelease     = 18
	opFsync       = 20
	opFlush       = 25
	opInit        = 26
	opInterrupt   = 36
	opDestroy     = 38
	opBatchForget = 42
	opFallocate   = 43
)

const (
	headerIn, headerOut = 40, 16
	// argsIn is the size of the arguments before the data of a write.
	argsIn = 40

	protocol      = 7
	minor         = 31
	mostWrite     = 1 << 20
	flagBigWrites = 1 << 5
	flagMaxPages  = 1 << 22
)

var le = binary.LittleEndian //nolint:gochecknoglobals // a constant: the kernel's own order on the machines that run tests

type server struct {
	device int
	image  *os.File
	size   int64
	log    testkit.DiskLogWriter
}

// serve replies to requests until the file is unmounted.
func (s *server) serve() error {
	buf := make([]byte, headerIn+argsIn+mostWrite+4096)
	for {
		n, err := unix.Read(s.device, buf)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOENT):
			continue
		case errors.Is(err, unix.ENODEV):
			return nil
		case err != nil:
			return fmt.Errorf("read request: %w", err)
		}
		request := buf[:n]
		opcode, unique := le.Uint32(request[4:]), le.Uint64(request[8:])
		if opcode == opForget || opcode == opBatchForget || opcode == opInterrupt {
			continue // these get no reply
		}
		body, err := s.reply(opcode, request[headerIn:])
		if err := s.send(unique, body, err); err != nil {
			return err
		}
	}
}

func (s *server) send(unique uint64, body []byte, failed error) error {
	var errno unix.Errno
	if failed != nil && !errors.As(failed, &errno) {
		errno = unix.EIO
	}
	if errno != 0 {
		body = nil
	}
	out := make([]byte, headerOut, headerOut+len(body))
	le.PutUint32(out, uint32(headerOut+len(body)))
	le.PutUint32(out[4:], uint32(-int32(errno)))
	le.PutUint64(out[8:], unique)
	_, err := unix.Write(s.device, append(out, body...))
	if errors.Is(err, unix.ENOENT) { // interrupted
		return nil
	}
	return err
}

func (s *server) reply(opcode uint32, args []byte) ([]byte, error) {
	switch opcode {
	case opInit:
		out := make([]byte, 64)
		for i, v := range []uint32{protocol, minor, le.Uint32(args[8:]), flagBigWrites | flagMaxPages, 16 | 12<<16, mostWrite, 1, mostWrite / 4096} {
			le.PutUint32(out[4*i:], v)
		}
		return out, nil
	case opGetattr, opSetattr:
		return s.attributes(), nil
	case opOpen:
		return make([]byte, 16), nil
	case opRead:
		out := make([]byte, le.Uint32(args[16:]))
		n, _ := s.image.ReadAt(out, int64(le.Uint64(args[8:])))
		return out[:n], nil
	case opWrite:
		return s.write(args)
	case opFallocate:
		return nil, s.zero(int64(le.Uint64(args[8:])), int64(le.Uint64(args[16:])), le.Uint32(args[24:]))
	case opFsync:
		return nil, s.log.Flush()
	case opStatfs:
		out := make([]byte, 80)
		le.PutUint32(out[40:], 4096)
		return out, nil
	case opFlush, opRelease, opDestroy:
		return nil, nil
	}
	return nil, unix.ENOSYS
}

func (s *server) attributes() []byte {
	out := make([]byte, 104)
	le.PutUint64(out, 3600) // valid for this many seconds
	attr := out[16:]
	le.PutUint64(attr, 1)
	le.PutUint64(attr[8:], uint64(s.size))
	le.PutUint64(attr[16:], uint64(s.size/512))
	le.PutUint32(attr[60:], unix.S_IFREG|0o600)
	le.PutUint32(attr[64:], 1)
	le.PutUint32(attr[80:], 4096)
	return out
}

func (s *server) write(args []byte) ([]byte, error) {
	at, data := int64(le.Uint64(args[8:])), args[argsIn:]
	if size := int(le.Uint32(args[16:])); size < len(data) {
		data = data[:size]
	}
	if _, err := s.image.WriteAt(data, at); err != nil {
		return nil, err
	}
	if err := s.log.Write(at, data); err != nil {
		return nil, err
	}
	out := make([]byte, 8)
	le.PutUint32(out, uint32(len(data)))
	return out, nil
}

// zero carries out a discard or a request to write zeros.
func (s *server) zero(at, size int64, mode uint32) error {
	if mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) == 0 {
		return unix.EOPNOTSUPP
	}
	if err := unix.Fallocate(int(s.image.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, size); err != nil {
		return err
	}
	return s.log.Zero(at, size)
}

package band

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rawSuffix ends the names of raw bands. They need separate names: a large file may itself have
// the format of a band, and must not be read as one.
const rawSuffix = ".raw"

// FileInfo describes a band in a folder.
type FileInfo struct {
	Number uint32
	// Raw reports whether the band contains only the bytes of one large file.
	Raw    bool
	Length int64
}

// Name returns the name of the band's file.
func (f FileInfo) Name() string {
	if f.Raw {
		return FileName(f.Number) + rawSuffix
	}
	return FileName(f.Number)
}

// FileName returns the name of the band of records with the number: "0", "1", ...
func FileName(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// RawName returns the name of the raw band with the number: "0.raw", "1.raw", ...
func RawName(n uint32) string { return FileName(n) + rawSuffix }

// ParseName parses the name of a band's file; ok is false for any other name.
func ParseName(name string) (n uint32, raw, ok bool) {
	digits, raw := strings.CutSuffix(name, rawSuffix)
	parsed, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || FileName(uint32(parsed)) != digits {
		return 0, false, false
	}
	return uint32(parsed), raw, true
}

// Files returns the bands in a folder by number. Other files are skipped.
func Files(dir string) ([]FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list bands: %w", err)
	}
	files := make([]FileInfo, 0, len(entries))
	for _, e := range entries {
		n, raw, ok := ParseName(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list bands: %w", err)
		}
		files = append(files, FileInfo{Number: n, Raw: raw, Length: info.Size()})
	}
	slices.SortFunc(files, func(a, b FileInfo) int { return int(int64(a.Number) - int64(b.Number)) })
	return files, nil
}

// StatFile returns the band with the number in a folder, raw or not. The error is fs.ErrNotExist
// if there is none.
func StatFile(dir string, n uint32) (FileInfo, error) {
	for _, f := range []FileInfo{{Number: n}, {Number: n, Raw: true}} {
		info, err := os.Lstat(filepath.Join(dir, f.Name()))
		if err == nil {
			f.Length = info.Size()
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return FileInfo{}, fmt.Errorf("find band %d: %w", n, err)
		}
	}
	return FileInfo{}, fmt.Errorf("find band %d: %w", n, fs.ErrNotExist)
}

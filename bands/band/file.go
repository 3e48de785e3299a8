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

// rawSuffix ends the names of raw bands. They need a name of their own: a large
// file may itself be a band, and must not be taken for one.
const rawSuffix = ".raw"

// File is a band in a folder.
type File struct {
	Number uint32
	// Raw reports that the band is one large file's bytes and nothing else.
	Raw    bool
	Length int64
}

// Name is the name of the band's file.
func (f File) Name() string {
	if f.Raw {
		return FileName(f.Number) + rawSuffix
	}
	return FileName(f.Number)
}

// FileName is the name of the band of records with that number: "0", "1", ...
func FileName(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// RawName is the name of the raw band with that number: "0.raw", "1.raw", ...
func RawName(n uint32) string { return FileName(n) + rawSuffix }

// ParseName reads the name of a band's file; ok is false for any other name.
func ParseName(name string) (n uint32, raw, ok bool) {
	digits, raw := strings.CutSuffix(name, rawSuffix)
	parsed, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || FileName(uint32(parsed)) != digits {
		return 0, false, false
	}
	return uint32(parsed), raw, true
}

// Files are the bands in a folder by number. Other files are passed over.
func Files(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list bands: %w", err)
	}
	files := make([]File, 0, len(entries))
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
		files = append(files, File{Number: n, Raw: raw, Length: info.Size()})
	}
	slices.SortFunc(files, func(a, b File) int { return int(int64(a.Number) - int64(b.Number)) })
	return files, nil
}

// StatFile finds a band in a folder, raw or not. The error is fs.ErrNotExist if
// there is none.
func StatFile(dir string, n uint32) (File, error) {
	for _, f := range []File{{Number: n}, {Number: n, Raw: true}} {
		info, err := os.Lstat(filepath.Join(dir, f.Name()))
		if err == nil {
			f.Length = info.Size()
			return f, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return File{}, fmt.Errorf("find band %d: %w", n, err)
		}
	}
	return File{}, fmt.Errorf("find band %d: %w", n, fs.ErrNotExist)
}

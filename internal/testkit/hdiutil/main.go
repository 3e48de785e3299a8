//go:build linux

// Command hdiutil replaces on Linux, as root, the macOS program of that name, for sparse bundles
// and as far as the driver sparsebundle uses it: create, attach, detach and info. A bundle has one
// band, an ext4 on a loop device. It rejects the same calls as the real one, as far as hdiutil(1)
// documents them, and can be made to fail: a file named fail beside the program with "attach 2"
// makes the second attach from then on fail, and is then removed.
package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		status, is := errors.AsType[statusError](err)
		if !is {
			status = 1
		}
		_, _ = fmt.Fprintf(os.Stderr, "hdiutil: %v\n", err)
		os.Exit(int(status))
	}
}

// statusError is an exit status other than 1.
type statusError int

func (s statusError) Error() string { return "couldn't unmount \"disk4\" - Resource busy" }

const busy statusError = 16

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: hdiutil <verb> <options>")
	}
	if err := fail(args[0]); err != nil {
		return err
	}
	switch args[0] {
	case "create":
		return create(args[1:])
	case "attach":
		return attach(args[1:])
	case "detach":
		return detach(args[1:])
	case "info":
		return info(os.Stdout)
	}
	return fmt.Errorf("%s: verb not recognized", args[0])
}

// fail returns an error if the file fail requests it.
func fail(verb string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(self), "fail")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil //nolint:nilerr // nothing shall fail
	}
	want, count, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	n, err := strconv.Atoi(count)
	if err != nil || want != verb {
		return err
	}
	if n > 1 {
		return os.WriteFile(path, fmt.Appendf(nil, "%s %d", want, n-1), 0o600) //nolint:gosec // beside the program
	}
	return errors.Join(os.Remove(path), fmt.Errorf("%s failed - Input/output error", verb))
}

// options returns the values of the known flags, and the other arguments.
func options(args []string, known ...string) (values map[string]string, rest []string) {
	values = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, is := strings.CutPrefix(args[i], "-")
		switch {
		case is && slices.Contains(known, name) && i+1 < len(args):
			i++
			values[name] = args[i]
		case is:
			values[name] = ""
		default:
			rest = append(rest, args[i])
		}
	}
	return values, rest
}

func create(args []string) error {
	values, rest := options(args, "size", "type", "fs", "volname")
	if len(rest) != 1 || values["type"] != "SPARSEBUNDLE" || values["fs"] != "APFS" || values["volname"] == "" {
		return errors.New("create: the options aren't those of a sparse bundle")
	}
	units := map[byte]int64{'m': 1 << 20, 'M': 1 << 20, 'g': 1 << 30, 'G': 1 << 30}
	text := values["size"]
	unit := int64(0)
	if text != "" {
		unit = units[text[len(text)-1]]
	}
	n, err := strconv.ParseInt(strings.TrimRight(text, "mMgG"), 10, 64)
	if err != nil || unit == 0 {
		return fmt.Errorf("create: -size %s: not a size", text)
	}
	bundle := rest[0]
	if !strings.HasSuffix(bundle, ".sparsebundle") {
		return errors.New("create: the name doesn't end in .sparsebundle")
	}
	if _, err := os.Lstat(bundle); err == nil {
		return errors.New("create failed - File exists")
	}
	band := filepath.Join(bundle, "bands", "0")
	plist := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>band-size</key><integer>%[1]d</integer><key>bundle-backingstore-version</key><integer>1</integer><key>size</key><integer>%[1]d</integer></dict></plist>
`, n*unit)
	return errors.Join(os.MkdirAll(filepath.Dir(band), 0o700), os.WriteFile(filepath.Join(bundle, "Info.plist"), []byte(plist), 0o600),
		os.WriteFile(filepath.Join(bundle, "token"), nil, 0o600), os.WriteFile(band, nil, 0o600), os.Truncate(band, n*unit),
		program("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", band))
}

func attach(args []string) error {
	values, rest := options(args, "mountpoint", "owners")
	if len(rest) != 1 {
		return errors.New("attach: no image")
	}
	bundle, at := rest[0], values["mountpoint"]
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return fmt.Errorf("attach failed - no mountable file systems: %s", at)
	}
	list, err := images()
	if err != nil {
		return err
	}
	for _, image := range list {
		if image.bundle == bundle {
			return errors.New("attach failed - Resource temporarily unavailable")
		}
	}
	for _, name := range []string{"Info.plist", "token", "bands/0"} {
		if _, err := os.Stat(filepath.Join(bundle, name)); err != nil {
			return errors.New("attach failed - image not recognized")
		}
	}
	mode := "loop"
	if _, is := values["readonly"]; is {
		mode = "loop,ro"
		// Repair a file system that wasn't unmounted, as the real one does in memory.
		_ = program("e2fsck", "-p", filepath.Join(bundle, "bands", "0")) // mount reports other damage
	}
	if err := program("mount", "-t", "ext4", "-o", mode, filepath.Join(bundle, "bands", "0"), at); err != nil {
		return err
	}
	if _, is := values["readonly"]; is {
		return nil
	}
	if err := os.Remove(filepath.Join(at, "lost+found")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func detach(args []string) error {
	values, rest := options(args)
	if len(rest) != 1 {
		return errors.New("detach: no device")
	}
	list, err := images()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(i image) bool { return i.at == rest[0] }) {
		return errors.New("detach failed - No such file or directory")
	}
	if _, force := values["force"]; force {
		return program("umount", "-l", rest[0])
	}
	if err := program("umount", rest[0]); err != nil {
		return busy
	}
	return nil
}

// image is an attached bundle.
type image struct{ bundle, at string }

// images returns the attached bundles, from the backing files of the loop devices of all mounts.
func images() ([]image, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var list []image
	for line := range strings.Lines(string(data)) {
		const numberField, pathField = 2, 4
		fields := strings.Fields(line)
		if len(fields) <= pathField {
			continue
		}
		file, err := os.ReadFile(filepath.Join("/sys/dev/block", fields[numberField], "loop", "backing_file"))
		band := strings.TrimSuffix(string(file), "\n")
		if err != nil || filepath.Base(band) != "0" || filepath.Base(filepath.Dir(band)) != "bands" {
			continue
		}
		list = append(list, image{filepath.Dir(filepath.Dir(band)), strings.NewReplacer(`\040`, " ", `\134`, `\`).Replace(fields[pathField])})
	}
	return list, nil
}

func info(w io.Writer) error {
	list, err := images()
	if err != nil {
		return err
	}
	text := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // writing to a Builder can't fail
		return "<string>" + b.String() + "</string>"
	}
	_, _ = fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>framework</key><string>stand-in</string><key>images</key><array>`)
	for i, is := range list {
		_, _ = fmt.Fprintf(w, `<dict><key>image-path</key>%s<key>removable</key><true/><key>system-entities</key><array>`+
			`<dict><key>dev-entry</key><string>/dev/disk%d</string></dict>`+
			`<dict><key>dev-entry</key><string>/dev/disk%ds1</string><key>mount-point</key>%s</dict></array></dict>`, text(is.bundle), i, i, text(is.at))
	}
	_, err = fmt.Fprintln(w, `</array></dict></plist>`)
	return err
}

func program(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin:/usr/bin:/bin")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

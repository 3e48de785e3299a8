package hdiutil

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePlist(t *testing.T) {
	t.Parallel()
	const head = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">`
	for text, want := range map[string]any{
		`<dict><key>a</key><string>x &amp; y</string><key>b</key><array><integer>7</integer><true/><false/></array><key>c</key><dict/></dict>`: map[string]any{
			"a": "x & y", "b": []any{int64(7), true, false}, "c": map[string]any{},
		},
		`<array></array>`:   []any(nil),
		`<string></string>`: "",
	} {
		got, err := parsePlist(strings.NewReader(head + text + "</plist>"))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v, %s", text, err, diff)
		}
	}
	for _, text := range []string{
		"", "x", "<html></html>", head, head + "</plist>", head + "<dict><key>a</key></dict></plist>", head + "<dict><string>a</string></dict></plist>",
		head + "<integer>x</integer></plist>", head + "<dict><key>a", head + strings.Repeat("<array>", 100),
	} {
		if got, err := parsePlist(strings.NewReader(text)); !errors.Is(err, errPlist) {
			t.Errorf("%.80q: %v, %v", text, got, err)
		}
	}
}

// FuzzParsePlist checks that any output of a program results in at most an error.
func FuzzParsePlist(f *testing.F) {
	f.Add(`<plist><dict><key>images</key><array><dict><key>image-path</key><string>/x</string></dict></array></dict></plist>`)
	f.Fuzz(func(t *testing.T, text string) {
		value, err := parsePlist(strings.NewReader(text))
		if err != nil && !errors.Is(err, errPlist) {
			t.Errorf("%v, %v", value, err)
		}
		for _, entry := range listOf(dictOf(value)["images"]) {
			_ = stringOf(dictOf(entry)["image-path"])
		}
	})
}

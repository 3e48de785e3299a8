package contextstore_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		want    []string
	}{
		"a.go": {
			"package a\n\nimport \"fmt\"\n\ntype T struct {\n\tA int\n}\n\nconst (\n\tX = 1\n\tY = 2\n)\n\nvar v = func() {\n}\n\n// F is.\nfunc (t T) F(a int) error {\n\tfunc() {}()\n}\n",
			[]string{"5 type T struct", "10 X = 1", "11 Y = 2", "14 var v = func()", "18 func (t T) F(a int) error"},
		},
		"broken.go": {"package a\n\nfunc A() {\n\tx :=\n}\n\nfunc B() int {\n", []string{"3 func A()", "7 func B() int"}},
		"a.ts": {
			"import x from 'y'\n// function no() {\nexport default class A {\n  async run(a: string): Promise<void> {\n    if (a) {\n    }\n  }\n}\nexport const z = 1\n  const inner = 2\nfunction f() {\n}\n",
			[]string{"3 export default class A", "4 async run(a: string): Promise<void>", "9 export const z = 1", "11 function f()"},
		},
		"a.py":   {"import os\n# def no():\nclass A:\n    async def f(self):\n        define = 1\ndef g(): pass\n", []string{"3 class A:", "4 async def f(self):", "6 def g(): pass"}},
		"a.rs":   {"pub struct A {\n}\nimpl<T> A for T {\n    pub(crate) async fn f() {\n        let fnord = 1;\n    }\n}\n", []string{"1 pub struct A", "3 impl<T> A for T", "4 pub(crate) async fn f()"}},
		"A.java": {"package a;\n@Foo\npublic class A {\n    private final int x;\n    public static void main(String[] a) {\n        call(1);\n    }\n}\n", []string{"3 public class A", "5 public static void main(String[] a)"}},
		"a.c":    {"#include <a.h>\n#define X 1\nstatic int f(int a)\n{\n\tif (a) return g(a);\n}\nstruct s {\n};\nint x = f(1);\n", []string{"2 #define X 1", "3 static int f(int a)", "7 struct s"}},
		"a.rb":   {"module A\n  class B\n    def c(d)\n    end\n", []string{"1 module A", "2 class B", "3 def c(d)"}},
		"a.php":  {"<?php\nclass A {\n    public static function b() {\n", []string{"2 class A", "3 public static function b()"}},
		"a.sh":   {"set -e\nf() {\n  echo\n}\nfunction g {\n", []string{"2 f()", "5 function g"}},
		"a.md":   {"# A\n\n```sh\n# no\n```\n## B\n#no\n", []string{"1 # A", "6 ## B"}},
		"Makefile": {
			"X := 1\n.PHONY: a\na: b\n\techo c: d\n", []string{"3 a: b"},
		},
		"a.txt": {"func A() {}\n", nil},
		"a.bin": {"a\x00b", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range contextstore.Outline("dir/"+name, test.content) {
				got = append(got, fmt.Sprintf("%d %s", d.Line, d.Text))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outline (-want +got):\n%s", diff)
			}
		})
	}
}

// The limits apply to a file of any size.
func TestOutlineIsBounded(t *testing.T) {
	t.Parallel()
	long := "func F" + strings.Repeat("ä", 300) + "() {}\n"
	for _, name := range []string{"a.go", "a.js", "a.py", "a.c"} {
		text := strings.Repeat(long+"def f():\nfunction f() {\nint f(void) {\n", 5000)
		list := contextstore.Outline(name, text)
		if len(list) > 200 {
			t.Errorf("%s: %d declarations", name, len(list))
		}
	}
	if list := contextstore.Outline("a.go", "package a\n"+long); len(list) != 1 || len(list[0].Text) > 160 || !utf8.ValidString(list[0].Text) {
		t.Errorf("a long line: %+v", list)
	}
}

func FuzzOutline(f *testing.F) {
	f.Add("a.go", "package a\nfunc F() {")
	f.Add("a.ts", "export class A {\n  f() {\n")
	f.Add("a.md", "# a\n```\n")
	f.Fuzz(func(t *testing.T, name, content string) {
		lines := strings.Split(content, "\n")
		last := 0
		for _, d := range contextstore.Outline(name, content) {
			if d.Line <= last || d.Line > len(lines) || len(d.Text) > 160 || d.Text == "" || !utf8.ValidString(d.Text) {
				t.Fatalf("%+v after line %d of %d", d, last, len(lines))
			}
			last = d.Line
		}
	})
}

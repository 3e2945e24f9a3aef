package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestProse checks each rule with a text that breaks it and one that does not.
func TestProse(t *testing.T) {
	long := strings.Repeat("word ", 41)
	for _, test := range []struct{ name, file, text, want string }{
		{"banned word", "a.go", "// Package a tells of b.\npackage a\n", `1: "tells"`},
		{"clause about a person", "a.go", "// Package a is for users who write.\npackage a\n", ""},
		{"who without a noun", "a.go", "// Package a lists who\n// asks, and who answers.\npackage a\n", `2: "and who"`},
		{"string of production code", "a.go", "package a\n\nconst text = \"nobody waits\"\n", `3: "nobody"`},
		{"string of a test", "a_test.go", "package a\n\nconst text = \"nobody waits\"\n", ""},
		{"exception", "a.go", "package a\n\n//lint:ignore prose a quotation\n\nconst text = \"x\"\n\n// nobody\n//\n//lint:ignore prose a quotation\nvar x int\n", ""},
		{"wide comment", "a.go", "// Package a " + strings.Repeat("x", 100) + "\npackage a\n", "1: 113 columns, at most 100"},
		{"wide preformatted comment", "a.go", "// Package a\n//\n//\t" + strings.Repeat("x", 100) + "\npackage a\n", ""},
		{"comment behind code", "a.go", "package a\n\nvar x = 1 // " + strings.Repeat("x", 100) + "\n", ""},
		{"long sentence", "a.go", "package a\n\n// " + strings.ReplaceAll(long, "word word word word word word word word ", "word word word word word word word word\n// ") + "\nvar x int\n", "3: a sentence of 41 words"},
		{"long comment", "a.go", "package a\n\n" + strings.Repeat("// One two three four.\n", 40) + "var x int\n", "3: a comment of 160 words"},
		{"comment of a short function", "a.go", "package a\n\n" + strings.Repeat("// Short.\n", 5) + "func short() {}\n", "3: a comment of 5 lines on a function of 1 lines"},
		{"comment of an exported function", "a.go", "package a\n\n" + strings.Repeat("// Short.\n", 5) + "func Short() {}\n", ""},
		{"wide document", "a.md", "# A\n\n" + strings.Repeat("x", 101) + "\n", "3: 101 columns"},
		{"code and tables of a document", "a.md", "```\nnobody " + strings.Repeat("x", 101) + "\n```\n| " + strings.Repeat("x", 101) + " |\n", ""},
		{"links", "testdata/doc.md", "# A\n\n[1](#setting) [2](../main.go) [3](../testdata) [4](https://example.com/x) `[5](x.md)`\n", ""},
		{"missing file", "a.md", "# A\n\n[1](x.md)\n", "3: the link to x.md is broken"},
		{"missing heading", "testdata/doc.md", "# A\n\n[1](doc.md#absent)\n", "3: the link to doc.md#absent is broken: no such heading"},
		{"headings", "testdata/doc.md", "# A\n\n[1](doc.md#a-setting-of---flags) [2](doc.md#a-setting-of---flags-1) [3](doc.md#named)\n", ""},
		{"document of a comment", "a.go", "// Package a is in docs" + "/x.md.\npackage a\n", "1: the link to docs" + "/x.md is broken"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := prose{file: test.file}
			if strings.HasSuffix(test.file, ".md") {
				p.document(test.text)
			} else if err := p.source([]byte(test.text)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range p.findings {
				got = append(got, fmt.Sprintf("%d: %s", f.Location.Line, f.Message))
			}
			if all := strings.Join(got, "\n"); len(got) > 1 || !strings.HasPrefix(all, test.want) || (test.want == "") != (all == "") {
				t.Errorf("got %q, want %q", all, test.want)
			}
		})
	}
}

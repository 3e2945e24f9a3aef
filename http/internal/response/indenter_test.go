package response

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func indentInPieces(t *testing.T, doc string, piece int) string {
	t.Helper()
	var out bytes.Buffer
	p := Indenter{to: &out}
	for len(doc) > 0 {
		n := min(piece, len(doc))
		if written, err := p.Write([]byte(doc[:n])); err != nil || written != n {
			t.Fatalf("%d of %d, %v", written, n, err)
		}
		doc = doc[n:]
	}
	return out.String()
}

// TestIndenter checks that the output equals that of encoding/json, regardless of how the input is
// split.
func TestIndenter(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, `[{}]`, `{"a":[]}`, `"text"`, `7`, `null`, `[1,-2.5e3,true,null]`,
		`{"a":"{[,:]}","b\"{":"\\","c":"\\\"","d":{"e":[[],{},[{}]]}}`,
		`{"long":"` + strings.Repeat(`x\"y{`, 40_000) + `"}`,
		strings.Repeat(`{"a":[`, 300) + strings.Repeat(`]}`, 300),
	} {
		var want bytes.Buffer
		must.Succeed(t, json.Indent(&want, []byte(doc), "", "  "))
		for _, piece := range []int{1, 2, 7, 1 << 20} {
			if got := indentInPieces(t, doc, piece); got != want.String() {
				t.Errorf("%.60s in pieces of %d: %.200s, want %.200s", doc, piece, got, want.String())
			}
		}
	}
}

func FuzzIndenter(f *testing.F) {
	f.Add(`{"a":[1,"x\"",{}]}`, 3)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		var compact, want bytes.Buffer
		if json.Compact(&compact, []byte(text)) != nil || json.Indent(&want, compact.Bytes(), "", "  ") != nil {
			return
		}
		if got := indentInPieces(t, compact.String(), max(piece, 1)); got != want.String() {
			t.Errorf("%q: %q, want %q", compact.String(), got, want.String())
		}
	})
}

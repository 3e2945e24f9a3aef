package warning

import (
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// TestWarnings checks that warnings are unique and limited, and that no text breaks the header.
func TestWarnings(t *testing.T) {
	long := strings.Repeat("é", 1000)
	for _, test := range []struct {
		name  string
		texts [][]string // per call
		want  []string   // prefixes of the headers; nil: any
		runes int        // bound on the length of each text
	}{
		{"none", [][]string{nil, {""}}, nil, 0},
		{"twice the same", [][]string{{"a", "b"}, {"b", "a", "c"}}, []string{`299 - "a"`, `299 - "b"`, `299 - "c"`}, 1},
		{"quoted", [][]string{{"a\"b\\c\r\n\x01d"}}, []string{`299 - "a\"b\\cd"`}, 10},
		{"all fit", [][]string{{"1" + long, "2" + long, "3" + long, "4" + long}}, []string{`299 - "1é`, `299 - "2é`, `299 - "3é`, `299 - "4é`}, 1001},
		{"one too much", [][]string{{"1" + long, "2" + long, "3" + long, "4" + long}, {"5" + long}},
			[]string{`299 - "1é`, `299 - "2é`, `299 - "3é`, `299 - "4é`, `299 - "5é`}, 256},
		{"a great many", [][]string{strings.Split(strings.Repeat("x ", 1)+longTexts(100, long), " ")}, nil, 256},
	} {
		t.Run(test.name, func(t *testing.T) {
			var l List
			var h fasthttp.ResponseHeader
			for _, texts := range test.texts {
				l.Add(&h, texts)
			}
			got := h.PeekAll("Warning")
			longest, total := 0, 0
			for i, header := range got {
				if test.want != nil && !strings.HasPrefix(string(header), test.want[i]) {
					t.Errorf("%d: %.40s", i, header)
				}
				n := len([]rune(string(header))) - len(`299 - ""`)
				longest, total = max(longest, n), total+n
			}
			if test.want != nil && len(got) != len(test.want) || longest > test.runes || total > maxTotalLength+maxLength {
				t.Errorf("%d headers, %d the longest, %d altogether", len(got), longest, total)
			}
			if test.name == "a great many" && len(got) < 16 {
				t.Errorf("only %d headers", len(got))
			}
		})
	}
}

func longTexts(n int, long string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("i", i+1) + long
	}
	return strings.Join(texts, " ")
}

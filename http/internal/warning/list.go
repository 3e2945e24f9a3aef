package warning

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valyala/fasthttp"
)

// Warning headers of a response have at most maxTotalLength characters in total. Beyond that, each
// is cut to maxLength, and the rest omitted.
const (
	maxTotalLength = 4096
	maxLength      = 256
)

// A List has the warnings of a response in order. Clients print each on its own line.
type List struct {
	texts []string
}

// Add adds a Warning header to h for each new text. All headers are rewritten, because they may
// have to be cut now.
func (l *List) Add(h *fasthttp.ResponseHeader, texts []string) {
	before := len(l.texts)
	for _, text := range texts {
		if text != "" && !slices.Contains(l.texts, text) {
			l.texts = append(l.texts, text)
		}
	}
	if len(l.texts) == before {
		return
	}
	h.Del("Warning")
	for _, text := range truncate(l.texts) {
		h.Add("Warning", `299 - "`+quote(text)+`"`)
	}
}

func truncate(texts []string) []string {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	if total <= maxTotalLength {
		return texts
	}
	short := make([]string, 0, len(texts))
	total = 0
	for _, text := range texts {
		if total >= maxTotalLength {
			break
		}
		if utf8.RuneCountInString(text) > maxLength {
			text = string([]rune(text)[:maxLength])
		}
		total += utf8.RuneCountInString(text)
		short = append(short, text)
	}
	return short
}

// quote escapes a quoted string.
func quote(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text))
}

package warning

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valyala/fasthttp"
)

// Limits on the warnings of a response, in characters. If the total exceeds maxTotalLength, each
// warning is truncated to maxLength. Warnings that still do not fit are omitted.
const (
	maxTotalLength = 4096
	maxLength      = 256
)

// A List holds the warnings of a response in order. Clients print each on its own line.
type List struct {
	texts []string
}

// Add adds a Warning header to h for each new text. It rewrites all headers, because earlier texts
// may need truncation.
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

func quote(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text))
}

package warning

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valyala/fasthttp"
)

// The Warning headers of one answer hold no more than maxTotalLength characters altogether.
// If they would, each is cut to maxLength, and those beyond the bound are left out.
const (
	maxTotalLength = 4096
	maxLength      = 256
)

// A List is what an answer warns of: the texts of its headers, in the order in which they came. Several
// parts of the front add to it, and clients print each text on a line of its own.
type List struct {
	texts []string
}

// Add gives an answer, whose headers are h, a Warning header for each text that it does not have yet. The
// headers are written anew, because with one more text all may have to be cut.
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

// truncate is those texts that are sent.
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

// quote escapes for a quoted string of a header.
func quote(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text))
}

package http

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The Warning headers of one answer hold no more than maxWarnings characters altogether.
// Where they would, each is cut to maxWarning, and the rest left out at the same bound.
const (
	maxWarnings = 4096
	maxWarning  = 256
)

// warn gives the answer a Warning header for each text that it has not got yet.
func (x *exchange) warn(texts []string) {
	before := len(x.warnings)
	for _, text := range texts {
		if text != "" && !slices.Contains(x.warnings, text) {
			x.warnings = append(x.warnings, text)
		}
	}
	if len(x.warnings) == before {
		return
	}
	x.ctx.Response.Header.Del("Warning")
	for _, text := range fitting(x.warnings) {
		x.ctx.Response.Header.Add("Warning", `299 - "`+warningText(text)+`"`)
	}
}

// fitting are the texts that are sent.
func fitting(texts []string) []string {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	if total <= maxWarnings {
		return texts
	}
	short := make([]string, 0, len(texts))
	total = 0
	for _, text := range texts {
		if total >= maxWarnings {
			break
		}
		if utf8.RuneCountInString(text) > maxWarning {
			text = string([]rune(text)[:maxWarning])
		}
		total += utf8.RuneCountInString(text)
		short = append(short, text)
	}
	return short
}

// warningText escapes for a quoted string of a header.
func warningText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text))
}

package http

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The Warning headers of one answer hold no more than maxWarningsLength characters altogether.
// If they would, each is cut to maxWarningLength, and those beyond the bound are left out.
const (
	maxWarningsLength = 4096
	maxWarningLength  = 256
)

// addWarnings gives the answer a Warning header for each text that it does not have yet.
func (x *requestContext) addWarnings(texts []string) {
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
	for _, text := range truncateWarnings(x.warnings) {
		x.ctx.Response.Header.Add("Warning", `299 - "`+warningText(text)+`"`)
	}
}

// truncateWarnings are the texts that are sent.
func truncateWarnings(texts []string) []string {
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	if total <= maxWarningsLength {
		return texts
	}
	short := make([]string, 0, len(texts))
	total = 0
	for _, text := range texts {
		if total >= maxWarningsLength {
			break
		}
		if utf8.RuneCountInString(text) > maxWarningLength {
			text = string([]rune(text)[:maxWarningLength])
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

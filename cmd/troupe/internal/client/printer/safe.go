package printer

import (
	"io"
	"strings"
	"unicode"
)

// Safe replaces control characters other than tabs and newlines, with which a server could control
// the terminal, for example to move the cursor, set the title, or inject input.
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// SafeWriter returns a writer that applies Safe to each write.
func SafeWriter(w io.Writer) io.Writer { return safeWriter{w} }

type safeWriter struct{ io.Writer }

func (w safeWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Safe(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

package printer

import (
	"io"
	"strings"
	"unicode"
)

// Safe is a text without control characters other than tabs and line ends. What comes from a server may hold any, and a terminal would do
// what they say: move the cursor over other lines, set its title, or answer as if somebody had typed.
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// SafeWriter writes texts, of which each comes in one piece, as Safe makes them.
func SafeWriter(w io.Writer) io.Writer { return safeWriter{w} }

type safeWriter struct{ io.Writer }

func (w safeWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Safe(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

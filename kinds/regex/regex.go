package regex

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// MaxExpansion bounds a regular expression that users give: its program stays in memory.
const MaxExpansion = 50_000

// ErrTooLarge is the fault of a regular expression beyond that bound.
var ErrTooLarge = errors.New("the expression is too large")

// Compile compiles a regular expression that users give.
func Compile(pattern string) (*regexp.Regexp, error) {
	if Expansion(pattern) > MaxExpansion {
		return nil, ErrTooLarge
	}
	return regexp.Compile(pattern)
}

// Expansion is about the size of the program of a regular expression, in which what is repeated so many
// times is there so many times: "(ab){1000}" has 2000. It is found without compiling it. The pattern may
// come from the object that is validated, so it must be bounded before it is compiled. It errs on the side
// of too much, except that a repeated escape is counted by its last character. The ranges of a Unicode class
// are shared by its repetitions, so those are counted once.
func Expansion(pattern string) float64 {
	return programSize(pattern) + unicodeClassSize*float64(strings.Count(pattern, `\p`)+strings.Count(pattern, `\P`))
}

// unicodeClassSize is what the ranges of a large Unicode class take, as \pL or \pC, in instructions of a program.
const unicodeClassSize = 100

// programSize is the size of the program itself.
func programSize(pattern string) float64 {
	var outer []float64 // the sizes of what stands before each group that is open
	var all, last float64
	for i := 0; i < len(pattern); i++ {
		size := 1.0
		switch pattern[i] {
		case '(':
			outer = append(outer, all+last)
			all, last = 0, 0
			continue
		case ')':
			size = all + last + 2
			all, last = 0, 0
			if n := len(outer); n > 0 {
				all, outer = outer[n-1], outer[:n-1]
			}
			last = size
			continue
		case '{':
			if n, length := repetitions(pattern[i:]); length > 0 {
				last *= n
				i += length - 1
				continue
			}
		case '[':
			i += classLength(pattern[i:]) - 1
		case '\\':
			escaped := escapeLength(pattern[i:])
			i += escaped - 1
			all += float64(escaped) // of which none but the last is repeated
		}
		all, last = all+last, size
	}
	for all += last; len(outer) > 0; outer = outer[:len(outer)-1] {
		all += outer[len(outer)-1]
	}
	return all
}

// classLength is how long the class of characters is that a text begins with, as in "[^])a]". A bracket
// that comes first stands for itself, and classes such as [:alpha:] hold brackets of their own.
func classLength(text string) int {
	i := 1
	if strings.HasPrefix(text[i:], "^") {
		i++
	}
	if strings.HasPrefix(text[i:], "]") {
		i++
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if n := strings.Index(text[i:], ":]"); n > 0 && text[i+1] == ':' {
				i += n + 1
			}
		case ']':
			return i + 1
		}
	}
	return len(text)
}

// escapeLength is how long the escape is that a text begins with, as in "\(", "\x{2028}" or "\Q(\E".
// Letters of \p and digits of \x are part of the escape.
func escapeLength(text string) int {
	end := -1
	switch {
	case strings.HasPrefix(text, `\Q`):
		if end = strings.Index(text, `\E`); end < 0 {
			return len(text)
		}
		return end + 2
	case strings.HasPrefix(text, `\x{`), strings.HasPrefix(text, `\p{`), strings.HasPrefix(text, `\P{`):
		end = strings.IndexByte(text, '}')
	}
	if end > 0 {
		return end + 1
	}
	return min(2, len(text))
}

// repetitions reads "{n}", "{n,}" or "{n,m}" at the beginning of a text: the greater of the numbers, and
// how long it is; 0 if there is none. A text that is not of this form stands for itself in regular
// expressions. No number in it has more than four digits, hence the short part that is looked at.
func repetitions(text string) (most float64, length int) {
	inner, _, closed := strings.Cut(text[1:min(len(text), 12)], "}")
	if !closed {
		return 0, 0
	}
	low, high, _ := strings.Cut(inner, ",")
	n, err := strconv.Atoi(low)
	if err != nil {
		return 0, 0
	}
	if m, err := strconv.Atoi(high); err == nil {
		n = max(n, m)
	}
	return float64(max(n, 1)), len(inner) + 2
}

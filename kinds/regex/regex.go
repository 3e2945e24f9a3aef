package regex

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// MaxExpansion limits the estimated program size of a user's regular expression (see Expansion),
// because compiled programs remain in memory.
const MaxExpansion = 50_000

// ErrTooLarge reports a regular expression whose Expansion exceeds MaxExpansion.
var ErrTooLarge = errors.New("the expression is too large")

// Compile compiles a user's regular expression. It returns ErrTooLarge if the Expansion of pattern
// exceeds MaxExpansion.
func Compile(pattern string) (*regexp.Regexp, error) {
	if Expansion(pattern) > MaxExpansion {
		return nil, ErrTooLarge
	}
	return regexp.Compile(pattern)
}

// Expansion estimates the program size of a regular expression with expanded repetitions, without
// compiling it. For example, "(ab){1000}" has 2000 instructions. The estimate is an upper bound,
// except that a repeated escape counts only its last character. A Unicode class counts once,
// because repetitions share its ranges.
func Expansion(pattern string) float64 {
	return programSize(pattern) + unicodeClassSize*float64(strings.Count(pattern, `\p`)+strings.Count(pattern, `\P`))
}

// unicodeClassSize is the size of a large Unicode class such as \pL, in instructions.
const unicodeClassSize = 100

// programSize estimates the program size of a regular expression in instructions, without Unicode
// classes.
func programSize(pattern string) float64 {
	var outer []float64 // sizes of what precedes each open group
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
			all += float64(escaped) // only the last is repeated
		}
		all, last = all+last, size
	}
	for all += last; len(outer) > 0; outer = outer[:len(outer)-1] {
		all += outer[len(outer)-1]
	}
	return all
}

// classLength returns the length of the character class at the start of text, such as "[^])a]". A
// leading closing bracket is literal, and named classes such as [:alpha:] contain brackets.
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

// escapeLength returns the length of the escape at the start of text, such as "\(", "\x{2028}" or
// "\Q(\E". It includes the letters of \p and the digits of \x.
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

// repetitions parses "{n}", "{n,}" or "{n,m}" at the start of text. It returns the greater number
// and the length of the repetition. Other text is literal and has length 0. It reads only a short
// prefix, because numbers have at most four digits.
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

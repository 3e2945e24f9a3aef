package cel

import (
	"slices"
	"strings"
)

// reserved are the words of the language, which cannot name fields in expressions.
var reserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "namespace", "return", "var", "void", "while",
}

func isReserved(name string) bool { return slices.Contains(reserved, name) }

// escapes are what names may hold but identifiers may not, and how expressions write it. Escaping is part
// of the public API: self.spec.a__dot__b is written in definitions by their authors. The underscores come
// first, so that those of the other escapes are not escaped again.
var escapes = []struct{ text, escaped string }{
	{"__", "__underscores__"}, {".", "__dot__"}, {"-", "__dash__"}, {"/", "__slash__"},
}

var escaper = newEscaper()

func newEscaper() *strings.Replacer {
	var pairs []string
	for _, e := range escapes {
		pairs = append(pairs, e.text, e.escaped)
	}
	return strings.NewReplacer(pairs...)
}

// Escape is the name of a field in expressions; false if it cannot be named there. Single underscores and
// names such as a_b stay as they are; only two together are escaped.
func Escape(name string) (string, bool) {
	if name == "" || isDigit(rune(name[0])) {
		return "", false
	}
	if isReserved(name) {
		return "__" + name + "__", true
	}
	plain := true
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', isDigit(c):
		case c == '_', c == '.', c == '-', c == '/':
			plain = false
		default:
			return "", false
		}
	}
	if plain {
		return name, true
	}
	return escaper.Replace(name), true
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }

// unescape is the field that a name in expressions means; false if it is none. A name that escapes nothing,
// as __x__, means no field: were it taken literally, two spellings would mean the same one. Reserved words
// are escaped as a whole or not at all.
func unescape(escaped string) (string, bool) {
	if !strings.Contains(escaped, "__") {
		return escaped, true
	}
	var b strings.Builder
	for rest := escaped; rest != ""; {
		at, word := findEscape(rest)
		if at < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:at])
		text, known := unescapeWord(word)
		if !known || isReserved(word) && len(word)+4 != len(escaped) {
			return "", false
		}
		b.WriteString(text)
		rest = rest[at+len(word)+4:]
	}
	return b.String(), true
}

// findEscape finds the first "__word__", whose word holds no underscore; -1: there is none. Underscores
// within a word would make an escape ambiguous.
func findEscape(s string) (at int, word string) {
	for i := 0; i+4 < len(s); i++ {
		if s[i] != '_' || s[i+1] != '_' || s[i+2] == '_' {
			continue
		}
		end := strings.IndexByte(s[i+2:], '_')
		if end < 0 {
			return -1, ""
		}
		if rest := s[i+2+end:]; strings.HasPrefix(rest, "__") {
			return i, s[i+2 : i+2+end]
		}
	}
	return -1, ""
}

// unescapeWord is what stands for one escaped word; false if it is none.
func unescapeWord(word string) (string, bool) {
	for _, e := range escapes {
		if e.escaped == "__"+word+"__" {
			return e.text, true
		}
	}
	return word, isReserved(word)
}

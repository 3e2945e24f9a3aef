package cel

import (
	"slices"
	"strings"
)

// reserved lists the CEL keywords, which cannot name fields in expressions.
var reserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "namespace", "return", "var", "void", "while",
}

func isReserved(name string) bool { return slices.Contains(reserved, name) }

// escapes maps characters that identifiers cannot contain to Kubernetes' escapes, as in
// self.spec.a__dot__b. Underscores are first, so that the underscores of other escapes are not
// escaped.
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

// Escape returns the name by which expressions refer to a field, or false if there is none. It
// escapes only pairs of underscores, not single ones.
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

// unescape returns the field for a name in an expression, or false if the name is invalid. It
// rejects names that Escape never returns, such as __x__, so that each field has only one spelling.
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

// findEscape returns the position and word of the first "__word__" whose word has no underscore.
// The position is -1 if there is none.
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

func unescapeWord(word string) (string, bool) {
	for _, e := range escapes {
		if e.escaped == "__"+word+"__" {
			return e.text, true
		}
	}
	return word, isReserved(word)
}

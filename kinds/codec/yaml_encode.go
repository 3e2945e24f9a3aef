package codec

import (
	"strconv"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// YAML writes a JSON document as YAML, with its keys in order.
func YAML(json []byte) ([]byte, error) { return yaml.JSONToYAML(escapeForYAML(json)) }

// escapeForYAML escapes the characters that JSON may hold as they are and YAML may not. The conversion reads the JSON as YAML, which it is but for
// them: some are refused, and others are line ends, which would become blanks.
func escapeForYAML(json []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(json); {
		if json[i] != 0x7f && json[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(json[i:])
		if !isPrintableInYAML(r) { // it stands in a string, and is below U+10000
			out = append(out, json[done:i]...)
			out = append(out, '\\', 'u')
			out = append(out, strconv.FormatInt(0x10000|int64(r), 16)[1:]...)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return json
	}
	return append(out, json[done:]...)
}

// isPrintableInYAML tells whether a character, beyond the printable ones of ASCII, may stand for itself in YAML, and ends no line there.
func isPrintableInYAML(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return false
	}
	return r >= 0xa0
}

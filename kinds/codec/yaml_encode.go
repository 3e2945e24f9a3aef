package codec

import (
	"strconv"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// YAML converts a JSON document to YAML with sorted keys.
func YAML(json []byte) ([]byte, error) { return yaml.JSONToYAML(escapeForYAML(json)) }

// escapeForYAML escapes characters that YAML rejects or treats as line breaks, because the
// conversion parses the JSON as YAML.
func escapeForYAML(json []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(json); {
		if json[i] != 0x7f && json[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(json[i:])
		if !isPrintableInYAML(r) { // it is in a string and below U+10000
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

func isPrintableInYAML(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return false
	}
	return r >= 0xa0
}

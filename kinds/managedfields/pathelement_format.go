package managedfields

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

// parsePathElement parses and normalizes a path element, so that equal elements have equal text.
// For example, k:{"b":1, "a":2} becomes k:{"a":2,"b":1}. known is false for an unknown kind.
func parsePathElement(key string) (at pathElement, known bool, err error) {
	if len(key) < 2 || key[1] != ':' {
		return at, false, errFields
	}
	at = pathElement{key[0], key[2:]}
	switch at.kind {
	case 'f':
		return at, true, nil
	case 'i':
		i, err := strconv.Atoi(at.text)
		if err != nil {
			return at, false, errFields
		}
		at.text = strconv.Itoa(i)
		return at, true, nil
	case 'k':
		if canonicalKeys(at.text) {
			return at, true, nil
		}
	case 'v':
		if end := scalarEnd(at.text); end > 0 && end == len(at.text) {
			return at, true, nil
		}
	default:
		return at, false, nil
	}
	v, _, err := codec.DecodeAny([]byte(at.text))
	if _, keys := v.(tree.Tree); err != nil || !keys && at.kind == 'k' {
		return at, false, errFields
	}
	at.text = string(codec.AppendAny(nil, v))
	return at, true, nil
}

// canonicalKeys reports whether text is known to be in appendItemKey's format: sorted scalar
// members without whitespace. Nearly all keys are canonical and need no decoding.
func canonicalKeys(text string) bool {
	for last, sep := "", "{"; ; sep = "," {
		name := strings.TrimPrefix(text, sep)
		end := quotedEnd(name)
		if len(name) == len(text) || end == 0 || !strings.HasPrefix(name[end:], ":") || sep == "," && name[:end] <= last {
			return false
		}
		last, text = name[:end], name[end+1:]
		if end = scalarEnd(text); end == 0 {
			return false
		}
		if text = text[end:]; text == "}" {
			return true
		}
	}
}

func scalarEnd(text string) int {
	if strings.HasPrefix(text, `"`) {
		return quotedEnd(text)
	}
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	if end > 1 && text[0] == '0' || end > 15 {
		return 0
	}
	return end
}

func quotedEnd(text string) int {
	if !strings.HasPrefix(text, `"`) {
		return 0
	}
	end := jsontext.SafeEnd(text, 1)
	if end == len(text) || text[end] != '"' {
		return 0
	}
	return end + 1
}

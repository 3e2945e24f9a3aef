package ownership

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

// parsePathElement reads a path element and brings it into its canonical form, however a client has
// written it. known is false for other kinds than those of package doc.
//
// Other servers may write k:{"b":1, "a":2}; here that is k:{"a":2,"b":1}, so that elements can be compared
// as text.
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

// canonicalKeys tells whether a text is certainly an object of scalars, sorted by name and without blanks,
// as appendItemKey writes it. Nearly all texts are, and then need not be decoded and encoded again.
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

// scalarEnd is the length of the plain string or the whole number at the start; 0 if there is none.
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

// quotedEnd is the length of the string without escapes at the start; 0 if there is none.
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

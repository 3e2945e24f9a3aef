package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// An inventory maps subjects and items to tokens.
type inventory map[string]map[string]tokens

// tokens maps the name of each token of an item to its attributes. The text form separates tokens
// by spaces and attributes by commas: "pods(get,list) pods/log(get)".
type tokens map[string]map[string]bool

// add adds an item and, if token is not empty, this token with its attributes.
func (i inventory) add(subject, item, token string, attributes ...string) {
	if i[subject] == nil {
		i[subject] = map[string]tokens{}
	}
	if i[subject][item] == nil {
		i[subject][item] = tokens{}
	}
	if token != "" {
		i[subject][item].add(token, attributes...)
	}
}

// text returns the inventory as JSON with one item per line.
func (i inventory) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(i)
	return b.Bytes(), err
}

// separators replaces the characters that separate tokens and attributes in the text form.
var separators = strings.NewReplacer(" ", "_", ",", ";")

func (t tokens) add(name string, attributes ...string) {
	if t[name] == nil {
		t[name] = map[string]bool{}
	}
	for _, a := range attributes {
		t[name][separators.Replace(a)] = true
	}
}

// MarshalText returns the text form with sorted tokens.
func (t tokens) MarshalText() ([]byte, error) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if len(t[name]) > 0 {
			name += "(" + strings.Join(slices.Sorted(maps.Keys(t[name])), ",") + ")"
		}
		all = append(all, name)
	}
	return []byte(strings.Join(all, " ")), nil
}

func (t *tokens) UnmarshalText(text []byte) error {
	*t = tokens{}
	for _, word := range strings.Fields(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(word, ")"), "(")
		t.add(name)
		if rest != "" {
			t.add(name, strings.Split(rest, ",")...)
		}
	}
	return nil
}

func lacking(want, have map[string]bool) (keys []string) {
	for key := range want {
		if !have[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

var onOff = map[bool]string{true: "on", false: "off"}

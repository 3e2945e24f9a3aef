package jsontext

import "strings"

// An Object is a Value for repeated lookups. It scans each member at most once, and only as far as
// needed, whereas Value.Field always starts at the first member. An Object caches its first 16
// members and looks up others with Value.Field.
type Object struct {
	text  Value
	rest  Value // members not yet scanned
	found [16]member
	n     int // number of members in found
}

type member struct{ name, nameEnd, value, valueEnd int }

// Reset sets the value of o to v and drops the cached members.
func (o *Object) Reset(v Value) {
	o.text, o.rest, o.n = v, v.inside(), 0
}

// Text returns the JSON of the whole object.
func (o *Object) Text() Value { return o.text }

// Field is like Value.Field.
func (o *Object) Field(name string) Value {
	for i := range o.found[:o.n] {
		if m := &o.found[i]; isName(o.text[m.name:m.nameEnd], name) {
			return o.text[m.value:m.valueEnd]
		}
	}
	for o.n < len(o.found) {
		key, w, rest := o.rest.cutMember()
		if w == nil {
			return nil
		}
		o.rest = rest
		// key and w share the end of text's capacity, so the difference in capacity is their offset
		// in text.
		name0, value0 := cap(o.text)-cap(key), cap(o.text)-cap(w)
		o.found[o.n] = member{name0, name0 + len(key), value0, value0 + len(w)}
		o.n++
		if isName(key, name) {
			return w
		}
	}
	return o.text.Field(name)
}

// At is like Value.At.
func (o *Object) At(path string) Value {
	if path == "" {
		return o.text
	}
	name, rest, _ := strings.Cut(path, ".")
	return o.Field(name).At(rest)
}

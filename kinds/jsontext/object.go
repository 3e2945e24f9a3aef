package jsontext

import "strings"

// An Object is a Value of which many members are asked for. It walks over each member once, and no further than
// to the one that is asked for, where Value.Field begins at the first one every time.
//
// It has a fixed size: only the first members are remembered, and others are looked for by Value.Field.
type Object struct {
	text  Value
	rest  Value // what has not been walked over
	found [16]member
	n     int // how many of found there are
}

// A member is where its name, in quotes, and its value begin and end in the text.
type member struct{ name, nameEnd, value, valueEnd int }

// Reset makes o the object that v is, as if it were new.
func (o *Object) Reset(v Value) {
	o.text, o.rest, o.n = v, v.inside(), 0
}

// Text is the whole object.
func (o *Object) Text() Value { return o.text }

// Field is Value.Field of the object.
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
		// All are parts of the text and reach to its end, which tells where they begin.
		name0, value0 := cap(o.text)-cap(key), cap(o.text)-cap(w)
		o.found[o.n] = member{name0, name0 + len(key), value0, value0 + len(w)}
		o.n++
		if isName(key, name) {
			return w
		}
	}
	return o.text.Field(name)
}

// At is Value.At of the object.
func (o *Object) At(path string) Value {
	if path == "" {
		return o.text
	}
	name, rest, _ := strings.Cut(path, ".")
	return o.Field(name).At(rest)
}

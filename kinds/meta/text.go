package meta

import "strings"

// A Text is a string with its own memory. Strings from an object would retain its JSON, so values
// that outlive the object are Texts. The zero value is empty.
type Text struct{ s string }

// NewText returns a Text with a copy of s.
func NewText(s string) Text { return Text{strings.Clone(s)} }

func (t Text) String() string { return t.s }

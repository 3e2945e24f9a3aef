package meta

import "strings"

// A Text is a string that owns its bytes. Strings from an object share its JSON and would keep it
// in memory, so values that outlive the object are Texts. The zero value is empty.
type Text struct{ s string }

// NewText returns a copy of s.
func NewText(s string) Text { return Text{strings.Clone(s)} }

// String returns the text.
func (t Text) String() string { return t.s }

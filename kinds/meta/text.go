package meta

import "strings"

// A Text is a string that owns its bytes. Strings that are read from an object are parts of its JSON, so
// keeping one keeps the whole object in memory; what is kept for longer than the object has Texts in
// their place. Its zero value is empty.
type Text struct{ s string }

// NewText returns a copy of s.
func NewText(s string) Text { return Text{strings.Clone(s)} }

// String returns the text.
func (t Text) String() string { return t.s }

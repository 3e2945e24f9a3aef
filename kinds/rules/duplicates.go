package rules

// Seen detects repeated strings in one pass over a list.
type Seen map[string]bool

// Repeats reports whether an earlier call had the same text.
func (s Seen) Repeats(text string) bool {
	again := s[text]
	s[text] = true
	return again
}

package rules

// Seen finds repeated texts in one pass over a list.
type Seen map[string]bool

// Repeats reports whether text was passed before.
func (s Seen) Repeats(text string) bool {
	again := s[text]
	s[text] = true
	return again
}

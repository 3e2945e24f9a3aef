package rules

// Seen finds repeated texts in one pass over a list.
type Seen map[string]bool

// Repeats tells whether it has been asked about a text before.
func (s Seen) Repeats(text string) bool {
	again := s[text]
	s[text] = true
	return again
}

package rules

// Seen tells texts of a list apart that come again, however long the list is.
type Seen map[string]bool

// Repeats tells whether a text has come before.
func (s Seen) Repeats(text string) bool {
	again := s[text]
	s[text] = true
	return again
}

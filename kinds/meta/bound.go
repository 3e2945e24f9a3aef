package meta

import "strings"

// Bounds of the texts of a Status, in bytes. They hold what a client has sent, escaped twice: without bounds an answer was up to twelve times
// as long as the request.
const (
	maxText       = 64 << 10 // of one text: what one fault says, or a message beside the faults that it tells
	maxIdentifier = 4 << 10  // of what details name
)

// Bounded is the Status with texts of a length that somebody may read: s itself, or a copy whose longest texts are cut.
func (s *Status) Bounded() *Status {
	limit := maxText
	if s.Details != nil {
		for i := range s.Details.Causes {
			limit += min(len(s.Details.Causes[i].Message), maxText) + min(len(s.Details.Causes[i].Field), maxText)
		}
	}
	out := *s
	cut := cutText(&out.Message, limit)
	if s.Details == nil {
		if cut {
			return &out
		}
		return s
	}
	d := *s.Details
	out.Details = &d
	for _, text := range []*string{&d.Name, &d.Group, &d.Kind, &d.UID} {
		cut = cutText(text, maxIdentifier) || cut
	}
	shared := true // d.Causes is that of s
	for i, c := range s.Details.Causes {
		cutMessage, cutField := cutText(&c.Message, maxText), cutText(&c.Field, maxText)
		if !cutMessage && !cutField {
			continue
		}
		if shared {
			d.Causes, shared, cut = append([]Cause(nil), d.Causes...), false, true
		}
		d.Causes[i] = c
	}
	if !cut {
		return s
	}
	return &out
}

// cutText cuts a text that is longer than limit, and tells whether it has.
func cutText(text *string, limit int) bool {
	if len(*text) <= limit {
		return false
	}
	*text = CutText(*text, limit)
	return true
}

// CutText is a text of at most limit bytes, or as many and an ellipsis.
func CutText(text string, limit int) string {
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return text
}

package meta

import "strings"

// Limits of the strings in a Status, in bytes. Without them, a Status that quotes the request with
// double escapes could be twelve times as long as the request.
const (
	maxText       = 64 << 10 // per cause, or per message without its causes
	maxIdentifier = 4 << 10  // per name in details
)

// Bounded returns s, or a copy whose longest strings are truncated.
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
	shared := true // d.Causes is s's slice
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

func cutText(text *string, limit int) bool {
	if len(*text) <= limit {
		return false
	}
	*text = CutText(*text, limit)
	return true
}

// CutText truncates text to limit bytes plus an ellipsis.
func CutText(text string, limit int) string {
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return text
}

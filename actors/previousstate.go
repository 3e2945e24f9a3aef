package actors

import (
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// previousState is the metadata of a write in the log. Whoever reads the log back without the state before
// needs it to know that the object is new, or which selectors it matched before.
func previousState(state mutation.State, c mutation.Candidate) []byte {
	if state.Object == nil {
		return []byte{previousStateNone}
	}
	if sameSelection(state.Object.Meta, c.Head) {
		return nil
	}
	return append([]byte{previousStateFollows}, state.Object.JSON...)
}

// The first byte of that metadata; without any, the object existed and the same selectors match it.
const (
	previousStateNone    = 1
	previousStateFollows = 2 // the state before follows as JSON; without a version if it was not committed yet
)

// sameSelection tells whether the same selectors match two states of an object.
func sameSelection(a, b meta.ObjectMeta) bool {
	return slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Fields, b.Fields)
}

package actors

import (
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// previousState is what the journal keeps beside a change for watches that read it after a restart: that
// the object is new, or the state before if its labels or selectable fields differed.
func previousState(state mutation.State, c mutation.Candidate) []byte {
	if state.Object == nil {
		return []byte{previousStateNone}
	}
	if sameSelection(state.Object.Meta, c.Head) {
		return nil
	}
	return append([]byte{previousStateFollows}, state.Object.JSON...)
}

// The first byte of the metadata of a write. Without metadata the object existed, and the same selectors
// match.
const (
	previousStateNone    = 1
	previousStateFollows = 2 // the state before follows as JSON; without a version if it was not committed yet
)

// sameSelection says whether every selector that matches one of two states matches both.
func sameSelection(a, b meta.ObjectMeta) bool {
	return slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Fields, b.Fields)
}

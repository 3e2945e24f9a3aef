package actors

import (
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// previousState returns what the journal keeps for watches that resume after a restart: that the
// object is new, or the previous state if its labels or selectable fields differed.
func previousState(state mutation.State, c mutation.Candidate) []byte {
	if state.Object == nil {
		return []byte{previousStateNone}
	}
	if sameSelection(state.Object.Meta, c.Head) {
		return nil
	}
	return append([]byte{previousStateFollows}, state.Object.JSON...)
}

// The first byte of a write's metadata. Without metadata the object existed, and the same selectors
// match.
const (
	previousStateNone    = 1
	previousStateFollows = 2 // followed by the previous state as JSON, without a version if it was uncommitted
)

func sameSelection(a, b meta.ObjectMeta) bool {
	return slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Fields, b.Fields)
}

package actors

import (
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
)

// previousState returns what the journal keeps for watches that resume after a restart: that the
// object is new, or the previous state if its labels or selectable fields differed.
func previousState(state mutation.State, c mutation.Candidate) []byte {
	if state.Object == nil {
		return []byte{previousStateNone}
	}
	if before := &state.Object.Meta; slices.Equal(before.Labels, c.Head.Labels) && slices.Equal(before.Fields, c.Head.Fields) {
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

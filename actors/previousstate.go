package actors

import (
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
)

// previousState returns the metadata that the journal stores with a write, so that watches can
// resume after a restart.
func previousState(state mutation.State, c mutation.Candidate) []byte {
	if state.Object == nil {
		return []byte{previousStateNone}
	}
	if before := &state.Object.Meta; slices.Equal(before.Labels, c.Head.Labels) && slices.Equal(before.Fields, c.Head.Fields) {
		return nil
	}
	return append([]byte{previousStateFollows}, state.Object.JSON...)
}

// The first byte of a write's metadata. A write without metadata changes an existing object without
// affecting selectors.
const (
	previousStateNone    = 1
	previousStateFollows = 2 // followed by the previous state as JSON, without a version if it was uncommitted
)

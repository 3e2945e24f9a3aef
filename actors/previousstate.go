package actors

import (
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// previousState tells followers that read the history back what they can not see from the new
// state: that the object is new, or what it was when its labels or fields differed.
func previousState(state mutation.State, c mutation.Candidate) []byte {
	if state.Object == nil {
		return []byte{previousStateNone}
	}
	if sameSelection(state.Object.Meta, c.Head) {
		return nil
	}
	return append([]byte{previousStateFollows}, state.Object.JSON...)
}

// The first byte of a note; no note: the object existed and selects as before.
const (
	previousStateNone    = 1
	previousStateFollows = 2 // the state before follows as JSON; without a version if it was not committed yet
)

// sameSelection says whether no selector can tell two states of an object apart.
func sameSelection(a, b meta.ObjectMeta) bool {
	return slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Fields, b.Fields)
}

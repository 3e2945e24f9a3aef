package api

import (
	"testing"

	"github.com/troupe-api/troupe/test/transcript"
)

// TestHistory replays requests for an object's history and for states of the past, in both naming
// profiles.
func TestHistory(t *testing.T) {
	transcript.RunInProfiles(t, "testdata/history", nil, transcript.Options{})
}

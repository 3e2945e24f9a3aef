package api

import (
	"testing"

	"github.com/troupe-api/troupe/test/transcript"
)

// TestHistory replays requests for object history and past states, in both naming profiles.
func TestHistory(t *testing.T) {
	transcript.RunInProfiles(t, "testdata/history", nil, transcript.Options{})
}

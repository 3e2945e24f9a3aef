package api

import (
	"testing"

	"github.com/troupe-api/troupe/test/transcript"
)

func TestConventions(t *testing.T) {
	t.Parallel()
	transcript.RunServer(t, "testdata/conventions", nil, transcript.Options{})
}

// TestDeletions replays transcripts of deletions with the garbage collector disabled.
func TestDeletions(t *testing.T) {
	t.Parallel()
	transcript.RunServer(t, "testdata/conventions/uncollected", withoutCollector, transcript.Options{})
}

func TestApplies(t *testing.T) {
	t.Parallel()
	transcript.RunServer(t, "testdata/apply", nil, transcript.Options{})
}

func TestAccept(t *testing.T) {
	t.Parallel()
	transcript.RunServer(t, "testdata/accept", nil, transcript.Options{})
}

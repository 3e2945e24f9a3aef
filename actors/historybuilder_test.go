package actors

import (
	"testing"
	"time"

	"github.com/troupe-api/troupe/persist"
)

// TestHistoryBuilderSkipsOldCommits checks that expired commits are skipped up to the first recent
// one, regardless of gaps between revisions.
func TestHistoryBuilderSkipsOldCommits(t *testing.T) {
	oldest := time.Unix(1000, 0)
	b := &historyBuilder{oldest: oldest, base: 900}
	for _, test := range []struct {
		revision persist.Revision
		old      bool
		skipped  bool
		floor    uint64
	}{
		{5, true, true, 5}, {300, true, true, 300}, {301, true, true, 301}, {400, false, false, 301}, {500, true, false, 301},
	} {
		commit := persist.Commit{Revision: test.revision, Time: oldest}
		if test.old {
			commit.Time = oldest.Add(-time.Second)
		}
		if skipped := b.skip(&commit); skipped != test.skipped || b.floor != test.floor {
			t.Errorf("revision %d: skipped %t, the history begins after %d, want %t and %d", test.revision, skipped, b.floor, test.skipped, test.floor)
		}
	}
	b = &historyBuilder{oldest: oldest, base: 900}
	if b.skip(&persist.Commit{Revision: 901, Time: time.Unix(1, 0)}) {
		t.Error("a commit that changes the state is skipped")
	}
}

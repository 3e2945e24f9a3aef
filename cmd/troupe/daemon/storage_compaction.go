package daemon

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// CompactPath is the path where a POST compacts a running daemon's journal. It is authorized like
// BackupPath.
const CompactPath = "/compact"

// A Compaction holds the sizes of the journal and snapshots before and after it, in bytes.
type Compaction struct {
	JournalBefore   int64 `json:"journalBytesBefore"`
	JournalAfter    int64 `json:"journalBytes"`
	SnapshotBefore  int64 `json:"snapshotBytesBefore"`
	SnapshotAfter   int64 `json:"snapshotBytes"`
	ResourceVersion int64 `json:"resourceVersion"`
}

// compact writes a snapshot and drops the older part of the journal, except records from which
// watches may resume. It does not block requests.
func (s *storage) compact(ctx context.Context) ([]byte, error) {
	if s.state.etcd != nil {
		return nil, meta.NewBadRequest("the state is in etcd, which has its own compaction (--etcd-compaction-interval)")
	}
	before := s.state.journal.Stats()
	at := s.store.Version()
	err := s.store.Compact(ctx)
	switch {
	case errors.Is(err, persist.ErrNoSpace):
		return nil, meta.NewInsufficientStorage("not enough disk space for a snapshot")
	case errors.Is(err, context.DeadlineExceeded):
		return nil, meta.NewTimeout("the request timed out; the compaction continues")
	case err != nil:
		return nil, err
	}
	after := s.state.journal.Stats()
	return json.Marshal(Compaction{before.JournalBytes, after.JournalBytes, before.SnapshotBytes, after.SnapshotBytes, int64(at)})
}

package daemon

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/persist"
)

// A RawWriter commits another server's objects unchanged, with their UIDs, status and managed
// fields, and without admission or validation. Watches report them like any change.
type RawWriter struct {
	d   *Daemon
	log *secondWriter
}

// RawWriter returns the RawWriter of a daemon whose state is in its own data directory. Call it
// before Start.
func (d *Daemon) RawWriter() *RawWriter {
	d.state.second = &secondWriter{}
	return &RawWriter{d, d.state.second}
}

// Write makes the object current, or deletes it, and blocks until reads include the change. The
// resourceVersion must be that of the current object, or empty for a new one. Otherwise, Write
// fails with persist.ErrCondition.
func (w *RawWriter) Write(ctx context.Context, object []byte, remove bool) error {
	o, err := decodeImported(w.d.storage.kinds, object)
	if err != nil {
		return err
	}
	if o == nil {
		return fmt.Errorf("the server does not serve the kind of %.200s", object)
	}
	current, err := strconv.ParseUint(cmp.Or(o.resourceVersion, "0"), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: metadata.resourceVersion: %w", o.key, err)
	}
	result, err := w.log.write(persist.Write{
		Key: o.key, Value: o.encoded.JSON, RevisionOffset: o.encoded.VersionOffset, Delete: remove,
		Conditions: []persist.Condition{{Key: o.key, Revision: persist.Revision(current)}},
	})
	if err != nil {
		return err
	}
	if err := w.d.storage.store.AwaitVersion(ctx, uint64(result.Revision)); err != nil {
		return err
	}
	return result.Err
}

// A secondWriter is a log with writes that do not come from the store. The store receives them like
// those of another server on a shared log.
type secondWriter struct {
	persist.Log
	mu     sync.Mutex // held by the writer
	second bool       // the current Append is not the store's
}

func (l *secondWriter) Append(batch []persist.Write) ([]persist.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Log.Append(batch)
}

func (l *secondWriter) Subscribe(fn func([]persist.Commit, persist.Revision)) {
	l.Log.Subscribe(func(batch []persist.Commit, upTo persist.Revision) {
		for i := range batch {
			if l.second {
				batch[i].Index = -1
			}
		}
		fn(batch, upTo)
	})
}

func (l *secondWriter) write(w persist.Write) (persist.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.second = true
	defer func() { l.second = false }()
	results, err := l.Log.Append([]persist.Write{w})
	if err != nil {
		return persist.Result{}, err
	}
	return results[0], nil
}

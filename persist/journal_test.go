package persist

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

const testDir = "/data"

// soak makes tests run all cases instead of a sample.
var soak = os.Getenv("TROUPE_SOAK") != ""

var testTime = time.Unix(1_700_000_000, 0)

func testOptions(fs vfs.FS) Options {
	return Options{
		FS: fs, SegmentBytes: 2048, ReserveBytes: 100, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { return testTime }, WatermarkInterval: -1, bootID: "this",
	}
}

func reopen(o Options) (*Journal, *model, error) {
	j, err := Open(testDir, o)
	if err != nil {
		return nil, nil, err
	}
	m := newModel()
	last := ""
	newest, err := j.Recover(Recovery{
		Item: func(i Item) error {
			if len(m.state) > 0 && i.Key <= last {
				return fmt.Errorf("item %q after %q", i.Key, last)
			}
			last = i.Key
			m.state[i.Key] = i
			return nil
		},
		Base: func(r Revision) error { m.base = r; m.newest = r; return nil },
		Commit: func(c Commit) error {
			if n := len(m.history); n > 0 && m.history[n-1].Revision+1 != c.Revision {
				return fmt.Errorf("revision %d after %d", c.Revision, m.history[n-1].Revision)
			}
			m.history = append(m.history, c)
			if c.Revision > m.base {
				m.apply(c)
			}
			return nil
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	if newest != m.newest {
		return nil, nil, errors.Join(fmt.Errorf("Recover says %d, its commits end with %d", newest, m.newest), j.Close())
	}
	j.Subscribe(m.follow)
	return j, m, nil
}

func mustReopen(t testing.TB, o Options) (*Journal, *model) {
	t.Helper()
	j, m, err := reopen(o)
	must.Succeed(t, err)
	return j, m
}

func mustAppend(t testing.TB, j *Journal, batch ...Write) []Result {
	t.Helper()
	return must.Get(j.Append(batch))(t)
}

func mustSnapshot(t testing.TB, j *Journal, m *model) {
	t.Helper()
	must.Succeed(t, j.Snapshot(m.newest, m.newest, m.items()))
}

func failAt(n int, err error) func(vfs.Op) error {
	return func(op vfs.Op) error {
		if op.N == n {
			return err
		}
		return nil
	}
}

func failOn(name string, err error) func(vfs.Op) error {
	return func(op vfs.Op) error {
		if op.Name == name {
			return err
		}
		return nil
	}
}

func mustClose(t testing.TB, j *Journal) {
	t.Helper()
	must.Succeed(t, j.Close())
}

func put(key, value string) Write { return Write{Key: key, Value: []byte(value), RevisionOffset: -1} }

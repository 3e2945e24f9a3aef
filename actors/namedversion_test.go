package actors_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// A lateLog wraps a log. While hold is set, Append commits immediately but does not return until
// the hold is released. Subscribers receive the commits without delay.
type lateLog struct {
	persist.Log
	hold atomic.Pointer[hold]
}

type hold struct {
	committed chan persist.Revision
	over      chan struct{}
}

func (l *lateLog) Append(batch []persist.Write) ([]persist.Result, error) {
	h := l.hold.Load() // before Append, since waiters for the batch may continue before it returns
	results, err := l.Log.Append(batch)
	if h != nil && err == nil {
		select {
		case h.committed <- results[0].Revision:
		case <-h.over:
		}
		<-h.over
	}
	return results, err
}

// TestVersionIsNamedBeforeItsWriterIsAnswered checks that a client can use a resourceVersion as a
// precondition before the write that created it has returned. The client may know the version from
// a watch.
func TestVersionIsNamedBeforeItsWriterIsAnswered(t *testing.T) {
	key := meta.Key{Name: "c"}
	for name, change := range map[string]func(version string) request.Mutation{
		"update": func(v string) request.Mutation {
			return request.Mutation{Key: key, Change: request.Update{Object: tree.Tree{
				"metadata": tree.Tree{"name": "c", "resourceVersion": v}, "data": tree.Tree{"by": "watcher"}}}}
		},
		"patch": func(v string) request.Mutation {
			return request.Mutation{Key: key,
				Change: request.Patch{Type: request.MergePatch, Body: fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"data":{"by":"watcher"}}`, v)}}
		},
		"JSON patch": func(v string) request.Mutation {
			return request.Mutation{Key: key,
				Change: request.Patch{Type: request.JSONPatch, Body: fmt.Appendf(nil, `[{"op":"test","path":"/metadata/resourceVersion","value":%q},{"op":"add","path":"/data/by","value":"watcher"}]`, v)}}
		},
		"delete": func(v string) request.Mutation {
			return request.Mutation{Change: request.Delete{ResourceVersion: &v}, Key: key}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { testVersionIsNamed(t, change) })
		})
	}
}

func testVersionIsNamed(t *testing.T, change func(version string) request.Mutation) {
	late, held := &lateLog{}, &hold{committed: make(chan persist.Revision), over: make(chan struct{})}
	h := openOn(t, "/data", vfs.NewMem(), func(o *actors.Options) { late.Log, o.Log = o.Log, late })
	defer h.close()
	must.Get(h.create("c", "0"))(t)
	late.hold.Store(held)
	first := make(chan error, 1)
	go func() {
		_, err := h.patch("c", `{"data":{"v":"1"}}`)
		first <- err
	}()
	version := fmt.Sprint(<-held.committed)
	second := make(chan error, 1)
	go func() {
		_, err := h.do(change(version))
		second <- err
	}()
	synctest.Wait()
	select {
	case err := <-second: // too early, and usually a conflict
		t.Errorf("answered before the change that it builds on: %v", err)
		second <- err
	default: // it waits for the first one
	}
	close(held.over)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

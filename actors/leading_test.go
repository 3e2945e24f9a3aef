package actors_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

type sinkFunc func()

func (f sinkFunc) Events([]request.Event) error { f(); return nil }
func (sinkFunc) Done()                          {}

// TestLoneWriterLeads checks that a single writer syncs the journal and runs inline watches on its
// own goroutine, and that other watches run on their own goroutines.
func TestLoneWriterLeads(t *testing.T) {
	const function = "TestLoneWriterLeads("
	fs := vfs.NewMem()
	h := openOn(t, "/data", fs, nil)
	defer h.close()
	var synced, delivered [2]atomic.Int32 // elsewhere, and on the goroutine of the writer
	note := func(counts *[2]atomic.Int32) {
		if strings.Contains(string(debug.Stack()), function) {
			counts[1].Add(1)
		} else {
			counts[0].Add(1)
		}
	}
	watch := func(inline bool, sink sinkFunc) {
		if _, err := h.Watch(context.Background(), request.Watch{Kind: h.kind("configmaps"), Version: h.Version(), Inline: inline}, sink); err != nil {
			t.Fatal(err)
		}
	}
	watch(true, func() { note(&delivered) })
	watch(false, func() {
		if strings.Contains(string(debug.Stack()), function) {
			t.Error("the writer runs a watch that is not inline")
		}
	})
	fs.SetFault(func(op vfs.Op) error {
		if op.Name == "sync" {
			note(&synced)
		}
		return nil
	})
	const most = 1000
	writes := 0 // the first may find another goroutine on its way out of the committer or the watch
	for ; writes < most && (synced[1].Load() == 0 || delivered[1].Load() == 0); writes++ {
		if _, err := h.create(fmt.Sprint(writes), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if writes == most {
		t.Errorf("in %d writes, the goroutine of the writer synced %d times and delivered %d events", most, synced[1].Load(), delivered[1].Load())
	}
}

// TestWritersBesideALeader checks that writers that arrive while another writer is leading share
// the next batch. Canceled writers get their response even while the disk hangs.
func TestWritersBesideALeader(t *testing.T) {
	const others = 20
	fs := vfs.NewMem()
	h := openOn(t, "/data", fs, nil)
	defer h.close()
	syncing, gate := make(chan struct{}), make(chan struct{})
	var first sync.Once
	fs.SetFault(func(op vfs.Op) error {
		if op.Name == "sync" {
			first.Do(func() { close(syncing); <-gate })
		}
		return nil
	})
	var giveUp, wait sync.WaitGroup
	write := func(group *sync.WaitGroup, ctx context.Context, name string, code int) {
		group.Go(func() {
			_, err := h.Mutate(ctx, request.Mutation{
				Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: name},
				Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}}},
			})
			if statusCode(err) != code {
				t.Errorf("%s: %v, want code %d", name, err, code)
			}
		})
	}
	write(&wait, context.Background(), "leader", 0)
	<-syncing
	ctx, cancel := context.WithCancel(context.Background())
	for i := range others {
		write(&giveUp, ctx, fmt.Sprint("gives-up-", i), 504)
		write(&wait, context.Background(), fmt.Sprint("waits-", i), 0)
	}
	for !strings.Contains(h.metrics(), fmt.Sprintf("troupe_commit_queue_depth %d\n", 2*others)) {
		runtime.Gosched()
	}
	cancel()
	giveUp.Wait()
	close(gate)
	wait.Wait()
	if m := h.metrics(); !strings.Contains(m, fmt.Sprintf("troupe_commit_batch_size_max %d\n", 2*others)) {
		t.Errorf("the writers did not share a batch:\n%s", m)
	}
}

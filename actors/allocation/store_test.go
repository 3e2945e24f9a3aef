package allocation_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

type panicking struct{ schema.Strategy }

func (panicking) Validate(_, _ tree.Tree, _ *schema.Faults) { panic("boom") }

func TestFailedWritesAllocateNothing(t *testing.T) {
	fs := vfs.NewMem()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	journal := must.Get(persist.Open("/data", persist.Options{FS: fs, Sync: persist.SyncAlways}))(t)
	ranges, _ := allocation.ParseRanges("10.0.0.0/28")
	ports, _ := allocation.ParsePortRange("30000-30007")
	k := kinds.Kind("", "v1", "services")
	key := func(name string) meta.Key {
		return meta.Key{GroupResource: k.Storage, Namespace: "default", Name: name}
	}
	claims := allocation.NewServiceAllocator(ranges, ports, key("own"), meta.Platform)
	tuning := actors.DefaultTuning()
	tuning.RestartBackoff = 0
	store := must.Get(actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: tuning,
		Allocators: map[meta.GroupResource]mutation.Allocator{k.Storage: claims}, Fatal: func(err error) { t.Error("fatal:", err) }}))(t)
	defer func() { _ = store.Close(context.Background()); _ = journal.Close() }()

	create := func(name, label string) error {
		_, err := store.Mutate(context.Background(), request.Mutation{Kind: k, Key: key(name), Change: request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": name, "namespace": "default", "labels": tree.Tree{"l": label}},
			"spec":     tree.Tree{"type": "NodePort", "ports": []any{tree.Tree{"port": int64(1)}}},
		}}})
		return err
	}
	patch := func(body string) error {
		_, err := store.Mutate(context.Background(), request.Mutation{Kind: k, Key: key("a"), Change: request.Patch{Type: request.MergePatch, Body: []byte(body)}})
		return err
	}
	taken := func() string { return fmt.Sprint(slices.Sorted(maps.Keys(claims.Allocated()))) }
	must.Succeed(t, create("a", ""))
	before := taken()

	strategy := k.Strategy
	k.Strategy = panicking{strategy}
	for _, err := range []error{create("b", ""), patch(`{"spec":{"ports":[{"port":1},{"name":"b","port":2}]}}`)} {
		if err == nil {
			t.Error("a panic was no error")
		}
	}
	k.Strategy = strategy
	if got := taken(); got != before {
		t.Errorf("after panics %s is taken, want %s", got, before)
	}

	fs.SetFault(func(op vfs.Op) error {
		if op.Name == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	long := strings.Repeat("x", 60)
	for _, err := range []error{
		create("c", long), patch(`{"metadata":{"labels":{"m":"` + long + `"}},"spec":{"ports":[{"port":1,"nodePort":30007}]}}`), patch(`{"spec":{"type":"ClusterIP"}}`),
	} {
		if meta.AsStatus(err).Code != 507 {
			t.Errorf("on a full disk: %v", err)
		}
	}
	fs.SetFault(nil)
	if got := taken(); got != before {
		t.Errorf("after a full disk %s is taken, want %s", got, before)
	}
}

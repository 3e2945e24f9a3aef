package actors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

// openAlone starts one server on a key-value store to which the test also writes directly.
func openAlone(t *testing.T) (*server, *sharedKeys) {
	t.Helper()
	keys := newSharedKeys()
	s := openShared(t, keys.open())
	must.Get(s.create("c", "x"))(t)
	return s, keys
}

// overtake adds a field to the ConfigMap c, as if another server had written it.
func (s *sharedKeys) overtake(field string) {
	s.mu.Lock()
	newest := string(s.newest["/configmaps/default/c"].Value)
	s.mu.Unlock()
	head, rest, _ := strings.Cut(newest, `"resourceVersion":"`)
	_, rest, _ = strings.Cut(rest, `"`)
	head += `"resourceVersion":"`
	value := head + `"` + strings.Replace(rest, `"data":{`, `"data":{"`+field+`":"x",`, 1)
	s.write(persist.Write{Key: "/configmaps/default/c", Value: []byte(value), RevisionOffset: len(head)})
}

func (s *server) checkFields(want ...string) {
	s.t.Helper()
	s.await()
	o := must.Get(s.Get(context.Background(), request.Get{Kind: s.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "c"}}))(s.t)
	var got []string
	for name := range s.data(o) {
		if name != "v" {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("the fields are %v, want %v", got, want)
	}
}

func TestConflictWaitsForNewerState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testConflictWaits)
}

func testConflictWaits(t *testing.T) {
	s, keys := openAlone(t)
	defer s.close()
	s.log.delay = func() { time.Sleep(20 * time.Millisecond) }
	s.log.before = func([]persist.Write) {
		s.log.before = func([]persist.Write) {}
		keys.overtake("other")
	}
	must.Get(s.patch("c", `{"data":{"mine":"x"}}`))(t)
	if keys.refused != 1 {
		t.Errorf("%d writes were refused, want 1", keys.refused)
	}
	s.checkFields("mine", "other")
}

func TestOvertakenPipelineIsComputedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testOvertakenPipeline)
}

func testOvertakenPipeline(t *testing.T) {
	const writers = 8
	s, keys := openAlone(t)
	defer s.close()
	s.log.delay = func() { time.Sleep(5 * time.Millisecond) }
	gate, held, overtaken := make(chan struct{}), make(chan struct{}), 0
	s.log.before = func(batch []persist.Write) {
		if strings.HasSuffix(batch[0].Key, "/gate") {
			close(held)
			<-gate // until the other writes are queued, so that they form one batch
		} else if overtaken++; overtaken == 1 {
			if len(batch) < writers {
				t.Errorf("only %d writes in the batch", len(batch))
			}
			keys.overtake("other")
		}
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := s.create("gate", "x"); err != nil {
			t.Error(err)
		}
	})
	<-held
	want := []string{"other"}
	for i := range writers {
		want = append(want, fmt.Sprint("f", i))
		wait.Go(func() {
			if _, err := s.patch("c", fmt.Sprintf(`{"data":{"f%d":"x"}}`, i)); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait() // wait until all are queued
	close(gate)
	wait.Wait()
	if keys.refused != writers {
		t.Errorf("%d writes were refused, want %d", keys.refused, writers)
	}
	s.checkFields(want...)
}

func TestConflictsAreBounded(t *testing.T) {
	t.Parallel()
	s, keys := openAlone(t)
	defer s.close()
	s.log.before = func([]persist.Write) { keys.overtake(fmt.Sprint("o", keys.counter)) }
	if _, err := s.patch("c", `{"data":{"mine":"x"}}`); statusCode(err) != 409 {
		t.Errorf("%v, want 409", err)
	}
	if keys.refused < 5 || keys.refused > 100 {
		t.Errorf("%d tries", keys.refused)
	}
}

func TestConflictEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testConflictEnds)
}

func testConflictEnds(t *testing.T) {
	s, keys := openAlone(t)
	defer s.close()
	arrive := make(chan struct{})
	s.log.delay = func() { <-arrive }
	s.log.before = func([]persist.Write) { keys.overtake("other") }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	go func() {
		synctest.Wait() // wait until the mutation is refused
		cancel()
	}()
	_, err := s.Mutate(ctx, request.Mutation{Kind: s.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "c"},
		Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":{"mine":"x"}}`)}})
	if n := keys.refusedWrites(); statusCode(err) != 504 || n != 1 {
		t.Errorf("%v after %d tries, want 504 after one", err, n)
	}
	if waited := time.Since(began); waited != 0 {
		t.Errorf("it waited for %v, though its request had ended", waited)
	}
	close(arrive)
}

func (s *server) nodePort(name string, port int64) int {
	_, err := s.Mutate(context.Background(), request.Mutation{Kind: s.kind("services"), Key: meta.Key{Namespace: "default", Name: name},
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}, "spec": tree.Tree{"type": "NodePort", "ports": []any{tree.Tree{"port": int64(1), "nodePort": port}}}}}})
	return statusCode(err)
}

func TestUnknownFateKeepsItsAllocation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testUnknownFate)
}

func testUnknownFate(t *testing.T) {
	for label, committed := range map[fate]bool{committedNow: true, committedLate: true, neverCommitted: false} {
		s, keys := openAlone(t)
		s.log.late = func() fate { return label }
		s.log.fault = func() error { return persist.ErrUnknown }
		if got := s.nodePort("a", 30001); got != 504 {
			t.Errorf("fate %d: %d, want 504", label, got)
		}
		s.log.fault = func() error { return nil }
		if got := s.nodePort("b", 30001); got != 422 {
			t.Errorf("fate %d: the port is given away: %d", label, got)
		}
		must.Get(s.patch("c", `{"data":{"next":"x"}}`))(t)
		s.await()
		_, err := s.Get(context.Background(), request.Get{Kind: s.kind("services"), Key: meta.Key{Namespace: "default", Name: "a"}})
		if (err == nil) != committed {
			t.Errorf("fate %d: %v", label, err)
		}
		checkAllocated(t, keys, s)
		s.close()
	}
}

func TestUnavailableLog(t *testing.T) {
	t.Parallel()
	s, _ := openAlone(t)
	defer s.close()
	s.log.fault = func() error { return persist.ErrUnavailable }
	_, err := s.patch("c", `{"data":{"mine":"x"}}`)
	if statusCode(err) != 503 || meta.AsStatus(err).Details.RetryAfterSeconds == 0 || s.Healthy() != nil {
		t.Errorf("%v, healthy: %v", err, s.Healthy())
	}
	s.log.fault = func() error { return nil }
	if _, err := s.patch("c", `{"data":{"again":"x"}}`); err != nil {
		t.Error(err)
	}
	s.checkFields("again")
}

// TestOthersWriteUnknownKinds checks that objects written by other servers appear together with
// their CRD, even if the CRD arrives later. Objects without a valid key are quarantined.
func TestOthersWriteUnknownKinds(t *testing.T) {
	t.Parallel()
	s, keys := openAlone(t)
	defer s.close()
	head := `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"w","namespace":"default","uid":"u","resourceVersion":"`
	object := persist.Write{Key: "example.com/things/default/w", Value: []byte(head + `"},"spec":{}}`), RevisionOffset: len(head)}
	keys.write(object, persist.Write{Key: "no key", Value: []byte("x"), RevisionOffset: -1})
	s.await()
	if all := s.Unreadable(); len(all) != 1 || all[0].Reason == "" {
		t.Errorf("set aside are %v", all)
	}
	keys.write(persist.Write{Key: "no key", Delete: true, RevisionOffset: -1})
	s.await()
	if all := s.Unreadable(); len(all) != 0 {
		t.Errorf("set aside are %v", all)
	}
	kind := s.thingDefinition().Stored
	s.RegisterKind(kind)
	l, err := s.List(context.Background(), request.List{Kind: kind})
	if err != nil || len(l.Items) != 1 || l.Items[0].ItemOffset != kind.ItemOffset() {
		t.Fatalf("%v, %v", l.Items, err)
	}
	keys.write(object)
	s.await()
	if l, err = s.List(context.Background(), request.List{Kind: kind}); err != nil || l.Items[0].ItemOffset != kind.ItemOffset() {
		t.Errorf("%v, %v", l.Items, err)
	}
}

package actors_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// statusCode returns the HTTP status code of an error, 0 for nil, and 500 for an error that is not
// a Status.
func statusCode(err error) int {
	if err == nil {
		return 0
	}
	var status *meta.Status
	if errors.As(err, &status) {
		return status.Code
	}
	return 500
}

// onValidate calls fn with the value of data.v whenever a ConfigMap is validated.
func (h *testStore) onValidate(fn func(value string)) {
	h.kind("configmaps").Strategy = validating{validate: fn}
}

type validating struct {
	schema.DefaultStrategy
	validate func(value string)
}

func (s validating) Validate(obj, _ tree.Tree, _ *schema.Faults) {
	data, _ := obj["data"].(tree.Tree)
	value, _ := data["v"].(string)
	s.validate(value)
}

func TestPanicFailsOneRequest(t *testing.T) {
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.RestartBackoff = 0 })
	defer h.close()
	h.onValidate(func(value string) {
		if value == "boom" {
			panic("boom")
		}
	})
	const panics = 5
	must.Get(h.create("a", "1"))(t)
	for range panics {
		if _, err := h.patch("a", `{"data":{"v":"boom"}}`); statusCode(err) != 500 {
			t.Errorf("panic: %v, want 500", err)
		}
		if _, err := h.patch("a", `{"data":{"w":"fine"}}`); err != nil {
			t.Errorf("after the panic: %v", err)
		}
	}
	restarts := func() (n int) {
		_, value, _ := strings.Cut(h.metrics(), "\ntroupe_actor_restarts_total ")
		must.Get(fmt.Sscan(value, &n))(t)
		return n
	}
	for restarts() < panics {
		runtime.Gosched() // the restart follows the response
	}
	if n := restarts(); n != panics {
		t.Errorf("%d restarts after %d panics", n, panics)
	}
}

func TestFullMailboxIsRefused(t *testing.T) {
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.MailboxSize = 2 })
	defer h.close()
	entered, gate := make(chan struct{}, 1), make(chan struct{})
	must.Get(h.create("a", "1"))(t)
	h.onValidate(func(value string) {
		if value == "wait" {
			entered <- struct{}{}
			<-gate
		}
	})
	answers := make(chan int, 6)
	go func() { _, err := h.patch("a", `{"data":{"v":"wait"}}`); answers <- statusCode(err) }()
	<-entered
	for i := range 5 {
		go func() { _, err := h.patch("a", fmt.Sprintf(`{"data":{"v":"%d"}}`, i)); answers <- statusCode(err) }()
	}
	refused := 0
	for range 3 { // two of five fit
		if got := <-answers; got == 429 {
			refused++
		}
	}
	close(gate)
	for range 3 {
		if got := <-answers; got != 0 {
			t.Errorf("a queued patch was answered %d", got)
		}
	}
	if refused != 3 {
		t.Errorf("%d refused, want 3", refused)
	}
}

func TestCloseAnswersEveryone(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	must.Get(h.create("a", "1"))(t)
	var wait sync.WaitGroup
	var done, refused atomic.Int64
	started := make(chan struct{}, 1)
	for w := range 8 {
		wait.Go(func() {
			for i := 0; ; i++ {
				_, err := h.patch("a", fmt.Sprintf(`{"data":{"w%d":"%d"}}`, w, i))
				if statusCode(err) == 503 {
					refused.Add(1)
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	<-started
	h.close()
	wait.Wait()
	if refused.Load() != 8 || done.Load() == 0 {
		t.Errorf("%d writers were refused, want 8, after %d changes", refused.Load(), done.Load())
	}
}

func TestPassivation(t *testing.T) {
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.IdleTime = time.Nanosecond })
	defer h.close()
	for i := range 20 {
		must.Get(h.create(fmt.Sprint("c", i), "x"))(t)
	}
	if !poll(func() bool { return h.activationCount() == 0 }) {
		t.Fatal("actors stay alive")
	}
	if _, err := h.patch("c3", `{"data":{"v":"y"}}`); err != nil {
		t.Error(err)
	}
}

func (h *testStore) metrics() string {
	var b strings.Builder
	h.WriteMetrics(&b)
	return b.String()
}

func TestDiskFull(t *testing.T) {
	fs := vfs.NewMem()
	h := openOn(t, "/data", fs, nil)
	defer h.close()
	must.Get(h.create("before", "x"))(t)
	fs.SetBudget(fs.Used() + 200)
	if _, err := h.create("full", strings.Repeat("x", 100_000)); statusCode(err) != 507 {
		t.Errorf("on a full disk: %v, want 507", err)
	}
	if l := h.list(request.List{}); len(l.Items) != 1 {
		t.Errorf("%d objects, want 1", len(l.Items))
	}
	fs.SetBudget(-1)
	if _, err := h.create("full", "x"); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

func TestLastFinalizerOnFullDisk(t *testing.T) {
	fs := vfs.NewMem()
	h := openOn(t, "/data", fs, nil)
	defer h.close()
	key := meta.Key{Name: "a"}
	must.Get(h.do(request.Mutation{Key: key, Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "a", "finalizers": []any{"example.com/f"}}}}}))(t)
	must.Get(h.do(request.Mutation{Key: key, Change: request.Delete{}}))(t)
	fs.SetBudget(fs.Used())
	if _, err := h.create("full", strings.Repeat("x", 100_000)); statusCode(err) != 507 {
		t.Errorf("a create on a full disk: %v, want 507", err)
	}
	if _, err := h.patch("a", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Errorf("removing the last finalizer on a full disk: %v", err)
	}
	if l := h.list(request.List{}); len(l.Items) != 0 {
		t.Errorf("%d objects, want none", len(l.Items))
	}
	fs.SetBudget(-1)
}

func TestFailedSync(t *testing.T) {
	fs := vfs.NewMem()
	fatal := make(chan error, 1)
	h := openOn(t, "/data", fs, func(o *actors.Options) { o.Fatal = func(err error) { fatal <- err } })
	fs.SetFault(func(op vfs.Op) error {
		if op.Name == "sync" {
			return syscall.EIO
		}
		return nil
	})
	if _, err := h.create("lost", "x"); statusCode(err) != 503 {
		t.Errorf("with a failing sync: %v, want 503", err)
	}
	if err := <-fatal; err == nil || h.Healthy() == nil {
		t.Error("the store does not say that it has failed")
	}
	if l := h.list(request.List{}); len(l.Items) != 0 {
		t.Error("an object that was not acknowledged is visible")
	}
	if err := h.Store.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestDryRun(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	before := h.Version()
	r, err := h.do(request.Mutation{DryRun: true, Key: meta.Key{Name: "a"},
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "a"}}}})
	if err != nil || !r.Created || strings.Contains(string(r.Object.JSON), "resourceVersion") {
		t.Errorf("dry run: %v %s", err, r.Object.JSON)
	}
	if h.Version() != before || len(h.list(request.List{}).Items) != 0 {
		t.Error("the dry run left something behind")
	}
}

func TestNamespacePrecondition(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	namespaces := h.kind("namespaces")
	key := meta.Key{GroupResource: namespaces.Storage, Name: "n"}
	inN := func() int {
		_, err := h.Mutate(context.Background(), request.Mutation{Kind: h.kind("configmaps"),
			Key: meta.Key{Namespace: "n", Name: "a"}, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "a"}}}})
		return statusCode(err)
	}
	if got := inN(); got != 404 {
		t.Errorf("missing namespace: %d, want 404", got)
	}
	for _, m := range []request.Mutation{
		{Kind: namespaces, Key: key, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "n"}}}},
		{Kind: namespaces, Key: key, Change: request.Delete{}},
	} {
		must.Get(h.Mutate(context.Background(), m))(t)
	}
	if got := inN(); got != 403 {
		t.Errorf("terminating namespace: %d, want 403", got)
	}
	_, err := h.Mutate(context.Background(), request.Mutation{Kind: namespaces, Change: request.Delete{},
		Key: meta.Key{GroupResource: namespaces.Storage, Name: "default"}})
	if statusCode(err) != 403 {
		t.Errorf("deleting the default namespace: %v, want 403", err)
	}
}

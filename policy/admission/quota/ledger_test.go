package quota

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A cluster is a collection of Services with a ledger. A goroutine that publishes a change must
// hold mu.
type cluster struct {
	t        *testing.T
	ledger   *Ledger
	follower *follower
	kind     *schema.Kind

	mu      sync.Mutex // guards the fields below
	version uint64
	objects map[string]*meta.Object
	fails   int // number of scans to fail
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{
		t: t, ledger: New(meta.Platform, slog.New(slog.DiscardHandler), false), objects: map[string]*meta.Object{},
		kind: kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Service"}),
	}
	c.follower = &follower{ledger: c.ledger, objects: c}
	return c
}

func (c *cluster) Scan(_ context.Context, resource meta.GroupResource, _ string, visit func(*schema.Kind, *meta.Object)) (uint64, error) {
	c.mu.Lock()
	if c.fails > 0 {
		c.fails--
		c.mu.Unlock()
		return 0, errors.New("not now")
	}
	version, all := c.version, make([]*meta.Object, 0, len(c.objects))
	for _, o := range c.objects {
		all = append(all, o)
	}
	c.mu.Unlock()
	for range 3 { // observe changes concurrently
		runtime.Gosched()
	}
	for _, o := range all {
		if resource == c.kind.Storage {
			visit(c.kind, o)
		}
	}
	return version, nil
}

func (c *cluster) Version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

func (c *cluster) AwaitVersion(context.Context, uint64) error { return nil }

// service returns a Service with the given number of node ports, or nil for -1.
func service(ports int) tree.Tree {
	if ports < 0 {
		return nil
	}
	list := make([]any, ports)
	for i := range list {
		list[i] = tree.Tree{"port": int64(i + 1)}
	}
	return tree.Tree{"metadata": tree.Tree{}, "spec": tree.Tree{"type": "NodePort", "ports": list}}
}

func (c *cluster) encode(name string, object tree.Tree) *meta.Object {
	if object == nil {
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		c.t.Error(err)
	}
	return &meta.Object{Key: meta.Key{GroupResource: c.kind.Storage, Namespace: "n", Name: name}, JSON: text}
}

func (c *cluster) publish(name string, now tree.Tree, reserved *reservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	stored := c.encode(name, now)
	if reserved != nil && reserved.OnPublish != nil {
		reserved.OnPublish(c.kind, c.version, c.objects[name], stored)
	} else {
		c.ledger.Observe(c.kind, c.version, c.objects[name], stored)
	}
	if stored == nil {
		delete(c.objects, name)
	} else {
		c.objects[name] = stored
	}
	if reserved == nil {
		return
	}
	if len(reserved.entries) > 0 {
		c.t.Error("what is used is still held")
	}
	reserved.Commit()
}

func (c *cluster) setQuota(name string, hard tree.Tree) {
	if hard == nil {
		c.follower.onQuota(c.t.Context(), policy.Change{Object: &policy.Object{Key: meta.Key{Namespace: "n", Name: name}}, Deleted: true})
		return
	}
	c.setSpec(name, tree.Tree{"hard": hard})
}

func (c *cluster) setSpec(name string, spec tree.Tree) {
	o := &policy.Object{Key: meta.Key{Namespace: "n", Name: name}, Tree: tree.Tree{"spec": spec}}
	c.follower.onQuota(c.t.Context(), policy.Change{Object: o})
}

// propose reserves a change's amounts. It blocks while the outcome depends on other changes.
func (c *cluster) propose(old, now tree.Tree, dryRun bool) (*reservation, error) {
	for {
		r, err := c.ledger.reserve(&proposed{
			namespace: "n", resource: c.kind.Storage, evaluator: c.ledger.evaluators.of(c.kind.Storage), old: old, new: now, refusable: true, dryRun: dryRun,
		})
		var contended *request.ContendedError
		if !errors.As(err, &contended) {
			return r, err
		}
		contended.Wait(c.t.Context())
	}
}

// checkSettled checks that used equals the usage of the existing objects and that nothing is held.
func (c *cluster) checkSettled(quota string) {
	c.t.Helper()
	var ports, services int64
	for _, o := range c.objects {
		ports += int64(len(c.ledger.decode(c.kind, o).Object("spec").List("ports")))
		services++
	}
	n := c.ledger.namespace("n")
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.inForce(quota)
	if a == nil {
		c.t.Fatalf("%s is not in force", quota)
	}
	for i, limit := range a.hard {
		want := services
		if limit.Name == "services.nodeports" {
			want = ports
		}
		if got := a.used[i].String(); got != fmt.Sprint(want) || a.held[i].Sign() != 0 {
			c.t.Errorf("%s: %s used, %s held of %s; want %d and 0", quota, got, a.held[i], limit.Name, want)
		}
	}
}

// TestUsageIsExact checks that used matches the objects after concurrent changes to objects and
// quotas. The changes include rejected, abandoned, dry-run and unchecked writes.
func TestUsageIsExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		c := newCluster(t)
		c.setQuota("steady", tree.Tree{"services": "30", "services.nodeports": "60"})
		var writers sync.WaitGroup
		stop := make(chan struct{})
		for w := range 12 {
			writers.Go(func() { c.write(rand.New(rand.NewPCG(seed, uint64(w))), w, stop) })
		}
		for round := range 40 {
			c.setQuota("changing", []tree.Tree{
				{"services": "20"}, {"services": "25"}, {"services": "25", "services.nodeports": "50"}, nil,
			}[round%4])
			c.setQuota("steady", tree.Tree{"services": "30", "services.nodeports": fmt.Sprint(60 - round%3)})
		}
		c.setQuota("changing", tree.Tree{"count/services": "20", "services.nodeports": "9"})
		close(stop)
		writers.Wait()
		c.checkSettled("steady")
		c.checkSettled("changing")
		if members := c.ledger.epoch.Load().members.Load(); members != 1 {
			t.Errorf("%d changes are under way", members-1)
		}
	}
}

func (c *cluster) write(random *rand.Rand, w int, stop chan struct{}) {
	current := -1 // number of ports; negative without an object
	name := fmt.Sprint("s", w)
	for {
		select {
		case <-stop:
			return
		default:
		}
		next := random.IntN(6)
		switch dice := random.IntN(10); {
		case dice == 0: // a write without admission
			c.publish(name, service(next), nil)
		case dice < 3:
			next = -1
			if current >= 0 {
				c.publish(name, nil, nil)
			}
		default:
			r, err := c.propose(service(current), service(next), dice == 3)
			switch {
			case err != nil || dice == 3:
				continue
			case dice < 6:
				r.Release()
				continue
			}
			c.publish(name, service(next), r)
		}
		current = next
	}
}

// TestNeverRefusedBelow checks that a change waits while uncommitted changes hold the whole quota,
// and passes if their amounts are released.
func TestNeverRefusedBelow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.setQuota("q", tree.Tree{"services": "1"})
		held, err := c.propose(nil, service(0), false)
		if err != nil {
			t.Fatal(err)
		}
		answers := make(chan error, 8)
		var decided atomic.Int32
		for range cap(answers) {
			go func() {
				r, err := c.propose(nil, service(0), false)
				decided.Add(1)
				if err == nil {
					time.Sleep(time.Millisecond)
					r.Release()
				}
				answers <- err
			}()
		}
		synctest.Wait()
		if n := decided.Load(); n > 0 {
			t.Fatalf("%d changes were decided while another one held the quota", n)
		}
		held.Release()
		for range cap(answers) {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		held, _ = c.propose(nil, service(0), false)
		go func() {
			_, err := c.propose(nil, service(0), false)
			answers <- err
		}()
		c.publish("s", service(0), held)
		if err := <-answers; err == nil || err.Error() != "exceeded quota: q, requested: services=1, used: services=1, limited: services=1" {
			t.Errorf("got %v", err)
		}
		c.checkSettled("q")
	})
}

// TestQuotasComeAgain deletes and recreates a quota between the reservation of a change and its
// publication. The reservation must be released under the mutex of its original namespace.
func TestQuotasComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.setQuota("q", tree.Tree{"services": "1"})
		reserved, err := c.propose(nil, service(0), false)
		if err != nil {
			t.Fatal(err)
		}
		c.setQuota("q", nil)
		again := make(chan bool)
		go func() {
			c.setQuota("q", tree.Tree{"services": "1"})
			close(again)
		}()
		synctest.Wait() // until the new quota waits for the reservation
		reserved.OnPublish(c.kind, 1, nil, c.encode("s", service(0)))
		if len(reserved.entries) == 0 {
			t.Error("given back under the mutex of another namespace")
		}
		reserved.Commit()
		<-again
	})
}

func TestQuotaWaitsForEarlierChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		passed, err := c.propose(nil, service(0), false)
		if err != nil {
			t.Fatal(err)
		}
		inForce := make(chan bool)
		go func() {
			c.setQuota("q", tree.Tree{"services": "0"})
			close(inForce)
		}()
		synctest.Wait()
		select {
		case <-inForce:
			t.Fatal("the quota is in force before")
		default:
		}
		c.publish("s", service(0), passed)
		<-inForce
		c.checkSettled("q")
		c.setQuota("q", nil)
		if c.ledger.namespace("n") != nil {
			t.Error("a namespace without quotas is kept")
		}
	})
}

func TestFailedScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.publish("before", service(2), nil)
		c.fails = 3
		c.setQuota("q", tree.Tree{"services": "2", "services.nodeports": "9"})
		_, err := c.propose(nil, service(1), false)
		if err == nil || err.Error() != "status unknown for quota: q, resources: services,services.nodeports" {
			t.Errorf("while nothing is known: %v", err)
		}
		if r, err := c.propose(service(1), service(0), false); err != nil {
			t.Errorf("a change that takes nothing: %v", err)
		} else {
			r.Release()
		}
		c.publish("unasked", service(1), nil)
		for c.ledger.namespace("n").lockedInForce("q") == nil {
			time.Sleep(time.Millisecond)
		}
		c.checkSettled("q")
		if _, err := c.propose(nil, service(0), false); err == nil || err.Error() != "exceeded quota: q, requested: services=1, used: services=2, limited: services=2" {
			t.Errorf("in force: %v", err)
		}
	})
}

func TestFailedScanOfDeletedQuota(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.fails = 1
	c.setQuota("q", tree.Tree{"services": "0"})
	a, n := c.ledger.namespace("n").accounts[0], c.ledger.namespace("n")
	c.setQuota("q", nil)
	if again := c.follower.replaceUnknown(t.Context(), n, a); again != nil || c.ledger.namespace("n") != nil {
		t.Errorf("replaced by %v", again)
	}
	if r, err := c.propose(nil, service(0), false); err != nil {
		t.Errorf("without a quota: %v", err)
	} else {
		r.Release()
	}
}

func (n *namespace) lockedInForce(quota string) *account {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.inForce(quota)
}

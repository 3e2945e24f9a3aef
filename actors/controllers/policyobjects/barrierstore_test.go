package policyobjects

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
)

// TestRoleChangesAreObserved: a write of roles is not answered before policy has seen it, a write of
// anything else is.
func TestRoleChangesAreObserved(t *testing.T) {
	c := newCluster(t, meta.Platform)
	seen, goOn := make(chan string), make(chan struct{})
	see := func(change policy.Change) {
		seen <- change.Key.Name
		<-goOn
	}
	c.must(c.reader.Inform(c.ctx, meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, see))
	role, namespace := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles"), c.kinds.Kind("", "v1", "namespaces")
	checkWaits(t, "a", func() error { return c.create(role, "", named("a")) }, seen, goOn)
	checkWaits(t, "b", func() error { return c.create(role, "", named("b")) }, seen, goOn)
	checkWaits(t, "a", func() error { return c.delete(role, "", "a") }, seen, goOn)
	checkWaits(t, "b", func() error {
		_, err := c.store.DeleteCollection(c.ctx, request.List{Kind: role}, request.Mutation{Verb: request.Delete, Kind: role})
		return err
	}, seen, goOn)
	c.must(c.create(namespace, "", named("n"))) // which policy does not follow
}

// TestEndedInformDelaysNobody: writes do not wait for who has ended to inform himself.
func TestEndedInformDelaysNobody(t *testing.T) {
	c := newCluster(t, meta.Platform)
	ctx, end := context.WithCancel(c.ctx)
	seen := make(chan string, 2)
	c.must(c.reader.Inform(ctx, meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, func(change policy.Change) { seen <- change.Key.Name }))
	role := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles")
	c.must(c.create(role, "", named("a")))
	<-seen
	waiting := make(chan struct{})
	go func() {
		c.reader.waitObserved(c.ctx, role.Storage, 1<<40) // by a write that is going to be seen by nobody
		close(waiting)
	}()
	end()
	<-waiting
	began := time.Now()
	c.must(c.create(role, "", named("b")))
	if took := time.Since(began); took > maxBarrierWait/2 {
		t.Errorf("answered after %v", took)
	}
}

// checkWaits makes a change, and checks that it is not answered while policy is looking at it.
func checkWaits(t *testing.T, name string, change func() error, seen chan string, goOn chan struct{}) {
	t.Helper()
	answered := make(chan error, 1)
	go func() { answered <- change() }()
	if got := <-seen; got != name {
		t.Errorf("%s was seen instead of %s", got, name)
	}
	select {
	case err := <-answered:
		t.Errorf("the change of %s was answered before it was seen: %v", name, err)
	case <-time.After(20 * time.Millisecond): // an answer that does not wait is here long before
	}
	goOn <- struct{}{}
	if t.Failed() {
		return
	}
	if err := <-answered; err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

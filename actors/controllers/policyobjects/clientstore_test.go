package policyobjects

import (
	"context"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
)

// TestRoleChangesAreObserved checks that the response to a role write waits until policy has
// observed the write, and that responses to other writes do not.
func TestRoleChangesAreObserved(t *testing.T) {
	c := newCluster(t, meta.Platform)
	seen, goOn := make(chan string), make(chan struct{})
	see := func(change policy.Change) {
		seen <- change.Key.Name
		<-goOn
	}
	c.must(c.reader.Inform(c.ctx, meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, see))
	role, namespace := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles"), c.kinds.Kind("", "v1", "namespaces")
	checkWaits(t, c, "before-1", "a", func() error { return c.create(role, "", named("a")) }, seen, goOn)
	checkWaits(t, c, "before-2", "b", func() error { return c.create(role, "", named("b")) }, seen, goOn)
	checkWaits(t, c, "before-3", "a", func() error { return c.delete(role, "", "a") }, seen, goOn)
	checkWaits(t, c, "before-4", "b", func() error {
		_, err := c.store.DeleteCollection(c.ctx, request.List{Kind: role}, request.Mutation{Kind: role, Change: request.Delete{}})
		return err
	}, seen, goOn)
	c.must(c.create(namespace, "", named("n"))) // policy does not observe namespaces
}

func TestEndedInformDelaysNoWrite(t *testing.T) {
	c := newCluster(t, meta.Platform)
	ctx, end := context.WithCancel(c.ctx)
	seen := make(chan string, 2)
	c.must(c.reader.Inform(ctx, meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, func(change policy.Change) { seen <- change.Key.Name }))
	role := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles")
	c.must(c.create(role, "", named("a")))
	<-seen
	waiting := make(chan struct{})
	go func() {
		c.reader.Wait(c.ctx, role.Storage, 1<<40) // a version that is never reached
		close(waiting)
	}()
	end()
	<-waiting
	c.must(c.create(role, "", named("b")))
	c.reader.Wait(c.ctx, role.Storage, 1<<40) // returns without a timeout
}

// checkWaits checks that the response to change waits until policy has processed the change, and
// that the response to a later Namespace write does not.
func checkWaits(t *testing.T, c *cluster, namespace, name string, change func() error, seen chan string, goOn chan struct{}) {
	t.Helper()
	answered := make(chan error, 1)
	go func() { answered <- change() }()
	if got := <-seen; got != name {
		t.Errorf("%s was seen instead of %s", got, name)
	}
	c.must(c.create(c.kinds.Kind("", "v1", "namespaces"), "", named(namespace)))
	select {
	case err := <-answered:
		t.Errorf("the change of %s was answered before it was seen: %v", name, err)
	default:
	}
	goOn <- struct{}{}
	if t.Failed() {
		return
	}
	if err := <-answered; err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

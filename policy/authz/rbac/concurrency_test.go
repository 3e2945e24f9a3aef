package rbac_test

import (
	"fmt"
	"sync"
	"testing"
)

func TestConcurrency(t *testing.T) {
	c := newFakeCluster()
	c.set(t, "clusterroles/fixed", role("get core pods"))
	c.set(t, "clusterrolebindings/fixed", binding("ClusterRole/fixed", "Group:dev"))
	a := c.authorizer(t)
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			path := fmt.Sprintf("rolebindings/ns/b%d", i)
			for range 200 {
				c.set(t, path, binding("ClusterRole/other", "Group:dev", "User:jane"))
				c.set(t, "clusterroles/other", role("list core pods"))
				c.delete(path)
				c.delete("clusterroles/other")
			}
		})
		running.Go(func() {
			for range 1000 {
				if !isAllowed(a, "jane dev", "get core pods ns p") || isAllowed(a, "jane dev", "delete core pods ns p") {
					t.Error("a decision changes")
					return
				}
				a.RulesFor(user("jane dev"), "ns")
			}
		})
	}
	running.Wait()
	if isAllowed(a, "jane dev", "list core pods ns") {
		t.Error("what has gone still counts")
	}
}

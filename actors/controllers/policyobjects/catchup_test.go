package policyobjects

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
)

type admission struct {
	request.HandlesAll
	allowed func() bool
}

func (a admission) Validate(*request.Attributes) error {
	if !a.allowed() {
		return meta.NewForbidden(meta.GroupResource{Resource: "namespaces"}, "n", "the role is not known")
	}
	return nil
}

// TestRefusalByPolicyThatIsBehind checks that a change is not rejected merely because policy lags
// behind another server's writes.
func TestRefusalByPolicyThatIsBehind(t *testing.T) {
	c := newCluster(t, meta.Platform)
	shared := c.opts
	shared.Newest = func(context.Context) (uint64, error) { return c.store.Version(), nil }
	store := actors.NewClientStore(c.reader.store, shared)
	var seen atomic.Bool
	goOn := make(chan struct{})
	c.must(c.reader.Inform(c.ctx, meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, func(policy.Change) {
		<-goOn
		seen.Store(true)
	}))
	role := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles")
	_, err := c.reader.store.Mutate(c.ctx, request.Mutation{Kind: role, Key: meta.Key{Name: "a"}, Change: request.Create{Object: named("a")}}) // does not wait for policy
	c.must(err)
	var once sync.Once
	refusing := admission{allowed: func() bool {
		defer once.Do(func() { close(goOn) })
		return seen.Load()
	}}
	_, err = store.Mutate(c.ctx, request.Mutation{
		Kind: c.kinds.Kind("", "v1", "namespaces"), Key: meta.Key{Name: "n"}, Change: request.Create{Object: named("n")},
		Admission: &request.Admission{Plugins: []*request.Plugin{{SkipsNoOps: true, Validator: refusing}}},
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCatchUpAfterADeletion checks that a new call of Inform observes the latest version, even if
// that is the version of a delete and all existing objects are older.
func TestCatchUpAfterADeletion(t *testing.T) {
	c := newCluster(t, meta.Platform)
	role := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles")
	c.must(c.create(role, "", named("a")))
	c.must(c.delete(role, "", "a"))
	c.must(c.reader.Inform(c.ctx, meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, func(policy.Change) {}))
	if c.reader.CatchUp(c.ctx); c.ctx.Err() != nil || !c.reader.IsCaughtUp() {
		t.Error("policy counts as behind")
	}
}

package mutation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func prepareRemove(cur State, m *request.Mutation, options request.Delete, env Env) (Prepared, error) {
	if cur.Object == nil {
		return Prepared{}, m.NotFound()
	}
	if err := checkDelete(cur, m, options); err != nil {
		return Prepared{}, err
	}
	if guard, ok := env.Allocator.(DeletionGuard); ok {
		if err := guard.CheckDelete(m.Key); err != nil {
			return Prepared{}, err
		}
	}
	return Prepared{cur: cur, mutation: m, env: env, step: stepRemove}, nil
}

// finishRemove removes the object, or marks it as terminating if finalizers or a grace period delay
// its removal.
func (p *Prepared) finishRemove() (Candidate, error) {
	cur, m := p.cur, p.mutation
	options, _ := m.Change.(request.Delete)
	if err := p.validate(); err != nil {
		return Candidate{}, err
	}
	if _, text := m.Kind.Stored.Strategy.DefaultPropagation(); text != "" && options.PropagationPolicy == "" {
		m.Recorder.Warn(text)
	}
	if removesImmediately(cur.Object, m, options) {
		return Candidate{Op: Remove, Tree: cur.Tree, Encoded: codec.WithoutVersion(cur.Object.JSON), Head: cur.Object.Meta}, nil
	}
	object := tree.Clone(cur.Tree).(tree.Tree)
	metadata := childObject(object, "metadata")
	setPolicyFinalizer(metadata, propagationPolicy(cur.Object, m, options))
	if !cur.Object.Meta.Terminating {
		p.beginDeletion(object, metadata, options)
	} else if requested := options.GracePeriodSeconds; requested != nil && m.Kind.Writes.Deletion == schema.DeleteGracefully {
		shortenGrace(metadata, *requested)
	}
	return p.env.encodeCandidate(cur, m, object)
}

func (p *Prepared) beginDeletion(object, metadata tree.Tree, options request.Delete) {
	m, now, grace := p.mutation, p.env.Now, int64(0)
	switch strategy := m.Kind.Stored.Strategy; m.Kind.Writes.Deletion {
	case schema.DeleteInSteps:
		metadata["deletionTimestamp"] = timestamp(now)
		strategy.BeginDelete(object, timestamp(now))
		return
	case schema.DeleteGracefully:
		grace = strategy.GracePeriod(object, options.GracePeriodSeconds)
	}
	metadata["deletionTimestamp"] = timestamp(now.Add(time.Duration(grace) * time.Second))
	metadata["deletionGracePeriodSeconds"] = grace
	if p.cur.Object.Meta.Generation > 0 {
		metadata["generation"] = p.cur.Object.Meta.Generation + 1
	}
}

func removesImmediately(o *meta.Object, m *request.Mutation, options request.Delete) bool {
	policy := propagationPolicy(o, m, options)
	return m.Kind.Writes.Deletion == schema.DeleteAtOnce && len(o.Meta.Finalizers) == 0 &&
		(policy == "" || policy == "Background")
}

// propagationPolicy returns the propagation policy of a delete request. An empty policy leaves the
// object's finalizers unchanged.
func propagationPolicy(o *meta.Object, m *request.Mutation, options request.Delete) string {
	if policy := options.PropagationPolicy; policy != "" || o.Meta.Terminating ||
		slices.ContainsFunc(o.Meta.Finalizers, func(f string) bool { return f == meta.OrphanFinalizer || f == meta.ForegroundFinalizer }) {
		return policy
	}
	policy, _ := m.Kind.Stored.Strategy.DefaultPropagation()
	return policy
}

func checkDelete(cur State, m *request.Mutation, options request.Delete) error {
	if m.Kind.Writes.Deletion == schema.DeleteInSteps {
		return checkStepwiseDelete(cur, m, options)
	}
	name := kindName(m.Kind)
	gr := meta.GroupResource{Group: name.Group, Resource: name.Kind}
	if uid := options.UID; uid != nil && *uid != cur.Object.Meta.UID {
		return meta.NewConflict(gr, m.Key.Name, fmt.Sprintf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*uid, cur.Object.Meta.UID))
	}
	current := strconv.FormatUint(cur.Object.Version, 10)
	if version := options.ResourceVersion; version != nil && (!cur.Committed || *version != current) {
		return meta.NewConflict(gr, m.Key.Name, fmt.Sprintf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*version, current))
	}
	return nil
}

// checkStepwiseDelete checks the preconditions of a delete like checkDelete, but returns the errors
// of an update. It is for kinds that kube-apiserver deletes by updating them first.
func checkStepwiseDelete(cur State, m *request.Mutation, options request.Delete) error {
	if uid := options.UID; uid != nil && *uid != cur.Object.Meta.UID {
		return uidConflict(m, *uid, cur.Object.Meta.UID)
	}
	current := strconv.FormatUint(cur.Object.Version, 10)
	if version := options.ResourceVersion; version != nil && (!cur.Committed || *version != current) {
		return m.Conflict(fmt.Sprintf(
			"Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", *version, current))
	}
	return nil
}

// setPolicyFinalizer sets the finalizer of a propagation policy and removes those of other
// policies.
func setPolicyFinalizer(metadata tree.Tree, policy string) {
	wanted := map[string]string{"Orphan": meta.OrphanFinalizer, "Foreground": meta.ForegroundFinalizer}[policy]
	if policy == "" {
		return
	}
	var kept []any
	old, _ := metadata["finalizers"].([]any)
	for _, f := range old {
		if f != meta.OrphanFinalizer && f != meta.ForegroundFinalizer {
			kept = append(kept, f)
		}
	}
	if wanted != "" {
		kept = append(kept, wanted)
	}
	if len(kept) == 0 {
		delete(metadata, "finalizers")
	} else {
		metadata["finalizers"] = kept
	}
}

// shortenGrace moves the deletion time of a terminating object earlier, but never later. A negative
// grace period means 1 second.
func shortenGrace(metadata tree.Tree, to int64) {
	if to < 0 {
		to = 1
	}
	old, ok := metadata["deletionGracePeriodSeconds"].(int64)
	if !ok || to >= old {
		return
	}
	by := old - to
	metadata["deletionGracePeriodSeconds"] = to
	if at, err := time.Parse(time.RFC3339, fmt.Sprint(metadata["deletionTimestamp"])); err == nil {
		metadata["deletionTimestamp"] = timestamp(at.Add(-time.Duration(by) * time.Second))
	}
}

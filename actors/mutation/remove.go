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

// prepareRemove prepares to delete an object.
func prepareRemove(cur State, m *request.Mutation, env Env) (Prepared, error) {
	if cur.Object == nil {
		return Prepared{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	if err := checkDelete(cur, m); err != nil {
		return Prepared{}, err
	}
	if guard, ok := env.Allocator.(DeletionGuard); ok {
		if err := guard.CheckDelete(m.Key); err != nil {
			return Prepared{}, err
		}
	}
	return Prepared{cur: cur, mutation: m, env: env, step: stepRemove}, nil
}

// finishRemove removes the object, or begins its deletion where finalizers or a grace period hold it.
func (p *Prepared) finishRemove() (Candidate, error) {
	cur, m := p.cur, p.mutation
	if err := p.change().Validate(); err != nil {
		return Candidate{}, err
	}
	if text := m.Kind.Stored.Rules.WarnDelete; text != "" && m.Delete.PropagationPolicy == "" {
		m.Recorder.Warn(text)
	}
	if removesImmediately(cur.Object, m) {
		return Candidate{Op: Remove, Tree: cur.Tree, Encoded: codec.WithoutVersion(cur.Object.JSON), Head: cur.Object.Meta}, nil
	}
	object := tree.Clone(cur.Tree).(tree.Tree)
	metadata := childObject(object, "metadata")
	setPolicyFinalizer(metadata, propagationPolicy(cur.Object, m))
	if !cur.Object.Meta.Terminating {
		p.beginDeletion(object, metadata)
	} else if asked := m.Delete.GracePeriodSeconds; asked != nil && m.Kind.GracefulDeletion {
		shortenGrace(metadata, normalizedGracePeriod(*asked))
	}
	return p.env.encodeCandidate(cur, m, object)
}

// beginDeletion marks an object as terminating.
func (p *Prepared) beginDeletion(object, metadata tree.Tree) {
	m, now := p.mutation, p.env.Now
	grace := gracePeriod(m, object)
	metadata["deletionTimestamp"] = timestamp(now.Add(time.Duration(grace) * time.Second))
	metadata["deletionGracePeriodSeconds"] = grace
	if deleting := m.Kind.Stored.Rules.BeginDelete; deleting != nil {
		delete(metadata, "deletionGracePeriodSeconds")
		deleting(object, timestamp(now))
	} else if p.cur.Object.Meta.Generation > 0 {
		metadata["generation"] = p.cur.Object.Meta.Generation + 1
	}
	if m.Kind.HasSpecFinalizers {
		delete(metadata, "deletionGracePeriodSeconds")
		object["status"] = tree.Tree{"phase": "Terminating"}
	}
}

// removesImmediately tells whether the object is removed as it is: no finalizer and no grace period
// delays that.
func removesImmediately(o *meta.Object, m *request.Mutation) bool {
	policy := propagationPolicy(o, m)
	return !m.Kind.GracefulDeletion && !deletesInSteps(m.Kind) && len(o.Meta.Finalizers) == 0 &&
		(policy == "" || policy == "Background")
}

// propagationPolicy is what becomes of what an object owns: as the request asks, else as the object's finalizers
// say, else, when its deletion begins, as is usual for its kind; "" changes nothing of that.
func propagationPolicy(o *meta.Object, m *request.Mutation) string {
	policy := m.Delete.PropagationPolicy
	if policy == "" && m.Kind.Stored.Rules.OrphansDependents && !o.Meta.Terminating &&
		!slices.ContainsFunc(o.Meta.Finalizers, func(f string) bool { return f == meta.OrphanFinalizer || f == meta.ForegroundFinalizer }) {
		return "Orphan"
	}
	return policy
}

// checkDelete checks the preconditions against the current state.
func checkDelete(cur State, m *request.Mutation) error {
	if deletesInSteps(m.Kind) {
		return checkStepwiseDelete(cur, m)
	}
	name := kindName(m.Kind)
	gr := meta.GroupResource{Group: name.Group, Resource: name.Kind}
	if uid := m.Delete.UID; uid != nil && *uid != cur.Object.Meta.UID {
		return meta.NewConflict(gr, m.Key.Name, fmt.Sprintf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*uid, cur.Object.Meta.UID))
	}
	current := strconv.FormatUint(cur.Object.Version, 10)
	if version := m.Delete.ResourceVersion; version != nil && (!cur.Committed || *version != current) {
		return meta.NewConflict(gr, m.Key.Name, fmt.Sprintf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*version, current))
	}
	return nil
}

// deletesInSteps reports whether a delete only marks the object of a kind, such as a Namespace, whatever finalizers it has.
func deletesInSteps(k *schema.Kind) bool {
	return k.HasSpecFinalizers || k.Stored.Rules.BeginDelete != nil
}

// checkStepwiseDelete is checkDelete where clients know the errors of an update.
func checkStepwiseDelete(cur State, m *request.Mutation) error {
	if uid := m.Delete.UID; uid != nil && *uid != cur.Object.Meta.UID {
		return uidConflict(m, *uid, cur.Object.Meta.UID)
	}
	current := strconv.FormatUint(cur.Object.Version, 10)
	if version := m.Delete.ResourceVersion; version != nil && (!cur.Committed || *version != current) {
		return meta.NewConflict(resource(m.Kind), m.Key.Name, fmt.Sprintf(
			"Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", *version, current))
	}
	return nil
}

// setPolicyFinalizer adds or removes the finalizers by which a propagation policy
// makes the object wait for what it owns.
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

// gracePeriod is how long a graceful deletion waits, in seconds: what the request
// asks, else what the object says; 0 for an object that does not run.
func gracePeriod(m *request.Mutation, object tree.Tree) int64 {
	if !m.Kind.GracefulDeletion {
		return 0
	}
	spec, status := childObject(object, "spec"), childObject(object, "status")
	if node, _ := spec["nodeName"].(string); node == "" {
		return 0
	}
	if phase := status["phase"]; phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	if asked := m.Delete.GracePeriodSeconds; asked != nil {
		return normalizedGracePeriod(*asked)
	}
	own, _ := spec["terminationGracePeriodSeconds"].(int64)
	return normalizedGracePeriod(own)
}

// normalizedGracePeriod is a grace period as it is meant: negative ones mean the shortest, 1 second.
func normalizedGracePeriod(seconds int64) int64 {
	if seconds < 0 {
		return 1
	}
	return seconds
}

// shortenGrace moves the deletion time of a terminating object forward, never back.
func shortenGrace(metadata tree.Tree, to int64) {
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

package nodes

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podStore reads and deletes Pods.
//
// Node and phase are read from the selectable fields, which the store keeps next to each object. Thus all Pods can
// be looked at without decoding one.
type podStore struct {
	pods        reconcile.Client
	node, phase int // indexes of these fields in those of a stored Pod
}

func newPodStore(env *reconcile.Env, component string) podStore {
	k := env.Core("Pod").Reporting(component)
	field := func(name string) int {
		return slices.IndexFunc(k.Stored.SelectFields, func(f schema.SelectField) bool { return f.Name == name })
	}
	return podStore{pods: k, node: field("spec.nodeName"), phase: field("status.phase")}
}

// nodeOf is the name of the node of a Pod.
func (p *podStore) nodeOf(o *meta.Object) string { return o.Meta.Fields[p.node] }

// phaseOf is the phase of a Pod.
func (p *podStore) phaseOf(o *meta.Object) string { return o.Meta.Fields[p.phase] }

// on are the Pods on a node.
func (p *podStore) on(ctx context.Context, node string) ([]*meta.Object, error) {
	return p.pods.ListBy(ctx, "spec.nodeName", node)
}

// disruption is the condition of a Pod that says why it is deleted.
// Controllers of Jobs read it, to tell a Pod that failed by itself from one that was removed.
func disruption(reason, message string) tree.Tree {
	return reconcile.NewCondition("DisruptionTarget", "True", reason, message, time.Now())
}

// fail gives a Pod that has not ended the phase Failed, and a condition if there is one to give.
// A nil condition leaves the conditions as they are. The phase of a Pod that has ended is final and is never
// overwritten.
func (p *podStore) fail(ctx context.Context, key meta.Key, uid string, why tree.Tree) error {
	return p.changeStatus(ctx, key, uid, func(status tree.Tree) bool {
		if phase := status.String("phase"); phase == "Succeeded" || phase == "Failed" {
			return false
		}
		status["phase"] = "Failed"
		if why != nil {
			putCondition(status, why)
		}
		return true
	})
}

// changeStatus changes the status of a Pod, unless it is another one by now.
//
// change gets a copy of the status and tells whether it is to be written; only its phase and its conditions are. A
// write of somebody else in the meantime makes it a conflict.
func (p *podStore) changeStatus(ctx context.Context, key meta.Key, uid string, change func(status tree.Tree) bool) error {
	o, object, err := p.pods.Read(ctx, key)
	if err != nil || o == nil || o.Meta.UID != uid {
		return err
	}
	status := object.Object("status").Copy()
	if !change(status) {
		return nil
	}
	return p.pods.PatchStatus(ctx, o, tree.Tree{"phase": status["phase"], "conditions": status["conditions"]})
}

// putCondition puts a condition in place of the one of its type.
func putCondition(status, c tree.Tree) {
	status["conditions"] = append(reconcile.RemoveCondition(status.List("conditions"), c.String("type")), c)
}

// delete deletes a Pod; seconds is how long it may take to end, nil for as long as it says itself.
// A conflict means here that the uid is another one: the Pod that was to go is gone.
func (p *podStore) delete(ctx context.Context, key meta.Key, uid string, seconds *int64) error {
	return reconcile.Except(p.pods.DeleteKey(ctx, key, request.Delete{UID: &uid, GracePeriodSeconds: seconds}), reconcile.IsConflict)
}

// isReady tells whether a status says that its object is ready.
func isReady(status tree.Tree) bool { return condition.IsTrue(status, "Ready") }

// taintDomain is where the keys of taints begin that say how a node is.
const taintDomain = "node.platform.io/"

// hasTaint tells whether a node has a taint of a key and, if it is not "", an effect.
func hasTaint(node tree.Tree, key, effect string) bool {
	return slices.ContainsFunc(node.Object("spec").Objects("taints"), func(t tree.Tree) bool {
		return t.String("key") == key && (effect == "" || t.String("effect") == effect)
	})
}

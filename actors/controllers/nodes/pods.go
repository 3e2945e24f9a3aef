package nodes

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Store is what these controllers need of the store.
type Store = reconcile.Store

// podStore reads and deletes Pods.
//
// Node and phase are read from the selectable fields, which the store keeps next to each object. Thus all Pods can
// be looked at without decoding one.
type podStore struct {
	store       Store
	kind        *schema.Kind
	node, phase int // where the metadata of a Pod has its node and its phase
}

func newPodStore(store Store, kinds *catalog.Catalog) podStore {
	k := reconcile.CoreKind(kinds, "Pod")
	field := func(name string) int {
		return slices.IndexFunc(k.Stored.SelectFields, func(f schema.SelectField) bool { return f.Name == name })
	}
	return podStore{store: store, kind: k, node: field("spec.nodeName"), phase: field("status.phase")}
}

// nodeOf is the name of the node of a Pod.
func (p *podStore) nodeOf(o *meta.Object) string { return o.Meta.Fields[p.node] }

// phaseOf is the phase of a Pod.
func (p *podStore) phaseOf(o *meta.Object) string { return o.Meta.Fields[p.phase] }

// on are the Pods on a node.
func (p *podStore) on(ctx context.Context, node string) ([]*meta.Object, error) {
	fields, err := selector.ParseFields(p.kind, "spec.nodeName="+node)
	if err != nil {
		return nil, err
	}
	list, err := p.store.List(ctx, request.List{Kind: p.kind, Fields: fields})
	return list.Items, err
}

// disruption is the condition of a Pod that says why it is deleted.
// Controllers of Jobs read it, to tell a Pod that failed by itself from one that was removed.
func disruption(reason, message string) tree.Tree {
	return tree.Tree{
		"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
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
	o, object, err := reconcile.Read(ctx, p.store, p.kind, key)
	if err != nil || o == nil || o.Meta.UID != uid {
		return err
	}
	status := tree.Clone(object.EnsureObject("status")).(tree.Tree)
	if !change(status) {
		return nil
	}
	return reconcile.PatchIfUnchanged(ctx, p.store, p.kind, o, "status", tree.Tree{"status": tree.Tree{"phase": status["phase"], "conditions": status["conditions"]}})
}

// putCondition puts a condition in place of the one of its type.
func putCondition(status, c tree.Tree) {
	var conditions []any
	for _, old := range status.Objects("conditions") {
		if old.String("type") != c.String("type") {
			conditions = append(conditions, old)
		}
	}
	status["conditions"] = append(conditions, c)
}

// delete deletes a Pod; seconds is how long it may take to end, nil for as long as it says itself.
// A conflict means here that the uid is another one: the Pod that was to go is gone.
func (p *podStore) delete(ctx context.Context, key meta.Key, uid string, seconds *int64) error {
	_, err := p.store.Mutate(ctx, request.Mutation{
		Kind: p.kind, Key: key, Change: request.Delete{UID: &uid, GracePeriodSeconds: seconds},
	})
	if reconcile.IsNotFound(err) || reconcile.IsConflict(err) {
		return nil
	}
	return err
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

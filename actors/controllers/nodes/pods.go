package nodes

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podStore reads and deletes Pods. It reads node and phase from the selectable fields kept with
// each object, to avoid decoding Pods.
type podStore struct {
	pods        reconcile.Client
	node, phase int // indexes of these fields in a stored Pod
}

func newPodStore(env *reconcile.Env, component string) podStore {
	k := env.Core("Pod").Reporting(component)
	field := func(name string) int {
		return slices.IndexFunc(k.Stored.SelectFields, func(f schema.SelectField) bool { return f.Name == name })
	}
	return podStore{pods: k, node: field("spec.nodeName"), phase: field("status.phase")}
}

func (p *podStore) nodeOf(o *meta.Object) string { return o.Meta.Fields[p.node] }

func (p *podStore) on(ctx context.Context, node string) ([]*meta.Object, error) {
	return p.pods.ListBy(ctx, "spec.nodeName", node)
}

// disruption returns a DisruptionTarget condition. It lets the Job controller distinguish
// disruptions from failures.
func disruption(reason, message string) tree.Tree {
	return reconcile.NewCondition("DisruptionTarget", "True", reason, message, time.Now())
}

// fail sets the phase of a Pod to Failed, unless its phase is final. It also adds the condition
// why, if not nil.
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

// changeStatus changes the phase and conditions of the Pod with the given uid. change modifies a
// copy of the status and reports whether to write it. A concurrent write causes a conflict.
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

func putCondition(status, c tree.Tree) {
	status["conditions"] = append(reconcile.RemoveCondition(status.List("conditions"), c.String("type")), c)
}

// delete deletes a Pod with a grace period in seconds. If seconds is nil, the Pod's own grace
// period applies. A conflict is not an error, because it means that a Pod with another uid has
// replaced the deleted one.
func (p *podStore) delete(ctx context.Context, key meta.Key, uid string, seconds *int64) error {
	return reconcile.Except(p.pods.DeleteKey(ctx, key, request.Delete{UID: &uid, GracePeriodSeconds: seconds}), reconcile.IsConflict)
}

const taintDomain = "node.platform.io/"

func hasTaint(node tree.Tree, key, effect string) bool {
	return slices.ContainsFunc(node.Object("spec").Objects("taints"), func(t tree.Tree) bool {
		return t.String("key") == key && (effect == "" || t.String("effect") == effect)
	})
}

package nodes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// PodGCOptions say when Pods are garbage.
type PodGCOptions struct {
	Threshold  int           // how many Pods that have ended are kept; 0 or less: all
	Period     time.Duration // between two looks
	Quarantine time.Duration // how long a node must be gone before its Pods are
}

// DefaultPodGC is how often it looks, and how long it waits, unless somebody says otherwise.
func DefaultPodGC(threshold int) PodGCOptions {
	return PodGCOptions{Threshold: threshold, Period: 20 * time.Second, Quarantine: 40 * time.Second}
}

// PodGC deletes Pods that nobody else deletes.
//
// Pods usually end with the help of a kubelet, which confirms their deletion. Where there is no kubelet any more,
// nobody does, and the Pod would stay for ever.
type PodGC struct {
	*reconcile.Env
	podStore
	nodes      reconcile.Client
	options    PodGCOptions
	outOfOrder string               // taint of nodes that are out of service
	missing    map[string]time.Time // since when Pods name a node that does not exist
}

// NewPodGC returns the controller.
func NewPodGC(env *reconcile.Env, o PodGCOptions) *PodGC {
	return &PodGC{
		Env: env, podStore: newPodStore(env, ""), nodes: env.Core("Node"), options: o,
		outOfOrder: env.Translate(taintDomain + "out-of-service"), missing: map[string]time.Time{},
	}
}

// Run runs the controller until the context ends.
func (g *PodGC) Run(ctx context.Context) {
	reconcile.Every(ctx, g.options.Period, func(ctx context.Context) {
		if err := g.collect(ctx); err != nil && ctx.Err() == nil {
			g.Log.Warn("Pods that are garbage stay", "error", err)
		}
	})
}

// garbage is a Pod that goes, and why.
// why is the condition that the Pod gets before it is deleted; nil for none.
type garbage struct {
	pod *meta.Object
	why tree.Tree
}

// collect looks at all Pods once. It decodes none but those of nodes that are tainted.
//
// Pods are listed before nodes: the other way round a node that joins in between, and gets a Pod, would seem to be
// missing.
func (g *PodGC) collect(ctx context.Context) error {
	pods, err := g.pods.List(ctx, request.List{})
	if err != nil || len(pods) == 0 {
		clear(g.missing)
		return err
	}
	nodes, err := g.nodeStates(ctx)
	if err != nil {
		return err
	}
	var all []garbage
	var ended []*meta.Object
	seen := map[string]bool{}
	for _, p := range pods {
		node := g.nodeOf(p)
		lost, known := nodes[node]
		switch phase := g.phaseOf(p); {
		case node != "" && !known && len(nodes) > 0: // where there are no nodes at all, none has gone
			seen[node] = true
			if g.isGone(node) {
				all = append(all, garbage{p, disruption("DeletionByPodGC", "PodGC: node no longer exists")})
			}
		case p.Meta.Terminating && (node == "" || lost):
			all = append(all, garbage{p, nil})
		case phase == "Succeeded" || phase == "Failed":
			ended = append(ended, p)
		}
	}
	for node := range g.missing {
		if !seen[node] {
			delete(g.missing, node)
		}
	}
	for _, p := range g.tooMany(ended) {
		all = append(all, garbage{p, nil})
	}
	return reconcile.ForEachParallel(all, func(x garbage) error { return g.remove(ctx, x) })
}

// nodeStates are the nodes that exist, with whether they are out of service: they do not report, and somebody says that
// they will not come back.
//
// A search for the key of the taint in the stored JSON comes first, since few nodes have it: only those that contain
// the text are decoded.
func (g *PodGC) nodeStates(ctx context.Context) (map[string]bool, error) {
	list, err := g.nodes.List(ctx, request.List{})
	if err != nil {
		return nil, err
	}
	states := make(map[string]bool, len(list))
	for _, o := range list {
		out := strings.Contains(string(o.JSON), g.outOfOrder)
		if out {
			node, err := g.nodes.Decode(o)
			if err != nil {
				return nil, err
			}
			out = hasTaint(node, g.outOfOrder, "") && !isReady(node.Object("status"))
		}
		states[o.Key.Name] = out
	}
	return states, nil
}

// isGone tells whether a node has been missing for long enough.
//
// The wait is for nodes that register anew under the same name, whose Pods may still run. The time counts from the
// first look that missed the node, and is lost with a restart of the process.
func (g *PodGC) isGone(node string) bool {
	since, known := g.missing[node]
	if !known {
		g.missing[strings.Clone(node)] = time.Now()
		return g.options.Quarantine <= 0
	}
	return time.Since(since) >= g.options.Quarantine
}

// tooMany are the ended Pods beyond the threshold: evicted ones first, then the oldest.
// Pods are decoded only when there are too many.
func (g *PodGC) tooMany(ended []*meta.Object) []*meta.Object {
	n := len(ended) - g.options.Threshold
	if g.options.Threshold <= 0 || n <= 0 {
		return nil
	}
	type aged struct {
		pod     *meta.Object
		kept    int // 0 for those that were evicted
		created string
	}
	all := make([]aged, 0, len(ended))
	for _, p := range ended {
		a := aged{pod: p, kept: 1}
		if object, err := g.pods.Decode(p); err == nil {
			a.created = object.Object("metadata").String("creationTimestamp")
			if status := object.Object("status"); status.String("phase") == "Failed" && status.String("reason") == "Evicted" {
				a.kept = 0
			}
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b aged) int {
		return cmp.Or(cmp.Compare(a.kept, b.kept), strings.Compare(a.created, b.created), strings.Compare(a.pod.Key.Name, b.pod.Key.Name))
	})
	var old []*meta.Object
	for _, a := range all[:n] {
		old = append(old, a.pod)
	}
	return old
}

// remove deletes a Pod at once. One that has not ended is said to have failed: nobody knows better.
//
// The phase is written first, so that those who watch, such as the controller of a Job, see how the Pod ended. The
// grace period is 0, as no kubelet would confirm a longer one. The uid protects a new Pod of the same name.
func (g *PodGC) remove(ctx context.Context, x garbage) error {
	uid := x.pod.Meta.UID
	if err := g.fail(ctx, x.pod.Key, uid, x.why); err != nil && !reconcile.IsConflict(err) {
		return err
	}
	now := int64(0)
	return g.delete(ctx, x.pod.Key, uid, &now)
}

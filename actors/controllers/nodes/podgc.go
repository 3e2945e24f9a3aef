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

type PodGCOptions struct {
	Threshold  int           // number of ended Pods to keep; 0 or less: all
	Period     time.Duration // between two runs
	Quarantine time.Duration // how long a node must be missing before its Pods are deleted
}

// DefaultPodGC returns the default options with the given threshold.
func DefaultPodGC(threshold int) PodGCOptions {
	return PodGCOptions{Threshold: threshold, Period: 20 * time.Second, Quarantine: 40 * time.Second}
}

// PodGC deletes terminated Pods above a threshold, and Pods whose deletion no kubelet will confirm.
type PodGC struct {
	*reconcile.Env
	podStore
	nodes      reconcile.Client
	options    PodGCOptions
	outOfOrder string               // taint of nodes that are out of service
	missing    map[string]time.Time // time at which Pods were first seen on a missing node
}

func NewPodGC(env *reconcile.Env, o PodGCOptions) *PodGC {
	return &PodGC{
		Env: env, podStore: newPodStore(env, ""), nodes: env.Core("Node"), options: o,
		outOfOrder: env.Translate(taintDomain + "out-of-service"), missing: map[string]time.Time{},
	}
}

func (g *PodGC) Run(ctx context.Context) {
	reconcile.Every(ctx, g.options.Period, func(ctx context.Context) {
		if err := g.collect(ctx); err != nil && ctx.Err() == nil {
			g.Log.Warn("cannot delete orphaned or terminated Pods", "error", err)
		}
	})
}

// garbage is a Pod to delete. If why is not nil, it is added to the Pod's conditions first.
type garbage struct {
	pod *meta.Object
	why tree.Tree
}

// collect finds and deletes garbage. It lists Pods before nodes, because otherwise the node of a
// new Pod could seem to be missing.
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
		switch phase := p.Meta.Fields[g.phase]; {
		case node != "" && !known && len(nodes) > 0: // if there are no nodes, none counts as missing
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

// nodeStates returns the existing nodes by name. The value is true if the node has the
// out-of-service taint and is not ready. Few nodes have this taint, so only nodes whose JSON
// contains the taint's key are decoded.
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
			out = hasTaint(node, g.outOfOrder, "") && !tree.IsConditionTrue(node.Object("status"), "Ready")
		}
		states[o.Key.Name] = out
	}
	return states, nil
}

// isGone reports whether a node has been missing for the quarantine period. Until then, the node
// may register again with its Pods still running. The period counts from the first run without the
// node, and starts over after a restart.
func (g *PodGC) isGone(node string) bool {
	since, known := g.missing[node]
	if !known {
		g.missing[strings.Clone(node)] = time.Now()
		return g.options.Quarantine <= 0
	}
	return time.Since(since) >= g.options.Quarantine
}

// tooMany returns the terminated Pods beyond the threshold: evicted Pods first, and then the
// oldest. It decodes Pods only if the threshold is exceeded.
func (g *PodGC) tooMany(ended []*meta.Object) []*meta.Object {
	n := len(ended) - g.options.Threshold
	if g.options.Threshold <= 0 || n <= 0 {
		return nil
	}
	type aged struct {
		pod     *meta.Object
		kept    int // 0 for evicted Pods
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

// remove deletes a Pod immediately. It first marks a running Pod as Failed, because other
// controllers, such as Job, watch the phase. The grace period is 0, because no kubelet would
// confirm the deletion. The uid precondition protects a new Pod with the same name.
func (g *PodGC) remove(ctx context.Context, x garbage) error {
	uid := x.pod.Meta.UID
	if err := g.fail(ctx, x.pod.Key, uid, x.why); err != nil && !reconcile.IsConflict(err) {
		return err
	}
	now := int64(0)
	return g.delete(ctx, x.pod.Key, uid, &now)
}

package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// name is the default schedulerName of Pods and the component of Events.
const name = "default-scheduler"

// A Controller binds Pods to nodes. Except for waitsForClaims, its state is in the shared caches.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	recorder     *reconcile.Recorder
	claims       reconcile.Client
	volumes      reconcile.Client
	classes      reconcile.Client
	selectedNode string // annotation of claims

	waitsForClaims atomic.Bool // whether a change of a claim may let a Pod get a node
}

// everything is the only key in the work queue, because each reconciliation handles all waiting
// Pods.
var everything = meta.Key{Name: "pods"}

func New(c *cluster.Cluster) *Controller {
	s := &Controller{
		Cluster: c, recorder: c.Recorder(name), selectedNode: c.Translate("volume.platform.io/selected-node"),
		claims: c.Core("PersistentVolumeClaim").As(reconcile.Manager), volumes: c.Core("PersistentVolume").As(reconcile.Manager),
		classes: c.Client("storage.platform.io", "v1", "StorageClass").As(reconcile.Manager),
	}
	s.Controller = c.LoneController("scheduler", s.reconcile, c.Pods, c.Nodes)
	// Reconcile when a Pod starts to wait or when resources become free.
	reconcile.On(s.Controller, c.Pods, func(old, now *cluster.Pod) {
		came := now != nil && waits(now) && (old == nil || !waits(old))
		went := old != nil && old.Node != "" && !old.Ended() && (now == nil || now.Ended())
		changed := now != nil && old != nil && waits(now) && now.Gated != old.Gated
		resized := now != nil && old != nil && now.Node != "" && old.Requests.Differs(now.Requests)
		if came || went || changed || resized {
			s.Add(everything)
		}
	})
	reconcile.On(s.Controller, c.Nodes, func(old, now *cluster.Node) {
		if now != nil && (old == nil || !old.SamePlacement(now) || old.Unscheduled != now.Unscheduled || old.Allocatable.Differs(now.Allocatable)) {
			s.Add(everything)
		}
	})
	s.Watch(s.claims, func(reconcile.Event) {
		if s.waitsForClaims.Load() {
			s.Add(everything)
		}
	})
	return s
}

func waits(p *cluster.Pod) bool { return p.Node == "" && p.Active() && !p.Gated }

type place struct {
	node *cluster.Node
	left cluster.Resources
	pods int64 // number of Pods that still fit

	// These are like left, with defaults for Pods without requests, so that they spread.
	cpu, memory int64
}

// As in kube-scheduler, a Pod without requests counts as these.
const (
	defaultCPU    = 100       // thousandths
	defaultMemory = 200 << 20 // bytes
)

type turn struct{ places []*place }

// newTurn computes the free resources of each node. It sorts nodes for a deterministic result.
func newTurn(nodes []*cluster.Node, pods []*cluster.Pod) *turn {
	t, byName := &turn{}, map[string]*place{}
	for _, n := range nodes {
		if n.Terminating {
			continue
		}
		p := &place{node: n, left: n.Allocatable, pods: n.Allocatable.Others["pods"], cpu: n.Allocatable.CPU, memory: n.Allocatable.Memory}
		byName[n.Key.Name] = p
		t.places = append(t.places, p)
	}
	slices.SortFunc(t.places, func(a, b *place) int { return strings.Compare(a.node.Key.Name, b.node.Key.Name) })
	for _, p := range pods {
		if at := byName[p.Node]; at != nil && !p.Ended() {
			at.take(p)
		}
	}
	return t
}

func (a *place) take(p *cluster.Pod) {
	a.left = a.left.Minus(p.Requests)
	a.pods--
	a.cpu -= cmp.Or(p.Requests.CPU, defaultCPU)
	a.memory -= cmp.Or(p.Requests.Memory, defaultMemory)
}

type decision struct {
	pod     *cluster.Pod
	volumes volumes
	node    string
	reason  string
}

func (s *Controller) reconcile(ctx context.Context, _ meta.Key) error {
	pods := s.Pods.All()
	t := newTurn(s.Nodes.All(), pods)
	waiting := slices.DeleteFunc(pods, func(p *cluster.Pod) bool { return !waits(p) })
	slices.SortFunc(waiting, func(a, b *cluster.Pod) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Created.Compare(b.Created), strings.Compare(a.Key.String(), b.Key.String()))
	})
	var all []decision
	s.waitsForClaims.Store(true) // claims may change while they are read
	wait := false
	for _, p := range waiting {
		object, pod, err := s.Pods.Read(ctx, p.Key)
		if err != nil {
			return err
		}
		if object == nil || object.Meta.UID != p.UID {
			continue
		}
		if pod.Object("spec").String("schedulerName") != name {
			continue
		}
		v, err := s.volumesOf(ctx, p)
		if err != nil {
			return err
		}
		node, reason := t.choose(p, pod.Object("spec"), v)
		wait = wait || v.reason != "" || !v.bound()
		if node == "" && isMarked(pod, reason) {
			continue
		}
		all = append(all, decision{p, v, node, reason})
	}
	s.waitsForClaims.Store(wait)
	return reconcile.ForEachParallel(all, func(d decision) error { return s.carryOut(ctx, d) })
}

func (t *turn) choose(p *cluster.Pod, spec tree.Tree, v volumes) (node, reason string) {
	if reason := unknown(spec); reason != "" {
		return "", reason
	}
	if v.reason != "" {
		return "", fmt.Sprintf("0/%d nodes are available: %s.", len(t.places), v.reason)
	}
	tolerations := spec.Objects("tolerations")
	var best *place
	faults := map[string]int{}
	for _, at := range t.places {
		switch n := at.node; {
		case n.Unscheduled && !n.ToleratesUnschedulable(tolerations):
			faults["node(s) were unschedulable"]++
		case !n.Matches(spec):
			faults["node(s) didn't match Pod's node affinity/selector"]++
		case !n.Tolerated(tolerations, "NoSchedule", "NoExecute"):
			faults["node(s) had untolerated taint(s)"]++
		case !v.reachableFrom(n):
			faults["node(s) didn't match PersistentVolume's node affinity"]++
		case at.pods < 1:
			faults["Too many pods"]++
		default:
			if short := at.left.Lacks(p.Requests); short != "" {
				faults["Insufficient "+short]++
			} else if best == nil || at.better(best) {
				best = at
			}
		}
	}
	switch {
	case len(t.places) == 0:
		return "", "no nodes available to schedule pods."
	case best != nil:
		best.take(p)
		return best.node.Key.Name, ""
	}
	var texts []string
	for fault, n := range faults {
		texts = append(texts, fmt.Sprintf("%d %s", n, fault))
	}
	slices.Sort(texts)
	return "", fmt.Sprintf("0/%d nodes are available: %s.", len(t.places), strings.Join(texts, ", "))
}

func (a *place) better(than *place) bool {
	return cmp.Or(cmp.Compare(a.share(), than.share()), cmp.Compare(a.pods, than.pods)) > 0
}

func (a *place) share() float64 {
	part := func(left, all int64) float64 {
		if all == 0 {
			return 0
		}
		return float64(left) / float64(all)
	}
	return min(part(a.cpu, a.node.Allocatable.CPU), part(a.memory, a.node.Allocatable.Memory))
}

func unknown(spec tree.Tree) string {
	const text = "%s is not supported by the built-in scheduler: run kube-scheduler instead."
	affinity := spec.Object("affinity")
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		if len(affinity.Object(kind).List("requiredDuringSchedulingIgnoredDuringExecution")) > 0 {
			return fmt.Sprintf(text, kind)
		}
	}
	for _, c := range spec.Objects("topologySpreadConstraints") {
		if c.String("whenUnsatisfiable") == "DoNotSchedule" {
			return fmt.Sprintf(text, "spreading over "+c.String("topologyKey"))
		}
	}
	return ""
}

func isMarked(pod tree.Tree, reason string) bool {
	c := tree.FindCondition(pod.Object("status"), "PodScheduled")
	return c.String("status") == "False" && c.String("message") == reason
}

func (s *Controller) carryOut(ctx context.Context, d decision) error {
	var err error
	if d.node != "" {
		// After a conflict, for example with another Pod of the same claim, the next turn retries.
		if err := s.selectNode(ctx, d.volumes, d.node); err != nil {
			return err
		}
		if d.volumes.bound() {
			err = s.bind(ctx, d.pod, d.node)
		}
	} else {
		s.recorder.Record(s.Pods.Client, d.pod.Object(), reconcile.Warning, "FailedScheduling", d.reason)
		c := reconcile.NewCondition("PodScheduled", "False", "Unschedulable", d.reason, s.Now())
		err = s.Pods.StrategicPatch(ctx, d.pod.Key, d.pod.UID, "status", tree.Tree{"status": tree.Tree{"conditions": []any{c}}})
	}
	return reconcile.Except(err, reconcile.IsNotFound, reconcile.IsConflict)
}

func (s *Controller) bind(ctx context.Context, p *cluster.Pod, node string) error {
	_, err := s.Pods.Mutate(ctx, request.Mutation{Key: p.Key, Subresource: "binding", Change: request.Create{Object: tree.Tree{
		"apiVersion": "v1", "kind": "Binding", "metadata": tree.Tree{"name": p.Key.Name, "namespace": p.Key.Namespace, "uid": p.UID},
		"target": tree.Tree{"apiVersion": "v1", "kind": "Node", "name": node},
	}}})
	return err
}

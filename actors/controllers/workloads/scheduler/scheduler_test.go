package scheduler

import (
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// newNode returns a node with 2 CPUs, 4000 bytes of memory, room for 3 Pods, and one custom
// resource.
func newNode(name string, taints ...cluster.Taint) *cluster.Node {
	n := &cluster.Node{Taints: taints, Allocatable: cluster.Resources{CPU: 2000, Memory: 4000, Others: map[string]int64{"pods": 3, "example.com/card": 1}}}
	n.Key = meta.Key{Name: name}
	n.Labels = meta.Labels{{Key: "zone", Value: name}}
	return n
}

func spec(t *testing.T, text string) tree.Tree {
	t.Helper()
	s := must.Get(codec.DecodeAnyStored([]byte(text)))(t)
	return s.(tree.Tree)
}

func TestChoose(t *testing.T) {
	t.Parallel()
	const plain = `{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1k"}}}]}`
	for _, c := range []struct {
		name  string
		nodes []*cluster.Node
		pods  []string
		want  []string // the node of each, or the reason
	}{
		{"the emptier one", []*cluster.Node{newNode("a"), newNode("b")}, []string{plain, plain, plain}, []string{"a", "b", "a"}},
		{"Pods without requests spread", []*cluster.Node{newNode("a"), newNode("b")}, []string{`{"containers":[{"resources":{"requests":{"cpu":"50m"}}}]}`, `{}`, `{}`, `{}`}, []string{"a", "b", "a", "b"}},
		{"too many Pods", []*cluster.Node{newNode("a")}, []string{`{}`, `{}`, `{}`, `{}`}, []string{"a", "a", "a", "0/1 nodes are available: 1 Too many pods."}},
		{"too little CPU", []*cluster.Node{newNode("a")}, []string{`{"containers":[{"resources":{"requests":{"cpu":"1500m"}}}]}`, `{"containers":[{"resources":{"requests":{"cpu":"501m"}}}]}`},
			[]string{"a", "0/1 nodes are available: 1 Insufficient cpu."}},
		{"too little memory", []*cluster.Node{newNode("a")}, []string{`{"containers":[{"resources":{"requests":{"memory":"4001"}}}]}`}, []string{"0/1 nodes are available: 1 Insufficient memory."}},
		{"what initializes counts, sidecars count twice", []*cluster.Node{newNode("a")}, []string{
			`{"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"1001m"}}}]}`,
			`{"initContainers":[{"resources":{"requests":{"cpu":"1"}}},{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`,
		}, []string{"0/1 nodes are available: 1 Insufficient cpu.", "a"}},
		{"what the Pod asks for as a whole counts", []*cluster.Node{newNode("a")}, []string{`{"resources":{"requests":{"cpu":"3"}},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`},
			[]string{"0/1 nodes are available: 1 Insufficient cpu."}},
		{"another resource", []*cluster.Node{newNode("a"), newNode("b")}, []string{
			`{"containers":[{"resources":{"requests":{"example.com/card":"1"}}}]}`, `{"containers":[{"resources":{"requests":{"example.com/card":"1"}}}]}`, `{"containers":[{"resources":{"requests":{"example.com/card":"1"}}}]}`,
		}, []string{"a", "b", "0/2 nodes are available: 2 Insufficient example.com/card."}},
		{"a selector", []*cluster.Node{newNode("a"), newNode("b")}, []string{`{"nodeSelector":{"zone":"b"}}`, `{"nodeSelector":{"zone":"c"}}`},
			[]string{"b", "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."}},
		{"the node of a DaemonSet", []*cluster.Node{newNode("a"), newNode("b")}, []string{
			`{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]}]}}}}`,
		}, []string{"b"}},
		{"taints", []*cluster.Node{newNode("a", cluster.Taint{Key: "k", Value: "v", Effect: "NoSchedule"})}, []string{`{}`, `{"tolerations":[{"key":"k","operator":"Exists"}]}`, `{"tolerations":[{"key":"k","value":"w"}]}`},
			[]string{"0/1 nodes are available: 1 node(s) had untolerated taint(s).", "a", "0/1 nodes are available: 1 node(s) had untolerated taint(s)."}},
		{"a taint that only prefers", []*cluster.Node{newNode("a", cluster.Taint{Key: "k", Effect: "PreferNoSchedule"})}, []string{`{}`}, []string{"a"}},
		{"no node", nil, []string{`{}`}, []string{"no nodes available to schedule pods."}},
		{"affinity between Pods", []*cluster.Node{newNode("a")}, []string{`{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}}}`},
			[]string{"podAntiAffinity is not supported by the built-in scheduler: run kube-scheduler instead."}},
		{"spreading", []*cluster.Node{newNode("a")}, []string{`{"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}`},
			[]string{"spreading over zone is not supported by the built-in scheduler: run kube-scheduler instead."}},
		{"spreading that may fail", []*cluster.Node{newNode("a")}, []string{`{"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}]}`}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			turn := newTurn(c.nodes, nil)
			for i, text := range c.pods {
				s := spec(t, text)
				pod := must.Get(cluster.NewPod(tree.Tree{"spec": s}, cluster.NewNames(meta.Kubernetes)))(t)
				node, reason := turn.choose(pod, s, volumes{})
				if got := node + reason; got != c.want[i] {
					t.Errorf("Pod %d: %q, want %q", i, got, c.want[i])
				}
			}
		})
	}
}

// TestTaken checks that existing Pods consume resources until they have terminated.
func TestTaken(t *testing.T) {
	t.Parallel()
	half := cluster.Resources{CPU: 1000}
	pods := []*cluster.Pod{
		{Node: "a", Phase: cluster.PodRunning, Requests: half}, {Node: "a", Phase: cluster.PodSucceeded, Requests: half}, {Node: "elsewhere", Requests: half},
	}
	turn := newTurn([]*cluster.Node{newNode("a")}, pods)
	if p := turn.places[0]; p.left.CPU != 1000 || p.pods != 2 {
		t.Errorf("%d thousandths of a CPU and %d Pods are left", p.left.CPU, p.pods)
	}
	unscheduled := newNode("b")
	unscheduled.Unscheduled = true
	turn = newTurn([]*cluster.Node{unscheduled}, nil)
	if node, reason := turn.choose(&cluster.Pod{}, nil, volumes{}); node != "" || reason != "0/1 nodes are available: 1 node(s) were unschedulable." {
		t.Errorf("%q %q", node, reason)
	}
}

// TestReachable checks that a Pod gets a node from which all of its volumes are reachable.
func TestReachable(t *testing.T) {
	t.Parallel()
	in := func(zones ...any) []tree.Tree {
		return []tree.Tree{{"matchExpressions": []any{tree.Tree{"key": "zone", "operator": "In", "values": zones}}}}
	}
	for _, c := range []struct {
		name string
		v    volumes
		want string
	}{
		{"no restriction", volumes{}, "a"},
		{"one volume", volumes{nodes: [][]tree.Tree{in("b", "c")}}, "b"},
		{"two volumes", volumes{nodes: [][]tree.Tree{in("a", "b", "c"), in("c")}}, "c"},
		{"a claim without a volume", volumes{reason: "pod has unbound immediate PersistentVolumeClaims"}, "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."},
		{"no common node", volumes{nodes: [][]tree.Tree{in("a"), in("b")}}, "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity."},
	} {
		turn := newTurn([]*cluster.Node{newNode("a"), newNode("b"), newNode("c")}, nil)
		node, reason := turn.choose(&cluster.Pod{}, nil, c.v)
		if got := node + reason; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

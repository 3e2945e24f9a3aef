package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func BenchmarkPodCreate(b *testing.B) { benchmarkPods(b, true) }

func BenchmarkPodUpdate(b *testing.B) { benchmarkPods(b, false) }

func benchmarkPods(b *testing.B, create bool) {
	c := newCluster(b, map[string]object{"serviceaccounts ns/default": object("{}"), "priorityclasses /system-node-critical": object(`{"value":1}`)})
	chain := newChain(b, c, meta.Platform, admission.PluginConfig{}, append(plugins.ServiceAccount(meta.Platform, c, true),
		plugins.Priority(), plugins.RuntimeClass(c), plugins.LimitRanger(meta.Platform),
		plugins.DefaultTolerationSeconds(meta.Platform, 300, 300), plugins.PodTopologyLabels(meta.Platform, c),
	)...)
	k := kind("", "pods")
	key := meta.Key{Namespace: "ns", Name: "x"}
	object := tree.Tree{"spec": tree.Tree{"containers": []any{tree.Tree{"name": "a", "image": "i"}, tree.Tree{"name": "b", "image": "i"}}}}
	b.ReportAllocs()
	for b.Loop() {
		spec := tree.Tree{"containers": []any{}}
		for _, name := range []string{"a", "b"} {
			appendContainer(spec, tree.Tree{"name": name, "image": "i"})
		}
		var old tree.Tree
		if !create {
			old = object
		}
		change := request.NewAttributes(b.Context(), &request.Mutation{Kind: k, Key: key, Admission: chain.For(nil, k, "", "")}, old, tree.Tree{"spec": spec})
		if err := change.Admit(request.InTurn); err != nil {
			b.Fatal(err)
		}
		if change.Waits() {
			b.Fatal("it waits")
		}
		if err := change.Validate(request.InTurn); err != nil {
			b.Fatal(err)
		}
	}
}

func appendContainer(spec tree.Tree, c tree.Tree) {
	spec["containers"] = append(spec.List("containers"), c)
}

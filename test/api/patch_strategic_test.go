package api

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"

	"github.com/troupe-api/troupe/test/public"
)

// patchShortRounds is the number of random patches per kind covered by "make test".
const patchShortRounds = 20

// A patchComparison applies the same patches to objects of one kind in this server and in the
// oracle, which is the implementation in k8s.io/apimachinery.
type patchComparison struct {
	t    *testing.T
	kind *schema.Kind
	data any // an empty value of the public type
	seed int64
}

func TestStrategicAgainstTheOracle(t *testing.T) {
	t.Parallel()
	kinds := newCatalog(t, meta.Kubernetes)
	patched := 0
	for gvk, data := range public.Kinds {
		k := kinds.ByGVK(gvk)
		if k == nil || k.Message().Field("metadata") == nil {
			continue // not served, or connection options, which cannot be patched
		}
		t.Run(gvk.APIVersion()+" "+gvk.Kind, func(t *testing.T) {
			for seed := range client.Rounds(t, patchShortRounds, len(public.Kinds)) {
				c := patchComparison{t, k, data, int64(seed)}
				c.run()
				patched++
			}
		})
	}
	client.Figures(t, "%d patches against the public library", patched)
}

func (c *patchComparison) run() {
	c.t.Helper()
	r := ObjectGenerator{Rand: rand.New(rand.NewSource(c.seed))}
	density := 0.15 + 0.4*r.Float64()
	a, b, live := r.Object(c.kind, density), r.Object(c.kind, density), r.Object(c.kind, density)
	c.compare("an object as a patch", live, b)
	twoWay, err := strategicpatch.CreateTwoWayMergePatch(bytesPatch(a), bytesPatch(b), c.data)
	if err == nil {
		c.compare("a patch from one to the other", a, c.tree(twoWay))
	}
	lookup, err := strategicpatch.NewPatchMetaFromStruct(c.data)
	if err != nil {
		c.t.Fatal(err)
	}
	if threeWay, err := strategicpatch.CreateThreeWayMergePatch(bytesPatch(a), bytesPatch(b), bytesPatch(live), lookup, true); err == nil {
		c.compare("a patch of three", live, c.tree(threeWay))
	}
	patch := tree.Clone(b).(tree.Tree)
	addDirectives(r, c.kind.Message(), patch, live)
	c.compare("a patch with directives", live, patch)
}

func (c *patchComparison) tree(text []byte) tree.Tree {
	c.t.Helper()
	v, _, err := codec.DecodeAny(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return v.(tree.Tree)
}

func bytesPatch(t tree.Tree) []byte { return codec.AppendAny(nil, t) }

// compare applies a patch in both implementations. If the oracle fails, this server must fail too,
// possibly with a different message.
func (c *patchComparison) compare(label string, current, patch tree.Tree) {
	c.t.Helper()
	theirs, fault := strategicpatch.StrategicMergePatch(bytesPatch(current), bytesPatch(patch), c.data)
	before := string(bytesPatch(current))
	ours, err := merge.Strategic(c.kind.Message(), current, patch)
	if string(bytesPatch(current)) != before {
		c.t.Fatalf("seed %d: %s: the current object was changed", c.seed, label)
	}
	if fault != nil && (strings.Contains(fault.Error(), "in struct RawExtension") || strings.Contains(fault.Error(), "but data type is not struct, instead is: map")) {
		return // unlike this server, the oracle cannot merge arbitrary JSON or lists in maps, such as a user's extra
	}
	if (fault != nil) != (err != nil) {
		c.t.Fatalf("seed %d: %s\n%s on\n%s: the oracle says %v, we say %v", c.seed, label, bytesPatch(patch), before, fault, err)
	}
	if err != nil {
		return
	}
	if got, want := sortedPatch(c.t, bytesPatch(ours)), sortedPatch(c.t, theirs); got != want {
		c.t.Fatalf("seed %d: %s\n%s on\n%s is\n%s, want\n%s", c.seed, label, bytesPatch(patch), before, got, want)
	}
}

// sortedPatch returns JSON with sorted keys. It omits nulls, and directives that the oracle copies
// unchanged, because decoding drops them.
func sortedPatch(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	client.Decode(t, text, &v)
	out := client.Encode(t, clean(v))
	return string(out)
}

func clean(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if e == nil || name[0] == '$' || isDirective(e) {
				delete(v, name)
			} else {
				v[name] = clean(e)
			}
		}
	case []any:
		v = slices.DeleteFunc(v, isDirective)
		for i, e := range v {
			v[i] = clean(e)
		}
		return v
	}
	return v
}

// isDirective reports whether v is a directive that the oracle has not executed.
func isDirective(v any) bool {
	t, _ := v.(map[string]any)
	return t["$patch"] != nil
}

// addDirectives inserts random directives and nulls into a patch of message m, for fields that
// have a value in live.
func addDirectives(r ObjectGenerator, m *schema.Message, patch, live tree.Tree) {
	if live == nil {
		return
	}
	if r.Intn(20) == 0 {
		patch["$patch"] = []any{"replace", "delete"}[r.Intn(2)]
		return
	}
	for _, name := range patch.SortedKeys() {
		f := m.Field(name)
		if f == nil {
			continue
		}
		switch v := patch[name].(type) {
		case tree.Tree:
			if f.Shape == schema.Single && f.Message != nil {
				addDirectives(r, f.Message, v, live.Object(name))
			}
		case []any:
			addListDirectives(r, f, patch, v, live.List(name))
		}
		if r.Intn(15) == 0 {
			patch[name] = nil
		}
	}
	if r.Intn(12) == 0 {
		keys := []any{}
		for _, name := range patch.SortedKeys() {
			if name[0] != '$' {
				keys = append(keys, name)
			}
		}
		patch["$retainKeys"] = keys
	}
}

func addListDirectives(r ObjectGenerator, f *schema.Field, patch tree.Tree, list, live []any) {
	for _, item := range list {
		object, ok := item.(tree.Tree)
		switch {
		case !ok || f.Message == nil || f.MergeKey == "":
		case r.Intn(6) == 0:
			object["$patch"] = []any{"delete", "replace"}[r.Intn(2)]
		default:
			at := slices.IndexFunc(live, func(v any) bool { return v.(tree.Tree)[f.MergeKey] == object[f.MergeKey] })
			if at < 0 {
				continue
			}
			key := object[f.MergeKey]
			addDirectives(r, f.Message, object, live[at].(tree.Tree))
			delete(object, "$patch")
			if object[f.MergeKey] = key; key == nil {
				object[f.MergeKey] = "a"
			}
		}
	}
	if f.Message == nil && f.MergeStrategies != nil && r.Intn(3) == 0 {
		// Exclude values that the patch itself adds, because the oracle may add or drop them.
		gone := []any{}
		for _, v := range []any{"a", "b", "c", "f/a", "f/b", "f/c"} {
			if !slices.Contains(list, v) {
				gone = append(gone, v)
			}
		}
		patch["$deleteFromPrimitiveList/"+f.Name] = gone
	}
}

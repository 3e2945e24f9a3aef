package mutation

import (
	"errors"
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

var fuzzTargets = []struct{ group, version, resource, object string }{
	{"", "v1", "configmaps", `{"metadata":{"name":"a","namespace":"default","uid":"u1","labels":{"a":"b"}},"data":{"x":"1"}}`},
	{"", "v1", "pods", `{"metadata":{"name":"a","namespace":"default","uid":"u1"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"}],"ports":[{"containerPort":80}]}],"tolerations":[{"key":"k"}]},"status":{"phase":"Running"}}`},
	{"apps", "v1", "deployments", `{"metadata":{"name":"a","namespace":"default","uid":"u1"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`},
	{"autoscaling", "v1", "horizontalpodautoscalers", `{"metadata":{"name":"a","namespace":"default","uid":"u1"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`},
	{"", "v1", "services", `{"metadata":{"name":"a","namespace":"default","uid":"u1"},"spec":{"ports":[{"name":"p","port":80}],"selector":{"a":"b"}}}`},
}

func fuzzTrees(f *testing.F) (kinds []*schema.Kind, trees []tree.Tree) {
	all := must.Get(catalog.New(meta.Platform))(f)
	for _, target := range fuzzTargets {
		k := all.Kind(target.group, target.version, target.resource)
		created := must.Get(Apply(State{}, &request.Mutation{
			Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: "default", Name: "a"}, Change: request.Create{Object: decode(f, k, target.object)},
		}, env))(f)
		kinds, trees = append(kinds, k), append(trees, created.Tree)
	}
	return kinds, trees
}

func stateOf(t testing.TB, k *schema.Kind, object tree.Tree) State {
	t.Helper()
	json := withVersion(codec.EncodeJSON(k.Stored, object))
	read, faults, err := codec.DecodeJSON(k.Stored.Message(), json)
	if err != nil || len(faults) > 0 {
		t.Fatalf("%s: %v %v", json, faults, err)
	}
	o := &meta.Object{JSON: json, ItemOffset: k.Stored.ItemOffset(), Version: currentVersion, Meta: codec.ExtractMeta(k.Stored, read)}
	return State{Object: o, Tree: read, Committed: true}
}

func withVersion(e codec.Encoded) []byte {
	return fmt.Appendf(nil, "%s%d%s", e.JSON[:e.VersionOffset], currentVersion, e.JSON[e.VersionOffset:])
}

// checkInvariants checks that a mutation of cur either fails with a client error or yields an
// object that can be stored and decoded. The mutation must not change cur.
func checkInvariants(t *testing.T, cur State, m request.Mutation) {
	before := tree.Clone(cur.Tree)
	got, err := Apply(cur, &m, env)
	if !tree.SemanticEqual(before, cur.Tree) {
		t.Fatal("the current state was changed")
	}
	if err != nil {
		var status *meta.Status
		if !errors.As(err, &status) || status.Code < 400 || status.Code >= 500 {
			t.Fatalf("refused by %v", err)
		}
		return
	}
	if got.Op != Put {
		return
	}
	json := withVersion(got.Encoded)
	read, faults, err := codec.DecodeJSON(m.Kind.Stored.Message(), json)
	if err != nil || len(faults) > 0 {
		t.Fatalf("what is stored cannot be read: %v %v\n%s", faults, err, json)
	}
	if again := withVersion(codec.EncodeJSON(m.Kind.Stored, read)); string(again) != string(json) {
		t.Fatalf("what is stored reads as something else:\n%s\n%s", json, again)
	}
	head, err := codec.NewObject(m.Kind.Stored, m.Key, currentVersion, got.Encoded.JSON)
	if err != nil || head.Meta.UID != got.Head.UID || len(head.Meta.OwnerReferences) != len(got.Head.OwnerReferences) || head.Meta.Terminating != got.Head.Terminating {
		t.Fatalf("the head of what is stored: %+v, want %+v (%v)", head, got.Head, err)
	}
}

func FuzzPatch(f *testing.F) {
	for i, body := range []string{
		`{"metadata":{"labels":{"a":null}},"data":{"y":"2"}}`, `[{"op":"add","path":"/data/y","value":"1"},{"op":"test","path":"/data/x","value":"1"}]`,
		`{"spec":{"containers":[{"name":"c","$patch":"delete"}],"$setElementOrder/containers":[{"name":"c"}]}}`, `{"spec":{"$retainKeys":["replicas"],"replicas":1}}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["x"],"managedFields":[{}]}}`, `[{"op":"move","from":"/spec","path":"/metadata/labels"},{"op":"copy","from":"","path":"/data"}]`,
		`{"spec":{"ports":[{"port":1e3}],"replicas":1.5}}`, `{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}}],"ownerReferences":[{}],"finalizers":["a"]}}`,
	} {
		f.Add(uint8(i), uint8(i), []byte(body))
		f.Add(uint8(1), uint8(2), []byte(body))
	}
	kinds, trees := fuzzTrees(f)
	f.Fuzz(func(t *testing.T, target, patch uint8, body []byte) {
		k := kinds[int(target)%len(kinds)]
		checkInvariants(t, stateOf(t, k, trees[int(target)%len(kinds)]), request.Mutation{
			Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: "default", Name: "a"},
			Change: request.Patch{Type: request.PatchType(patch % 3), Body: body}, FieldManager: "fuzz",
		})
	})
}

func FuzzApply(f *testing.F) {
	for i, config := range []string{
		`{"data":{"x":"2","y":"1"}}`, `{"spec":{"containers":[{"name":"c","image":"j"},{"name":"d"}]}}`, `{"spec":{"replicas":null,"template":{}}}`, `{"spec":{"maxReplicas":4}}`, `{"spec":{"ports":[{"port":80,"protocol":"UDP"},{"port":80}]}}`,
	} {
		for _, managed := range []string{
			``, `{"f:data":{".":{},"f:x":{}}}`, `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}}`, `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:port":{}},"i:1":{},"v:3":{}},"f:status":{}}}`,
		} {
			f.Add(uint8(i), []byte(config), managed, "other", "v1", i%2 == 0, i%3 == 0)
		}
	}
	kinds, trees := fuzzTrees(f)
	f.Fuzz(func(t *testing.T, target uint8, config []byte, fields, manager, version string, applied, force bool) {
		k := kinds[int(target)%len(kinds)]
		body, _, err := codec.DecodeJSON(k.Message(), config)
		if err != nil {
			return
		}
		operation := "Update"
		if applied {
			operation = "Apply"
		}
		current := tree.Clone(trees[int(target)%len(kinds)]).(tree.Tree)
		entry := tree.Tree{"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields}
		if _, _, err := codec.DecodeJSON(k.Stored.Message(), codec.EncodeJSON(k.Stored, tree.Tree{"metadata": tree.Tree{"managedFields": []any{entry}}}).JSON); err != nil {
			return // no write would store this object
		}
		setManagedFields(current, []any{entry})
		checkInvariants(t, stateOf(t, k, current), request.Mutation{
			Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: "default", Name: "a"},
			Change: request.Apply{Config: body, Force: force}, FieldManager: "fuzz",
		})
	})
}

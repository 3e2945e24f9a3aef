package codec

import (
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

const metaJSON = `{"kind":"Thing","apiVersion":"v1","metadata":{"name":"n","namespace":"ns","uid":"u-1","resourceVersion":"42","generation":3,` +
	`"deletionTimestamp":"2024-01-01T00:00:00Z","labels":{"a":"1","q\"":"\u0041"},"annotations":{"name":"no"},` +
	`"ownerReferences":[{"apiVersion":"apps/v1","kind":"Set","name":"s","uid":"u-2","controller":true,"blockOwnerDeletion":false}],` +
	`"finalizers":["x/y","z"]},"data":{"name":"no","a":"\\\""},"spec":{"parts":[{"name":"p"}],"nodeName":"node-1","hostNetwork":true}}`

var wantMeta = meta.ObjectMeta{
	UID: "u-1", Generation: 3, Terminating: true,
	Labels:          meta.Labels{{Key: "a", Value: "1"}, {Key: `q"`, Value: "A"}},
	Fields:          []string{"node-1", "true", "0"},
	OwnerReferences: []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "Set", Name: "s", UID: "u-2", Controller: true}},
	Finalizers:      []string{"x/y", "z"},
}

func TestExtractMeta(t *testing.T) {
	head, place, err := ParseMeta(thing, []byte(metaJSON))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(head, wantMeta) {
		t.Errorf("parsed %+v", head)
	}
	if place != (ObjectRef{Name: "n", Namespace: "ns", Version: 42}) {
		t.Errorf("place %+v", place)
	}
	tree, _, err := DecodeJSON(thingPlan, []byte(metaJSON))
	if err != nil {
		t.Fatal(err)
	}
	if head := ExtractMeta(thing, tree); !reflect.DeepEqual(head, wantMeta) {
		t.Errorf("from tree %+v", head)
	}
}

func TestExtractMetaOfSparseObjects(t *testing.T) {
	tree, _, _ := DecodeJSON(thingPlan, []byte(`{"metadata":{}}`))
	parsed, _, err := ParseMeta(thing, EncodeJSON(thing, tree).JSON)
	want := meta.ObjectMeta{Fields: []string{"", "false", "0"}}
	if err != nil || !reflect.DeepEqual(parsed, want) || !reflect.DeepEqual(ExtractMeta(thing, tree), want) {
		t.Errorf("%+v %+v %v", parsed, ExtractMeta(thing, tree), err)
	}
}

func TestNewObject(t *testing.T) {
	key := meta.Key{GroupResource: meta.GroupResource{Resource: "things"}, Namespace: "ns", Name: "n"}
	o, err := NewObject(thing, key, 42, []byte(metaJSON))
	if err != nil {
		t.Fatal(err)
	}
	if o.Key != key || o.Version != 42 || string(o.JSON[o.ItemOffset:o.ItemOffset+10]) != `"metadata"` || o.Meta.UID != "u-1" {
		t.Errorf("%+v", o)
	}
	for _, bad := range []string{"", "{", "[]", metaJSON[:100], metaJSON + "x", metaJSON[:len(metaJSON)-1]} {
		for _, k := range []*schema.Kind{thing, unselectable()} {
			if _, err := NewObject(k, key, 1, []byte(bad)); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
	}
}

// TestNewObjectOfAnotherVersion checks that objects stored in another version by an older release
// are read in the current one.
func TestNewObjectOfAnotherVersion(t *testing.T) {
	key := meta.Key{GroupResource: meta.GroupResource{Resource: "things"}, Namespace: "ns", Name: "n"}
	current := must.Get(NewObject(thing, key, 42, []byte(metaJSON)))(t)
	for _, group := range []string{"", "example.com/"} {
		k := *thing
		k.Group = strings.TrimSuffix(group, "/")
		for _, version := range []string{"v1", "v1beta1", "v2", "v1alpha1"} {
			stored := strings.Replace(metaJSON, `"apiVersion":"v1"`, `"apiVersion":"`+group+version+`"`, 1)
			o := must.Get(NewObject(&k, key, 42, []byte(stored)))(t)
			if want := strings.Replace(metaJSON, `"v1"`, `"`+group+`v1"`, 1); string(o.JSON) != want || !reflect.DeepEqual(o.Meta, current.Meta) {
				t.Errorf("%s%s: %s, want %s", group, version, o.JSON, want)
			}
		}
	}
}

func unselectable() *schema.Kind {
	k := *thing
	k.SelectFields = nil
	return &k
}

func FuzzParseMeta(f *testing.F) {
	f.Add([]byte(metaJSON))
	f.Add([]byte(`{"kind":"Thing","apiVersion":"v1","metadata":[{"labels":1}],"spec":3}`))
	f.Add([]byte(`{"data":{"a":"b"},"metadata":{"name":"n","namespace":"ns","labels":{"x":"y"}}}`))
	k := unselectable()
	f.Fuzz(func(t *testing.T, in []byte) {
		_, _, _ = ParseMeta(thing, in)
		whole, ref, err := ParseMeta(k, in)
		if err != nil {
			return
		}
		o, err := NewObject(k, meta.Key{Namespace: ref.Namespace, Name: ref.Name}, 1, in)
		if err == nil && !reflect.DeepEqual(o.Meta, whole) {
			t.Errorf("%+v, and all of it %+v", o.Meta, whole)
		}
	})
}

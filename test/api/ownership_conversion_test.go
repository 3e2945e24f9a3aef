package api

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// conversion is the oracle's object converter. It converts between versions of a kind with this
// server's code.
type conversion struct{ *ownershipComparison }

// toStored converts a tree of kind k to the storage version, without defaulting.
func toStored(k *schema.Kind, t tree.Tree) tree.Tree {
	if k.Stored == k {
		return t
	}
	t = k.Conversion.ToStored(tree.Clone(t).(tree.Tree))
	if t.Has("apiVersion") {
		t["apiVersion"], t["kind"] = k.Stored.APIVersion(), k.Stored.Kind
	}
	return t
}

func toServed(k *schema.Kind, t tree.Tree) tree.Tree {
	if k.Stored == k {
		return t
	}
	return k.Conversion.FromStored(tree.Clone(t).(tree.Tree))
}

func (c conversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	goal, err := c.named(target.(kschema.GroupVersion).WithKind(c.kind.Kind))
	if err != nil {
		return nil, err
	}
	from := in.GetObjectKind().GroupVersionKind()
	if from.Empty() { // a new object
		from = gvkOf(goal)
	}
	source, err := c.named(from)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	tree, _, err := codec.DecodeJSON(source.Message(), text)
	if err != nil {
		return nil, err
	}
	if goal != source {
		tree = toServed(goal, toStored(source, tree))
	}
	return c.object(goal, tree), nil
}

func (c conversion) named(gvk kschema.GroupVersionKind) (*schema.Kind, error) {
	for _, k := range c.kind.Versions {
		if gvkOf(k) == gvk {
			return k, nil
		}
	}
	return nil, fmt.Errorf("no form %v", gvk)
}

func (conversion) Convert(_, _, _ any) error { return errors.New("not needed") }

func (conversion) ConvertFieldLabel(_ kschema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

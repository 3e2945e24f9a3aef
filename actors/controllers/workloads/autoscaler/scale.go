package autoscaler

import (
	"context"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A target is what is scaled.
type target struct {
	kind *schema.Kind
	head cluster.Head
	scale
}

// A scale is what its sub-resource says.
type scale struct {
	replicas, observed int64 // wanted and there
	selector           string
}

// kindOf is the kind that a reference names, in whatever version; nil if there is none.
func (c *Controller) kindOf(ref tree.Tree) *schema.Kind {
	group, version, ok := strings.Cut(ref.String("apiVersion"), "/")
	if !ok {
		group, version = "", group
	}
	if k := c.kinds.ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: ref.String("kind")}); k != nil {
		return k
	}
	for _, k := range c.kinds.Kinds() {
		if k.Group == group && k.Kind == ref.String("kind") {
			return k
		}
	}
	return nil
}

// unknownKind says that there is no kind of a reference, in the words of release 1.35.
func unknownKind(ref tree.Tree) error {
	group, _, _ := strings.Cut(ref.String("apiVersion"), "/")
	return fmt.Errorf("no matches for kind %q in group %q", ref.String("kind"), group)
}

// readTarget reads the scale of what an autoscaler names.
func (c *Controller) readTarget(ctx context.Context, namespace string, ref tree.Tree) (*target, error) {
	k := c.kindOf(ref)
	if k == nil {
		return nil, unknownKind(ref)
	}
	sub := k.Subresource("scale")
	if sub == nil {
		return nil, fmt.Errorf("the server could not find the requested resource (%s/scale)", k.Resource)
	}
	key := meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: ref.String("name")}
	o, err := c.store.Get(ctx, request.Get{Kind: k, Key: key, Subresource: "scale"})
	if err != nil {
		return nil, err
	}
	t, err := codec.DecodeStored(sub.BodyKind.Message(), o.JSON)
	if err != nil {
		return nil, err
	}
	at := &target{kind: k, head: cluster.Head{Key: key, UID: t.Object("metadata").String("uid")}}
	at.replicas, _ = t.Object("spec").Int("replicas")
	at.observed, _ = t.Object("status").Int("replicas")
	at.selector = t.Object("status").String("selector")
	return at, nil
}

// resize changes the scale of a target. Whatever else has changed of it meanwhile does not matter.
func (c *Controller) resize(ctx context.Context, at *target, replicas int64) error {
	_, err := c.cluster.Patch(ctx, at.kind, &at.head, 0, "scale", tree.Tree{"spec": tree.Tree{"replicas": replicas}})
	return err
}

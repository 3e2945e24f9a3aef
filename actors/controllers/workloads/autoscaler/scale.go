package autoscaler

import (
	"context"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type target struct {
	client reconcile.Client
	object *meta.Object // key and uid
	scale
}

type scale struct {
	replicas, observed int64 // desired and existing
	selector           string
}

// kindOf returns the kind that ref refers to, or nil. If the version is not served, it returns
// another version of the kind.
func (c *Controller) kindOf(ref tree.Tree) *schema.Kind {
	wanted := meta.ParseGVK(ref.String("apiVersion"), ref.String("kind"))
	if k := c.Kinds.ByGVK(wanted); k != nil {
		return k
	}
	for _, k := range c.Kinds.Kinds() {
		if k.Group == wanted.Group && k.Kind == wanted.Kind {
			return k
		}
	}
	return nil
}

func unknownKind(ref tree.Tree) error {
	group, _, _ := strings.Cut(ref.String("apiVersion"), "/")
	return fmt.Errorf("no matches for kind %q in group %q", ref.String("kind"), group)
}

func (c *Controller) readTarget(ctx context.Context, namespace string, ref tree.Tree) (*target, error) {
	k := c.kindOf(ref)
	if k == nil {
		return nil, unknownKind(ref)
	}
	sub := k.Subresource("scale")
	if sub == nil {
		return nil, fmt.Errorf("the server could not find the requested resource (%s/scale)", k.Resource)
	}
	client := c.ClientOf(k).As(reconcile.Manager)
	key := client.Key(namespace, ref.String("name"))
	o, err := c.Store.Get(ctx, request.Get{Kind: k, Key: key, Subresource: "scale"})
	if err != nil {
		return nil, err
	}
	t, err := codec.DecodeStored(sub.BodyKind.Message(), o.JSON)
	if err != nil {
		return nil, err
	}
	at := &target{client: client, object: &meta.Object{Key: key, Meta: meta.ObjectMeta{UID: t.Object("metadata").String("uid")}}}
	at.replicas, _ = t.Object("spec").Int("replicas")
	at.observed, _ = t.Object("status").Int("replicas")
	at.selector = t.Object("status").String("selector")
	return at, nil
}

func (c *Controller) resize(ctx context.Context, at *target, replicas int64) error {
	_, err := at.client.PatchExisting(ctx, at.object, "scale", tree.Tree{"spec": tree.Tree{"replicas": replicas}})
	return err
}

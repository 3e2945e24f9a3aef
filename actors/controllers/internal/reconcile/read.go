package reconcile

import (
	"context"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Read reads an object and decodes it; both are nil if it does not exist.
func Read(ctx context.Context, store Store, k *schema.Kind, key meta.Key) (*meta.Object, tree.Tree, error) {
	o, err := store.Get(ctx, request.Get{Kind: k, Key: key})
	if IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	return o, object, err
}

// Replace stores an object in place of the one that was read, unless that has changed meanwhile. It is no error if the
// object is deleted.
func Replace(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, object tree.Tree) error {
	_, err := store.Mutate(ctx, request.Mutation{Kind: k, Key: o.Key, Change: request.Update{Object: object}})
	if IsNotFound(err) {
		return nil
	}
	return err
}

// Create creates an object, under a name that begins with metadata.generateName if the key has none. A namespace that is
// being deleted, or is gone, takes no new objects: that is no error.
func Create(ctx context.Context, store Store, k *schema.Kind, key meta.Key, object tree.Tree) error {
	_, err := store.Mutate(ctx, request.Mutation{Kind: k, Key: key, Change: request.Create{Object: object}})
	if IsNamespaceTerminating(err) || IsNotFound(err) {
		return nil
	}
	return err
}

package reconcile

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// PatchIfUnchanged applies a merge patch to an object, or to its sub-resource if one is named, with
// uid and resourceVersion as preconditions. It is no error if the object is deleted.
func PatchIfUnchanged(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, subresource string, change tree.Tree) error {
	return PatchAs(ctx, store, "", k, o, subresource, change)
}

// PatchAs is PatchIfUnchanged under the name of a field manager.
func PatchAs(ctx context.Context, store Store, manager string, k *schema.Kind, o *meta.Object, subresource string, change tree.Tree) error {
	metadata := change.EnsureObject("metadata")
	metadata["uid"], metadata["resourceVersion"] = o.Meta.UID, strconv.FormatUint(o.Version, 10)
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = store.Mutate(ctx, request.Mutation{
		Kind: k.Unconverted(), Key: o.Key, Subresource: subresource, FieldManager: manager,
		Change: request.Patch{Type: request.MergePatch, Body: patch},
	})
	if IsNotFound(err) {
		return nil
	}
	return err
}

// PatchMetadataList replaces one list in the metadata of an object, unless the object has changed.
// change gets its own copy of the metadata, which it may modify.
func PatchMetadataList(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, change func(metadata tree.Tree) (field string, list []any)) error {
	object, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return err
	}
	field, list := change(object.Object("metadata"))
	return PatchIfUnchanged(ctx, store, k, o, "", tree.Tree{"metadata": tree.Tree{field: list}})
}

// AddFinalizer adds a finalizer to an object, unless the object has changed.
func AddFinalizer(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, finalizer string) error {
	return PatchMetadataList(ctx, store, k, o, func(metadata tree.Tree) (string, []any) {
		return "finalizers", append(metadata.List("finalizers"), finalizer)
	})
}

// RemoveFinalizer removes a finalizer from an object, unless the object has changed.
func RemoveFinalizer(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, finalizer string) error {
	return PatchMetadataList(ctx, store, k, o, func(metadata tree.Tree) (string, []any) {
		return "finalizers", WithoutItem(metadata.List("finalizers"), finalizer)
	})
}

// WithoutItem removes a string from a list, in place.
func WithoutItem(list []any, text string) []any {
	return slices.DeleteFunc(list, func(item any) bool { return item == text })
}

// DeleteIfUnchanged deletes an object with uid and resourceVersion as preconditions. policy is the
// propagation policy; "" is the default of the kind. It is no error if the object is deleted already.
func DeleteIfUnchanged(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, policy string) error {
	_, err := store.Mutate(ctx, request.Mutation{
		Kind: k.Unconverted(), Key: o.Key,
		Change: request.Delete{UID: &o.Meta.UID, ResourceVersion: new(strconv.FormatUint(o.Version, 10)), PropagationPolicy: policy},
	})
	if IsNotFound(err) {
		return nil
	}
	return err
}

package controllers

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// patchIfUnchanged puts a merge patch over an object, or over a sub-resource of it, if it is still as it
// was. That the object has gone is no error.
func patchIfUnchanged(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, subresource string, change schema.Tree) error {
	metadata := rules.EnsureNested(change, "metadata")
	metadata["uid"], metadata["resourceVersion"] = o.Meta.UID, strconv.FormatUint(o.Version, 10)
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = store.Mutate(ctx, request.Mutation{
		Verb: request.Patch, Kind: k, Key: o.Key, Subresource: subresource, PatchType: request.MergePatch, PatchBody: patch,
	})
	if isNotFound(err) {
		return nil
	}
	return err
}

// patchMetadataList replaces one list in the metadata of an object, if it is still as it was. change may
// change what it gets.
func patchMetadataList(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, change func(metadata schema.Tree) (field string, list []any)) error {
	tree, err := codec.DecodeStored(k.Message, o.JSON)
	if err != nil {
		return err
	}
	field, list := change(rules.Nested(tree, "metadata"))
	return patchIfUnchanged(ctx, store, k, o, "", schema.Tree{"metadata": schema.Tree{field: list}})
}

// removeFinalizer takes a finalizer off an object.
func removeFinalizer(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, finalizer string) error {
	return patchMetadataList(ctx, store, k, o, func(metadata schema.Tree) (string, []any) {
		return "finalizers", withoutItem(rules.Items(metadata, "finalizers"), finalizer)
	})
}

// withoutItem is a list without one of its texts. The list itself is used up.
func withoutItem(list []any, text string) []any {
	return slices.DeleteFunc(list, func(item any) bool { return item == text })
}

// deleteIfUnchanged deletes an object, if it is still as it was. policy says what becomes of its dependents;
// "" is the default of its kind. That the object has gone is no error.
func deleteIfUnchanged(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, policy string) error {
	_, err := store.Mutate(ctx, request.Mutation{
		Verb: request.Delete, Kind: k, Key: o.Key,
		Delete: request.DeleteOptions{UID: o.Meta.UID, ResourceVersion: strconv.FormatUint(o.Version, 10), PropagationPolicy: policy},
	})
	if isNotFound(err) {
		return nil
	}
	return err
}

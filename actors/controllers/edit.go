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

// amend puts a merge patch over an object, or over a sub-resource of it, if it is still as it
// was. That the object has gone is no error.
func amend(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, subresource string, change schema.Tree) error {
	metadata := rules.Grow(change, "metadata")
	metadata["uid"], metadata["resourceVersion"] = o.Head.UID, strconv.FormatUint(o.Version, 10)
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = store.Mutate(ctx, request.Mutation{
		Verb: request.Patch, Kind: k, Key: o.Key, Subresource: subresource, PatchType: request.MergePatch, PatchBody: patch,
	})
	if gone(err) {
		return nil
	}
	return err
}

// edit replaces one list in the metadata of an object, if it is still as it was. change may
// change what it gets.
func edit(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, change func(metadata schema.Tree) (field string, list []any)) error {
	tree, err := codec.DecodeStored(k.Message, o.JSON)
	if err != nil {
		return err
	}
	field, list := change(rules.Sub(tree, "metadata"))
	return amend(ctx, store, k, o, "", schema.Tree{"metadata": schema.Tree{field: list}})
}

// unhold takes a finalizer off an object.
func unhold(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, finalizer string) error {
	return edit(ctx, store, k, o, func(metadata schema.Tree) (string, []any) {
		return "finalizers", without(rules.Items(metadata, "finalizers"), finalizer)
	})
}

// without is a list without one of its texts. The list itself is used up.
func without(list []any, text string) []any {
	return slices.DeleteFunc(list, func(item any) bool { return item == text })
}

// remove deletes an object, if it is still as it was. policy says what becomes of its dependents;
// "" is the default of its kind. That the object has gone is no error.
func remove(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, policy string) error {
	_, err := store.Mutate(ctx, request.Mutation{
		Verb: request.Delete, Kind: k, Key: o.Key,
		Delete: request.DeleteOptions{UID: o.Head.UID, ResourceVersion: strconv.FormatUint(o.Version, 10), PropagationPolicy: policy},
	})
	if gone(err) {
		return nil
	}
	return err
}

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// edit replaces one list in the metadata of an object, if it is still as it was. change may
// change what it gets. That the object has gone is no error.
func edit(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, change func(metadata schema.Tree) (field string, list []any)) error {
	tree, _, err := codec.DecodeJSON(k.Message, o.JSON)
	if err != nil {
		return err
	}
	field, list := change(rules.Sub(tree, "metadata"))
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": o.Head.UID, "resourceVersion": strconv.FormatUint(o.Version, 10), field: list,
	}})
	if err != nil {
		return err
	}
	_, err = store.Mutate(ctx, request.Mutation{
		Verb: request.Patch, Kind: k, Key: o.Key, PatchType: request.MergePatch, PatchBody: patch,
	})
	if gone(err) {
		return nil
	}
	return err
}

// unhold takes a finalizer off an object.
func unhold(ctx context.Context, store Store, k *schema.Kind, o *meta.Object, finalizer string) error {
	return edit(ctx, store, k, o, func(metadata schema.Tree) (string, []any) {
		return "finalizers", slices.DeleteFunc(rules.Items(metadata, "finalizers"), func(f any) bool { return f == finalizer })
	})
}

// gone tells that an error says that an object does not exist.
func gone(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Reason == meta.ReasonNotFound
}

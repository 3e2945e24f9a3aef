package admissionpolicy

import (
	"errors"
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// patch returns the mutated object in the view's version, or the same object if nothing changes. A
// *meta.Status error rejects the request regardless of the failurePolicy.
func (s *scope) patch(x *expressions.Expr, patchType string) (tree.Tree, error) {
	if x.Program == nil {
		return nil, x.Err
	}
	v, err := s.eval(x)
	if err != nil {
		return nil, err
	}
	if patchType == "ApplyConfiguration" {
		return s.overlay(v)
	}
	return s.operate(v)
}

// overlay merges an ApplyConfiguration into the object, like server-side apply without a field
// manager: lists merge by key and no field is removed. Unknown fields are errors, because they
// would otherwise be dropped silently.
func (s *scope) overlay(v cel.Value) (tree.Tree, error) {
	config, err := cel.PatchTree(v)
	if err != nil {
		return nil, err
	}
	config = maps.Clone(config)
	config["apiVersion"], config["kind"] = s.view.BodyKind.APIVersion(), s.view.BodyKind.Kind
	m := s.view.BodyKind.Message()
	config, faults, err := codec.ConformConfig(m, config)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: failed to convert patch object to typed object: %w", err)
	}
	merged, err := managedfields.Overlay(m, s.view.Object, config, codec.UnknownPaths(faults))
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	return merged, nil
}

// operate applies JSON Patch operations. If a test operation fails, it returns the unchanged object
// and no error. As in Kubernetes, a result that cannot be decoded is an internal error regardless
// of the failurePolicy.
func (s *scope) operate(v cel.Value) (tree.Tree, error) {
	made, err := cel.Operations(v)
	if err != nil {
		return nil, err
	}
	operations := make([]merge.Operation, len(made))
	for i, o := range made {
		operations[i] = merge.Operation{Op: o.Op, Path: o.Path, From: o.From}
		if operations[i].Value, operations[i].HasValue, err = o.Operand(); err != nil {
			return nil, err
		}
	}
	patched, err := merge.Operations(s.view.Object, operations)
	if errors.Is(err, merge.ErrTest) {
		return s.view.Object, nil
	}
	if err != nil {
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	conformed, faults, err := codec.Conform(s.view.BodyKind.Message(), patched, s.view.Object)
	if err == nil && len(faults) > 0 && s.view.BodyKind.Message().Custom == nil {
		err = fmt.Errorf("strict decoding error: %s", faults[0])
	}
	if err != nil {
		return nil, &meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: "Internal error occurred: " + err.Error()}
	}
	return conformed, nil
}

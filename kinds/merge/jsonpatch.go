package merge

import (
	"encoding/json"
	"errors"

	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	// MaxOperations limits the number of operations per JSON patch.
	MaxOperations = 10000
	// maxCopySize limits the approximate JSON bytes that a patch's copy operations produce. It
	// equals the request body limit. Without it, each copy of the object into itself would double
	// the size.
	maxCopySize = 3 << 20
	// maxMovedItems limits the list items that one patch shifts. Without it, ten thousand
	// insertions or removals at the beginning of a list of a million items would take seconds.
	maxMovedItems = 1 << 28
)

// An operation is one JSON patch operation as sent by the client. A missing Path, From or Value is
// nil, unlike an empty string or null. Value is decoded only if needed.
type operation struct {
	Op    string
	Path  *string
	From  *string
	Value json.RawMessage
}

// JSONPatch applies all operations of an RFC 6902 patch or none. A malformed patch fails with code
// 400, a patch that exceeds a limit with 413, and a failed operation with 422.
//
// For the object {"spec":{"list":["a","b"]}}:
//
//	[{"op":"add","path":"/spec/list/1","value":"x"}]     the list is a, x, b
//	[{"op":"add","path":"/spec/list/-","value":"x"}]     the list is a, b, x
//	[{"op":"test","path":"/spec/list/0","value":"b"}]    422, the value differs
//	[{"op":"remove","path":"/spec/none"}]                422, there is nothing to remove
//	[{"op":"replace","path":"/spec/none","value":"x"}]   sets the field: Kubernetes 1.37, not RFC 6902
func JSONPatch(current tree.Tree, patch []byte) (tree.Tree, error) {
	ops, err := readOperations(patch)
	if err != nil {
		return nil, err
	}
	p := newJSONPatcher(current)
	for i := range ops {
		done, err := p.apply(&ops[i])
		if err != nil {
			return nil, err
		}
		if !done {
			return nil, newCannotApply("operation %d (%s %q): %s", i, ops[i].op, ops[i].pathText, ops[i].failure())
		}
	}
	object, ok := p.root.tree().(tree.Tree)
	if !ok {
		return nil, newCannotApply("the result is not an object")
	}
	return object, nil
}

type parsedOperation struct {
	op         string
	path, from pointer
	value      any
	pathText   string // the path as sent, possibly truncated
	absent     bool   // the path of a test does not exist
}

// maxShownPath limits the length of a path in errors, in bytes. Errors are logged, and a path can
// be as long as the body.
const maxShownPath = 256

// failure returns why the operation failed, without revealing values (see newCannotApply).
func (s *parsedOperation) failure() string {
	switch {
	case s.op == "test" && !s.absent:
		return "the value differs"
	case s.op == "move", s.op == "copy":
		return "from or the parent of path does not exist"
	case s.op == "add":
		return "the parent of path does not exist"
	}
	return "path does not exist"
}

// readOperations decodes a patch and checks all operations before the first is applied. A patch
// that is not a list of objects fails with code 400, and an operation that can never succeed with
// 422.
func readOperations(patch []byte) ([]parsedOperation, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(patch, &raws); err != nil {
		return nil, newBadPatch("error decoding patch: %v", err)
	}
	if len(raws) > MaxOperations {
		return nil, newTooLarge("The allowed maximum operations in a JSON patch is %d, got %d", MaxOperations, len(raws))
	}
	steps := make([]parsedOperation, len(raws))
	for i, raw := range raws {
		var op operation
		if err := json.Unmarshal(raw, &op); err != nil {
			return nil, newBadPatch("error decoding patch: operation %d: %v", i, err)
		}
		s, err := checkOperation(op)
		if err != nil {
			return nil, newCannotApply("operation %d (%.16q %q): %v", i, op.Op, s.pathText, err)
		}
		steps[i] = s
	}
	return steps, nil
}

func checkOperation(op operation) (parsedOperation, error) {
	s := parsedOperation{op: op.Op}
	if op.Path == nil {
		return s, errors.New("missing path")
	}
	var err error
	s.pathText = (*op.Path)[:min(len(*op.Path), maxShownPath)]
	if s.path, err = parsePointer(*op.Path); err != nil {
		return s, err
	}
	switch op.Op {
	case "add", "replace":
		if op.Value == nil {
			return s, errors.New("missing value")
		}
		s.value, err = decodeValue(op.Value)
	case "test":
		if op.Value != nil { // an absent value means null
			s.value, err = decodeValue(op.Value)
		}
	case "move", "copy":
		if op.From == nil {
			return s, errors.New("missing from")
		}
		s.from, err = parsePointer(*op.From)
	case "remove":
	default:
		return s, errors.New("unknown operation")
	}
	return s, err
}

func decodeValue(text []byte) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return tree.Decode(text)
}

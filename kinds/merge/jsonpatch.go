package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	// MaxOperations is how many operations one JSON patch may have.
	MaxOperations = 10000
	// maxCopySize is how many bytes of JSON, about, all copy operations of one patch may make: as much as
	// the largest request body. Each copy of a copy doubles the object.
	maxCopySize = 3 << 20
	// maxMovedItems is how many items of lists all operations of one patch may move by a place, to make room or to close a gap. Ten
	// thousand operations at the beginning of a list of a million items would take seconds.
	maxMovedItems = 1 << 28
)

// An operation is one operation of a JSON patch as it was sent.
//
// Path, From and Value are nil if the client has left them out, which differs from "" and null. Value stays
// text until it is known whether the operation needs it.
type operation struct {
	Op    string
	Path  *string
	From  *string
	Value json.RawMessage
}

// JSONPatch applies an RFC 6902 patch, either all of its operations, one after the other, or none. A patch
// that is no list of operations is 400, more than MaxOperations, too many copies or too many items that are moved are 413, an
// operation that fails is 422.
//
// For the object {"spec":{"list":["a","b"]}}:
//
//	[{"op":"add","path":"/spec/list/1","value":"x"}]     the list is a, x, b
//	[{"op":"add","path":"/spec/list/-","value":"x"}]     the list is a, b, x
//	[{"op":"test","path":"/spec/list/0","value":"b"}]    422, as the value is another one
//	[{"op":"remove","path":"/spec/none"}]                422, as there is nothing to remove
//	[{"op":"replace","path":"/spec/none","value":"x"}]   sets the field, as release 1.35 does, which RFC 6902 does not
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
		return nil, newCannotApply("no object is left")
	}
	return object, nil
}

// A parsedOperation is an operation that has been checked, its value and pointers parsed.
type parsedOperation struct {
	op         string
	path, from pointer
	value      any
	pathText   string // the path as it was sent, or its beginning
	absent     bool   // there is no value at the path of a test
}

// maxShownPath is how many bytes of a path an error message shows.
//
// A path may be as long as the body, and errors get into logs.
const maxShownPath = 256

// failure says why the operation cannot be carried out.
//
// It never shows a value: see newCannotApply.
func (s *parsedOperation) failure() string {
	switch {
	case s.op == "test" && !s.absent:
		return "the value is another one"
	case s.op == "move", s.op == "copy":
		return "there is no such place to take from or to put it in"
	case s.op == "add":
		return "there is no such place"
	}
	return "there is no value at this path"
}

// readOperations reads and checks all operations before the first one is carried out.
//
// A fault in the last operation is so found before work is done for the others. What is no list of objects
// is 400; an operation that can never be carried out, whatever the object, is 422 like one that fails.
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

// checkOperation checks what can be checked without an object.
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

// decodeValue reads a value. Whole numbers of 64 bits stay exact, which float64 would not keep.
func decodeValue(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil && err != io.EOF {
		return nil, err
	}
	return convertNumbers(v)
}

// convertNumbers turns the json.Numbers inside v into int64 or float64, and its maps into trees, in place.
func convertNumbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i, nil
		}
		return v.Float64()
	case map[string]any:
		for k, w := range v {
			if v[k], err = convertNumbers(w); err != nil {
				return nil, err
			}
		}
		return tree.Tree(v), nil
	case []any:
		for i, w := range v {
			if v[i], err = convertNumbers(w); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

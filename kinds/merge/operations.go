package merge

import (
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An Operation is a decoded JSON patch operation. HasValue distinguishes null from a missing value.
type Operation struct {
	Op, Path, From string
	Value          any
	HasValue       bool
}

// ErrTest reports that a test operation failed.
var ErrTest = errors.New("testing value failed")

// Operations applies all operations or none, like JSONPatch. The values become part of the result.
// If a test fails, the error is ErrTest. Other errors name the operation but reveal nothing about
// the object.
func Operations(current tree.Tree, operations []Operation) (tree.Tree, error) {
	if len(operations) > MaxOperations {
		return nil, fmt.Errorf("the allowed maximum operations in a JSON patch is %d, got %d", MaxOperations, len(operations))
	}
	p := newJSONPatcher(current)
	for i, o := range operations {
		s, err := o.parse()
		if err != nil {
			return nil, fmt.Errorf("operation %d (%.16q %q): %w", i, o.Op, s.pathText, err)
		}
		switch done, err := p.apply(&s); {
		case err != nil:
			return nil, err
		case !done && s.op == "test":
			return nil, ErrTest
		case !done:
			return nil, fmt.Errorf("%s operation does not apply: %q: %s", s.op, s.pathText, s.failure())
		}
	}
	object, ok := p.root.tree().(tree.Tree)
	if !ok {
		return nil, errors.New("the result is not an object")
	}
	return object, nil
}

func (o *Operation) parse() (parsedOperation, error) {
	s := parsedOperation{op: o.Op, value: o.Value, pathText: o.Path[:min(len(o.Path), maxShownPath)]}
	var err error
	if s.path, err = parsePointer(o.Path); err != nil {
		return s, err
	}
	switch o.Op {
	case "add", "replace":
		if !o.HasValue {
			err = errors.New("missing value")
		}
	case "move", "copy":
		s.from, err = parsePointer(o.From)
	case "remove", "test":
	default:
		err = errors.New("unknown operation")
	}
	return s, err
}

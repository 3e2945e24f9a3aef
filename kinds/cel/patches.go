package cel

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

const (
	jsonPatchName  = "JSONPatch"
	objectTypeName = "Object"
)

var jsonPatchType = types.NewObjectType(jsonPatchName)

// isPatchType reports whether name is a patch type. It accepts any path below Object, because the
// kind is known only when the patch is applied.
func isPatchType(name string) bool {
	return name == jsonPatchName || name == objectTypeName || strings.HasPrefix(name, objectTypeName+".")
}

// jsonPatchFunctions declares jsonpatch.escapeKey, which replaces slashes and tildes in a single
// pass, so that the tilde of an escape is not escaped again.
func jsonPatchFunctions() []cel.EnvOption {
	escaper := strings.NewReplacer("/", "~1", "~", "~0")
	return []cel.EnvOption{function("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", unary(escaper.Replace))}
}

// patchField returns the type of a field of JSONPatch or Object. Fields of Object are dynamic. An
// unknown JSONPatch field has an empty FieldType, whose use is rejected.
func patchField(typeName, field string) *types.FieldType {
	switch {
	case typeName != jsonPatchName:
		return &types.FieldType{Type: types.DynType,
			IsSet: func(object any) bool { t, _ := asTree(object); return t[field] != nil },
			GetFrom: func(object any) (any, error) {
				t, ok := asTree(object)
				if !ok {
					return nil, fmt.Errorf("cannot get field %q", field)
				}
				return t[field], nil
			}}
	case field == "op", field == "path", field == "from":
		return &types.FieldType{Type: types.StringType}
	case field == "value":
		return &types.FieldType{Type: types.DynType}
	}
	return &types.FieldType{}
}

// newPatchValue returns a patch object or an Operation. Operations are validated when the patch is
// applied, because errors must name the policy.
func newPatchValue(typeName string, fields map[string]ref.Val) ref.Val {
	if typeName != jsonPatchName {
		return &patchObject{typeName, maps.Clone(fields)}
	}
	o := &Operation{}
	for name, v := range fields {
		var target *string
		switch name {
		case "op":
			target = &o.Op
		case "path":
			target = &o.Path
		case "from":
			target = &o.From
		case "value":
			o.value = v
			continue
		default:
			return types.NewErr("unexpected JSONPatchType field: %s", name)
		}
		text, ok := v.Value().(string)
		if !ok {
			return types.NewErr("unexpected type %T for JSONPatchType '%s' field", v.Value(), name)
		}
		*target = text
	}
	return o
}

// An Operation is a JSON Patch operation built by an expression.
type Operation struct {
	Op, From, Path string
	value          ref.Val // may be nil
}

// Operand returns the operation's value as a tree value. has is false if it has none.
func (o *Operation) Operand() (value any, has bool, err error) {
	if o.value == nil {
		return nil, false, nil
	}
	if object, ok := o.value.(*patchObject); ok {
		if err := errors.Join(misplaced(object, object.typeName)...); err != nil {
			return nil, true, fmt.Errorf("type mismatch: %w", err)
		}
	}
	if value, err = Native(o.value); err != nil {
		err = fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	return value, true, err
}

// Operations returns the operations in a result of type JSONPatches.
func Operations(v Value) ([]*Operation, error) {
	list, ok := v.(traits.Lister)
	if !ok {
		return nil, errors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	var all []*Operation
	for it := list.Iterator(); it.HasNext() == types.True; {
		v := it.Next()
		o, ok := v.(*Operation)
		if !ok {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of %s", v.Type().TypeName())
		}
		all = append(all, o)
	}
	return all, nil
}

func (o *Operation) ConvertToNative(t reflect.Type) (any, error) {
	if t == reflect.TypeFor[*Operation]() {
		return o, nil
	}
	return nil, fmt.Errorf("cannot convert to native type: %v", t)
}

func (o *Operation) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == jsonPatchName:
		return o
	case t == types.TypeType:
		return types.NewTypeTypeWithParam(jsonPatchType)
	}
	return types.NewErr("unsupported type: %s", t.TypeName())
}

func (o *Operation) Equal(other ref.Val) ref.Val {
	p, ok := other.(*Operation)
	if !ok || o.Op != p.Op || o.From != p.From || o.Path != p.Path || (o.value == nil) != (p.value == nil) {
		return types.False
	}
	if o.value == nil {
		return types.True
	}
	return o.value.Equal(p.value)
}

func (o *Operation) Get(field ref.Val) ref.Val {
	switch field.Value() {
	case "op":
		return types.String(o.Op)
	case "path":
		return types.String(o.Path)
	case "from":
		return types.String(o.From)
	case "value":
		if o.value != nil {
			return o.value
		}
		return types.NullValue
	}
	return types.NewErr("unsupported indexer: %s", field)
}

func (o *Operation) IsSet(field ref.Val) ref.Val {
	switch field.Value() {
	case "op":
		return types.Bool(o.Op != "")
	case "path":
		return types.Bool(o.Path != "")
	case "from":
		return types.Bool(o.From != "")
	case "value":
		return types.Bool(o.value != nil)
	}
	return types.NewErr("unsupported field: %s", field)
}

func (o *Operation) Type() ref.Type { return jsonPatchType }

func (o *Operation) Value() any { return o }

type patchObject struct {
	typeName string
	fields   map[string]ref.Val
}

// misplaced returns an error for each part whose type does not match its position, because a
// misplaced Object.spec would be merged into the wrong field. List items have the type of the list
// field.
func misplaced(v ref.Val, path string) (faults []error) {
	if o, ok := v.(*patchObject); ok {
		if o.typeName != path {
			faults = append(faults, fmt.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", o.typeName, path))
		}
		for name, f := range o.fields {
			faults = append(faults, misplaced(f, path+"."+name)...)
		}
		return faults
	}
	switch parts := v.Value().(type) {
	case []ref.Val:
		for _, part := range parts {
			faults = append(faults, misplaced(part, path)...)
		}
	case map[ref.Val]ref.Val:
		for _, part := range parts {
			faults = append(faults, misplaced(part, path)...)
		}
	}
	return faults
}

func (o *patchObject) ConvertToNative(t reflect.Type) (any, error) {
	if t != reflect.TypeFor[map[string]any]() {
		return nil, fmt.Errorf("unable to convert to %v", t)
	}
	v, err := nativeFields(o.fields)
	if err != nil {
		return nil, err
	}
	return map[string]any(v), nil
}

func (o *patchObject) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == o.typeName:
		return o
	case t == types.TypeType:
		return types.NewTypeTypeWithParam(types.NewObjectType(o.typeName))
	}
	return types.NewErr("unsupported conversion into %v", t)
}

func (o *patchObject) Equal(other ref.Val) ref.Val {
	p, ok := other.(*patchObject)
	return types.Bool(ok && o.typeName == p.typeName && reflect.DeepEqual(o.fields, p.fields))
}

func (o *patchObject) Type() ref.Type { return types.NewObjectType(o.typeName) }

func (o *patchObject) Value() any {
	v, err := o.ConvertToNative(reflect.TypeFor[map[string]any]())
	if err != nil {
		return types.WrapErr(err)
	}
	return v
}

func (o *patchObject) IsZeroValue() bool { return len(o.fields) == 0 }

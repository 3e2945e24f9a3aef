package cel

import (
	"maps"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// A Type is the type of a variable, field or result. maxElements is -1 if no limit is known.
// minSize is the minimum JSON size of a value in bytes, which determines how many values fit into a
// request.
type Type struct {
	cel         *cel.Type
	fields      map[string]*Type // object fields by escaped name
	key, elem   *Type            // map types; a list has only elem
	maxElements int64            // bytes of a string, elements of a list or map
	minSize     int64            // JSON size in bytes
	objects     map[string]*Type // nested object types by name
}

var (
	Any       = simple(cel.AnyType, 1)
	Bool      = simple(cel.BoolType, 4)
	Bytes     = simple(cel.BytesType, 2)
	Double    = simple(cel.DoubleType, 1)
	Duration  = simple(cel.DurationType, 3)
	Dyn       = simple(cel.DynType, 1)
	Int       = simple(cel.IntType, 1)
	Null      = simple(cel.NullType, 4)
	String    = simple(cel.StringType, 2)
	Timestamp = simple(cel.TimestampType, 12)

	// Quantity is the type of resource quantities.
	Quantity = simple(quantityType, 8)

	// Authorization and ResourceAuthorization are the types of the values that NewAuthorization and
	// NewResourceAuthorization return.
	Authorization         = simple(authorizerType, 1)
	ResourceAuthorization = simple(resourceCheckType, 1)
	// JSONPatches is the type of a list of JSON Patch operations. ObjectPatch is the type of an
	// apply configuration. Both require PatchTypes.
	JSONPatches = ListOf(simple(jsonPatchType, 1))
	ObjectPatch = simple(cel.ObjectType(objectTypeName), 1)
)

func simple(t *cel.Type, minSize int64) *Type { return &Type{cel: t, minSize: minSize} }

// ListOf returns the type of lists of any length.
func ListOf(elem *Type) *Type { return listOf(elem, -1) }

// MapOf returns the type of maps with string keys and any number of entries.
func MapOf(elem *Type) *Type { return mapOf(elem, -1) }

// Bounded returns t with a maximum size: the bytes of a string, or the elements of a list or map.
func Bounded(t *Type, most int64) *Type {
	bounded := *t
	bounded.maxElements = most
	return &bounded
}

// BoundedMapOf returns the type of maps with a maximum number of entries.
func BoundedMapOf(key, elem *Type, most int64) *Type {
	m := mapOf(elem, most)
	m.key = key
	return m
}

func listOf(elem *Type, maxItems int64) *Type {
	return &Type{cel: cel.ListType(elem.cel), elem: elem, maxElements: maxItems, minSize: 2, objects: elem.objects}
}

func mapOf(elem *Type, maxEntries int64) *Type {
	return &Type{cel: cel.MapType(cel.StringType, elem.cel), key: String, elem: elem, maxElements: maxEntries, minSize: 2, objects: elem.objects}
}

// ObjectOf returns an object type. Errors translate platform names, such as "platform.UserInfo", to
// the naming profile.
func ObjectOf(name string, fields map[string]*Type) *Type {
	t := &Type{cel: cel.ObjectType(name), fields: make(map[string]*Type, len(fields)), minSize: 2, objects: map[string]*Type{}}
	for field, of := range fields {
		if escaped, ok := Escape(field); ok {
			t.fields[escaped] = of
		}
		maps.Copy(t.objects, of.objects)
	}
	t.objects[name] = t
	return t
}

// Field returns the type of a field by its name in the schema, or nil if expressions cannot use it.
func (t *Type) Field(name string) *Type {
	escaped, ok := Escape(name)
	if !ok {
		return nil
	}
	return t.fields[escaped]
}

// Elem returns the type of list elements or map values, or nil for other types.
func (t *Type) Elem() *Type { return t.elem }

// MostPerRequest returns how many values of the type fit into one request.
func (t *Type) MostPerRequest() uint64 { return uint64(maxRequest / (t.minSize + 1)) }

// String returns the type name that appears in errors.
func (t *Type) String() string { return t.cel.String() }

// typeOf returns the type of an expression's result. Objects become dynamic, because their types
// exist only in the environment of the expression.
func typeOf(t *cel.Type) *Type {
	switch t.Kind() {
	case types.ListKind:
		return ListOf(typeOf(t.Parameters()[0]))
	case types.MapKind:
		key := typeOf(t.Parameters()[0])
		elem := typeOf(t.Parameters()[1])
		return &Type{cel: cel.MapType(key.cel, elem.cel), key: key, elem: elem, maxElements: -1, minSize: 2, objects: elem.objects}
	}
	for _, known := range []*Type{Any, Bool, Bytes, Double, Duration, Int, Null, String, Timestamp} {
		if t == known.cel {
			return known
		}
	}
	if t == cel.UintType {
		return simple(t, 1)
	}
	return Dyn
}

// A provider resolves the names of object types and fields. Each family contains the object types
// of one variable, whose names have a common prefix. A provider is immutable once the environment
// exists.
type provider struct {
	types.Provider
	families []map[string]*Type
	patches  bool
}

func (p *provider) add(objects map[string]*Type) {
	if len(objects) > 0 {
		p.families = append(p.families, objects)
	}
}

func (p *provider) find(name string) *Type {
	for _, objects := range p.families {
		if t := objects[name]; t != nil {
			return t
		}
	}
	return nil
}

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if t := p.find(name); t != nil {
		return types.NewTypeTypeWithParam(t.cel), true
	}
	if p.patches && isPatchType(name) {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if p.find(name) != nil || p.patches && isPatchType(name) {
		return nil, true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if t := p.find(name); t != nil {
		f := t.fields[field]
		if f == nil && isReserved(field) {
			f = t.fields["__"+field+"__"]
		}
		if f == nil {
			return nil, false
		}
		return &types.FieldType{Type: f.cel}, true
	}
	if p.patches && isPatchType(name) {
		return patchField(name, field), true
	}
	return p.Provider.FindStructFieldType(name, field)
}

func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if p.patches && isPatchType(name) {
		return newPatchValue(name, fields)
	}
	return p.Provider.NewValue(name, fields)
}

package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A ValuePlan defines how package rules defaults, prunes and checks one value. Options of built-in
// kinds and schemas of CustomResourceDefinitions compile to it, once. It is immutable after that.
type ValuePlan struct {
	// Evaluators check the value, in the order in which their faults are reported.
	Evaluators []Evaluator
	// Recheck disables the shortcut for unchanged values.
	Recheck bool
	// Nullable accepts null and skips all checks of it.
	Nullable bool

	// Absence defines which values count as absent.
	Absence Absence
	// Zero is checked in place of an absent value; nil: no check.
	Zero any
	// DropNull makes defaulting drop null where it is not a value.
	DropNull bool
	// Default is the value for an absent one; nil: none.
	Default any
	// DefaultSize is the approximate size of Default in bytes of JSON; 0 if it is not counted.
	DefaultSize int
	// NullDefault replaces null and absent values although it is not a declared default; nil:
	// none.
	NullDefault any
	// WholeThousandths makes defaulting round a quantity to a multiple of 1m, away from zero.
	WholeThousandths bool
	// FillAbsent makes defaulting create an absent object if some of its fields have defaults.
	FillAbsent bool

	// Parts are the fields or entries of an object and Items the items of a list, as far as
	// defaulting and pruning descend into them; nil: they do not.
	Parts *Parts
	Items *ValuePlan
	// PreserveUnknown makes pruning keep fields without a plan.
	PreserveUnknown bool
	// Bare is an object whose plan is empty. An apply configuration may name fields of it.
	Bare bool
}

// Parts are the plans of the fields of an object or the entries of a map. They may be recursive.
type Parts struct {
	// Checked are the fields to check, in order of declaration. If Ordered is false, an object
	// is checked by its own keys, sorted.
	Checked []Part
	Ordered bool
	// Defaulted are the fields that defaulting visits.
	Defaulted []Part
	// Immutable are the fields that are, or contain, immutable fields.
	Immutable []ImmutablePart
	// Featured are the fields that belong to, or contain fields of, disabled features.
	Featured []FeaturedPart
	// ByName holds the plans of fields. Additional is the plan of all others; nil: there are no
	// others.
	ByName     map[string]*ValuePlan
	Additional *ValuePlan
	// Names are the keys of ByName, sorted.
	Names []string
	// Keys check the keys of a map.
	Keys []Evaluator
	// IsMap: paths hold keys in brackets, as in data[key].
	IsMap bool
	// IsResource: the object has apiVersion, kind and metadata. Pruning keeps them, and
	// Additional does not apply to them.
	IsResource bool
}

// A Part is one field of an object.
type Part struct {
	Name string
	*ValuePlan
	// Required reports a fault if the field has no value. Zero numbers and false are values.
	Required bool
	// RequiredDetail is appended to the message.
	RequiredDetail string
	RequiredWhen   *RequiredWhen // nil: no condition
	// CheckAbsent checks an absent object as an empty one, because some of its fields are
	// required.
	CheckAbsent bool
}

// An ImmutablePart is an immutable field or, if Parts is set, a field that contains immutable ones.
type ImmutablePart struct {
	*Field
	Parts *Parts
}

// A FeaturedPart is a field of a feature or, if Parts is set, a field that contains such fields.
type FeaturedPart struct {
	Name    string
	Feature string
	Parts   *Parts
	Shape   Shape // of the field that Parts belongs to
}

// KnownKeys returns sorted keys that include all keys of the object that have plans. It avoids
// sorting if the object is about as large as the plan. Callers must not change the result.
func (p *Parts) KnownKeys(t tree.Tree) []string {
	const sparse = 4 // with more names per key, sorting the keys is cheaper
	if p.Additional == nil && len(p.Names) > 0 && len(p.Names) <= sparse*len(t) {
		return p.Names
	}
	return t.SortedKeys()
}

// Child returns the plan of a field or an entry, or nil.
func (p *Parts) Child(name string) *ValuePlan {
	if p == nil {
		return nil
	}
	if child := p.ByName[name]; child != nil {
		return child
	}
	return p.Additional
}

// Absence defines which values count as absent.
type Absence uint8

// Levels of absence.
const (
	AbsentIfMissing Absence = iota // only a missing field
	AbsentIfNull                   // and null
	AbsentIfZero                   // and "", 0, false
)

// ResourceFields are the fields that every resource has, even if its plan does not list them.
var ResourceFields = []string{"apiVersion", "kind", "metadata"}

// IsResourceField reports whether name is in ResourceFields.
func IsResourceField(name string) bool { return slices.Contains(ResourceFields, name) }

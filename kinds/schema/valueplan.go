package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A ValuePlan defines how package rules defaults, prunes and checks one value. Options of built-in
// kinds and schemas of CRDs compile to it. It is immutable.
type ValuePlan struct {
	// Evaluators are in the order of faults.
	Evaluators []Evaluator
	// Recheck disables the shortcut for unchanged values.
	Recheck bool
	// Nullable accepts null and skips all checks of it.
	Nullable bool

	// Absence defines which values count as absent.
	Absence Absence
	// Zero is checked in place of an absent value; nil: nothing is.
	Zero any
	// DropNull drops null when defaulting.
	DropNull bool
	// Default replaces an absent value; nil: none.
	Default any
	// DefaultSize is the approximate size of Default in JSON bytes; 0 if not counted.
	DefaultSize int
	// NullDefault replaces null and absent values although it is not a declared default; nil:
	// none.
	NullDefault any
	// WholeThousandths rounds quantities to multiples of 1m, away from zero, when defaulting.
	WholeThousandths bool
	// FillAbsent creates an absent object if some of its fields have defaults.
	FillAbsent bool

	// Parts are fields or entries and Items list items, as far as defaulting and pruning
	// descend; nil: they do not.
	Parts *Parts
	Items *ValuePlan
	// PreserveUnknown keeps fields without a plan when pruning.
	PreserveUnknown bool
	// Bare is an object with an empty plan. An apply configuration may set its fields.
	Bare bool
}

// Parts are the possibly recursive plans of the fields of an object or the entries of a map.
type Parts struct {
	// Checked are the fields to check, in order of declaration. If Ordered is false, the keys
	// of the object are checked, sorted.
	Checked []Part
	Ordered bool
	// Defaulted are the fields that defaulting visits, the first Filled of them even if absent.
	Defaulted []Part
	Filled    int
	// Immutable are fields that are or contain immutable fields.
	Immutable []ImmutablePart
	// Featured are fields that are or contain fields of disabled features.
	Featured []FeaturedPart
	// ByName holds the plans of fields; Additional is that of others, or nil if there are none.
	ByName     map[string]*ValuePlan
	Additional *ValuePlan
	// Names are the keys of ByName, sorted.
	Names []string
	// Keys check the keys of a map.
	Keys []Evaluator
	// IsMap: paths hold keys in brackets, as in data[key].
	IsMap bool
	// IsResource: the object has apiVersion, kind and metadata, which pruning keeps and
	// Additional does not cover.
	IsResource bool
}

// A Part is one field of an object.
type Part struct {
	Name string
	*ValuePlan
	// Required reports a fault without a value. Zero numbers and false are values.
	Required bool
	// RequiredDetail is appended to the message.
	RequiredDetail string
	RequiredWhen   *RequiredWhen // nil: no condition
	// CheckAbsent checks an absent object as an empty one, because it has required fields.
	CheckAbsent bool
}

// An ImmutablePart is an immutable field or, if Parts is set, contains some.
type ImmutablePart struct {
	*Field
	Parts *Parts
}

// A FeaturedPart is a field of a feature or, if Parts is set, contains some.
type FeaturedPart struct {
	Name    string
	Feature string
	Parts   *Parts
	Shape   Shape // of the field that Parts belongs to
}

// KnownKeys returns sorted keys, including all of t that have plans. It avoids sorting if t is
// about as large as the plan. Callers must not change the result.
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

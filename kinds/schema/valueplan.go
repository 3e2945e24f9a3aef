package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A ValuePlan defines how package rules defaults, prunes and validates one value. It is compiled
// from the options of built-in kinds and from CRD schemas. It is immutable.
type ValuePlan struct {
	// Evaluators run in slice order, which is also the order of their faults.
	Evaluators []Evaluator
	// Recheck makes validation include unchanged values.
	Recheck bool
	// Nullable accepts null without further checks.
	Nullable bool

	// Absence defines which values count as absent.
	Absence Absence
	// Zero is validated in place of an absent value. If Zero is nil, absent values are not
	// validated.
	Zero any
	// DropNull removes null values during defaulting.
	DropNull bool
	// Default, if not nil, replaces an absent value.
	Default any
	// DefaultSize is the approximate size of Default in bytes of JSON, or 0 for built-in kinds.
	DefaultSize int
	// NullDefault, if not nil, replaces a null or absent value that Default does not replace. It is
	// the zero value of a field that is always encoded.
	NullDefault any
	// WholeThousandths makes defaulting round quantities away from zero to multiples of 1m.
	WholeThousandths bool
	// FillAbsent creates an absent object if any of its fields has a default.
	FillAbsent bool

	// Parts contains the plans of fields or map entries, and Items is the plan of list items.
	// Defaulting and pruning skip nested values without a plan.
	Parts *Parts
	Items *ValuePlan
	// PreserveUnknown makes pruning keep fields that have no plan.
	PreserveUnknown bool
	// Bare marks an object with an empty schema. Pruning keeps its fields in an apply
	// configuration.
	Bare bool
}

// Parts contains the plans of an object's fields or a map's entries. Plans may be recursive.
type Parts struct {
	// Checked lists the fields to validate, in declaration order. If Ordered is false, all keys are
	// validated in sorted order instead.
	Checked []Part
	Ordered bool
	// Defaulted lists the fields that defaulting visits: the first Filled fields even if absent,
	// and the others only if present.
	Defaulted []Part
	Filled    int
	// Immutable lists the fields that are immutable or contain immutable fields.
	Immutable []ImmutablePart
	// Featured lists the fields behind disabled feature gates and the fields that contain them.
	Featured []FeaturedPart
	// ByName contains the plans of known fields. Additional is the plan of all others, or nil.
	ByName     map[string]*ValuePlan
	Additional *ValuePlan
	// Names lists the sorted keys of ByName.
	Names []string
	// Keys validates the keys of a map.
	Keys []Evaluator
	// IsMap makes paths show keys in brackets, as in data[key].
	IsMap bool
	// IsResource marks an object with apiVersion, kind and metadata. Pruning keeps these fields,
	// and Additional does not apply to them.
	IsResource bool
}

// A Part is the plan of one named field.
type Part struct {
	Name string
	*ValuePlan
	// Required makes an absent value an error. 0 and false count as present.
	Required bool
	// RequiredDetail is appended to the error message for an absent value.
	RequiredDetail string
	RequiredWhen   *RequiredWhen // nil if unconditional
	// CheckAbsent makes validation treat an absent object as an empty one, so that its missing
	// required fields are reported.
	CheckAbsent bool
}

// An ImmutablePart is either an immutable field, or an object with immutable fields at some depth.
// Parts is set only for such an object.
type ImmutablePart struct {
	*Field
	Parts *Parts
}

// A FeaturedPart is either a field behind a disabled feature gate, or an object with such fields at
// some depth. Parts is set only for such an object.
type FeaturedPart struct {
	Name    string
	Feature string
	Parts   *Parts
	Shape   Shape // shape of the field that contains Parts
	Keep    bool  // keep an object that becomes empty
}

// KnownKeys returns sorted names that include every key of t with a plan, so that callers can visit
// the fields of t in order. To avoid sorting, it may return all names of the plan, including those
// that t lacks. Callers must not change the result.
func (p *Parts) KnownKeys(t tree.Tree) []string {
	const sparse = 4 // with more names per key, sorting the keys is cheaper
	if p.Additional == nil && len(p.Names) > 0 && len(p.Names) <= sparse*len(t) {
		return p.Names
	}
	return t.SortedKeys()
}

// Child returns the plan of a field or map entry, or nil.
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

const (
	AbsentIfMissing Absence = iota // only a missing field
	AbsentIfNull                   // and null
	AbsentIfZero                   // and "", 0, false
)

// ResourceFields lists the fields that every resource has, even if its plan omits them.
var ResourceFields = []string{"apiVersion", "kind", "metadata"}

// IsResourceField reports whether name is in ResourceFields.
func IsResourceField(name string) bool { return slices.Contains(ResourceFields, name) }

package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A ValuePlan is what the engine of package rules does with one value: how it is defaulted, pruned and
// checked. The options of built-in kinds and the schemas of definitions are both compiled into it, once,
// before any object is looked at. It is immutable after that.
type ValuePlan struct {
	// Evaluators check the value, in the order in which their faults are reported.
	Evaluators []Evaluator
	// Recheck: the value is checked even if it is as it was before.
	Recheck bool
	// Nullable: null is a value, of which nothing more is asked.
	Nullable bool

	// Absence says which values count as left out.
	Absence Absence
	// Zero is checked in place of a value that is left out; nil: nothing is.
	Zero any
	// DropNull: where null is no value, defaulting drops it.
	DropNull bool
	// Default is what is filled in for a value that is left out; nil: nothing.
	Default any
	// DefaultSize is about how many bytes of JSON the default has; 0 where nobody counts.
	DefaultSize int
	// NullDefault is filled in for null, and for a value that is left out, although it is no declared default; nil: nothing.
	NullDefault any
	// WholeThousandths: defaulting rounds an amount to a multiple of 1m, away from zero.
	WholeThousandths bool
	// FillAbsent: an object that is left out comes into being if some of its fields have defaults.
	FillAbsent bool

	// Parts are the fields or entries of an object, Items the elements of a list, as far as defaulting and
	// pruning look into them; nil: they do not.
	Parts *Parts
	Items *ValuePlan
	// PreserveUnknown: pruning keeps the fields that are in no plan.
	PreserveUnknown bool
	// Bare: it is an object of which the plan says nothing. A configuration to apply may name fields of it.
	Bare bool
}

// Parts are the plans of what is in an object or a map. Where messages contain themselves, so do their parts.
type Parts struct {
	// Checked are the fields to check, in order of declaration. Without them (Ordered is false) an object is
	// checked by its own keys, in their order.
	Checked []Part
	Ordered bool
	// Defaulted are the fields that defaulting looks at.
	Defaulted []Part
	// Immutable are the fields that may not change, or that contain some.
	Immutable []ImmutablePart
	// Featured are the fields that belong to features that are off, or that contain some.
	Featured []FeaturedPart
	// ByName finds the plan of a field; Additional is that of all others; nil: there are no others.
	ByName     map[string]*ValuePlan
	Additional *ValuePlan
	// Names are those of ByName, sorted.
	Names []string
	// Keys check the keys of a map.
	Keys []Evaluator
	// IsMap: paths hold keys in brackets, as in data[key].
	IsMap bool
	// IsResource: the object has apiVersion, kind and metadata, which pruning keeps and no Additional is about.
	IsResource bool
}

// A Part is one field of an object.
type Part struct {
	Name string
	*ValuePlan
	// Required: it is a fault if the field has no value. A zero number or false is a value.
	Required bool
	// RequiredDetail is what the fault says beyond that.
	RequiredDetail string
	RequiredWhen   *RequiredWhen // nil: nothing makes it required
	// CheckAbsent: an object that is left out is checked as an empty one, since some of its fields are required.
	CheckAbsent bool
}

// An ImmutablePart is a field that may not change as a whole; or, if Parts is set, one some of whose fields may not.
type ImmutablePart struct {
	*Field
	Parts *Parts
}

// A FeaturedPart is a field that belongs to a feature; or, if Parts is set, one some of whose fields do.
type FeaturedPart struct {
	Name    string
	Feature string
	Parts   *Parts
	Shape   Shape // of the field whose Parts these are
}

// KnownKeys lists the keys of an object in their order, among them all that have plans. It sorts nothing if
// the object has about as many fields as the plan, and is not to be changed.
func (p *Parts) KnownKeys(t tree.Tree) []string {
	const sparse = 4 // beyond this many names for each key it is cheaper to sort the keys
	if p.Additional == nil && len(p.Names) > 0 && len(p.Names) <= sparse*len(t) {
		return p.Names
	}
	return t.SortedKeys()
}

// Child is the plan of a field or an entry; nil if there is none.
func (p *Parts) Child(name string) *ValuePlan {
	if p == nil {
		return nil
	}
	if child := p.ByName[name]; child != nil {
		return child
	}
	return p.Additional
}

// Absence says which values count as left out.
type Absence uint8

// The absences.
const (
	AbsentIfMissing Absence = iota // only what is not there
	AbsentIfNull                   // and null
	AbsentIfZero                   // and "", 0, false
)

// ResourceFields are what a resource says of itself, whether its plan lists it or not.
var ResourceFields = []string{"apiVersion", "kind", "metadata"}

// IsResourceField tells the fields that every object with kind and metadata has.
func IsResourceField(name string) bool { return slices.Contains(ResourceFields, name) }

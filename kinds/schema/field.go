package schema

// A Field is one field of a message.
type Field struct {
	Name string // JSON name
	Doc  string
	Type Type
	// Shape tells a single value from a list or a map (keys are always text) of values of Type.
	Shape Shape
	// Message is set for TypeMessage; and for TypeRaw if the value is that of one of the
	// fields of the message, whichever fits.
	Message *Message
	// Wire holds the field numbers on the way from the enclosing message to the field:
	// one for a plain field; more where it lies inside an inlined message.
	Wire []int32
	// EmitEmpty: encoders write the field even when it is empty ("" , 0, false, {} or null for lists).
	EmitEmpty bool
	// WireEmitEmpty is the same for Protobuf: every single value that is no pointer and no
	// bytes is written there, even when it is zero, or empty, or left out of JSON.
	// Repeated scalars are never packed.
	WireEmitEmpty bool
	// Pointer: an explicit zero value differs from an absent one and is kept.
	Pointer bool

	ListType    ListType
	ListMapKeys []string
	MapAtomic   bool // map, message or each item of a list with keys is owned as a whole
	// MergeKey and MergeStrategies drive strategic merge patches: "merge", "replace", "retainKeys".
	MergeKey        string
	MergeStrategies []string

	Documented Presence // whether the published documents call the field required

	Default  any // scalar or empty Tree/[]any in tree form; nil: none
	Required bool
	// RequiredDetail is what the fault of a required field says beyond "Required value".
	RequiredDetail string
	RequiredWhen   *RequiredWhen // nil: nothing makes it required
	Immutable      bool
	Enum           []string
	DocumentedEnum []string // of the published documents, where no Enum is declared
	Min, Max       *int64   // of numbers
	MinLength      int      // of text, in bytes
	MaxLength      int      // 0: no limit
	MaxItems       int      // of lists and maps; 0: no limit
	Pattern        string
	Format         string // name of a format checked by package rules, as in "dns1123Label"
	KeyFormat      string // the same for the keys of a map
	// MayRepeat: repeated items of a list with keys, or of a set, are no fault of the declaration.
	MayRepeat bool
	Empty     Empty  // whether the checks hold for "" and 0
	RangeText string // what the fault of Min and Max says; "": their own words
	// RequiredFields are fields that the message needs here, and not wherever else it is used.
	RequiredFields []string
	// WholeThousandths: amounts are rounded to a multiple of 1m, away from zero, when defaults are filled in.
	WholeThousandths bool
	// Feature is the one that the field belongs to; "": none, the field is always kept.
	Feature string
	// ReservedDomains are domains in which no key of the map may lie.
	ReservedDomains []string
}

// RequiredWhen makes a field required where another field of the same object has one of some values, or, without
// them, any. Detail follows "Required value" in the fault.
type RequiredWhen struct {
	Field  string
	Values []string
	Detail string
}

// OneOf names fields of which an object holds at most one. None is what the fault says if there is none of them; "":
// there may be none. Many is what the fault of each says but the first.
type OneOf struct {
	Fields     []string
	None, Many string
}

// Type is the type of a field's values.
type Type uint8

// The types.
const (
	TypeString Type = iota
	TypeBool
	TypeInt32
	TypeInt64
	TypeDouble
	TypeBytes // base64 text in the tree
	TypeMessage
	TypeTime      // RFC 3339, seconds, UTC
	TypeMicroTime // RFC 3339 with microseconds, UTC
	TypeQuantity
	TypeIntOrString
	TypeRaw      // any JSON (RawExtension)
	TypeDuration // Go duration text
	TypeStrings  // a list of texts, as the value of a map
	TypeFields   // a set of fields (FieldsV1); in the tree it is the text of its JSON object
)

// Shape tells one value from many.
type Shape uint8

// The shapes.
const (
	Single Shape = iota
	List
	Map
)

// Presence is whether the published documents call a field required.
type Presence uint8

// The presences.
const (
	PresenceDerived  Presence = iota // as the other options of the field and its type suggest
	PresenceRequired                 // although the server does without
	PresenceOptional                 // although every object has it
)

// Empty says whether the checks of a field hold for "" and 0.
type Empty uint8

// The ways to look at empty values.
const (
	EmptyByType  Empty = iota // where they differ from a value that is left out
	EmptyChecked              // always, and also where the value is left out
	EmptyAllowed              // never, although they differ from a value that is left out
)

// ListType is how lists merge.
type ListType uint8

// The list types.
const (
	ListAtomic ListType = iota
	ListSet
	ListMap
)

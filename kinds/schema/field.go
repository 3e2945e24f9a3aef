package schema

// A Field is the compiled declaration of one field of a message.
type Field struct {
	Name string // JSON name
	Doc  string
	Type Type
	// Shape distinguishes single values from lists and maps. Map keys are strings.
	Shape Shape
	// Message is set for TypeMessage. It is also set for a TypeRaw whose value may have one of
	// several types, each represented by one field of the message.
	Message *Message
	// Wire lists the Protobuf field numbers on the path from the enclosing message. A field of an
	// inlined message has several.
	Wire []int32
	// EmitEmpty makes the JSON encoder write the field even if it is empty, as "", 0, false, {}, or
	// null for lists.
	EmitEmpty bool
	// WireEmitEmpty makes the Protobuf encoder write the field even if it is empty. It is set for
	// single values except pointers and bytes.
	WireEmitEmpty bool
	// Pointer means that an explicit zero value differs from an absent one.
	Pointer bool

	ListType    ListType
	ListMapKeys []string
	MapAtomic   bool // the whole map, message or list item has one owner
	// MergeKey and MergeStrategies control strategic merge patches. The strategies are "merge",
	// "replace" and "retainKeys".
	MergeKey        string
	MergeStrategies []string

	Documented Presence // required in the published documents

	Default  any // scalar, or an empty Tree or []any; nil for none
	Required bool
	// RequiredDetail is appended to the message "Required value".
	RequiredDetail string
	RequiredWhen   *RequiredWhen // nil if unconditional
	Immutable      bool
	Enum           []string
	DocumentedEnum []string // published in addition to Enum
	Min, Max       *int64   // for numbers
	MinLength      int      // for strings, in bytes
	MaxLength      int      // 0 for no limit
	MaxItems       int      // for lists and maps; 0 for no limit
	Pattern        string
	Format         string // name of a format checked by package rules, as in "dns1123Label"
	KeyFormat      string // format of map keys
	// MayRepeat allows duplicates in a keyed list or set.
	MayRepeat bool
	Empty     Empty  // whether the checks apply to "" and 0
	RangeText string // error message for Min or Max; "" for the default
	// RequiredFields lists fields of Message that are required here, but not in its other uses.
	RequiredFields []string
	// WholeThousandths makes defaulting round quantities away from zero to multiples of 1m.
	WholeThousandths bool
	// Feature is the feature gate of the field, or empty.
	Feature string
	// ReservedDomains lists the domains that map keys may not use.
	ReservedDomains []string
}

// RequiredWhen makes a field required if another field of the object has one of Values, or any
// value if Values is empty. Detail is appended to the message "Required value".
type RequiredWhen struct {
	Field  string
	Values []string
	Detail string
}

// OneOf is a group of mutually exclusive fields. None is the error message if all are absent, or
// empty if that is allowed. If several are set, Many is the error message for all but the first.
type OneOf struct {
	Fields     []string
	None, Many string
}

// Type is the data type of a field.
type Type uint8

const (
	TypeString Type = iota
	TypeBool
	TypeInt32
	TypeInt64
	TypeDouble
	TypeBytes // base64 string in the tree
	TypeMessage
	TypeTime      // RFC 3339, seconds, UTC
	TypeMicroTime // RFC 3339 with microseconds, UTC
	TypeQuantity
	TypeIntOrString
	TypeRaw      // any JSON (RawExtension)
	TypeDuration // Go duration string
	TypeStrings  // list of strings as a map value
	TypeFields   // field set (FieldsV1), as a JSON string in the tree
)

// Shape defines whether a field is a single value, a list or a map.
type Shape uint8

const (
	Single Shape = iota
	List
	Map
)

// Presence defines whether the published OpenAPI documents mark a field as required.
type Presence uint8

const (
	PresenceDerived  Presence = iota // derived from type and other options
	PresenceRequired                 // although the server does not require it
	PresenceOptional                 // although every object has it
)

// Empty defines whether validation of a field applies to "" and 0.
type Empty uint8

const (
	EmptyByType  Empty = iota // if they differ from an absent value
	EmptyChecked              // always, and also if the value is absent
	EmptyAllowed              // never, although they differ from an absent value
)

// ListType defines how server-side apply merges a list.
type ListType uint8

const (
	ListAtomic ListType = iota
	ListSet
	ListMap
)

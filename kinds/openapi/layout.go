package openapi

import "google.golang.org/protobuf/encoding/protowire"

// The messages of both versions that differ in numbers only, and how slots are written.

func fieldPath(numbers ...protowire.Number) []protowire.Number { return numbers }

func stringAt(n protowire.Number) fieldMapping {
	return fieldMapping{path: fieldPath(n), kind: kindString}
}
func boolAt(n protowire.Number) fieldMapping { return fieldMapping{path: fieldPath(n), kind: kindBool} }
func int64At(n protowire.Number) fieldMapping {
	return fieldMapping{path: fieldPath(n), kind: kindInt64}
}
func doubleAt(n protowire.Number) fieldMapping {
	return fieldMapping{path: fieldPath(n), kind: kindDouble}
}
func anyAt(n protowire.Number) fieldMapping { return fieldMapping{path: fieldPath(n), kind: kindAny} }

func messageAt(l *layout, numbers ...protowire.Number) fieldMapping {
	return fieldMapping{path: numbers, kind: kindMessage, layout: l}
}

func pickAt(pick func(any) fieldMapping, numbers ...protowire.Number) fieldMapping {
	return fieldMapping{path: numbers, pick: pick}
}

// mapMessage is a message of nothing but entries, in its field 1.
func mapMessage(value fieldMapping) *layout { return &layout{entriesNumber: 1, entries: &value} }

// isReference tells the objects that only point to another.
func isReference(v any) bool {
	o, ok := v.(object)
	return ok && o.get("$ref") != nil
}

// securityRequirement names schemes and their scopes.
var securityRequirement = mapMessage(fieldMapping{path: fieldPath(entryValue), kind: kindStrings})

package openapi

import "google.golang.org/protobuf/encoding/protowire"

// The messages of both versions that differ in numbers only, and how slots are written.

func way(numbers ...protowire.Number) []protowire.Number { return numbers }

func textAt(n protowire.Number) slot    { return slot{way: way(n), form: formText} }
func flagAt(n protowire.Number) slot    { return slot{way: way(n), form: formFlag} }
func integerAt(n protowire.Number) slot { return slot{way: way(n), form: formInteger} }
func numberAt(n protowire.Number) slot  { return slot{way: way(n), form: formNumber} }
func anyAt(n protowire.Number) slot     { return slot{way: way(n), form: formAny} }

func messageAt(l *layout, numbers ...protowire.Number) slot {
	return slot{way: numbers, form: formMessage, layout: l}
}

func pickAt(pick func(any) slot, numbers ...protowire.Number) slot {
	return slot{way: numbers, pick: pick}
}

// keyed is a message of nothing but entries, in its field 1.
func keyed(value slot) *layout { return &layout{entriesNumber: 1, entries: &value} }

// isReference tells the objects that only point to another.
func isReference(v any) bool {
	o, ok := v.(object)
	return ok && o.get("$ref") != nil
}

// securityRequirement names schemes and their scopes.
var securityRequirement = keyed(slot{way: way(entryValue), form: formTexts})

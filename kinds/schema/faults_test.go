package schema

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestFaults(t *testing.T) {
	tests := []struct {
		report  func(f *Faults)
		cause   meta.CauseType
		message string
	}{
		{func(f *Faults) { f.Required("p") }, meta.CauseRequired, "Required value"},
		{func(f *Faults) { f.Required("p", "why") }, meta.CauseRequired, "Required value: why"},
		{func(f *Faults) { f.Invalid("p", `a"b`, "why") }, meta.CauseInvalid, `Invalid value: "a\"b": why`},
		{func(f *Faults) { f.Invalid("p", int64(-1), "why") }, meta.CauseInvalid, "Invalid value: -1: why"},
		{func(f *Faults) { f.Invalid("p", nil, "why") }, meta.CauseInvalid, "Invalid value: null: why"},
		{func(f *Faults) { f.InvalidOmitValue("p", "why") }, meta.CauseInvalid, "Invalid value: why"},
		{func(f *Faults) { f.Forbidden("p", "why") }, meta.CauseForbidden, "Forbidden: why"},
		{func(f *Faults) { f.Duplicate("p", "a") }, meta.CauseDuplicate, `Duplicate value: "a"`},
		{func(f *Faults) { f.NotFound("p", "a") }, meta.CauseNotFound, `Not found: "a"`},
		{func(f *Faults) { f.NotSupported("p", "c", []string{"a", "b"}) }, meta.CauseNotSupported, `Unsupported value: "c": supported values: "a", "b"`},
		{func(f *Faults) { f.TooLong("p", 9) }, meta.CauseTooLong, "Too long: may not be more than 9 bytes"},
		{func(f *Faults) { f.TooMany("p", 3, 2) }, meta.CauseTooMany, "Too many: 3: must have at most 2 items"},
	}
	for _, test := range tests {
		var f Faults
		test.report(&f)
		want := meta.Cause{Type: test.cause, Message: test.message, Field: "p"}
		if len(f.List) != 1 || f.List[0] != want {
			t.Errorf("got %+v, want %+v", f.List, want)
		}
	}
}

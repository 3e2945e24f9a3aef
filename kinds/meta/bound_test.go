package meta

import (
	"strings"
	"testing"
)

func TestBounded(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	small := &Status{Message: "m", Details: &Details{Name: "n", Causes: []Cause{{Message: "c", Field: "f"}}}}
	if small.Bounded() != small {
		t.Error("a small Status is copied")
	}
	many := &Status{Details: &Details{}}
	for range 3000 {
		many.Details.Causes = append(many.Details.Causes, Cause{Message: strings.Repeat("m", 50), Field: "f"})
		many.Message += strings.Repeat("m", 50)
	}
	if many.Bounded() != many {
		t.Error("a message that repeats its causes is truncated")
	}
	causes := []Cause{{Message: "a"}, {Message: long, Field: long}}
	s := &Status{Code: 422, Message: long, Details: &Details{Name: long, Kind: "K", Causes: causes}}
	got := s.Bounded()
	if len(causes[1].Message) != len(long) || len(s.Message) != len(long) || len(s.Details.Name) != len(long) {
		t.Error("the Status itself is changed")
	}
	c := got.Details.Causes
	if got.Code != 422 || got.Details.Kind != "K" || len(c) != 2 || c[0].Message != "a" {
		t.Errorf("something else is changed: %d %q %d", got.Code, got.Details.Kind, len(c))
	}
	for name, text := range map[string]string{"name": got.Details.Name, "message of a cause": c[1].Message, "field": c[1].Field} {
		if len(text) > maxText+3 || !strings.HasPrefix(long, strings.TrimSuffix(text, "...")) {
			t.Errorf("the %s has %d bytes", name, len(text))
		}
	}
	if bare := (&Status{Message: long}).Bounded(); len(bare.Message) > maxText+3 || !strings.HasSuffix(bare.Message, "...") {
		t.Errorf("the message has %d bytes", len(bare.Message))
	}
}

package admissionpolicy

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAnnotationsAreBounded(t *testing.T) {
	n := annotations{}
	for i := range 1000 {
		n.add("k", strings.Repeat("é", 6000+i))
		n.add("k", strings.Repeat("x", i))
	}
	text := strings.Join(n["k"].texts, separator)
	if len(text) > maxAnnotation || len(text) < maxAnnotation/2 || !utf8.ValidString(text) {
		t.Errorf("%d bytes, valid: %t", len(text), utf8.ValidString(text))
	}
	if n.add("k", ""); len(n["k"].texts[0]) != maxValue {
		t.Errorf("the first value has %d bytes", len(n["k"].texts[0]))
	}
}

package extension

import (
	"fmt"
	"testing"
)

// FuzzCEL compares the evaluation of any expression with the reference implementation. Expressions
// that do not compile must be rejected by both.
func FuzzCEL(f *testing.F) {
	for library, forms := range calls {
		for _, form := range forms {
			f.Add(fmt.Sprintf(form, fmt.Sprintf("%q", texts[library][0])))
		}
	}
	for _, all := range others {
		for _, text := range all {
			f.Add(text)
		}
	}
	compare := comparer(f)
	f.Fuzz(func(t *testing.T, text string) {
		ours, reference := compare(text)
		if (ours.compile == "") != (reference.compile == "") {
			t.Fatalf("%q\n ours      %v\n reference %v", text, ours, reference)
		}
		if ours.compile == "" && (ours.value != reference.value || (ours.fault == "") != (reference.fault == "")) {
			t.Errorf("%q\n ours      %v\n reference %v", text, ours, reference)
		}
	})
}

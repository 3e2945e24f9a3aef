package selector

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// FuzzSelectors checks that any string is either rejected with 400 or usable as a selector.
func FuzzSelectors(f *testing.F) {
	for _, s := range []string{"", "a", "!a", "a in (b,c),d!=e", "a>1", "metadata.name=a", `x!=\,`, "a in ("} {
		f.Add(s)
	}
	k := &schema.Kind{}
	k.Stored = k
	object := &meta.Object{Key: meta.Key{Name: "a"}}
	f.Fuzz(func(t *testing.T, s string) {
		labels, err := ParseLabels(s)
		if err != nil && meta.AsStatus(err).Code != 400 {
			t.Errorf("%q: %v", s, err)
		}
		labels.Matches(meta.Labels{{Key: "a", Value: "b"}})
		if again, err := ParseLabels(labels.String()); err != nil || !reflect.DeepEqual(again.Requirements(), labels.Requirements()) {
			t.Errorf("%q: %q is read as %v, %v", s, labels, again, err)
		}
		fields, err := ParseFields(k, s)
		if err != nil && meta.AsStatus(err).Code != 400 {
			t.Errorf("%q: %v", s, err)
		}
		fields.Matches(object)
	})
}

package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestAttachErrors(t *testing.T) {
	b, err := compileBuiltIns(meta.Platform, nil) // not the shared catalog, because attaching changes the kinds
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		kinds []schema.Behavior
		want  string
	}{
		"unknown kind":         {[]schema.Behavior{{Name: "batch/v1/Jobs"}}, "batch/v1/Jobs has functions but is not declared"},
		"no group":             {[]schema.Behavior{{Name: "v1/Pod"}}, `"v1/Pod" is not group/version/Kind`},
		"listed twice":         {[]schema.Behavior{{Name: "batch/v1/Job"}, {Name: "batch/v1/Job"}}, "batch/v1/Job is listed twice"},
		"unknown sub-resource": {[]schema.Behavior{{Name: "batch/v1/Job", Views: schema.Views{"size": schema.View{}}}}, "Job has no sub-resource size"},
		"no conversion":        {[]schema.Behavior{{Name: "events.platform.io/v1/Event"}}, "v1 Event is stored in another version and has no conversion"},
	} {
		kinds := append(slices.Clone(test.kinds), b.kindsWithFunctions(nil)...)
		if name == "no conversion" {
			kinds = test.kinds
		}
		if err := b.attachFunctions(kinds); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestScale(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "apps", "v1", "Deployment")
	for replicas, want := range map[string][]string{"-1": {"spec.replicas: Invalid value: -1: must be greater than or equal to 0"}, "3": nil} {
		obj := Parse(t, `{"spec":{"replicas":1}}`)
		var faults schema.Faults
		if err := k.Subresource("scale").View.Write(obj, Parse(t, `{"spec":{"replicas":`+replicas+`}}`), "", &faults); err != nil {
			t.Fatal(err)
		}
		Expect(t, replicas, Lines(faults.List), want)
	}
}

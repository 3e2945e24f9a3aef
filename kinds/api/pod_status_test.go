package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestTerminatedContainers: whether a terminated container may restart depends on Pod, container
// and exit code.
func TestTerminatedContainers(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	for _, c := range []struct {
		spec, list, code string
		passes           bool
	}{
		{`"restartPolicy":"Never"`, "containerStatuses", "1", false},
		{`"restartPolicy":"OnFailure"`, "containerStatuses", "1", true},
		{`"restartPolicy":"OnFailure"`, "containerStatuses", "0", false},
		{`"restartPolicy":"Always"`, "containerStatuses", "0", true},
		{`"restartPolicy":"Never","initContainers":[{"name":"c2","image":"i","restartPolicy":"Always"}]`, "initContainerStatuses", "0", true},
	} {
		old := createdPod(t, k, c.spec)
		name := "c"
		if c.list == "initContainerStatuses" {
			name = "c2"
		}
		old.Object("status")[c.list] = []any{Parse(t, `{"name":"`+name+`","state":{"terminated":{"exitCode":`+c.code+`}}}`)}
		_, faults := writeSubresource(t, k, "status", old, `{"status":{"qosClass":"BestEffort","`+c.list+`":[{"name":"`+name+`","state":{"running":{}}}]}}`)
		if (len(faults) == 0) != c.passes {
			t.Errorf("%s, ended with %s: %v", c.spec, c.code, faults)
		}
	}
}

package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestStatusIPs: only new addresses are validated.
func TestStatusIPs(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	for status, want := range map[string]int{
		`"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"hostIP":"::ffff:10.0.0.9","hostIPs":[{"ip":"::ffff:10.0.0.9"}]`: 0,
		`"podIP":"kept","podIPs":[{"ip":"kept"}]`:                                                 0,
		`"podIP":"new","podIPs":[{"ip":"new"}]`:                                                   1,
		`"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"::ffff:10.0.0.2"}]`:                1,
		`"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.2"}]`:                                       1,
		`"hostIPs":[{"ip":"10.0.0.2"}]`:                                                           1,
		`"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"},{"ip":"fe80::1%eth"}]`: 2,
	} {
		old := createdPod(t, k, "")
		old.Object("status")["podIPs"] = []any{Parse(t, `{"ip":"kept"}`)}
		_, faults := writeSubresource(t, k, "status", old, `{"status":{`+status+`}}`)
		if len(faults) != want {
			t.Errorf("%s: %v, want %d faults", status, faults, want)
		}
	}
}

package admissionpolicy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
)

func TestSeries(t *testing.T) {
	m := NewMetrics()
	m.validating.observe("p", "b", decision{denies: true, message: "no", elapsed: 20 * time.Millisecond}, "deny")
	m.validating.observe("p", "b", decision{denies: true, failed: true, message: "compilation error: x"}, "deny")
	m.validating.observe("p", "b", decision{failed: true, message: cel.ErrOutOfBudget.Error()}, "allow")
	for i := range 3 * maxSeries {
		m.mutating.observe(fmt.Sprint(i), "b", decision{}, "")
	}
	var b strings.Builder
	m.WriteMetrics(&b)
	for _, want := range []string{
		`check_total{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="b"} 1`,
		`check_duration_seconds_bucket{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="b",le="0.01"} 0`,
		`check_duration_seconds_bucket{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="b",le="0.1"} 1`,
		`check_total{enforcement_action="deny",error_type="compile_error",policy="p",policy_binding="b"} 1`,
		`check_total{enforcement_action="allow",error_type="out_of_budget",policy="p",policy_binding="b"} 1`,
		fmt.Sprintf(`apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="",policy_binding=""} %d`, 2*maxSeries),
	} {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if n := m.mutating.took.Len(); n != maxSeries+1 {
		t.Errorf("%d series", n)
	}
}

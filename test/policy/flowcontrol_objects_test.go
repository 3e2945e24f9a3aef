package policy

import (
	"slices"
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/utils/ptr"
)

const annotation = flowcontrolv1.AutoUpdateAnnotationKey

// TestObjects checks that a new server has the mandatory and suggested objects of Kubernetes 1.37,
// and that each FlowSchema's priority level exists.
func TestObjects(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	levels := must(s.PriorityLevelConfigurations().List(t.Context(), metav1.ListOptions{}))(t).Items
	for _, want := range slices.Concat(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations) {
		i := slices.IndexFunc(levels, func(l flowcontrolv1.PriorityLevelConfiguration) bool { return l.Name == want.Name })
		if i < 0 || show(levels[i].Spec) != show(want.Spec) || levels[i].Annotations[annotation] != "true" || levels[i].Generation != 1 {
			t.Errorf("level %s: %v", want.Name, i)
		}
	}
	wanted := slices.Concat(bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas)
	for _, want := range wanted {
		var got *flowcontrolv1.FlowSchema
		eventually(t, want.Name, func() bool {
			got = must(s.FlowSchemas().Get(t.Context(), want.Name, metav1.GetOptions{}))(t)
			return dangling(got) == "False Found"
		})
		if show(got.Spec) != show(want.Spec) || got.Annotations[annotation] != "true" {
			t.Errorf("schema %s: %s, want %s", want.Name, show(got.Spec), show(want.Spec))
		}
	}
	if n := len(must(s.FlowSchemas().List(t.Context(), metav1.ListOptions{}))(t).Items); n != len(wanted) || len(levels) != 8 {
		t.Errorf("%d schemas, %d levels", n, len(levels))
	}
}

// TestDangling checks that a FlowSchema's Dangling condition follows the creation and deletion of
// its priority level.
func TestDangling(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	must(s.FlowSchemas().Create(t.Context(), schemaFor("mine", "later", 7000, "jane"), metav1.CreateOptions{}))(t)
	expect := func(want string) {
		t.Helper()
		eventually(t, want, func() bool {
			return dangling(must(s.FlowSchemas().Get(t.Context(), "mine", metav1.GetOptions{}))(t)) == want
		})
	}
	expect("True NotFound")
	if a := s.as(t.Context(), t, "jane", "GET", "/version"); a.header.Get(levelHeader) != string(s.level(t, "global-default")) {
		t.Errorf("a schema without a level counts: %v", a.header)
	}
	must(s.PriorityLevelConfigurations().Create(t.Context(), levelWith("later", 10, 0, 0), metav1.CreateOptions{}))(t)
	if a := s.as(t.Context(), t, "jane", "GET", "/version"); a.header.Get(levelHeader) != string(s.level(t, "later")) {
		t.Errorf("the level does not count once it was answered: %v", a.header)
	}
	expect("False Found")
	if err := s.PriorityLevelConfigurations().Delete(t.Context(), "later", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("True NotFound")
}

// TestMaintenance checks that the server restores the objects that it manages, except for changes
// that operators may make.
func TestMaintenance(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	ctx := t.Context()
	level := func(name string) *flowcontrolv1.PriorityLevelConfiguration {
		l, err := s.PriorityLevelConfigurations().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return &flowcontrolv1.PriorityLevelConfiguration{}
		}
		return l
	}
	for _, name := range []string{"catch-all", "exempt", "workload-low"} {
		was := level(name).UID
		if err := s.PriorityLevelConfigurations().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" is made again", func() bool { uid := level(name).UID; return uid != "" && uid != was })
	}
	patch := func(name, change string) {
		t.Helper()
		must(s.PriorityLevelConfigurations().Patch(ctx, name, types.MergePatchType, []byte(change), metav1.PatchOptions{}))(t)
	}
	const shares = `"spec":{"limited":{"nominalConcurrencyShares":77}}`
	patch("system", `{`+shares+`}`)
	eventually(t, "the suggested spec is restored", func() bool { return *level("system").Spec.Limited.NominalConcurrencyShares == 30 })
	patch("node-high", `{"metadata":{"annotations":{"`+annotation+`":"false"}},`+shares+`}`)
	patch("workload-high", `{"metadata":{"annotations":{"`+annotation+`":null}},`+shares+`}`)
	eventually(t, "a changed object without the annotation is left alone, and says so", func() bool { return level("workload-high").Annotations[annotation] == "false" })
	patch("leader-election", `{"metadata":{"annotations":{"`+annotation+`":"perhaps"}}}`)
	eventually(t, "an unchanged object gets the annotation back", func() bool { return level("leader-election").Annotations[annotation] == "true" })
	patch("exempt", `{"metadata":{"annotations":{"`+annotation+`":"false"}},"spec":{"exempt":{"nominalConcurrencyShares":3}}}`)
	eventually(t, "mandatory objects cannot opt out", func() bool { return level("exempt").Annotations[annotation] == "true" })
	unwanted := levelWith("of-an-older-release", 1, 0, 0)
	unwanted.Annotations = map[string]string{annotation: "true"}
	must(s.PriorityLevelConfigurations().Create(ctx, unwanted, metav1.CreateOptions{}))(t)
	eventually(t, "what is maintained no longer goes", func() bool { return level(unwanted.Name).UID == "" })
	for _, name := range []string{"node-high", "workload-high"} {
		if got := *level(name).Spec.Limited.NominalConcurrencyShares; got != 77 {
			t.Errorf("%s has %d shares again", name, got)
		}
	}
	if got := *level("exempt").Spec.Exempt.NominalConcurrencyShares; got != 3 {
		t.Errorf("exempt has %d shares again", got)
	}
}

// TestRejectedObjects checks the errors for objects that flow control cannot enforce.
func TestRejectedObjects(t *testing.T) {
	t.Parallel()
	s := serveFlowControl(t, nil)
	all := levelWith("huge", 1, 1_000_000_000, 10)
	_, err := s.PriorityLevelConfigurations().Create(t.Context(), all, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.limited.limitResponse.queuing.queues: Invalid value: 1000000000: must not be greater than 10000000") {
		t.Errorf("1e9 queues: %v", err)
	}
	hand := levelWith("hand", 1, 2, 10)
	hand.Spec.Limited.LimitResponse.Queuing.HandSize = 3
	if _, err := s.PriorityLevelConfigurations().Create(t.Context(), hand, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a hand of more queues than there are: %v", err)
	}
	first := schemaFor("first", "exempt", 1, "jane")
	if _, err := s.FlowSchemas().Create(t.Context(), first, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("before exempt: %v", err)
	}
	catchAll := must(s.FlowSchemas().Get(t.Context(), "catch-all", metav1.GetOptions{}))(t)
	catchAll.Spec.MatchingPrecedence = 3
	if _, err := s.FlowSchemas().Update(t.Context(), catchAll, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "must equal the fixed value") {
		t.Errorf("another catch-all: %v", err)
	}
	level := levelWith("plain", 0, 0, 0)
	level.Spec.Limited.NominalConcurrencyShares = nil
	if got := must(s.PriorityLevelConfigurations().Create(t.Context(), level, metav1.CreateOptions{}))(t); ptr.Deref(got.Spec.Limited.NominalConcurrencyShares, 0) != 30 {
		t.Errorf("defaults: %s", show(got.Spec))
	}
}

package policy_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

type fakeObjects struct {
	labels  map[string]string
	pods    []podsecurity.ExistingPod
	decoded int // number of decoded Pods
}

func (o *fakeObjects) GetMeta(_ meta.GroupResource, _, name string) (meta.ObjectMeta, bool) {
	return meta.ObjectMeta{Labels: meta.NewLabels(o.labels)}, name == "n"
}

func (o *fakeObjects) Pods(string) []podsecurity.ExistingPod { return o.pods }

func (o *fakeObjects) add(name, controller, class string, privileged bool) {
	o.pods = append(o.pods, podsecurity.ExistingPod{Name: name, Controller: controller, Decode: func() tree.Tree {
		o.decoded++
		c := tree.Tree{"name": "c", "securityContext": tree.Tree{"privileged": privileged}}
		return tree.Tree{"spec": tree.Tree{"runtimeClassName": class, "containers": []any{c}}}
	}})
}

var baseline = podsecurity.LevelVersion{Level: podsecurity.Baseline}

func newAdmission(o podsecurity.Objects, naming *meta.Naming) *podsecurity.Admission {
	return podsecurity.New(podsecurity.Configuration{
		Exemptions: podsecurity.Exemptions{RuntimeClasses: []string{"exempt"}, Usernames: []string{"root"}},
	}, naming, o)
}

func TestCheckPodsBounds(t *testing.T) {
	o := &fakeObjects{}
	for i := range 3500 {
		o.add(fmt.Sprintf("of-one-%04d", i), "one", "", false)
	}
	o.add("exempt", "", "exempt", true)
	o.add("of-another", "another", "", true)
	a := newAdmission(o, meta.Platform)
	got := a.CheckPods(t.Context(), "n", baseline)
	want := []string{
		"new PodSecurity enforce level only checked against the first 3000 of 3501 existing pods",
		`existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"`,
		"of-another: privileged",
	}
	if !slices.Equal(got, want) || o.decoded != 3001 {
		t.Errorf("%d decoded: %q", o.decoded, got)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	o.decoded = 0
	got = a.CheckPods(ended, "n", baseline)
	want = []string{"new PodSecurity enforce level only checked against the first 1 of 3502 existing pods"}
	if !slices.Equal(got, want) || o.decoded != 1 {
		t.Errorf("%d decoded: %q", o.decoded, got)
	}
}

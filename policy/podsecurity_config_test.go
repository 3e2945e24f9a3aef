package policy_test

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

func TestConfiguration(t *testing.T) {
	full := podsecurity.Configuration{
		Defaults: podsecurity.Policy{
			Enforce: podsecurity.LevelVersion{Level: podsecurity.Baseline, Version: podsecurity.MinorVersion(20)},
			Warn:    podsecurity.LevelVersion{Level: podsecurity.Restricted},
		},
		Exemptions: podsecurity.Exemptions{
			Usernames: []string{"jane", "system:node"}, Namespaces: []string{"team-a"}, RuntimeClasses: []string{"a.b"},
		},
	}
	for name, texts := range readCases[map[string][]string](t, "podsecurity/configurations") {
		naming, want := meta.Platform, full
		switch name {
		case "empty":
			want = podsecurity.Configuration{}
		case "kubernetes":
			naming = meta.Kubernetes
		}
		for _, text := range texts {
			if got := podsecurity.NewConfiguration(must.Get(decodeConfig(t, naming, "PodSecurity", text))(t)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q: %+v", text, got)
			}
		}
	}
	checkFaults(t, "podsecurity/faults", func(text string) error {
		_, err := decodeConfig(t, meta.Platform, "PodSecurity", text)
		return err
	})
	if got := podsecurity.NewConfiguration(nil); fmt.Sprint(got) != fmt.Sprint(podsecurity.Configuration{}) {
		t.Errorf("no configuration: %+v", got)
	}
}

func TestParseVersion(t *testing.T) {
	for want, versions := range readCases[map[string][]string](t, "podsecurity/versions") {
		for _, text := range versions {
			v, err := podsecurity.ParseVersion(text)
			switch {
			case want == "invalid" && (err == nil || err.Error() != `must be "latest" or "v1.x"` || v != podsecurity.Version{}):
				t.Errorf("%q: %v, %v", text, v, err)
			case want == "valid" && (err != nil || v.String() != text):
				t.Errorf("%q: %v, %v", text, v, err)
			}
		}
	}
}

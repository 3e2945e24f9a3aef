package policy_test

import (
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

func TestParseConfiguration(t *testing.T) {
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
			got, err := podsecurity.ParseConfiguration([]byte(text), naming)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %+v, %v", text, got, err)
			}
		}
	}
	checkFaults(t, "podsecurity/faults", func(text string) error {
		_, err := podsecurity.ParseConfiguration([]byte(text), meta.Platform)
		return err
	})
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

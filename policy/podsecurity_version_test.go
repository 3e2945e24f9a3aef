package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"latest": "latest", "v1.0": "v1.0", "v1.35": "v1.35", "v1.100": "v1.100",
		"": "", "v1": "", "v1.": "", "1.35": "", "v2.0": "", "v1.00": "", "v1.01": "", "v1.+1": "", "v1.-1": "",
		"v1.1 ": "", "Latest": "", "v1.99999999999999999999": "",
	} {
		v, err := podsecurity.ParseVersion(text)
		switch {
		case want == "" && (err == nil || err.Error() != `must be "latest" or "v1.x"` || v != podsecurity.Version{}):
			t.Errorf("%q: %v, %v", text, v, err)
		case want != "" && (err != nil || v.String() != want):
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

package policy_test

import (
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func TestParseImagePolicyConfig(t *testing.T) {
	for text, want := range map[string]plugins.ImagePolicyConfig{
		`{"imagePolicy":{"kubeConfigFile":"f"}}`: {KubeConfigFile: "f", AllowTTL: 5 * time.Minute, DenyTTL: 30 * time.Second, RetryBackoff: 500 * time.Millisecond},
		`{"imagePolicy":{"kubeConfigFile":"f","allowTTL":-1,"denyTTL":1,"retryBackoff":-1,"defaultAllow":true}}`: {
			KubeConfigFile: "f", DenyTTL: time.Second, DefaultAllow: true},
	} {
		if got, err := plugins.ParseImagePolicyConfig(parseTree(t, text)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	checkFaults(t, "admission/imagepolicy", func(text string) error {
		_, err := plugins.ParseImagePolicyConfig(parseTree(t, text))
		return err
	})
}

package policy_test

import (
	"strings"
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
	for text, want := range map[string]string{
		`{}`:                 "imagePolicy: is required",
		`{"imagePolicy":{}}`: "imagePolicy.kubeConfigFile: is required",
		`{"imagePolicy":{"kubeConfigFile":"f","allowTTL":1801}}`:                "imagePolicy.allowTTL: valid value is between 1s and 30m0s",
		`{"imagePolicy":{"kubeConfigFile":"f","denyTTL":-2}}`:                   "imagePolicy.denyTTL: valid value",
		`{"imagePolicy":{"kubeConfigFile":"f","denyTTL":"1s"}}`:                 "imagePolicy.denyTTL: must be a whole number",
		`{"imagePolicy":{"kubeConfigFile":"f","retryBackoff":300001}}`:          "imagePolicy.retryBackoff: valid value is between 1ms and 5m0s",
		`{"imagePolicy":{"kubeConfigFile":"f","defaultAllow":"yes"}}`:           "imagePolicy.defaultAllow: must be true or false",
		`{"imagePolicy":{"kubeConfigFile":"f","allowTtl":1}}`:                   "imagePolicy.allowTtl: unknown field",
		`{"imagePolicy":{"kubeConfigFile":"f"},"other":{"kubeConfigFile":"f"}}`: "other: unknown field",
	} {
		if _, err := plugins.ParseImagePolicyConfig(parseTree(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

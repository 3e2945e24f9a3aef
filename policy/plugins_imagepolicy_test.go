package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestImagePolicyConfig(t *testing.T) {
	for text, want := range map[string]string{
		`{"imagePolicy":{"kubeConfigFile":"f"}}`: `{"imagePolicy":{"allowTTL":300,"denyTTL":30,"kubeConfigFile":"f","retryBackoff":500}}`,
		`{"imagePolicy":{"kubeConfigFile":"f","allowTTL":-1,"denyTTL":1,"retryBackoff":-1,"defaultAllow":true}}`: `{"imagePolicy":{"allowTTL":-1,"defaultAllow":true,"denyTTL":1,"kubeConfigFile":"f","retryBackoff":-1}}`,
	} {
		if got := canonical(must.Get(decodeConfig(t, meta.Platform, "ImagePolicyWebhook", text))(t)); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	checkFaults(t, "admission/imagepolicy", func(text string) error {
		_, err := decodeConfig(t, meta.Platform, "ImagePolicyWebhook", text)
		return err
	})
}

package webhook

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/config"
)

// ParseConfig returns the kubeconfig path from a WebhookAdmissionConfiguration, or from the
// deprecated WebhookAdmission. The path must be absolute. It is empty if t is nil or has no path.
func ParseConfig(t tree.Tree, naming *meta.Naming) (clientConfigFile string, err error) {
	if t == nil {
		return "", nil
	}
	group := naming.Group("apiserver.config")
	known := []string{
		group + "/v1, WebhookAdmissionConfiguration", group + "/v1alpha1, WebhookAdmission",
		naming.Group("apiserver") + "/v1alpha1, WebhookAdmission",
	}
	if is := t.String("apiVersion") + ", " + t.String("kind"); !slices.Contains(known, is) {
		return "", fmt.Errorf("apiVersion, kind: %s: must be one of %q", is, known)
	}
	if err := config.CheckFields(t, "", "apiVersion", "kind", "kubeConfigFile", "clientConfigFile"); err != nil {
		return "", err
	}
	for _, field := range []string{"kubeConfigFile", "clientConfigFile"} {
		if !t.Has(field) {
			continue
		}
		path := t.String(field)
		switch {
		case clientConfigFile != "":
			return "", fmt.Errorf("%s: must not be set together with kubeConfigFile", field)
		case !filepath.IsAbs(path):
			return "", fmt.Errorf("%s: Invalid value: %q: must be an absolute file path", field, path)
		}
		clientConfigFile = path
	}
	return clientConfigFile, nil
}

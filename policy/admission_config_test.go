package policy_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/config"
)

func TestAdmissionConfigLoad(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "limits.yaml", "limits: []")
	for _, c := range readCases[[]struct {
		Text, Plugin, Want string // Want is a field of the parsed configuration
	}](t, "admission/config", "DIR", dir) {
		got, err := config.Load(writeFile(t, dir, "file.yaml", c.Text), meta.Platform)
		if err != nil || (c.Want != "") != got.For(c.Plugin).Has(c.Want) || (got.For(c.Plugin) == nil) != (c.Want == "") {
			t.Errorf("%s: %v, %v", c.Text, got, err)
		}
	}
	checkFaults(t, "admission/config-faults", func(text string) error {
		_, err := config.Load(writeFile(t, dir, "file.yaml", text), meta.Platform)
		if err != nil && !strings.Contains(err.Error(), "file.yaml") {
			t.Errorf("%s: %v does not name the file", text, err)
		}
		return err
	})
	if got, err := config.Load("", meta.Platform); err != nil || got.For("PodSecurity") != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	if _, err := config.Load(writeFile(t, dir, "file.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"), meta.Kubernetes); err != nil {
		t.Errorf("under the other names: %v", err)
	}
}

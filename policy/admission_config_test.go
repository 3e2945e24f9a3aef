package policy_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/config"
)

func TestAdmissionConfigLoad(t *testing.T) {
	dir, kinds := t.TempDir(), must.Get(catalog.New(meta.Platform))(t)
	writeFile(t, dir, "limits.yaml", "{apiVersion: eventratelimit.admission.platform.io/v1alpha1, kind: Configuration, limits: [{type: Server, qps: 1, burst: 2}]}")
	for _, c := range readCases[[]struct {
		Text, Plugin, Want string // Want is a field of the parsed configuration
	}](t, "admission/config", "DIR", dir) {
		got, err := config.Load(writeFile(t, dir, "file.yaml", c.Text), kinds)
		if err != nil || (c.Want != "") != got[c.Plugin].Has(c.Want) || (got[c.Plugin] == nil) != (c.Want == "") {
			t.Errorf("%s: %v, %v", c.Text, got, err)
		}
	}
	checkFaults(t, "admission/config-faults", func(text string) error {
		_, err := config.Load(writeFile(t, dir, "file.yaml", text), kinds)
		if err != nil && !strings.Contains(err.Error(), "file.yaml") {
			t.Errorf("%s: %v does not name the file", text, err)
		}
		return err
	})
	if got, err := config.Load("", kinds); err != nil || got["PodSecurity"] != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	if _, err := config.Load(writeFile(t, dir, "file.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"), must.Get(catalog.New(meta.Kubernetes))(t)); err != nil {
		t.Errorf("under the other names: %v", err)
	}
}

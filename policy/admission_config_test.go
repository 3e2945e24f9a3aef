package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/config"
)

func TestAdmissionConfigLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("limits.yaml", "limits: []")
	const v1 = "apiVersion: apiserver.config.platform.io/v1\nkind: AdmissionConfiguration\n"
	for _, c := range []struct {
		text         string
		plugin, want string // a field of its configuration
		err          string
	}{
		{v1, "PodSecurity", "", ""},
		{v1 + "plugins: [{name: PodSecurity, configuration: {kind: X}}]", "PodSecurity", "kind", ""},
		{v1 + "plugins: [{name: EventRateLimit, path: limits.yaml}]", "EventRateLimit", "limits", ""},
		{v1 + "plugins: [{name: EventRateLimit, path: " + dir + "/limits.yaml}]", "EventRateLimit", "limits", ""},
		{v1 + "plugins: [{name: EventRateLimit}]", "EventRateLimit", "", ""},
		{strings.Replace(v1, "apiserver.config.platform.io/v1", "apiserver.platform.io/v1alpha1", 1) + "plugins: [{name: PodSecurity, configuration: {kind: X}}]", "PodSecurity", "kind", ""},
		{"podNodeSelectorPluginConfig: {a: b}", "PodNodeSelector", "podNodeSelectorPluginConfig", ""},
		{v1 + "plugins: [{name: PodSecurity}, {name: Nobody}]", "", "", `plugins[1].name: "Nobody" is no admission plugin`},
		{v1 + "plugins: [{name: PodSecurity, configuration: {a: 1}}, {name: PodSecurity}]", "", "", `plugins[1].name: "PodSecurity" is there twice`},
		{v1 + "plugins: [{name: PodSecurity, configuraton: {}}]", "", "", `plugins[0].configuraton: unknown field`},
		{v1 + "plugin: []", "", "", `plugin: unknown field`},
		{v1 + "plugins: {}", "", "", `plugins: must be a list`},
		{v1 + "plugins: [{name: PodSecurity, configuration: x}]", "", "", `plugins[0].configuration: must be an object`},
		{v1 + "plugins: [{name: PodSecurity, path: absent}]", "", "", `plugins[0].path: `},
		{"kind: AdmissionConfiguration\napiVersion: v1", "", "", `apiVersion "v1", kind "AdmissionConfiguration": must be`},
		{"kind: AdmissionConfiguration\nkind: x", "", "", `already`},
		{"[]", "", "", `must be an object`},
	} {
		got, err := config.Load(write("file.yaml", c.text), meta.Platform)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "file.yaml") {
				t.Errorf("%s: %v, want %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || (c.want != "") != got.For(c.plugin).Has(c.want) || (got.For(c.plugin) == nil) != (c.want == "") {
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
	}
	if got, err := config.Load("", meta.Platform); err != nil || got.For("PodSecurity") != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	if _, err := config.Load(write("file.yaml", strings.ReplaceAll(v1, "platform.io", "k8s.io")), meta.Kubernetes); err != nil {
		t.Errorf("under the other names: %v", err)
	}
}

package extension

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// fileDefinition is a CRD in a file. VERSIONS stands for more versions.
const fileDefinition = `apiVersion: apiextensions.platform.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-platform-preserve-unknown-fields: true}}}
`

const secondFileVersion = "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n"

// TestDefinitionFiles checks that the kinds of --crds are served from the first request on and
// follow changes of the files. They must outlast both an invalid file and the removal of the file.
func TestDefinitionFiles(t *testing.T) {
	client.InProfiles(t, func(t *testing.T, profile string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "bases", "gadgets.yaml")
		if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		client.WriteFile(t, filepath.Join(dir, "kustomization.yaml"), "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
		write := func(text string) { client.WriteFile(t, file, client.Named(profile, text)) }
		write(fileDefinition)
		config, log := daemon.Default(), &client.Log{}
		config.DataDir, config.Serving.SecurePort, config.Naming = t.TempDir(), 0, profile
		config.API.Definitions, config.TLS.ReloadPeriod = []string{dir}, daemon.Duration(5*time.Millisecond)
		s := client.Session{Server: client.ServeConfig(t, config, log), Ctx: t.Context(), T: t}
		const gadgets = "/apis/example.com/v1/namespaces/default/gadgets"
		s.Send(201, "POST", gadgets, client.JSON, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"one"}}`)
		definition := client.Named(profile, customDefinitions) + "/gadgets.example.com"
		managers := s.Send(200, "GET", definition, "", "").Object().Metadata()["managedFields"].([]any)
		if manager := managers[0].(map[string]any); manager["manager"] != "troupe-crds" || manager["operation"] != "Apply" {
			t.Errorf("the definition is managed by %v", manager)
		}

		logged := func(text string) {
			t.Helper()
			client.Eventually(t, func() error {
				if !strings.Contains(log.String(), text) {
					return errors.New("not logged: " + text)
				}
				return nil
			})
		}
		write(strings.Replace(fileDefinition, "scope: Namespaced", "scope: Sideways", 1))
		logged(`gadgets.yaml:6: CustomResourceDefinition gadgets.example.com: spec.scope: Unsupported value`)
		s.Send(200, "GET", gadgets+"/one", "", "")

		write(fileDefinition + secondFileVersion)
		client.Eventually(t, func() error {
			answer, err := s.Get(t.Context(), strings.Replace(gadgets, "v1", "v2", 1))
			if err == nil && answer.Code != 200 {
				err = &answer
			}
			return err
		})

		if err := os.Rename(file, filepath.Join(dir, "gadgets.yaml.old")); err != nil {
			t.Fatal(err)
		}
		client.WriteFile(t, filepath.Join(dir, "gizmos.yaml"), client.Named(profile, strings.NewReplacer("gadgets", "gizmos", "Gadget", "Gizmo").Replace(fileDefinition)))
		client.Eventually(t, func() error {
			answer, err := s.Get(t.Context(), strings.Replace(gadgets, "gadgets", "gizmos", 1))
			if err == nil && answer.Code != 200 {
				err = &answer
			}
			return err
		})
		s.Send(200, "GET", gadgets+"/one", "", "")
	})
}

// TestInvalidDefinitionFiles checks that startup fails if a CRD in a file cannot be served. The
// error must contain the file, line and field.
func TestInvalidDefinitionFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"value":     {strings.Replace(fileDefinition, "Namespaced", "Sideways", 1), `crds.yaml:6: CustomResourceDefinition gadgets.example.com: spec.scope: Unsupported value: "Sideways"`},
		"field":     {strings.Replace(fileDefinition, "scope:", "scop: x\n  scope:", 1), "crds.yaml:6: CustomResourceDefinition gadgets.example.com: spec.scop: unknown field"},
		"version":   {client.Named("kubernetes", fileDefinition), `crds.yaml:1: CustomResourceDefinition gadgets.example.com: apiVersion: Unsupported value: "apiextensions.k8s.io/v1": supported values: "apiextensions.platform.io/v1"`},
		"type":      {strings.Replace(fileDefinition, "served: true", "served: maybe", 1), "crds.yaml:1: CustomResourceDefinition gadgets.example.com: json: cannot unmarshal string"},
		"names":     {fileDefinition + "---\n" + strings.Replace(fileDefinition, "gadgets", "others", 2), "CustomResourceDefinition others.example.com: spec.names: "},
		"syntax":    {"a: [", "crds.yaml: document 1: "},
		"no kind":   {"a: b", `crds.yaml": apiVersion not set`},
		"no object": {"# empty", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := daemon.Default()
			config.Ephemeral, config.Serving.SecurePort = true, 0
			config.API.Definitions = []string{filepath.Join(t.TempDir(), "crds.yaml")}
			client.WriteFile(t, config.API.Definitions[0], test.text)
			d, err := daemon.New(config, t.Output())
			if err == nil {
				err = d.Start()
			}
			if err == nil {
				err = d.Stop(t.Context())
				if test.want != "" || err != nil {
					t.Errorf("the server starts; stop: %v", err)
				}
				return
			}
			if test.want == "" || !strings.HasPrefix(err.Error(), "--crds: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const commandDeployment = `{"metadata":{"name":"web","labels":{"app":"web"}},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},
	"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"i:1"}]}}}}`

// edit runs troupe edit in a terminal, with a shell script as the editor. The files shown.1 and
// shown.2 contain the editor's input in its first and second run.
func (p *place) edit(script string) *terminal {
	p.T.Helper()
	editor := p.write("editor", `#!/bin/sh
n=1; [ -e shown.1 ] && n=2; [ -e shown.2 ] && n=3
cp "$1" shown.$n
[ -t 0 ] && [ -t 1 ] || echo "no terminal" >shown.$n
`+script)
	c := p.command("edit", "deployment", "web")
	c.Env = append(c.Env, "EDITOR="+editor, "PATH="+filepath.Dir(client.TroupeBinary(p.T))+":"+os.Getenv("PATH"))
	return p.open(80, 24, c)
}

func (p *place) shown(n string) string {
	p.T.Helper()
	text := client.ReadFile(p.T, filepath.Join(p.dir, "shown."+n))
	return string(text)
}

func (p *place) spec() (replicas, image, labels any) {
	p.T.Helper()
	o := p.Send(200, "GET", "/apis/apps/v1/namespaces/default/deployments/web", "", "").Object()
	containers, _ := o.At("spec.template.spec.containers").([]any)
	return o.At("spec.replicas"), containers[0].(map[string]any)["image"], o.At("metadata.labels")
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		code   int
		says   string
		check  func(t *testing.T, p *place)
	}{
		"what is refused comes back with the reason": {
			`if [ $n = 1 ]; then sed -i 's/replicas: 1/replicas: -1/' "$1"; else sed -i 's/replicas: -1/replicas: 4/' "$1"; fi`, 0, "deployment.apps/web edited\n",
			func(t *testing.T, p *place) {
				if first := p.shown("1"); !strings.HasPrefix(first, "# Please edit the object below.") || strings.Contains(first, "managedFields") || strings.Contains(first, "no terminal") {
					t.Errorf("shown first:\n%s", first)
				}
				second := p.shown("2")
				for _, want := range []string{`# The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`, "replicas: -1"} {
					if !strings.Contains(second, want) {
						t.Errorf("no %q in\n%s", want, second)
					}
				}
				if replicas, _, _ := p.spec(); replicas != 4.0 {
					t.Errorf("%v replicas", replicas)
				}
			}},
		"giving up keeps the text": {
			`[ $n = 1 ] && sed -i 's/replicas: 1/replicas: -1/' "$1"; true`, 1, "A copy of your changes has been stored to",
			func(t *testing.T, p *place) {
				if replicas, _, _ := p.spec(); replicas != 1.0 {
					t.Errorf("%v replicas", replicas)
				}
				kept, _ := filepath.Glob(filepath.Join(p.dir, "troupe-edit-*.yaml"))
				if len(kept) != 1 {
					t.Fatalf("kept %v", kept)
				}
				if text, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(text), "replicas: -1") || strings.Contains(string(text), "#") {
					t.Errorf("%s %v", text, err)
				}
			}},
		"no change":            {`true`, 0, "Edit cancelled, no changes made.\n", nil},
		"an empty file":        {`: >"$1"`, 0, "Edit cancelled, no changes made.\n", nil},
		"an editor that fails": {`exit 3`, 1, "there was a problem with the editor", nil},
		"no YAML": {`if [ $n = 1 ]; then echo '	a: [' >>"$1"; else sed -i '$d; s/replicas: 1/replicas: 2/' "$1"; fi`, 0, "deployment.apps/web edited\n",
			func(t *testing.T, p *place) {
				if second := p.shown("2"); !strings.Contains(second, "# error: ") {
					t.Errorf("no reason:\n%s", second)
				}
			}},
		"another name": {`[ $n = 1 ] && sed -i 's/^  name: web/  name: other/' "$1"; true`, 1, "metadata.name cannot be changed in an editor: it was web", nil},
		"others change other fields meanwhile": {
			`sed -i 's/replicas: 1/replicas: 3/' "$1"; troupe patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"i:2"}]}}}}' >/dev/null; troupe label deployment web by=other >/dev/null`, 0, "deployment.apps/web edited\n",
			func(t *testing.T, p *place) {
				replicas, image, labels := p.spec()
				if by := labels.(map[string]any)["by"]; replicas != 3.0 || image != "i:2" || by != "other" {
					t.Errorf("%v replicas, %v, %v", replicas, image, by)
				}
			}},
		"others change the same field meanwhile": {
			`[ $n = 1 ] && sed -i 's/replicas: 1/replicas: 3/' "$1"; [ $n = 1 ] && troupe scale deployment web --replicas=7 >/dev/null; true`, 1, "including spec.replicas",
			func(t *testing.T, p *place) {
				if replicas, _, _ := p.spec(); replicas != 7.0 {
					t.Errorf("%v replicas", replicas)
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "platform")
			p.Send(201, "POST", "/apis/apps/v1/namespaces/default/deployments", client.JSON, commandDeployment)
			term := p.edit(test.script)
			if code := term.end(); code != test.code || !strings.Contains(term.String(), test.says) {
				t.Errorf("exit code %d:\n%s", code, term)
			}
			if test.check != nil {
				test.check(t, p)
			}
		})
	}
}

package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const (
	applyLastApplied = "kubectl.platform.io/last-applied-configuration"
	crontabs         = "/apis/example.com/v1/namespaces/default/crontabs"
)

func (s applySession) clientApply(path, manifest string) client.Object {
	s.T.Helper()
	var o map[string]any
	client.Decode(s.T, manifest, &o)
	o["metadata"].(map[string]any)["annotations"] = map[string]any{applyLastApplied: manifest + "\n"}
	return s.create(path+"?fieldManager=kubectl-client-side-apply", client.Object(o).String())
}

// TestUpgradeOfClientSideApply checks that kubectl's server-side apply takes over fields from
// client-side apply, except fields that another manager has changed since.
func TestUpgradeOfClientSideApply(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.define("crontabs", "CronTab", `"spec":{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer"}}}`)
	const replicas = `"replicas":%d,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i%d"}]}}`
	for name, test := range map[string]struct {
		path, format string // the manifest, with placeholders for the value that another manager changes and a second value
		change       func(path string)
		field        string // the changed field
		conflict     string
	}{
		"ConfigMap": {configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"%d","other":"%d"}}`,
			func(path string) { s.merge("other", path, `{"data":{"k":"9"}}`) }, "data.k", `conflict with "other" using v1: .data.k`},
		"removed key": {configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"%d","other":"%d"}}`,
			func(path string) {
				s.merge("other", path, `{"data":{"k":null}}`)
				s.merge("other", path, `{"data":{"k":"9"}}`)
			},
			"data.k", `conflict with "other" using v1: .data.k`},
		"scale": {applyDeployment, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{` + replicas + `}}`,
			func(path string) { s.merge("kubectl", path+"/scale", `{"spec":{"replicas":9}}`) },
			"spec.replicas", `conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas`},
		"custom resource": {crontabs, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"n":%d,"m":%d}}`,
			func(path string) { s.merge("other", path, `{"spec":{"n":9}}`) }, "spec.n", `conflict with "other" using example.com/v1: .spec.n`},
	} {
		t.Run(name, func(t *testing.T) {
			s := applySession{client.Session{Server: s.Server, Ctx: s.Ctx, T: t}}
			made := s.clientApply(test.path, fmt.Sprintf(test.format, 1, 1))
			path := test.path + "/" + made.Name()
			test.change(path)
			before := s.get(path)
			for _, config := range []string{fmt.Sprintf(test.format, 1, 1), fmt.Sprintf(test.format, 1, 2)} {
				refused := s.apply(409, "kubectl", path, config)
				if message, _ := refused["message"].(string); message != "Apply failed with 1 conflict: "+test.conflict {
					t.Errorf("the message is %q", message)
				}
			}
			if now := s.get(path); now.String() != before.String() {
				t.Errorf("%v has become %v", before, now)
			}
			s.has(s.apply(200, "kubectl", path, fmt.Sprintf(test.format, 9, 2)), map[string]string{test.field: valueAt(before, test.field)})
		})
	}
}

// TestUnusableLastApplied checks that an unusable last-applied annotation does not let kubectl take
// over fields.
func TestUnusableLastApplied(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	for i, text := range []string{
		``, `{`, `[]`, `null`, `{"data":{"k":"1"}}`,
		`{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":"1"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"2"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"},"unknown":1}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":null}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":"k"}`,
	} {
		name := fmt.Sprint("a", i)
		annotations := client.Object{applyLastApplied: text}
		s.create(configMaps+"?fieldManager=other", fmt.Sprintf(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"annotations":%s},"data":{"k":"1"}}`, name, annotations))
		s.apply(409, "kubectl", configMaps+"/"+name, configMap(name, `"k":"2"`))
	}
	usable := client.Object{applyLastApplied: configMap("a", `"k":"1"`)}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":%s},"data":{"k":"1","l":"1"}}`, usable)
	s.create(configMaps+"?fieldManager=other", body)
	s.apply(409, "ci", configMaps+"/a", configMap("a", `"k":"2"`))
	refused := s.apply(409, "kubectl", configMaps+"/a", configMap("a", `"k":"2","l":"2"`))
	if message, _ := refused["message"].(string); message != `Apply failed with 1 conflict: conflict with "other" using v1: .data.l` {
		t.Errorf("the message is %q", message)
	}
	s.has(s.apply(200, "kubectl", configMaps+"/a", configMap("a", `"k":"2"`)), map[string]string{"data": `{"k":"2","l":"1"}`})
}

// TestWrittenLastApplied checks that kubectl apply stores the configuration in the last-applied
// annotation, without the annotation itself. Large configurations are not stored.
func TestWrittenLastApplied(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	large := strings.Repeat("x", 140<<10) // twice this exceeds the limit of annotations
	for name, test := range map[string]struct{ annotations, want string }{
		"none":  {`{"q":"r"}`, `{"q":"r"}`},
		"only":  {`{"` + applyLastApplied + `":"x"}`, `{}`},
		"other": {`{"` + applyLastApplied + `":"x","q":"r"}`, `{"q":"r"}`},
		"large": {`{"q":"` + large + `"}`, ""},
	} {
		manifest := func(annotations string) string {
			return `{"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"annotations":` + annotations + `,"name":"` + name + `"}}`
		}
		s.clientApply(configMaps, manifest(`{}`))
		applied := s.apply(200, "kubectl&force=true", configMaps+"/"+name, manifest(test.annotations))
		annotations, _ := applied.Metadata()["annotations"].(map[string]any)
		want := ""
		if test.want != "" {
			want = manifest(test.want) + "\n"
		}
		if got, _ := annotations[applyLastApplied].(string); got != want {
			t.Errorf("%s: wrote %.200q, want %q", name, got, want)
		}
	}
}

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestAppArmorAnnotations checks that an annotation of a new Pod sets the field that replaces it.
// The server warns unless the field already has this value. Unrecognized values set no field.
func TestAppArmorAnnotations(t *testing.T) {
	t.Parallel()
	s := client.Open(t, plainWarnings)
	const pods, key = "/api/v1/namespaces/default/pods", "container.apparmor.security.beta.kubernetes.io/c"
	for i, c := range []struct {
		value, pod, container string // the annotation, and other fields of the Pod and the container
		want                  string // AppArmor field of the container, or ""
		warned                bool
	}{
		{"unconfined", ``, ``, `{"type":"Unconfined"}`, true},
		{"runtime/default", ``, ``, `{"type":"RuntimeDefault"}`, true},
		{"localhost/a", ``, ``, `{"type":"Localhost","localhostProfile":"a"}`, true},
		{"localhost/a", ``, `,"securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":"a"}}`, `{"type":"Localhost","localhostProfile":"a"}`, false},
		{"runtime/default", `,"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}}`, ``, ``, false},
		{"runtime/default", `,"securityContext":{"appArmorProfile":{"type":"Unconfined"}}`, ``, `{"type":"RuntimeDefault"}`, true},
		{"runtime/default", `,"os":{"name":"windows"}`, ``, ``, false},
		{"localhost/", ``, ``, ``, true},
		{"localhost/ a", ``, ``, ``, true},
		{"localhost/" + strings.Repeat("a", 4096), ``, ``, ``, true},
	} {
		a := s.Send(201, http.MethodPost, pods, client.JSON, fmt.Sprintf(
			`{"metadata":{"name":"p%d","annotations":{%q:%q}},"spec":{"containers":[{"name":"c","image":"i"%s}]%s}}`, i, key, c.value, c.container, c.pod))
		var pod struct {
			Spec struct {
				Containers []struct {
					SecurityContext struct{ AppArmorProfile json.RawMessage }
				}
			}
		}
		client.Decode(t, a.Body, &pod)
		if got := string(pod.Spec.Containers[0].SecurityContext.AppArmorProfile); got != c.want {
			t.Errorf("%.20s: the field is %s, want %s", c.value, got, c.want)
		}
		var want []string
		if c.warned {
			want = []string{"metadata.annotations[" + key + `]: deprecated since v1.30; use the "appArmorProfile" field instead`}
		}
		if got := texts(t, a); !slices.Equal(got, want) {
			t.Errorf("%.20s: warned %q, want %q", c.value, got, want)
		}
	}
}

// TestAppArmorAgrees checks that a Pod's AppArmor annotations must name existing containers,
// match the Pod's fields, and not change.
func TestAppArmorAgrees(t *testing.T) {
	t.Parallel()
	s := client.Open(t, plainWarnings)
	const pods, prefix = "/api/v1/namespaces/default/pods", "container.apparmor.security.beta.kubernetes.io/"
	const typeFault, nameFault = `appArmorProfile.type: Forbidden: apparmor type in annotation and field must match`, `appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match`
	profile := func(text string) string { return `,"securityContext":{"appArmorProfile":` + text + `}` }
	local := profile(`{"type":"Localhost","localhostProfile":"a"}`)
	for i, c := range []struct{ container, value, pod, field, fault string }{
		{"c", "localhost/b", ``, local, nameFault},
		{"c", "unconfined", ``, local, typeFault},
		{"c", "runtime/default", ``, profile(`{"type":"Unconfined"}`), typeFault},
		{"c", "unconfined", ``, profile(`{"type":"RuntimeDefault"}`), typeFault},
		{"c", "", local, ``, typeFault},
		{"i", "unconfined", ``, ``, `spec.initContainers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type`},
		{"d", "unconfined", ``, ``, `metadata.annotations[` + prefix + `d]: Invalid value: "d": container not found`},
		{"c", "strict", ``, ``, `metadata.annotations[` + prefix + `c]: Invalid value: "strict": invalid AppArmor profile name: "strict"`},
		{"c", "unconfined", `,"os":{"name":"windows"}`, ``, ""},
		{"c", "localhost/a", ``, local, ""},
		{"c", "localhost/a", local, ``, ""},
	} {
		code := 422
		if c.fault == "" {
			code = 201
		}
		a := s.Send(code, http.MethodPost, pods, client.JSON, fmt.Sprintf(
			`{"metadata":{"name":"a%d","annotations":{%q:%q}},"spec":{"containers":[{"name":"c","image":"i"%s}],"initContainers":[{"name":"i","image":"i"%s}]%s}}`,
			i, prefix+c.container, c.value, c.field, map[bool]string{true: profile(`{"type":"RuntimeDefault"}`)}[c.container == "i"], c.pod))
		if !strings.Contains(strings.ReplaceAll(string(a.Body), `\"`, `"`), c.fault) {
			t.Errorf("%+v: %s", c, a.Body)
		}
	}
	s.Send(201, http.MethodPost, pods, client.JSON, fmt.Sprintf(`{"metadata":{"name":"b","annotations":{"%sc":"unconfined"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, prefix))
	for path, patches := range map[string][2]string{
		pods + "/b":        {`"` + prefix + `c":null`, "may not remove or update AppArmor annotations"},
		pods + "/b/":       {`"` + prefix + `c":"runtime/default"`, "may not remove or update AppArmor annotations"},
		pods + "/b?":       {`"` + prefix + `d":"unconfined"`, "may not add AppArmor annotations"},
		pods + "/b/status": {`"` + prefix + `d":"unconfined"`, "may not add AppArmor annotations"},
	} {
		a := s.Send(422, http.MethodPatch, strings.TrimSuffix(path, "/"), "application/merge-patch+json", `{"metadata":{"annotations":{`+patches[0]+`}}}`)
		if !strings.Contains(string(a.Body), patches[1]) {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	s.Send(200, http.MethodPatch, pods+"/b", "application/merge-patch+json", `{"metadata":{"annotations":{"other":"x"}}}`)
}

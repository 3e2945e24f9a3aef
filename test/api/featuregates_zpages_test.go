package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
	"sigs.k8s.io/yaml"
)

// getPage requests a page as a user in the given groups. Without groups, it uses the administrator.
func getPage(t *testing.T, s client.Session, path, accept string, groups ...string) (code int, contentType, body string) {
	t.Helper()
	var headers []string
	if accept != "" {
		headers = append(headers, "Accept: "+accept)
	}
	if len(groups) > 0 {
		headers = append(headers, "Impersonate-User: jane")
	}
	for _, group := range groups {
		headers = append(headers, "Impersonate-Group: "+group)
	}
	a := client.Exchange(t, client.Transport(t, s.TLS), http.MethodGet, s.URL+path, "", headers...)
	return a.Code, a.Header.Get("Content-Type"), string(a.Body)
}

// TestZPages checks that /statusz and /flagz are served only if their feature gates are on, and
// only to monitoring users. Both are available as text and as objects.
func TestZPages(t *testing.T) {
	t.Parallel()
	off := open(t, "ComponentStatusz=false,ComponentFlagz=false")
	on := open(t, "ComponentStatusz=true,ComponentFlagz=true")
	for path, kind := range map[string]string{"/statusz": "Statusz", "/flagz": "Flagz"} {
		if code, _, _ := getPage(t, off, path, ""); code != 404 {
			t.Errorf("%s without its gate: %d", path, code)
		}
		if code, _, _ := getPage(t, on, path, "", "system:authenticated"); code != 403 {
			t.Errorf("%s as an ordinary user: %d", path, code)
		}
		of := ";g=config.k8s.io;as=" + kind
		asked := "application/json;v=v1beta1" + of
		for accept, want := range map[string]string{
			"": "text/plain; charset=utf-8", "*/*": "text/plain; charset=utf-8", "text/plain": "text/plain; charset=utf-8",
			asked: "application/json", "text/plain;q=0.5," + asked: "application/json",
			"application/yaml;v=v1beta1" + of: "application/yaml", "application/*;v=v1alpha1" + of: "application/json",
			"application/json": "", "application/json;v=v1" + of: "", "application/yaml": "", asked + ";q=0": "",
		} {
			code, contentType, body := getPage(t, on, path, accept, "system:monitoring")
			if want == "" && code != 406 || want != "" && (code != 200 || contentType != want) {
				t.Errorf("%s as %q: %d %s %s", path, accept, code, contentType, body)
			}
		}
	}
	type page struct {
		Kind, APIVersion string
		Metadata         struct{ Name string }
		BinaryVersion    string
		EmulationVersion string
		UptimeSeconds    *int64
		Paths            []string
		Flags            map[string]string
	}
	read := func(path, kind string) (p page) {
		for version, warning := range map[string]string{
			"v1alpha1": `299 - "This version of the ` + path[1:] + ` endpoint is deprecated. Please use a newer version."`, "v1beta1": "",
		} {
			for encoding, unmarshal := range map[string]func([]byte, any) error{
				"json": json.Unmarshal, "yaml": func(text []byte, v any) error { return yaml.Unmarshal(text, v) },
			} {
				a := client.Exchange(t, client.Transport(t, on.TLS), http.MethodGet, on.URL+path, "",
					"Accept: application/"+encoding+";v="+version+";g=config.k8s.io;as="+kind)
				p = page{}
				if err := unmarshal(a.Body, &p); err != nil || p.Kind != kind || p.APIVersion != "config.k8s.io/"+version || a.Header.Get("Warning") != warning {
					t.Errorf("%s: %v %s %q", path, err, a.Body, a.Header.Get("Warning"))
				}
			}
		}
		return p
	}
	if p := read("/statusz", "Statusz"); p.Metadata.Name != "apiserver" || p.EmulationVersion != "1.37" || !strings.HasPrefix(p.BinaryVersion, "1.37.") ||
		p.UptimeSeconds == nil || strings.Join(p.Paths, " ") != "/flagz /healthz /livez /metrics /readyz /statusz /version" {
		t.Errorf("%+v", p)
	}
	if p := read("/flagz", "Flagz"); p.Metadata.Name != "kube-apiserver" || p.Flags["naming"] != "kubernetes" || !strings.Contains(p.Flags["feature-gates"], "ComponentFlagz=true") {
		t.Errorf("%+v", p)
	}
	if _, _, text := getPage(t, on, "/flagz", ""); !strings.HasPrefix(text, "\nkube-apiserver flagz\nWarning: ") || !strings.Contains(text, "\nnaming=kubernetes\n") {
		t.Error(text)
	}
}

// TestHealthMetrics checks that health check results are counted, and that only monitoring users
// can read the metrics.
func TestHealthMetrics(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for range 2 {
		getPage(t, s, "/livez?exclude=store", "")
	}
	if code, _, _ := getPage(t, s, "/metrics/slis", "", "system:authenticated"); code != 403 {
		t.Errorf("as an ordinary user: %d", code)
	}
	_, _, body := getPage(t, s, "/metrics/slis", "", "system:monitoring")
	for _, want := range []string{
		"# TYPE kubernetes_healthcheck gauge", `kubernetes_healthcheck{name="ping",type="livez"} 1`,
		`kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2`, `process_start_time_seconds [1-9][0-9.e+]*`,
	} {
		if !regexp.MustCompile(`(?m)^` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(want) + `$`).MatchString(body) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, `name="store",type="livez"`) {
		t.Error("a check that was left out is counted")
	}
}

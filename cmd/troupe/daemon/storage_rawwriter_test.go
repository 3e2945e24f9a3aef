package daemon_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// TestRawWriter alternates writes to an object with those of clients. No change is lost, and a
// write based on an old version fails.
func TestRawWriter(t *testing.T) {
	c := daemon.Default()
	c.Ephemeral, c.Serving.SecurePort, c.Kubeconfig = true, 0, t.TempDir()+"/kubeconfig"
	d := must.Get(daemon.New(c, nil))(t)
	writer := d.RawWriter()
	must.Succeed(t, d.Start())
	defer d.Stop(t.Context())
	config := must.Get(kubeconfig.Load(c.Kubeconfig))(t)
	client := &http.Client{Transport: config.Transport(func() *http.Transport { return &http.Transport{} })}
	const path = "/api/v1/namespaces/default/configmaps/"
	do := func(method, name, body string) (int, string) {
		request := must.Get(http.NewRequest(method, d.URL()+path+name, strings.NewReader(body)))(t)
		request.Header.Set("Content-Type", map[bool]string{true: "application/merge-patch+json"}[method == "PATCH"])
		answer := must.Get(client.Do(request))(t)
		defer answer.Body.Close()
		return answer.StatusCode, string(must.Get(io.ReadAll(answer.Body))(t))
	}
	object := func(version, value string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default","uid":"u-1","resourceVersion":%q},"data":{"k":%q}}`, version, value)
	}
	must.Succeed(t, writer.Write(t.Context(), object("", "raw"), false))
	if code, text := do("GET", "one", ""); code != 200 || !strings.Contains(text, `"uid":"u-1"`) || !strings.Contains(text, `{"k":"raw"}`) {
		t.Errorf("the object is %d %s", code, text)
	}
	for version, remove := range map[string]bool{"": false, "1": true} {
		if err := writer.Write(t.Context(), object(version, "again"), remove); !errors.Is(err, persist.ErrCondition) {
			t.Errorf("a write on version %q returned %v", version, err)
		}
	}
	for object, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Unknown"}`: "does not serve the kind",
		`[]`:                                   "not an object",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default","resourceVersion":"x"}}`: "metadata.resourceVersion",
	} {
		if err := writer.Write(t.Context(), []byte(object), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", object, err, want)
		}
	}
	const each = 50
	version := func(text string) string {
		_, text, _ = strings.Cut(text, `"resourceVersion":"`)
		v, _, _ := strings.Cut(text, `"`)
		return v
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range each {
			if code, text := do("PATCH", "one", fmt.Sprintf(`{"metadata":{"labels":{"n%d":""}}}`, i)); code != 200 {
				t.Errorf("a patch returned %d %s", code, text)
			}
		}
	})
	for i := 0; i < each; {
		_, text := do("GET", "one", "")
		written := strings.Replace(text, `"data":{`, fmt.Sprintf(`"data":{"d%d":"",`, i), 1)
		err := writer.Write(t.Context(), []byte(written), false)
		if err == nil {
			i++
		} else if !errors.Is(err, persist.ErrCondition) {
			t.Fatal(err)
		}
	}
	writing.Wait()
	_, text := do("GET", "one", "")
	for i := range each {
		if !strings.Contains(text, fmt.Sprintf(`"n%d":""`, i)) || !strings.Contains(text, fmt.Sprintf(`"d%d":""`, i)) {
			t.Fatalf("change %d was lost: %s", i, text)
		}
	}
	must.Succeed(t, writer.Write(t.Context(), object(version(text), ""), true))
	if code, _ := do("GET", "one", ""); code != 404 {
		t.Errorf("the deleted object returns %d", code)
	}
}

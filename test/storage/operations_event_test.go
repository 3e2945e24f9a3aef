package storage

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestEvents reads and writes one Event in both of its forms.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), nil)
	const core, own = "/api/v1/namespaces/default/events", "/apis/events.platform.io/v1/namespaces/default/events"
	const regarding = `"regarding":{"kind":"Pod","namespace":"default","name":"p"}`
	const event = `{"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal","note":"n",` + regarding + `}`
	a := wantCode(t, 201)(s.Create(t.Context(), own, []byte(event)))
	if body := string(a.Body); !strings.Contains(body, `"note":"n"`) || !strings.Contains(body, `"apiVersion":"events.platform.io/v1"`) {
		t.Errorf("got %s", a)
	}
	a = wantCode(t, 200)(s.Get(t.Context(), core+"/e"))
	if body := string(a.Body); !strings.Contains(body, `"message":"n"`) || !strings.Contains(body, `"involvedObject":{"kind":"Pod"`) || !strings.Contains(body, `"apiVersion":"v1"`) {
		t.Errorf("got %s", a)
	}
	a = wantCode(t, 422)(s.Patch(t.Context(), own+"/e", []byte(`{"note":"other"}`)))
	if !strings.Contains(string(a.Body), `message: Invalid value: \"other\": field is immutable`) {
		t.Errorf("got %s", a)
	}
	wantCode(t, 200)(s.Patch(t.Context(), core+"/e", []byte(`{"message":"other"}`)))
	wantCode(t, 422)(s.Create(t.Context(), own, []byte(`{"metadata":{"name":"f"},"type":"Normal",`+regarding+`}`)))
	wantCode(t, 201)(s.Create(t.Context(), core, []byte(`{"metadata":{"name":"f"},"involvedObject":{"namespace":"default"}}`)))
	for query, want := range map[string]int{"": 2, "?fieldSelector=regarding.name%3Dp": 1, "?fieldSelector=reportingController%3Dx": 0} {
		a = wantCode(t, 200)(s.Get(t.Context(), own+query))
		if items, _ := a.Object()["items"].([]any); len(items) != want {
			t.Errorf("%s: got %s", query, a)
		}
	}
	for query, want := range map[string]int{"source%3Da.b/c": 1, "source%3Dx": 0, "source%3D": 1} {
		a = wantCode(t, 200)(s.Get(t.Context(), core+"?fieldSelector="+query))
		if items, _ := a.Object()["items"].([]any); len(items) != want {
			t.Errorf("%s, where who reports stands in for an absent source: got %s", query, a)
		}
	}
	wantCode(t, 200)(s.Delete(t.Context(), own+"/e", nil))
	wantCode(t, 404)(s.Get(t.Context(), core+"/e"))
}

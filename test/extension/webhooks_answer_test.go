package extension

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// TestWebhookAnswers: what a webhook says decides, in so many words; and what it cannot say, by its failurePolicy.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	for _, kind := range []string{mutating, validating} {
		for _, policy := range []string{"Fail", "Ignore"} {
			for _, version := range []string{"v1", "v1beta1"} {
				name := strings.ToLower(kind[:4] + "-" + policy + "-" + version)
				s.register(kind, name, webhookHook{rules: onlyConfigMaps, versions: `"` + version + `"`, more: `"failurePolicy":"` + policy + `","objectSelector":{"matchLabels":{"hook":"` + name + `"}}`}.text(h))
			}
		}
	}
	const denied = `admission webhook "hook.example.com" denied the request`
	const failing = `Internal error occurred: failed calling webhook "hook.example.com": `
	raw := func(text string) func(question, http.ResponseWriter, *http.Request) {
		return func(q question, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.NewReplacer("UID", q.text("uid"), "VERSION", q.review["apiVersion"].(string)).Replace(text))
		}
	}
	code := func(code int, body string) func(question, http.ResponseWriter, *http.Request) {
		return func(_ question, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	const both, v1, mutates, validates = "both", "v1", "v1 mutating", "v1 validating"
	for i, c := range []struct {
		what   string
		answer func(question, http.ResponseWriter, *http.Request)
		where  string
		code   int    // of a refusal; 0: allowed; 500: by failurePolicy
		text   string // in the message
	}{
		{"allowed", allow, both, 0, ""},
		{"denied", respond(`"allowed":false`), both, 400, denied + " without explanation"},
		{"nothing said", respond(`"warnings":[]`), both, 400, denied},
		{"a message", respond(`"allowed":false,"status":{"message":"no way"}`), both, 400, denied + ": no way"},
		{"a code", respond(`"allowed":false,"status":{"code":418,"message":"no way"}`), both, 418, denied + ": no way"},
		{"a reason", respond(`"allowed":false,"status":{"reason":"Invalid"}`), both, 400, denied + ": Invalid"},
		{"a code of success", respond(`"allowed":false,"status":{"code":200,"status":"Success"}`), both, 400, denied},
		{"a patch with a refusal", respond(`"allowed":false,` + patchMembers(`[{"op":"add","path":"/data/x","value":"y"}]`)), "mutating", 400, denied},
		{"allowed as a text", respond(`"allowed":"true"`), both, 500, failing},
		{"no response", raw(`{"apiVersion":"VERSION","kind":"AdmissionReview"}`), both, 500, failing + "received invalid webhook response: webhook response was absent"},
		{"another uid", raw(`{"apiVersion":"VERSION","kind":"AdmissionReview","response":{"uid":"x","allowed":true}}`), v1, 500, failing + "received invalid webhook response: expected response.uid="},
		{"a long uid", raw(`{"apiVersion":"VERSION","kind":"AdmissionReview","response":{"uid":"` + strings.Repeat("x", 1<<20) + `","allowed":true}}`), v1, 500, "expected response.uid="},
		{"no uid", raw(`{"apiVersion":"VERSION","kind":"AdmissionReview","response":{"allowed":true}}`), v1, 500, "expected response.uid="},
		{"another kind", raw(`{"apiVersion":"VERSION","kind":"Review","response":{"uid":"UID","allowed":true}}`), v1, 500, "received invalid webhook response: expected webhook response of"},
		{"another version", raw(`{"apiVersion":"VERSIONbeta1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true}}`), v1, 500, "received invalid webhook response: expected webhook response of"},
		{"no kind", raw(`{"response":{"uid":"UID","allowed":true}}`), v1, 500, "received invalid webhook response"},
		{"no JSON", raw(`<html>`), both, 500, failing + "failed to call webhook"},
		{"nothing", raw(``), both, 500, "failed to call webhook"},
		{"a list", raw(`[]`), both, 500, "failed to call webhook"},
		{"an error", code(500, "boom"), both, 500, failing + `failed to call webhook: an error on the server ("boom") has prevented the request from succeeding`},
		{"absent", code(404, ""), both, 500, failing + "failed to call webhook: the server could not find the requested resource"},
		{"a patch without a type", respond(`"allowed":true,"patch":"W10="`), mutates, 500, "webhook returned response.patch but not response.patchType"},
		{"a type without a patch", respond(`"allowed":true,"patchType":"JSONPatch"`), mutates, 500, "webhook returned response.patchType but not response.patch"},
		{"another type of patch", respond(`"allowed":true,"patch":"W10=","patchType":"MergePatch"`), mutates, 500, `unsupported patch type "MergePatch"`},
		{"a patch of a validating one", patches(`[]`), validates, 500, "validating webhook may not return response.patch"},
		{"a type of a validating one", respond(`"allowed":true,"patchType":"JSONPatch"`), validates, 500, "validating webhook may not return response.patchType"},
		{"a patch that is none", patches(`{`), "mutating", 500, "received undecodable patch in webhook response"},
		{"no base64", respond(`"allowed":true,"patchType":"JSONPatch","patch":"!"`), "mutating", 500, ""},
	} {
		h.set(c.answer)
		for _, name := range []string{"muta-fail-v1", "muta-ignore-v1", "vali-fail-v1", "vali-ignore-v1", "muta-fail-v1beta1", "vali-fail-v1beta1"} {
			if strings.HasPrefix(c.where, "v1") && strings.HasSuffix(name, "v1beta1") || strings.Contains(c.where, "mutating") && strings.HasPrefix(name, "vali") ||
				strings.Contains(c.where, "validating") && strings.HasPrefix(name, "muta") {
				continue
			}
			want := c.code
			if want == 0 || want == 500 && strings.Contains(name, "ignore") {
				want = 201
			}
			a, err := s.Do(s.Ctx, "POST", configMaps+"?dryRun=All", client.JSON, []byte(fmt.Sprintf(`{"metadata":{"name":"a%d","labels":{"hook":%q}},"data":{"k":"v"}}`, i, name)))
			if err != nil || a.Code != want || want >= 400 && !strings.Contains(message(a), c.text) || len(a.Body) > 8<<10 {
				t.Errorf("%s, %s: %.4000v, %v; want %d %q", c.what, name, a, err, want, c.text)
			}
		}
	}
}

// TestPatchThatFails: what a webhook makes of an object is wrong, whatever its failurePolicy.
func TestPatchThatFails(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	s.register(mutating, "m", webhookHook{rules: rule("*", "", "v1", "configmaps,pods"), more: `"failurePolicy":"Ignore"`}.text(h))
	for _, c := range []struct {
		what, patch string
		code        int
	}{
		{"a path that is not there", `[{"op":"remove","path":"/data/absent"}]`, 500},
		{"a test that fails", `[{"op":"test","path":"/data/k","value":"w"},{"op":"add","path":"/data/x","value":"y"}]`, 500},
		{"another kind", `[{"op":"replace","path":"/kind","value":"Secret"}]`, 500},
		{"a value of another type", `[{"op":"replace","path":"/data","value":1}]`, 500},
		{"an unknown operation", `[{"op":"merge","path":"/data","value":{}}]`, 500},
		{"an object that is invalid", `[{"op":"add","path":"/data/not a key","value":""}]`, 422},
	} {
		h.set(patches(c.patch))
		if a, err := s.Do(s.Ctx, "POST", configMaps, client.JSON, []byte(configMap("x", `"k":"v"`))); err != nil || a.Code != c.code {
			t.Errorf("%s: %v, %v; want %d", c.what, a, err, c.code)
		}
	}
	h.set(patches(`[]`))
	s.create(201, "x", `"k":"v"`)
	h.set(patches(`[{"op":"add","path":"/data/x","value":"y"}]`))
	a := s.Send(500, "DELETE", configMaps+"/x", "", "")
	s.wantMessage(a, `admission webhook "hook.example.com" attempted to modify the object, which is not supported for this operation`)
}

// TestBounds: an answer is bounded in size and in time, and what is not an answer does not hold up a request.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	h := startWebhooks(t, allow)
	var strays int
	stray := startWebhooks(t, func(question, http.ResponseWriter, *http.Request) { strays++ })
	for _, c := range []struct {
		what   string
		answer func(question, http.ResponseWriter, *http.Request)
		text   string
	}{
		{"100 MB", func(q question, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"x":"`)
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, "longer than"},
		{"slow", func(q question, w http.ResponseWriter, r *http.Request) {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}, "context deadline exceeded"},
		{"hanging after the headers", func(q question, w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			_, _ = io.WriteString(w, `{"apiVersion":`)
			w.(http.Flusher).Flush()
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}, "context deadline exceeded"},
		{"redirecting", func(q question, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, stray.URL, http.StatusTemporaryRedirect)
		}, "the server responded with the status code 307"},
		{"cutting off", func(q question, w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, "failed to call webhook"},
	} {
		seconds := 30 // the longest: a machine may be busy
		if c.text == "context deadline exceeded" {
			seconds = 1
		}
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps, more: fmt.Sprintf(`"timeoutSeconds":%d`, seconds)}.text(h))
		h.set(c.answer)
		quick := client.Quick(t, 20*time.Second, c.what)
		s.wantMessage(s.create(500, "x", ""), c.text)
		quick()
		s.unregister(validating, "v")
	}
	if strays > 0 {
		t.Error("a redirect was followed")
	}
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(h))
	h.set(allow)
	s.create(201, "x", "")
}

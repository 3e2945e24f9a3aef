package extension

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

type webhookObject = map[string]any

func at(o any, path ...string) any {
	for _, name := range path {
		m, ok := o.(webhookObject)
		if !ok {
			return nil
		}
		o = m[name]
	}
	return o
}

// A question is an admission review that a webhook received.
type question struct {
	review webhookObject // the AdmissionReview
	header http.Header
	query  string
	proto  string
}

func (q question) request() webhookObject { r, _ := q.review["request"].(webhookObject); return r }

func (q question) text(path ...string) string { s, _ := at(q.request(), path...).(string); return s }

type hookServer struct{ *hook[question] }

func startWebhooks(t testing.TB, answer func(q question, w http.ResponseWriter, r *http.Request), names ...string) *hookServer {
	t.Helper()
	return startAt(t, "127.0.0.1", answer, names...)
}

func startAt(t testing.TB, ip string, answer func(q question, w http.ResponseWriter, r *http.Request), names ...string) *hookServer {
	t.Helper()
	h := newHook(t, ip, func(r *http.Request, body []byte) question {
		q := question{header: r.Header, query: r.URL.RawQuery, proto: r.Proto}
		_ = json.Unmarshal(body, &q.review)
		return q
	}, answer, names)
	h.EnableHTTP2 = true
	h.StartTLS()
	return &hookServer{h}
}

// questions returns the reviews of client requests since the last call, without reviews of the
// server's own writes.
func (h *hookServer) questions() []question {
	return slices.DeleteFunc(h.take(), question.isServers)
}

// isServers reports whether the review is for a write by one of the server's controllers. Such
// writes may occur at any time.
func (q question) isServers() bool { return q.text("userInfo", "username") == "system:apiserver" }

// respond returns a handler that sends an admission response. members contains the response fields
// except uid, as JSON without the outer braces.
func respond(members string) func(q question, w http.ResponseWriter, r *http.Request) {
	return func(q question, w http.ResponseWriter, _ *http.Request) { writeWebhooks(w, q, members) }
}

func writeWebhooks(w http.ResponseWriter, q question, members string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":"AdmissionReview","response":{"uid":%q,%s}}`, q.review["apiVersion"], q.text("uid"), members)
}

var allow = respond(`"allowed":true`)

func patches(patch string) func(q question, w http.ResponseWriter, r *http.Request) {
	return respond(`"allowed":true,` + patchMembers(patch))
}

func patchMembers(patch string) string {
	return `"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(patch)) + `"`
}

// A webhookHook describes one webhook in a configuration. Empty fields have defaults.
type webhookHook struct {
	name, path, rules, more string
	client                  string // replaces the server's clientConfig
	effects, versions       string
}

const allRules = `{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"scope":"*"}`

func rule(operations, groups, versions, resources string) string {
	list := func(text string) string { b, _ := json.Marshal(strings.Split(text, ",")); return string(b) }
	return `{"operations":` + list(operations) + `,"apiGroups":` + list(groups) + `,"apiVersions":` + list(versions) + `,"resources":` + list(resources) + `}`
}

func (h webhookHook) text(s *hookServer) string {
	set := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	set(&h.name, "hook.example.com")
	set(&h.rules, allRules)
	set(&h.effects, "None")
	set(&h.versions, `"v1"`)
	set(&h.more, `"timeoutSeconds":30`)
	if h.client == "" {
		h.client = fmt.Sprintf(`{"url":%q,"caBundle":%q}`, s.URL+h.path, s.bundle)
	}
	if !strings.Contains(h.more, "timeoutSeconds") {
		h.more += `,"timeoutSeconds":30` // the maximum, because a machine may be busy
	}
	return fmt.Sprintf(`{"name":%q,"rules":[%s],"sideEffects":%q,"admissionReviewVersions":[%s],"clientConfig":%s,%s}`, h.name, h.rules, h.effects, h.versions, h.client, h.more)
}

func namesWebhooks(asked []question, path ...string) string {
	var all []string
	for _, q := range asked {
		all = append(all, q.text(path...))
	}
	return strings.Join(all, " ")
}

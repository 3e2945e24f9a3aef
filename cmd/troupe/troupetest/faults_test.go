package troupetest_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

const faultHeader = "Troupe-Injected-Fault"

// send sends a request on its own connection, so that a Drop closes it without a hidden retry.
func send(t *testing.T, c *troupetest.Credentials, method, url, body, agent string) (*http.Response, string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: c.TLS(), DisableKeepAlives: true}}
	request := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", agent)
	answer, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, string(text), err
}

// TestFaultEffects checks the response to one faulty request, and the resulting state.
func TestFaultEffects(t *testing.T) {
	t.Parallel()
	const put = `{"metadata":{"name":"a"},"data":{"k":"new"}}`
	for name, test := range map[string]struct {
		fault        troupetest.Fault
		method, path string // path follows the collection
		body         string
		code         int // 0: no response
		reason       string
		retryAfter   string
		stored       string // the value afterwards
	}{
		"conflict":           {troupetest.Fault{Effect: "Conflict"}, "PUT", "/a", put, 409, "Conflict", "", "old"},
		"too many":           {troupetest.Fault{Effect: "TooManyRequests"}, "PUT", "/a", put, 429, "TooManyRequests", "1", "old"},
		"too many for 7 s":   {troupetest.Fault{Effect: "TooManyRequests", RetryAfterSeconds: 7}, "GET", "/a", "", 429, "TooManyRequests", "7", "old"},
		"internal error":     {troupetest.Fault{Effect: "InternalError"}, "PUT", "/a", put, 500, "InternalError", "", "old"},
		"unavailable":        {troupetest.Fault{Effect: "ServiceUnavailable", RetryAfterSeconds: 2}, "GET", "", "", 503, "ServiceUnavailable", "2", "old"},
		"timeout":            {troupetest.Fault{Effect: "Timeout"}, "DELETE", "/a", "", 504, "Timeout", "", "old"},
		"error after commit": {troupetest.Fault{Effect: "InternalError", AfterCommit: true}, "PUT", "/a", put, 500, "InternalError", "", "new"},
		"own error":          {troupetest.Fault{Effect: "InternalError", AfterCommit: true}, "PUT", "/a", `{"metadata":{"name":"b"}}`, 400, "BadRequest", "", "old"},
		"read after commit":  {troupetest.Fault{Effect: "InternalError", AfterCommit: true}, "GET", "/a", "", 200, "", "", "old"},
		"drop":               {troupetest.Fault{Effect: "Drop"}, "PUT", "/a", put, 0, "", "", "old"},
		"drop after commit":  {troupetest.Fault{Effect: "Drop", AfterCommit: true}, "PUT", "/a", put, 0, "", "", "new"},
		"delay":              {troupetest.Fault{Effect: "Delay", LatencyMilliseconds: 1}, "PUT", "/a", put, 200, "", "", "new"},
	} {
		for _, profile := range []string{troupetest.Kubernetes, troupetest.Platform} {
			t.Run(name+"/"+profile, func(t *testing.T) {
				t.Parallel()
				test.fault.Name, test.fault.Count = "mine", 1
				s := troupetest.Start(t, troupetest.WithNaming(profile), troupetest.WithFaults())
				mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":"old"}}`)
				s.SetFaults(test.fault)
				answer, text, err := send(t, s.Credentials, test.method, s.URL+configMaps+test.path, test.body, "")
				switch {
				case test.code == 0 && err == nil:
					t.Errorf("the dropped connection answered %s %s", answer.Status, text)
				case test.code != 0 && err != nil:
					t.Error(err)
				case test.code != 0:
					var status struct{ Reason, Message string }
					must.Succeed(t, json.Unmarshal([]byte(text), &status))
					injected := answer.Header.Get(faultHeader) == "mine"
					if answer.StatusCode != test.code || status.Reason != test.reason || answer.Header.Get("Retry-After") != test.retryAfter {
						t.Errorf("%s %v: %s", answer.Status, answer.Header, text)
					}
					if injected != (name != "read after commit") || strings.Contains(status.Message, "injected fault mine") != (injected && test.code != 200 && name != "own error") {
						t.Errorf("cannot tell whether the fault was injected: %v %s", answer.Header, text)
					}
				}
				data := mustDo(t, s, 200, "GET", configMaps+"/a", "")["data"].(map[string]any)
				if data["k"] != test.stored {
					t.Errorf("stored %v, want %s", data["k"], test.stored)
				}
			})
		}
	}
}

// TestFaultSelectors sends one request to each rule.
func TestFaultSelectors(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t, troupetest.WithFaults())
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	jane := s.User("jane", "system:masters")
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	for name, test := range map[string]struct {
		fault        troupetest.Fault
		method, path string
		fails        bool
	}{
		"no selector":           {troupetest.Fault{}, "GET", configMaps, true},
		"verb":                  {troupetest.Fault{Verbs: []string{"get", "list"}}, "GET", configMaps, true},
		"other verb":            {troupetest.Fault{Verbs: []string{"get"}}, "GET", configMaps, false},
		"resource":              {troupetest.Fault{Resources: []string{"secrets", "configmaps"}}, "GET", configMaps, true},
		"other resource":        {troupetest.Fault{Resources: []string{"secrets"}}, "GET", configMaps, false},
		"resource of any group": {troupetest.Fault{Resources: []string{"deployments"}}, "GET", deployments, true},
		"resource of a group":   {troupetest.Fault{Resources: []string{"deployments.apps"}}, "GET", deployments, true},
		"other group":           {troupetest.Fault{Resources: []string{"deployments.batch"}}, "GET", deployments, false},
		"core group":            {troupetest.Fault{Resources: []string{"deployments."}}, "GET", deployments, false},
		"group of all":          {troupetest.Fault{Resources: []string{"*.apps"}}, "GET", deployments, true},
		"no subresource":        {troupetest.Fault{Resources: []string{"namespaces"}}, "GET", "/api/v1/namespaces/default/status", false},
		"subresource":           {troupetest.Fault{Resources: []string{"namespaces/status"}}, "GET", "/api/v1/namespaces/default/status", true},
		"every subresource":     {troupetest.Fault{Resources: []string{"*/*"}}, "GET", "/api/v1/namespaces/default/status", true},
		"namespace":             {troupetest.Fault{Namespaces: []string{"default"}}, "GET", configMaps, true},
		"other namespace":       {troupetest.Fault{Namespaces: []string{"other"}}, "GET", configMaps, false},
		"name":                  {troupetest.Fault{Names: []string{"a"}}, "GET", configMaps + "/a", true},
		"other name":            {troupetest.Fault{Names: []string{"a"}}, "GET", configMaps, false},
		"user":                  {troupetest.Fault{Users: []string{"jane"}}, "GET", configMaps, true},
		"other user":            {troupetest.Fault{Users: []string{"john"}}, "GET", configMaps, false},
		"agent":                 {troupetest.Fault{UserAgent: "my-"}, "GET", configMaps, true},
		"other agent":           {troupetest.Fault{UserAgent: "other"}, "GET", configMaps, false},
		"health":                {troupetest.Fault{}, "GET", "/readyz", false},
		"metrics":               {troupetest.Fault{}, "GET", "/metrics", false},
		"discovery":             {troupetest.Fault{}, "GET", "/apis", false},
		"rules":                 {troupetest.Fault{}, "GET", "/debug/faults", false},
	} {
		test.fault.Effect = "ServiceUnavailable"
		s.SetFaults(test.fault)
		answer, text, err := send(t, jane, test.method, s.URL+test.path, "", "my-controller/1.0")
		if failed := err == nil && answer.StatusCode == 503; err != nil || failed != test.fails {
			t.Errorf("%s: %v %v %.100s", name, err, answer, text)
		}
		if c := s.FaultCounts()[0]; (c.Injected == 1) != test.fails || c.Matched != c.Injected || c.Rule != "rule-1" {
			t.Errorf("%s: counts %+v", name, c)
		}
	}
}

// TestFaultsNeedPermission checks that an unauthorized request gets its own error instead of a
// fault.
func TestFaultsNeedPermission(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t, troupetest.WithFaults(troupetest.Fault{Effect: "InternalError"}))
	for _, path := range []string{configMaps, "/debug/faults", daemon.HotPath} {
		if answer, text, err := send(t, s.User("jane"), "GET", s.URL+path, "", ""); err != nil || answer.StatusCode != 403 {
			t.Errorf("%s: %v %v %s", path, err, answer, text)
		}
	}
}

// TestFaultSeed checks that with the same seed, the same requests fail, regardless of other rules.
func TestFaultSeed(t *testing.T) {
	t.Parallel()
	outcomes := func(seed uint64, disturbed bool) (text string) {
		rules := []troupetest.Fault{{Effect: "Delay", Resources: []string{"secrets"}}, {Effect: "InternalError", Resources: []string{"configmaps"}, Probability: 0.3}}
		s := troupetest.Start(t, troupetest.WithFaults(rules...), troupetest.WithFaultSeed(seed))
		for range 64 {
			if disturbed {
				do(t, s.Credentials, "GET", s.URL+"/api/v1/secrets", "")
			}
			code, _ := do(t, s.Credentials, "GET", s.URL+configMaps, "")
			text += fmt.Sprintf("%d", code/100)
		}
		return text
	}
	first := outcomes(7, false)
	if failed := strings.Count(first, "5"); failed < 8 || failed > 32 {
		t.Errorf("%d of 64 requests failed with probability 0.3", failed)
	}
	if again := outcomes(7, true); again != first {
		t.Errorf("the same seed: %s and %s", first, again)
	}
	if other := outcomes(8, false); other == first {
		t.Errorf("another seed: %s too", other)
	}

	f := &failing{scope: scope{TB: t}}
	troupetest.Start(f, troupetest.WithFaults(troupetest.Fault{Name: "mine", Effect: "Drop"}), troupetest.WithFaultSeed(99))
	f.end()
	if log := strings.Join(f.log, "\n"); !strings.Contains(log, "WithFaultSeed(99)") || !strings.Contains(log, "mine: 0 of 0") {
		t.Errorf("the log of a failed test lacks the seed: %s", log)
	}
}

func TestFaultErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault troupetest.Fault
		want  string
	}{
		"no effect":    {troupetest.Fault{}, `rules[0].effect: "" must be one of [Conflict `},
		"verb":         {troupetest.Fault{Effect: "EndWatch", Verbs: []string{"get"}}, `verbs: "get" must be one of [watch]`},
		"commit":       {troupetest.Fault{Effect: "Conflict", AfterCommit: true}, "afterCommit: must be false with Conflict"},
		"commit reads": {troupetest.Fault{Effect: "Drop", AfterCommit: true, Verbs: []string{"list"}}, `verbs: "list" must be one of [create `},
		"probability":  {troupetest.Fault{Effect: "Drop", Probability: 1.5}, "probability: 1.5 must be between 0 and 1"},
		"count":        {troupetest.Fault{Effect: "Drop", Count: -1}, "count: -1 must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fatalOf(t, func(f *fatal) { troupetest.Start(f, troupetest.WithFaults(test.fault)) }); !strings.Contains(got, test.want) {
				t.Errorf("%q lacks %q", got, test.want)
			}
		})
	}
	if got := fatalOf(t, func(f *fatal) { troupetest.Start(f).SetFaults() }); !strings.Contains(got, "start the server with WithFaults") {
		t.Errorf("%q lacks the fix", got)
	}
	public := troupetest.WithConfig(func(c *daemon.Config) { c.Serving.BindAddress = "0.0.0.0" })
	if got := fatalOf(t, func(f *fatal) { troupetest.Start(f, troupetest.WithFaults(), public) }); !strings.Contains(got, "fault-injection: needs a loopback bind-address") {
		t.Errorf("%q lacks the reason", got)
	}
}

func fatalOf(t *testing.T, run func(f *fatal)) string {
	f := &fatal{scope: scope{TB: t}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(f)
	}()
	<-ended
	f.end()
	return f.message
}

// TestFaultsOfWatches checks how a watch ends, over both versions of HTTP.
func TestFaultsOfWatches(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault troupetest.Fault
		want  string // the types of events; cut if the response is truncated
	}{
		"end at once":        {troupetest.Fault{Effect: "EndWatch"}, ""},
		"end after 2":        {troupetest.Fault{Effect: "EndWatch", Events: 2}, "ADDED ADDED"},
		"expire at once":     {troupetest.Fault{Effect: "ExpireWatch"}, "ERROR 410 Expired"},
		"expire after 1":     {troupetest.Fault{Effect: "ExpireWatch", Events: 1}, "ADDED ERROR 410 Expired"},
		"drop after 1":       {troupetest.Fault{Effect: "Drop", Events: 1}, "ADDED cut"},
		"drop at once":       {troupetest.Fault{Effect: "Drop"}, "cut"},
		"unavailable":        {troupetest.Fault{Effect: "ServiceUnavailable"}, "503"},
		"without more to do": {troupetest.Fault{Effect: "EndWatch", Events: 3}, "ADDED ADDED ADDED"},
	} {
		for _, protocols := range []string{"http/1.1", "h2"} {
			t.Run(name+"/"+strings.ReplaceAll(protocols, "/", " "), func(t *testing.T) {
				t.Parallel()
				s := troupetest.Start(t, troupetest.WithFaults(), troupetest.WithConfig(func(c *daemon.Config) { c.Serving.DisableHTTP2 = false }))
				from := mustDo(t, s, 200, "GET", configMaps, "")["metadata"].(map[string]any)["resourceVersion"]
				for _, object := range []string{"a", "b", "c"} {
					mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"`+object+`"}}`)
				}
				s.SetFaults(test.fault)
				config := s.TLS()
				config.NextProtos = []string{protocols}
				transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: protocols == "h2"}
				if protocols != "h2" {
					transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
				}
				url := fmt.Sprintf("%s%s?watch=1&resourceVersion=%s", s.URL, configMaps, from)
				if got := watchUntilEnd(t, &http.Client{Transport: transport}, url, protocols == "h2"); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	}
}

func watchUntilEnd(t *testing.T, c *http.Client, url string, http2 bool) string {
	t.Helper()
	answer, err := c.Get(url)
	if err != nil {
		return "cut"
	}
	defer answer.Body.Close()
	if http2 != (answer.ProtoMajor == 2) {
		t.Errorf("the protocol is %s", answer.Proto)
	}
	if answer.StatusCode != 200 {
		return fmt.Sprint(answer.StatusCode)
	}
	var seen []string
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		var event struct {
			Type   string
			Object struct {
				Code   int
				Reason string
			}
		}
		must.Succeed(t, json.Unmarshal(lines.Bytes(), &event))
		seen = append(seen, event.Type)
		if event.Type == "ERROR" {
			seen = append(seen, fmt.Sprint(event.Object.Code), event.Object.Reason)
		}
	}
	if lines.Err() != nil {
		seen = append(seen, "cut")
	}
	return strings.Join(seen, " ")
}

// TestStaleReads checks that only reads that accept an older state get one, and that it is not
// older than their minimum.
func TestStaleReads(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t, troupetest.WithFaults())
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":"1"}}`)
	two := mustDo(t, s, 200, "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"2"}}`)["metadata"].(map[string]any)["resourceVersion"]
	three := mustDo(t, s, 200, "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"3"}}`)["metadata"].(map[string]any)["resourceVersion"]
	s.SetFaults(troupetest.Fault{Effect: "Stale"})
	for query, want := range map[string]string{
		"":                                     "3",
		"?resourceVersion=0":                   "2",
		fmt.Sprint("?resourceVersion=", two):   "2",
		fmt.Sprint("?resourceVersion=", three): "3",
	} {
		one := mustDo(t, s, 200, "GET", configMaps+"/a"+query, "")
		list := mustDo(t, s, 200, "GET", configMaps+query, "")["items"].([]any)
		for _, o := range []any{one, list[0]} {
			if got := o.(map[string]any)["data"].(map[string]any)["k"]; got != want {
				t.Errorf("%q: %v, want %s", query, got, want)
			}
		}
	}
	for _, query := range []string{
		"?limit=1", fmt.Sprint("?resourceVersionMatch=Exact&resourceVersion=", three), fmt.Sprint("?limit=1&resourceVersion=", three),
	} {
		list := mustDo(t, s, 200, "GET", configMaps+query, "")["items"].([]any)
		if got := list[0].(map[string]any)["data"].(map[string]any)["k"]; got != "3" {
			t.Errorf("%q: %v", query, got)
		}
	}
	s.SetFaults(troupetest.Fault{Effect: "Stale", Versions: 2})
	mustDo(t, s, 200, "DELETE", configMaps+"/a", "")
	mustDo(t, s, 404, "GET", configMaps+"/a", "")
	if got := mustDo(t, s, 200, "GET", configMaps+"/a?resourceVersion=0", "")["data"].(map[string]any)["k"]; got != "2" {
		t.Errorf("deleted: %v", got)
	}
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"new"}}`)
	mustDo(t, s, 404, "GET", configMaps+"/new?resourceVersion=0", "")
	s.SetFaults(troupetest.Fault{Effect: "Stale", Versions: 1 << 40})
	mustDo(t, s, 200, "GET", configMaps+"/new?resourceVersion=0", "") // the history does not reach that far
}

func TestFaultsOfRunningServer(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	must.Succeed(t, os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"), 0o600))
	s := troupetest.Start(t, troupetest.WithConfig(func(c *daemon.Config) {
		c.Serving.FaultInjection, c.Audit.PolicyFile, c.Audit.Log.Path = true, policy, log
	}))
	put := func(text string) (int, string) {
		answer, body, err := send(t, s.Credentials, "PUT", s.URL+"/debug/faults", text, "")
		must.Succeed(t, err)
		return answer.StatusCode, body
	}
	if code, text := put("seed: 5\nrules:\n- name: flaky\n  effect: Drop\n  verbs: [create]\n  count: 1\n"); code != 200 || !strings.Contains(text, `"seed":5`) {
		t.Errorf("%d %s", code, text)
	}
	for _, invalid := range []string{"seed: x", "rules: [{effect: Drop, verb: [get]}]", "rules: [{effect: Explode}]"} {
		if code, text := put(invalid); code != 400 {
			t.Errorf("%s: %d %s", invalid, code, text)
		}
	}
	if _, _, err := send(t, s.Credentials, "POST", s.URL+configMaps, `{"metadata":{"name":"a"}}`, ""); err == nil {
		t.Error("the connection was not dropped")
	}
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	if _, text, err := send(t, s.Credentials, "GET", s.URL+"/debug/faults", "", ""); err != nil || !strings.Contains(text, `"counts":[{"rule":"flaky","matched":2,"injected":1}]`) {
		t.Errorf("%v %s", err, text)
	}
	if _, text, err := send(t, s.Credentials, "GET", s.URL+"/metrics", "", ""); err != nil || !strings.Contains(text, `troupe_injected_faults_total{rule="flaky",effect="Drop"} 1`) {
		t.Errorf("%v: the metric is missing", err)
	}
	s.Restart(t) // flushes the audit log
	events := bytes.Split(must.Get(os.ReadFile(log))(t), []byte("\n"))
	annotated := slices.DeleteFunc(events, func(e []byte) bool { return !bytes.Contains(e, []byte(`"troupe/injected-fault":"flaky: Drop"`)) })
	if len(annotated) != 1 || !bytes.Contains(annotated[0], []byte(`"code":500`)) {
		t.Errorf("events of the fault: %s", annotated)
	}
}

func TestNoFaultsByDefault(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t)
	if answer, _, err := send(t, s.Credentials, "PUT", s.URL+"/debug/faults", "rules: [{effect: Drop}]", ""); err != nil || answer.StatusCode != 404 {
		t.Errorf("%v %v", answer, err)
	}
	mustDo(t, s, 200, "GET", configMaps, "")
}

// TestRestart checks that clients can continue after a restart with their credentials, tokens,
// watches and recorded changes.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]troupetest.Option{
		"memory": troupetest.WithConfig(func(*daemon.Config) {}),
		"disk":   troupetest.WithConfig(func(c *daemon.Config) { c.Ephemeral, c.DataDir = false, t.TempDir() }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := troupetest.Start(t, option, troupetest.WithFaults())
			mustDo(t, s, 201, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"robot"}}`)
			token := mustDo(t, s, 201, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", `{"spec":{}}`)["status"].(map[string]any)["token"].(string)
			jane := s.User("jane", "system:masters")
			changes := s.Changes(t, troupetest.OfKinds("ConfigMap"), troupetest.InNamespaces("default"))
			a := mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"}}`)
			version := a["metadata"].(map[string]any)["resourceVersion"]
			watch := must.Get(jane.Client().Get(fmt.Sprintf("%s%s?watch=1&resourceVersion=%s", s.URL, configMaps, version)))(t)
			defer watch.Body.Close()

			s.SetFaults(troupetest.Fault{Effect: "Conflict", Verbs: []string{"delete"}})
			s.Restart(t)
			if rest, err := io.ReadAll(watch.Body); len(rest) > 0 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("the watch ends with %q, %v", rest, err)
			}
			mustDo(t, s, 409, "DELETE", configMaps+"/a", "") // the faults continue
			s.SetFaults()
			mustDo(t, s, 200, "GET", configMaps+"/a", "")
			mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"b"}}`)
			request := must.Get(http.NewRequest("GET", fmt.Sprintf("%s%s?watch=1&resourceVersion=%s", s.URL, configMaps, version), nil))(t)
			resumed := must.Get(jane.Client().Do(request))(t)
			defer resumed.Body.Close()
			if line, err := bufio.NewReader(resumed.Body).ReadString('\n'); err != nil || !strings.Contains(line, `"name":"b"`) {
				t.Errorf("the resumed watch: %s %v", line, err)
			}
			review := mustDo(t, s, 201, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`)
			if review["status"].(map[string]any)["authenticated"] != true {
				t.Errorf("the token is invalid after the restart: %v", review)
			}
			s.Restart(t)
			mustDo(t, s, 200, "DELETE", configMaps+"/a", "")
			var seen []string
			for _, c := range changes.Committed() {
				seen = append(seen, c.Verb+" "+c.Name)
			}
			if got := strings.Join(seen, ", "); got != "create a, create b, delete a" {
				t.Errorf("recorded %s", got)
			}
		})
	}
}

// TestLatency checks only the minimum time, because the server's clock is not that of the test.
func TestLatency(t *testing.T) {
	t.Parallel()
	const latency = 30
	s := troupetest.Start(t, troupetest.WithFaults(troupetest.Fault{Effect: "ServiceUnavailable", LatencyMilliseconds: latency, Count: 1}))
	began := time.Now()
	mustDo(t, s, 503, "GET", configMaps, "")
	if took := time.Since(began); took < latency*time.Millisecond {
		t.Errorf("took %s", took)
	}
}

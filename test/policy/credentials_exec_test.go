package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
	testclient "github.com/troupe-api/troupe/test/client"
)

// TestPluginInput checks the arguments, environment and path of a credential plugin. The apiVersion
// determines the variable with the ExecCredential. The plugin's path is relative to the kubeconfig.
func TestPluginInput(t *testing.T) {
	t.Parallel()
	s := serveCredentials(t)
	for version, variable := range map[string]string{
		apiVersion: "PLATFORM_EXEC_INFO",
		"client.authentication.platform.io/v1beta1": "PLATFORM_EXEC_INFO",
		"client.authentication.k8s.io/v1":           "KUBERNETES_EXEC_INFO",
		"client.authentication.k8s.io/v1beta1":      "KUBERNETES_EXEC_INFO",
	} {
		for _, cluster := range []bool{true, false} {
			p := newPlugin(t)
			p.answer(version, `"token":"t0"`)
			extension := `, extensions: [{name: other, extension: 1}, {name: ` + strings.SplitN(version, "/", 2)[0] + `/exec, extension: {audience: [a, 1]}}]`
			path := p.config(s.cluster()+`, tls-server-name: example.com`+extension, fmt.Sprintf("apiVersion: %s, interactiveMode: IfAvailable, args: [--a, b c], provideClusterInfo: %v", version, cluster))
			answer, err := clientCredentials(t, path, kubeconfig.Programs{}).Get(s.URL)
			if err != nil || answer.StatusCode != 200 {
				t.Fatal(answer, err)
			}
			g := p.given()
			if !slices.Equal(g.Args[1:], []string{"--a", "b c"}) || g.Args[0] != filepath.Join(p.dir, "bin", "plugin") {
				t.Errorf("%s: arguments %q", version, g.Args)
			}
			if g.Env["PATH"] != os.Getenv("PATH") || g.Env[pluginVariable] != p.dir {
				t.Errorf("%s: the environment of the client, or env, is missing", version)
			}
			var info map[string]any
			if err := json.Unmarshal([]byte(g.Env[variable]), &info); err != nil {
				t.Fatalf("%s: %s is %q", version, variable, g.Env[variable])
			}
			spec := map[string]any{"interactive": false}
			if cluster {
				_, ca, _ := strings.Cut(s.cluster(), "certificate-authority-data: ")
				spec["cluster"] = map[string]any{
					"server": s.URL, "certificate-authority-data": ca, "tls-server-name": "example.com",
					"config": map[string]any{"audience": []any{"a", 1.0}},
				}
			}
			want := map[string]any{"kind": "ExecCredential", "apiVersion": version, "spec": spec}
			if fmt.Sprint(info) != fmt.Sprint(want) {
				t.Errorf("%s: got %v, want %v", version, info, want)
			}
			if header := s.headers[len(s.headers)-1]; header != "Bearer t0" {
				t.Errorf("%s: sent %q", version, header)
			}
		}
	}
}

// TestConfigurationFaults checks that loading a kubeconfig reports invalid plugin fields without
// running the plugin.
func TestConfigurationFaults(t *testing.T) {
	t.Parallel()
	const cluster = `server: "https://127.0.0.1:1"`
	for fields, want := range map[string]string{
		"interactiveMode: Never":                                                    "exec.apiVersion",
		"apiVersion: client.authentication.platform.io/v2":                          "exec.apiVersion",
		"apiVersion: client.authentication.other.io/v1, interactiveMode: Never":     "exec.apiVersion",
		"apiVersion: " + apiVersion:                                                 "exec.interactiveMode is required",
		"apiVersion: " + apiVersion + ", interactiveMode: Sometimes":                `exec.interactiveMode "Sometimes"`,
		"apiVersion: client.authentication.platform.io/v1beta1":                     "", // IfAvailable
		"apiVersion: client.authentication.platform.io/v1beta1, interactiveMode: X": `"X"`,
	} {
		p := newPlugin(t)
		_, err := kubeconfig.Load(p.config(cluster, fields))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("{%s}: got %v, want %q", fields, err, want)
		}
		if p.runs() != 0 {
			t.Errorf("{%s}: the plugin was run", fields)
		}
	}
	for user, want := range map[string]string{
		"exec: {" + never + "}":                                            "exec.command is required",
		"exec: {command: x, " + never + ", env: [{value: a}]}":             "env[0].name",
		"exec: {command: x, " + never + "}, auth-provider: {name: oidc}":   "both exec and auth-provider",
		"auth-provider: {name: gcp}":                                       `auth-provider.name "gcp"`,
		"auth-provider: {name: oidc, config: {client-id: a}}":              "idp-issuer-url",
		"auth-provider: {name: oidc, config: {idp-issuer-url: https://a}}": "client-id",
	} {
		path := filepath.Join(t.TempDir(), "config")
		text := "clusters: [{name: c, cluster: {" + cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]"
		testclient.WriteFile(t, path, text)
		if _, err := kubeconfig.Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("{%s}: got %v, want %q", user, err, want)
		}
	}
}

// TestAnswersOfAPlugin checks which plugin outputs are accepted, and the errors for others.
func TestAnswersOfAPlugin(t *testing.T) {
	t.Parallel()
	s := serveCredentials(t)
	pair := certificate(t, "jane")
	half, _, _ := strings.Cut(pair, `,"clientKeyData"`)
	const head = `{"kind":"ExecCredential","apiVersion":"` + apiVersion + `"`
	for answer, want := range map[string]string{
		head + `,"status":{"token":"t"}}`:                                               "",
		head + `,"status":{` + pair + `}}`:                                              "",
		head + `,"status":{"token":"t",` + pair + `}}`:                                  "",
		head + `,"status":{"token":"t","expirationTimestamp":"2999-01-01T00:00:00Z"}}`:  "",
		head + `,"status":{` + half + `}}`:                                              "only one of",
		head + `,"status":{"token":"t",` + half + `}}`:                                  "only one of",
		head + `,"status":{"clientKeyData":"s3cret"}}`:                                  "only one of",
		head + `,"status":{"clientCertificateData":"s3cret","clientKeyData":"s3cret"}}`: "not a PEM certificate",
		head + `,"status":{}}`:                                                          "neither status.token",
		head + `,"status":{"token":"s3cret\nX: y"}}`:                                    "control characters",
		head + `,"status":{"token":["s3cret"]}}`:                                        "status.token of its output has the wrong type",
		head + `,"status":{"token":"s3cret","expirationTimestamp":"soon"}}`:             "ExecCredential in JSON",
		head + `}`: "no status",
		`{"kind":"Other","apiVersion":"` + apiVersion + `","status":{"token":"s3cret"}}`:                                 `kind "Other"`,
		`{"kind":"ExecCredential","apiVersion":"client.authentication.platform.io/v1beta1","status":{"token":"s3cret"}}`: `apiVersion "client.authentication.platform.io/v1beta1"`,
		`s3cret`: "ExecCredential in JSON",
		``:       "ExecCredential in JSON",
		head + `,"status":{"token":"s3cret"}} {}`: "ExecCredential in JSON",
	} {
		p := newPlugin(t)
		p.write("answer", answer)
		got, err := clientCredentials(t, p.config(s.cluster(), never), kubeconfig.Programs{}).Get(s.URL)
		switch {
		case want == "" && (err != nil || got.StatusCode != 200):
			t.Errorf("%s: %v", answer, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "./bin/plugin")):
			t.Errorf("%s: %v, want %q", answer, err, want)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("the error holds what was answered: %v", err)
		}
	}
}

// TestPluginsThatFail checks the errors for plugins that are missing, fail, hang, or write
// endlessly.
func TestPluginsThatFail(t *testing.T) {
	t.Parallel()
	s := serveCredentials(t)
	for name, test := range map[string]struct {
		file, text, fields, want string
	}{
		"fails":         {"exit", "7", "", "exit status 7"},
		"does not end":  {"hang", "", "", "did not exit within 2s"},
		"talks forever": {"flood", "", "", "more than 1048576 bytes"},
		"is missing":    {"", "", `installHint: "apt-get install plugin\nand sign in", `, "was not found; the user of the client configuration needs it\n\napt-get install plugin\nand sign in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlugin(t)
			p.answer(apiVersion, `"token":"t"`)
			if test.file != "" {
				p.write(test.file, test.text)
			} else if err := os.Remove(filepath.Join(p.dir, "bin", "plugin")); err != nil {
				t.Fatal(err)
			}
			timeout := time.Minute
			if test.file == "hang" {
				timeout = 2 * time.Second
			}
			_, err := clientCredentials(t, p.config(s.cluster(), test.fields+never), kubeconfig.Programs{Timeout: timeout}).Get(s.URL)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	p := newPlugin(t)
	path := filepath.Join(p.dir, "config")
	p.write("config", "clusters: [{name: c, cluster: {"+s.cluster()+"}}]\nusers: [{name: u, user: {exec: {command: no-such-plugin-in-path, installHint: get it, "+never+"}}}]")
	if _, err := clientCredentials(t, path, kubeconfig.Programs{}).Get(s.URL); err == nil || !strings.HasSuffix(err.Error(), "get it") {
		t.Errorf("a program that is not in PATH: %v", err)
	}
}

// TestPluginStderr checks that the user sees a plugin's standard error.
func TestPluginStderr(t *testing.T) {
	t.Parallel()
	s, p := serveCredentials(t), newPlugin(t)
	p.answer(apiVersion, `"token":"t"`)
	var stderr bytes.Buffer
	if _, err := clientCredentials(t, p.config(s.cluster(), never), kubeconfig.Programs{Stderr: &stderr}).Get(s.URL); err != nil {
		t.Fatal(err)
	}
	if stderr.String() != "a word to people\n" {
		t.Errorf("people read %q", stderr.String())
	}
}

// TestCaching checks that a credential is fetched once for all requests, and again after it expires
// or is rejected.
func TestCaching(t *testing.T) {
	t.Parallel()
	s, p := serveCredentials(t), newPlugin(t)
	p.answer(apiVersion, `"token":"t0"`)
	c := clientCredentials(t, p.config(s.cluster(), never), kubeconfig.Programs{})
	get := func(method, body string, want int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Do(r)
		if err != nil || answer.StatusCode != want {
			t.Fatalf("got %v, %v, want %d", answer, err, want)
		}
		answer.Body.Close()
	}
	done := make(chan struct{})
	for range 20 {
		go func() { get("GET", "", 200); done <- struct{}{} }()
	}
	for range 20 {
		<-done
	}
	if p.runs() != 1 {
		t.Errorf("run %d times for 20 requests at once", p.runs())
	}
	// After a rejection, the client fetches a new credential and repeats the request with its body.
	s.mu.Lock()
	s.refuse["Bearer t0"] = true
	s.mu.Unlock()
	p.answer(apiVersion, `"token":"t1"`)
	get("POST", "a body", 200)
	if p.runs() != 2 || s.headers[len(s.headers)-1] != "Bearer t1" || s.bodies[len(s.bodies)-1] != "a body" {
		t.Errorf("after 401: run %d times, sent %q with %q", p.runs(), s.headers, s.bodies)
	}
	// If the server also rejects the new credential, the request fails with 401 after one more
	// fetch.
	s.mu.Lock()
	s.refuse["Bearer t1"] = true
	s.mu.Unlock()
	get("GET", "", 401)
	if p.runs() != 3 {
		t.Errorf("after a 401 for good: run %d times", p.runs())
	}
	// An expired credential is refetched for each request.
	p.answer(apiVersion, `"token":"t2","expirationTimestamp":"2020-01-01T00:00:00Z"`)
	get("GET", "", 200) // the cached one is rejected first
	get("GET", "", 200)
	get("GET", "", 200)
	if p.runs() != 6 {
		t.Errorf("what has expired was kept: run %d times", p.runs())
	}
	p.answer(apiVersion, `"token":"t3","expirationTimestamp":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"`)
	get("GET", "", 200)
	get("GET", "", 200)
	if p.runs() != 7 {
		t.Errorf("what has not expired was got again: run %d times", p.runs())
	}
}

// TestNewCertificate checks that the client opens a new connection for a new certificate.
func TestNewCertificate(t *testing.T) {
	t.Parallel()
	s, p := serveCredentials(t), newPlugin(t)
	jane := certificate(t, "jane")
	p.answer(apiVersion, jane+`,"expirationTimestamp":"2020-01-01T00:00:00Z"`) // expired, so that the plugin runs each time
	c := clientCredentials(t, p.config(s.cluster(), never), kubeconfig.Programs{})
	get := func() {
		t.Helper()
		answer, err := c.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	get()
	get()
	if s.accepted != 1 {
		t.Errorf("%d connections for one certificate", s.accepted)
	}
	p.answer(apiVersion, certificate(t, "john"))
	get()
	get()
	if s.accepted != 2 || !slices.Equal(s.names, []string{"jane", "jane", "john", "john"}) {
		t.Errorf("%d connections, of %q", s.accepted, s.names)
	}
	// A new token does not require a new connection.
	p.answer(apiVersion, `"token":"a"`)
	s.mu.Lock()
	s.refuse["john"] = true
	s.mu.Unlock()
	get()
	if s.accepted != 3 || s.headers[len(s.headers)-1] != "Bearer a" {
		t.Errorf("%d connections, sent %q", s.accepted, s.headers)
	}
	p.answer(apiVersion, `"token":"b"`)
	s.mu.Lock()
	s.refuse["Bearer a"] = true
	s.mu.Unlock()
	get()
	if s.accepted != 3 || s.headers[len(s.headers)-1] != "Bearer b" {
		t.Errorf("%d connections, sent %q", s.accepted, s.headers)
	}
}

// TestModes checks that a plugin may read standard input only if standard input is a terminal that
// the client does not read itself.
func TestModes(t *testing.T) {
	t.Parallel()
	s := serveCredentials(t)
	terminal, keyboard := testclient.OpenTerminal(t)
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, test := range []struct {
		mode, use   string
		stdin       *os.File
		interactive bool
		want        string
	}{
		{"Never", "", terminal, false, ""},
		{"IfAvailable", "", terminal, true, ""},
		{"Always", "", terminal, true, ""},
		{"IfAvailable", "", file, false, ""},
		{"IfAvailable", "", nil, false, ""},
		{"IfAvailable", "-f -", terminal, false, ""},
		{"Always", "", file, false, "standard input is not a terminal"},
		{"Always", "", nil, false, "standard input is not a terminal"},
		{"Always", "-f -", terminal, false, "standard input is used by -f -"},
	} {
		p := newPlugin(t)
		p.answer(apiVersion, `"token":"t"`)
		if test.interactive {
			p.write("readstdin", "")
			if _, err := keyboard.WriteString("my password\n"); err != nil {
				t.Fatal(err)
			}
		}
		programs := kubeconfig.Programs{Stdin: test.stdin, StdinUse: test.use}
		_, err := clientCredentials(t, p.config(s.cluster(), "apiVersion: "+apiVersion+", interactiveMode: "+test.mode), programs).Get(s.URL)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) || p.runs() != 0 {
				t.Errorf("%+v: %v after %d runs", test, err, p.runs())
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		g := p.given()
		if said := strings.Contains(g.Env["PLATFORM_EXEC_INFO"], `"interactive":true`); said != test.interactive {
			t.Errorf("%+v: got %s", test, g.Env["PLATFORM_EXEC_INFO"])
		}
		if test.interactive && g.Stdin != "my password\n" {
			t.Errorf("%+v: read %q", test, g.Stdin)
		}
	}
}

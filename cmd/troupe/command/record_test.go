package command

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/internal/recording"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// others makes the changes to which the controller reacts. It waits for each reaction.
type others struct {
	t       *testing.T
	server  *troupetest.Server
	changes *troupetest.Changes
}

func (o *others) do(method, path, body string) {
	o.t.Helper()
	request := must.Get(http.NewRequest(method, o.server.URL+path, strings.NewReader(body)))(o.t)
	request.Header.Set("Content-Type", map[string]string{"PATCH": "application/merge-patch+json"}[method])
	answer := must.Get(o.server.Client().Do(request))(o.t)
	answer.Body.Close()
	if answer.StatusCode > 201 {
		o.t.Errorf("%s %s: %s", method, path, answer.Status)
	}
}

// await blocks until an object with the given verb and name prefix changes, and returns its name.
func (o *others) await(ctx context.Context, verb, prefix string) string {
	o.t.Helper()
	for {
		if c := o.changes.Next(ctx); c.Verb == verb && strings.HasPrefix(c.Name, prefix) {
			return c.Name
		}
	}
}

// act makes changes that trigger all reactions of the controller.
func (o *others) act(ctx context.Context) {
	run := o.await(ctx, "create", "run-")
	o.do("PATCH", shop+"configmaps/a", `{"data":{"text":"two"}}`)
	o.await(ctx, "update", "a-copy")
	o.do("PATCH", shop+"configmaps/"+run, `{"data":{"done":"yes"}}`)
	o.await(ctx, "delete", run)
	o.do("DELETE", "/apis/example.com/v1/namespaces/shop/widgets/w", "")
	o.await(ctx, "delete", "w")
	o.do("POST", "/apis/example.com/v1/namespaces/shop/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":4}}`)
	o.await(ctx, "create", "run-")
	o.do("DELETE", shop+"configmaps/a", "")
	o.await(ctx, "delete", "a-copy")
	o.do("POST", shop+"configmaps", `{"metadata":{"name":"stop"}}`)
}

// startShop starts a server without garbage collection, which would interfere with the controller.
func startShop(t *testing.T, profile string) *troupetest.Server {
	t.Helper()
	files := troupetest.WithFiles("testdata/record/" + profile + ".yaml")
	return troupetest.Start(t, troupetest.WithNaming(profile), files, troupetest.WithControllers("-garbage-collector-controller"))
}

func controllerArgs(build string) []string { return []string{"--", os.Args[0], "controller", build} }

const equal = "objects: 6, errors: 0, warnings: 0\n"

// TestRecord records the controller. It replays the recording to the same build, and to a build
// without conflicts.
func TestRecord(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{troupetest.Kubernetes, troupetest.Platform} {
		for _, secrets := range []string{"redact", "copy"} {
			t.Run(profile+" "+secrets, func(t *testing.T) {
				t.Parallel()
				server := startShop(t, profile)
				file := filepath.Join(t.TempDir(), "shop.recording")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				o := &others{t, server, server.Changes(t)}
				acted := make(chan struct{})
				go func() {
					defer close(acted)
					o.act(ctx)
				}()
				args := []string{"record", "--kubeconfig", server.KubeconfigFile(), "-o", file, "--secrets", secrets}
				if out := runCommand(t, append(args, controllerArgs("same")...)); !regexp.MustCompile(`^\S+: \d+ entries\n$`).MatchString(out) {
					t.Fatalf("the command printed %q", out)
				}
				<-acted
				text := must.Get(os.ReadFile(file))(t)
				if found := bytes.Contains(text, []byte("c2VjcmV0LXZhbHVl")); found != (secrets == "copy") {
					t.Errorf("the value of the Secret is recorded: %v", found)
				}
				for _, secret := range []string{"Bearer", "Authorization", string(server.Key())} {
					if bytes.Contains(text, []byte(secret)) {
						t.Errorf("%q is recorded", secret)
					}
				}
				if info := must.Get(os.Stat(file))(t); info.Mode().Perm() != 0o600 {
					t.Errorf("the file has mode %v", info.Mode())
				}
				if *update && profile == troupetest.Kubernetes && secrets == "redact" {
					must.Succeed(t, os.WriteFile("testdata/record/shop.recording", text, 0o644))
				}
				for _, build := range []string{"same", "calm"} {
					if out := runCommand(t, append([]string{"replay", file, "--idle", "1h"}, controllerArgs(build)...)); out != equal {
						t.Errorf("%s: %s", build, out)
					}
				}
			})
		}
	}
}

// TestReplay compares the reports about other builds, in all formats.
func TestReplay(t *testing.T) {
	t.Parallel()
	compareSession(t, "testdata/record/session.txt", func(args string) string {
		return strings.NewReplacer("DIR", "testdata/record", "CONTROLLER", os.Args[0]+" controller").Replace(args)
	})
}

func TestKilledRecorder(t *testing.T) {
	t.Parallel()
	server := startShop(t, troupetest.Kubernetes)
	o := &others{t, server, server.Changes(t)}
	file := filepath.Join(t.TempDir(), "shop.recording")
	args := append([]string{"troupe", "record", "--kubeconfig", server.KubeconfigFile(), "-o", file}, controllerArgs("same")...)
	recorder := exec.Command(os.Args[0], args...)
	must.Succeed(t, recorder.Start())
	o.await(t.Context(), "create", "run-")
	must.Succeed(t, recorder.Process.Kill())
	recorder.Wait()
	o.do("POST", shop+"configmaps", `{"metadata":{"name":"stop"}}`)
	r := must.Get(recording.Read(file))(t)
	if last := r.Entries[len(r.Entries)-1]; len(r.Entries) < 10 || last.Seq != len(r.Entries)+1 {
		t.Errorf("%d entries were read, the last is %+v", len(r.Entries), last)
	}
	text := must.Get(os.ReadFile("testdata/record/shop.recording"))(t)
	must.Succeed(t, os.WriteFile(file, append(text, `{"seq":1000,"req`...), 0o600))
	if out := runCommand(t, append([]string{"replay", file, "--idle", "1h"}, controllerArgs("same")...)); out != equal {
		t.Errorf("with an incomplete last line: %s", out)
	}
}

// TestRecordUntilInterrupted checks that the recorder forwards and records the requests of several
// clients, rejects those without the printed token, and exits with 0 after an interrupt.
func TestRecordUntilInterrupted(t *testing.T) {
	t.Parallel()
	server := troupetest.Start(t)
	file := filepath.Join(t.TempDir(), "until.recording")
	recorder := exec.Command(os.Args[0], "troupe", "record", "--kubeconfig", server.KubeconfigFile(), "-o", file)
	stdout := must.Get(recorder.StdoutPipe())(t)
	must.Succeed(t, recorder.Start())
	line := must.Get(bufio.NewReader(stdout).ReadString('\n'))(t)
	path, ok := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG=")
	if !ok {
		t.Fatalf("the command printed %q", line)
	}
	config := must.Get(kubeconfig.Load(path))(t)
	url := config.Server.String() + "/api/v1/namespaces/default/configmaps"
	client := &http.Client{Transport: config.Transport(func() *http.Transport { return &http.Transport{DisableKeepAlives: true} })}
	anonymous := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: config.TLS}}
	for _, c := range []struct {
		client            *http.Client
		contentType, body string
		want              int
	}{
		{anonymous, "application/json", `{"metadata":{"name":"one"}}`, http.StatusUnauthorized},
		{client, "application/cbor", "\xa0", http.StatusUnsupportedMediaType},
		{client, "application/json", `{"metadata":{"name":"one"}}`, http.StatusCreated},
		{client, "application/yaml", "metadata: {name: two}", http.StatusCreated},
	} {
		answer := must.Get(c.client.Post(url, c.contentType, strings.NewReader(c.body)))(t)
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: %s, want %d", c.contentType, answer.Status, c.want)
		}
	}
	must.Succeed(t, recorder.Process.Signal(os.Interrupt))
	must.Succeed(t, recorder.Wait())
	var bodies []string
	for _, e := range must.Get(recording.Read(file))(t).Entries {
		if e.Method != "" {
			bodies = append(bodies, string(e.Body))
		}
	}
	if got := strings.Join(bodies, " "); got != `{"metadata":{"name":"one"}} {"metadata":{"name":"two"}}` {
		t.Errorf("recorded %s", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig was left behind: %v", err)
	}
}

func TestRecordErrors(t *testing.T) {
	t.Parallel()
	server, dir := troupetest.Start(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	header := `{"recording":1,"naming":"kubernetes","secrets":"redact"}` + "\n"
	controller := strings.Join(controllerArgs("idle"), " ")
	record := "record --kubeconfig " + server.KubeconfigFile() + " -o " + filepath.Join(dir, "out")
	kept := write("kept", "kept")
	for _, c := range []struct{ args, want string }{
		{"record " + controller, "--output is required"},
		{record + " controller", `unexpected argument "controller": give the command after --`},
		{record + " --secrets omit " + controller, `--secrets "omit": must be redact or copy`},
		{record + " " + controller, "nothing was recorded: the controller must use the kubeconfig in KUBECONFIG\n[exit 1]"},
		{record + " -- " + os.Args[0] + " controller same", "error: the command failed: exit status 3\n[exit 3]"},
		{record + "/x " + controller, "error: open " + filepath.Join(dir, "out/x") + ": not a directory\n[exit 1]"},
		{"record --kubeconfig " + server.KubeconfigFile() + " -o " + kept + " -- missing-program", `"missing-program": executable file not found`},
		{"replay x.recording", "give one recording, and the command after --\n[exit 2]"},
		{"replay x.recording --idle 0s " + controller, "--idle 0s: must be positive\n[exit 2]"},
		{"replay testdata/record/shop.recording --idle 50ms " + strings.Join(controllerArgs("hanging"), " "), "no request within 1s: the controller must use the kubeconfig in KUBECONFIG\n[exit 2]"},
		{"replay x.recording -o xml " + controller, `--output "xml": must be one of text, json, sarif, junit`},
		{"replay missing.recording " + controller, "missing.recording: no such file"},
		{"replay " + write("new", `{"recording":2}`+"\n") + " " + controller, "new: format 2 is newer than 1: use a newer troupe"},
		{"replay " + write("other", `{"kind":"List"}`+"\n") + " " + controller, "other:1: not a recording of troupe record"},
		{"replay " + write("binary", "\x00\n") + " " + controller, "binary:1: invalid character"},
		{"replay " + write("empty", header) + " " + controller, "empty: nothing was recorded"},
		{"replay " + write("gap", header+`{"seq":3}`+"\n") + " " + controller, "gap:2: seq is 3, must be the line number"},
		{"replay " + write("broken", header+`{"seq":2}`+"\n{\n") + " " + controller, "broken:3: unexpected end of JSON input"},
	} {
		if out := runCommand(t, strings.Fields(c.args)); !strings.Contains(out, c.want) || strings.Contains(out, " 0 entries") {
			t.Errorf("%s: %q, want %q in it", c.args, out, c.want)
		}
	}
	if text := must.Get(os.ReadFile(kept))(t); string(text) != "kept" {
		t.Errorf("a command that does not exist has changed the recording to %q", text)
	}
}

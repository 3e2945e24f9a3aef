package extension

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	clientexec "k8s.io/client-go/util/exec"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// executors maps each streaming protocol to a function that creates an executor.
var executors = map[string]func(*rest.Config, *url.URL) (remotecommand.Executor, error){
	"SPDY": func(c *rest.Config, u *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewSPDYExecutor(c, "POST", u)
	},
	"WebSocket": func(c *rest.Config, u *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(c, "GET", u.String())
	},
}

// TestExec runs commands in containers over SPDY and WebSocket.
func TestExec(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	for name, executor := range executors {
		t.Run(name, func(t *testing.T) {
			run := func(in io.Reader, tty bool, sizes remotecommand.TerminalSizeQueue, command ...string) (out, errOut string, err error) {
				t.Helper()
				e, err := executor(c.config, c.stream("exec", "one", &corev1.PodExecOptions{Stdin: in != nil, Stdout: true, Stderr: !tty, TTY: tty, Command: command}))
				must(t, err)
				var stdout, stderr bytes.Buffer
				o := remotecommand.StreamOptions{Stdin: in, Stdout: &stdout, Tty: tty, TerminalSizeQueue: sizes}
				if !tty {
					o.Stderr = &stderr
				}
				err = e.StreamWithContext(t.Context(), o)
				return stdout.String(), stderr.String(), err
			}
			if out, errOut, err := run(nil, false, nil, "sh", "-c", "echo out; echo err >&2"); out != "out\n" || errOut != "err\n" || err != nil {
				t.Errorf("%q %q %v", out, errOut, err)
			}
			large := strings.Repeat("0123456789abcdef", 1<<16)
			if out, _, err := run(strings.NewReader(large), false, nil, "cat"); out != large || err != nil {
				t.Errorf("%d of %d bytes came back: %v", len(out), len(large), err)
			}
			_, _, err := run(nil, false, nil, "sh", "-c", "exit 7")
			if exit, ok := err.(clientexec.CodeExitError); !ok || exit.Code != 7 {
				t.Errorf("the exit code is lost: %v", err)
			}
			if out, _, err := run(strings.NewReader(""), true, &terminal{{Width: 80, Height: 24}}, "size"); out != "80x24\n" || err != nil {
				t.Errorf("%q %v", out, err)
			}
		})
	}
	client.Eventually(t, func() error {
		if n := c.kubelet.open.Load(); n != 0 {
			return fmt.Errorf("%d streams are left", n)
		}
		return nil
	})
}

// A terminal is a remotecommand.TerminalSizeQueue with fixed sizes.
type terminal []remotecommand.TerminalSize

func (s *terminal) Next() *remotecommand.TerminalSize {
	if len(*s) == 0 {
		return nil
	}
	size := (*s)[0]
	*s = (*s)[1:]
	return &size
}

// TestAttach attaches to a running container over SPDY and WebSocket.
func TestAttach(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	for name, executor := range executors {
		e, err := executor(c.config, c.stream("attach", "two", &corev1.PodAttachOptions{Stdin: true, Stdout: true, Container: "side"}))
		must(t, err)
		var out bytes.Buffer
		err = e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader("hello"), Stdout: &out})
		if out.String() != "hello" || err != nil {
			t.Errorf("%s: %q %v", name, out.String(), err)
		}
	}
}

// TestPortForward connects to a server in a Pod over SPDY and WebSocket, also concurrently.
func TestPortForward(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.URL) }))
	t.Cleanup(behind.Close)
	_, port, err := net.SplitHostPort(behind.Listener.Addr().String())
	must(t, err)
	u := c.stream("portforward", "one", nil)
	transport, upgrader, err := spdy.RoundTripperFor(c.config)
	must(t, err)
	overWebSocket, err := portforward.NewSPDYOverWebsocketDialer(u, c.config)
	must(t, err)
	overSPDY := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", u)
	forward := func(name string, f *portforward.PortForwarder, err error, ready, stop chan struct{}) {
		t.Helper()
		must(t, err)
		done := make(chan error, 1)
		go func() { done <- f.ForwardPorts() }()
		select {
		case <-ready:
		case err := <-done:
			t.Fatalf("%s: %v", name, err)
		}
		ports, err := f.GetPorts()
		must(t, err)
		for i := range 5 {
			resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/%d", ports[0].Local, i))
			must(t, err)
			body, err := io.ReadAll(resp.Body)
			must(t, err)
			if string(body) != fmt.Sprintf("hello /%d", i) {
				t.Errorf("%s: %s", name, body)
			}
		}
		close(stop)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	ready, stop := make(chan struct{}), make(chan struct{})
	f, err := portforward.New(overSPDY, []string{"0:" + port}, stop, ready, io.Discard, os.Stderr)
	forward("SPDY", f, err, ready, stop)
	ready, stop = make(chan struct{}), make(chan struct{})
	f, err = portforward.New(overWebSocket, []string{"0:" + port}, stop, ready, io.Discard, os.Stderr)
	forward("WebSocket", f, err, ready, stop)
}

// TestLogs reads complete and followed logs.
func TestLogs(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	pods := c.clients.CoreV1().Pods("default")
	lines, seconds := int64(5), int64(9)
	text, err := pods.GetLogs("two", &corev1.PodLogOptions{Container: "side", Previous: true, Timestamps: true, TailLines: &lines, SinceSeconds: &seconds}).DoRaw(t.Context())
	want := "log /containerLogs/default/two/side?previous=true&sinceSeconds=9&stream=All&tailLines=5&timestamps=true\n"
	if string(text) != want || err != nil {
		t.Errorf("%s %v", text, err)
	}
	if seen := c.kubelet.seen.Load(); seen.Header.Get("Accept") != "" || seen.TLS.PeerCertificates[0].Subject.CommonName != "apiserver" {
		t.Errorf("the kubelet saw %v", seen.Header)
	}
	stream, err := pods.GetLogs("one", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	must(t, err)
	r := bufio.NewReader(stream)
	if line, err := r.ReadString('\n'); !strings.Contains(line, "follow=true") || err != nil {
		t.Errorf("%q %v", line, err)
	}
	close(c.kubelet.hold)
	if rest, err := io.ReadAll(r); string(rest) != "more\n" || err != nil {
		t.Errorf("%q %v", rest, err)
	}
	if text, err := c.get(t, "/api/v1/namespaces/default/pods/unbound/log"); text != "" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}

// TestFaults checks that error messages match those of kube-apiserver.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	c.addNode(t, "bare", nil, 0)
	c.addNode(t, "named", []corev1.NodeAddress{{Type: "Other", Address: "x"}}, 0)
	c.addPod(t, "lost", "bare", "", "main", "absent", "waiting", "astray")
	c.addPod(t, "odd", "here", "", "main", "absent", "waiting", "astray")
	c.addPod(t, "gone", "nowhere", "", "main")
	const pods = "/api/v1/namespaces/default/pods/"
	for path, want := range map[string]string{
		pods + "none/log":                                   `404 NotFound pods "none" not found`,
		pods + "two/log":                                    "400 BadRequest a container name must be specified for pod two, choose one of: [main side]",
		pods + "two/log?container=x":                        "400 BadRequest container x is not valid for pod two",
		pods + "two/exec?container=x":                       "400 BadRequest container x is not valid for pod two",
		pods + "unbound/exec":                               "400 BadRequest pod unbound does not have a host assigned",
		pods + "unbound/portforward":                        "400 BadRequest pod unbound does not have a host assigned",
		pods + "one/exec":                                   "400 BadRequest Upgrade request required",
		pods + "one/portforward?ports=x":                    `400 BadRequest strconv.ParseInt: parsing "x": invalid syntax`,
		pods + "one/log?tailLines=x":                        `400 BadRequest strconv.ParseInt: parsing "x": invalid syntax`,
		pods + "one/log?tailLines=-1":                       `422 Invalid PodLogOptions "one" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0`,
		pods + "one/log?limitBytes=0":                       `422 Invalid PodLogOptions "one" is invalid: limitBytes: Invalid value: 0: must be greater than 0`,
		pods + "one/log?stream=x":                           `422 Invalid PodLogOptions "one" is invalid: stream: Unsupported value: "x": supported values: "All", "Stderr", "Stdout"`,
		pods + "one/log/more":                               "404 NotFound the server could not find the requested resource",
		pods + "lost/log?container=main":                    "500  no preferred addresses found; known addresses: []",
		pods + "lost/exec?container=main":                   "500  no preferred addresses found; known addresses: []",
		pods + "gone/log":                                   `404 NotFound nodes "nowhere" not found`,
		"/api/v1/nodes/named/proxy/":                        "500  no preferred addresses found; known addresses: [{Other x}]",
		"/api/v1/nodes/here/proxy/metrics":                  "400 BadRequest address not allowed",
		"/api/v1/nodes/a:b:c:d/proxy/":                      `400 BadRequest invalid node request "a:b:c:d"`,
		pods + "one:80/proxy/":                              "400 BadRequest address not allowed",
		pods + "odd/log?container=absent":                   "404 NotFound the server could not find the requested resource ( pods/log odd)",
		pods + "odd/log?container=waiting":                  "400 BadRequest the container is waiting to start\n",
		pods + "odd/log?container=astray":                   fmt.Sprintf(`500  Get "https://127.0.0.1:%d/containerLogs/default/odd/astray?stream=All": redirects forbidden`, c.kubelet.port),
		pods + "one/exec?dryRun=All":                        "400 BadRequest dryRun is not supported",
		"/api/v1/namespaces/default/services/none:1/proxy/": `404 NotFound services "none" not found`,
		"/api/v1/namespaces/default/services/none/proxy/":   `503 ServiceUnavailable no endpoints available for service "none"`,
	} {
		if got := c.fault(t, path); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", path, got, want)
		}
	}
	for name, executor := range executors {
		e, err := executor(c.config, c.stream("exec", "unbound", &corev1.PodExecOptions{Stdout: true, Command: []string{"x"}}))
		must(t, err)
		if err := e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard}); err == nil || !strings.Contains(err.Error(), "pod unbound does not have a host assigned") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKubeletIsVerified checks that a kubelet with a certificate from another CA is rejected,
// except for logs with insecureSkipTLSVerifyBackend.
func TestKubeletIsVerified(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1", func(o *daemon.Config) {
		o.Kubelets.CertificateAuthority = writePEM(t, pki.PEM(pki.Authority(t, "others").Leaf))
	})
	pods := c.clients.CoreV1().Pods("default")
	if got := c.fault(t, "/api/v1/namespaces/default/pods/one/log"); !strings.HasPrefix(got, "500  Get \"https://") || !strings.HasSuffix(got, "x509: certificate signed by unknown authority") {
		t.Error(got)
	}
	if _, err := pods.GetLogs("one", &corev1.PodLogOptions{InsecureSkipTLSVerifyBackend: true}).DoRaw(t.Context()); err != nil {
		t.Error(err)
	}
	e, err := executors["SPDY"](c.config, c.stream("exec", "one", &corev1.PodExecOptions{Stdout: true, Command: []string{"true"}}))
	must(t, err)
	if err := e.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard}); err == nil || !strings.Contains(err.Error(), "error dialing backend") {
		t.Error(err)
	}
}

// TestStreamsEnd checks that streams end when the server shuts down.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "127.0.0.1")
	e, err := executors["SPDY"](c.config, c.stream("exec", "one", &corev1.PodExecOptions{Stdin: true, Stdout: true, Command: []string{"cat"}}))
	must(t, err)
	in, write := io.Pipe()
	defer write.Close()
	read, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- e.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdin: in, Stdout: out})
	}()
	go func() { _, _ = io.WriteString(write, "x\n") }()
	if line, err := bufio.NewReader(read).ReadString('\n'); line != "x\n" || err != nil {
		t.Fatalf("%q %v", line, err)
	}
	c.server.Stop(t) // fails if the stream delays it
	client.Receive(t, done, "the end of the stream")
}

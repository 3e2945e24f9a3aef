package recording

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// A Command is the command line of a controller.
type Command struct {
	Args           []string
	Stdout, Stderr io.Writer
}

// exitTimeout is how long a command may take to exit after SIGTERM.
const exitTimeout = 30 * time.Second

// run runs the command with a kubeconfig for the proxy until it exits, or terminates it when ctx
// ends. Without Args, it prints the path of the kubeconfig and waits for ctx.
func (c Command) run(ctx context.Context, p *proxy, namespace string) error {
	config, stop, err := p.serve(namespace)
	if err != nil {
		return err
	}
	defer stop()
	dir, err := os.MkdirTemp("", "troupe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		fmt.Fprintf(c.Stdout, "export KUBECONFIG=%s\n", path)
		<-ctx.Done()
		return nil
	}
	program := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	program.Env, program.Stdout, program.Stderr = append(os.Environ(), "KUBECONFIG="+path), c.Stdout, c.Stderr
	program.Cancel, program.WaitDelay = func() error { return program.Process.Signal(syscall.SIGTERM) }, exitTimeout
	if err := program.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the command failed: %w", err)
	}
	return nil
}

// A Recorder records what a command reads from and writes to a server.
type Recorder struct {
	Server  *kubeconfig.Config
	Path    string // of the recording
	Secrets string // redact or copy
	Command

	client      *rest.Client
	definitions *discovery.Resource // nil if the server has none
	proxy       *proxy
	read        sync.Map // paths that the recorder has read itself
}

// Run records until the command exits or ctx ends. It returns the number of entries.
func (r *Recorder) Run(ctx context.Context) (n int, err error) {
	r.client = rest.New(r.Server, rest.Options{Agent: "troupe-record", Warnings: io.Discard})
	defer r.client.Close()
	served, err := discovery.Load(ctx, r.client)
	if err != nil {
		return 0, err
	}
	r.definitions, _ = served.Own("apiextensions", "customresourcedefinitions")
	if r.proxy, err = newProxy(r.Server, served.Naming, r.Secrets); err != nil {
		return 0, err
	}
	header := Header{Format: format, Naming: served.Naming.Profile, Secrets: r.Secrets}
	if list, err := r.client.Get(ctx, "/api/v1/namespaces", url.Values{"limit": {"1"}}); err == nil { // the user may have the right
		header.ResourceVersion = list.Object("metadata").String("resourceVersion")
	}
	file, err := os.OpenFile(r.Path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	ctx, fail := context.WithCancel(ctx)
	defer fail()
	var failed error
	write := func(line any) {
		if _, err := file.Write(append(document.JSON(line), '\n')); err != nil {
			failed = err
			fail()
		}
	}
	write(header)
	r.proxy.before = r.prepare
	r.proxy.observe = func(e Entry) {
		n++
		write(e)
	}
	err = r.Command.run(ctx, r.proxy, r.Server.Namespace)
	r.proxy.mu.Lock() // a request may still be in flight
	defer r.proxy.mu.Unlock()
	switch {
	case failed != nil:
		err = failed
	case err == nil && n == 0:
		err = errNothing
	}
	return n, err
}

// prepare reads objects that a replay needs but the command may not read.
func (r *Recorder) prepare(ctx context.Context, t target) {
	if r.definitions != nil && r.proxy.kinds.Kind(t.Group, t.version, t.Resource) == nil {
		r.readOnce(ctx, target{}, r.definitions.Path("", t.GroupResource.String()))
	}
	if t.writes() && t.verb != "create" && t.Name != "" {
		r.readOnce(ctx, t, t.path(t.Namespace, t.Name))
	}
}

func (r *Recorder) readOnce(ctx context.Context, t target, path string) {
	if _, done := r.read.LoadOrStore(path, true); done {
		return
	}
	answer, err := r.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: path})
	switch {
	case err == nil:
		r.proxy.emit(Entry{Method: http.MethodGet, URI: path, Code: answer.Code, Body: r.proxy.redacted(t, answer.Body)})
	case !rest.IsNotFound(err) && ctx.Err() == nil:
		fmt.Fprintf(r.Stderr, "warning: the replay will lack %s: %v\n", path, err)
	}
}

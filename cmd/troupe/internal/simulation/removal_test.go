package simulation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/simulation"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// TestNoPodStays checks that every deleted Pod disappears and that its name is reusable, even if
// node connections break. TROUPE_SOAK=1 extends the test.
func TestNoPodStays(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("TROUPE_SOAK") != "" {
		rounds = 30
	}
	d := serve(t)
	user, weak := clientOf(t, d, ""), newWeakLine(t, strings.TrimPrefix(d.URL(), "https://"))
	const nodes = 3
	c := must.Get(simulation.New(simulation.Options{Client: clientOf(t, d, weak.address()), Naming: meta.Kubernetes, Nodes: nodes, Log: slog.New(slog.DiscardHandler)}))(t)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	if !poll(func() bool { return c.Ready() == nodes }) {
		t.Fatal("the nodes are not registered")
	}
	for round := range rounds {
		weak.setBreaking(true)
		var users sync.WaitGroup
		for i := range 60 {
			users.Go(func() { liveAndDie(t, user, i, rand.New(rand.NewPCG(uint64(round), uint64(i)))) })
		}
		users.Wait()
		weak.setBreaking(false)
		awaitNoPods(t, user)
	}
}

// serve starts a daemon with the Kubernetes naming profile. Its Pods need no service account.
func serve(t *testing.T) *daemon.Daemon {
	config := daemon.Default()
	config.DataDir, config.Naming, config.Serving.SecurePort, config.Controllers = t.TempDir(), "kubernetes", 0, "apiserver,garbage-collector-controller"
	config.Admission.Disable = []string{"ServiceAccount"}
	d := must.Get(daemon.New(config, io.Discard))(t)
	must.Succeed(t, d.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), watchdog)
		defer cancel()
		if err := d.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return d
}

const watchdog = 5 * time.Minute

// poll reports whether done returns true within the watchdog time.
func poll(done func() bool) bool {
	tick, end := time.NewTicker(10*time.Millisecond), time.After(watchdog)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-end:
			return false
		}
	}
	return true
}

func clientOf(t *testing.T, d *daemon.Daemon, address string) *rest.Client {
	config := must.Get(kubeconfig.Load(d.Kubeconfig()))(t)
	if address != "" {
		config.Server = &url.URL{Scheme: "https", Host: address}
	}
	c := rest.New(config, rest.Options{Agent: "test", Warnings: io.Discard, MaxIdle: 32})
	c.Timeout = watchdog
	t.Cleanup(c.Close)
	return c
}

const pods = "/api/v1/namespaces/default/pods"

// liveAndDie creates, changes and deletes a Pod three times under the same name.
func liveAndDie(t *testing.T, c *rest.Client, i int, r *rand.Rand) {
	name := fmt.Sprint("pod-", i)
	send := func(method, path, contentType string, body any) error {
		text, err := json.Marshal(body)
		if err != nil {
			t.Error(err)
		}
		_, err = c.Do(t.Context(), rest.Request{Method: method, Path: path, ContentType: contentType, Body: text})
		return err
	}
	for range 3 {
		annotations := map[string]string{"troupe/stop-after": fmt.Sprint(r.IntN(3), "s"), "troupe/start-after": fmt.Sprint(r.IntN(2), "s")}
		metadata := map[string]any{"name": name, "annotations": annotations}
		finalized := r.IntN(3) == 0
		if finalized {
			metadata["finalizers"] = []string{"example.com/f"}
		}
		spec := map[string]any{
			"nodeName": fmt.Sprint("node-", r.IntN(3)), "containers": []any{map[string]any{"name": "c", "image": "i"}},
			"terminationGracePeriodSeconds": r.IntN(4), "restartPolicy": []string{"Always", "Never", "OnFailure"}[r.IntN(3)],
		}
		var err error // retry while the previous Pod exists
		if !poll(func() bool {
			err = send("POST", pods, "", map[string]any{"metadata": metadata, "spec": spec})
			return err == nil || t.Context().Err() != nil
		}) || err != nil {
			t.Errorf("%s is not created: %v", name, err)
			return
		}
		liveOn := func(most int) {
			//lint:ignore walltime random delay, so that requests hit a Pod in any phase
			time.Sleep(time.Duration(r.IntN(most)) * time.Millisecond)
		}
		liveOn(1200)
		_ = send("PATCH", pods+"/"+name, rest.MergePatch, map[string]any{"metadata": map[string]any{"labels": map[string]string{"a": "b"}}}) // the Pod may have ended
		if r.IntN(2) == 0 {
			liveOn(1200)
		}
		switch options := map[string]any{}; r.IntN(5) {
		case 0:
			options["gracePeriodSeconds"] = r.IntN(3)
			fallthrough
		case 1:
			if err := send("DELETE", pods+"/"+name, "", options); err != nil {
				t.Errorf("%s is not deleted: %v", name, err)
			}
		case 2:
			if err := send("DELETE", pods+"/"+name, "", map[string]any{"propagationPolicy": "Foreground"}); err != nil {
				t.Errorf("%s is not deleted: %v", name, err)
			}
		case 3:
			if err := send("POST", pods+"/"+name+"/eviction", "", map[string]any{"metadata": map[string]any{"name": name}}); err != nil {
				t.Errorf("%s is not evicted: %v", name, err)
			}
		default:
			for range 2 { // again with a shorter grace period
				_ = send("DELETE", pods+"/"+name, "", map[string]any{"gracePeriodSeconds": 1 + r.IntN(3)}) // the Pod may be gone
				liveOn(300)
			}
		}
		if finalized {
			liveOn(1200)
			_ = send("PATCH", pods+"/"+name, rest.MergePatch, map[string]any{"metadata": map[string]any{"finalizers": nil}}) // the Pod may be gone
		}
	}
}

func awaitNoPods(t *testing.T, c *rest.Client) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if !poll(func() bool {
		answer := must.Get(c.Do(t.Context(), rest.Request{Method: http.MethodGet, Path: pods}))(t)
		list.Items = nil
		must.Succeed(t, json.Unmarshal(answer.Body, &list))
		return len(list.Items) == 0
	}) {
		t.Fatalf("%d Pods stay, as %s", len(list.Items), list.Items[0])
	}
}

// A weakLine is a proxy that randomly breaks its connections.
type weakLine struct {
	net.Listener
	server string

	mu       sync.Mutex
	open     map[net.Conn]bool
	breaking bool
	pieces   int // number of reads
}

func newWeakLine(t *testing.T, server string) *weakLine {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	w := &weakLine{Listener: l, server: server, open: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := w.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.handOn(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.breakOff(1)
		running.Wait()
	})
	return w
}

func (w *weakLine) address() string { return w.Addr().String() }

func (w *weakLine) handOn(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer server.Close()
	w.mu.Lock()
	w.open[client] = true
	w.mu.Unlock()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], weakReader{pair[1], w}) // broken connections are expected
			_ = pair[0].Close()                             // close both directions
			_ = pair[1].Close()
		})
	}
	both.Wait()
	w.mu.Lock()
	delete(w.open, client)
	w.mu.Unlock()
}

func (w *weakLine) breakOff(oneOf int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		if rand.IntN(oneOf) == 0 {
			_ = c.Close()
		}
	}
}

func (w *weakLine) setBreaking(breaking bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaking = breaking
}

// piecesPerBreak is the number of reads between breaks. At this rate, most requests succeed even on
// slow machines.
const piecesPerBreak = 50

// A weakReader reads one side of a connection. Its reads also trigger breaks in the weakLine.
type weakReader struct {
	from net.Conn
	line *weakLine
}

func (r weakReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	r.line.mu.Lock()
	r.line.pieces++
	breaks := r.line.breaking && r.line.pieces%piecesPerBreak == 0
	r.line.mu.Unlock()
	if breaks {
		r.line.breakOff(3)
	}
	return n, err
}

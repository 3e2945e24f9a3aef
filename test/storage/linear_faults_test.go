package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

const (
	faultRounds = 3
	// mostRequests limits the requests per client in a round with a fault, because long histories
	// take long to check.
	mostRequests = 80
	services     = "/api/v1/namespaces/default/services"
)

// TestFaults kills, pauses and cuts off servers and etcd members while clients race. The responses
// must be linearizable, and a watch that resumes at any server must deliver every change once. At
// the end, all servers must have the same objects, and no address or port may be allocated twice.
func TestFaults(t *testing.T) {
	newClusterLinear(t).race(faultRounds)
}

// race runs the given number of rounds, or more in a soak test.
func (c *linearCluster) race(rounds int) {
	c.t.Helper()
	histories, operations, open := 0, 0, 0
	defer func() {
		client.Figures(c.t, "%d histories with a fault, %d operations, %d of them open", histories, operations, open)
	}()
	for round := range client.Rounds(c.t, rounds, 1) {
		fault := linearFaults[round%len(linearFaults)]
		record, unanswered := c.round(round, fault)
		for _, part := range model.Partition(record) {
			if result := porcupine.CheckOperationsTimeout(model, part, client.Watchdog); result != porcupine.Ok {
				c.t.Fatalf("round %d, %s: %s:\n%s", round, fault.name, result, lines(part))
			}
		}
		histories, operations, open = histories+1, operations+len(record), open+unanswered
		if c.t.Failed() {
			c.t.Fatalf("in round %d, %s", round, fault.name)
		}
	}
}

// A fault affects a server or an etcd member for one round.
type fault struct {
	name  string
	begin func(c *linearCluster, at int)
	end   func(c *linearCluster, at int)
}

var linearFaults = []fault{
	{"a daemon is killed", func(c *linearCluster, at int) { c.replicas[at].kill() }, func(c *linearCluster, at int) { c.replicas[at].start() }},
	{"a member is killed", func(c *linearCluster, at int) { c.etcd.Members[at].Kill() }, func(c *linearCluster, at int) { c.etcd.Members[at].Run() }},
	{"a daemon is cut off", func(c *linearCluster, at int) { c.replicas[at].block((*etcdtest.Link).Block) }, func(c *linearCluster, at int) { c.replicas[at].mend() }},
	{"a daemon is paused", func(c *linearCluster, at int) { c.replicas[at].pause() }, func(c *linearCluster, at int) { c.replicas[at].resume() }},
	{"a member is paused", func(c *linearCluster, at int) { c.etcd.Members[at].Pause() }, func(c *linearCluster, at int) { c.etcd.Members[at].Resume() }},
	{"a daemon gets no answers", func(c *linearCluster, at int) { c.replicas[at].block((*etcdtest.Link).BlockAnswers) }, func(c *linearCluster, at int) { c.replicas[at].mend() }},
	{"a daemon is far away", func(c *linearCluster, at int) { c.replicas[at].slow(30 * time.Millisecond) }, func(c *linearCluster, at int) { c.replicas[at].mend() }},
	{"connections break", func(c *linearCluster, at int) { c.replicas[at].reset() }, func(*linearCluster, int) {}},
}

// round runs racing clients during one fault. It returns their operations, and the number of writes
// without a response.
func (c *linearCluster) round(round int, f fault) (record []porcupine.Operation, open int) {
	random := rand.New(rand.NewPCG(c.seed, uint64(round)))
	var clock atomic.Int64
	var racing sync.WaitGroup
	var done client.Tally
	racers := make([]*recordingClient, clients)
	before := c.list(c.Client)
	seen := &linearObserver{cluster: c, from: before.Version, state: before}
	watching, stopWatching := context.WithCancel(c.t.Context())
	var observing sync.WaitGroup
	observing.Go(func() { seen.run(watching) })
	for i := range racers {
		r := &recordingClient{id: i, client: c.Client, clock: &clock, known: map[string]output{}, faults: true, random: rand.New(rand.NewPCG(c.seed, uint64(round*clients+i)))}
		racers[i] = r
		racing.Go(func() {
			for n := range mostRequests {
				if err := r.request(round, n); err != nil {
					c.t.Error(err)
				}
				if n%20 == 10 {
					c.claim(fmt.Sprintf("s-%d-%d-%d", round, i, n))
				}
				done.Add()
			}
		})
	}
	at := random.IntN(len(c.replicas))
	client.Receive(c.t, done.After(1+random.IntN(mostRequests)), "requests before the fault")
	f.begin(c, at)
	reading, stopReading := context.WithCancel(c.t.Context())
	select {
	case <-done.After(1 + random.IntN(3*mostRequests)):
	case <-c.reads(reading, (at+1)%len(c.replicas)): // all clients may wait for a paused server
	}
	stopReading()
	f.end(c, at)
	racing.Wait()
	c.awaitReady()
	last := c.list(c.Client)
	seen.await(last.Version)
	stopWatching()
	observing.Wait()
	for _, r := range racers {
		for _, op := range r.record {
			if out := op.Output.(output); op.Return > 0 && op.Input.(input).verb != "get" && op.Input.(input).verb != "delete" && out.code <= 201 && out.content != (content{}) && !seen.has(out.version) {
				c.t.Errorf("the watch has not shown version %d: %+v", out.version, op.Input)
			}
		}
		record, open = append(record, r.record...), open+r.open
	}
	end := clock.Add(1)
	for i := range record {
		if record[i].Return == 0 {
			record[i].Return = end
		}
	}
	c.compare(seen, last)
	c.checkClaims()
	return record, open
}

// reads returns a channel that is closed after 200 successful reads from one server.
func (c *linearCluster) reads(ctx context.Context, at int) <-chan struct{} {
	many := make(chan struct{})
	go func() {
		for left := 200; left > 0; {
			a, err := c.replicas[at].Get(ctx, configMaps)
			if ctx.Err() != nil {
				return
			}
			if err == nil && a.Code == 200 {
				left--
			}
		}
		close(many)
	}()
	return many
}

// claim tries to create a Service, which allocates an address and a port.
func (c *linearCluster) claim(name string) {
	ctx, cancel := context.WithTimeout(c.t.Context(), client.Watchdog)
	defer cancel()
	body := fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"NodePort","ports":[{"port":1}]}}`, name)
	_, _ = c.Do(ctx, "POST", services, client.JSON, []byte(body)) // may be rejected; checkClaims checks the result
}

// checkClaims checks that no two Services share an address or port, and then deletes the Services.
func (c *linearCluster) checkClaims() {
	c.t.Helper()
	list := must.Get(c.List(c.t.Context(), services, nil))(c.t)
	holders := map[string]string{}
	for _, o := range list.Items {
		spec := o["spec"].(map[string]any)
		taken := []string{fmt.Sprint("address ", spec["clusterIP"])}
		if port := spec["ports"].([]any)[0].(map[string]any)["nodePort"]; port != nil {
			taken = append(taken, fmt.Sprint("port ", port))
		}
		for _, one := range taken {
			if holders[one] != "" {
				c.t.Errorf("%s and %s both have the %s", holders[one], o.Name(), one)
			}
			holders[one] = o.Name()
		}
		if o.Name() == "platform" {
			continue
		}
		c.remove(services + "/" + o.Name())
	}
}

// remove deletes an object. It retries on errors, because a previously paused server may still
// report that etcd is unavailable.
func (c *linearCluster) remove(path string) (gone client.Object) {
	c.t.Helper()
	client.Eventually(c.t, func() error {
		a, err := c.Delete(c.t.Context(), path, nil)
		if err == nil && a.Code == 200 {
			gone = a.Object()
		} else if err == nil && a.Code != 404 {
			err = &a
		}
		return err
	})
	return gone
}

// compare checks that all servers list the same objects as last, and that the observed events
// produce these objects.
func (c *linearCluster) compare(seen *linearObserver, last client.List) {
	c.t.Helper()
	want := contents(last)
	if got := seen.contents(); got != want {
		c.t.Errorf("the events lead to\n%s\nwant\n%s", got, want)
	}
	for i, r := range c.replicas {
		list := c.list(r.Client)
		if got := contents(list); got != want {
			c.t.Errorf("daemon %d holds\n%s\nwant\n%s", i, got, want)
		}
	}
}

func (c *linearCluster) list(from *client.Client) client.List {
	c.t.Helper()
	var list client.List
	client.Eventually(c.t, func() (err error) {
		list, err = from.List(c.t.Context(), configMaps, nil)
		return err
	})
	return list
}

// A linearObserver follows all objects, as an informer does, and resumes its watch at any server.
type linearObserver struct {
	cluster *linearCluster
	state   client.List
	mu      sync.Mutex // guards the fields below
	from    uint64
	seen    map[uint64]bool
	objects map[string]client.Object
}

// run follows all objects until ctx is done. It resumes its watch whenever the watch ends.
func (o *linearObserver) run(ctx context.Context) {
	o.mu.Lock()
	o.seen, o.objects = map[uint64]bool{}, map[string]client.Object{}
	for _, object := range o.state.Items {
		o.objects[object.Name()] = object
	}
	o.mu.Unlock()
	for ctx.Err() == nil {
		if err := o.watch(ctx); err != nil && ctx.Err() == nil {
			o.cluster.t.Error(err)
			return
		}
	}
}

// watch runs one watch to its end. It returns an error only if events or responses violate the
// watch guarantees.
func (o *linearObserver) watch(ctx context.Context) error {
	w, err := o.cluster.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(o.version(), 10)}, "allowWatchBookmarks": {"true"}})
	if answer := (*client.Answer)(nil); errors.As(err, &answer) && answer.Code != 503 && answer.Code != 504 {
		return answer
	} else if err != nil {
		return nil
	}
	defer w.Close()
	stop := context.AfterFunc(ctx, w.Close)
	defer stop()
	for {
		e, err := w.Next()
		if err != nil {
			return nil // the server is gone
		}
		if err := o.take(e); err != nil {
			return err
		}
	}
}

func (o *linearObserver) take(e client.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	version := e.Object.Version()
	if e.Type == client.Error || version < o.from || version == o.from && e.Type != client.Bookmark {
		return fmt.Errorf("after version %d: %s %v", o.from, e.Type, e.Object)
	}
	o.from = version
	if e.Type == client.Bookmark {
		return nil
	}
	name := e.Object.Name()
	if _, was := o.objects[name]; was == (e.Type == client.Added) {
		return fmt.Errorf("%s of an object that was there: %v: %v", e.Type, was, e.Object)
	}
	o.seen[version] = true
	if o.objects[name] = e.Object; e.Type == client.Deleted {
		delete(o.objects, name)
	}
	return nil
}

func (o *linearObserver) version() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.from
}

func (o *linearObserver) has(version uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[version]
}

// await waits until the observer has received all changes up to a version. Because that version may
// not have an event, await creates a marker object and waits for its event.
func (o *linearObserver) await(version uint64) {
	o.cluster.t.Helper()
	var mark uint64
	client.Eventually(o.cluster.t, func() error {
		name := fmt.Sprint("mark-", version)
		a, err := o.cluster.Create(o.cluster.t.Context(), configMaps, client.ConfigMap(name, nil, nil))
		if err == nil && a.Code != 201 && a.Code != 409 {
			err = &a
		}
		if err == nil && a.Code == 201 {
			mark = a.Object().Version()
		}
		return err
	})
	client.Eventually(o.cluster.t, func() error {
		if at := o.version(); at < mark || at < version {
			return fmt.Errorf("the watch is at version %d, want %d", at, max(mark, version))
		}
		return nil
	})
	gone := o.cluster.remove(configMaps + "/" + fmt.Sprint("mark-", version)).Version()
	client.Eventually(o.cluster.t, func() error {
		if at := o.version(); at < gone {
			return fmt.Errorf("the watch is at version %d, want %d", at, gone)
		}
		return nil
	})
}

func (o *linearObserver) contents() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list client.List
	for _, object := range o.objects {
		list.Items = append(list.Items, object)
	}
	return contents(list)
}

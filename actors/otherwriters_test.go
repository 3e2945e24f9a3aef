package actors_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

// server is one of several stores on a shared log.
type server struct {
	*testStore
	log       *sharedLog
	allocator *allocation.ServiceAllocator
}

var ownService = meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: "default", Name: "own"}

// openShared opens a server on a shared log, with small ranges of Service addresses and ports.
func openShared(t testing.TB, log *sharedLog) *server {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	must.Succeed(t, err)
	ranges, _ := allocation.ParseRanges("10.0.0.0/28")
	ports, _ := allocation.ParsePortRange("30000-30009")
	s := &server{log: log, testStore: &testStore{t: t, kinds: kinds}, allocator: allocation.NewServiceAllocator(ranges, ports, ownService, meta.Platform)}
	tuning := actors.DefaultTuning()
	tuning.BatchSize = 1 << positionBits
	s.Store, err = actors.Open(actors.Options{
		Log: log, Catalog: kinds, Naming: meta.Platform, Tuning: tuning, Fatal: func(err error) { t.Error("fatal:", err) },
		Allocators: map[meta.GroupResource]mutation.Allocator{ownService.GroupResource: s.allocator},
	})
	must.Succeed(t, err)
	return s
}

func (s *server) close() {
	s.t.Helper()
	if err := errors.Join(s.Store.Close(context.Background()), s.log.Close()); err != nil {
		s.t.Error(err)
	}
}

func (s *server) await() {
	s.t.Helper()
	s.log.store.mu.Lock()
	newest := uint64(s.log.store.txns[len(s.log.store.txns)-1].upTo)
	s.log.store.mu.Unlock()
	must.Get(s.List(context.Background(), request.List{Kind: s.kind("configmaps"), Match: request.MatchNotOlderThan, Version: newest}))(s.t)
}

// client makes random requests to one server.
type client struct {
	server *server
	other  *server
	name   string
	chance *rand.Rand
	acked  []string // "object field" of acknowledged patches
}

// refusals are the acceptable error codes for the clients in this test.
var refusals = []int{404, 409, 422, 503, 504}

func (c *client) run(steps int) {
	for step := range steps {
		var r request.Result
		var err error
		switch c.chance.IntN(8) {
		case 0:
			_, err = c.server.create(fmt.Sprint("d", c.chance.IntN(3)), c.name)
		case 1:
			_, err = c.server.do(request.Mutation{Change: request.Delete{}, Key: meta.Key{Name: fmt.Sprint("d", c.chance.IntN(3))}})
		case 2:
			err = c.service(request.Mutation{Change: request.Create{Object: tree.Tree{
				"metadata": tree.Tree{}, "spec": tree.Tree{"type": "NodePort", "ports": []any{tree.Tree{"port": int64(1)}}},
			}}})
		case 3:
			err = c.service(request.Mutation{Change: request.Delete{}})
		case 4:
			body := []string{`{"spec":{"type":"ClusterIP"}}`, `{"spec":{"type":"NodePort"}}`}[c.chance.IntN(2)]
			err = c.service(request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(body)}})
		default:
			object, field := fmt.Sprint("c", c.chance.IntN(2)), fmt.Sprintf("%s-%d", c.name, step)
			if r, err = c.server.patch(object, fmt.Sprintf(`{"data":{%q:"x"}}`, field)); err == nil {
				c.acked = append(c.acked, object+" "+field)
				c.checkOther(object, field, r.Object.Version)
			}
		}
		if err != nil && !slices.Contains(refusals, statusCode(err)) {
			c.server.t.Errorf("%s, step %d: %v", c.name, step, err)
		}
	}
}

func (c *client) service(m request.Mutation) error {
	name := fmt.Sprint("s", c.chance.IntN(14))
	if object := m.Body(); object != nil {
		object["metadata"] = tree.Tree{"name": name}
	}
	m.Kind, m.Key = c.server.kind("services"), meta.Key{Namespace: "default", Name: name}
	_, err := c.server.Mutate(context.Background(), m)
	return err
}

// checkOther reads the object from the other server at the given version, and checks that it
// contains the changed field.
func (c *client) checkOther(object, field string, version uint64) {
	o, err := c.other.Get(context.Background(), request.Get{Kind: c.other.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: object}, Version: version})
	if err != nil || o.Version < version || !strings.Contains(string(o.JSON), `"`+field+`"`) {
		c.server.t.Errorf("%s of %s at %d: %v", field, object, version, err)
	}
}

// TestServersShareALog runs two servers and a third writer on one log that loses responses and
// delivers late. No acknowledged change may be lost, and no address may be assigned twice. Every
// watch must receive each change once and in order.
func TestServersShareALog(t *testing.T) {
	const together, most = 4, 300
	end := time.Now()
	if text := os.Getenv("TROUPE_SOAK"); text != "" {
		d := must.Get(time.ParseDuration(text))(t)
		end = end.Add(d)
	}
	tried := uint64(0)
	for ; tried == 0 || tried < most && time.Now().Before(end); tried += together {
		t.Run(fmt.Sprint("from ", tried), func(t *testing.T) {
			for seed := tried; seed < tried+together; seed++ {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { shareALog(t, seed) })
				})
			}
		})
	}
	t.Logf("tried: %d histories of two servers on one log", tried)
}

func shareALog(t *testing.T, seed uint64) {
	t.Helper()
	keys := newSharedKeys()
	logs := [2]*sharedLog{keys.open(), keys.open()}
	var servers [2]*server
	for i, log := range logs {
		log.misbehave(2*seed + uint64(i))
		servers[i] = openShared(t, log)
		defer servers[i].close()
	}
	for i := range 2 {
		must.Get(servers[0].create(fmt.Sprint("c", i), "x"))(t)
	}
	servers[1].await()
	var watches [2]*watched
	for i, s := range servers {
		watches[i] = s.watchAll()
		s.log.faulty.Store(true)
	}
	clients := runClients(seed, servers)
	for _, s := range servers {
		s.log.faulty.Store(false)
		if _, err := s.create("last-"+fmt.Sprint(s.log == logs[0]), "x"); err != nil { // settles unknown outcomes
			t.Fatal(err)
		}
	}
	for i, s := range servers {
		s.await()
		checkSameState(t, keys, s)
		checkAllocated(t, keys, s)
		watches[i].check(t, keys)
	}
	third := openShared(t, keys.open()) // recovers from the same log
	defer third.close()
	checkSameState(t, keys, third)
	checkAllocated(t, keys, third)
	checkAcknowledged(t, keys, clients)
	checkClaimsNeverShared(t, keys)
	checkRevisionsRise(t, keys)
	if n, most := keys.refused, 30*len(clients)*clientSteps; n > most {
		t.Errorf("%d writes were refused, want at most %d", n, most)
	}
}

const clientSteps = 40

// runClients runs random clients of both servers concurrently, together with a writer that bypasses
// the servers.
func runClients(seed uint64, servers [2]*server) (clients []*client) {
	var wait sync.WaitGroup
	for i := range 8 {
		c := &client{
			server: servers[i%2], other: servers[1-i%2], name: fmt.Sprint("w", i), chance: rand.New(rand.NewPCG(seed, uint64(10+i))),
		}
		clients = append(clients, c)
		wait.Go(func() { c.run(clientSteps) })
	}
	wait.Go(func() {
		chance := rand.New(rand.NewPCG(seed, 9))
		for i := range clientSteps {
			w := rawConfigMap(fmt.Sprint("raw", chance.IntN(3)), fmt.Sprint(i))
			switch chance.IntN(4) {
			case 0:
				w.Delete = true
			case 1:
				w.Value, w.RevisionOffset = []byte("{"), -1 // unreadable
			}
			servers[0].log.store.write(w)
			time.Sleep(time.Millisecond)
		}
	})
	wait.Wait()
	return clients
}

func rawConfigMap(name, value string) persist.Write {
	head := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"default","uid":"u-` + name + `","resourceVersion":"`
	return persist.Write{Key: "/configmaps/default/" + name, Value: []byte(head + `","creationTimestamp":"2026-01-01T00:00:00Z"},"data":{"v":"` + value + `"}}`), RevisionOffset: len(head)}
}

type watched struct {
	mu     sync.Mutex
	events []string
	from   uint64
}

func (w *watched) Events(events []request.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		if e.Type == request.Error {
			w.events = append(w.events, e.Status.Message)
			continue
		}
		w.events = append(w.events, fmt.Sprintf("%s %s@%d", e.Type, e.Object.Key.Name, e.Object.Version))
	}
	return nil
}

func (*watched) Done() {}

func (s *server) watchAll() *watched {
	s.t.Helper()
	w := &watched{from: s.Version()}
	must.Get(s.Watch(context.Background(), request.Watch{Kind: s.kind("configmaps"), Version: w.from}, w))(s.t)
	return w
}

func (w *watched) check(t *testing.T, keys *sharedKeys) {
	t.Helper()
	var want []string
	visible := map[string]bool{}
	for _, c := range keys.commits() {
		name, in := strings.CutPrefix(c.Key, "/configmaps/default/")
		if !in {
			continue
		}
		was, is := visible[name], !c.Delete && len(c.Value) > 1
		visible[name] = is
		kind := request.Modified
		switch {
		case !was && !is || uint64(c.Revision) <= w.from:
			continue
		case !was:
			kind = request.Added
		case !is:
			kind = request.Deleted
		}
		want = append(want, fmt.Sprintf("%s %s@%d", kind, name, c.Revision))
	}
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.events, want) {
		t.Errorf("a watch from %d showed\n%s\nwant\n%s", w.from, strings.Join(w.events, "\n"), strings.Join(want, "\n"))
	}
}

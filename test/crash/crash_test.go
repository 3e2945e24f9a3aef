package crash

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

const (
	workers       = 8
	keysPerWorker = 4
	ordinary      = 30
	soak          = 1000
	seed          = 1
)

// A history is what the model knows over all kills of one data directory.
type history struct {
	t       *testing.T
	binary  string
	config  string
	data    string
	random  *rand.Rand
	workers []*worker
	seen    uint64            // newest version that anybody was told of
	listed  map[string]string // the objects at the version below, by name
	at      uint64
	acked   int
	maybes  int
	landed  int // of the maybes
}

func TestKills(t *testing.T) {
	cycles := ordinary
	if os.Getenv("TROUPE_SOAK") != "" {
		cycles = soak
	}
	dir := t.TempDir()
	h := &history{t: t, data: filepath.Join(dir, "data"), random: rand.New(rand.NewPCG(seed, 0)), listed: map[string]string{}}
	h.binary, h.config = build(t, dir)
	for i := range workers {
		h.workers = append(h.workers, newWorker(seed, uint64(i+1), keysPerWorker))
	}
	p := start(t, h.binary, h.config, h.data)
	h.list(p)
	for i := range cycles {
		if p = h.cycle(p); t.Failed() {
			t.Fatalf("in cycle %d", i)
		}
	}
	if h.acked < cycles {
		t.Errorf("only %d writes were acknowledged in %d cycles", h.acked, cycles)
	}
	t.Logf("%d kills, %d writes acknowledged, %d without an answer, of which %d landed", cycles, h.acked, h.maybes, h.landed)
}

// cycle loads the process, kills it, starts the next one and checks that.
func (h *history) cycle(p *process) *process {
	before := &observer{from: h.at}
	h.load(p, before)
	h.seen = max(h.seen, before.newest())
	next := start(h.t, h.binary, h.config, h.data)
	state, at := maps.Clone(h.listed), h.at
	h.list(next)
	h.checkKeys()
	h.checkVersions()
	h.checkWatch(next, before, state, at)
	return next
}

// load lets all workers write, and the observer watch, until the kill.
func (h *history) load(p *process, o *observer) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var running sync.WaitGroup
	for _, w := range h.workers {
		w.acked = w.acked[:0]
		running.Go(func() {
			if err := w.run(ctx, p.Client); err != nil {
				h.t.Error(err)
			}
		})
	}
	running.Go(func() {
		if err := o.watch(ctx, p.Client, 0); err != nil {
			h.t.Error(err)
		}
	})
	time.Sleep(time.Duration(20+h.random.IntN(380)) * time.Millisecond) // the load; nothing waits for it
	if err := p.kill(); err != nil {
		h.t.Error(err)
	}
	running.Wait()
}

// list reads all objects and remembers them.
func (h *history) list(p *process) {
	h.t.Helper()
	list, err := p.List(context.Background(), objects, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	clear(h.listed)
	for _, o := range list.Items {
		h.listed[o.Name()] = withKind(o).String()
		if o.Version() > list.Version {
			h.t.Errorf("a list at version %d holds %v", list.Version, o)
		}
	}
	h.at = list.Version
}

// withKind gives an item of a list what it has in an event.
func withKind(o client.Object) client.Object {
	o["apiVersion"], o["kind"] = "v1", "ConfigMap"
	return o
}

// checkKeys holds every key against the model, and settles writes without an answer.
func (h *history) checkKeys() {
	left := maps.Clone(h.listed)
	for _, w := range h.workers {
		for _, k := range w.keys {
			found := state{}
			if text, ok := left[k.name]; ok {
				delete(left, k.name)
				var err error
				if found, err = stateOf(parse(h.t, text)); err != nil {
					h.t.Error(err)
				}
			}
			if !k.may(found) {
				h.t.Errorf("%s is %+v, was acknowledged as %+v, may be %+v", k.name, found, k.acked, k.maybe)
			}
			if k.maybe != nil {
				h.maybes++
				if found == *k.maybe {
					h.landed++
				}
			}
			k.acked, k.maybe = found, nil
		}
	}
	delete(left, marker)
	for name := range left {
		h.t.Errorf("%s is nobody's", name)
	}
}

// checkVersions: none is lower than before, none was given twice.
func (h *history) checkVersions() {
	given := map[uint64]bool{}
	for _, w := range h.workers {
		last := h.seen0()
		for _, v := range w.acked {
			if given[v] || v <= last {
				h.t.Errorf("version %d after %d, given before: %v", v, last, given[v])
			}
			given[v], last = true, v
			h.acked++
		}
		h.seen = max(h.seen, last)
	}
	if h.at < h.seen {
		h.t.Errorf("the list is at version %d after a kill, %d was seen before", h.at, h.seen)
	}
}

package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

const (
	workers       = 8
	keysPerWorker = 4
	shortKills    = 12
	startKills    = 4   // kills during startup, after every kill under load
	mostAnswers   = 100 // maximum responses before a kill under load
)

// A crashHistory models the expected content of a data directory across all kills of the daemon.
type crashHistory struct {
	t         *testing.T
	binary    string
	config    string
	data      string
	seed      uint64
	random    *rand.Rand
	workers   []*worker
	answered  client.Tally      // responses in all cycles
	idle      chan struct{}     // closed when all workers have stopped writing
	seen      uint64            // newest version that any client has seen
	listed    map[string]string // the objects at version at, by name
	at        uint64
	listedAt  time.Time // time of the list; watches may resume for historyTime afterward
	late      int       // number of watches that resumed too late and got 410
	given     []uint64  // versions acknowledged in the last cycle
	acked     int
	uncertain int
	applied   int // number of uncertain writes that were applied
}

// TestKills kills the daemon under load, and then several times during startup. The test covers
// promises 1, 2, 14, 17 and 19 of docs/reliability.md.
func TestKills(t *testing.T) {
	cycles := 0
	dir := t.TempDir()
	h := newHistory(t, dir, filepath.Join(dir, "data"))
	p := start(t, h.binary, h.config, h.data)
	h.list(p)
	for i := range client.Rounds(t, shortKills, 1) {
		if p = h.cycle(p, h.kill); t.Failed() {
			t.Fatalf("in cycle %d", i)
		}
		cycles++
	}
	if h.acked < cycles {
		t.Errorf("only %d writes were acknowledged in %d cycles", h.acked, cycles)
	}
	client.Figures(t, "%d kills under load, %d while it started, %s", cycles, cycles*startKills, h)
}

func newHistory(t *testing.T, dir, data string) *crashHistory {
	seed := client.Seed(t, 1)
	h := &crashHistory{t: t, data: data, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), listed: map[string]string{}}
	h.binary, h.config = build(t, dir)
	for i := range workers {
		h.workers = append(h.workers, newWorker(seed, uint64(i+1), keysPerWorker, &h.answered))
	}
	return h
}

func (h *crashHistory) String() string {
	text := fmt.Sprintf("%d writes acknowledged, %d without an answer, of which %d landed", h.acked, h.uncertain, h.applied)
	if h.late > 0 {
		text += fmt.Sprintf(", %d watches that were resumed too late", h.late)
	}
	return text
}

// cycle puts a process under load until end has stopped it. It then starts the next process and
// checks the data.
func (h *crashHistory) cycle(p *crashProcess, end func(*crashProcess) error) *crashProcess {
	before := &crashObserver{from: h.at}
	h.load(p, before, end)
	next := start(h.t, h.binary, h.config, h.data)
	state, listedAt, floor := maps.Clone(h.listed), h.listedAt, h.seen
	h.list(next)
	h.checkKeys()
	h.checkVersions(floor, before.newest())
	h.checkWatch(next, before, state, listedAt)
	return next
}

// kill rotates the encryption keys, and kills the process after a random number of responses. It
// then starts several processes and kills each of them during startup.
func (h *crashHistory) kill(p *crashProcess) error {
	first := 1 + h.random.IntN(2)
	writeKeys(h.t, filepath.Dir(h.config), first, 3-first)
	h.await(1 + h.random.IntN(mostAnswers))
	if err := p.kill(); err != nil {
		return err
	}
	for range startKills {
		if err := h.killAtStart(h.random.IntN(p.calls + 1)); err != nil {
			return err
		}
	}
	return nil
}

// killAtStart starts a process and kills it after the given number of system calls.
func (h *crashHistory) killAtStart(calls int) error {
	next := exec.Command(h.binary, serveArguments(h.t, h.config, h.data)...)
	if err := next.Start(); err != nil {
		return err
	}
	client.Poll(func() bool {
		n, known := systemCalls(next.Process.Pid)
		return n >= calls || !known
	})
	return errors.Join(next.Process.Kill(), waitKilled(next))
}

// await waits until the given number of further writes got a response, or all workers have stopped.
func (h *crashHistory) await(answers int) {
	select {
	case <-h.answered.After(answers):
	case <-h.idle:
	case <-time.After(client.Watchdog):
		h.t.Errorf("%d writes are not answered", answers)
	}
}

func (h *crashHistory) isIdle() bool {
	select {
	case <-h.idle:
		return true
	default:
		return false
	}
}

func waitKilled(cmd *exec.Cmd) error {
	_ = cmd.Wait() // the process state contains the result
	if status := cmd.ProcessState.String(); status != "signal: killed" {
		return fmt.Errorf("while it started: %s", status)
	}
	return nil
}

// load runs the workers and the observer until end returns, and waits for them to stop.
func (h *crashHistory) load(p *crashProcess, o *crashObserver, end func(*crashProcess) error) {
	ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
	defer cancel()
	var running, writing sync.WaitGroup
	for _, w := range h.workers {
		w.acked = w.acked[:0]
		writing.Go(func() {
			if err := w.run(ctx, p.Client); err != nil {
				h.t.Error(err)
			}
		})
	}
	idle := make(chan struct{})
	h.idle = idle
	running.Go(func() {
		writing.Wait()
		close(idle)
	})
	running.Go(func() {
		if err := o.watch(ctx, p.Client, 0); err != nil {
			h.t.Error(err)
		}
	})
	if err := end(p); err != nil {
		h.t.Error(err)
	}
	running.Wait()
}

func (h *crashHistory) list(p *crashProcess) {
	h.t.Helper()
	h.listedAt = time.Now()
	list := must.Get(p.List(context.Background(), configMaps, nil))(h.t)
	clear(h.listed)
	for _, o := range list.Items {
		h.listed[o.Name()] = withKind(o).String()
		if o.Version() > list.Version {
			h.t.Errorf("a list at version %d holds %v", list.Version, o)
		}
	}
	h.at = list.Version
}

// crashMarker is the name of an object written after every kill. A watch that receives its event
// has caught up.
const crashMarker = "marker"

// checkWatch resumes a watch from a resource version delivered before the kill. The watch must
// repeat the events since that version, and then deliver newer ones. All events, applied in order,
// must produce the listed objects. If the cycle took longer than the watch history, the watch may
// be rejected.
func (h *crashHistory) checkWatch(p *crashProcess, before *crashObserver, state map[string]string, listedAt time.Time) {
	end := h.mark(p)
	from := before.from
	if n := h.random.IntN(len(before.events) + 1); n > 0 {
		from = before.events[n-1].Object.Version()
	}
	resumed := &crashObserver{from: from}
	ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
	defer cancel()
	err := resumed.watch(ctx, p.Client, end)
	if errors.Is(err, errExpired) && time.Now().After(listedAt.Add(historyTime)) {
		h.late++
		return
	}
	if err != nil {
		h.t.Errorf("resumed from %d: %v\n%s", from, err, p.Log)
		return
	}
	again := before.after(from)
	if len(resumed.events) < len(again) || !slices.EqualFunc(again, resumed.events[:len(again)], same) {
		h.t.Errorf("resumed from %d: %d events were delivered before the kill, other ones now", from, len(again))
	}
	for _, v := range h.given {
		if v > from && !slices.ContainsFunc(resumed.events, func(e client.Event) bool { return e.Object.Version() == v }) {
			h.t.Errorf("resumed from %d: acknowledged version %d is missing", from, v)
		}
	}
	first := before.events[:len(before.events)-len(again)]
	events := slices.DeleteFunc(slices.Concat(first, resumed.events), func(e client.Event) bool { return e.Object.Version() > h.at })
	if err := applyEvents(state, events); err != nil {
		h.t.Errorf("resumed from %d: %v", from, err)
	} else if !maps.Equal(state, h.listed) {
		h.t.Errorf("resumed from %d: the events lead to\n%v, the list is\n%v", from, state, h.listed)
	}
}

func same(a, b client.Event) bool { return a.Type == b.Type && a.Object.String() == b.Object.String() }

func (h *crashHistory) mark(p *crashProcess) uint64 {
	h.t.Helper()
	data := map[string]string{"after": strconv.FormatUint(h.at, 10)}
	answer, err := p.Patch(context.Background(), configMaps+"/"+crashMarker, map[string]any{"data": data})
	if err == nil && answer.Code == 404 {
		answer, err = p.Create(context.Background(), configMaps, client.ConfigMap(crashMarker, nil, data))
	}
	if err != nil || answer.Code > 201 {
		h.t.Fatalf("marker: %v, %v", answer, err)
	}
	if v := answer.Object().Version(); v <= h.at {
		h.t.Errorf("a write at version %d after a list at %d", v, h.at)
	} else {
		h.seen = v
	}
	return h.seen
}

// withKind adds apiVersion and kind to a list item, which lacks them, unlike a watch event.
func withKind(o client.Object) client.Object {
	o["apiVersion"], o["kind"] = "v1", "ConfigMap"
	return o
}

// checkKeys compares the stored object of every key with the model. It records whether writes
// without a response were committed.
func (h *crashHistory) checkKeys() {
	left := maps.Clone(h.listed)
	for _, w := range h.workers {
		for _, k := range w.keys {
			found := crashState{}
			if text, ok := left[k.name]; ok {
				delete(left, k.name)
				var err error
				if found, err = stateOf(text); err != nil {
					h.t.Error(err)
				}
			}
			if !k.canBe(found) {
				h.t.Errorf("%s is %+v, was acknowledged as %+v, may be %+v", k.name, found, k.acked, k.uncertain)
			}
			if k.uncertain != nil {
				h.uncertain++
				if found == *k.uncertain {
					h.applied++
				}
			}
			k.acked, k.uncertain = found, nil
		}
	}
	delete(left, crashMarker)
	for name := range left {
		h.t.Errorf("%s belongs to no worker", name)
	}
}

// checkVersions checks that resource versions increase and are never reused. floor is a version
// from before the load, and newest is the newest version delivered during the load.
func (h *crashHistory) checkVersions(floor, newest uint64) {
	h.seen = max(h.seen, newest)
	given := map[uint64]bool{}
	h.given = h.given[:0]
	for _, w := range h.workers {
		last := floor
		for _, v := range w.acked {
			if given[v] || v <= last {
				h.t.Errorf("version %d after %d, given before: %v", v, last, given[v])
			}
			given[v], last = true, v
			h.given = append(h.given, v)
			h.acked++
		}
		h.seen = max(h.seen, last)
	}
	if h.at < h.seen {
		h.t.Errorf("the list is at version %d after a kill, %d was seen before", h.at, h.seen)
	}
}

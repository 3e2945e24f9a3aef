package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/test/client"
)

const (
	simulationKeys   = 5
	lives            = 4
	steps            = 40 // maximum per lifetime
	simulationMarker = "marker"
	longest          = client.Watchdog
)

// A value is the content of an object. The zero value means that the object does not exist.
type value struct{ n, sum, a, b, c string }

// A simulationKey contains the model of one object.
type simulationKey struct {
	name    string
	is      value
	version uint64  // version of the acknowledged or read value
	maybe   []value // possible results of writes without a response
}

// A simulationHistory is a simulation with one seed, over several lifetimes of the server.
type simulationHistory struct {
	kinds  *catalog.Catalog
	random *rand.Rand
	disk   *vfs.Mem
	clock  clock
	keys   []*simulationKey
	// remembers is the duration of the watch history, which may be longer or shorter than a clock
	// jump.
	remembers time.Duration
	noRoom    bool   // the disk was full at some time, which drops the watch history
	writes    int    // number of attempted writes; each writes a unique value
	newest    uint64 // newest version that any client has seen

	// listed contains the objects that catchUp found at version at. reported contains the later
	// watch events of the current lifetime.
	listed   map[string]string
	at       uint64
	reported []client.Event

	acknowledged, lost, full, crashes, promises int
}

type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) jump(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += by
}

func (h *simulationHistory) add(other *simulationHistory) {
	h.acknowledged += other.acknowledged
	h.lost += other.lost
	h.full += other.full
	h.crashes += other.crashes
	h.promises += other.promises
}

func (h *simulationHistory) String() string {
	return fmt.Sprintf("%d crashes, %d writes acknowledged, %d answers lost, %d writes without room, %d promises checked", h.crashes, h.acknowledged, h.lost, h.full, h.promises)
}

func runSimulation(kinds *catalog.Catalog, seed uint64) (*simulationHistory, error) {
	h := &simulationHistory{kinds: kinds, random: rand.New(rand.NewPCG(seed, 0)), disk: vfs.NewMem()}
	if h.remembers = 5 * time.Minute; seed%2 == 0 {
		h.remembers = 1000 * time.Hour
	}
	for i := range simulationKeys {
		h.keys = append(h.keys, &simulationKey{name: "k" + strconv.Itoa(i)})
	}
	for life := range lives {
		if err := h.live(); err != nil {
			return h, fmt.Errorf("seed %d, life %d: %w", seed, life, err)
		}
	}
	return h, nil
}

// live runs one lifetime of the server, from its start to the crash.
func (h *simulationHistory) live() error {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	if h.random.IntN(4) == 0 { // sometimes crash during a start
		h.crashAt(h.random.IntN(12))
		if s, err := serveSimulation(h.kinds, h.disk, h.clock.now, h.remembers); err == nil {
			err = s.stop()
			if err != nil {
				return err
			}
		} else if !errors.Is(err, vfs.ErrCrashed) {
			return fmt.Errorf("a start that crashes: %w", err)
		}
		h.reboot()
	}
	s, err := serveSimulation(h.kinds, h.disk, h.clock.now, h.remembers)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	err = h.catchUp(ctx, s)
	if err == nil {
		err = h.use(ctx, s)
	}
	if fault := s.stop(); err == nil {
		err = fault
	}
	h.reboot()
	return err
}

// reboot replaces the disk with the data that survives the crash. Sometimes the machine stays off
// for longer than the watch history.
func (h *simulationHistory) reboot() {
	h.disk = h.disk.Crash(h.random)
	h.crashes++
	if h.random.IntN(3) == 0 {
		h.clock.jump(2 * time.Hour)
	}
}

// crashAt makes the machine crash after the given number of further disk operations.
func (h *simulationHistory) crashAt(operation int) {
	at := h.disk.Ops() + 1 + operation
	h.disk.SetFault(func(op vfs.Op) error {
		if op.N >= at {
			return vfs.ErrCrashed
		}
		return nil
	})
}

// fail makes a number of disk operations fail, after the given number of further operations. ENOSPC
// fails only writes.
func (h *simulationHistory) fail(operation int, fault error, times int) {
	at := h.disk.Ops() + 1 + operation
	h.disk.SetFault(func(op vfs.Op) error {
		if op.N >= at && op.N < at+times && (fault != syscall.ENOSPC || op.Name == "write") {
			return fault
		}
		return nil
	})
}

// use sends random requests to the server until its disk fails.
func (h *simulationHistory) use(ctx context.Context, s *server) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	reported := make(chan []client.Event, 1)
	go func() { reported <- watch(watching, s, h.at) }()
	if h.random.IntN(4) == 0 {
		if err := h.burst(ctx, s); err != nil {
			return err
		}
	}
	switch operation := h.random.IntN(100); h.random.IntN(6) {
	case 0:
		h.fail(operation, syscall.EIO, 1)
	case 1, 2:
		h.noRoom = true
		h.fail(operation, syscall.ENOSPC, 1+h.random.IntN(20))
	default:
		h.crashAt(operation)
	}
	var err error
	for n := 0; n < steps && err == nil; n++ {
		err = h.step(ctx, s)
	}
	stop()
	h.reported = <-reported
	if errors.Is(err, errEnded) {
		err = nil
	}
	return err
}

// burst makes more changes than fit into one chunk of the watch history.
func (h *simulationHistory) burst(ctx context.Context, s *server) error {
	for range 150 {
		if _, err := h.mark(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// errEnded means that the server no longer accepts writes.
var errEnded = errors.New("the server has ended")

// watch collects the events of a watch until it ends.
func watch(ctx context.Context, s *server, from uint64) (reported []client.Event) {
	w, err := s.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(from, 10)}})
	if err != nil {
		return nil
	}
	defer w.Close()
	for {
		e, err := w.Next()
		if err != nil || e.Type == client.Error {
			return reported
		}
		reported = append(reported, e)
	}
}

// catchUp compares the objects that a restarted server lists with the model, and with the events of
// a watch that resumes at the start of the previous lifetime.
func (h *simulationHistory) catchUp(ctx context.Context, s *server) error {
	before, err := s.List(ctx, configMaps, nil)
	if err != nil {
		return err
	}
	end, err := h.mark(ctx, s)
	if err != nil {
		return err
	}
	if err := h.resumeBeforeNewest(ctx, s, before); err != nil {
		return err
	}
	list, err := s.List(ctx, configMaps, nil)
	if err != nil {
		return err
	}
	now := map[string]string{}
	for _, o := range list.Items {
		o["apiVersion"], o["kind"] = "v1", "ConfigMap" // which events have
		now[o.Name()] = o.String()
	}
	if h.listed != nil {
		if err := h.resume(ctx, s, end, now); err != nil {
			return err
		}
	}
	for _, k := range h.keys {
		found := client.Object{}
		for _, o := range list.Items {
			if o.Name() == k.name {
				found = o
			}
		}
		if err := k.read(found); err != nil {
			return fmt.Errorf("after a crash: %w", err)
		}
	}
	h.listed, h.at, h.reported = now, list.Version, nil
	return nil
}

// resumeBeforeNewest starts a watch just before the newest version in a list. The first event must
// have that version.
func (h *simulationHistory) resumeBeforeNewest(ctx context.Context, s *server, list client.List) error {
	newest := uint64(0)
	for _, o := range list.Items {
		newest = max(newest, o.Version())
	}
	if newest == 0 {
		return nil
	}
	w, err := s.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(newest-1, 10)}})
	if err != nil {
		return fmt.Errorf("resuming from %d: %w", newest-1, err)
	}
	defer w.Close()
	e, err := w.Next()
	if err == nil && e.Type == client.Error && e.Code() == 410 && h.mayForget() {
		return nil
	}
	if err != nil || e.Object.Version() != newest {
		return fmt.Errorf("resumed from %d: %v %w, but a list has a change of %d", newest-1, e, err, newest)
	}
	return nil
}

// resume opens a watch at the version of the previous list and reads it up to version end. It
// compares the events with those of the previous lifetime and with the objects in now.
func (h *simulationHistory) resume(ctx context.Context, s *server, end uint64, now map[string]string) error {
	w, err := s.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(h.at, 10)}})
	if err != nil {
		return fmt.Errorf("resuming from %d: %w", h.at, err)
	}
	defer w.Close()
	state := maps.Clone(h.listed)
	var selected []client.Event // expected events of a watch that selects half of the objects
	last := h.at
	for n := 0; last < end; n++ {
		e, err := w.Next()
		switch {
		case err == nil && e.Type == client.Error && e.Code() == 410 && h.mayForget():
			return nil
		case err != nil || e.Type == client.Error:
			return fmt.Errorf("resumed from %d: after %d: %v %w", h.at, last, e, err)
		case e.Object.Version() <= last:
			return fmt.Errorf("resumed from %d: %v after %d", h.at, e, last)
		case n < len(h.reported) && (e.Type != h.reported[n].Type || e.Object.String() != h.reported[n].Object.String()):
			return fmt.Errorf("resumed from %d: %v, before the crash it was %v", h.at, e, h.reported[n])
		}
		_, was := state[e.Object.Name()]
		if was == (e.Type == client.Added) {
			return fmt.Errorf("resumed from %d: %v, but was there: %v", h.at, e, was)
		}
		last = e.Object.Version()
		if seen, ok := throughSelector(state[e.Object.Name()], e); ok {
			selected = append(selected, seen)
		}
		if state[e.Object.Name()] = e.Object.String(); e.Type == client.Deleted {
			delete(state, e.Object.Name())
		}
	}
	if !maps.Equal(state, now) {
		return fmt.Errorf("resumed from %d: the events lead to\n%v, the list is\n%v", h.at, state, now)
	}
	return h.resumeSelected(ctx, s, selected)
}

// mayForget reports whether a watch may get 410, because the clock may have jumped or the disk was
// full.
func (h *simulationHistory) mayForget() bool { return h.noRoom || h.remembers < time.Hour }

// mark updates or creates the marker object. It returns the object's version, which must be greater
// than all earlier versions.
func (h *simulationHistory) mark(ctx context.Context, s *server) (uint64, error) {
	h.writes++
	data := map[string]string{"n": strconv.Itoa(h.writes)}
	a, err := s.Patch(ctx, configMaps+"/"+simulationMarker, map[string]any{"data": data})
	if err == nil && a.Code == 404 {
		a, err = s.Create(ctx, configMaps, client.ConfigMap(simulationMarker, nil, data))
	}
	if err != nil || a.Code > 201 {
		return 0, fmt.Errorf("marker: %v, %w", a, err)
	}
	return a.Object().Version(), h.observeVersion(a.Object().Version())
}

// observeVersion records the version of a write, which must be greater than all earlier versions.
func (h *simulationHistory) observeVersion(version uint64) error {
	if version <= h.newest {
		return fmt.Errorf("version %d is given out after %d", version, h.newest)
	}
	h.newest = version
	return nil
}

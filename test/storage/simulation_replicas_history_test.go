package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/etcdmodel"
)

const (
	marker         = "mark-serving" // which contents leaves out
	replicaSteps   = 250
	replicaClients = 6
	// replicaPatience limits a request. It exceeds all timeouts of a server.
	replicaPatience = time.Minute
)

// A replicasHistory is a simulation of several servers on one etcd, with one seed.
type replicasHistory struct {
	kinds     *catalog.Catalog
	cluster   *etcdmodel.Cluster
	replicas  []*simulatedDaemon
	clients   []*replicaClient
	observers []*replicaObserver
	dir       string
	remembers time.Duration
	order     atomic.Int64 // logical time of requests
	requests  sync.WaitGroup

	// epoch counts the restores of etcd. Each epoch has its own objects. Those of earlier epochs
	// must stay as they were in the backup.
	epoch  int
	frozen map[string]string // by name
	backup *replicasBackup
	// limited reports whether the quota of Services exists.
	limited bool

	mu       sync.Mutex // guards the fields below
	trace    []string
	fault    error
	record   []porcupine.Operation
	newest   uint64            // newest version before the current epoch, if the epoch must not reuse versions
	events   map[uint64]string // by version, in this epoch
	services map[string]*holding
	terms    []term
	led      []term

	crashes, restores int
}

// A simulatedDaemon is a server over several lifetimes.
type simulatedDaemon struct {
	id      int
	server  *simulatedReplica // nil while it is down
	link    *etcdmodel.Link
	clock   clock
	copyDir string
	left    []*etcdmodel.Link // links of crashed lifetimes, whose requests are executed later
}

// A replicaClient sends one request at a time.
type replicaClient struct {
	recordingClient
	busy atomic.Bool
}

// A replicasBackup is a backup of etcd and the objects that it contains.
type replicasBackup struct {
	etcd    etcdmodel.Backup
	objects map[string]string
}

func newReplicasHistory(kinds *catalog.Catalog, seed uint64, dir string) *replicasHistory {
	h := &replicasHistory{kinds: kinds, cluster: etcdmodel.New(3), dir: dir, remembers: time.Minute, events: map[uint64]string{}, services: map[string]*holding{}, frozen: map[string]string{}}
	if seed%3 == 0 {
		h.remembers = time.Second
	}
	for i := range 2 + int(seed%2) {
		d := &simulatedDaemon{id: i}
		if i > 0 { // the first one has no local copy
			d.copyDir = fmt.Sprintf("%s/%d", dir, i)
		}
		h.replicas = append(h.replicas, d)
	}
	for i := range replicaClients {
		h.clients = append(h.clients, &replicaClient{recordingClient: recordingClient{id: i, clock: &h.order, known: map[string]output{}, faults: true}})
	}
	for i := range 2 {
		h.observers = append(h.observers, newReplicaObserver(h, i))
	}
	return h
}

// runReplicas runs steps of a history, in a bubble of synctest. The caller must check the record.
func runReplicas(kinds *catalog.Catalog, seed uint64, steps []replicaStep) (h *replicasHistory, err error) {
	dir, err := os.MkdirTemp("", "replicas")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	h = newReplicasHistory(kinds, seed, dir)
	defer h.close()
	for _, d := range h.replicas {
		if err := h.start(d); err != nil {
			return h, err
		}
	}
	if err := h.limit(); err != nil {
		return h, err
	}
	for _, o := range h.observers {
		o.begin()
	}
	for _, s := range steps {
		h.note("step %v", s)
		if err := s.run(h); err != nil {
			return h, fmt.Errorf("step %v: %w", s, err)
		}
		h.restartFailed()
		if err := h.failure(); err != nil {
			return h, fmt.Errorf("step %v: %w", s, err)
		}
	}
	return h, h.finish()
}

// limit creates the quota of Services.
func (h *replicasHistory) limit() error {
	a, err := h.replicas[0].server.Do(context.Background(), "POST", "/api/v1/namespaces/default/resourcequotas", client.JSON,
		fmt.Appendf(nil, `{"metadata":{"name":"services"},"spec":{"hard":{"services":"%d"}}}`, serviceQuota))
	if err != nil || a.Code != 201 {
		return fmt.Errorf("the quota: %v, %w", a, err)
	}
	h.limited = true
	return nil
}

func (h *replicasHistory) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trace = append(h.trace, fmt.Sprintf("%s  ", time.Now().Format("04:05.000"))+fmt.Sprintf(format, args...))
}

func (h *replicasHistory) fail(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fault == nil {
		h.fault = fmt.Errorf(format, args...)
	}
}

func (h *replicasHistory) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fault
}

// start starts a server. It fails if a fault prevents it.
func (h *replicasHistory) start(d *simulatedDaemon) error {
	if d.link == nil {
		d.link = h.cluster.Link()
	}
	s, err := serveReplica(replicaOptions{kinds: h.kinds, cluster: h.cluster, link: d.link, now: d.clock.now, copyDir: d.copyDir, history: h.remembers})
	if err == nil {
		h.set(d, s)
	}
	return err
}

func (h *replicasHistory) set(d *simulatedDaemon, s *simulatedReplica) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.server = s
}

// crash ends a server whose open requests to etcd are lost, or are executed later.
func (h *replicasHistory) crash(d *simulatedDaemon, later bool) error {
	if d.server == nil {
		return nil
	}
	h.crashes++
	if later {
		d.link.Set(etcdmodel.Fault{Requests: etcdmodel.Hold, Responses: etcdmodel.Hold, Events: etcdmodel.Hold})
		d.left = append(d.left, d.link)
	} else {
		d.link.Set(etcdmodel.Fault{Requests: etcdmodel.Fail})
	}
	d.link.Break()
	stopped := d.server
	h.set(d, nil)
	d.link = nil
	return stopped.stop()
}

// restartFailed restarts servers that have ended by themselves, because etcd has another history.
func (h *replicasHistory) restartFailed() {
	for _, d := range h.replicas {
		if d.server != nil && d.server.fatal.Load() != nil {
			h.note("daemon %d ends: %v", d.id, *d.server.fatal.Load())
			if err := h.crash(d, false); err != nil {
				h.fail("daemon %d: %w", d.id, err)
			}
			if h.epoch == 0 {
				h.fail("daemon %d has ended although etcd was not restored", d.id)
			}
		}
	}
}

// heal ends all faults, and starts all servers.
func (h *replicasHistory) heal() error {
	h.cluster.NoSpace(false)
	for _, m := range h.cluster.Members {
		m.Lag(false)
		m.Start()
	}
	for _, d := range h.replicas {
		for _, l := range d.left {
			l.Set(etcdmodel.Fault{})
		}
		if d.link != nil {
			d.link.Set(etcdmodel.Fault{})
		}
	}
	return h.awaitServing()
}

// awaitServing waits until all servers confirm reads and accept writes.
func (h *replicasHistory) awaitServing() error {
	for _, d := range h.replicas {
		var last error
		ok := client.Poll(func() bool {
			h.restartFailed()
			if d.server == nil {
				if last = h.start(d); last != nil {
					return false
				}
			}
			a, err := d.server.Patch(context.Background(), configMaps+"/"+marker, map[string]any{"data": map[string]string{"at": fmt.Sprint(h.order.Add(1))}})
			if err == nil && a.Code == 404 {
				a, err = d.server.Create(context.Background(), configMaps, client.ConfigMap(marker, nil, nil))
			}
			last = fmt.Errorf("%v, %w", a, err)
			return err == nil && a.Code <= 201
		})
		if !ok {
			return fmt.Errorf("daemon %d does not serve: %w", d.id, last)
		}
	}
	return nil
}

// quiesce waits for all requests.
func (h *replicasHistory) quiesce() {
	h.requests.Wait()
	synctest.Wait()
	h.collect()
}

func (h *replicasHistory) collect() {
	for _, c := range h.clients {
		h.record = append(h.record, c.recordingClient.record...)
		c.recordingClient.record = nil
	}
}

// finish heals everything and compares what all servers and watches have.
func (h *replicasHistory) finish() error {
	if err := h.heal(); err != nil {
		return err
	}
	h.quiesce()
	if err := h.awaitServing(); err != nil {
		return err
	}
	want := ""
	for _, d := range h.replicas {
		list, err := d.server.List(context.Background(), configMaps, nil)
		if err != nil {
			return fmt.Errorf("daemon %d: %w", d.id, err)
		}
		if err := h.checkFrozen(list); err != nil {
			return fmt.Errorf("daemon %d: %w", d.id, err)
		}
		if got := contents(list); d.id > 0 && got != want {
			return fmt.Errorf("daemon %d holds\n%s\ndaemon 0 holds\n%s", d.id, got, want)
		} else if d.id == 0 {
			want = got
		}
	}
	a, err := h.replicas[0].server.Patch(context.Background(), configMaps+"/"+marker, map[string]any{"data": map[string]string{"at": "end"}})
	if err != nil || a.Code != 200 {
		return fmt.Errorf("the last marker: %v, %w", a, err)
	}
	for _, o := range h.observers {
		if err := o.finish(a.Object().Version(), want); err != nil {
			return err
		}
	}
	if err := h.checkServices(); err != nil {
		return err
	}
	h.checkFences()
	end := h.order.Add(1)
	for i := range h.record {
		if h.record[i].Return == 0 {
			h.record[i].Return = end
		}
	}
	h.checkVersions()
	h.checkEvents()
	return h.failure()
}

func (h *replicasHistory) close() {
	for _, o := range h.observers {
		o.end()
	}
	for _, d := range h.replicas {
		if d.server != nil {
			d.link.Set(etcdmodel.Fault{Requests: etcdmodel.Fail})
			_ = d.server.stop() // the history is over
		}
	}
	h.cluster.Close()
	h.requests.Wait()
	time.Sleep(time.Minute) // for goroutines that end with a tick
}

// listed formats the objects of a list by name.
func listed(list client.List) map[string]string {
	all := map[string]string{}
	for _, line := range strings.Split(contents(list), "\n") {
		if name, rest, ok := strings.Cut(line, " "); ok {
			all[name] = rest
		}
	}
	return all
}

func (h *replicasHistory) ofEpoch(name string) bool {
	return strings.HasPrefix(name, fmt.Sprintf("r%d-", h.epoch))
}

// checkFrozen checks that a list has the objects of earlier epochs as the backup had them.
func (h *replicasHistory) checkFrozen(list client.List) error {
	found := listed(list)
	maps.DeleteFunc(found, func(name, _ string) bool { return h.ofEpoch(name) })
	if !maps.Equal(found, h.frozen) {
		return fmt.Errorf("the objects before the restore are\n%v\nthe backup has\n%v", found, h.frozen)
	}
	return nil
}

// checkVersions checks that no version is used twice and that versions increase in the order of
// requests.
func (h *replicasHistory) checkVersions() {
	type write struct {
		version      uint64
		call, answer int64
		in           input
	}
	var writes []write
	for _, op := range h.record {
		in, out := op.Input.(input), op.Output.(output)
		if in.verb == "get" || in.verb == "delete" || out.code > 201 || out.version == 0 || !h.ofEpoch(in.object) {
			continue
		}
		writes = append(writes, write{out.version, op.Call, op.Return, in})
	}
	slices.SortFunc(writes, func(a, b write) int { return int(a.answer - b.answer) })
	used := map[uint64]input{}
	for _, w := range writes {
		if other, ok := used[w.version]; ok && other.object != w.in.object {
			h.fail("version %d is that of %+v and of %+v", w.version, other, w.in)
		}
		used[w.version] = w.in
		if w.version <= h.newest {
			h.fail("version %d of %+v is not above %d, which was used before the restore", w.version, w.in, h.newest)
		}
	}
	for i, late := range writes {
		for _, early := range writes[:i] {
			if early.answer < late.call && early.version > late.version {
				h.fail("%+v got version %d after %+v had got %d", late.in, late.version, early.in, early.version)
			}
		}
	}
}

// checkEvents checks that a watch has delivered every acknowledged write.
func (h *replicasHistory) checkEvents() {
	for _, op := range h.record {
		in, out := op.Input.(input), op.Output.(output)
		if in.verb == "get" || in.verb == "delete" || out.code > 201 || out.version == 0 || out.content == (content{}) || !h.ofEpoch(in.object) {
			continue
		}
		for _, o := range h.observers {
			if !o.covers(out.version) {
				h.fail("a watch has not delivered version %d: %+v", out.version, in)
			}
		}
	}
}

package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/etcdmodel"
)

// A replicaStep is one step of a history. Each step has its own seed, so that a history without
// some of its steps does the same in the others.
type replicaStep struct {
	number, kind, daemon int
	seed                 uint64
}

func (s replicaStep) String() string {
	return fmt.Sprintf("%d: %s, daemon %d", s.number, replicaKinds()[s.kind].name, s.daemon)
}

func (s replicaStep) run(h *replicasHistory) error {
	d := h.replicas[s.daemon%len(h.replicas)]
	return replicaKinds()[s.kind].run(h, d, s, rand.New(rand.NewPCG(s.seed, 0)))
}

type replicaKind struct {
	name   string
	weight int
	run    func(h *replicasHistory, d *simulatedDaemon, s replicaStep, r *rand.Rand) error
}

func replicaKinds() []replicaKind {
	return []replicaKind{
		{"request", 60, (*replicasHistory).request},
		{"list", 8, (*replicasHistory).list},
		{"service", 10, (*replicasHistory).service},
		{"lead", 4, (*replicasHistory).lead},
		{"write of a leader", 6, (*replicasHistory).writeAsLeader},
		{"wait", 20, (*replicasHistory).wait},
		{"move the watches", 3, (*replicasHistory).moveWatches},
		{"heal a daemon", 16, (*replicasHistory).healDaemon},
		{"heal the members", 8, (*replicasHistory).healMembers},
		{"fault of a link", 9, (*replicasHistory).faultLink},
		{"broken connections", 2, (*replicasHistory).breakLink},
		{"fault of a member", 3, (*replicasHistory).faultMember},
		{"compaction", 2, (*replicasHistory).compact},
		{"no space", 1, (*replicasHistory).noSpace},
		{"crash", 3, (*replicasHistory).crashDaemon},
		{"start", 8, (*replicasHistory).startDaemon},
		{"clock", 2, (*replicasHistory).jump},
		{"pause", 1, (*replicasHistory).pause},
		{"backup", 3, (*replicasHistory).save},
		{"restore", 2, (*replicasHistory).restore},
	}
}

// replicaStepsOf returns the steps of a seed.
func replicaStepsOf(seed uint64) (steps []replicaStep) {
	r := rand.New(rand.NewPCG(seed, 1))
	total := 0
	for _, k := range replicaKinds() {
		total += k.weight
	}
	for n := range replicaSteps {
		at := r.IntN(total)
		kind := slices.IndexFunc(replicaKinds(), func(k replicaKind) bool { at -= k.weight; return at < 0 })
		steps = append(steps, replicaStep{n, kind, r.IntN(6), r.Uint64()})
	}
	return steps
}

// proceed lets other goroutines run for a while, or not at all, so that requests overlap.
func proceed(r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		//lint:ignore walltime the history runs in testing/synctest
		time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
	case 1, 2:
		synctest.Wait()
	}
}

// running returns the server of d or, if it is down, that of another daemon. It may return nil.
func (h *replicasHistory) running(d *simulatedDaemon) *simulatedReplica {
	for i := range h.replicas {
		if s := h.replicas[(d.id+i)%len(h.replicas)].server; s != nil {
			return s
		}
	}
	return nil
}

func (h *replicasHistory) request(d *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	server, first := h.running(d), r.IntN(len(h.clients))
	var c *replicaClient
	for i := range h.clients {
		if c = h.clients[(first+i)%len(h.clients)]; c.busy.CompareAndSwap(false, true) {
			break
		}
		c = nil
	}
	if server == nil || c == nil {
		return nil
	}
	c.client, c.random = server.Client, r
	epoch := h.epoch
	h.requests.Go(func() {
		defer c.busy.Store(false)
		before := len(c.record)
		if err := c.recordingClient.request(epoch, s.number); err != nil {
			h.fail("%w", err)
		}
		for _, op := range c.record[before:] {
			h.note("  step %d: %+v: %+v", s.number, op.Input, op.Output)
		}
	})
	proceed(rand.New(rand.NewPCG(s.seed, 1)))
	return nil
}

// list lists all objects, which is also a get of each object of the epoch.
func (h *replicasHistory) list(d *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	server := h.running(d)
	if server == nil {
		return nil
	}
	h.requests.Go(func() {
		call := h.order.Add(1)
		list, err := server.List(context.Background(), configMaps, nil)
		if answer := (*client.Answer)(nil); errors.As(err, &answer) && answer.Code < 500 {
			h.fail("list: %w", answer)
		}
		if err != nil {
			return
		}
		if err := h.checkFrozen(list); err != nil {
			h.fail("step %d: %w", s.number, err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for k := range linearKeys {
			in, out := input{verb: "get", object: fmt.Sprintf("r%d-%d", h.epoch, k)}, output{code: 404}
			for _, o := range list.Items {
				if o.Name() == in.object {
					out = output{code: 200, version: o.Version(), content: content{o.Data("body"), o.Data("mark")}}
				}
			}
			h.record = append(h.record, porcupine.Operation{ClientId: replicaClients, Input: in, Call: call, Output: out, Return: h.order.Add(1)})
		}
	})
	proceed(r)
	return nil
}

// A holding is a Service's address and port. A time is that of requests; 0 means never.
type holding struct {
	address, port string
	since, until  int64
}

// service creates a Service at each server, or deletes one.
func (h *replicasHistory) service(d *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	server := h.running(d)
	if server == nil {
		return nil
	}
	name := fmt.Sprintf("s-%d-%d", h.epoch, s.number)
	h.mu.Lock()
	var held []string
	for name, one := range h.services {
		if one.until == 0 {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	if removes := len(held) > 0 && r.IntN(2) == 0; removes {
		name = held[r.IntN(len(held))]
		h.services[name].until = h.order.Add(1)
		h.mu.Unlock()
		h.requests.Go(func() {
			a, err := server.Delete(context.Background(), services+"/"+name, nil)
			if err == nil && a.Code != 200 && a.Code < 500 {
				h.fail("delete of Service %s: %w", name, &a)
			}
		})
		proceed(r)
		return nil
	}
	h.mu.Unlock()
	for _, d := range h.replicas { // all at once, so that they may choose the same values
		if d.server == nil {
			continue
		}
		server, name := d.server, fmt.Sprintf("%s-%d", name, d.id)
		body := fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"NodePort","ports":[{"port":1}]}}`, name)
		h.requests.Go(func() {
			a, err := server.Do(context.Background(), "POST", services, client.JSON, []byte(body))
			if err != nil || a.Code != 201 {
				return
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			address, port := claimsOf(a.Object())
			h.services[name] = &holding{address, port, h.order.Add(1), 0}
		})
	}
	proceed(r)
	return nil
}

func claimsOf(service client.Object) (address, port string) {
	spec := service["spec"].(map[string]any)
	return fmt.Sprint("address ", spec["clusterIP"]), fmt.Sprint("port ", spec["ports"].([]any)[0].(map[string]any)["nodePort"])
}

// checkServices checks that no two Services have had an address or a port at the same time, and
// that the acknowledged ones exist.
func (h *replicasHistory) checkServices() error {
	list, err := h.replicas[0].server.List(context.Background(), services, nil)
	if err != nil {
		return err
	}
	holders, exists := map[string]string{}, map[string]bool{}
	for _, o := range list.Items {
		exists[o.Name()] = true
		address, port := claimsOf(o)
		for _, claim := range []string{address, port} {
			if holders[claim] != "" {
				return fmt.Errorf("%s and %s both have the %s", holders[claim], o.Name(), claim)
			}
			holders[claim] = o.Name()
		}
	}
	if h.limited && len(list.Items) > serviceQuota {
		return fmt.Errorf("%d Services exist, the quota is %d", len(list.Items), serviceQuota)
	}
	for name, one := range h.services {
		if one.until == 0 && !exists[name] {
			return fmt.Errorf("Service %s was acknowledged and is lost", name)
		}
		together := 0
		for other, two := range h.services {
			if two.since <= one.since && (two.until == 0 || one.since < two.until) {
				together++
			}
			overlap := (two.until == 0 || one.since < two.until) && (one.until == 0 || two.since < one.until)
			if name < other && overlap && (one.address == two.address || one.port == two.port) {
				return fmt.Errorf("%s and %s had %+v and %+v at the same time", name, other, one, two)
			}
		}
		if h.limited && together > serviceQuota {
			return fmt.Errorf("with %s there were %d Services, the quota is %d", name, together, serviceQuota)
		}
	}
	return nil
}

// A term is the leadership of a server since version taken, or a write at version in it.
type term struct {
	server *simulatedReplica
	taken  uint64
	at     uint64
}

const led, fence = "mark-led", "controllers"

// lead makes a server the leader.
func (h *replicasHistory) lead(d *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	server := d.server
	if server == nil {
		return nil
	}
	h.requests.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), replicaPatience)
		defer cancel()
		taken, err := h.writeLed(ctx, server, fmt.Sprint(s.number), &request.Guard{Name: fence, Raise: true})
		if err != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		server.taken.Store(taken)
		h.terms = append(h.terms, term{server, taken, taken})
	})
	proceed(r)
	return nil
}

// writeAsLeader writes as a server that has become the leader.
func (h *replicasHistory) writeAsLeader(d *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	server := d.server
	if server == nil || server.taken.Load() == 0 {
		return nil
	}
	taken := server.taken.Load()
	h.requests.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), replicaPatience)
		defer cancel()
		at, err := h.writeLed(ctx, server, fmt.Sprint(s.number), &request.Guard{Name: fence, Seen: taken})
		if err != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.led = append(h.led, term{server, taken, at})
	})
	proceed(r)
	return nil
}

func (h *replicasHistory) writeLed(ctx context.Context, s *simulatedReplica, value string, fence *request.Guard) (uint64, error) {
	key := meta.Key{Name: led}
	version, err := s.mutate(ctx, h.kinds, request.Mutation{Key: key, Fence: fence, Change: request.Patch{Type: request.MergePatch, Body: fmt.Appendf(nil, `{"data":{"v":%q}}`, value)}})
	if status := (*meta.Status)(nil); errors.As(err, &status) && status.Code == 404 {
		return s.mutate(ctx, h.kinds, request.Mutation{Key: key, Fence: fence, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": led}, "data": tree.Tree{"v": value}}}})
	}
	return version, err
}

// checkFences checks that no leader has written after another one had taken over.
func (h *replicasHistory) checkFences() {
	for _, w := range h.led {
		for _, t := range h.terms {
			if t.server != w.server && w.taken < t.taken && t.taken < w.at {
				h.fail("a leader since version %d has written version %d, although another one leads since version %d", w.taken, w.at, t.taken)
			}
		}
	}
}

func (h *replicasHistory) wait(_ *simulatedDaemon, _ replicaStep, r *rand.Rand) error {
	longest := time.Second
	if r.IntN(4) == 0 {
		longest = 40 * time.Second
	}
	//lint:ignore walltime the history runs in testing/synctest
	time.Sleep(time.Duration(r.Int64N(int64(longest))))
	return nil
}

func (h *replicasHistory) moveWatches(*simulatedDaemon, replicaStep, *rand.Rand) error {
	for _, o := range h.observers {
		o.move()
	}
	return nil
}

func (h *replicasHistory) healDaemon(d *simulatedDaemon, _ replicaStep, _ *rand.Rand) error {
	for _, l := range d.left {
		l.Set(etcdmodel.Fault{})
	}
	d.left = nil
	if d.link != nil {
		d.link.Set(etcdmodel.Fault{})
	}
	return nil
}

func (h *replicasHistory) healMembers(*simulatedDaemon, replicaStep, *rand.Rand) error {
	for _, m := range h.cluster.Members {
		m.Lag(false)
		m.Start()
	}
	h.cluster.NoSpace(false)
	return nil
}

func (h *replicasHistory) faultLink(d *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	if d.link == nil {
		return nil
	}
	const pass, hold, fail = etcdmodel.Pass, etcdmodel.Hold, etcdmodel.Fail
	all := []etcdmodel.Fault{
		{Requests: hold, Responses: hold, Events: hold}, {Requests: hold}, {Responses: hold, Events: hold}, {Responses: hold},
		{Events: hold}, {Responses: fail}, {Requests: fail, Events: fail}, {Responses: fail, Events: hold},
	}
	f := all[r.IntN(len(all))]
	h.note("  step %d: %+v", s.number, f)
	d.link.Set(f)
	return nil
}

func (h *replicasHistory) breakLink(d *simulatedDaemon, _ replicaStep, _ *rand.Rand) error {
	if d.link != nil {
		d.link.Break()
	}
	return nil
}

func (h *replicasHistory) faultMember(_ *simulatedDaemon, s replicaStep, r *rand.Rand) error {
	m := h.cluster.Members[r.IntN(len(h.cluster.Members))]
	if r.IntN(2) == 0 {
		m.Stop()
	} else {
		h.note("  step %d: it lags", s.number)
		m.Lag(true)
	}
	return nil
}

func (h *replicasHistory) compact(_ *simulatedDaemon, _ replicaStep, r *rand.Rand) error {
	_ = h.cluster.Compact(h.cluster.Revision() - int64(r.IntN(10))) // it may be compacted already
	return nil
}

func (h *replicasHistory) noSpace(*simulatedDaemon, replicaStep, *rand.Rand) error {
	h.cluster.NoSpace(true)
	return nil
}

func (h *replicasHistory) crashDaemon(d *simulatedDaemon, _ replicaStep, r *rand.Rand) error {
	return h.crash(d, r.IntN(2) == 0)
}

func (h *replicasHistory) startDaemon(d *simulatedDaemon, s replicaStep, _ *rand.Rand) error {
	if d.server != nil {
		return nil
	}
	if err := h.start(d); err != nil {
		h.note("  step %d: %v", s.number, err)
	}
	return nil
}

func (h *replicasHistory) jump(d *simulatedDaemon, _ replicaStep, r *rand.Rand) error {
	d.clock.jump(time.Duration(r.IntN(7200)-3600) * time.Second)
	return nil
}

// pause cuts a server off for longer than its watches and etcd remember.
func (h *replicasHistory) pause(d *simulatedDaemon, _ replicaStep, r *rand.Rand) error {
	if d.link == nil {
		return nil
	}
	d.link.Set(etcdmodel.Fault{Requests: etcdmodel.Hold, Responses: etcdmodel.Hold, Events: etcdmodel.Hold})
	//lint:ignore walltime the history runs in testing/synctest
	time.Sleep(time.Duration(r.IntN(300)) * time.Second)
	d.clock.jump(time.Duration(r.IntN(300)) * time.Second)
	return nil
}

package etcdmodel

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

const (
	// maxRevisions is the number of revisions in one response of a watch. etcd sends up to 1000.
	maxRevisions = 5
	// maxFragment is the number of events in a fragment. etcd limits their bytes.
	maxFragment = 3
	// noWatch is the ID in a progress notification for all watches of a stream.
	noWatch = -1
)

type watches struct {
	etcdserverpb.UnimplementedWatchServer
	member *Member
}

// A stream is one call of Watch, which can have several watches.
type stream struct {
	grpc.BidiStreamingServer[etcdserverpb.WatchRequest, etcdserverpb.WatchResponse]
	member *Member
	link   *Link

	mu       sync.Mutex // guards the fields below
	watches  []*watch
	created  int64
	pending  []*etcdserverpb.WatchResponse // sent before further events
	progress bool                          // a progress notification was requested
}

type watch struct {
	id       int64
	from     []byte
	end      []byte
	next     int64 // next revision to send
	fragment bool
}

func (s *watches) Watch(server grpc.BidiStreamingServer[etcdserverpb.WatchRequest, etcdserverpb.WatchResponse]) error {
	ctx, cancel := context.WithCancel(server.Context())
	defer cancel()
	t := &stream{BidiStreamingServer: server, member: s.member, link: linkOf(ctx)}
	go func() {
		defer cancel()
		t.receive(ctx)
	}()
	return t.send(ctx)
}

func (t *stream) receive(ctx context.Context) {
	for {
		r, err := t.Recv()
		if err != nil || t.link.pass(ctx, func(f Fault) Action { return f.Requests }) != nil {
			return
		}
		t.member.cluster.update(func() { t.take(r) })
	}
}

// take executes a request. The caller must hold the lock of the cluster.
func (t *stream) take(r *etcdserverpb.WatchRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r := r.RequestUnion.(type) {
	case *etcdserverpb.WatchRequest_CreateRequest:
		w := &watch{id: t.created, from: r.CreateRequest.Key, end: r.CreateRequest.RangeEnd, next: r.CreateRequest.StartRevision, fragment: r.CreateRequest.Fragment}
		if w.next == 0 {
			w.next = t.member.visible() + 1
		}
		t.created++
		t.watches = append(t.watches, w)
		t.pending = append(t.pending, &etcdserverpb.WatchResponse{Header: t.header(), WatchId: w.id, Created: true})
	case *etcdserverpb.WatchRequest_CancelRequest:
		t.watches = slices.DeleteFunc(t.watches, func(w *watch) bool { return w.id == r.CancelRequest.WatchId })
		t.pending = append(t.pending, &etcdserverpb.WatchResponse{Header: t.header(), WatchId: r.CancelRequest.WatchId, Canceled: true})
	case *etcdserverpb.WatchRequest_ProgressRequest:
		t.progress = true
	}
}

// header returns a header with the revision that the watches of the member see.
func (t *stream) header() *etcdserverpb.ResponseHeader {
	h := t.member.header()
	h.Revision = t.member.visible()
	return h
}

// send sends responses until the stream ends.
func (t *stream) send(ctx context.Context) error {
	values, _ := metadata.FromIncomingContext(ctx)
	requiresLeader := len(values.Get(rpctypes.MetadataRequireLeaderKey)) > 0
	for {
		var responses []*etcdserverpb.WatchResponse
		leaderless, failed := false, false
		err := t.member.cluster.await(ctx, func() bool {
			leaderless = requiresLeader && !t.member.cluster.hasLeader()
			failed = t.link.fault.Events == Fail
			if leaderless || failed {
				return true
			}
			if t.link.fault.Events == Hold {
				return false
			}
			responses = t.next()
			return len(responses) > 0
		})
		switch {
		case err != nil:
			return err
		case leaderless:
			return rpctypes.ErrGRPCNoLeader
		case failed:
			return errBroken
		}
		for _, r := range responses {
			if err := t.Send(r); err != nil {
				return err
			}
		}
	}
}

// next returns the responses that can be sent now. The caller must hold the lock of the cluster.
func (t *stream) next() []*etcdserverpb.WatchResponse {
	t.mu.Lock()
	defer t.mu.Unlock()
	responses := t.pending
	t.pending = nil
	synced := true
	for _, w := range slices.Clone(t.watches) {
		if compacted := t.member.cluster.history.compacted; w.next < compacted {
			responses = append(responses, &etcdserverpb.WatchResponse{Header: t.header(), WatchId: w.id, Canceled: true, CompactRevision: compacted})
			t.watches = slices.DeleteFunc(t.watches, func(other *watch) bool { return other == w })
			continue
		}
		responses = append(responses, t.events(w)...)
		synced = synced && w.next > t.member.visible()
	}
	if t.progress && synced {
		t.progress = false
		responses = append(responses, &etcdserverpb.WatchResponse{Header: t.header(), WatchId: noWatch})
	}
	return responses
}

// events returns the next revisions of a watch, in one response or its fragments.
func (t *stream) events(w *watch) (responses []*etcdserverpb.WatchResponse) {
	var events []*mvccpb.Event
	for revisions := 0; w.next <= t.member.visible() && revisions < maxRevisions; w.next++ {
		before := len(events)
		for _, e := range t.member.cluster.history.events[w.next] {
			if within(e.Kv.Key, w.from, w.end) {
				events = append(events, e)
			}
		}
		if len(events) > before {
			revisions++
		}
	}
	size := cmp.Or(len(events), 1)
	if w.fragment {
		size = maxFragment
	}
	for part := range slices.Chunk(events, size) {
		responses = append(responses, &etcdserverpb.WatchResponse{Header: t.header(), WatchId: w.id, Events: part, Fragment: true})
	}
	if len(responses) > 0 {
		responses[len(responses)-1].Fragment = false
	}
	return responses
}

package storage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/etcdmodel"
)

const modelRounds = 2

// TestModelOfEtcd sends the same random requests to an etcd and to its model, and compares the
// responses, errors and events.
func TestModelOfEtcd(t *testing.T) {
	seed, requests, watches := client.Seed(t, 1), 0, 0
	for round := range client.Rounds(t, modelRounds, 1) {
		p := newModelPair(t, rand.New(rand.NewPCG(seed, uint64(round))))
		for range 150 {
			p.request()
			requests++
			if p.random.IntN(10) == 0 {
				p.watch()
				watches++
			}
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	client.Figures(t, "%d requests and %d watches of etcd and its model", requests, watches)
}

// A modelPair is an etcd and a model with the same keys.
type modelPair struct {
	t           *testing.T
	random      *rand.Rand
	etcd, model *clientv3.Client
	revision    int64
	etcdRPC     etcdserverpb.KVClient
	modelRPC    etcdserverpb.KVClient
}

func newModelPair(t *testing.T, random *rand.Rand) *modelPair {
	t.Helper()
	cluster := etcdmodel.New(1)
	t.Cleanup(cluster.Close)
	p := &modelPair{t: t, random: random, etcd: etcdtest.Start(t, 1).Client(), revision: 1}
	p.model = must.Get(clientv3.New(clientv3.Config{
		Endpoints: cluster.URLs(), Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithContextDialer(cluster.Link().Dial)},
	}))(t)
	t.Cleanup(func() { _ = p.model.Close() }) // nothing is lost
	p.etcdRPC, p.modelRPC = etcdserverpb.NewKVClient(p.etcd.ActiveConnection()), etcdserverpb.NewKVClient(p.model.ActiveConnection())
	return p
}

func (p *modelPair) key() []byte { return fmt.Appendf(nil, "/k/%d", p.random.IntN(6)) }

// end returns the end of a range, which is mostly a single key.
func (p *modelPair) end() []byte {
	return [][]byte{nil, nil, nil, []byte("/k0"), {0}, p.key()}[p.random.IntN(6)]
}

// at returns a revision around the known ones, or 0.
func (p *modelPair) at() int64 { return max(0, p.revision-p.random.Int64N(12)+2) }

// request sends one request to both.
func (p *modelPair) request() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), client.Watchdog)
	defer cancel()
	switch p.random.IntN(10) {
	case 0:
		r := &etcdserverpb.PutRequest{Key: p.key(), Value: p.value()}
		compare(p, ctx, r, etcdserverpb.KVClient.Put)
	case 1:
		r := &etcdserverpb.DeleteRangeRequest{Key: p.key(), RangeEnd: p.end()}
		compare(p, ctx, r, etcdserverpb.KVClient.DeleteRange)
	case 2, 3:
		compare(p, ctx, p.read(), etcdserverpb.KVClient.Range)
	case 4:
		if p.random.IntN(4) == 0 {
			compare(p, ctx, &etcdserverpb.CompactionRequest{Revision: p.at()}, etcdserverpb.KVClient.Compact)
		}
	default:
		compare(p, ctx, p.txn(2), etcdserverpb.KVClient.Txn)
	}
}

func (p *modelPair) value() []byte { return fmt.Appendf(nil, "v%d", p.random.IntN(3)) }

func (p *modelPair) read() *etcdserverpb.RangeRequest {
	r := &etcdserverpb.RangeRequest{Key: p.key(), RangeEnd: p.end(), Limit: p.random.Int64N(4), KeysOnly: p.random.IntN(3) == 0, CountOnly: p.random.IntN(5) == 0}
	if p.random.IntN(3) == 0 {
		r.Revision = p.at()
	}
	if p.random.IntN(3) == 0 {
		r.SortTarget = []etcdserverpb.RangeRequest_SortTarget{etcdserverpb.RangeRequest_KEY, etcdserverpb.RangeRequest_MOD}[p.random.IntN(2)]
		r.SortOrder = etcdserverpb.RangeRequest_SortOrder(1 + p.random.IntN(2))
	}
	return r
}

func (p *modelPair) txn(depth int) *etcdserverpb.TxnRequest {
	r := &etcdserverpb.TxnRequest{}
	for range p.random.IntN(3) {
		c := &etcdserverpb.Compare{Key: p.key(), Result: etcdserverpb.Compare_CompareResult(p.random.IntN(4)), Target: etcdserverpb.Compare_CompareTarget(p.random.IntN(4))}
		switch c.Target {
		case etcdserverpb.Compare_VERSION:
			c.TargetUnion = &etcdserverpb.Compare_Version{Version: p.random.Int64N(3)}
		case etcdserverpb.Compare_CREATE:
			c.TargetUnion = &etcdserverpb.Compare_CreateRevision{CreateRevision: p.at() * p.random.Int64N(2)}
		case etcdserverpb.Compare_MOD:
			c.TargetUnion = &etcdserverpb.Compare_ModRevision{ModRevision: p.at() * p.random.Int64N(2)}
		default:
			c.TargetUnion = &etcdserverpb.Compare_Value{Value: p.value()}
		}
		r.Compare = append(r.Compare, c)
	}
	for range 1 + p.random.IntN(3) {
		r.Success = append(r.Success, p.op(depth))
	}
	for range p.random.IntN(3) {
		r.Failure = append(r.Failure, p.op(depth))
	}
	return r
}

func (p *modelPair) op(depth int) *etcdserverpb.RequestOp {
	switch at := p.random.IntN(8); {
	case at == 0:
		return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestRange{RequestRange: p.read()}}
	case at < 3:
		return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestDeleteRange{RequestDeleteRange: &etcdserverpb.DeleteRangeRequest{Key: p.key()}}}
	case at < 5 && depth > 0:
		return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestTxn{RequestTxn: p.txn(depth - 1)}}
	}
	return &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{RequestPut: &etcdserverpb.PutRequest{Key: p.key(), Value: p.value()}}}
}

// A modelAnswer is a response of any request.
type modelAnswer interface {
	proto.Message
	GetHeader() *etcdserverpb.ResponseHeader
}

// compare sends a request to both and compares the responses.
func compare[Request fmt.Stringer, Response modelAnswer](p *modelPair, ctx context.Context, r Request, send func(etcdserverpb.KVClient, context.Context, Request, ...grpc.CallOption) (Response, error)) {
	p.t.Helper()
	want, err := send(p.etcdRPC, ctx, r)
	got, fault := send(p.modelRPC, ctx, r)
	switch {
	case (err == nil) != (fault == nil) || err != nil && err.Error() != fault.Error():
		p.t.Errorf("%v: etcd fails with %v, the model with %v", r, err, fault)
	case err == nil:
		if a, b := answerText(want), answerText(got); a != b {
			p.t.Errorf("%v:\netcd  %s\nmodel %s", r, a, b)
		}
		p.revision = want.GetHeader().Revision
	}
}

// answerText formats a response without the identity of the server, and without nested headers.
func answerText(a modelAnswer) string {
	h := a.GetHeader()
	h.ClusterId, h.MemberId, h.RaftTerm = 0, 0, 0
	if txn, ok := any(a).(*etcdserverpb.TxnResponse); ok {
		withoutHeaders(txn)
	}
	return strings.Join(strings.Fields(prototext.Format(a)), " ")
}

func withoutHeaders(txn *etcdserverpb.TxnResponse) {
	for _, op := range txn.Responses {
		switch r := op.Response.(type) {
		case *etcdserverpb.ResponseOp_ResponseRange:
			r.ResponseRange.Header = nil
		case *etcdserverpb.ResponseOp_ResponsePut:
			r.ResponsePut.Header = nil
		case *etcdserverpb.ResponseOp_ResponseDeleteRange:
			r.ResponseDeleteRange.Header = nil
		case *etcdserverpb.ResponseOp_ResponseTxn:
			r.ResponseTxn.Header = nil
			withoutHeaders(r.ResponseTxn)
		}
	}
}

// watch compares the events of both from a random revision on.
func (p *modelPair) watch() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), client.Watchdog)
	defer cancel()
	compare(p, ctx, &etcdserverpb.PutRequest{Key: []byte("/k/last")}, etcdserverpb.KVClient.Put)
	from := 1 + p.random.Int64N(p.revision)
	if p.random.IntN(2) == 0 {
		from = max(1, p.at()-2)
	}
	want, got := p.events(ctx, p.etcd, from), p.events(ctx, p.model, from)
	if want != got {
		p.t.Errorf("a watch from %d at %d:\netcd\n%s\nmodel\n%s", from, p.revision, want, got)
	}
}

// events returns the events from a revision on up to the newest one, or how the watch ends.
func (p *modelPair) events(ctx context.Context, c *clientv3.Client, from int64) string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var b strings.Builder
	for r := range c.Watch(ctx, "/k/", clientv3.WithPrefix(), clientv3.WithRev(from), clientv3.WithFragment()) {
		if r.Err() != nil {
			fmt.Fprintf(&b, "%v at %d", r.Err(), r.CompactRevision)
			return b.String()
		}
		for _, e := range r.Events {
			fmt.Fprintf(&b, "%s %s=%s %d %d %d\n", e.Type, e.Kv.Key, e.Kv.Value, e.Kv.CreateRevision, e.Kv.ModRevision, e.Kv.Version)
			if e.Kv.ModRevision >= p.revision {
				return b.String()
			}
		}
	}
	p.t.Errorf("the watch from %d has ended", from)
	return b.String()
}

package etcdmodel

import (
	"bytes"
	"maps"
	"slices"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxTxnOps is the default of etcd's --max-txn-ops.
const maxTxnOps = 128

var errUnsupported = status.Error(codes.Unimplemented, "the model does not implement this option")

// A history is the state of all keys at all revisions.
type history struct {
	revision  int64
	compacted int64
	keys      map[string][]*mvccpb.KeyValue // by key, in ascending order; a deletion has version 0
	events    map[int64][]*mvccpb.Event     // by revision
}

func newHistory() *history {
	return &history{revision: 1, keys: map[string][]*mvccpb.KeyValue{}, events: map[int64][]*mvccpb.Event{}}
}

func (h *history) clone() *history {
	c := *h
	c.keys, c.events = maps.Clone(h.keys), maps.Clone(h.events)
	for key, versions := range c.keys {
		c.keys[key] = slices.Clone(versions)
	}
	return &c
}

// get returns the value of a key at a revision, or nil.
func (h *history) get(key string, revision int64) *mvccpb.KeyValue {
	for _, kv := range slices.Backward(h.keys[key]) {
		if kv.ModRevision <= revision {
			if kv.Version == 0 {
				return nil
			}
			return kv
		}
	}
	return nil
}

// within reports whether a key is in the range of a request. The end "\x00" means all later keys.
func within(key, from, end []byte) bool {
	switch {
	case len(end) == 0:
		return bytes.Equal(key, from)
	case len(end) == 1 && end[0] == 0:
		return bytes.Compare(key, from) >= 0
	}
	return bytes.Compare(key, from) >= 0 && bytes.Compare(key, end) < 0
}

// find returns the values in a range at a revision, ordered by key.
func (h *history) find(from, end []byte, revision int64) (found []*mvccpb.KeyValue) {
	if len(end) == 0 {
		if kv := h.get(string(from), revision); kv != nil {
			found = append(found, kv)
		}
		return found
	}
	for _, key := range slices.Sorted(maps.Keys(h.keys)) {
		if kv := h.get(key, revision); kv != nil && within(kv.Key, from, end) {
			found = append(found, kv)
		}
	}
	return found
}

func (h *history) checkRange(r *etcdserverpb.RangeRequest) error {
	switch {
	case len(r.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case r.MinModRevision|r.MaxModRevision|r.MinCreateRevision|r.MaxCreateRevision != 0:
		return errUnsupported
	case r.SortOrder != etcdserverpb.RangeRequest_NONE && r.SortTarget != etcdserverpb.RangeRequest_KEY && r.SortTarget != etcdserverpb.RangeRequest_MOD:
		return errUnsupported
	case r.Revision > h.revision:
		return rpctypes.ErrGRPCFutureRev
	case r.Revision > 0 && r.Revision < h.compacted:
		return rpctypes.ErrGRPCCompacted
	}
	return nil
}

func (h *history) read(r *etcdserverpb.RangeRequest, newest int64) *etcdserverpb.RangeResponse {
	at := r.Revision
	if at == 0 {
		at = newest
	}
	found := h.find(r.Key, r.RangeEnd, at)
	if r.SortTarget == etcdserverpb.RangeRequest_MOD {
		slices.SortFunc(found, func(a, b *mvccpb.KeyValue) int { return int(a.ModRevision - b.ModRevision) })
	}
	if r.SortOrder == etcdserverpb.RangeRequest_DESCEND {
		slices.Reverse(found)
	}
	response := &etcdserverpb.RangeResponse{Count: int64(len(found))}
	if r.CountOnly {
		return response
	}
	if r.Limit > 0 && int64(len(found)) > r.Limit {
		found, response.More = found[:r.Limit], true
	}
	for _, kv := range found {
		if r.KeysOnly {
			kv = &mvccpb.KeyValue{Key: kv.Key, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version}
		}
		response.Kvs = append(response.Kvs, kv)
	}
	return response
}

// execute runs a transaction. All its comparisons, even nested ones, see the state before it.
func (h *history) execute(r *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	if err := checkTxn(r, maxTxnOps); err != nil {
		return nil, err
	}
	plan, err := h.plan(r)
	if err != nil {
		return nil, err
	}
	next := h.revision + 1
	response := h.run(plan, next)
	if len(h.events[next]) > 0 {
		h.revision = next
	}
	return response, nil
}

// A plan is the branch of a transaction that its comparisons have selected.
type plan struct {
	succeeded bool
	ops       []*etcdserverpb.RequestOp
	nested    []*plan // of the ops that are transactions
}

func (h *history) plan(r *etcdserverpb.TxnRequest) (*plan, error) {
	p := &plan{succeeded: !slices.ContainsFunc(r.Compare, func(c *etcdserverpb.Compare) bool { return !h.holds(c) }), ops: r.Success}
	if !p.succeeded {
		p.ops = r.Failure
	}
	for _, op := range p.ops {
		if read := op.GetRequestRange(); read != nil {
			if err := h.checkRange(read); err != nil {
				return nil, err
			}
		}
		if txn := op.GetRequestTxn(); txn != nil {
			inner, err := h.plan(txn)
			if err != nil {
				return nil, err
			}
			p.nested = append(p.nested, inner)
		}
	}
	return p, nil
}

func (h *history) holds(c *etcdserverpb.Compare) bool {
	kv, exists := h.get(string(c.Key), h.revision), true
	if kv == nil {
		kv, exists = &mvccpb.KeyValue{}, false
	}
	order := 0
	switch c.Target {
	case etcdserverpb.Compare_VALUE:
		if !exists {
			return false
		}
		order = bytes.Compare(kv.Value, c.GetValue())
	case etcdserverpb.Compare_CREATE:
		order = int(kv.CreateRevision - c.GetCreateRevision())
	case etcdserverpb.Compare_MOD:
		order = int(kv.ModRevision - c.GetModRevision())
	default:
		order = int(kv.Version - c.GetVersion())
	}
	switch c.Result {
	case etcdserverpb.Compare_EQUAL:
		return order == 0
	case etcdserverpb.Compare_NOT_EQUAL:
		return order != 0
	case etcdserverpb.Compare_GREATER:
		return order > 0
	}
	return order < 0
}

// run executes the selected operations at revision next. Reads see the earlier writes.
func (h *history) run(p *plan, next int64) *etcdserverpb.TxnResponse {
	response := &etcdserverpb.TxnResponse{Succeeded: p.succeeded}
	for _, op := range p.ops {
		out := &etcdserverpb.ResponseOp{}
		switch r := op.Request.(type) {
		case *etcdserverpb.RequestOp_RequestRange:
			out.Response = &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: h.read(r.RequestRange, next)}
		case *etcdserverpb.RequestOp_RequestPut:
			h.put(r.RequestPut.Key, r.RequestPut.Value, next)
			out.Response = &etcdserverpb.ResponseOp_ResponsePut{ResponsePut: &etcdserverpb.PutResponse{}}
		case *etcdserverpb.RequestOp_RequestDeleteRange:
			deleted := h.remove(r.RequestDeleteRange.Key, r.RequestDeleteRange.RangeEnd, next)
			out.Response = &etcdserverpb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: &etcdserverpb.DeleteRangeResponse{Deleted: deleted}}
		case *etcdserverpb.RequestOp_RequestTxn:
			out.Response = &etcdserverpb.ResponseOp_ResponseTxn{ResponseTxn: h.run(p.nested[0], next)}
			p.nested = p.nested[1:]
		}
		response.Responses = append(response.Responses, out)
	}
	return response
}

func (h *history) put(key, value []byte, next int64) {
	kv := &mvccpb.KeyValue{Key: key, Value: value, CreateRevision: next, ModRevision: next, Version: 1}
	if before := h.get(string(key), next); before != nil {
		kv.CreateRevision, kv.Version = before.CreateRevision, before.Version+1
	}
	h.keys[string(key)] = append(h.keys[string(key)], kv)
	h.events[next] = append(h.events[next], &mvccpb.Event{Type: mvccpb.Event_PUT, Kv: kv})
}

func (h *history) remove(from, end []byte, next int64) (deleted int64) {
	for _, kv := range h.find(from, end, next) {
		gone := &mvccpb.KeyValue{Key: kv.Key, ModRevision: next}
		h.keys[string(kv.Key)] = append(h.keys[string(kv.Key)], gone)
		h.events[next] = append(h.events[next], &mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: gone})
		deleted++
	}
	return deleted
}

func (h *history) compact(revision int64) error {
	switch {
	case revision <= h.compacted:
		return rpctypes.ErrGRPCCompacted
	case revision > h.revision:
		return rpctypes.ErrGRPCFutureRev
	}
	h.compacted = revision
	return nil
}

// checkTxn rejects a transaction with too many operations, empty keys, or two writes of one key.
func checkTxn(r *etcdserverpb.TxnRequest, left int) error {
	if err := checkOps(r, left); err != nil {
		return err
	}
	for _, branch := range [][]*etcdserverpb.RequestOp{r.Success, r.Failure} {
		if err := checkWrites(branch, &written{puts: map[string]bool{}}); err != nil {
			return err
		}
	}
	return nil
}

func checkOps(r *etcdserverpb.TxnRequest, left int) error {
	used := max(len(r.Compare), len(r.Success), len(r.Failure))
	if used > left {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, op := range slices.Concat(r.Success, r.Failure) {
		put, remove := op.GetRequestPut(), op.GetRequestDeleteRange()
		if put != nil && len(put.Key) == 0 || remove != nil && len(remove.Key) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
		if txn := op.GetRequestTxn(); txn != nil {
			if err := checkOps(txn, left-used); err != nil {
				return err
			}
		}
	}
	return nil
}

// written is what the operations of a branch write. A transaction may delete a key twice, but not
// put it twice, nor put and delete it.
type written struct {
	puts    map[string]bool
	deletes []*etcdserverpb.DeleteRangeRequest
}

func checkWrites(branch []*etcdserverpb.RequestOp, w *written) error {
	for _, op := range branch {
		switch r := op.Request.(type) {
		case *etcdserverpb.RequestOp_RequestPut:
			key := r.RequestPut.Key
			if w.puts[string(key)] || slices.ContainsFunc(w.deletes, func(d *etcdserverpb.DeleteRangeRequest) bool { return within(key, d.Key, d.RangeEnd) }) {
				return rpctypes.ErrGRPCDuplicateKey
			}
			w.puts[string(key)] = true
		case *etcdserverpb.RequestOp_RequestDeleteRange:
			d := r.RequestDeleteRange
			for key := range w.puts {
				if within([]byte(key), d.Key, d.RangeEnd) {
					return rpctypes.ErrGRPCDuplicateKey
				}
			}
			w.deletes = append(w.deletes, d)
		case *etcdserverpb.RequestOp_RequestTxn:
			both := &written{maps.Clone(w.puts), slices.Clone(w.deletes)}
			if err := checkWrites(r.RequestTxn.Success, w); err != nil {
				return err
			}
			if err := checkWrites(r.RequestTxn.Failure, both); err != nil {
				return err
			}
			maps.Copy(w.puts, both.puts)
			w.deletes = append(w.deletes, both.deletes...)
		}
	}
	return nil
}

// putsKey reports whether etcd counts a transaction against its space quota, as it does not count
// nested transactions.
func putsKey(r *etcdserverpb.TxnRequest) bool {
	return slices.ContainsFunc(slices.Concat(r.Success, r.Failure), func(op *etcdserverpb.RequestOp) bool { return op.GetRequestPut() != nil })
}

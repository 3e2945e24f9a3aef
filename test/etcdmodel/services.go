package etcdmodel

import (
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

type keyValues struct {
	etcdserverpb.UnimplementedKVServer
	member *Member
}

func (s *keyValues) Range(_ context.Context, r *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	c := s.member.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.history.checkRange(r); err != nil {
		return nil, err
	}
	response := c.history.read(r, c.history.revision)
	response.Header = s.member.header()
	return response, nil
}

func (s *keyValues) Put(ctx context.Context, r *etcdserverpb.PutRequest) (*etcdserverpb.PutResponse, error) {
	if r.Lease != 0 || r.PrevKv || r.IgnoreValue || r.IgnoreLease {
		return nil, errUnsupported
	}
	done, err := s.alone(ctx, &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{RequestPut: r}})
	if err != nil {
		return nil, err
	}
	return &etcdserverpb.PutResponse{Header: done.Header}, nil
}

func (s *keyValues) DeleteRange(ctx context.Context, r *etcdserverpb.DeleteRangeRequest) (*etcdserverpb.DeleteRangeResponse, error) {
	if r.PrevKv {
		return nil, errUnsupported
	}
	done, err := s.alone(ctx, &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}})
	if err != nil {
		return nil, err
	}
	return &etcdserverpb.DeleteRangeResponse{Header: done.Header, Deleted: done.Responses[0].GetResponseDeleteRange().Deleted}, nil
}

func (s *keyValues) alone(ctx context.Context, op *etcdserverpb.RequestOp) (*etcdserverpb.TxnResponse, error) {
	return s.Txn(ctx, &etcdserverpb.TxnRequest{Success: []*etcdserverpb.RequestOp{op}})
}

func (s *keyValues) Txn(_ context.Context, r *etcdserverpb.TxnRequest) (response *etcdserverpb.TxnResponse, err error) {
	c := s.member.cluster
	c.update(func() {
		if c.noSpace && putsKey(r) {
			err = rpctypes.ErrGRPCNoSpace
			return
		}
		if response, err = c.history.execute(r); err == nil {
			response.Header = s.member.header()
		}
	})
	return response, err
}

func (s *keyValues) Compact(_ context.Context, r *etcdserverpb.CompactionRequest) (*etcdserverpb.CompactionResponse, error) {
	c := s.member.cluster
	if err := c.Compact(r.Revision); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &etcdserverpb.CompactionResponse{Header: s.member.header()}, nil
}

type maintenance struct {
	etcdserverpb.UnimplementedMaintenanceServer
	member *Member
}

func (s *maintenance) Status(context.Context, *etcdserverpb.StatusRequest) (*etcdserverpb.StatusResponse, error) {
	c := s.member.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	return &etcdserverpb.StatusResponse{Header: s.member.header(), Version: "3.7.0"}, nil
}

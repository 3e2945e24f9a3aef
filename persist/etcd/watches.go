package etcd

import (
	"context"
	"strconv"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// watches gives each watch of the follower its own gRPC stream, which ends with the connection. The
// etcd client would silently resume a shared stream, possibly on servers with another history.
type watches struct {
	newest atomic.Int64 // number of the newest watch
	opened atomic.Int64 // number of the newest watch with a stream
}

// watchKey is the gRPC metadata key that distinguishes watches. The client shares one stream among
// all requests with the same metadata.
const watchKey = "troupe-watch"

// next returns the context for a new watch, which ends if its server loses contact with the etcd
// leader.
func (w *watches) next(ctx context.Context) context.Context { return w.of(ctx, w.newest.Add(1)) }

func (*watches) of(ctx context.Context, number int64) context.Context {
	return metadata.AppendToOutgoingContext(clientv3.WithRequireLeader(ctx), watchKey, strconv.FormatInt(number, 10))
}

// intercept is a grpc.StreamClientInterceptor that rejects a second stream for the same watch.
func (w *watches) intercept(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	values, _ := metadata.FromOutgoingContext(ctx)
	number := int64(0)
	for _, value := range values.Get(watchKey) {
		number, _ = strconv.ParseInt(value, 10, 64) // the watch of a history has no number, and may be resumed
	}
	if number > 0 && number <= w.opened.Load() {
		return nil, status.Error(codes.Aborted, "the connection of the watch has ended")
	}
	stream, err := open(ctx, desc, cc, method, opts...)
	for err == nil {
		if before := w.opened.Load(); number <= before || w.opened.CompareAndSwap(before, number) {
			break
		}
	}
	return stream, err
}

func (l *Log) requestProgress() {
	if number := l.watches.newest.Load(); number > 0 {
		_ = l.client.RequestProgress(l.watches.of(l.ctx, number))
	}
}

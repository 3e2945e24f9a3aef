package etcd

import (
	"context"
	"net"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/troupe-api/troupe/internal/must"
)

type oldServer struct {
	pb.UnimplementedMaintenanceServer
	version string
}

func (s *oldServer) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Header: &pb.ResponseHeader{}, Version: s.version}, nil
}

// TestVersions checks that server versions that may report watch progress too early are rejected
// before any other request.
func TestVersions(t *testing.T) {
	t.Parallel()
	for version, refused := range map[string]bool{
		"2.3.8": true, "3.3.27": true, "3.4.23": true, "3.4.25": false, "3.5.7": true, "3.5.8": false, "3.6.0": false, "3.7.0-rc.0": false, "4.0.0": false,
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			server := grpc.NewServer()
			pb.RegisterMaintenanceServer(server, &oldServer{version: version})
			served := make(chan error, 1)
			go func() { served <- server.Serve(listener) }()
			defer func() {
				server.Stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
			}()
			l, err := Open(t.Context(), Options{Endpoints: []string{"http://" + listener.Addr().String()}})
			if err == nil {
				t.Fatal("it was opened", l.Close())
			}
			// With a supported version, the next request fails, because this server does not
			// implement it.
			if got := strings.Contains(err.Error(), "has version "+version+"; 3.4.25, 3.5.8 or 3.6 is needed"); got != refused {
				t.Errorf("refused for its version: %v, want %v: %v", got, refused, err)
			}
		})
	}
}

package scenario

import (
	"context"
	"net/http"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// hotObjects is how many objects reads and writes of single objects go round. They are enough that no
// single object is the bottleneck.
const hotObjects = 1_000

// hotCount is that number, or fewer if there are fewer operations.
func (s *Session) hotCount() int { return min(hotObjects, s.Count) }

// getObjects: every operation is a GET of one object, in turn. It is the workload with the least to do, so
// its cost is nearly that of a request itself.
func getObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, f.get)
	if err != nil {
		return nil, err
	}
	return requestResult("get", sample, load, http.MethodGet, "", nil), nil
}

// protobuf is the media type of Protobuf under the naming profile of the servers. A server that is not
// started here must have the profile that --naming says.
func (s *Session) protobuf() string {
	if s.Naming == "kubernetes" {
		return "application/vnd.kubernetes.protobuf"
	}
	return server.TypeProtobuf
}

// get is the Step that reads one of the objects in turn. An answer of another status than 200 is an error.
func (f *fixture) get(c *server.Conn, n int) (int, error) {
	answer, err := c.Expect(http.StatusOK, http.MethodGet, f.path(n%f.total), "", nil)
	return len(answer), err
}

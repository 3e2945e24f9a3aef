package scenario

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
	"google.golang.org/protobuf/encoding/protowire"
)

// nodeLeases is how many nodes renew a Lease. Nodes renew every ten seconds, so this many are 2,000 writes
// per second from heartbeats alone.
const nodeLeases = 20_000

// lease is that of one node. Its holder alone writes it, with the version that it saw last. Two operations
// on one lease would conflict, which mu prevents.
type lease struct {
	mu      sync.Mutex
	version string // guarded by mu
}

// leases: every operation is one renewal, a PUT of a node's Lease with a new time. Each has a precondition,
// unlike those of update, and changes one field of a small object.
func leases(ctx context.Context, s *Session) ([]Result, error) {
	group, err := s.group("coordination")
	if err != nil {
		return nil, err
	}
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	collection := fmt.Sprintf("/apis/%s/v1/namespaces/%s/leases", group, f.namespace)
	f.otherCollections = append(f.otherCollections, collection)
	all := make([]lease, s.scaledSize("leases: nodes", nodeLeases))
	contentType, body, versionIn := server.TypeJSON, leaseBody, versionOf
	if accept := s.Target.Accept; accept != "" {
		contentType, body, versionIn = accept, leaseInProtobuf, versionInProtobuf
	}
	write := func(c *server.Conn, status int, method, path string, n int) (int, error) {
		l := &all[n]
		l.mu.Lock()
		defer l.mu.Unlock()
		answer, err := c.Expect(status, method, path, contentType, body(group, nodeName(n), l.version))
		if err == nil {
			l.version = versionIn(answer)
		}
		return len(answer), err
	}
	err = f.fill(ctx, len(all), func(c *server.Conn, n int) (int, error) {
		return write(c, http.StatusCreated, http.MethodPost, collection, n)
	})
	if err != nil {
		return nil, err
	}
	load := s.load()
	sample, err := load.Drive(ctx, s.Target, func(c *server.Conn, n int) (int, error) {
		n %= len(all)
		return write(c, http.StatusOK, http.MethodPut, collection+"/"+nodeName(n), n)
	})
	if err != nil {
		return nil, err
	}
	return requestResult("leases", sample, load, http.MethodPut, contentType, body(group, nodeName(0), "1")), nil
}

// nodeName is of fixed length, as name is.
func nodeName(n int) string { return fmt.Sprintf("node-%06d", n) }

// leaseBody is the Lease of a node, renewed now. Without a version it is the body of the create.
func leaseBody(group, node, version string) []byte {
	at := ""
	if version != "" {
		at = fmt.Sprintf(`,"resourceVersion":%q`, version)
	}
	return fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"Lease","metadata":{"name":%q%s},"spec":{"holderIdentity":%q,"leaseDurationSeconds":40,"renewTime":%q}}`,
		group, node, at, node, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// versionOf finds the resourceVersion in compact JSON; empty if there is none. Decoding would take the
// client longer than the search.
func versionOf(object []byte) string {
	_, after, _ := strings.Cut(string(object), `"resourceVersion":"`)
	version, _, _ := strings.Cut(after, `"`)
	return version
}

// leaseInProtobuf is leaseBody in Protobuf.
func leaseInProtobuf(group, node, version string) []byte {
	now := time.Now()
	renewed := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(now.Unix()))
	renewed = protowire.AppendVarint(protowire.AppendTag(renewed, 2, protowire.VarintType), uint64(now.Nanosecond()))
	metadata := appendText(appendText(nil, 1, node), 6, version)
	object := appendMessage(appendMessage(nil, 1, metadata), 2, appendMessage(appendText(nil, 1, node), 4, renewed))
	return envelope(group+"/v1", "Lease", object)
}

// versionInProtobuf is versionOf for an answer in Protobuf.
func versionInProtobuf(object []byte) string {
	return string(fieldIn(object[len(protobufMagic):], 2, 1, 6))
}

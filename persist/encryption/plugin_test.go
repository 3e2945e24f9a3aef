package encryption

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

// servePlugin serves a KMS plugin with gRPC over HTTP/2 until the test ends. answer returns the
// response to a method.
func servePlugin(t *testing.T, answer func(method string) (message []byte, status string)) (endpoint string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kms.sock")
	listener := must.Get(net.Listen("unix", path))(t)
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: &protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		message, status := answer(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return "unix://" + path
}

// TestSeedExpires checks that values are encrypted for up to three minutes after the last
// successful probe. Reads continue, and writes resume when the plugin recovers.
func TestSeedExpires(t *testing.T) {
	t.Parallel()
	var unwell atomic.Bool
	endpoint := servePlugin(t, func(method string) ([]byte, string) {
		if unwell.Load() {
			return nil, "13"
		}
		if method == "Status" {
			return appendString(appendString(appendString(nil, 1, "v2"), 2, "ok"), 3, "key"), "0"
		}
		return appendString(appendString(nil, 1, "sealed"), 2, "key"), "0"
	})
	c := mustParse(t, configOf("{kms: {apiVersion: v2, name: p, timeout: 1m, endpoint: '"+endpoint+"'}}"))
	var now atomic.Int64
	x := must.Get(New(c, Options{Now: func() time.Time { return time.Unix(now.Load(), 0) }}))(t)
	p := x.current.Load().plugins[0]
	t.Cleanup(p.client.close)
	pass := func(d time.Duration) { now.Add(int64(d.Seconds())) }
	must.Succeed(t, errors.Join(x.Check(place.Key), x.Health()))
	unwell.Store(true)
	pass(seedTTL)
	if err := x.Check(place.Key); err != nil {
		t.Errorf("at the end of its time: %v", err)
	}
	if p.probe(t.Context()) == nil || x.Health() == nil {
		t.Error("the plugin is taken for well")
	}
	pass(time.Second)
	if err := x.Check(place.Key); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("after its time: %v", err)
	}
	unwell.Store(false)
	if err := errors.Join(p.probe(t.Context()), x.Check(place.Key), x.Health()); err != nil {
		t.Errorf("when it is well again: %v", err)
	}
}

// TestLyingAnswers checks that a malformed or oversized response, or one with a wrong key ID, is an
// error and leaves the seed in use.
func TestLyingAnswers(t *testing.T) {
	t.Parallel()
	status := appendString(appendString(appendString(nil, 1, "v2"), 2, "ok"), 3, "key")
	for name, c := range map[string]struct {
		status, encrypt []byte
		fault           string
	}{
		"no message":          {[]byte{0xff}, nil, "not a Protobuf message"},
		"too large":           {make([]byte, maxMessage+10), nil, "too large"},
		"another version":     {appendString(appendString(nil, 1, "v3"), 2, "ok"), nil, "expected KMSv2 API version v2"},
		"no seed":             {status, appendString(nil, 2, "key"), "the encrypted seed has 0 bytes"},
		"an enormous seed":    {status, appendString(appendBytes(nil, 1, make([]byte, 2000)), 2, "key"), "the encrypted seed has 2000 bytes"},
		"another key":         {status, appendString(appendString(nil, 1, "s"), 2, "other"), "encrypts with"},
		"no annotation":       {status, appendBytes(appendString(appendString(nil, 1, "s"), 2, "key"), 3, appendString(nil, 1, "word")), "should be a domain name"},
		"enormous annotation": {status, appendBytes(appendString(appendString(nil, 1, "s"), 2, "key"), 3, appendBytes(appendString(nil, 1, "a.b"), 2, make([]byte, 40<<10))), "exceeds the max size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := servePlugin(t, func(method string) ([]byte, string) {
				if method == "Status" {
					return c.status, "0"
				}
				return c.encrypt, "0"
			})
			x := transformerOf(t, configOf("{kms: {apiVersion: v2, name: p, timeout: 1m, endpoint: '"+endpoint+"'}}"))
			p := x.current.Load().plugins[0]
			t.Cleanup(p.client.close)
			if err := x.Check(place.Key); err == nil || !strings.Contains(err.Error(), c.fault) || p.state.Load() != nil {
				t.Errorf("got %v, want %s", err, c.fault)
			}
		})
	}
}

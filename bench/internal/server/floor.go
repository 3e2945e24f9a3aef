package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// NameFloor is the hidden subcommand that serves the floor.
const NameFloor = "floor"

// What the floor serves: any other path is answered with ?bytes=<n> bytes. The watch has to be served for
// what fan-out costs at least.
const (
	FloorWatchPath = "/watch" // a stream of what is posted
	FloorEventPath = "/event" // takes what is to be streamed
	floorMaxBytes  = 64 << 20 // bytes of one answer
)

// Floor is the child process that serves it.
type Floor struct {
	Target *Target
	child  *child
}

// StartFloor starts the floor.
func StartFloor(timeout time.Duration) (*Floor, error) {
	c, err := startChild(NameFloor)
	if err != nil {
		return nil, err
	}
	f := &Floor{child: c}
	address, err := c.line()
	if err != nil {
		f.Stop()
		return nil, err
	}
	f.Target = &Target{
		Label:     NameFloor,
		Address:   strings.TrimSpace(address),
		TLS:       &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, // our own child, on loopback
		Timeout:   timeout,
		Processes: []int{c.cmd.Process.Pid},
	}
	return f, nil
}

// Stop ends the child and waits for it. It has nothing to say, and nothing depends on how it ended.
func (f *Floor) Stop() { _, _ = f.child.stop() }

// ServeFloor is the child: it prints its address and serves until control ends.
func ServeFloor(control io.Reader, out io.Writer) error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, control)
		_ = listener.Close()
	}()
	_, _ = fmt.Fprintln(out, listener.Addr())
	server := &fasthttp.Server{
		Handler:               (&floorHandler{blank: make([]byte, floorMaxBytes)}).serve,
		NoDefaultServerHeader: true,
		KeepHijackedConns:     true,
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if err := server.Serve(tls.NewListener(listener, config)); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// floorHandler answers blank bytes.
type floorHandler struct {
	blank    []byte // never written to
	mu       sync.Mutex
	watchers []net.Conn // guarded by mu
}

func (h *floorHandler) serve(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case FloorWatchPath:
		h.watch(ctx)
	case FloorEventPath:
		h.event(ctx.PostBody())
	default:
		n := ctx.QueryArgs().GetUintOrZero("bytes")
		if n > floorMaxBytes {
			ctx.Error("more than the floor has", http.StatusBadRequest)
			return
		}
		ctx.SetContentType(TypeJSON)
		ctx.Response.SetBodyRaw(h.blank[:n])
	}
}

// watch keeps the connection. The headers are written by hand, so that one event is one write.
func (h *floorHandler) watch(ctx *fasthttp.RequestCtx) {
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: "+TypeJSON+"\r\n\r\n"); err == nil {
			h.watchers = append(h.watchers, conn)
		}
	})
}

// event writes to every watcher and forgets those that have gone. Writes are one after the other on one
// goroutine: no server can do with less work for the same bytes.
func (h *floorHandler) event(line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	staying := h.watchers[:0]
	for _, conn := range h.watchers {
		if _, err := conn.Write(line); err != nil {
			_ = conn.Close()
			continue
		}
		staying = append(staying, conn)
	}
	h.watchers = staying
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

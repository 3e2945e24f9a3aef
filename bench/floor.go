package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// nameFloor is the hidden subcommand that runs the floor, and the label of its rows in the report.
const nameFloor = "floor"

// Paths with a special meaning on the floor. For any other path, the floor returns a body of the
// size given in the query parameter "bytes".
const (
	floorWatchPath = "/watch" // streams posted events
	floorEventPath = "/event" // receives events to stream
	floorMaxBytes  = 64 << 20 // bytes of one response
)

// startFloor starts the floor, a bare fasthttp server that returns responses of the same size as
// the measured server. It is a child process, so that its CPU time is separate from the load
// generator's. It exits when its standard input is closed.
func startFloor() (_ *Target, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	command := exec.Command(self, nameFloor)
	command.Stderr = os.Stderr
	in, inErr := command.StdinPipe()
	out, outErr := command.StdoutPipe()
	if err := errors.Join(inErr, outErr, command.Start()); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = command.Wait()
	}
	address := make([]byte, 64)
	n, err := out.Read(address)
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("%s: %w", nameFloor, err)
	}
	return &Target{
		Label:     nameFloor,
		Address:   strings.TrimSpace(string(address[:n])),
		TLS:       &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, // our own child, on loopback
		Processes: []int{command.Process.Pid},
	}, stop, nil
}

// serveFloor runs in the child process. It prints its address and serves until control is closed.
func serveFloor(control io.Reader, out io.Writer) error {
	certificate, err := selfSigned(pkix.Name{})
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

type floorHandler struct {
	blank    []byte // never written to
	mu       sync.Mutex
	watchers []net.Conn // guarded by mu
}

func (h *floorHandler) serve(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case floorWatchPath:
		h.watch(ctx)
	case floorEventPath:
		h.event(ctx.PostBody())
	default:
		n := ctx.QueryArgs().GetUintOrZero("bytes")
		if n > floorMaxBytes {
			ctx.Error("more than the floor has", http.StatusBadRequest)
			return
		}
		ctx.SetContentType(typeJSON)
		ctx.Response.SetBodyRaw(h.blank[:n])
	}
}

// watch hijacks the connection and writes the headers itself, so that each event is one write.
func (h *floorHandler) watch(ctx *fasthttp.RequestCtx) {
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: "+typeJSON+"\r\n\r\n"); err == nil {
			h.watchers = append(h.watchers, conn)
		}
	})
}

// event writes an event to every watcher and drops disconnected watchers.
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

// selfSigned returns a self-signed certificate for a server on loopback or for a client.
func selfSigned(subject pkix.Name) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

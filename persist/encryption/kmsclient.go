package encryption

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/persist"
)

// A kmsClient calls a KMS v2 plugin with gRPC over a Unix socket. It needs no gRPC library, because
// all three calls are unary: HTTP/2 requests with length-prefixed messages and the status in the
// trailers.
type kmsClient struct {
	http    *http.Client
	timeout time.Duration
	// observe is called after every call with the name of the gRPC status code.
	observe func(method, code string, took time.Duration)
}

// maxMessage limits a response in bytes. It far exceeds any response that satisfies
// kube-apiserver's limits on individual fields.
const maxMessage = 1 << 20

// newKMSClient returns a client for an endpoint such as unix:///run/kms.sock, or unix:///@name for
// an abstract socket. It does not connect. HTTP/2 runs without TLS, because the permissions of the
// socket control access.
func newKMSClient(endpoint string, timeout time.Duration, observe func(method, code string, took time.Duration)) *kmsClient {
	path := strings.TrimPrefix(endpoint, "unix://")
	if rest, ok := strings.CutPrefix(path, "/@"); ok {
		path = "@" + rest
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	var dialer net.Dialer
	return &kmsClient{timeout: timeout, observe: observe, http: &http.Client{Transport: &http.Transport{
		Protocols: &protocols, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "unix", path) },
	}}}
}

func (c *kmsClient) close() { c.http.CloseIdleConnections() }

type rpcError struct {
	code    int
	message string
}

func (e *rpcError) Error() string { return fmt.Sprintf("code %d: %s", e.code, e.message) }

// Unwrap returns persist.ErrUnavailable for temporary errors.
func (e *rpcError) Unwrap() error {
	switch e.code {
	case codeDeadlineExceeded, codeUnavailable:
		return persist.ErrUnavailable
	}
	return nil
}

const (
	codeUnknown          = 2
	codeDeadlineExceeded = 4
	codeUnavailable      = 14
)

var codeNames = []string{
	"OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied", "ResourceExhausted",
	"FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated",
}

// codeName maps invalid codes to Unknown, so that a plugin cannot create unbounded metric series.
func codeName(code int) string {
	if code < 0 || code >= len(codeNames) {
		return codeNames[codeUnknown]
	}
	return codeNames[code]
}

// call makes one call, limited by the plugin's timeout. Transport errors get the code that a gRPC
// library would use: DeadlineExceeded on timeout and Unavailable otherwise.
func (c *kmsClient) call(ctx context.Context, method string, message []byte) ([]byte, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	answer, err := c.roundTrip(ctx, method, message)
	code := 0
	if err != nil {
		failed, ok := errors.AsType[*rpcError](err)
		if !ok {
			failed = &rpcError{codeUnavailable, err.Error()}
			if ctx.Err() != nil {
				failed = &rpcError{codeDeadlineExceeded, fmt.Sprintf("no response within %v", c.timeout)}
			}
		}
		code, err = failed.code, failed
	}
	c.observe("/v2.KeyManagementService/"+method, codeName(code), time.Since(began))
	return answer, err
}

// roundTrip sends one message and reads the response. Each message has a 5-byte prefix: a
// compression flag, which is never set, and the big-endian length. The trailers are available only
// after the whole body was read.
func (c *kmsClient) roundTrip(ctx context.Context, method string, message []byte) ([]byte, error) {
	body := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v2.KeyManagementService/"+method, bytes.NewReader(append(body, message...)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("TE", "trailers")
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	framed, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage+6))
	if err != nil {
		return nil, err
	}
	if len(framed) > maxMessage+5 { // the rest, including the status, was not read
		return nil, &rpcError{codeUnknown, "the response is too large"}
	}
	if err := outcome(answer); err != nil {
		return nil, err
	}
	if len(framed) < 5 || framed[0] != 0 || int(binary.BigEndian.Uint32(framed[1:])) != len(framed)-5 {
		return nil, &rpcError{codeUnknown, "the response is not one uncompressed message"}
	}
	return framed[5:], nil
}

// outcome returns the error status of a call, from the trailers or, in a response without a
// message, from the headers.
func outcome(answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return &rpcError{codeUnknown, "HTTP " + answer.Status}
	}
	from := answer.Trailer
	if from.Get("Grpc-Status") == "" {
		from = answer.Header
	}
	code, err := strconv.Atoi(from.Get("Grpc-Status"))
	if err != nil {
		return &rpcError{codeUnknown, "the response has no gRPC status"}
	}
	if code == 0 {
		return nil
	}
	message := from.Get("Grpc-Message")
	if text, err := url.PathUnescape(message); err == nil {
		message = text
	}
	return &rpcError{code, message[:min(len(message), 1024)]}
}

type kmsStatus struct{ version, healthz, keyID string }

// status returns the plugin's health, version and current key ID. Field numbers here and below are
// those of the KMS v2 API.
func (c *kmsClient) status(ctx context.Context) (s kmsStatus, err error) {
	answer, err := c.call(ctx, "Status", nil)
	if err != nil {
		return s, err
	}
	return s, eachField(answer, func(number protowire.Number, value []byte) {
		switch number {
		case 1:
			s.version = string(value)
		case 2:
			s.healthz = string(value)
		case 3:
			s.keyID = string(value)
		}
	})
}

// encrypt asks the plugin to encrypt a seed. uid identifies the request in the plugin's log.
func (c *kmsClient) encrypt(ctx context.Context, uid string, seed []byte) (s wrappedSeed, err error) {
	answer, err := c.call(ctx, "Encrypt", appendString(appendBytes(nil, 1, seed), 2, uid))
	if err != nil {
		return s, err
	}
	return s, eachField(answer, func(number protowire.Number, value []byte) {
		switch number {
		case 1:
			s.seed = bytes.Clone(value)
		case 2:
			s.keyID = string(value)
		case 3:
			s.addAnnotation(value)
		}
	})
}

// decrypt asks the plugin to decrypt a seed with the stored annotations. The caller must check the
// seed's length.
func (c *kmsClient) decrypt(ctx context.Context, uid string, s wrappedSeed) (seed []byte, err error) {
	request := appendString(appendString(appendBytes(nil, 1, s.seed), 2, uid), 3, s.keyID)
	answer, err := c.call(ctx, "Decrypt", s.appendAnnotations(request))
	if err != nil {
		return nil, err
	}
	return seed, eachField(answer, func(number protowire.Number, value []byte) {
		if number == 1 {
			seed = bytes.Clone(value)
		}
	})
}

// appendBytes appends a Protobuf field even if the value is empty.
func appendBytes(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func appendString(b []byte, number protowire.Number, value string) []byte {
	return appendBytes(b, number, []byte(value))
}

var errMessage = errors.New("it is not a Protobuf message")

// eachField calls take for each bytes field of a message and skips other fields. value aliases b.
func eachField(b []byte, take func(number protowire.Number, value []byte)) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errMessage
		}
		b = b[n:]
		if kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return errMessage
			}
			take(number, value)
			b = b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return errMessage
		}
		b = b[n:]
	}
	return nil
}

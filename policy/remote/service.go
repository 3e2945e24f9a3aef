package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Service is a remote. It may be asked by many goroutines at a time.
type Service struct {
	url        string                 // of questions, and what paths are below
	credential func() (string, error) // the Authorization header; "" is none
	client     *http.Client
}

// Bounds of an answer, in bytes.
const (
	maxAnswer  = 3 << 20
	maxHeaders = 64 << 10
)

func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:       (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxHeaders,
	}
}

func newService(target string, transport *http.Transport, credential func() (string, error)) *Service {
	return &Service{url: target, credential: credential, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// A Failure is an answer with another code than 200 and 201.
type Failure struct{ Code int }

func (f *Failure) Error() string { return fmt.Sprintf("the remote answered %d", f.Code) }

// URL is where the remote is, as the configuration has it.
func (s *Service) URL() string { return s.url }

// Post asks a question, once. The error is a *Failure if the remote has answered otherwise.
func (s *Service) Post(ctx context.Context, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	answer, err := s.send(r)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	text, err := io.ReadAll(io.LimitReader(answer, maxAnswer+1))
	switch {
	case err != nil:
		return nil, plain(err)
	case len(text) > maxAnswer:
		return nil, errTooLong
	}
	return text, nil
}

// Open gets what is at a path below the URL, once: the body as it comes, without a bound, which
// the caller closes. The error is a *Failure if the remote has answered otherwise.
func (s *Service) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.url, "/")+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", "identity") // it is not worth the work
	return s.send(r)
}

// send gives the body of a good answer.
func (s *Service) send(r *http.Request) (io.ReadCloser, error) {
	credential, err := s.credential()
	if err != nil {
		return nil, err
	}
	if credential != "" {
		r.Header.Set("Authorization", credential)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, plain(err)
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
		_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be used again
		answer.Body.Close()
		return nil, &Failure{answer.StatusCode}
	}
	return answer.Body, nil
}

var errTooLong = fmt.Errorf("the remote's answer is longer than %d bytes", maxAnswer)

// plain is an error without the URL, whose query may hold a secret.
func plain(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Retry is how often a question is asked again, and with which pauses between, to which a
// fifth is added at random.
type Retry struct {
	Times  int           // after the first
	Pause  time.Duration // before the first repetition
	Factor float64       // by which the pause grows
}

// Patiently is how who waits for a decision asks: five times within five seconds or so.
var Patiently = Retry{Times: 4, Pause: 500 * time.Millisecond, Factor: 1.5}

// Ask asks until there is an answer, or until asking again would not help: the remote has
// refused the question, or the context or the repetitions end.
func (s *Service) Ask(ctx context.Context, body []byte, r Retry) ([]byte, error) {
	pause := r.Pause
	for n := 0; ; n++ {
		answer, err := s.Post(ctx, body)
		if err == nil || n == r.Times || !worthwhile(err) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause + rand.N(pause/5+1)): // not all at once
		}
		pause = time.Duration(float64(pause) * r.Factor)
	}
}

// worthwhile tells whether the same question may be answered another time.
func worthwhile(err error) bool {
	var failed *Failure
	var unproved *tls.CertificateVerificationError
	if !errors.As(err, &failed) {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
			!errors.Is(err, errTooLong) && !errors.As(err, &unproved)
	}
	return failed.Code == http.StatusTooManyRequests || failed.Code >= 500 && failed.Code != http.StatusNotImplemented
}

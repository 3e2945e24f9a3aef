package oidc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

type issuer struct {
	url, discovery string // discovery is the URL of the discovery document
	client         *http.Client
	changed        func() // called after keySet has changed
	now            func() time.Time
	log            *slog.Logger

	keySet   atomic.Pointer[keySet] // nil if not known yet
	signIn   atomic.Pointer[SignIn] // nil if not known yet, or not offered
	inflight singleflight.Group     // shares concurrent fetches
	fetches  *rate.Limiter          // limits fetches caused by tokens

	mu      sync.Mutex // guards the fields below
	keysURL string     // from the discovery document; "" until it is fetched
}

const (
	fetchTimeout    = 10 * time.Second // limits one fetch
	maxDocumentSize = 1 << 20          // maximum size of a document in bytes
	minBackoff      = time.Second      // initial delay after a failed fetch; doubles
	maxBackoff      = time.Minute
	// refreshPeriod is the time between two fetches. While fetches succeed, a revoked key is
	// accepted for at most this time.
	refreshPeriod  = 15 * time.Minute
	fetchBurst     = 3                // burst of fetches caused by tokens
	refillInterval = 10 * time.Second // minimum interval of such fetches after a burst
)

func newIssuer(where, discovery string, transport http.RoundTripper, o Options) *issuer {
	discovery = cmp.Or(discovery, strings.TrimSuffix(where, "/")+"/.well-known/openid-configuration")
	return &issuer{url: where, discovery: discovery, changed: o.KeysChanged, now: o.Now, log: o.Logger, fetches: rate.NewLimiter(rate.Every(refillInterval), fetchBurst), client: &http.Client{
		Transport: transport, Timeout: fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Run keeps the issuer's keys current until ctx ends. It fetches them every refreshPeriod. After a
// failure, it retries with backoff.
func (i *issuer) Run(ctx context.Context) {
	pause := minBackoff
	for {
		wait := refreshPeriod
		if err := i.Load(ctx); err != nil && ctx.Err() == nil {
			i.log.Warn("cannot load the keys of the OIDC issuer", "issuer", i.url, "error", err, "again", pause)
			wait, pause = pause, min(2*pause, maxBackoff)
		} else {
			pause = minBackoff
		}
		select {
		case <-ctx.Done():
			i.client.CloseIdleConnections()
			return
		case <-time.After(wait):
		}
	}
}

func (i *issuer) keys() *keySet { return i.keySet.Load() }

// newerKeys fetches the key set again after no key in the set than verified a token. If the keys
// are unchanged or fetches are rate-limited, it returns than.
func (i *issuer) newerKeys(than *keySet) *keySet {
	// Retry once: a fetch already in flight may have read the key set before its rotation.
	for range 2 {
		if set := i.keys(); set != than {
			return set
		}
		started := false
		_, err, _ := i.inflight.Do("", func() (any, error) {
			started = true
			if !i.fetches.AllowN(i.now(), 1) {
				return nil, nil
			}
			return nil, i.fetchOnce(context.Background())
		})
		if err != nil {
			i.log.Warn("cannot refresh the keys of the OIDC issuer", "issuer", i.url, "error", err)
		}
		if started || err != nil {
			break
		}
	}
	return i.keys()
}

// Load fetches the keys once.
func (i *issuer) Load(ctx context.Context) error {
	_, err, _ := i.inflight.Do("", func() (any, error) { return nil, i.fetchOnce(ctx) })
	return err
}

func (i *issuer) fetchOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	i.mu.Lock()
	where := i.keysURL
	i.mu.Unlock()
	if where == "" {
		var err error
		if where, err = i.discover(ctx); err != nil {
			return fmt.Errorf("discovery: %w", err)
		}
	}
	set, err := i.fetchKeys(ctx, where)
	i.mu.Lock()
	i.keysURL = where
	if err != nil {
		i.keysURL = "" // the keys may have moved
	}
	i.mu.Unlock()
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if old := i.keys(); old == nil || old.raw != set.raw {
		i.keySet.Store(set)
		i.changed()
		i.log.Info("loaded the keys of the OIDC issuer", "issuer", i.url, "keys", len(set.keys))
	}
	return nil
}

func (i *issuer) fetchKeys(ctx context.Context, where string) (*keySet, error) {
	text, err := i.get(ctx, where)
	if err != nil {
		return nil, err
	}
	return parseKeys(text)
}

// discover fetches the discovery document, stores its sign-in endpoints and returns its key set
// URL.
func (i *issuer) discover(ctx context.Context) (string, error) {
	text, err := i.get(ctx, i.discovery)
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
		SignIn
	}
	if json.Unmarshal(text, &document) != nil {
		return "", errors.New("the document is not a JSON object")
	}
	if document.Issuer != i.url {
		return "", fmt.Errorf("the document has the issuer %q", document.Issuer)
	}
	if u, err := url.Parse(document.KeysURL); err != nil || u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("jwks_uri %q is not an https URL", document.KeysURL)
	}
	i.signIn.Store(document.SignIn.orNone())
	return document.KeysURL, nil
}

func (i *issuer) get(ctx context.Context, where string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := i.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s returned status %d", where, answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocumentSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDocumentSize {
		return nil, fmt.Errorf("%s is longer than %d bytes", where, maxDocumentSize)
	}
	return text, nil
}

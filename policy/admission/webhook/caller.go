package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/policy/remote"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A caller sends reviews to one webhook address.
type caller struct {
	client *webhookclient.Client
	err    error // reason why client is nil
}

func (c *caller) ask(ctx context.Context, timeout time.Duration, body []byte) (remote.Response, error) {
	if c.err != nil {
		return remote.Response{}, c.err
	}
	return c.client.Ask(ctx, timeout, body)
}

// Callers holds one caller for each webhook address. Webhook configurations with the same address
// share a caller, which is closed when no configuration uses it any longer.
type Callers struct {
	dialer webhookclient.Dialer

	mu    sync.Mutex // guards known
	known map[webhookclient.Address]*usedCaller
}

type usedCaller struct {
	*caller
	uses int
}

// NewCallers returns an empty Callers that connects with d.
func NewCallers(d webhookclient.Dialer) *Callers {
	return &Callers{dialer: d, known: map[webhookclient.Address]*usedCaller{}}
}

// get returns the caller for an address and increments its use count. Each get must be paired with
// a release.
func (c *Callers) get(a webhookclient.Address) *caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.known[a]
	if found == nil {
		client, err := c.dialer.Client(a)
		found = &usedCaller{caller: &caller{client, err}}
		c.known[a] = found
	}
	found.uses++
	return found.caller
}

func (c *Callers) release(a webhookclient.Address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.known[a]
	if found == nil {
		return
	}
	if found.uses--; found.uses > 0 {
		return
	}
	delete(c.known, a)
	if found.client != nil {
		found.client.Close()
	}
}

// Close closes all callers' connections.
func (c *Callers) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, found := range c.known {
		if found.client != nil {
			found.client.Close()
		}
	}
}

package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/policy/remote"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A caller sends reviews to one address. Hooks with the same address share its connections and
// circuit breaker.
type caller struct {
	client *webhookclient.Client
	err    error // reason why client is nil
}

// ask sends a review and returns the response. ctx is that of the request.
func (c *caller) ask(ctx context.Context, timeout time.Duration, body []byte) (remote.Response, error) {
	if c.err != nil {
		return remote.Response{}, c.err
	}
	return c.client.Ask(ctx, timeout, body)
}

// Callers holds the callers of one plugin by address. Connections survive configuration changes
// that keep the address.
type Callers struct {
	dialer webhookclient.Dialer

	mu    sync.Mutex // guards known
	known map[webhookclient.Address]*usedCaller
}

// A usedCaller counts the hooks that use a caller.
type usedCaller struct {
	*caller
	uses int
}

// NewCallers returns the Callers of one plugin.
func NewCallers(d webhookclient.Dialer) *Callers {
	return &Callers{dialer: d, known: map[webhookclient.Address]*usedCaller{}}
}

// get returns the caller of an address for one more hook.
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

// release drops one use of a caller. The last one closes its connections.
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

// Close closes all connections.
func (c *Callers) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, found := range c.known {
		if found.client != nil {
			found.client.Close()
		}
	}
}

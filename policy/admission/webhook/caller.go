package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/policy/remote"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A caller reaches one address. Many hooks may share one, and so its connections and its circuit.
type caller struct {
	client *webhookclient.Client
	err    error // why there is no client; nil if there is
}

// ask sends a question for a request, whose context is ctx, and returns the answer. Whether a connection
// was made tells the circuit if the hook is slow or gone.
func (c *caller) ask(ctx context.Context, timeout time.Duration, body []byte) (remote.Response, error) {
	if c.err != nil {
		return remote.Response{}, c.err
	}
	return c.client.Ask(ctx, timeout, body)
}

// Callers make and keep the callers of one plugin, one for each address that a hook has. Connections
// outlive a change of the configuration that leaves the address as it is.
type Callers struct {
	dialer webhookclient.Dialer

	mu    sync.Mutex // guards known
	known map[webhookclient.Address]*usedCaller
}

// A usedCaller is a caller, with the number of hooks that have it.
type usedCaller struct {
	*caller
	uses int
}

// NewCallers makes the Callers of one plugin.
func NewCallers(d webhookclient.Dialer) *Callers {
	return &Callers{dialer: d, known: map[webhookclient.Address]*usedCaller{}}
}

// get is the caller of an address, for one more hook.
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

// release says that a hook does not have the caller of its address any more. Without a hook its connections are
// closed.
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

// Close closes all connections that are kept.
func (c *Callers) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, found := range c.known {
		if found.client != nil {
			found.client.Close()
		}
	}
}

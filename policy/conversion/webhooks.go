package conversion

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/remote"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// MaxAnswer is the maximum response size in bytes.
const MaxAnswer = 16 << 20

const callTimeout = 30 * time.Second

// Webhooks calls the conversion webhooks of all CRDs. It is safe for concurrent use.
type Webhooks struct {
	naming  *meta.Naming
	metrics *Metrics
	dialer  atomic.Pointer[webhookclient.Dialer] // nil until Start

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	mu      sync.Mutex // guards the fields below
	clients map[webhookclient.Address]*client
	hooks   map[weak.Pointer[schema.ConversionWebhook]]*client
}

// A client connects to one address and counts the webhooks that use it. A changed CRD with the same
// address keeps its client.
type client struct {
	*webhookclient.Client
	address webhookclient.Address
	uses    int
}

// New returns Webhooks whose calls fail until Start.
func New(naming *meta.Naming, m *Metrics) *Webhooks {
	w := &Webhooks{
		naming: naming, metrics: m,
		clients: map[webhookclient.Address]*client{}, hooks: map[weak.Pointer[schema.ConversionWebhook]]*client{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Start sets the Dialer for calls. It is separate from New, because d resolves Services from the
// store, and the store needs the Webhooks.
func (w *Webhooks) Start(d webhookclient.Dialer) {
	d.MaxAnswer = MaxAnswer
	w.dialer.Store(&d)
}

// Close cancels running calls and closes idle connections. Later calls fail.
func (w *Webhooks) Close() {
	w.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.clients {
		c.Close()
	}
	clear(w.clients)
	clear(w.hooks)
}

// For returns the converter of a kind, or nil if the kind has no conversion webhook.
func (w *Webhooks) For(k *schema.Kind) convert.Converter {
	if !k.CallsWebhook() {
		return nil
	}
	return w
}

var _ convert.Converter = (*Webhooks)(nil)

func (w *Webhooks) Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	q, err := newQuestion(k, objects, w.naming)
	if err != nil {
		return nil, status(err)
	}
	began := time.Now()
	out, err := w.ask(ctx, q)
	w.metrics.observe(q, err, time.Since(began))
	if err != nil {
		return nil, status(err)
	}
	return out, nil
}

func (w *Webhooks) ask(ctx context.Context, q *question) ([]*meta.Object, error) {
	response, err := w.post(ctx, q)
	if err != nil {
		return nil, q.failed(callFailure, err)
	}
	review, err := webhookclient.ReadReview(response)
	if err != nil {
		return nil, q.failed(callFailure, err)
	}
	return q.readAnswer(review)
}

func (w *Webhooks) post(ctx context.Context, q *question) (remote.Response, error) {
	c, err := w.client(q.target.ConversionWebhook())
	if err != nil {
		return remote.Response{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	return c.Ask(ctx, callTimeout, q.body)
}

var errNotStarted = errors.New("the server is starting or stopping")

// client returns the client of a webhook. The client stays open until the webhook is garbage
// collected. Webhooks with the same address share a client.
//
// The map holds weak pointers to webhooks, because each change to a CRD creates a new
// ConversionWebhook and the old ones must not stay in memory.
func (w *Webhooks) client(hook *schema.ConversionWebhook) (*client, error) {
	dialer, at := w.dialer.Load(), weak.Make(hook)
	w.mu.Lock()
	defer w.mu.Unlock()
	if dialer == nil || w.ctx.Err() != nil {
		return nil, errNotStarted
	}
	if c := w.hooks[at]; c != nil {
		return c, nil
	}
	address, err := webhookclient.ParseAddress(hook.ClientConfig)
	if err != nil {
		return nil, err
	}
	c := w.clients[address]
	if c == nil {
		made, err := dialer.Client(address)
		if err != nil {
			return nil, err
		}
		c = &client{Client: made, address: address}
		w.clients[address] = c
	}
	c.uses++
	w.hooks[at] = c
	// Pass the weak pointer, because a strong one would keep hook reachable.
	runtime.AddCleanup(hook, w.release, at)
	return c, nil
}

// release ends the use of a client by one webhook, and closes the client after its last use. The
// garbage collector calls it some time after the webhook has become unreachable.
func (w *Webhooks) release(hook weak.Pointer[schema.ConversionWebhook]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.hooks[hook]
	if c == nil { // closed
		return
	}
	delete(w.hooks, hook)
	if c.uses--; c.uses == 0 {
		c.Close()
		delete(w.clients, c.address)
	}
}

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

// MaxAnswer bounds an answer, in bytes.
const MaxAnswer = 16 << 20

// callTimeout bounds one question. Clients wait for it within their own requests, whose context may end before.
const callTimeout = 30 * time.Second

// Webhooks ask the conversion webhooks of all definitions. Many goroutines may use them.
type Webhooks struct {
	naming  *meta.Naming
	metrics *Metrics
	dialer  atomic.Pointer[webhookclient.Dialer] // nil until Start

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	mu      sync.Mutex // guards what follows
	clients map[webhookclient.Address]*client
	hooks   map[weak.Pointer[schema.ConversionWebhook]]*client
}

// A client is that of one address, with the number of webhooks that have it. Its connections and its circuit outlive a
// change of a definition that leaves the address as it is to others.
type client struct {
	*webhookclient.Client
	address webhookclient.Address
	uses    int
}

// New makes Webhooks that ask nobody yet.
func New(naming *meta.Naming, m *Metrics) *Webhooks {
	w := &Webhooks{
		naming: naming, metrics: m,
		clients: map[webhookclient.Address]*client{}, hooks: map[weak.Pointer[schema.ConversionWebhook]]*client{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Start lets the webhooks be asked, by clients that d makes.
//
// Services are found by what the store holds, which needs conversions before.
func (w *Webhooks) Start(d webhookclient.Dialer) {
	d.MaxAnswer = MaxAnswer
	w.dialer.Store(&d)
}

// Close ends the questions that are under way and closes the connections that are kept. Nobody is asked any more.
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

// For returns the converter of a kind; nil if no webhook is called.
func (w *Webhooks) For(k *schema.Kind) convert.Converter {
	if !k.CallsWebhook() {
		return nil
	}
	return w
}

var _ convert.Converter = (*Webhooks)(nil)

// Convert implements convert.Converter.
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

// ask asks one question.
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

// post sends a question. The question ends with the context of the request, and with Close, whichever comes first.
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

// client is the client of a webhook, which has it for as long as a definition has the webhook: nobody says when that
// ends but the collection of garbage.
//
// The hook is held weakly here. Each change of a definition makes another ConversionWebhook, so a map with strong
// references would grow with every change. Two hooks with the same address share a client.
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
	// The cleanup must not refer to the hook, or the hook would never become unreachable; the weak pointer does not
	// keep it.
	runtime.AddCleanup(hook, w.release, at)
	return c, nil
}

// release takes the client from a webhook that is gone. A client that no webhook has closes its connections. The
// runtime calls it in a goroutine of its own at some time after the hook has become unreachable.
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

package audit

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/remote"
)

// NewWebhook returns a Sink that posts Events to a service. backoff is the delay before the first
// retry. Each later delay is backoffRatio times the previous one.
func NewWebhook(service *remote.Client, naming *meta.Naming, backoff time.Duration, o SinkOptions) *Sink {
	head := []byte(`{"kind":"EventList","apiVersion":"` + newVendorNames(naming).apiVersion + `","metadata":{},"items":[`)
	return newSink("webhook", o, &webhookOutput{service, head, backoff}, maxConcurrentPosts)
}

const maxConcurrentPosts = 4

const (
	maxRetries   = 4
	backoffRatio = 1.5
	postTimeout  = 30 * time.Second
)

// A webhookOutput posts lists of Events. It is safe for concurrent use.
type webhookOutput struct {
	client  *remote.Client
	head    []byte
	backoff time.Duration
}

// write posts a batch with retries. During shutdown, it makes only one more attempt without delay.
// If all attempts fail, the whole batch is lost.
func (w *webhookOutput) write(ctx context.Context, closing <-chan struct{}, lines [][]byte) error {
	body := w.list(lines)
	pause := w.backoff
	for n := 0; ; n++ {
		err := w.post(ctx, body)
		if err == nil || n == maxRetries || !isRetriable(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-closing:
			return w.post(ctx, body)
		case <-ctx.Done():
			return err
		}
		pause = time.Duration(float64(pause) * backoffRatio)
	}
}

func (w *webhookOutput) list(lines [][]byte) []byte {
	size := len(w.head) + 2
	for _, line := range lines {
		size += len(line)
	}
	body := append(make([]byte, 0, size), w.head...)
	for i, line := range lines {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, line[:len(line)-1]...)
	}
	return append(body, "]}"...)
}

func (w *webhookOutput) post(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	_, err := w.client.Post(ctx, body)
	return err
}

// isRetriable reports whether a retry may succeed. A 4xx code other than 429 means that the service
// rejects this batch.
func isRetriable(err error) bool {
	var failed *remote.StatusError
	return !errors.As(err, &failed) || failed.Code == http.StatusTooManyRequests || failed.Code >= 500
}

func (w *webhookOutput) close() error { return nil }

package audit

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/remote"
)

// NewWebhook makes a Sink that posts Events to a service. backoff is the pause before the first
// repetition of a post that has failed; it grows from one to the next.
func NewWebhook(service *remote.Client, naming *meta.Naming, backoff time.Duration, o SinkOptions) *Sink {
	head := []byte(`{"kind":"EventList","apiVersion":"` + newVendorNames(naming).apiVersion + `","metadata":{},"items":[`)
	return newSink("webhook", o, &webhookOutput{service, head, backoff}, maxConcurrentPosts)
}

// maxConcurrentPosts is how many batches may be on their way at a time.
const maxConcurrentPosts = 4

// The repetitions of a post, how much longer each pause is than the one before, and the time
// that one post has.
const (
	maxRetries   = 4
	backoffRatio = 1.5
	postTimeout  = 30 * time.Second
)

// A webhookOutput posts lists of Events. Many goroutines may use it.
type webhookOutput struct {
	client  *remote.Client
	head    []byte
	backoff time.Duration
}

// While the server shuts down there is one more attempt and no pause. A batch that fails for good is lost as a whole
// and counted by its lines.
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

// list is the body of a post.
//
// The lines are the items, without their newlines; nothing is decoded or encoded again.
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

// isRetriable tells whether a post that has failed may succeed later.
//
// Other codes below 500 say that the service does not want this batch, and would say so again.
func isRetriable(err error) bool {
	var failed *remote.StatusError
	return !errors.As(err, &failed) || failed.Code == http.StatusTooManyRequests || failed.Code >= 500
}

func (w *webhookOutput) close() error { return nil }

package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// A Response is the result of Ask, with any status code.
type Response struct {
	Code int
	Body []byte
}

// Ask posts an idempotent request with a JSON body and a query. It returns responses with any
// status code. net/http retries the request if an idle connection was closed. If a new connection
// is closed without a response, as during a shutdown, Ask retries once. Errors contain the URL.
func (s *Client) Ask(ctx context.Context, query string, body []byte) (Response, error) {
	target := s.url
	if query != "" {
		target += "?" + query
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
	r.Header["Idempotency-Key"] = nil // marks the request as retriable for net/http without sending the header
	answer, err := s.httpClient.Do(r)
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer, err = s.httpClient.Do(r)
	}
	if err != nil {
		return Response{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, int64(s.maxAnswer)+1))
	switch {
	case err != nil:
		return Response{}, err
	case len(text) > s.maxAnswer:
		return Response{}, tooLongError(s.maxAnswer)
	}
	return Response{answer.StatusCode, text}, nil
}

package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
)

// A Response is an answer, whatever its code.
type Response struct {
	Code int
	Body []byte
}

// Ask sends a body of JSON, once, with a query behind the URL, and returns the answer, whatever its code. It is for
// questions that may be asked again: where a connection that was kept turns out to be closed, another one is
// used, and once where a new one is closed without a word, as by a server that is about to end. Errors name the URL.
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
	r.Header["Idempotency-Key"] = nil // for net/http, which does not send it
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

package client

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Transport returns a transport whose idle connections are closed when the test ends.
func Transport(t testing.TB, config *tls.Config) *http.Transport {
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Anonymous returns a TLS configuration without a client certificate.
func (c *Client) Anonymous() *tls.Config {
	config := c.TLS.Clone()
	config.Certificates = nil
	return config
}

// Exchange sends a request and reads the whole response. headers have the form "Name: value". Names
// are sent exactly as spelled.
func Exchange(t testing.TB, transport http.RoundTripper, method, url, body string, headers ...string) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Watchdog)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header[name] = append(r.Header[name], value)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{response.StatusCode, response.Header, text}
}

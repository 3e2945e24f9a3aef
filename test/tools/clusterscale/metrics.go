package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/test/client"
)

// durations are those of a histogram, together.
type durations struct{ count, seconds float64 }

func (d durations) mean() float64 {
	if d.count == 0 {
		return 0
	}
	return d.seconds / d.count
}

func (d durations) since(before durations) durations {
	return durations{d.count - before.count, d.seconds - before.seconds}
}

// bindingsOf is how long the server has taken for bindings of Pods so far.
func bindingsOf(ctx context.Context, c *client.Client) (durations, error) {
	answer, err := c.Get(ctx, "/metrics")
	if err == nil && answer.Code != http.StatusOK {
		err = &answer
	}
	return sum(answer.Body, "apiserver_request_duration_seconds", `subresource="binding"`), err
}

// searchOf is how long a scheduler has looked for nodes, by its metrics. They are those of a process that this one has started, on a loopback
// address, with a certificate that it has made for itself.
func searchOf(ctx context.Context, url string) (durations, error) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	answer, err := client.Over(url, transport).Get(ctx, "/metrics")
	if err != nil {
		return durations{}, err
	}
	if answer.Code != http.StatusOK {
		return durations{}, &answer
	}
	found := sum(answer.Body, "scheduler_scheduling_algorithm_duration_seconds", "")
	if found.count == 0 {
		return found, fmt.Errorf("%s/metrics has no durations of searches", url)
	}
	return found, nil
}

// sum adds up the histograms of a metric whose labels have a text in them.
func sum(text []byte, metric, label string) (d durations) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		series, value, ok := strings.Cut(lines.Text(), " ")
		name, labels, _ := strings.Cut(series, "{")
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || err != nil || !strings.Contains(labels, label) {
			continue
		}
		switch name {
		case metric + "_sum":
			d.seconds += number
		case metric + "_count":
			d.count += number
		}
	}
	return d
}

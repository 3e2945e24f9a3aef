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

// durations contains the count and the sum of a duration histogram.
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

func bindingsOf(ctx context.Context, c *client.Client) (durations, error) {
	answer, err := c.Get(ctx, "/metrics")
	if err == nil && answer.Code != http.StatusOK {
		err = &answer
	}
	return sum(answer.Body, "apiserver_request_duration_seconds", `subresource="binding"`), err
}

// searchOf returns the durations of node searches from a scheduler's metrics. It does not verify
// the certificate, because the scheduler is a child process on loopback with a self-signed
// certificate.
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

// sum adds up the histograms of a metric whose label sets contain label.
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

package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// nameFlood is the hidden subcommand that floods a server.
const nameFlood = "flood"

// A Flood is a child process that gets objects as fast as it is answered, on many connections. Clients of the load that shared a process
// with it would wait for it there.
type Flood struct{ child *child }

// floodOrder is what the child is told to do.
type floodOrder struct {
	Address, Prefix, Token string
	Timeout                time.Duration
	Paths                  []string
	Connections            int
}

// FloodCounts are what the requests of a flood came to.
type FloodCounts struct{ Answered, Refused int }

// StartFlood begins to flood a target, and returns when all connections stand.
func StartFlood(t *Target, paths []string, connections int) (*Flood, error) {
	c, err := startChild(nameFlood)
	if err != nil {
		return nil, err
	}
	f := &Flood{c}
	err = json.NewEncoder(c.in).Encode(floodOrder{Address: t.Address, Prefix: t.Prefix, Token: t.Token, Timeout: t.Timeout, Paths: paths, Connections: connections})
	if err == nil {
		_, err = c.line()
	}
	if err != nil {
		_, _ = c.stop() // what has gone wrong first counts
		return nil, err
	}
	return f, nil
}

// Stop ends the flood.
func (f *Flood) Stop() (counts FloodCounts, err error) {
	text, err := f.child.stop()
	if err != nil {
		return counts, err
	}
	return counts, json.Unmarshal([]byte(text), &counts)
}

// runFlood is the child. A refusal is counted, and the next request sent at once.
func runFlood(in io.Reader, out io.Writer) error {
	if err := Deprioritize(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	orders := json.NewDecoder(in)
	var order floodOrder
	if err := orders.Decode(&order); err != nil {
		return err
	}
	target := &Target{
		Address: order.Address, Prefix: order.Prefix, Token: order.Token, Timeout: order.Timeout,
		TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, // the process that orders it has verified it
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	counts := make([]FloodCounts, order.Connections)
	conns := make([]*Conn, order.Connections)
	for i := range conns {
		conns[i] = target.Conn()
		defer conns[i].Close()
		if err := conns[i].Dial(ctx); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintln(out, "flooding")
	var group sync.WaitGroup
	for i, c := range conns {
		group.Go(func() {
			for k := i; ctx.Err() == nil; k++ {
				status, _, err := c.Do(http.MethodGet, order.Paths[k%len(order.Paths)], "", nil)
				if err == nil && status == http.StatusOK {
					counts[i].Answered++
				} else {
					counts[i].Refused++
				}
			}
		})
	}
	_ = orders.Decode(&order) // ends with the input
	stop()
	group.Wait()
	var sum FloodCounts
	for _, c := range counts {
		sum.Answered += c.Answered
		sum.Refused += c.Refused
	}
	return json.NewEncoder(out).Encode(sum)
}

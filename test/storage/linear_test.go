package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/troupe-api/troupe/test/client"
)

const (
	clients    = 6
	linearKeys = 3
	requests   = 60 // per client and round
	rounds     = 8
)

// A recordingClient records its requests and responses for porcupine.
type recordingClient struct {
	id     int
	client *client.Client
	random *rand.Rand
	clock  *atomic.Int64
	known  map[string]output // last read response by object
	record []porcupine.Operation
	open   int // writes without a response
	// faults is true if servers fail during the test. Requests may then be rejected or remain
	// unanswered.
	faults bool
}

func TestLinearizable(t *testing.T) {
	server := client.Serve(t, t.TempDir(), nil)
	n, total, open, seed := 0, 0, 0, client.Seed(t, 1)
	for round := range client.Rounds(t, rounds, 1) {
		record, unanswered := runClients(t, server.Client, seed, round)
		for _, part := range model.Partition(record) {
			if result := porcupine.CheckOperationsTimeout(model, part, client.Watchdog); result != porcupine.Ok {
				t.Fatalf("round %d: %s:\n%s", round, result, lines(part))
			}
		}
		n, total, open = n+1, total+len(record), open+unanswered
	}
	if open == 0 {
		t.Error("every write was answered: nothing was left open")
	}
	client.Figures(t, "%d histories, %d operations, %d of them open", n, total, open)
}

func lines(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, o := range history {
		fmt.Fprintf(&b, "%4d-%4d  %d %+v %+v\n", o.Call, o.Return, o.ClientId, o.Input, o.Output)
	}
	return b.String()
}

// runClients runs several clients that access the same new objects concurrently. It returns their
// operations, and the number of writes without a response.
func runClients(t *testing.T, c *client.Client, seed uint64, round int) (record []porcupine.Operation, open int) {
	var clock atomic.Int64
	var running sync.WaitGroup
	racers := make([]*recordingClient, clients)
	for i := range racers {
		r := &recordingClient{id: i, client: c, clock: &clock, known: map[string]output{}, random: rand.New(rand.NewPCG(seed, uint64(round*clients+i)))}
		racers[i] = r
		running.Go(func() {
			for n := range requests {
				if err := r.request(round, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	for _, r := range racers {
		record, open = append(record, r.record...), open+r.open
	}
	end := clock.Add(1)
	for i := range record {
		if record[i].Return == 0 {
			record[i].Return = end
		}
	}
	return record, open
}

func (r *recordingClient) request(round, n int) error {
	in := input{object: fmt.Sprintf("r%d-%d", round, r.random.IntN(linearKeys))}
	token := fmt.Sprintf("%d.%d", r.id, n)
	in.content = content{body: token}
	switch at := r.random.IntN(20); {
	case at < 5:
		in.verb = "get"
	case at < 9:
		in.verb = "create"
	case at < 14:
		in.verb = "update"
		in.base, in.version = r.known[in.object].content, r.known[in.object].version
	case at < 18:
		in.verb, in.content = "patch", content{mark: token}
	default:
		in.verb = "delete"
	}
	if in.verb == "update" && in.version == 0 {
		in.verb = "create"
	}
	ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
	defer cancel()
	if in.verb != "get" && r.open < 2 && !r.faults && r.random.IntN(12) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.random.IntN(2000))*time.Microsecond)
		defer cancel()
	}
	op := porcupine.Operation{ClientId: r.id, Input: in, Call: r.clock.Add(1)}
	answer, err := r.send(ctx, in)
	out := output{}
	switch {
	case r.faults && (in.verb == "get" && (err != nil || answer.Code >= 500) || errors.Is(err, syscall.ECONNREFUSED) || err == nil && (answer.Code == 503 || answer.Code == 507)):
		return nil // the request had no effect
	case r.faults && (err != nil || answer.Code == 500 || answer.Code == 504):
		r.open++
	case err == nil:
		op.Return = r.clock.Add(1)
		o := answer.Object()
		out = output{code: answer.Code, version: o.Version(), content: content{o.Data("body"), o.Data("mark")}}
		if answer.Code <= 201 && in.verb != "delete" {
			r.known[in.object] = out
		}
	case in.verb == "get" || ctx.Err() == nil:
		return err
	default:
		r.open++
	}
	op.Output = out
	r.record = append(r.record, op)
	return nil
}

func (r *recordingClient) send(ctx context.Context, in input) (client.Answer, error) {
	path := configMaps + "/" + in.object
	whole := client.ConfigMap(in.object, nil, map[string]string{"body": in.content.body, "mark": in.content.mark})
	switch in.verb {
	case "create":
		return r.client.Create(ctx, configMaps, whole)
	case "update":
		whole.Metadata()["resourceVersion"] = strconv.FormatUint(in.version, 10)
		return r.client.Update(ctx, path, whole)
	case "patch":
		return r.client.Patch(ctx, path, map[string]any{"data": map[string]string{"mark": in.content.mark}})
	case "delete":
		return r.client.Delete(ctx, path, nil)
	}
	return r.client.Get(ctx, path)
}

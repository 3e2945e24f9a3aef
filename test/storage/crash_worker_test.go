package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/test/client"
)

// A crashState is the state of an object, either absent or written by write number n.
type crashState struct {
	exists bool
	n      uint64
}

// A crashKey is the name of an object and its possible states in the model.
type crashKey struct {
	name      string
	acked     crashState
	uncertain *crashState // result of the write without a response, which may have been applied
}

func (k *crashKey) canBe(s crashState) bool {
	return s == k.acked || k.uncertain != nil && s == *k.uncertain
}

// A worker writes to its own keys, one write at a time.
type worker struct {
	keys   []*crashKey
	random *rand.Rand
	last   uint64   // number of the newest write
	faulty bool     // the machine under the daemon is failing, so writes may be rejected
	acked  []uint64 // versions of acknowledged creates and patches, in order
	// answered counts the responses of all workers.
	answered *client.Tally
}

// newWorker returns a worker with unique write numbers, so that a value under the wrong key is
// detected.
func newWorker(seed, id uint64, keys int, answered *client.Tally) *worker {
	w := &worker{answered: answered, random: rand.New(rand.NewPCG(seed, id)), last: id * 1e9}
	for i := range keys {
		w.keys = append(w.keys, &crashKey{name: fmt.Sprintf("w%d-%d", id, i)})
	}
	return w
}

// run sends sequential writes until a kill or fault makes the outcome of a write unknown. It
// returns an error for a response that the model does not allow.
func (w *worker) run(ctx context.Context, c *client.Client) error {
	for {
		k := w.keys[w.random.IntN(len(w.keys))]
		w.last++
		next, want := crashState{true, w.last}, 200
		var answer client.Answer
		var err error
		switch {
		case !k.acked.exists:
			want = 201
			k.uncertain = &next
			answer, err = c.Create(ctx, configMaps, client.ConfigMap(k.name, nil, w.data()))
		case w.random.IntN(4) == 0:
			next = crashState{}
			k.uncertain = &next
			answer, err = c.Delete(ctx, configMaps+"/"+k.name, nil)
		default:
			k.uncertain = &next
			answer, err = c.Patch(ctx, configMaps+"/"+k.name, map[string]any{"data": w.data()})
		}
		if err != nil {
			return nil
		}
		w.answered.Add()
		if w.faulty && answer.Code == 507 {
			k.uncertain = nil // a full disk changes nothing
			continue
		}
		if w.faulty && answer.Code >= 500 {
			return nil
		}
		if answer.Code != want {
			return fmt.Errorf("%s in %+v: %v, want %d", k.name, k.acked, answer, want)
		}
		if next.exists {
			w.acked = append(w.acked, answer.Object().Version())
		}
		k.acked, k.uncertain = next, nil
	}
}

// data returns the data of the next write, including its checksum. The size varies, so that kills
// interrupt journal records of all lengths.
func (w *worker) data() map[string]string {
	n := strconv.FormatUint(w.last, 10)
	fill := strings.Repeat(n+".", w.random.IntN(600))
	return map[string]string{"n": n, "fill": fill, "sum": sum(n, fill)}
}

func sum(n, fill string) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(n+" "+fill))), 16)
}

// stateOf decodes the state of an object. It returns an error if a write was applied partially.
func stateOf(text string) (crashState, error) {
	var o client.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return crashState{}, err
	}
	n, err := strconv.ParseUint(o.Data("n"), 10, 64)
	if err != nil || o.Data("sum") != sum(o.Data("n"), o.Data("fill")) {
		return crashState{}, fmt.Errorf("half a write: %v", o)
	}
	return crashState{true, n}, nil
}

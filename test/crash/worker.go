package crash

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

const objects = "/api/v1/namespaces/default/configmaps"

// A state is what an object may be: absent, or made by the write of a number.
type state struct {
	exists bool
	n      uint64
}

// A key is one object and what the model knows of it.
type key struct {
	name      string
	acked     state
	uncertain *state // of a write without an answer
}

// canBe says whether the key can be in a state.
func (k *key) canBe(s state) bool {
	return s == k.acked || k.uncertain != nil && s == *k.uncertain
}

// A worker writes its own keys, one write at a time.
type worker struct {
	keys   []*key
	random *rand.Rand
	last   uint64   // number of the newest write
	acked  []uint64 // versions of acknowledged creates and patches, in order
}

func newWorker(seed, id uint64, keys int) *worker {
	w := &worker{random: rand.New(rand.NewPCG(seed, id)), last: id * 1e9}
	for i := range keys {
		w.keys = append(w.keys, &key{name: fmt.Sprintf("w%d-%d", id, i)})
	}
	return w
}

// run writes until a write has no answer. An answer that the model does not allow is an
// error.
func (w *worker) run(ctx context.Context, c *client.Client) error {
	for {
		k := w.keys[w.random.IntN(len(w.keys))]
		w.last++
		next, want := state{true, w.last}, 200
		var answer client.Answer
		var err error
		switch {
		case !k.acked.exists:
			want = 201
			k.uncertain = &next
			answer, err = c.Create(ctx, objects, client.ConfigMap(k.name, nil, w.data()))
		case w.random.IntN(4) == 0:
			next = state{}
			k.uncertain = &next
			answer, err = c.Delete(ctx, objects+"/"+k.name, nil)
		default:
			k.uncertain = &next
			answer, err = c.Patch(ctx, objects+"/"+k.name, map[string]any{"data": w.data()})
		}
		if err != nil {
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

// data is new data with its checksum.
func (w *worker) data() map[string]string {
	n := strconv.FormatUint(w.last, 10)
	fill := strings.Repeat(n+".", w.random.IntN(600))
	return map[string]string{"n": n, "fill": fill, "sum": sum(n, fill)}
}

func sum(n, fill string) string {
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(n+" "+fill))), 16)
}

// stateOf reads an object's state; an error says that it is half a write.
func stateOf(text string) (state, error) {
	var o client.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return state{}, err
	}
	n, err := strconv.ParseUint(o.Data("n"), 10, 64)
	if err != nil || o.Data("sum") != sum(o.Data("n"), o.Data("fill")) {
		return state{}, fmt.Errorf("half a write: %v", o)
	}
	return state{true, n}, nil
}

package vfs

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestNodeSyncsEverything(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := &node{}
		var want, durable []byte
		for range 40 {
			switch chance.IntN(4) {
			case 0:
				n.sync()
				durable = bytes.Clone(want)
			case 1:
				size := chance.IntN(64)
				n.resize(size)
				want = append(want, make([]byte, 64)...)[:size]
			default:
				off, b := chance.IntN(64), bytes.Repeat([]byte{byte(1 + chance.IntN(255))}, chance.IntN(16))
				n.write(b, off)
				if end := off + len(b); len(b) > 0 && end > len(want) {
					want = append(want, make([]byte, end-len(want))...)
				}
				if len(b) > 0 {
					copy(want[off:], b)
				}
			}
			want = bytes.Clone(want) // truncation drops the bytes
			if !bytes.Equal(n.data, want) || !bytes.Equal(n.synced, durable) {
				t.Fatalf("the file holds %v and after a crash %v, want %v and %v", n.data, n.synced, want, durable)
			}
		}
	}
}

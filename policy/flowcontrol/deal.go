package flowcontrol

// maxHand limits the hand size. Validation rejects larger hands, because choosing so many queues
// needs more entropy than a hash contains.
const maxHand = 60

// deal returns the hand of a flow: size distinct queues out of n, chosen by hash and stored in
// hand.
//
// Every hand is equally likely. Each card is first drawn as an index into the queues not yet drawn.
// It becomes an index into all queues by adding one for each earlier card that is not above it.
func deal(hash uint64, n, size int, hand *[maxHand]int) []int {
	size = min(size, n, maxHand)
	var drawn [maxHand]int
	for i := range size {
		left := uint64(n - i)
		card := int(hash % left)
		hash /= left
		drawn[i] = card
		for j := i - 1; j >= 0; j-- {
			if card >= drawn[j] {
				card++
			}
		}
		hand[i] = card
	}
	return hand[:size]
}

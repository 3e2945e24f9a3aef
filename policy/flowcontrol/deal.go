package flowcontrol

// maxHand bounds the hand of a flow. Validation refuses larger hands, which would need more entropy
// than a hash has.
const maxHand = 60

// deal returns the hand of a flow: size distinct queues of n, chosen by hash and stored in hand.
//
// Every hand is equally likely. Each card is drawn from the rest of the deck, so it moves up by one
// for each earlier card not above it.
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

package flowcontrol

// maxHand is the most queues that one flow may have. Validation allows no larger hand of two queues or more: it would
// take more of a hash than there is.
const maxHand = 60

// deal is the hand of a flow: size different queues of n, by the hash of the flow. hand is the place for it.
//
// Every hand is as likely as any other. Each card is drawn from what is left of the deck, so it moves up by one for each
// earlier card that is not above it.
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

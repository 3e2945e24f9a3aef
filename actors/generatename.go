package actors

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

func (s *Store) createGenerated(ctx context.Context, m *request.Mutation) (request.Result, error) {
	base := m.Body().Object("metadata").String("generateName")
	if base == "" {
		if m.Kind.Stored.Strategy.RandomName() {
			m.Key.Name = uuid.NewString()
		}
		return s.sendToOwner(ctx, m) // validation reports what is missing
	}
	const tries = 8
	var err error
	for range tries {
		name := generateName(base)
		m.Key.Name = name
		var result request.Result
		result, err = s.sendToOwner(ctx, m)
		var status *meta.Status
		if !errors.As(err, &status) || status.Reason != meta.ReasonAlreadyExists || m.Key.Name != name {
			return result, err
		}
	}
	return request.Result{}, err
}

func nameOf(p *mutation.Prepared) string {
	name, prefix := p.Name()
	if name == "" && prefix != "" {
		return generateName(prefix)
	}
	return name // if it is empty, validation reports that
}

func generateName(prefix string) string {
	return prefix[:min(len(prefix), maxGenerated-suffixLength)] + randomSuffix()
}

// A generated name has at most maxGenerated characters and ends in suffixLength random
// suffixLetters. The letters exclude vowels, to avoid words.
const (
	maxGenerated  = 63
	suffixLength  = 5
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
)

func randomSuffix() string {
	var suffix [suffixLength]byte
	for i := range suffix {
		suffix[i] = suffixLetters[rand.IntN(len(suffixLetters))]
	}
	return string(suffix[:])
}

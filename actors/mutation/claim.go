package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Claims hands out what the objects of one storage share, such as addresses and ports.
// Many owners of objects call it at once.
type Claims interface {
	// Claim sets aside what want needs beyond what old has, and writes what it chose into
	// want. old is nil for a create, want for a removal. Causes say what cannot be had;
	// nothing is set aside then, and the claim is nil.
	Claim(key meta.Key, old, want schema.Tree) (Claim, []meta.Cause)
	// Restore says that an object which is stored has what has says, whatever else is taken
	// or out of range now. Causes name what another one has too.
	Restore(key meta.Key, has schema.Tree) []meta.Cause
}

// A Claim is what was set aside for one change. Exactly one of its methods is called, once.
type Claim interface {
	// Keep makes it the object's own, and gives back what the change has let go.
	Keep()
	// Drop gives it back: the change does not happen.
	Drop()
}

// claim asks for what a change needs of what objects share.
func (e *Env) claim(key meta.Key, old, want schema.Tree) (Claim, []meta.Cause) {
	if e.Claims == nil {
		return nothing{}, nil
	}
	claim, causes := e.Claims.Claim(key, old, want)
	if claim == nil {
		claim = nothing{}
	}
	return claim, causes
}

// held is a claim that is given back at the end of a function, be it by a panic, unless it
// has been passed on.
type held struct{ claim Claim }

func (h *held) drop() {
	if h.claim != nil {
		h.claim.Drop()
	}
}

func (h *held) pass() Claim {
	c := h.claim
	h.claim = nil
	return c
}

// NoClaim is the claim of a change that needs nothing.
var NoClaim Claim = nothing{}

// nothing is the claim of a change that needs nothing.
type nothing struct{}

func (nothing) Keep() {}
func (nothing) Drop() {}

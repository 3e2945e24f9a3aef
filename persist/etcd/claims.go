package etcd

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/persist"
)

// A claim is the exclusive right of one object to a name. It records the key of the object and the
// etcd revision of the claim.
type claim struct {
	holder string
	at     int64
}

type claims struct {
	holders map[string]claim           // claims by name
	held    map[string]map[string]bool // claim names by holder
}

func newClaims() claims {
	return claims{holders: map[string]claim{}, held: map[string]map[string]bool{}}
}

// set records the holder of a claim. An empty holder releases it.
func (c *claims) set(name, holder string, at int64) {
	if before, ok := c.holders[name]; ok {
		delete(c.held[before.holder], name)
		if len(c.held[before.holder]) == 0 {
			delete(c.held, before.holder)
		}
	}
	if holder == "" {
		delete(c.holders, name)
		return
	}
	c.holders[name] = claim{holder, at}
	if c.held[holder] == nil {
		c.held[holder] = map[string]bool{}
	}
	c.held[holder][name] = true
}

// A claimChange describes how a unit (a write with its parts) changes one claim. before is the
// claim before the change.
type claimChange struct {
	name   string
	before claim
	holder string // new holder; "" if none
}

// changeClaims returns the claims that the writes of a unit take and release, ordered by name. A
// write may take a claim that another write of the same unit releases. If a different key holds a
// claim, ok is false and taken is the claim's name.
func (l *Log) changeClaims(batch []persist.Write, u unit) (changes []claimChange, taken string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	after := map[string]string{}
	holder := func(name string) string {
		if h, changed := after[name]; changed {
			return h
		}
		return l.claims.holders[name].holder
	}
	for _, i := range u {
		w := &batch[i]
		if w.Delete { // a deleted key holds no claims
			for name := range l.claims.held[w.Key] {
				after[name] = ""
			}
		}
		for _, c := range w.Claims {
			if c.Release && holder(c.Name) == w.Key {
				after[c.Name] = ""
			}
		}
	}
	for _, i := range u {
		w := &batch[i]
		for _, c := range w.Claims {
			if c.Release || w.Delete {
				continue
			}
			if h := holder(c.Name); h != "" && h != w.Key {
				return nil, c.Name, false
			}
			after[c.Name] = w.Key
		}
	}
	for name, holder := range after {
		changes = append(changes, claimChange{name, l.claims.holders[name], holder})
	}
	slices.SortFunc(changes, func(a, b claimChange) int { return cmp.Compare(a.name, b.name) })
	return changes, "", true
}

package quota

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/meta"
)

type namespace struct {
	name string
	// view holds the covers by resource, sorted by account. It is replaced under mu when the
	// accounts change.
	view atomic.Pointer[view]

	mu       sync.Mutex // guards the fields below and the accounts
	accounts []*account // including those being opened
	// deleted holds the terminating Pods by UID while an account limits Pods.
	deleted map[string]*deletedPod
}

// A view maps each resource to the quotas that limit it. Requests read the view without a lock, so
// writes of resources without a quota stay fast.
type view map[meta.GroupResource][]*cover

func newNamespace(name string) *namespace {
	n := &namespace{name: name, deleted: map[string]*deletedPod{}}
	n.view.Store(&view{})
	return n
}

// of returns a resource's covers. They may be outdated unless the caller holds mu.
func (n *namespace) of(resource meta.GroupResource) []*cover { return (*n.view.Load())[resource] }

// setAccounts replaces the accounts and the view. The caller holds mu.
func (n *namespace) setAccounts(all []*account) {
	slices.SortStableFunc(all, func(a, b *account) int { return strings.Compare(a.name, b.name) })
	now := view{}
	for _, a := range all {
		for resource, c := range a.covers {
			now[resource] = append(now[resource], c)
		}
	}
	n.accounts = all
	n.view.Store(&now)
	if len(now[pods]) == 0 {
		clear(n.deleted)
	}
}

// inForce returns a quota's enforced account, or nil. The caller holds mu.
func (n *namespace) inForce(quota string) *account {
	for _, a := range n.accounts {
		if a.name == quota && a.enforced {
			return a
		}
	}
	return nil
}

// retire removes the accounts for which gone returns true. The caller holds mu.
func (n *namespace) retire(gone func(*account) bool) {
	kept := make([]*account, 0, len(n.accounts))
	for _, a := range n.accounts {
		if !gone(a) {
			kept = append(kept, a)
			continue
		}
		a.retired = true
		a.wake()
	}
	n.setAccounts(kept)
}

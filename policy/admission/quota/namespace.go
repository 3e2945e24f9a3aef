package quota

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A namespace is the quotas of one namespace.
type namespace struct {
	name string
	// view is what the accounts limit, by resource, in the order of their names. It is replaced, with mu
	// held, when an account comes or goes.
	view atomic.Pointer[view]

	mu       sync.Mutex // guards the rest, and the accounts
	accounts []*account // also those that are being opened
	// deleted are the Pods that are being deleted, by uid, while an account limits Pods.
	deleted map[string]*deletedPod
}

// It is read without the mutex, by changes of resources that no quota covers.
type view map[meta.GroupResource][]*cover

func newNamespace(name string) *namespace {
	n := &namespace{name: name, deleted: map[string]*deletedPod{}}
	n.view.Store(&view{})
	return n
}

// of are the covers of a resource. They are those of now only as long as mu is held.
func (n *namespace) of(resource meta.GroupResource) []*cover { return (*n.view.Load())[resource] }

// setAccounts replaces the accounts. The caller holds mu.
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

// inForce is the account of a quota that counts; nil if there is none yet. The caller holds mu.
func (n *namespace) inForce(quota string) *account {
	for _, a := range n.accounts {
		if a.name == quota && a.enforced {
			return a
		}
	}
	return nil
}

// retire takes accounts out. The caller holds mu.
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

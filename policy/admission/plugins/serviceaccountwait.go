package plugins

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// How long a new Pod waits for the default account of its namespace, and how often it looks. The controller
// usually takes a few milliseconds.
const (
	accountWait  = time.Second
	accountRetry = 10 * time.Millisecond
)

// An accountWaiter waits for the default account of a namespace, which a controller makes soon after the
// namespace. Pods that come before it would be refused otherwise. It waits outside of the object's owner,
// which must not be held up (see admission.WaitingPlugin).
type accountWaiter struct{ *serviceAccountPlugin }

// Selects implements admission.WaitingPlugin.
func (accountWaiter) Selects(*schema.Kind, string) bool { return true }

// Applies implements admission.WaitingPlugin: it finds the new Pods that Admit has left without an account.
func (w accountWaiter) Applies(a *admission.Attributes) bool {
	return a.New.Object("spec").String("serviceAccountName") == "" && !w.isMirror(a.New)
}

// Begin implements admission.WaitingPlugin.
func (w accountWaiter) Begin() admission.WaitingCall { return w }

// Mutate implements admission.WaitingCall.
func (w accountWaiter) Mutate(ctx context.Context, a *admission.Attributes) error {
	return w.complete(a, defaultAccountName, w.wait(ctx, a.Key.Namespace))
}

// Validate implements admission.WaitingCall.
func (w accountWaiter) Validate(context.Context, *admission.Attributes) error { return nil }

// wait returns the default account of a namespace when there is one; nil if it does not come. It polls,
// because the cache has nothing that could be waited for, and the wait is rare and short.
func (w accountWaiter) wait(ctx context.Context, namespace string) *serviceAccount {
	ctx, cancel := context.WithTimeout(ctx, accountWait)
	defer cancel()
	tick := time.NewTicker(accountRetry)
	defer tick.Stop()
	for {
		if account := w.lookup(namespace, defaultAccountName); account != nil {
			return account
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
